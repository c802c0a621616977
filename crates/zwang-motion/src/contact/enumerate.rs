//! Enumeration of combinations: all of them if they are few, otherwise a local search.

use crate::limits;

/// The verdict on one combination.
pub(super) enum Verdict {
    /// It has no solution.
    Nothing,
    /// By how much each unit violates its inequalities.
    Violated(Vec<f64>),
    /// It fits, and its result equals that of those before it.
    Fits,
    /// It fits, and its result differs from one before.
    Another,
}

/// The result of a search.
#[derive(Debug, PartialEq)]
pub(super) enum SearchResult {
    /// The first that fits, and `true` if all have been examined.
    Found { at: Vec<usize>, is_checked: bool },
    /// Two that differ.
    Several,
    /// All were examined, and none fits.
    None,
    /// There are too many to examine, and none was found that fits.
    NotFound,
}

/// Tries combinations of one candidate out of `sizes[k]` for each unit k.
pub(super) fn enumerate(sizes: &[usize], mut judge: impl FnMut(&[usize]) -> Verdict) -> SearchResult {
    let n_all = sizes.iter().fold(1usize, |n, size| n.saturating_mul(*size));
    if n_all == 0 {
        return SearchResult::None;
    }
    if n_all > limits::MODES {
        return local_search(sizes, judge);
    }
    let mut at = vec![0; sizes.len()];
    let mut found = None;
    for _ in 0..n_all {
        match judge(&at) {
            Verdict::Another => return SearchResult::Several,
            Verdict::Fits if found.is_none() => found = Some(at.clone()),
            _ => {}
        }
        for (k, size) in at.iter_mut().zip(sizes) {
            *k += 1;
            if *k < *size {
                break;
            }
            *k = 0;
        }
    }
    found.map_or(SearchResult::None, |at| SearchResult::Found { at, is_checked: true })
}

/// Local search: changes the unit with the largest violation to the candidate that leaves least; now and then to another at
/// random, so as not to cycle.
fn local_search(sizes: &[usize], mut judge: impl FnMut(&[usize]) -> Verdict) -> SearchResult {
    /// One change in eight is random.
    const RANDOM: u64 = 8;
    let mut chance = 0x9E37_79B9_7F4A_7C15u64;
    // Knuth's MMIX generator: the same run takes the same path
    let mut draw = |n: u64| {
        chance = chance.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (chance >> 33) % n
    };
    let mut at = vec![0; sizes.len()];
    let mut now = judge(&at);
    let mut n_tried = 1;
    while n_tried < limits::MODES {
        if total_violation(&now) == 0.0 {
            // a random change without need goes back to the first candidate
            for k in (0..at.len()).filter(|&k| at[k] > 0).collect::<Vec<_>>() {
                let changed = std::mem::replace(&mut at[k], 0);
                if !matches!(judge(&at), Verdict::Fits) {
                    at[k] = changed;
                }
            }
            return SearchResult::Found { at, is_checked: false };
        }
        let worst = worst(&now, sizes).filter(|_| draw(RANDOM) > 0);
        let unit = worst.unwrap_or_else(|| draw(sizes.len() as u64) as usize);
        let mut best: Option<(f64, usize, Verdict)> = None;
        let old = at[unit];
        for k in (0..sizes[unit]).filter(|&k| k != old) {
            at[unit] = k;
            let tried = judge(&at);
            n_tried += 1;
            let left = total_violation(&tried);
            if best.as_ref().is_none_or(|(least, ..)| left < *least) {
                best = Some((left, k, tried));
            }
        }
        match best {
            Some((left, k, tried)) if left == 0.0 || draw(RANDOM) > 0 => (at[unit], now) = (k, tried),
            _ => {
                at[unit] = draw(sizes[unit] as u64) as usize;
                now = judge(&at);
                n_tried += 1;
            }
        }
    }
    SearchResult::NotFound
}

/// The sum of violations of a combination; zero if it fits.
fn total_violation(tried: &Verdict) -> f64 {
    match tried {
        Verdict::Fits | Verdict::Another => 0.0,
        Verdict::Violated(violations) => violations.iter().map(|f| f.max(0.0)).sum::<f64>().max(f64::MIN_POSITIVE),
        Verdict::Nothing => f64::INFINITY,
    }
}

/// The unit with the largest violation, of those that have a choice.
fn worst(tried: &Verdict, sizes: &[usize]) -> Option<usize> {
    let Verdict::Violated(violations) = tried else { return None };
    (0..sizes.len()).filter(|&k| sizes[k] > 1).max_by(|&a, &b| violations[a].total_cmp(&violations[b]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The wanted combination of thirty units of four choices, found without looking at 4³⁰.
    #[test]
    fn one_among_very_many_is_found() {
        let wanted: Vec<usize> = (0..30).map(|k| (7 * k + 3) % 4).collect();
        let found = enumerate(&[4; 30], |at| {
            let violations: Vec<f64> = at.iter().zip(&wanted).map(|(x, w)| f64::from(u8::from(x != w))).collect();
            if at == wanted { Verdict::Fits } else { Verdict::Violated(violations) }
        });
        assert_eq!(found, SearchResult::Found { at: wanted, is_checked: false });
    }

    #[test]
    fn few_combinations_are_all_tried() {
        let fits =
            |wanted: [usize; 2]| enumerate(&[3, 2], |at| if at == wanted { Verdict::Fits } else { Verdict::Nothing });
        assert_eq!(fits([2, 1]), SearchResult::Found { at: vec![2, 1], is_checked: true });
        assert_eq!(fits([3, 0]), SearchResult::None);
        assert_eq!(enumerate(&[3, 0], |_| Verdict::Fits), SearchResult::None);
        assert_eq!(
            enumerate(&[2], |at| if at == [0] { Verdict::Fits } else { Verdict::Another }),
            SearchResult::Several
        );
        assert_eq!(enumerate(&[4; 30], |_| Verdict::Nothing), SearchResult::NotFound);
    }
}

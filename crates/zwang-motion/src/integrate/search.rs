//! Looking for the combination of choices that fits: all of them where they are few, else step by step.

/// Combinations that are looked through one by one; so many take about a second.
const MOST: usize = 20_000;

/// What became of one combination.
pub(super) enum Tried {
    /// It has no solution.
    Nothing,
    /// By how much each unit misses its inequalities.
    Faulty(Vec<f64>),
    /// It fits; if others did before it, they come to the same.
    Fits,
    /// It fits and comes to something else than one before.
    Another,
}

/// What was found.
#[derive(Debug, PartialEq)]
pub(super) enum Search {
    /// The first that fits, and whether all have been looked at.
    Found { at: Vec<usize>, is_checked: bool },
    /// Two that differ.
    Several,
    /// All were looked at, and none fits.
    None,
    /// There are too many to look at, and none was met that fits.
    NotFound,
}

/// Tries combinations of one choice out of `sizes[k]` for each unit k.
pub(super) fn seek(sizes: &[usize], mut judge: impl FnMut(&[usize]) -> Tried) -> Search {
    let n_all = sizes.iter().fold(1usize, |n, size| n.saturating_mul(*size));
    if n_all == 0 {
        return Search::None;
    }
    if n_all > MOST {
        return climb(sizes, judge);
    }
    let mut at = vec![0; sizes.len()];
    let mut found = None;
    for _ in 0..n_all {
        match judge(&at) {
            Tried::Another => return Search::Several,
            Tried::Fits if found.is_none() => found = Some(at.clone()),
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
    found.map_or(Search::None, |at| Search::Found { at, is_checked: true })
}

/// Mends the unit that is missed most, by the choice that leaves least missing; now and then by another, so as not to go in
/// circles.
fn climb(sizes: &[usize], mut judge: impl FnMut(&[usize]) -> Tried) -> Search {
    /// One mending in so many is a random one.
    const STRAY: u64 = 8;
    let mut chance = 0x9E37_79B9_7F4A_7C15u64;
    // Knuth's MMIX generator: the same run takes the same way
    let mut draw = |n: u64| {
        chance = chance.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (chance >> 33) % n
    };
    let mut at = vec![0; sizes.len()];
    let mut now = judge(&at);
    let mut n_tried = 1;
    while n_tried < MOST {
        if missing(&now) == 0.0 {
            // what strayed without need goes back to its first choice
            for k in (0..at.len()).filter(|&k| at[k] > 0).collect::<Vec<_>>() {
                let strayed = std::mem::replace(&mut at[k], 0);
                if !matches!(judge(&at), Tried::Fits) {
                    at[k] = strayed;
                }
            }
            return Search::Found { at, is_checked: false };
        }
        let worst = worst(&now, sizes).filter(|_| draw(STRAY) > 0);
        let unit = worst.unwrap_or_else(|| draw(sizes.len() as u64) as usize);
        let mut best: Option<(f64, usize, Tried)> = None;
        let old = at[unit];
        for k in (0..sizes[unit]).filter(|&k| k != old) {
            at[unit] = k;
            let tried = judge(&at);
            n_tried += 1;
            let left = missing(&tried);
            if best.as_ref().is_none_or(|(least, ..)| left < *least) {
                best = Some((left, k, tried));
            }
        }
        match best {
            Some((left, k, tried)) if left == 0.0 || draw(STRAY) > 0 => (at[unit], now) = (k, tried),
            _ => {
                at[unit] = draw(sizes[unit] as u64) as usize;
                now = judge(&at);
                n_tried += 1;
            }
        }
    }
    Search::NotFound
}

/// What a combination misses in all; zero where it fits.
fn missing(tried: &Tried) -> f64 {
    match tried {
        Tried::Fits | Tried::Another => 0.0,
        Tried::Faulty(faults) => faults.iter().map(|f| f.max(0.0)).sum::<f64>().max(f64::MIN_POSITIVE),
        Tried::Nothing => f64::INFINITY,
    }
}

/// The unit that is missed most, of those that have a choice.
fn worst(tried: &Tried, sizes: &[usize]) -> Option<usize> {
    let Tried::Faulty(faults) = tried else { return None };
    (0..sizes.len()).filter(|&k| sizes[k] > 1).max_by(|&a, &b| faults[a].total_cmp(&faults[b]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The wanted combination of thirty units of four choices, found without looking at 4³⁰.
    #[test]
    fn one_among_very_many_is_found() {
        let wanted: Vec<usize> = (0..30).map(|k| (7 * k + 3) % 4).collect();
        let found = seek(&[4; 30], |at| {
            let faults: Vec<f64> = at.iter().zip(&wanted).map(|(x, w)| f64::from(u8::from(x != w))).collect();
            if at == wanted { Tried::Fits } else { Tried::Faulty(faults) }
        });
        assert_eq!(found, Search::Found { at: wanted, is_checked: false });
    }

    #[test]
    fn few_are_all_looked_at() {
        let fits = |wanted: [usize; 2]| seek(&[3, 2], |at| if at == wanted { Tried::Fits } else { Tried::Nothing });
        assert_eq!(fits([2, 1]), Search::Found { at: vec![2, 1], is_checked: true });
        assert_eq!(fits([3, 0]), Search::None);
        assert_eq!(seek(&[3, 0], |_| Tried::Fits), Search::None);
        assert_eq!(seek(&[2], |at| if at == [0] { Tried::Fits } else { Tried::Another }), Search::Several);
        assert_eq!(seek(&[4; 30], |_| Tried::Nothing), Search::NotFound);
    }
}

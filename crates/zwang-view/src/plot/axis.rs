//! An axis: its range, round ticks, and a label that carries the common exponent.

use super::text::{power_of_ten, width};

/// Values of this size or more are omitted, so that differences and squares remain finite.
const LARGEST: f64 = 1e150;

/// A spread below this fraction of the values is rounding; the curve is drawn as a constant.
const FLAT: f64 = 1e-14;

/// The number of steps from zero above which ticks are counted from an offset.
const MOST_STEPS: f64 = 1e4;

/// The range of the largest tick value in which tick texts have no common exponent.
const PLAIN: std::ops::Range<f64> = 1e-3..1e5;

/// The largest number of ticks; reached only by an axis far longer than the one its step was chosen for.
const MOST_TICKS: u16 = 100;

/// A position on an axis and its text.
pub(crate) struct Tick {
    pub at: f64,
    pub text: String,
}

/// One axis of a panel.
pub(crate) struct Axis {
    pub lo: f64,
    pub hi: f64,
    /// The distance between ticks.
    pub step: f64,
    pub ticks: Vec<Tick>,
    pub label: String,
}

/// `true` if a number can be plotted.
pub(crate) fn is_plottable(x: f64) -> bool {
    x.abs() < LARGEST
}

/// The smallest and the largest plottable value, widened by the fraction `padding` of their distance at both ends.
pub(crate) fn range(values: impl Iterator<Item = f64>, padding: f64) -> (f64, f64) {
    let widen = |(lo, hi): (f64, f64), x: f64| (lo.min(x), hi.max(x));
    let (lo, hi) = values.filter(|x| is_plottable(*x)).fold((f64::INFINITY, f64::NEG_INFINITY), widen);
    let size = lo.abs().max(hi.abs());
    match hi - lo {
        _ if lo > hi => (0.0, 1.0),
        _ if size < 1.0 / LARGEST => (-1.0, 1.0),
        spread if spread <= FLAT * size => (lo - 0.1 * size, hi + 0.1 * size),
        spread => (lo - padding * spread, hi + padding * spread),
    }
}

impl Axis {
    /// An axis with about `most` ticks or fewer, at multiples of 1, 2 or 5 times a power of ten.
    pub fn new((lo, hi): (f64, f64), label: &str, most: usize) -> Axis {
        Axis::with_step((lo, hi), label, round_step((hi - lo) / most.max(1) as f64))
    }

    /// An axis with ticks at multiples of a round step.
    pub fn with_step((lo, hi): (f64, f64), label: &str, step: f64) -> Axis {
        let offset = offset(lo, hi, step);
        let first = ((lo - offset) / step - 1e-6).ceil();
        let steps: Vec<f64> = (0..MOST_TICKS)
            .map(|k| first + f64::from(k))
            .take_while(|k| k * step <= (hi - offset) + 1e-6 * step)
            .collect();
        let largest = steps.iter().fold(0.0, |m: f64, k| m.max((k * step).abs()));
        let exponent = exponent(largest);
        let n_decimals = (f64::from(exponent) - step.log10() - 1e-9).ceil().max(0.0) as usize;
        let text = |k: f64| match k {
            0.0 => "0".to_string(),
            k => format!("{:.n_decimals$}", k * step / 10f64.powi(exponent)).replace('-', "−"),
        };
        let ticks = steps.iter().map(|k| Tick { at: offset + k * step, text: text(*k) }).collect();
        Axis { lo, hi, step, ticks, label: scaled_label(label, offset, step, exponent) }
    }

    /// A vertical axis with a few ticks, at least three if there is space.
    pub fn vertical(range: (f64, f64), label: &str, height: f64) -> Axis {
        let count = |apart: f64| (height / apart).max(2.0) as usize;
        let axes = [42.0, 34.0, 26.0].map(|apart| Axis::new(range, label, count(apart)));
        axes.into_iter().find(|a| a.ticks.len() >= 3).unwrap_or_else(|| Axis::new(range, label, count(15.0)))
    }

    /// A horizontal axis whose tick texts do not touch.
    pub fn horizontal(range: (f64, f64), label: &str, length: f64, size: f64) -> Axis {
        let most = (length / 70.0).max(2.0) as usize;
        let axes = (2..=most).rev().map(|n| Axis::new(range, label, n));
        let fits = |axis: &Axis| {
            axis.ticks.windows(2).all(|pair| {
                let apart = (axis.place(pair[1].at) - axis.place(pair[0].at)) * length;
                apart >= (width(&pair[0].text, size) + width(&pair[1].text, size)) / 2.0 + size
            })
        };
        axes.into_iter().find(fits).unwrap_or_else(|| Axis::new(range, label, 1))
    }

    /// The position of a value between the ends, 0 to 1.
    pub fn place(&self, x: f64) -> f64 {
        (x - self.lo) / (self.hi - self.lo)
    }
}

/// The least of 1, 2, 5 times a power of ten that is at least x.
fn round_step(x: f64) -> f64 {
    let power = 10f64.powi(x.log10().floor() as i32);
    let digit = [1.0, 2.0, 5.0].into_iter().find(|d| d * power >= x * (1.0 - 1e-9)).unwrap_or(10.0);
    digit * power
}

/// The value from which ticks are counted: zero, or a round number if the range is narrow and far from zero.
fn offset(lo: f64, hi: f64, step: f64) -> f64 {
    if lo.abs().max(hi.abs()) / step < MOST_STEPS {
        return 0.0;
    }
    let power = 10f64.powi((hi - lo).log10().ceil() as i32);
    // through decimal text, so that 9.81 is exactly the double 9.81
    let rounded = (0.5 * (lo + hi) / power).round();
    format!("{rounded}e{}", power.log10().round()).parse().unwrap_or(0.0)
}

/// The common exponent of all tick texts, a multiple of three; 0 if they are readable without it.
fn exponent(largest: f64) -> i32 {
    if largest == 0.0 || PLAIN.contains(&largest) {
        return 0;
    }
    3 * ((largest.log10() + 1e-9) / 3.0).floor() as i32
}

/// `E in J` with offset and exponent: `E − 9.81 in 10⁻¹² J`.
fn scaled_label(label: &str, offset: f64, step: f64, exponent: i32) -> String {
    let (quantity, unit) = label.rsplit_once(" in ").unwrap_or((label, ""));
    let quantity = match offset {
        0.0 => quantity.to_string(),
        o => {
            let n_decimals = (-step.log10()).ceil().clamp(0.0, 17.0) as usize;
            let number = format!("{:.n_decimals$}", o.abs());
            let number =
                if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { &number };
            let quantity = if quantity.contains(", ") { format!("({quantity})") } else { quantity.to_string() };
            format!("{quantity} {} {number}", if o > 0.0 { "−" } else { "+" })
        }
    };
    match (exponent, unit) {
        (0, "") => quantity,
        (0, unit) => format!("{quantity} in {unit}"),
        (n, unit) => format!("{quantity} in {} {unit}", power_of_ten(n)).trim_end().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(lo: f64, hi: f64, most: usize) -> (Vec<String>, String) {
        let axis = Axis::new((lo, hi), "x in m", most);
        (axis.ticks.into_iter().map(|t| t.text).collect(), axis.label)
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(texts(0.0, 10.0, 5).0, ["0", "2", "4", "6", "8", "10"]);
        assert_eq!(texts(-0.33, 0.71, 5).0, ["0", "0.5"]);
        assert_eq!(texts(-1.1, 1.1, 5).0, ["−1.0", "−0.5", "0", "0.5", "1.0"]);
        assert_eq!(texts(0.0, 0.3, 3).0, ["0", "0.1", "0.2", "0.3"]);
    }

    #[test]
    fn steps_are_one_two_or_five() {
        for k in 1..2000 {
            let step = round_step(1e-9 * 1.03f64.powi(k));
            let digit = step / 10f64.powf((step.log10() + 1e-9).floor());
            assert!([1.0, 2.0, 5.0].iter().any(|d| (digit - d).abs() < 1e-6), "{step}");
        }
    }

    #[test]
    fn small_and_large_numbers_share_an_exponent() {
        assert_eq!(texts(0.0, 3e-12, 3), (["0", "1", "2", "3"].map(String::from).into(), "x in 10⁻¹² m".into()));
        assert_eq!(texts(0.0, 2e9, 2), (["0", "1", "2"].map(String::from).into(), "x in 10⁹ m".into()));
        assert_eq!(scaled_label("x", 0.0, 1.0, 6), "x in 10⁶");
    }

    #[test]
    fn a_narrow_range_is_distinguished_from_an_offset() {
        let (ticks, label) = texts(9.81 - 2.5e-10, 9.81 + 2.5e-10, 6);
        assert_eq!(ticks, ["−200", "−100", "0", "100", "200"]);
        assert_eq!(label, "x − 9.81 in 10⁻¹² m");
        assert_eq!(texts(-1e6 - 1e-3, -1e6 + 1e-3, 4).1, "x + 1000000 in m");
    }

    #[test]
    fn constants_and_nothing_have_a_range() {
        assert_eq!(range([2.0, 2.0].into_iter(), 0.05), (1.8, 2.2));
        assert_eq!(range([0.0].into_iter(), 0.05), (-1.0, 1.0));
        assert_eq!(range([f64::NAN, f64::INFINITY].into_iter(), 0.05), (0.0, 1.0));
        // rounding does not count as motion
        assert!(range([1.0, 1.0 + f64::EPSILON].into_iter(), 0.05).0 < 0.91);
    }

    #[test]
    fn any_range_has_a_few_ticks() {
        for (lo, hi) in [(1e-140, 2e-140), (-1e149, 1e149), (1.0, 1.0 + 1e-12), (0.0, 1e-300), (3.0, 3.1)] {
            let n = Axis::new((lo, hi), "x", 6).ticks.len();
            assert!((2..=8).contains(&n), "{n} ticks from {lo} to {hi}");
        }
    }

    #[test]
    fn a_vertical_axis_has_three_ticks() {
        for k in 0..500 {
            let (lo, spread) = (0.37 * f64::from(k), 1.03f64.powi(k));
            assert!(Axis::vertical((lo, lo + spread), "x", 140.0).ticks.len() >= 3, "{lo} {spread}");
        }
    }

    #[test]
    fn tick_texts_do_not_touch() {
        for (lo, hi) in [(0.0, 10.0), (1000.0, 1007.0), (-12345.0, 98765.0), (0.0, 0.07)] {
            let axis = Axis::horizontal((lo, hi), "t", 300.0, 11.0);
            for pair in axis.ticks.windows(2) {
                let apart = (axis.place(pair[1].at) - axis.place(pair[0].at)) * 300.0;
                assert!(apart > (width(&pair[0].text, 11.0) + width(&pair[1].text, 11.0)) / 2.0 + 4.0);
            }
        }
    }
}

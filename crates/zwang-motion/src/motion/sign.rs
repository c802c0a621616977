//! The sign of an event function between two events, and of a condition that has just been triggered.

use crate::{ConditionRate, tolerance};

/// What is known of the sign of an event function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    /// It was zero at the last restart.
    Unknown,
    Negative,
    Positive,
    /// Of a condition that is zero to rounding and turns negative: its sign before counts once it is clearly so.
    Leaving,
    /// Of a condition that was leaving and has become positive again without having been clearly negative.
    Returned,
}

impl Sign {
    /// The sign of a value.
    pub(super) fn of(x: f64) -> Sign {
        match x {
            x if x > 0.0 => Sign::Positive,
            x if x < 0.0 => Sign::Negative,
            _ => Sign::Unknown,
        }
    }

    /// `true` if a value has the other sign. Zero has none, so that a step never starts on the edge itself.
    pub(super) fn has_changed(self, x: f64) -> bool {
        match self {
            Sign::Positive => x < 0.0,
            Sign::Negative | Sign::Returned => x > 0.0,
            Sign::Unknown | Sign::Leaving => false,
        }
    }

    /// The sign once the function has the value x, of which `noise` is rounding.
    pub(super) fn settled(self, x: f64, noise: f64) -> Sign {
        match self {
            Sign::Unknown => Sign::of(x),
            Sign::Leaving if x < -noise => Sign::Negative,
            Sign::Leaving if x > noise => Sign::Returned,
            sign => sign,
        }
    }

    /// 1 for a function that is positive until it changes, −1 for one that is negative; `None` if that is not known.
    pub(super) fn factor(self) -> Option<f64> {
        match self {
            Sign::Positive => Some(1.0),
            Sign::Negative => Some(-1.0),
            Sign::Unknown | Sign::Leaving | Sign::Returned => None,
        }
    }
}

/// The sign of a condition of value x where the motion restarts, and `true` if a jump has made the condition true.
///
/// A condition that is zero to rounding has the sign of its rate if it was true before: after a bounce it is about to become
/// false, although the located state lies beyond zero by a rounding of the time.
pub(super) fn restarted(before: Sign, x: f64, noise: f64, rate: &ConditionRate, is_strict: bool) -> (Sign, bool) {
    let is_zero = x.abs() <= noise;
    let turns_negative = rate.rate < -tolerance::ROW_ROUNDING * rate.rate_size;
    let turns_positive = rate.rate > tolerance::ROW_ROUNDING * rate.rate_size;
    match before {
        // the start: a condition that is not strict has been applied there
        Sign::Unknown if x == 0.0 && is_strict => (Sign::Negative, false),
        Sign::Unknown if x != 0.0 => (Sign::of(x), false),
        Sign::Leaving if is_zero && turns_positive => (Sign::Positive, true),
        Sign::Positive | Sign::Unknown | Sign::Leaving | Sign::Returned if is_zero => {
            (if turns_negative || before == Sign::Leaving { Sign::Leaving } else { Sign::Positive }, false)
        }
        Sign::Negative if is_zero => (Sign::Negative, false),
        Sign::Negative | Sign::Leaving => (Sign::of(x), x > 0.0),
        Sign::Positive | Sign::Unknown | Sign::Returned => (Sign::of(x), false),
    }
}

/// The value of a condition that is rounding of its terms, or of the time at which it was located: `beyond` is how far it had
/// passed zero there.
pub(super) fn noise(rate: &ConditionRate, beyond: f64) -> f64 {
    tolerance::GAP_ROUNDING * rate.size + 2.0 * beyond
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moving(rate: f64) -> ConditionRate {
        ConditionRate { rate, size: 1.0, rate_size: 1.0 }
    }

    #[test]
    fn a_condition_that_turns_back_at_zero_is_about_to_become_false() {
        let tiny = 1e-17;
        assert_eq!(restarted(Sign::Positive, tiny, 1e-15, &moving(-1.0), false), (Sign::Leaving, false));
        assert_eq!(restarted(Sign::Positive, tiny, 1e-15, &moving(1.0), false), (Sign::Positive, false));
        assert_eq!(restarted(Sign::Positive, tiny, 1e-15, &moving(0.0), false), (Sign::Positive, false));
    }

    #[test]
    fn a_condition_that_a_jump_makes_true_is_triggered() {
        assert_eq!(restarted(Sign::Negative, 0.5, 1e-15, &moving(-1.0), false), (Sign::Positive, true));
        assert_eq!(restarted(Sign::Leaving, 1e-17, 1e-15, &moving(1.0), false), (Sign::Positive, true));
    }

    #[test]
    fn a_strict_condition_does_not_hold_where_it_is_zero() {
        assert_eq!(restarted(Sign::Unknown, 0.0, 1e-15, &moving(1.0), true), (Sign::Negative, false));
        assert_eq!(restarted(Sign::Unknown, 0.0, 1e-15, &moving(1.0), false), (Sign::Positive, false));
    }
}

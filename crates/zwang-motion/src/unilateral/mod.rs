//! Constraints that let go: contact, impact, friction.
//!
//! One idea serves them all: some rows of A hold only at times. A *mode* says which hold now, and while it lasts the system is
//! an ordinary constrained one, moved like any other; rows that do not hold are rows of zeros, which the decomposition leaves
//! out like any row that has vanished.
//!
//! - A *contact* is a row on positions, g(q, t) ≥ 0. It is *closed* (its row holds, its λ pushes) or *open*.
//! - *Friction* belongs to a row that presses, with force N = ν|λ|, and to rows on velocities, the slip s. It *sticks* (the
//!   slip rows hold, while their λ stays inside the cone |λ| ≤ μN) or *slides* (λ = −μN s/|s| acts in them).
//! - A mode ends where its own inequalities do: the gap of an open contact or the λ of a closed one reaches zero, the slip of a
//!   sliding one stops, the λ of a sticking one reaches the cone. These are events like any others.
//! - At an event velocities may have to jump, which is *impact*: Gauss's principle for velocities, with restitution. Then the
//!   next mode is the one whose motion keeps its own inequalities. Without friction it is the least constraint with
//!   inequalities and unique; with friction there may be none or several, which is said and not guessed.

mod complementarity;
pub(crate) mod modes;
mod sliding;

pub use complementarity::{NoPushes, Pushes, Side, complementarity};

/// A one-sided constraint: g(q, t) ≥ 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Contact {
    /// Its row on positions.
    pub row: usize,
}

/// Coulomb friction, driven by the force of one row.
#[derive(Clone, Debug, PartialEq)]
pub struct Friction {
    /// The row whose λ presses.
    pub normal: usize,
    /// The contact of that row, unless it always holds.
    pub contact: Option<usize>,
    /// The rows on velocities that say how fast the point slides.
    pub slip: Vec<usize>,
}

/// How rough a place is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Roughness {
    /// ν: the normal force is N = ν|λ|.
    pub lever: f64,
    /// The coefficient while it sticks.
    pub holding: f64,
    /// The coefficient while it slides.
    pub sliding: f64,
}

/// What changes where a mode ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// A contact is struck.
    Impact,
    /// A contact opens without a blow.
    TakeOff,
    /// A contact closes.
    Rest,
    /// Sliding ends.
    Stick,
    /// Sliding begins.
    Slip,
}

impl Turn {
    /// In one word, as files have it.
    pub fn as_str(self) -> &'static str {
        match self {
            Turn::Impact => "impact",
            Turn::TakeOff => "take-off",
            Turn::Rest => "rest",
            Turn::Stick => "stick",
            Turn::Slip => "slip",
        }
    }
}

/// A change of mode.
#[derive(Clone, Debug, PartialEq)]
pub struct ModeChange {
    /// When.
    pub t: f64,
    /// What.
    pub turn: Turn,
    /// The row: of the contact, or the one that presses.
    pub row: usize,
}

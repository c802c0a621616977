//! Constraints that let go: contact, impact, friction.
//!
//! One idea serves them all: some rows of A hold only at times. A *mode* says which hold now, and while it lasts the system is
//! an ordinary constrained one, moved like any other; rows that do not hold are rows of zeros, which the decomposition leaves
//! out like any row that has vanished.
//!
//! - A *contact* is a row on positions, g(q, t) ≥ 0. It is *closed* (its row holds, its λ pushes) or *open*.
//! - *Friction* belongs to rows that press, with the force N = |Fλ|, and to rows on velocities, the slip s. It *sticks* (the
//!   slip rows hold, while their λ stays inside the cone |λ| ≤ μN) or *slides* (λ = −μN s/|s| acts in them).
//! - A mode ends where its own inequalities do: the gap of an open contact or the λ of a closed one reaches zero, the slip of a
//!   sliding one stops, the λ of a sticking one reaches the cone. These are events like any others.
//! - At an event velocities may have to jump, which is *impact*: Gauss's principle for velocities, with restitution. Then the
//!   next mode is the one whose motion keeps its own inequalities. Without friction it is the least constraint with
//!   inequalities and unique; with friction there may be none or several, which is said and not guessed.

mod complementarity;
pub(crate) mod fixed_point;
pub(crate) mod leaning;
pub(crate) mod modes;
pub(crate) mod sharing;
mod sliding;

pub use complementarity::{NoPushes, Pushes, Side, complementarity};

/// A one-sided constraint: g(q, t) ≥ 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Contact {
    /// Its row on positions.
    pub row: usize,
}

/// Coulomb friction, driven by the force of one constraint.
#[derive(Clone, Debug, PartialEq)]
pub struct Friction {
    /// The rows whose λ press: one for a surface, two for a curve in space.
    pub normals: Vec<usize>,
    /// The contact of that row, unless it always holds.
    pub contact: Option<usize>,
    /// The rows on velocities that say how fast the point slides, three at most.
    pub slip: Vec<usize>,
}

/// A slip, its direction or a force along it: a number for each slip row, then zeros.
pub(crate) type Slip = [f64; 3];

impl Friction {
    /// The one row that presses, if it is one: its force has a sign.
    pub(crate) fn single(&self) -> Option<usize> {
        if let [row] = self.normals[..] { Some(row) } else { None }
    }

    /// The λ that press, of all.
    pub(crate) fn pushes(&self, lambda: &[f64]) -> [f64; MOST_NORMALS] {
        let mut pushes = [0.0; MOST_NORMALS];
        pushes.iter_mut().zip(&self.normals).for_each(|(push, &row)| *push = lambda[row]);
        pushes
    }

    /// A value of each slip row.
    pub(crate) fn slips(&self, of_row: impl Fn(usize) -> f64) -> Slip {
        let mut slip = Slip::default();
        slip.iter_mut().zip(&self.slip).for_each(|(s, &row)| *s = of_row(row));
        slip
    }
}

/// Rows that press at one place: a place has three directions at most.
pub const MOST_NORMALS: usize = 3;

/// How rough a place is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Roughness {
    /// F by columns: the force at the place for a λ of one in each row that presses. The normal force is N = |Fλ|.
    pub forces: [[f64; 3]; MOST_NORMALS],
    /// The coefficient while it sticks.
    pub holding: f64,
    /// The coefficient while it slides.
    pub sliding: f64,
}

impl Roughness {
    /// Fλ.
    pub(crate) fn force(&self, pushes: &[f64; MOST_NORMALS]) -> [f64; 3] {
        let component = |k: usize| (0..MOST_NORMALS).map(|i| self.forces[i][k] * pushes[i]).sum();
        [component(0), component(1), component(2)]
    }

    /// N = |Fλ|.
    pub(crate) fn normal(&self, pushes: &[f64; MOST_NORMALS]) -> f64 {
        length(&self.force(pushes))
    }

    /// The row vector uᵀF, by which N grows with λ: u is the direction of the force, or the one a single row gives it.
    pub(crate) fn gradient(
        &self,
        friction: &Friction,
        press: f64,
        pushes: &[f64; MOST_NORMALS],
    ) -> [f64; MOST_NORMALS] {
        if friction.single().is_some() {
            return [press * length(&self.forces[0]), 0.0, 0.0];
        }
        let force = self.force(pushes);
        let N = length(&force);
        let along = |i: usize| self.forces[i].iter().zip(&force).map(|(f, n)| f * n).sum::<f64>();
        std::array::from_fn(|i| if N > 0.0 { along(i) / N } else { length(&self.forces[i]) })
    }
}

/// |x|.
pub(crate) fn length(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// x/|x|, where x is not zero.
pub(crate) fn unit_vector(x: Slip) -> Option<Slip> {
    let size = length(&x);
    (size > 0.0).then(|| x.map(|x| x / size))
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

/// A blow that would have made energy with the restitution as stated.
#[derive(Clone, Debug, PartialEq)]
pub struct Tamed {
    /// When.
    pub t: f64,
    /// The rows that were struck.
    pub rows: Vec<usize>,
    /// The part of the restitution at which none is made.
    pub part: f64,
}

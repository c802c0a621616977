//! Six routes from M, Q, A, b to the acceleration, independent in their algebra.

mod any_inverse;
pub(crate) mod decomposition;
pub mod dependence;
pub(crate) mod generalized_inverse;
pub(crate) mod large;
mod least_constraint;
mod multipliers;
pub(crate) mod problem;
mod quasi_velocities;
pub(crate) mod repeats;
mod scaled_rows;
pub(crate) mod shortest;
pub(crate) mod smallest;
mod two_form;

pub use crate::factor::Gap;
use crate::{Given, Legendre, MotionError, Settings, State};
use std::{fmt, str::FromStr};

/// The name of a route.
#[derive(Default, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RouteName {
    /// UK02 (12), by a complete orthogonal decomposition; sparse if the system is large.
    #[default]
    GeneralizedInverse,
    /// KU94 (29), with inverses drawn at random.
    AnyInverse,
    /// KUXI95 (1), Lagrange's equations of the first kind.
    Multipliers,
    /// KU94 (19), Gauss's principle as a quadratic program.
    LeastConstraint,
    /// The Gibbs-Appell equations.
    QuasiVelocities,
    /// Y05 4.1 with 6.1, the vector field of the Lagrangian two-form.
    TwoForm,
}

impl RouteName {
    /// Every route, the default one first.
    pub const ALL: [RouteName; 6] = [
        RouteName::GeneralizedInverse,
        RouteName::AnyInverse,
        RouteName::Multipliers,
        RouteName::LeastConstraint,
        RouteName::QuasiVelocities,
        RouteName::TwoForm,
    ];

    /// The name as users write it.
    pub fn as_str(self) -> &'static str {
        match self {
            RouteName::GeneralizedInverse => "generalized-inverse",
            RouteName::AnyInverse => "any-inverse",
            RouteName::Multipliers => "multipliers",
            RouteName::LeastConstraint => "least-constraint",
            RouteName::QuasiVelocities => "quasi-velocities",
            RouteName::TwoForm => "two-form",
        }
    }
}

impl fmt::Display for RouteName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for RouteName {
    type Err = String;

    fn from_str(text: &str) -> Result<RouteName, String> {
        RouteName::ALL.into_iter().find(|name| name.as_str() == text).ok_or_else(|| {
            let names: Vec<String> = RouteName::ALL.iter().map(|name| format!("`{name}`")).collect();
            format!("`{text}` is not a route; the routes are {}", names.join(", "))
        })
    }
}

/// The solution that a route computes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RouteSolution {
    /// q̈, the acceleration under the constraints.
    pub qddot: Vec<f64>,
    /// λ with Aᵀλ = M q̈ − Q, for the rows as written; the shortest one if there are several.
    pub lambda: Vec<f64>,
    /// Rank of A.
    pub rank: usize,
    /// The clarity of the rank decision.
    pub gap: Gap,
}

/// One formulation that computes the acceleration.
pub trait Route {
    /// Sets the state for the next `solve`. Only the two-form route uses it: it checks that its vector field is of
    /// second order, and needs q̇ if M is singular.
    fn at(&mut self, state: &State) {
        let _ = state;
    }

    /// The acceleration for the given M, Q, A, b, with `extra_force` added to Q; an empty slice stands for zero.
    ///
    /// The two-form route also needs the Legendre data, and adds `extra_force` to F.
    fn solve(
        &mut self,
        given: &Given,
        legendre: Option<&Legendre>,
        extra_force: &[f64],
        solution: &mut RouteSolution,
    ) -> Result<(), MotionError>;
}

/// The route of that name; it adapts to the sizes it is given.
pub fn route(name: RouteName, settings: &Settings) -> Box<dyn Route> {
    match name {
        RouteName::GeneralizedInverse => Box::new(generalized_inverse::GeneralizedInverse::new(settings)),
        RouteName::AnyInverse => Box::new(any_inverse::AnyInverse::new(settings)),
        RouteName::Multipliers => Box::new(multipliers::Multipliers::new(settings)),
        RouteName::LeastConstraint => Box::new(least_constraint::LeastConstraint::new(settings)),
        RouteName::QuasiVelocities => Box::new(quasi_velocities::QuasiVelocities::new(settings)),
        RouteName::TwoForm => Box::new(two_form::TwoForm::new(settings)),
    }
}

//! The methods of integration, and the measures against drift from the constraints.

use std::{fmt, str::FromStr};

/// A method of integration.
#[derive(Default, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// Order 8 or order 5 depending on the tolerance, and the stiff method if the motion turns out to be stiff.
    #[default]
    Auto,
    /// Dormand and Prince of order 8, adaptive.
    Order8,
    /// Dormand and Prince of order 5, adaptive: for loose tolerances.
    Order5,
    /// Radau's collocation of order 5, implicit and adaptive: for stiff systems.
    Stiff,
    /// RATTLE, symplectic, of order 2, with a fixed step: for long runs.
    Rattle,
    /// RATTLE composed to order 4.
    Rattle4,
}

impl Method {
    /// Every method, the default one first.
    pub const ALL: [Method; 6] =
        [Method::Auto, Method::Order8, Method::Order5, Method::Stiff, Method::Rattle, Method::Rattle4];

    /// The name as users write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Method::Auto => "auto",
            Method::Order8 => "order8",
            Method::Order5 => "order5",
            Method::Stiff => "stiff",
            Method::Rattle => "rattle",
            Method::Rattle4 => "rattle4",
        }
    }

    /// True if the method takes steps of one length.
    pub fn is_fixed_step(self) -> bool {
        matches!(self, Method::Rattle | Method::Rattle4)
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Method {
    type Err = String;

    fn from_str(text: &str) -> Result<Method, String> {
        Method::ALL.into_iter().find(|name| name.as_str() == text).ok_or_else(|| {
            let names: Vec<String> = Method::ALL.iter().map(|name| format!("`{name}`")).collect();
            format!("`{text}` is not a method; the methods are {}", names.join(", "))
        })
    }
}

/// The measure against drift from the constraints.
#[derive(Default, Clone, Copy, Debug, PartialEq)]
pub enum Drift {
    /// Every accepted state is projected onto the constraints with the smallest change in the mass metric.
    #[default]
    Project,
    /// φ̈ + 2αφ̇ + α²φ = 0 takes the place of φ̈ = 0, and ψ̇ + αψ = 0 that of ψ̇ = 0.
    Baumgarte {
        /// The rate α.
        rate: f64,
    },
    /// Drift is not corrected.
    None,
}

impl Drift {
    /// The name as users write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Drift::Project => "project",
            Drift::Baumgarte { .. } => "baumgarte",
            Drift::None => "none",
        }
    }
}

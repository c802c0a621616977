//! Degrees of freedom, here and in general.

use zwang_motion::Settings;

use crate::diagnostic::Diagnostic;
use crate::equations::Equations;
use crate::{analysis::constraints::dependence::Dependencies, tolerance};

/// The degrees of freedom, here and in general.
#[derive(Clone, Debug, PartialEq)]
pub struct Freedom {
    /// n − rank at this state.
    pub here: usize,
    /// n − rank at nearby states; `None` if that is not known.
    pub general: Option<usize>,
    /// n − m, the count of coordinates minus equations; for a mechanism of bodies and joints this is Grübler's formula.
    pub counted: isize,
    /// The kind of freedom at this state.
    pub mobility: Mobility,
    /// The number of random states on which this rests; zero if the rows are independent and no other state is needed.
    pub n_states: usize,
}

/// The kind of freedom at a state.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Mobility {
    /// The same number of freedoms as at the nearby states.
    Regular,
    /// No freedom: the constraints fix every coordinate.
    Fixed,
    /// More freedoms than nearby: a position where the rank drops.
    Singular,
    /// Infinitesimal freedom only: every neighbourhood search returned to the position, and rigidity is proved.
    Shaky,
    /// Not known.
    Unknown,
}

impl Mobility {
    /// The name in reports and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Mobility::Regular => "regular",
            Mobility::Fixed => "fixed",
            Mobility::Singular => "singular",
            Mobility::Shaky => "shaky",
            Mobility::Unknown => "unknown",
        }
    }
}

/// The freedoms at a state and in general.
///
/// The rank of A drops only at special states, so independent rows are also independent nearby. For dependent rows the
/// states of the neighbourhood search decide; if every search returned to the position, the position cannot be left.
pub fn freedom(equations: &Equations, rank: usize, rows: &Dependencies) -> Freedom {
    let (n, m) = (equations.model.n_coordinates(), equations.rows.len());
    let here = n - rank.min(n);
    let proved = rows.is_proved();
    let (general, mobility) = match rows.rank_elsewhere() {
        _ if rows.ranks.is_some() => (None, Mobility::Unknown),
        _ if here == 0 => (Some(0), Mobility::Fixed),
        _ if rank == m => (Some(here), Mobility::Regular),
        Some(there) if there > rank => (Some(n - there.min(n)), Mobility::Singular),
        // the rank does not show the condition of a row that vanishes wherever it holds, such as u^2 = 0
        Some(_) if !rows.here.vanished.is_empty() => (None, Mobility::Unknown),
        Some(_) => (Some(here), Mobility::Regular),
        // rows that are identities of independent ones restrict nothing
        None if proved => (Some(here), Mobility::Regular),
        None if rows.is_only_position() => (Some(0), Mobility::Shaky),
        None => (None, Mobility::Unknown),
    };
    Freedom { here, general, counted: n as isize - m as isize, mobility, n_states: rows.there.len() }
}

/// Z318: freedoms that nearby states do not have, or for which that is not known.
pub fn mobility_note(equations: &Equations, freedom: &Freedom) -> Option<Diagnostic> {
    let span = equations.model.constraints.first().map(|c| c.span);
    let d = match freedom.mobility {
        Mobility::Shaky => Diagnostic::warning(
            "Z318",
            format!(
                "the {} here cannot be followed: every small step led back to this position",
                degrees(freedom.here)
            ),
        )
        .with_note(
            "the constraints touch without crossing: the freedom is of infinitesimal size, and the structure is shaky",
        )
        .help("change a length a little: the position becomes either rigid or free"),
        Mobility::Unknown => Diagnostic::note(
            "Z318",
            format!("whether nearby positions have the {} of this one was not found out", degrees(freedom.here)),
        )
        .with_note("rows vanish or depend on others at this state, and no other state shows what holds in general")
        .help("check from another start"),
        _ => return None,
    };
    Some(match span {
        Some(span) => d.at(span, "among these constraints"),
        None => d,
    })
}

/// Z318: a rank that the numbers do not determine clearly.
pub fn doubt_note(equations: &Equations, rank: usize, rows: &Dependencies, settings: &Settings) -> Option<Diagnostic> {
    let (gap, tolerance) = (rows.here.gap, settings.rank_tolerance);
    let (kept, dropped) = (gap.kept, rows.largest_dropped());
    let is_close = kept < tolerance::CLOSE_PIVOT * tolerance;
    let is_split = rows.ranks.is_some() || rows.here.rank != rank;
    if equations.rows.is_empty() || !(is_close || !rows.is_clearly_dependent(settings) || is_split) {
        return None;
    }
    let message = match rows.ranks.unwrap_or((rank, rows.here.rank)) {
        (a, b) if a == b => format!("the rank of the constraints, {rank}, is not clear at this state"),
        (a, b) => format!("the rank of the constraints is not clear at this state: {} or {}", a.min(b), a.max(b)),
    };
    if let Some((by_mass, plain)) = rows.ranks {
        let counts =
            format!("relative to the masses {by_mass} rows are independent, by their coefficients alone {plain}");
        let sizes =
            format!("the largest direction dropped is {dropped:.1e}; directions below {tolerance:.0e} count as zero");
        let help = "masses this far apart cannot be distinguished from fixed ones: leave out coordinates that are practically fixed";
        return Some(Diagnostic::note("Z318", message).with_note(counts).with_note(sizes).help(help));
    }
    Some(
        Diagnostic::note("Z318", message)
            .with_note(format!(
                "the smallest direction kept is {:.1e}, the largest dropped {:.1e}; directions below {tolerance:.0e} count as zero",
                kept, dropped
            ))
            .help("a position close to a singular one; check from another start to see what holds in general"),
    )
}

fn degrees(n: usize) -> String {
    if n == 1 { "degree of freedom".into() } else { format!("{n} degrees of freedom") }
}

//! Names that the languages accept.

use std::collections::HashMap;

use zwang::equations::Equations;
use zwang::{Part, ascii_name, unique_names};
use zwang_expr::Expr;

use super::FormulaLanguage;

/// The names of all quantities in the code.
pub(super) struct CodeNames {
    pub coordinates: Vec<String>,
    pub velocities: Vec<String>,
    pub parameters: Vec<String>,
    pub multipliers: Vec<String>,
    pub parts: Vec<String>,
    /// The names of symbols and parts.
    pub of: HashMap<Expr, String>,
}

impl CodeNames {
    pub fn new(equations: &Equations, parts: &[Part], language: FormulaLanguage) -> CodeNames {
        let model = &equations.model;
        let coordinates = model.coordinates.iter().map(|c| (c.q, c.name.clone()));
        let parameters = model.parameters.iter().map(|p| (p.symbol, p.name.clone()));
        let velocities = model.coordinates.iter().map(|c| (c.qdot, format!("{}'", c.name)));
        let multipliers = equations.rows.iter().map(|r| (r.lambda, format!("lambda_{}", r.name)));
        let parts = parts.iter().map(|part| (part.symbol, part.name.clone()));
        let all: Vec<(Expr, String)> =
            coordinates.chain(parameters).chain(velocities).chain(multipliers).chain(parts).collect();
        let spelled: Vec<String> = all.iter().map(|(_, name)| free(&ascii_name(name), language)).collect();
        let mut unique = unique_names(&spelled);
        let mut of: HashMap<Expr, String> = all.iter().zip(&unique).map(|((e, _), name)| (*e, name.clone())).collect();
        of.insert(model.time, "t".into());
        let mut take = |n: usize| unique.drain(..n).collect::<Vec<String>>();
        let (n, m) = (model.coordinates.len(), equations.rows.len());
        let (coordinates, parameters) = (take(n), take(model.parameters.len()));
        let (velocities, multipliers) = (take(n), take(m));
        CodeNames { coordinates, parameters, velocities, multipliers, parts: unique, of }
    }
}

/// The name, followed by an underscore if the language or the code itself uses it; no other name ends with one.
fn free(name: &str, language: FormulaLanguage) -> String {
    let (keywords, used) = match language {
        FormulaLanguage::Rust => (RUST, RUST_USED),
        FormulaLanguage::C => (C, C_USED),
        FormulaLanguage::NumPy => (PYTHON, NUMPY_USED),
        FormulaLanguage::SymPy => (PYTHON, SYMPY_USED),
    };
    let taken = [keywords, used].iter().any(|words| words.split_whitespace().any(|word| word == name));
    if taken { format!("{name}_") } else { name.to_string() }
}

const RUST: &str = "as async await break const continue crate dyn else enum extern false fn for gen if impl in let loop match
    mod move mut pub ref return self Self static struct super trait true type unsafe use where while abstract become box do
    final macro override priv try typeof unsized virtual yield union";

const RUST_USED: &str = "t q v p lam out f64 std Parameters look None Some Ok Err";

const C: &str =
    "auto break case char const continue default do double else enum extern float for goto if inline int long
    register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while _Bool
    _Complex _Imaginary asm typeof bool true false nullptr alignas alignof constexpr thread_local static_assert main";

const C_USED: &str =
    "t q v p lam out i j look sin cos tan asin acos atan sinh cosh tanh exp log sqrt fabs pow atan2 fmin fmax
    isfinite NAN INFINITY";

const PYTHON: &str =
    "False None True and as assert async await break class continue def del elif else except finally for
    from global if import in is lambda nonlocal not or pass raise return try while with yield match case type print";

const NUMPY_USED: &str = "t q v p lam out np dataclass Parameters look zeros arrays";

const SYMPY_USED: &str =
    "t q qdot M Q A b A_c b_c C a e G P N np u lam Qc Qn qddot values parts unfold parameters multipliers
    Abs Function Integer Matrix Max Min Piecewise Rational acos asin atan atan2 cos cosh dynamicsymbols exp
    implemented_function log look pi sign sin sinh sqrt symbols sympy tan tanh zeros";

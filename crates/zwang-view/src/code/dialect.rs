//! The syntax of each language.

use zwang::Exported;
use zwang_expr::{Comparison, Function, Function2, Operation};

/// A language for code.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Language {
    /// C99, for any compiler with `math.h`.
    C,
    /// Rust, without dependencies.
    Rust,
    /// Python 3, with `math` alone.
    Python,
}

/// The syntax of one language.
pub(super) struct Dialect {
    pub(super) language: Language,
    pub(super) comment: &'static str,
    /// The end of a statement.
    pub(super) stop: &'static str,
    /// The description of the returned value, for the introduction.
    pub(super) outcome: &'static str,
    pub(super) prelude: &'static str,
    pub(super) lookup: &'static str,
    pub(super) solver: &'static str,
    /// The end of the function.
    pub(super) end: &'static str,
    /// `true` if constants are written in capitals.
    pub(super) shouts: bool,
}

impl Dialect {
    pub(super) fn of(language: Language) -> Dialect {
        match language {
            Language::C => Dialect {
                language,
                comment: "//",
                stop: ";",
                outcome: "returns 1, or 0 where there is no unique, finite answer and nothing must be used.",
                prelude: "\n#include <math.h>\n",
                lookup: C_LOOKUP,
                solver: C_SOLVER,
                end: "    return 1;\n}\n",
                shouts: false,
            },
            Language::Rust => Dialect {
                language,
                comment: "//",
                stop: ";",
                outcome: "returns true, or false where there is no unique, finite answer and nothing must be used.",
                prelude: "#![allow(non_snake_case, unused_variables, dead_code, clippy::all)]\n",
                lookup: RUST_LOOKUP,
                solver: RUST_SOLVER,
                end: "    true\n}\n",
                shouts: true,
            },
            Language::Python => Dialect {
                language,
                comment: "#",
                stop: "",
                outcome: "raises ArithmeticError where there is no unique, finite answer.",
                prelude: "\nimport math\n",
                lookup: PYTHON_LOOKUP,
                solver: PYTHON_SOLVER,
                end: "",
                shouts: true,
            },
        }
    }

    /// A number to the last bit; a negative one in brackets.
    pub(super) fn number(&self, x: f64) -> String {
        if x < 0.0 { format!("({x:?})") } else { format!("{x:?}") }
    }

    pub(super) fn constants(&self, name: &str, values: &[String]) -> String {
        let list = values.join(", ");
        match self.language {
            Language::C => format!("const double {name}[{}] = {{{list}}};", values.len()),
            Language::Rust => format!("pub const {name}: [f64; {}] = [{list}];", values.len()),
            Language::Python => format!("{name} = [{list}]"),
        }
    }

    pub(super) fn table_name(&self, k: usize, what: &str) -> String {
        let name = format!("table{k}_{what}");
        if self.shouts { name.to_uppercase() } else { name }
    }

    /// The first line of the function.
    pub(super) fn function(&self, name: &str, e: &Exported, n: usize, m: usize) -> String {
        let (n_parameters, k) = (e.parameters.len(), e.driven.len());
        let has_rows = m > 0;
        match self.language {
            Language::C => {
                let results = match (e.has_controls(), has_rows) {
                    (true, _) => format!("double u[{k}]"),
                    (false, true) => format!("double a[{n}], double f[{m}]"),
                    (false, false) => format!("double a[{n}]"),
                };
                // C has no arrays of length zero
                let parameters = match n_parameters {
                    0 => "const double *p".to_string(),
                    _ => format!("const double p[{n_parameters}]"),
                };
                format!(
                    "int {name}(double t, const double q[{n}], const double v[{n}], {parameters}, {results})\n{{\n    (void)t; (void)q; (void)v; (void)p;"
                )
            }
            Language::Rust => {
                let results = match (e.has_controls(), has_rows) {
                    (true, _) => format!("u: &mut [f64; {k}]"),
                    (false, true) => format!("a: &mut [f64; {n}], f: &mut [f64; {m}]"),
                    (false, false) => format!("a: &mut [f64; {n}]"),
                };
                format!(
                    "pub fn {name}(t: f64, q: &[f64; {n}], v: &[f64; {n}], p: &[f64; {n_parameters}], {results}) -> bool {{"
                )
            }
            Language::Python => {
                let results = match (e.has_controls(), has_rows) {
                    (true, _) => "u",
                    (false, true) => "a, f",
                    (false, false) => "a",
                };
                format!("\ndef {name}(t, q, v, p, {results}):")
            }
        }
    }

    pub(super) fn declare(&self, name: &str, value: &str) -> String {
        let value = bare(value);
        match self.language {
            Language::C => format!("const double {name} = {value}"),
            Language::Rust => format!("let {name} = {value}"),
            Language::Python => format!("{name} = {value}"),
        }
    }

    /// An array of zeros.
    pub(super) fn array(&self, name: &str, size: usize) -> String {
        match self.language {
            Language::C => format!("double {name}[{size}] = {{0}}"),
            Language::Rust => format!("let mut {name} = [0.0_f64; {size}]"),
            Language::Python => format!("{name} = [0.0] * {size}"),
        }
    }

    /// Solves matrix · x = x and ends the function if that fails.
    pub(super) fn solve(&self, n: usize, n_rhs: usize, matrix: &str, x: &str) -> String {
        match self.language {
            Language::C => format!("    if (!solve({n}, {n_rhs}, {matrix}, {x})) return 0;"),
            Language::Rust => {
                format!("    if !solve({n}, {n_rhs}, &mut {matrix}, &mut {x}) {{\n        return false;\n    }}")
            }
            Language::Python => format!("    solve({n}, {n_rhs}, {matrix}, {x})"),
        }
    }

    /// Ends the function if a number is not finite; a bound would hide it.
    pub(super) fn refuse_not_finite(&self, array: &str, n: usize) -> String {
        match self.language {
            Language::C => format!("    for (int i = 0; i < {n}; i++) if (!isfinite({array}[i])) return 0;"),
            Language::Rust => {
                format!("    if !{array}.iter().all(|x| x.is_finite()) {{\n        return false;\n    }}")
            }
            Language::Python => format!(
                "    if not all(math.isfinite(x) for x in {array}):\n        raise ArithmeticError(\"not finite\")"
            ),
        }
    }

    /// x limited to ± limit.
    pub(super) fn clamp(&self, x: &str, limit: &str) -> String {
        let limit = bare(limit);
        match self.language {
            Language::C => format!("fmin(fmax({x}, -{limit}), {limit})"),
            Language::Rust => format!("f64::min(f64::max({x}, -{limit}), {limit})"),
            Language::Python => format!("min(max({x}, -{limit}), {limit})"),
        }
    }

    /// One instruction as an expression; `n_pieces` returns the number of pieces of a table.
    pub(super) fn operation(&self, op: Operation, [a, b, c]: [&str; 3], n_pieces: impl Fn(usize) -> usize) -> String {
        match op {
            Operation::Add => format!("{a} + {b}"),
            Operation::Sub => format!("{a} - {b}"),
            Operation::Mul => format!("{a}*{b}"),
            Operation::Div => format!("{a}/{b}"),
            Operation::Neg => format!("-{a}"),
            // rounded twice; a compiler may fuse the operations
            Operation::MulAdd => format!("{a}*{b} + {c}"),
            Operation::MulSub => format!("{c} - {a}*{b}"),
            Operation::Pow => self.call("pow", "f64::powf", "math.pow", &[a, b]),
            Operation::Apply(f) => self.apply(f, a),
            Operation::Apply2(Function2::Min) => self.call("fmin", "f64::min", "min", &[a, b]),
            Operation::Apply2(Function2::Max) => self.call("fmax", "f64::max", "max", &[a, b]),
            // -0 counts as 0
            Operation::Apply2(Function2::Atan2) => {
                let (y, x) = (format!("{a} + 0.0"), format!("{b} + 0.0"));
                self.call("atan2", "f64::atan2", "math.atan2", &[&y, &x])
            }
            Operation::Look(table) => self.look(table.index(), a, n_pieces(table.index())),
            Operation::Compare(comparison) => self.choose(&format!("{a} {} {b}", symbol(comparison)), "1.0", "0.0"),
            Operation::Select => self.choose(&format!("{a} != 0.0"), b, c),
        }
    }

    fn choose(&self, condition: &str, then: &str, otherwise: &str) -> String {
        match self.language {
            Language::C => format!("{condition} ? {then} : {otherwise}"),
            Language::Rust => format!("if {condition} {{ {} }} else {{ {} }}", bare(then), bare(otherwise)),
            Language::Python => format!("{then} if {condition} else {otherwise}"),
        }
    }

    fn call(&self, c: &str, rust: &str, python: &str, arguments: &[&str]) -> String {
        let name = match self.language {
            Language::C => c,
            Language::Rust => rust,
            Language::Python => python,
        };
        let arguments: Vec<&str> = arguments.iter().map(|argument| bare(argument)).collect();
        format!("{name}({})", arguments.join(", "))
    }

    fn apply(&self, f: Function, x: &str) -> String {
        let (c, rust, python) = match f {
            Function::Sin => ("sin", "f64::sin", "math.sin"),
            Function::Cos => ("cos", "f64::cos", "math.cos"),
            Function::Tan => ("tan", "f64::tan", "math.tan"),
            Function::Asin => ("asin", "f64::asin", "math.asin"),
            Function::Acos => ("acos", "f64::acos", "math.acos"),
            Function::Atan => ("atan", "f64::atan", "math.atan"),
            Function::Sinh => ("sinh", "f64::sinh", "math.sinh"),
            Function::Cosh => ("cosh", "f64::cosh", "math.cosh"),
            Function::Tanh => ("tanh", "f64::tanh", "math.tanh"),
            Function::Exp => ("exp", "f64::exp", "math.exp"),
            Function::Log => ("log", "f64::ln", "math.log"),
            Function::Sqrt => ("sqrt", "f64::sqrt", "math.sqrt"),
            Function::Abs => ("fabs", "f64::abs", "abs"),
            Function::Sign => {
                let less = self.choose(&format!("{x} < 0.0"), "-1.0", "0.0");
                let less = if self.language == Language::Rust { less } else { format!("({less})") };
                return self.choose(&format!("{x} > 0.0"), "1.0", &less);
            }
        };
        self.call(c, rust, python, &[x])
    }

    fn look(&self, table: usize, x: &str, n_pieces: usize) -> String {
        let x = bare(x);
        let (knots, pieces) = (self.table_name(table, "knots"), self.table_name(table, "pieces"));
        match self.language {
            Language::C => format!("look({n_pieces}, {knots}, {pieces}, {x})"),
            Language::Rust => format!("look(&{knots}, &{pieces}, {x})"),
            Language::Python => format!("look({knots}, {pieces}, {x})"),
        }
    }
}

/// The value without enclosing brackets; compilers warn about superfluous ones.
pub(super) fn bare(value: &str) -> &str {
    let inside = value.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    inside.filter(|inside| !inside.contains(['(', ')'])).unwrap_or(value)
}

fn symbol(comparison: Comparison) -> &'static str {
    comparison.symbol()
}

pub(crate) const C_LOOKUP: &str = "
// A table at x: pieces of degree 5 between its knots; not a number beyond its ends.
static double look(int n, const double *knots, const double *pieces, double x)
{
    const double slack = 1e-9*(knots[n] - knots[0]);
    if (!(x >= knots[0] - slack && x <= knots[n] + slack)) return NAN;
    int low = 0, high = n;
    while (high - low > 1) {
        const int middle = (low + high)/2;
        if (knots[middle] <= x) low = middle; else high = middle;
    }
    const double s = x - knots[low], *c = pieces + 6*low;
    return ((((c[5]*s + c[4])*s + c[3])*s + c[2])*s + c[1])*s + c[0];
}
";

const C_SOLVER: &str = "
// Solves S x = x for k right-hand sides, overwriting both; two equations by Cramer, more with rows scaled and exchanged.
// 0 if S is singular.
static inline int solve(int n, int k, double *S, double *x)
{
    if (n == 2 && k == 1) {
        const double a = S[0]*S[3], b = S[1]*S[2], d = a - b, y = x[0];
        if (!(fabs(d) > 1e-12*(fabs(a) + fabs(b)))) return 0;
        x[0] = (S[3]*y - S[1]*x[1])/d;
        x[1] = (S[0]*x[1] - S[2]*y)/d;
        return 1;
    }
    for (int i = 0; i < n; i++) {
        double top = 0;
        for (int j = 0; j < n; j++) if (fabs(S[i*n + j]) > top) top = fabs(S[i*n + j]);
        if (!(top > 0)) return 0;
        const double scale = 1/top;
        for (int j = 0; j < n; j++) S[i*n + j] *= scale;
        for (int j = 0; j < k; j++) x[i*k + j] *= scale;
    }
    for (int l = 0; l < n; l++) {
        int best = l;
        for (int i = l + 1; i < n; i++) if (fabs(S[i*n + l]) > fabs(S[best*n + l])) best = i;
        if (!(fabs(S[best*n + l]) > 1e-12)) return 0;
        if (best != l) {
            for (int j = l; j < n; j++) { const double y = S[l*n + j]; S[l*n + j] = S[best*n + j]; S[best*n + j] = y; }
            for (int j = 0; j < k; j++) { const double y = x[l*k + j]; x[l*k + j] = x[best*k + j]; x[best*k + j] = y; }
        }
        // the diagonal keeps the reciprocals of the pivots
        S[l*n + l] = 1/S[l*n + l];
        for (int i = l + 1; i < n; i++) {
            const double c = S[i*n + l]*S[l*n + l];
            for (int j = l + 1; j < n; j++) S[i*n + j] -= c*S[l*n + j];
            for (int j = 0; j < k; j++) x[i*k + j] -= c*x[l*k + j];
        }
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int j = 0; j < k; j++) {
            double y = x[i*k + j];
            for (int l = i + 1; l < n; l++) y -= S[i*n + l]*x[l*k + j];
            x[i*k + j] = y*S[i*n + i];
        }
    }
    return 1;
}
";

pub(crate) const RUST_LOOKUP: &str = "
/// A table at x: pieces of degree 5 between its knots; not a number beyond its ends.
fn look(knots: &[f64], pieces: &[f64], x: f64) -> f64 {
    let n = knots.len() - 1;
    let slack = 1e-9 * (knots[n] - knots[0]);
    if !(x >= knots[0] - slack && x <= knots[n] + slack) {
        return f64::NAN;
    }
    let at = knots.partition_point(|knot| *knot <= x).clamp(1, n) - 1;
    let s = x - knots[at];
    pieces[6 * at..6 * at + 6].iter().rev().fold(0.0, |sum, c| sum * s + c)
}
";

const RUST_SOLVER: &str = "
/// Solves S x = x for k right-hand sides, overwriting both; two equations by Cramer, more with rows scaled and exchanged.
/// False if S is singular.
#[inline]
fn solve(n: usize, k: usize, S: &mut [f64], x: &mut [f64]) -> bool {
    if n == 2 && k == 1 {
        let (a, b, y) = (S[0] * S[3], S[1] * S[2], x[0]);
        let d = a - b;
        if !(d.abs() > 1e-12 * (a.abs() + b.abs())) {
            return false;
        }
        x[0] = (S[3] * y - S[1] * x[1]) / d;
        x[1] = (S[0] * x[1] - S[2] * y) / d;
        return true;
    }
    for i in 0..n {
        let top = S[i * n..(i + 1) * n].iter().fold(0.0_f64, |top, y| top.max(y.abs()));
        if !(top > 0.0) {
            return false;
        }
        let scale = 1.0 / top;
        S[i * n..(i + 1) * n].iter_mut().for_each(|y| *y *= scale);
        x[i * k..(i + 1) * k].iter_mut().for_each(|y| *y *= scale);
    }
    for l in 0..n {
        let mut best = l;
        for i in l + 1..n {
            if S[i * n + l].abs() > S[best * n + l].abs() {
                best = i;
            }
        }
        if !(S[best * n + l].abs() > 1e-12) {
            return false;
        }
        if best != l {
            (l..n).for_each(|j| S.swap(l * n + j, best * n + j));
            (0..k).for_each(|j| x.swap(l * k + j, best * k + j));
        }
        // the diagonal keeps the reciprocals of the pivots
        S[l * n + l] = 1.0 / S[l * n + l];
        for i in l + 1..n {
            let c = S[i * n + l] * S[l * n + l];
            for j in l + 1..n {
                S[i * n + j] -= c * S[l * n + j];
            }
            for j in 0..k {
                x[i * k + j] -= c * x[l * k + j];
            }
        }
    }
    for i in (0..n).rev() {
        for j in 0..k {
            let mut y = x[i * k + j];
            for l in i + 1..n {
                y -= S[i * n + l] * x[l * k + j];
            }
            x[i * k + j] = y * S[i * n + i];
        }
    }
    true
}
";

const PYTHON_LOOKUP: &str = "
from bisect import bisect_right

def look(knots, pieces, x):
    \"\"\"A table at x: pieces of degree 5 between its knots.\"\"\"
    slack = 1e-9*(knots[-1] - knots[0])
    if not knots[0] - slack <= x <= knots[-1] + slack:
        raise ArithmeticError(\"beyond the ends of a table\")
    at = min(max(bisect_right(knots, x), 1), len(knots) - 1) - 1
    s, total = x - knots[at], 0.0
    for k in range(5, -1, -1):
        total = total*s + pieces[6*at + k]
    return total
";

const PYTHON_SOLVER: &str = "

def solve(n, k, S, x):
    \"\"\"Solves S x = x for k right-hand sides, overwriting both; rows are scaled and exchanged.\"\"\"
    for i in range(n):
        top = max(abs(S[i*n + j]) for j in range(n))
        if not top > 0.0:
            raise ArithmeticError(\"singular\")
        for j in range(n):
            S[i*n + j] /= top
        for j in range(k):
            x[i*k + j] /= top
    for l in range(n):
        best = max(range(l, n), key=lambda i: abs(S[i*n + l]))
        if not abs(S[best*n + l]) > 1e-12:
            raise ArithmeticError(\"singular\")
        if best != l:
            for j in range(l, n):
                S[l*n + j], S[best*n + j] = S[best*n + j], S[l*n + j]
            for j in range(k):
                x[l*k + j], x[best*k + j] = x[best*k + j], x[l*k + j]
        for i in range(l + 1, n):
            c = S[i*n + l]/S[l*n + l]
            for j in range(l + 1, n):
                S[i*n + j] -= c*S[l*n + j]
            for j in range(k):
                x[i*k + j] -= c*x[l*k + j]
    for i in range(n - 1, -1, -1):
        for j in range(k):
            y = x[i*k + j]
            for l in range(i + 1, n):
                y -= S[i*n + l]*x[l*k + j]
            x[i*k + j] = y/S[i*n + i]
";

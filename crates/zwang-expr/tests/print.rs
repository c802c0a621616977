//! Text: the forms promised, and that it parses back to the same value.

use crate::oracle::{config, graph, points, trees};
use proptest::prelude::*;
use std::collections::HashMap;
use zwang_expr::{Comparison, Expr, Function, Function2, Graph};

/// An independent reader: precedence climbing straight to the value.
struct Reader<'a> {
    rest: &'a str,
    names: &'a HashMap<&'a str, f64>,
}

fn read(text: &str, names: &HashMap<&str, f64>) -> f64 {
    let mut reader = Reader { rest: text, names };
    let value = reader.sum();
    assert!(reader.rest.is_empty(), "`{}` is left of `{text}`", reader.rest);
    value
}

impl Reader<'_> {
    fn eat(&mut self, token: &str) -> bool {
        let rest = self.rest.trim_start();
        let found = rest.strip_prefix(token);
        self.rest = found.unwrap_or(rest);
        found.is_some()
    }

    fn expect(&mut self, token: &str) {
        assert!(self.eat(token), "`{token}` expected at `{}`", self.rest);
    }

    fn sum(&mut self) -> f64 {
        let mut value = self.product();
        loop {
            if self.eat("+") {
                value += self.product();
            } else if self.eat("-") {
                value -= self.product();
            } else {
                return value;
            }
        }
    }

    fn product(&mut self) -> f64 {
        let mut value = self.unary();
        loop {
            if self.eat("*") {
                value *= self.unary();
            } else if self.eat("/") {
                value /= self.unary();
            } else {
                return value;
            }
        }
    }

    fn unary(&mut self) -> f64 {
        if self.eat("-") { -self.unary() } else { self.power() }
    }

    fn power(&mut self) -> f64 {
        let base = self.atom();
        if self.eat("^") { base.powf(self.unary()) } else { base }
    }

    fn atom(&mut self) -> f64 {
        if self.eat("(") {
            let value = if self.eat("if ") { self.choice() } else { self.sum() };
            self.expect(")");
            return value;
        }
        let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '\'' || c == '.';
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            return self.number();
        }
        self.rest = rest;
        if self.rest.starts_with('(') { self.call(word) } else { self.names[word] }
    }

    fn number(&mut self) -> f64 {
        let mut end = self.rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(self.rest.len());
        if self.rest[end..].starts_with('e') {
            let exponent = &self.rest[end + 1..];
            let sign = exponent.starts_with('-') as usize;
            let digits = exponent[sign..].find(|c: char| !c.is_ascii_digit()).unwrap_or(exponent.len() - sign);
            end += 1 + sign + digits;
        }
        let (number, rest) = self.rest.split_at(end);
        self.rest = rest;
        number.parse().unwrap()
    }

    fn call(&mut self, name: &str) -> f64 {
        self.expect("(");
        let x = self.sum();
        let y = if self.eat(",") { self.sum() } else { f64::NAN };
        self.expect(")");
        match name {
            "sin" => x.sin(),
            "cos" => x.cos(),
            "tan" => x.tan(),
            "asin" => x.asin(),
            "acos" => x.acos(),
            "atan" => x.atan(),
            "sinh" => x.sinh(),
            "cosh" => x.cosh(),
            "tanh" => x.tanh(),
            "exp" => x.exp(),
            "log" => x.ln(),
            "sqrt" => x.sqrt(),
            "abs" => x.abs(),
            "sign" => {
                if x == 0.0 {
                    0.0
                } else {
                    x.signum()
                }
            }
            "atan2" => (x + 0.0).atan2(y + 0.0),
            "min" => x.min(y),
            "max" => x.max(y),
            other => panic!("`{other}` is no function"),
        }
    }

    fn choice(&mut self) -> f64 {
        let left = self.sum();
        let comparison = ["<=", ">=", "<", ">"].into_iter().find(|symbol| self.eat(symbol)).unwrap();
        let right = self.sum();
        self.expect("then");
        let then = self.sum();
        self.expect("else");
        let otherwise = self.sum();
        let holds = match comparison {
            "<" => left < right,
            "<=" => left <= right,
            ">" => left > right,
            _ => left >= right,
        };
        if holds { then } else { otherwise }
    }
}

proptest! {
    #![proptest_config(config(3000))]

    #[test]
    fn text_parses_back_to_the_same_value(tree in trees(), point in points()) {
        let Some([expected, _]) = tree.expected(&point, &[0.0; 4]) else { return Ok(()) };
        let (mut g, symbols) = graph();
        let e = tree.build(&mut g, &symbols);
        let mut names: HashMap<&str, f64> = HashMap::from([("pi", std::f64::consts::PI)]);
        names.extend(symbols.iter().zip(point).map(|(&s, x)| (g.name(s), x)));
        let text = g.text(e);
        let found = read(&text, &names);
        prop_assert!(expected.meets(found), "{found} instead of {expected:?}: {text}");
    }

    #[test]
    fn latex_is_balanced(tree in trees()) {
        let (mut g, symbols) = graph();
        let e = tree.build(&mut g, &symbols);
        let latex = g.latex(e);
        for (open, close) in [("{", "}"), ("\\left", "\\right"), ("\\begin", "\\end")] {
            prop_assert_eq!(latex.matches(open).count(), latex.matches(close).count(), "{}", latex);
        }
    }
}

/// A board to write formulas on: m, g, l are constants, x, y, θ are not.
struct Board {
    g: Graph,
    m: Expr,
    gravity: Expr,
    l: Expr,
    x: Expr,
    y: Expr,
    v: Expr,
    angle: Expr,
}

fn board() -> Board {
    let mut g = Graph::new();
    let [m, gravity, l] = ["m", "g", "l"].map(|name| g.symbol(name, name));
    for constant in [m, gravity, l] {
        g.set_rate(constant, Expr::ZERO);
    }
    let [x, y, v, angle] =
        [("x", "x"), ("y", "y"), ("x'", "\\dot x"), ("θ", "\\theta")].map(|(name, latex)| g.symbol(name, latex));
    Board { g, m, gravity, l, x, y, v, angle }
}

fn check(expected: [&str; 2], build: impl Fn(&mut Graph, &Board) -> Expr) {
    let board = board();
    let mut g = board.g.clone();
    let e = build(&mut g, &board);
    assert_eq!([g.text(e).as_str(), g.latex(e).as_str()], expected);
}

#[test]
fn kinetic_energy_is_written_over_two() {
    check(["m*x'^2/2", "\\frac{m \\, {\\dot x}^{2}}{2}"], |g, b| {
        let (half_m, v2) = (g.mul(Expr::HALF, b.m), g.powi(b.v, 2));
        g.mul(half_m, v2)
    });
}

#[test]
fn products_put_constants_first() {
    check(["m*g*y", "m \\, g \\, y"], |g, b| g.product(&[b.y, b.gravity, b.m]));
    check(["9.81*m*x", "9.81 \\, m \\, x"], |g, b| {
        let c = g.decimal("9.81").unwrap();
        g.product(&[b.x, c, b.m])
    });
}

#[test]
fn sums_avoid_a_leading_minus() {
    check(["y - x", "y - x"], |g, b| g.sub(b.y, b.x));
    check(["1 - x", "1 - x"], |g, b| g.sub(Expr::ONE, b.x));
    check(["-x - y", "-x - y"], |g, b| {
        let s = g.add(b.x, b.y);
        g.neg(s)
    });
    check(["y^2", "{y}^{2}"], |g, b| {
        let square = g.powi(b.y, 2);
        let (s, t) = (g.add(b.x, square), g.neg(b.x));
        let apart = g.mul(Expr::HALF, s);
        let again = g.add(apart, apart);
        g.add(again, t)
    });
}

#[test]
fn quotients_need_one_pair_of_parentheses() {
    check(["m/(l*x)", "\\frac{m}{l \\, x}"], |g, b| {
        let below = g.mul(b.x, b.l);
        g.div(b.m, below)
    });
    check(["1/x", "\\frac{1}{x}"], |g, b| g.powi(b.x, -1));
    check(["m/(2*sqrt(x))", "\\frac{m}{2 \\, \\sqrt{x}}"], |g, b| {
        let root = g.sqrt(b.x);
        let twice = g.add(root, root);
        g.div(b.m, twice)
    });
    check(["(x + y)/(x - y)", "\\frac{x + y}{x - y}"], |g, b| {
        let (sum, difference) = (g.add(b.x, b.y), g.sub(b.x, b.y));
        g.div(sum, difference)
    });
    check(["2*x/3", "\\frac{2 \\, x}{3}"], |g, b| {
        let c = g.rational(2, 3);
        g.mul(c, b.x)
    });
}

#[test]
fn powers_keep_their_reading() {
    check(["(-1)^x", "{\\left(-1\\right)}^{x}"], |g, b| g.pow(Expr::MINUS_ONE, b.x));
    check(["x^(-y)", "{x}^{-y}"], |g, b| {
        let minus = g.neg(b.y);
        g.pow(b.x, minus)
    });
    check(["(x^y)^m", "{\\left({x}^{y}\\right)}^{m}"], |g, b| {
        let p = g.pow(b.x, b.y);
        g.pow(p, b.m)
    });
    check(["-x^2", "-{x}^{2}"], |g, b| {
        let p = g.powi(b.x, 2);
        g.neg(p)
    });
    check(["x^(3/2)", "{x}^{3/2}"], |g, b| {
        let n = g.rational(3, 2);
        g.pow(b.x, n)
    });
    check(["(1/3)^x", "{\\left(\\frac{1}{3}\\right)}^{x}"], |g, b| {
        let third = g.rational(1, 3);
        g.pow(third, b.x)
    });
}

#[test]
fn functions_and_choices_are_written_in_words() {
    check(["l*sin(θ)^2", "l \\, \\sin^{2} \\theta"], |g, b| {
        let sin = g.apply(Function::Sin, b.angle);
        let square = g.powi(sin, 2);
        g.mul(square, b.l)
    });
    check(["abs(x - y)", "\\left|x - y\\right|"], |g, b| {
        let d = g.sub(b.x, b.y);
        g.apply(Function::Abs, d)
    });
    check(["atan2(y, x)", "\\operatorname{atan2}\\left(y, x\\right)"], |g, b| g.apply2(Function2::Atan2, b.y, b.x));
    check(["(if x < 0 then y else m)", "\\begin{cases} y & x < 0 \\\\ m & \\text{otherwise} \\end{cases}"], |g, b| {
        g.select(Comparison::Less, b.x, Expr::ZERO, b.y, b.m)
    });
}

#[test]
fn squares_of_sine_and_cosine_meet_in_print() {
    check(["m*l^2", "m \\, {l}^{2}"], |g, b| {
        let (cos, sin) = (g.apply(Function::Cos, b.angle), g.apply(Function::Sin, b.angle));
        let (x, y) = (g.mul(b.l, cos), g.mul(b.l, sin));
        let (xx, yy) = (g.powi(x, 2), g.powi(y, 2));
        let (a, b) = (g.mul(b.m, xx), g.mul(b.m, yy));
        g.add(a, b)
    });
}

#[test]
fn sums_that_merge_into_one_term_need_no_parentheses() {
    check(["g*l^2/2", "\\frac{g \\, {l}^{2}}{2}"], |g, b| {
        let (cos, sin) = (g.apply(Function::Cos, b.angle), g.apply(Function::Sin, b.angle));
        let (x, y) = (g.mul(b.l, cos), g.mul(b.l, sin));
        let (xx, yy) = (g.powi(x, 2), g.powi(y, 2));
        let square = g.add(xx, yy);
        g.product(&[square, b.gravity, Expr::HALF])
    });
}

#[test]
fn numbers_are_exact() {
    let mut g = Graph::new();
    for (text, printed) in [
        ("9.81", "9.81"),
        ("0.5", "0.5"),
        ("1000", "1000"),
        ("6.674e-11", "6.674e-11"),
        ("1e30", "1e30"),
        ("0.001", "0.001"),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
    ] {
        let e = g.decimal(text).unwrap();
        assert_eq!(g.text(e), printed);
    }
    let third = g.rational(-1, 3);
    assert_eq!(g.text(third), "-1/3");
}

#[test]
fn names_stand_for_subexpressions() {
    let mut g = Graph::new();
    let [x, y] = ["x", "y"].map(|name| g.symbol(name, name));
    let (xx, yy) = (g.powi(x, 2), g.powi(y, 2));
    let r2 = g.add(xx, yy);
    let e = g.div(x, r2);
    assert_eq!(g.text_with(e, &HashMap::from([(r2, "r2".to_string())])), "x/r2");
    assert_eq!(g.text(e), "x/(x^2 + y^2)");
}

#[test]
fn text_of_an_exploding_expression_is_a_placeholder() {
    let mut g = Graph::new();
    let mut e = g.symbol("x", "x");
    for _ in 0..200 {
        let s = g.apply(Function::Sin, e);
        let next = g.add(e, s);
        e = g.apply(Function::Exp, next);
    }
    assert_eq!(g.text(e), format!("(… {} terms)", g.size(e)));
    assert_eq!(g.text_limited(e, 1000), None);
    assert!(g.latex(e).contains("terms"));
}

/// 3^(2^k): beyond some size products of numbers stay products, and must still be written.
#[test]
fn numbers_too_long_to_fold_are_written() {
    let mut g = Graph::new();
    let x = g.symbol("x", "x");
    let mut a = g.integer(3);
    for _ in 0..60 {
        a = g.mul(a, a);
        let e = g.mul(a, x);
        assert!(!g.text(e).is_empty());
        assert!(!g.latex(e).is_empty());
    }
}

/// An exponent of 1024 bits is too long to be added to another, not to be multiplied by one.
#[test]
fn a_power_as_large_as_a_double_is_printed() {
    let mut g = Graph::new();
    let l = g.symbol("l", "l");
    let n = g.decimal("1e308").unwrap();
    let three = g.integer(3);
    let base = g.mul(three, l);
    let power = g.pow(base, n);
    assert_eq!(g.text(power), "3^1e308*l^1e308");
}

//! Random expressions as plain trees, evaluated without the graph: values, directional derivatives, and how
//! much rounding matters, by dual numbers with noise.

#![allow(dead_code)] // each test file uses a part

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use zwang_expr::{Comparison, Expr, Function, Function2, Graph, Program};

pub const N_SYMBOLS: usize = 4;

/// Relative size of the noise put on every operation to see how rounding spreads.
const NOISE: f64 = 1e-13;

/// Values below are taken for what rounding left of zero, as in sin(pi), and the case is not compared.
const RESIDUE: f64 = 1e-12;

/// The same cases at every run.
pub fn config(cases: u32) -> Config {
    Config { cases, failure_persistence: None, rng_seed: RngSeed::Fixed(20), ..Config::default() }
}

#[derive(Clone, Debug)]
pub enum Tree {
    Number(i64, i64),
    Pi,
    Symbol(usize),
    Add(Box<Tree>, Box<Tree>),
    Sub(Box<Tree>, Box<Tree>),
    Mul(Box<Tree>, Box<Tree>),
    Div(Box<Tree>, Box<Tree>),
    Neg(Box<Tree>),
    Powi(Box<Tree>, i32),
    Pow(Box<Tree>, Box<Tree>),
    Apply(Function, Box<Tree>),
    Apply2(Function2, Box<Tree>, Box<Tree>),
    Select(Comparison, Box<[Tree; 4]>),
}

/// Random trees; small numbers and few symbols, so that terms and factors often meet their like.
pub fn trees() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        4 => (0..N_SYMBOLS).prop_map(Tree::Symbol),
        2 => (-3i64..=3, 1i64..=3).prop_map(|(n, d)| Tree::Number(n, d)),
        1 => Just(Tree::Pi),
    ];
    leaf.prop_recursive(6, 60, 2, |inner| {
        let pair = || (inner.clone(), inner.clone()).prop_map(|(a, b)| (Box::new(a), Box::new(b)));
        prop_oneof![
            4 => pair().prop_map(|(a, b)| Tree::Add(a, b)),
            4 => pair().prop_map(|(a, b)| Tree::Sub(a, b)),
            6 => pair().prop_map(|(a, b)| Tree::Mul(a, b)),
            3 => pair().prop_map(|(a, b)| Tree::Div(a, b)),
            2 => inner.clone().prop_map(|a| Tree::Neg(Box::new(a))),
            3 => (inner.clone(), -3..=4).prop_map(|(a, n)| Tree::Powi(Box::new(a), n)),
            1 => pair().prop_map(|(a, b)| Tree::Pow(a, b)),
            6 => (prop::sample::select(&Function::ALL), inner.clone()).prop_map(|(f, x)| Tree::Apply(f, Box::new(x))),
            2 => (prop::sample::select(&Function2::ALL), pair()).prop_map(|(f, (x, y))| Tree::Apply2(f, x, y)),
            1 => (prop::sample::select(&Comparison::ALL), prop::array::uniform4(inner))
                .prop_map(|(comparison, parts)| Tree::Select(comparison, Box::new(parts))),
        ]
    })
}

pub fn points() -> impl Strategy<Value = [f64; N_SYMBOLS]> {
    prop::array::uniform4(-2.0..2.0f64)
}

impl Tree {
    /// The tree as an expression of the graph.
    pub fn build(&self, g: &mut Graph, symbols: &[Expr]) -> Expr {
        let mut of = |tree: &Tree| tree.build(g, symbols);
        match self {
            Tree::Number(n, d) => g.rational(*n, *d),
            Tree::Pi => g.pi(),
            Tree::Symbol(k) => symbols[*k],
            Tree::Add(a, b) => binary(of(a), of(b), |a, b| g.add(a, b)),
            Tree::Sub(a, b) => binary(of(a), of(b), |a, b| g.sub(a, b)),
            Tree::Mul(a, b) => binary(of(a), of(b), |a, b| g.mul(a, b)),
            Tree::Div(a, b) => binary(of(a), of(b), |a, b| g.div(a, b)),
            Tree::Pow(a, b) => binary(of(a), of(b), |a, b| g.pow(a, b)),
            Tree::Apply2(f, a, b) => binary(of(a), of(b), |a, b| g.apply2(*f, a, b)),
            Tree::Neg(a) => {
                let a = of(a);
                g.neg(a)
            }
            Tree::Powi(a, n) => {
                let a = of(a);
                g.powi(a, *n)
            }
            Tree::Apply(f, x) => {
                let x = of(x);
                g.apply(*f, x)
            }
            Tree::Select(comparison, parts) => {
                let [l, r, a, b] = [&parts[0], &parts[1], &parts[2], &parts[3]].map(of);
                g.select(*comparison, l, r, a, b)
            }
        }
    }

    /// Value and derivative along `direction`; `None` where an intermediate result is not finite.
    pub fn dual(&self, point: &[f64], direction: &[f64], noise: &mut Noise) -> Option<Dual> {
        let of = |tree: &Tree, noise: &mut Noise| tree.dual(point, direction, noise);
        let result = match self {
            Tree::Number(n, d) => Dual(*n as f64 / *d as f64, 0.0),
            Tree::Pi => Dual(std::f64::consts::PI, 0.0),
            Tree::Symbol(k) => Dual(point[*k], direction[*k]),
            Tree::Add(a, b) => {
                let (a, b) = (of(a, noise)?, of(b, noise)?);
                Dual(a.0 + b.0, a.1 + b.1)
            }
            Tree::Sub(a, b) => {
                let (a, b) = (of(a, noise)?, of(b, noise)?);
                Dual(a.0 - b.0, a.1 - b.1)
            }
            Tree::Mul(a, b) => {
                let (a, b) = (of(a, noise)?, of(b, noise)?);
                Dual(a.0 * b.0, a.1 * b.0 + a.0 * b.1)
            }
            Tree::Div(a, b) => {
                let (a, b) = (of(a, noise)?, of(b, noise)?);
                Dual(a.0 / b.0, (a.1 * b.0 - a.0 * b.1) / (b.0 * b.0))
            }
            Tree::Neg(a) => {
                let a = of(a, noise)?;
                Dual(-a.0, -a.1)
            }
            Tree::Powi(a, n) => powi(of(a, noise)?, *n),
            Tree::Pow(a, b) => pow(of(a, noise)?, of(b, noise)?),
            Tree::Apply(f, x) => apply(*f, of(x, noise)?),
            Tree::Apply2(f, a, b) => apply2(*f, of(a, noise)?, of(b, noise)?),
            Tree::Select(comparison, parts) => {
                let (l, r) = (of(&parts[0], noise)?, of(&parts[1], noise)?);
                return of(&parts[if comparison.holds(&l.0, &r.0) { 2 } else { 3 }], noise);
            }
        };
        let Dual(value, slope) = result;
        // exact arithmetic knows no -0, on which atan2 depends
        let result = Dual(value + 0.0, slope + 0.0);
        let is_residue = value != 0.0 && value.abs() < RESIDUE;
        (value.is_finite() && slope.is_finite() && !is_residue).then(|| noise.on(result))
    }

    /// Value and derivative, each with the error that rounding may cause.
    pub fn expected(&self, point: &[f64], direction: &[f64]) -> Option<[Expected; 2]> {
        let exact = self.dual(point, direction, &mut Noise::none())?;
        let mut expected = [exact.0, exact.1].map(|value| Expected { value, error: 1e-12 * (1.0 + value.abs()) });
        for seed in 1..=4 {
            let noisy = self.dual(point, direction, &mut Noise::new(seed))?;
            for (expected, noisy) in expected.iter_mut().zip([noisy.0, noisy.1]) {
                expected.error = expected.error.max(1e3 * (noisy - expected.value).abs());
            }
        }
        // beyond, nothing is left to compare
        expected.iter().all(|e| e.value.abs() < 1e9 && e.error < 1e-3 * (1.0 + e.value.abs())).then_some(expected)
    }
}

fn binary(a: Expr, b: Expr, mut build: impl FnMut(Expr, Expr) -> Expr) -> Expr {
    build(a, b)
}

#[derive(Copy, Clone, Debug)]
pub struct Expected {
    pub value: f64,
    pub error: f64,
}

impl Expected {
    pub fn meets(&self, found: f64) -> bool {
        (found - self.value).abs() <= self.error
    }
}

/// A value and its derivative.
#[derive(Copy, Clone, Debug)]
pub struct Dual(pub f64, pub f64);

/// Small pseudo-random relative errors.
pub struct Noise(u64);

impl Noise {
    pub fn none() -> Noise {
        Noise(0)
    }

    pub fn new(seed: u64) -> Noise {
        Noise(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn next(&mut self) -> f64 {
        if self.0 == 0 {
            return 0.0;
        }
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        NOISE * ((self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0)
    }

    fn on(&mut self, x: Dual) -> Dual {
        Dual(x.0 * (1.0 + self.next()), x.1 * (1.0 + self.next()))
    }
}

fn powi(a: Dual, n: i32) -> Dual {
    if n == 0 {
        return Dual(1.0, 0.0);
    }
    Dual(a.0.powi(n), n as f64 * a.0.powi(n - 1) * a.1)
}

/// aᵇ for a > 0: elsewhere it has no derivative along b.
fn pow(a: Dual, b: Dual) -> Dual {
    if a.0 <= 0.0 {
        return Dual(f64::NAN, f64::NAN);
    }
    let value = a.0.powf(b.0);
    let from_base = if a.1 == 0.0 { 0.0 } else { b.0 * a.0.powf(b.0 - 1.0) * a.1 };
    let from_exponent = if b.1 == 0.0 { 0.0 } else { value * a.0.ln() * b.1 };
    Dual(value, from_base + from_exponent)
}

fn apply(f: Function, Dual(x, d): Dual) -> Dual {
    let (value, slope) = match f {
        Function::Sin => (x.sin(), x.cos()),
        Function::Cos => (x.cos(), -x.sin()),
        Function::Tan => (x.tan(), 1.0 / x.cos().powi(2)),
        Function::Asin => (x.asin(), 1.0 / (1.0 - x * x).sqrt()),
        Function::Acos => (x.acos(), -1.0 / (1.0 - x * x).sqrt()),
        Function::Atan => (x.atan(), 1.0 / (1.0 + x * x)),
        Function::Sinh => (x.sinh(), x.cosh()),
        Function::Cosh => (x.cosh(), x.sinh()),
        Function::Tanh => (x.tanh(), 1.0 - x.tanh().powi(2)),
        Function::Exp => (x.exp(), x.exp()),
        Function::Log => (x.ln(), 1.0 / x),
        Function::Sqrt => (x.sqrt(), 0.5 / x.sqrt()),
        Function::Abs => (x.abs(), if x == 0.0 { 0.0 } else { x.signum() }),
        Function::Sign => (if x == 0.0 { 0.0 } else { x.signum() }, 0.0),
    };
    Dual(value, slope * d)
}

fn apply2(f: Function2, x: Dual, y: Dual) -> Dual {
    match f {
        Function2::Atan2 => Dual(x.0.atan2(y.0), (x.1 * y.0 - x.0 * y.1) / (x.0 * x.0 + y.0 * y.0)),
        Function2::Min => {
            if x.0 <= y.0 {
                x
            } else {
                y
            }
        }
        Function2::Max => {
            if x.0 >= y.0 {
                x
            } else {
                y
            }
        }
    }
}

/// A graph with the symbols of the trees.
pub fn graph() -> (Graph, Vec<Expr>) {
    let mut g = Graph::new();
    let symbols = ["a", "b", "x'", "y_1"].map(|name| g.symbol(name, name)).to_vec();
    (g, symbols)
}

/// The value of one expression through a program.
pub fn value(g: &Graph, inputs: &[Expr], e: Expr, point: &[f64]) -> f64 {
    let program = Program::new(g, inputs, &[e]).expect("all symbols are inputs");
    let mut result = [0.0];
    program.run(point, &mut program.workspace(), &mut result);
    result[0]
}

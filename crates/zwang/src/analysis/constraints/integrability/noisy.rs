//! Stochastic arithmetic: numbers computed several times with random rounding, whose scatter shows whether they are
//! zero.
//!
//! Every operation moves its result by one unit in the last place, up or down at random and differently in each lane
//! (Vignes). If terms cancel, the lanes differ by as much as the result; otherwise they agree. A decision therefore
//! does not change when a row, a coordinate or a unit is scaled, and an undecidable case is detected. Error bounds
//! would serve as well, but those of long formulas are far too large.

use crate::tolerance;
use zwang_expr::{Function, Function2, Instruction, Operation, Program, Table, real};

/// The number of lanes. By chance eight lanes of noise agree to a tenth about once in 10^10 times.
const LANES: usize = 8;

/// One unit in the last place.
const ULP: f64 = f64::EPSILON;

/// A value in several lanes, and the size of its terms.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub(super) struct Noisy {
    lanes: [f64; LANES],
    size: f64,
}

/// The decision whether a number is zero.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum NoisySign {
    Zero,
    NotZero,
    Unclear,
}

impl Noisy {
    /// An exact number.
    pub fn exact(value: f64) -> Noisy {
        Noisy { lanes: [value; LANES], size: value.abs() }
    }

    /// A number known up to `error`, among numbers of the given size.
    pub fn within(value: f64, error: f64, size: f64) -> Noisy {
        let mut lanes = [value; LANES];
        for (k, lane) in lanes.iter_mut().enumerate() {
            *lane += error * (2.0 * hash(value.to_bits(), k) - 1.0);
        }
        Noisy { lanes, size: size.max(value.abs()) }
    }

    /// The value computed lane by lane, with random rounding.
    fn made(size: f64, lane: impl Fn(usize) -> f64) -> Noisy {
        let mut lanes = [0.0; LANES];
        let mut largest = 0.0_f64;
        for (k, out) in lanes.iter_mut().enumerate() {
            let value = lane(k);
            *out = if hash(value.to_bits(), k) < 0.5 { value * (1.0 - ULP) } else { value * (1.0 + ULP) };
            largest = largest.max(out.abs());
        }
        Noisy { lanes, size: size.max(largest) }
    }

    pub fn value(self) -> f64 {
        self.lanes.iter().sum::<f64>() / LANES as f64
    }

    pub fn is_finite(self) -> bool {
        self.lanes.iter().all(|x| x.is_finite())
    }

    fn scatter(self) -> f64 {
        let low = self.lanes.iter().copied().fold(f64::INFINITY, f64::min);
        let high = self.lanes.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        high - low
    }

    /// The scatter relative to the value: small for numbers with many correct digits.
    pub fn relative_error(self) -> f64 {
        self.scatter() / self.value().abs()
    }

    pub fn sign(self) -> NoisySign {
        let (value, scatter) = (self.value().abs(), self.scatter());
        if !(value.is_finite() && scatter.is_finite()) {
            NoisySign::Unclear
        } else if value > tolerance::CLEAR_SCATTER * scatter {
            NoisySign::NotZero
        } else if value <= tolerance::ZERO_SCATTER * scatter && scatter <= tolerance::SHARP_ZERO * self.size
            || value == 0.0 && scatter == 0.0
        {
            NoisySign::Zero
        } else {
            NoisySign::Unclear
        }
    }

    pub fn add(self, b: Noisy) -> Noisy {
        Noisy::made(self.size + b.size, |k| self.lanes[k] + b.lanes[k])
    }

    pub fn neg(self) -> Noisy {
        Noisy { lanes: self.lanes.map(|x| -x), size: self.size }
    }

    pub fn mul(self, b: Noisy) -> Noisy {
        Noisy::made(self.size * b.size, |k| self.lanes[k] * b.lanes[k])
    }

    pub fn div(self, b: Noisy) -> Noisy {
        Noisy::made(self.size / b.lanes[0].abs(), |k| self.lanes[k] / b.lanes[k])
    }

    fn apply(self, f: Function) -> Noisy {
        let x = self.lanes[0];
        let y = real::apply(f, x);
        // |f'|: the contribution of a term of the argument
        let slope = match f {
            Function::Sin | Function::Cos | Function::Abs => 1.0,
            Function::Tan => 1.0 + y * y,
            Function::Asin | Function::Acos => 1.0 / (1.0 - x * x).sqrt(),
            Function::Atan => 1.0 / (1.0 + x * x),
            Function::Sinh => x.cosh(),
            Function::Cosh => x.sinh().abs(),
            Function::Tanh => 1.0 - y * y,
            Function::Exp => y,
            Function::Log => 1.0 / x.abs(),
            Function::Sqrt => 0.5 / y,
            Function::Sign => 0.0,
        };
        Noisy::made(slope * self.size, |k| real::apply(f, self.lanes[k]))
    }

    fn pow(self, n: Noisy) -> Noisy {
        // powers of cancelled sums keep the size of their terms
        let (x, exponent) = (self.lanes[0], n.lanes[0]);
        let size = match exponent > 0.0 {
            true => real::pow(self.size, exponent),
            false => (exponent * real::pow(x, exponent) / x).abs() * self.size,
        };
        Noisy::made(size, |k| real::pow(self.lanes[k], n.lanes[k]))
    }
}

/// A pseudorandom number in [0, 1): different for every lane, and the same for the same value.
fn hash(bits: u64, lane: usize) -> f64 {
    // constants of SplitMix64
    let mixed = (bits ^ (lane as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (mixed >> 11) as f64 / (1u64 << 53) as f64
}

/// Runs a program lane by lane; constants that are not integers carry the rounding of their decimal form.
pub(super) fn run(program: &Program, inputs: &[Noisy]) -> Vec<Noisy> {
    let constant = |&c: &f64| if c.fract() == 0.0 { Noisy::exact(c) } else { Noisy::within(c, ULP * c.abs(), 0.0) };
    let mut registers: Vec<Noisy> = program.constants().iter().map(constant).collect();
    registers.reserve(inputs.len() + program.len());
    registers.extend_from_slice(inputs);
    for instruction in program.instructions() {
        let next = match instruction.operation {
            Operation::Look(table) => look(&program.tables()[table.index()], &registers[instruction.a as usize]),
            _ => step(instruction, &registers),
        };
        registers.push(next);
    }
    program.outputs().iter().map(|&r| registers[r as usize]).collect()
}

/// The value of a table; the uncertainty of the argument enters through the slope.
fn look(table: &Table, x: &Noisy) -> Noisy {
    let slope = table.derivative().value(x.lanes[0]);
    Noisy::made(table.value(x.lanes[0]).abs() + slope.abs() * x.size, |k| table.value(x.lanes[k]))
}

fn step(instruction: &Instruction, registers: &[Noisy]) -> Noisy {
    let [a, b, c] = [instruction.a, instruction.b, instruction.c].map(|r| &registers[r as usize]);
    match instruction.operation {
        Operation::Add => a.add(*b),
        Operation::Sub => a.add(b.neg()),
        Operation::Mul => a.mul(*b),
        Operation::Div => a.div(*b),
        Operation::Neg => a.neg(),
        Operation::MulAdd => a.mul(*b).add(*c),
        Operation::MulSub => a.mul(*b).neg().add(*c),
        Operation::Pow => a.pow(*b),
        Operation::Apply(f) => a.apply(f),
        Operation::Look(_) => unreachable!("looked up with its table"),
        Operation::Apply2(f @ Function2::Atan2) => Noisy::made(1.0, |k| real::apply2(f, a.lanes[k], b.lanes[k])),
        Operation::Apply2(f) => Noisy::made(a.size.max(b.size), |k| real::apply2(f, a.lanes[k], b.lanes[k])),
        Operation::Compare(comparison) => {
            let lane = |k: usize| f64::from(comparison.holds(&a.lanes[k], &b.lanes[k]));
            Noisy { lanes: std::array::from_fn(lane), size: 1.0 }
        }
        Operation::Select => {
            let lane = |k: usize| if a.lanes[k] != 0.0 { b.lanes[k] } else { c.lanes[k] };
            Noisy { lanes: std::array::from_fn(lane), size: b.size.max(c.size) }
        }
    }
}
/// Vectors in echelon form: each has a pivot that the later ones lack.
#[derive(Clone, Debug, Default)]
pub(super) struct VectorSpan {
    vectors: Vec<(usize, Vec<Noisy>)>,
}

impl VectorSpan {
    /// The column of the pivot of each vector.
    pub fn pivots(&self) -> Vec<usize> {
        self.vectors.iter().map(|(pivot, _)| *pivot).collect()
    }

    /// The remainder of a vector after its part in the span is subtracted.
    pub fn reduce(&self, mut vector: Vec<Noisy>) -> Vec<Noisy> {
        for (pivot, basis) in &self.vectors {
            let at = vector[*pivot];
            if at == Noisy::default() {
                continue;
            }
            let factor = at.div(basis[*pivot]).neg();
            for (entry, of) in vector.iter_mut().zip(basis) {
                *entry = entry.add(factor.mul(*of));
            }
            // exactly zero, by construction
            vector[*pivot] = Noisy::default();
        }
        vector
    }

    /// Adds a reduced vector if it is clearly not zero; returns the decision.
    pub fn insert(&mut self, reduced: Vec<Noisy>) -> NoisySign {
        let verdict = sign_of(&reduced);
        if let (NoisySign::NotZero, Some(pivot)) = (verdict, sharpest(&reduced)) {
            self.vectors.push((pivot, reduced));
        }
        verdict
    }
}

/// The decision whether a vector is zero.
pub(super) fn sign_of(vector: &[Noisy]) -> NoisySign {
    let signs = || vector.iter().map(|v| v.sign());
    if signs().any(|s| s == NoisySign::NotZero) {
        NoisySign::NotZero
    } else if signs().all(|s| s == NoisySign::Zero) {
        NoisySign::Zero
    } else {
        NoisySign::Unclear
    }
}

/// The entry with the most correct digits.
fn sharpest(vector: &[Noisy]) -> Option<usize> {
    let clear = (0..vector.len()).filter(|&k| vector[k].sign() == NoisySign::NotZero);
    clear.min_by(|&a, &b| vector[a].relative_error().total_cmp(&vector[b].relative_error()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use zwang_expr::Graph;

    fn evaluate(build: impl Fn(&mut Graph, zwang_expr::Expr) -> zwang_expr::Expr, x: f64) -> Noisy {
        let mut graph = Graph::new();
        let symbol = graph.symbol("x", "x");
        let e = build(&mut graph, symbol);
        let program = Program::new(&graph, &[symbol], &[e]).unwrap();
        run(&program, &[Noisy::exact(x)])[0]
    }

    /// sin² + cos² − 1 is rounding, sin² + cos² − 1 + 1e-9 is not.
    #[test]
    fn cancelled_terms_are_distinguished_from_small_ones() {
        let pythagoras = |graph: &mut Graph, x, rest: &str| {
            let (s, c) = (graph.apply(Function::Sin, x), graph.apply(Function::Cos, x));
            let (ss, cc) = (graph.mul(s, s), graph.mul(c, c));
            let sum = graph.add(ss, cc);
            let rest = graph.decimal(rest).unwrap();
            graph.sub(sum, rest)
        };
        for x in [0.3, 1.1, 2.9, 77.0] {
            assert_eq!(evaluate(|g, x| pythagoras(g, x, "1"), x).sign(), NoisySign::Zero);
            assert_eq!(evaluate(|g, x| pythagoras(g, x, "0.999999999"), x).sign(), NoisySign::NotZero);
        }
    }

    /// Scaling by powers of ten changes no decision.
    #[test]
    fn decisions_do_not_depend_on_scales() {
        for scale in [1e-60, 1e-6, 1.0, 1e6, 1e60] {
            let row = |v: [f64; 3]| v.map(|x| Noisy::within(x * scale, 1e-16 * scale, 0.0)).to_vec();
            let mut span = VectorSpan::default();
            assert_eq!(span.insert(row([1.0, 2.0, 3.0])), NoisySign::NotZero);
            let reduced = span.reduce(row([0.1, 0.2, 0.3]));
            assert_eq!(span.insert(reduced), NoisySign::Zero);
            let reduced = span.reduce(row([0.1, 0.2, 0.3 + 1e-9]));
            assert_eq!(span.insert(reduced), NoisySign::NotZero);
            assert_eq!(span.vectors.len(), 2);
        }
    }
}

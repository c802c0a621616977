//! Addition theorems: sines and cosines of sums of angles from those of the angles.

use crate::graph::Graph;
use crate::node::{Expr, Function, Node};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::HashMap;

/// The largest number of angles in a sum that is split; each further angle costs six operations.
const MOST_ANGLES: usize = 4;

/// An angle, and `true` if it is subtracted.
type Signed = (Expr, bool);

impl Graph {
    /// Writes sines and cosines of sums and differences of angles by those of the single angles. This is done only if
    /// fewer sines and cosines remain: cos(a - b) is split if sin a and sin b are needed too.
    pub(crate) fn split_angles(&mut self, exprs: &[Expr]) -> Vec<Expr> {
        let waves = self.waves(exprs);
        let sums: FxHashMap<Expr, Vec<Signed>> =
            waves.iter().filter_map(|&(_, _, u)| Some((u, self.angles(u)?))).collect();
        let all: FxHashSet<Expr> = waves.iter().map(|&(_, _, u)| u).collect();
        let single = all.iter().filter(|u| !sums.contains_key(u)).copied();
        let left: FxHashSet<Expr> = single.chain(sums.values().flatten().map(|&(angle, _)| angle)).collect();
        if left.len() >= all.len() {
            return exprs.to_vec();
        }
        let mut written = HashMap::new();
        for (wave, function, u) in waves {
            let Some(angles) = sums.get(&u) else { continue };
            let (sine, cosine) = self.sine_and_cosine(angles);
            written.insert(wave, if function == Function::Sin { sine } else { cosine });
        }
        self.substitute(exprs, &written)
    }

    /// All sines and cosines in these expressions, with their arguments.
    fn waves(&self, exprs: &[Expr]) -> Vec<(Expr, Function, Expr)> {
        let wave = |e: Expr| match self.node(e) {
            Node::Apply(function @ (Function::Sin | Function::Cos), u) => Some((e, function, u)),
            _ => None,
        };
        self.below(exprs).into_iter().filter_map(wave).collect()
    }

    /// The angles of a sum, or `None` if `sum` is not a sum or has too many angles.
    fn angles(&self, sum: Expr) -> Option<Vec<Signed>> {
        let (mut angles, mut open) = (Vec::new(), vec![sum]);
        while let Some(e) = open.pop() {
            match self.node(e) {
                Node::Add(x, y) => open.extend([x, y]),
                Node::Mul(Expr::MINUS_ONE, x) | Node::Mul(x, Expr::MINUS_ONE) => angles.push((x, true)),
                _ => angles.push((e, false)),
            }
            if angles.len() + open.len() > MOST_ANGLES {
                return None;
            }
        }
        (angles.len() > 1).then_some(angles)
    }

    fn sine_and_cosine(&mut self, angles: &[Signed]) -> (Expr, Expr) {
        let (mut sine, mut cosine) = (Expr::ZERO, Expr::ONE);
        for &(angle, is_negative) in angles {
            let (s, c) = (self.apply(Function::Sin, angle), self.apply(Function::Cos, angle));
            let s = if is_negative { self.neg(s) } else { s };
            let products = [(sine, c), (cosine, s), (cosine, c), (sine, s)].map(|(x, y)| self.mul(x, y));
            (sine, cosine) = (self.add(products[0], products[1]), self.sub(products[2], products[3]));
        }
        (sine, cosine)
    }
}

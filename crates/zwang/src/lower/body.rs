//! Rigid bodies: orientation, angular velocity, body-fixed points, and kinetic energy.

use crate::diagnostic::Diagnostic;
use crate::lower::dimensions::Dim;
use crate::lower::names::{Member, NamedObject};
use crate::lower::value::{Quantity, Value};
use crate::lower::{Lower, Lowering};
use crate::model::{Constraint, Level, Row};
use crate::syntax::Span;
use crate::syntax::tree::*;
use crate::units::Dimension;
use zwang_expr::{Expr, Function, Graph};

/// The orientation of a body. In the plane only the upper left block of `rotation` and the last rate are used.
#[derive(Clone, Debug)]
pub(super) struct Orientation {
    /// The columns are the body's axes in space components.
    rotation: [[Expr; 3]; 3],
    /// The angular velocity in body axes and in space axes.
    body_rates: [Expr; 3],
    pub(super) space_rates: [Expr; 3],
}

/// The place and the orientation of a body.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    pub(super) center: Vec<Quantity>,
    pub(super) orientation: Orientation,
}

impl Orientation {
    /// The angular velocity in the form shown to users: a scalar in the plane.
    fn omega(&self, is_planar: bool) -> Vec<Expr> {
        if is_planar { vec![self.space_rates[2]] } else { self.space_rates.to_vec() }
    }
}

impl Frame {
    pub(super) fn is_planar(&self) -> bool {
        self.center.len() == 2
    }

    /// The body's axes in space components.
    pub(super) fn axes(&self) -> Vec<Vec<Expr>> {
        let d = self.center.len();
        (0..d).map(|axis| (0..d).map(|k| self.orientation.rotation[k][axis]).collect()).collect()
    }

    /// The angular velocity in the form shown to users: a scalar in the plane.
    pub(super) fn omega(&self) -> Vec<Expr> {
        self.orientation.omega(self.is_planar())
    }
}

impl Lower<'_> {
    /// The key of the body that a formula names; `None` for anything else. The frame of the body has been evaluated, unless
    /// its place is being evaluated.
    pub(super) fn body_key(&mut self, of: &Formula) -> Lowering<Option<String>> {
        let Some((key, _)) = self.key_of(of)? else { return Ok(None) };
        let Some(NamedObject::Definition { statement, .. }) = self.names.objects.get(&key) else { return Ok(None) };
        if !matches!(self.tree.statements[*statement].kind, StatementKind::Body { .. }) {
            return Ok(None);
        }
        if !self.definitions.in_progress_set.contains(&key) {
            self.frame(&key, of.span)?;
        }
        Ok(Some(key))
    }

    /// The frame of a body, evaluated when it is first needed.
    pub(super) fn frame(&mut self, key: &str, span: Span) -> Lowering<Frame> {
        if let Some(frame) = self.frames.get(key) {
            return Ok(frame.clone());
        }
        let center = self.definition(key, span)?;
        let center = self.as_vector(center, span)?;
        let orientation = self.orientation(key, center.len() == 2, span)?;
        let frame = Frame { center, orientation };
        self.frames.insert(key.to_string(), frame.clone());
        Ok(frame)
    }

    /// The orientation of a body, which does not need its place.
    fn orientation(&mut self, key: &str, is_planar: bool, span: Span) -> Lowering<Orientation> {
        let Some(NamedObject::Definition { statement, indices }) = self.names.objects.get(key).cloned() else {
            return Err(crate::lower::Reported);
        };
        let StatementKind::Body { target, turned, .. } = &self.tree.statements[statement].kind else {
            return Err(crate::lower::Reported);
        };
        let of_orientation = format!("{key} turned");
        self.check_circle(&of_orientation, span)?;
        let member = self.members(target)?.into_iter().find(|m| m.indices == indices);
        let bound = member.map_or(Vec::new(), |m| self.bound(&m));
        let before = std::mem::replace(&mut self.locals, bound);
        self.enter(&of_orientation);
        let orientation = self.turned(is_planar, turned, target.span);
        self.leave();
        self.locals = before;
        orientation
    }

    fn turned(&mut self, planar: bool, turned: &Turned, span: Span) -> Lowering<Orientation> {
        match turned {
            Turned::Quaternion(parts) if planar || parts.len() != 4 => {
                let message = if planar {
                    "a quaternion turns a body in space".into()
                } else {
                    format!("a quaternion has four components, not {}", parts.len())
                };
                self.report(Diagnostic::error("Z107", message).at(span, "e0, e1, e2, e3 with the scalar first"))
            }
            Turned::Quaternion(parts) => {
                let parts = parts.iter().map(|p| self.angle(p)).collect::<Lowering<Vec<_>>>()?;
                self.quaternion([parts[0], parts[1], parts[2], parts[3]], span)
            }
            Turned::Plane(angle) if planar => {
                let angle = self.angle(angle)?;
                self.successive(&[(2, angle)], span)
            }
            Turned::Plane(angle) => self.report(
                Diagnostic::error("Z107", "a body in space is turned about named axes")
                    .at(angle.span, "about which axis?")
                    .help("turned z by ψ, x by θ, z by φ"),
            ),
            Turned::Axes(axes) => {
                let mut turns = Vec::new();
                for (axis, angle) in axes {
                    let Some(k) = ["x", "y", "z"].iter().position(|a| *a == axis.text) else {
                        let d = Diagnostic::error("Z107", format!("`{}` is not an axis", axis.text));
                        return self.report(d.at(axis.span, "x, y or z is expected"));
                    };
                    if planar && k != 2 {
                        let d = Diagnostic::error("Z107", "a body in the plane turns about z only");
                        return self.report(d.at(axis.span, "out of the plane").help("turned by θ"));
                    }
                    turns.push((k, self.angle(angle)?));
                }
                self.successive(&turns, span)
            }
        }
    }

    fn angle(&mut self, formula: &Formula) -> Lowering<Expr> {
        let Quantity { expr, dim } = self.scalar(formula)?;
        self.pure_number(&dim, formula.span, "an angle")?;
        Ok(expr)
    }

    /// R = R₁R₂R₃… about the body's own successive axes; ω in body axes is Σ (R_{k+1}…)ᵀ e_k α̇_k.
    fn successive(&mut self, turns: &[(usize, Expr)], span: Span) -> Lowering<Orientation> {
        let mut rotation = identity();
        let mut body_rates = [Expr::ZERO; 3];
        for &(axis, angle) in turns {
            let rate = self.rate_of(angle, span)?;
            let turn = elementary_rotation(&mut self.graph, axis, angle);
            rotation = product(&mut self.graph, &rotation, &turn);
            // in the turned frame: ω ← Rᵀω + e α̇
            body_rates = transposed_times(&mut self.graph, &turn, &body_rates);
            body_rates[axis] = self.graph.add(body_rates[axis], rate);
        }
        let space_rates = times(&mut self.graph, &rotation, &body_rates);
        Ok(Orientation { rotation, body_rates, space_rates })
    }

    fn rate_of(&mut self, expr: Expr, span: Span) -> Lowering<Expr> {
        match self.graph.rate(expr) {
            Ok(rate) => Ok(rate),
            Err(_) => self.report(Diagnostic::error("Z404", "this angle contains accelerations").at(span, "not here")),
        }
    }

    /// R(e) and ω = 2 ē∘ė in body axes, for e scalar first, body to space.
    fn quaternion(&mut self, e: [Expr; 4], span: Span) -> Lowering<Orientation> {
        let mut d = [Expr::ZERO; 4];
        for (rate, part) in d.iter_mut().zip(e) {
            *rate = self.rate_of(part, span)?;
        }
        let g = &mut self.graph;
        let two = g.integer(2);
        let mut combine = |terms: [(i64, Expr, Expr); 4], factor: Expr| {
            let terms = terms.map(|(sign, a, b)| {
                let p = g.mul(a, b);
                if sign < 0 { g.neg(p) } else { p }
            });
            let sum = g.sum(&terms);
            g.mul(factor, sum)
        };
        let z = Expr::ZERO;
        let [e0, e1, e2, e3] = e;
        let [d0, d1, d2, d3] = d;
        let one = Expr::ONE;
        let rotation = [
            [
                combine([(1, e0, e0), (1, e1, e1), (-1, e2, e2), (-1, e3, e3)], one),
                combine([(1, e1, e2), (-1, e0, e3), (1, z, z), (1, z, z)], two),
                combine([(1, e1, e3), (1, e0, e2), (1, z, z), (1, z, z)], two),
            ],
            [
                combine([(1, e1, e2), (1, e0, e3), (1, z, z), (1, z, z)], two),
                combine([(1, e0, e0), (-1, e1, e1), (1, e2, e2), (-1, e3, e3)], one),
                combine([(1, e2, e3), (-1, e0, e1), (1, z, z), (1, z, z)], two),
            ],
            [
                combine([(1, e1, e3), (-1, e0, e2), (1, z, z), (1, z, z)], two),
                combine([(1, e2, e3), (1, e0, e1), (1, z, z), (1, z, z)], two),
                combine([(1, e0, e0), (-1, e1, e1), (-1, e2, e2), (1, e3, e3)], one),
            ],
        ];
        let body_rates = [
            combine([(1, e0, d1), (-1, e1, d0), (-1, e2, d3), (1, e3, d2)], two),
            combine([(1, e0, d2), (1, e1, d3), (-1, e2, d0), (-1, e3, d1)], two),
            combine([(1, e0, d3), (-1, e1, d2), (1, e2, d1), (-1, e3, d0)], two),
        ];
        let space_rates = times(&mut self.graph, &rotation, &body_rates);
        Ok(Orientation { rotation, body_rates, space_rates })
    }

    /// `B.point(…)`, `B.vector(…)`, `B.omega`; `None` for a plain component.
    pub(super) fn body_member(
        &mut self,
        key: &str,
        name: &Name,
        arguments: Option<&[Formula]>,
        span: Span,
    ) -> Lowering<Option<Value>> {
        // the place of a body may use its own axes, which do not need the place
        if self.definitions.in_progress_set.contains(key)
            && let ("vector", Some(arguments @ ([_, _] | [_, _, _]))) = (name.text.as_str(), arguments)
        {
            let orientation = self.orientation(key, arguments.len() == 2, span)?;
            return self.turned_vector(&orientation, arguments, span).map(Some);
        }
        let Frame { center, orientation } = self.frame(key, span)?;
        let d = center.len();
        match (name.text.as_str(), arguments) {
            ("omega" | "ω", None) => {
                let dim = Dim::default().times(&self.dims.time, -1.0);
                let omega = orientation.omega(d == 2);
                let mut parts: Vec<Quantity> = omega.into_iter().map(|e| Quantity::new(e, dim.clone())).collect();
                Ok(Some(if d == 2 { Value::Scalar(parts.remove(0)) } else { Value::Vector(parts) }))
            }
            ("point" | "vector", Some(arguments)) if arguments.len() == d => {
                let arm = self.turned_vector(&orientation, arguments, span)?;
                if name.text == "vector" {
                    return Ok(Some(arm));
                }
                Ok(Some(self.added(Value::Vector(center), arm, (span, span))?))
            }
            ("point" | "vector", _) => self.report(
                Diagnostic::error("Z107", format!("`.{}` of this body takes {d} components", name.text))
                    .at(span, "wrong number of components"),
            ),
            _ => Ok(None),
        }
    }

    /// A vector given by its components along the axes of a body.
    fn turned_vector(&mut self, orientation: &Orientation, components: &[Formula], span: Span) -> Lowering<Value> {
        let local = components.iter().map(|a| self.scalar(a)).collect::<Lowering<Vec<_>>>()?;
        let dim = self.common_dimension(&local, span)?;
        let mut padded = [Expr::ZERO; 3];
        padded.iter_mut().zip(&local).for_each(|(p, q)| *p = q.expr);
        let turned = times(&mut self.graph, &orientation.rotation, &padded);
        Ok(Value::Vector(turned[..local.len()].iter().map(|e| Quantity::new(*e, dim.clone())).collect()))
    }

    /// Adds the rotational kinetic energy of a body and the norm constraint of its quaternion.
    pub(super) fn body_energy(
        &mut self,
        member: &Member,
        turned: &Turned,
        inertia: &Formula,
        span: Span,
    ) -> Lowering<()> {
        let frame = self.frame(&member.key, span)?;
        if let Turned::Quaternion(parts) = turned {
            self.quaternion_norm(member, parts, span)?;
        }
        let matrix = self.inertia(inertia, frame.is_planar())?;
        for entry in matrix.iter().flatten().filter(|q| q.expr != Expr::ZERO) {
            // [E] = [I]/[t]²
            let per = Dim::default().times(&self.dims.time, -2.0);
            self.energy_over(&per, span, (&entry.dim, inertia.span), "an inertia does not fit")?;
        }
        let w = frame.orientation.body_rates;
        let rates: &[Expr] = if frame.is_planar() { &w[2..] } else { &w };
        let half = self.graph.rational(1, 2);
        let mut terms = Vec::new();
        for (i, row) in matrix.iter().enumerate() {
            for (j, entry) in row.iter().enumerate().filter(|(_, e)| e.expr != Expr::ZERO) {
                terms.push(self.graph.product(&[half, entry.expr, rates[i], rates[j]]));
            }
        }
        let energy = self.graph.sum(&terms);
        self.model.kinetic = self.graph.add(self.model.kinetic, energy);
        Ok(())
    }

    /// The inertia: a scalar in the plane; in space a scalar (a sphere), three principal moments, or a matrix.
    pub(super) fn inertia(&mut self, formula: &Formula, planar: bool) -> Lowering<Vec<Vec<Quantity>>> {
        if let FormulaKind::Matrix(rows) = &formula.kind {
            if planar || rows.len() != 3 || rows.iter().any(|r| r.len() != 3) {
                let d = Diagnostic::error("Z107", "an inertia matrix belongs to a body in space and is 3 by 3");
                return self.report(d.at(formula.span, "wrong size"));
            }
            let matrix: Vec<Vec<Quantity>> =
                rows.iter().map(|r| r.iter().map(|e| self.scalar(e)).collect()).collect::<Lowering<_>>()?;
            for (i, j) in [(0, 1), (0, 2), (1, 2)] {
                if !self.same(matrix[i][j].expr, matrix[j][i].expr) {
                    let d = Diagnostic::error("Z403", "an inertia matrix is symmetric, and this one is not");
                    let d = d.at(rows[j][i].span, "differs").and_at(rows[i][j].span, "from this");
                    return self.report(d.help("write the same entry in both places"));
                }
            }
            return Ok(matrix);
        }
        let moments = match (self.formula(formula)?, planar) {
            (Value::Scalar(moment), true) => return Ok(vec![vec![moment]]),
            (Value::Scalar(moment), false) => vec![moment.clone(), moment.clone(), moment],
            (Value::Vector(moments), false) if moments.len() == 3 => moments,
            (other, _) => {
                let wanted = if planar { "one moment of inertia" } else { "three principal moments (I1, I2, I3)" };
                let d = Diagnostic::error("Z107", format!("the inertia of this body is {}", other.word()));
                return self.report(d.at(formula.span, format!("{wanted} expected")));
            }
        };
        let zero = || Quantity::new(Expr::ZERO, Dim::default());
        let row = |k: usize| (0..3).map(|j| if j == k { moments[k].clone() } else { zero() }).collect();
        Ok((0..3).map(row).collect())
    }

    /// |e|² = 1 as a constraint named after the body.
    fn quaternion_norm(&mut self, member: &Member, parts: &[Formula], span: Span) -> Lowering<()> {
        let parts = parts.iter().map(|p| self.scalar(p)).collect::<Lowering<Vec<_>>>()?;
        let squares: Vec<Expr> = parts.iter().map(|q| self.graph.powi(q.expr, 2)).collect();
        let sum = self.graph.sum(&squares);
        let expr = self.graph.add(sum, Expr::MINUS_ONE);
        let name = format!("{}.norm", member.shown);
        let lambda = self.graph.symbol(&format!("lambda({name})"), &crate::lower::constraints::multiplier_latex(&name));
        self.dims.rows.insert(lambda, Dimension::NONE.into());
        let row = Row { name: name.clone(), expr, right: Expr::ONE, level: Level::Position, lambda, dimension: None };
        let key = format!("{}.norm", member.key);
        self.labels.known.insert(key, crate::lower::Labelled::Constraint(self.model.constraints.len()));
        self.model.constraints.push(Constraint { name, rows: vec![row], n_components: 1, span, friction: None });
        Ok(())
    }
}

fn identity() -> [[Expr; 3]; 3] {
    let (o, i) = (Expr::ZERO, Expr::ONE);
    [[i, o, o], [o, i, o], [o, o, i]]
}

/// The rotation about one axis.
fn elementary_rotation(g: &mut Graph, axis: usize, angle: Expr) -> [[Expr; 3]; 3] {
    let (c, s) = (g.apply(Function::Cos, angle), g.apply(Function::Sin, angle));
    let minus_s = g.neg(s);
    let (j, k) = ((axis + 1) % 3, (axis + 2) % 3);
    let mut r = identity();
    (r[j][j], r[j][k], r[k][j], r[k][k]) = (c, minus_s, s, c);
    r
}

fn product(g: &mut Graph, a: &[[Expr; 3]; 3], b: &[[Expr; 3]; 3]) -> [[Expr; 3]; 3] {
    let mut out = [[Expr::ZERO; 3]; 3];
    for i in 0..3 {
        for j in 0..3 {
            let terms: Vec<Expr> = (0..3).map(|k| g.mul(a[i][k], b[k][j])).collect();
            out[i][j] = g.sum(&terms);
        }
    }
    out
}

fn times(g: &mut Graph, a: &[[Expr; 3]; 3], x: &[Expr; 3]) -> [Expr; 3] {
    [0, 1, 2].map(|i| {
        let terms: Vec<Expr> = (0..3).map(|k| g.mul(a[i][k], x[k])).collect();
        g.sum(&terms)
    })
}

fn transposed_times(g: &mut Graph, a: &[[Expr; 3]; 3], x: &[Expr; 3]) -> [Expr; 3] {
    [0, 1, 2].map(|i| {
        let terms: Vec<Expr> = (0..3).map(|k| g.mul(a[k][i], x[k])).collect();
        g.sum(&terms)
    })
}

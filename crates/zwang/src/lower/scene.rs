//! The scene: points, bodies, rods, traces and forces, as named by `animate` or by default.

use crate::equations::Symbols;
use crate::equations::zero::is_zero;
use crate::lower::names::{Labelled, NamedObject, index_variables};
use crate::lower::points::{Bare, Spot, SpotKind};
use crate::lower::{Lower, Lowering, Meaning};
use crate::model::{AnimateItem, Level, Row, Shape};
use crate::syntax::Span;
use crate::syntax::tree::*;
use crate::{diagnostic::Diagnostic, limits};
use zwang_expr::{Expr, Function2};

/// The position vectors of two ends.
type Ends = (Vec<Expr>, Vec<Expr>);

/// The data of the whole model that drawing constraints needs.
struct SceneInputs {
    bare: Bare,
    symbols: Symbols,
    /// The size of the graph beyond which no forces are drawn.
    full: usize,
}

impl Lower<'_> {
    /// Lowers the scene: the items of `animate`, or all items if there is none.
    pub(super) fn scene(&mut self) {
        let tree = self.tree;
        let wished = tree.statements.iter().filter_map(|s| match &s.kind {
            StatementKind::Animate(items) => Some(items),
            _ => None,
        });
        let wished: Vec<&Formula> = wished.flatten().collect();
        if wished.is_empty() && self.diagnostics.has_errors() {
            return;
        }
        let spots = if self.n_points == 0 { self.coordinate_spots() } else { self.spots() };
        let stage = self.stage(&spots);
        if wished.is_empty() {
            self.everything(spots, &stage);
        }
        for item in wished {
            let _ = self.animated(item, &stage);
        }
    }

    fn stage(&self, spots: &[Spot]) -> SceneInputs {
        let is_coordinate = |e: Expr| matches!(self.meaning.get(&e), Some(Meaning::Position(_)));
        let (bare, coordinates) = match self.has_rods() {
            true => (Bare::new(spots.to_vec(), is_coordinate), &self.model.coordinates[..]),
            false => (Bare::default(), &[][..]),
        };
        let symbols = Symbols::new(self.model.time, coordinates);
        SceneInputs { bare, symbols, full: self.graph.len() + limits::FORCE_NODES }
    }

    /// All points and bodies, the rods of all constraints with their forces, and the traces of a few particles.
    fn everything(&mut self, spots: Vec<Spot>, stage: &SceneInputs) {
        let all: Vec<Expr> = spots.iter().flat_map(|s| &s.place).copied().collect();
        let all_known = self.graph.symbols_of(&all).iter().all(|s| self.is_state(*s));
        let is_known = |lower: &Self, s: &Spot| lower.graph.symbols_of(&s.place).iter().all(|s| lower.is_state(*s));
        let spots: Vec<Spot> = spots.into_iter().filter(|s| all_known || is_known(self, s)).collect();
        for spot in &spots {
            let _ = self.draw_spot(spot, Span::default());
        }
        for k in 0..if self.has_rods() { self.model.constraints.len() } else { 0 } {
            self.draw_constraint(Labelled::Constraint(k), false, stage);
        }
        let particles: Vec<&Spot> = spots.iter().filter(|s| s.kind == SpotKind::Particle).collect();
        for spot in particles.iter().filter(|_| particles.len() <= limits::TRACED_PARTICLES) {
            self.draw(format!("trace({})", spot.name), Shape::Trace { place: spot.place.clone() });
        }
    }

    fn draw(&mut self, name: String, shape: Shape) {
        self.model.scene.push(AnimateItem { name, shape });
    }

    /// Draws a point, a body, a constraint, a family of them, or the trace of a point.
    fn animated(&mut self, formula: &Formula, stage: &SceneInputs) -> Lowering<()> {
        if let FormulaKind::Call(name, arguments) = &formula.kind
            && name.text == "trace"
        {
            return arguments.iter().try_for_each(|argument| self.traced(argument));
        }
        let labels = self.labels_of(formula)?;
        for &label in &labels {
            self.draw_constraint(label, true, stage);
        }
        // a label and a point may have the same name
        let is_point = match self.key_of(formula)? {
            Some((key, _)) => self.names.objects.contains_key(&key) || self.names.families.contains_key(&key),
            None => true,
        };
        if !labels.is_empty() && !is_point {
            return Ok(());
        }
        for spot in self.places(formula)? {
            self.draw_spot(&spot, formula.span)?;
        }
        Ok(())
    }

    /// The constraints that a formula names: one, a family, or none.
    fn labels_of(&mut self, formula: &Formula) -> Lowering<Vec<Labelled>> {
        let Some((key, _)) = self.key_of(formula)? else { return Ok(Vec::new()) };
        if self.labels.failed.contains(&key) {
            return Err(crate::lower::Reported);
        }
        let members = self.labels.families.get(&key).into_iter().flatten();
        Ok(members.chain([&key]).filter_map(|key| self.labels.known.get(key)).copied().collect())
    }

    /// The places that a formula denotes: a point, those of a family, or any vector.
    fn places(&mut self, formula: &Formula) -> Lowering<Vec<Spot>> {
        let names = match self.family(formula) {
            Some(members) => members,
            None => self.key_of(formula)?.into_iter().collect(),
        };
        let mut places = Vec::new();
        for (key, shown) in &names {
            places.extend(self.spot(key, shown, formula.span)?);
        }
        if places.is_empty() {
            places.push(self.place_of(formula)?);
        }
        for spot in &places {
            self.place_of_state(spot, formula.span)?;
        }
        Ok(places)
    }

    /// Rejects a place that the state does not determine.
    fn place_of_state(&mut self, spot: &Spot, span: Span) -> Lowering<()> {
        let strange = self.graph.symbols_of(&spot.place).into_iter().find(|s| !self.is_state(*s));
        let Some(symbol) = strange else { return Ok(()) };
        let name = self.graph.name(symbol).to_string();
        let d = Diagnostic::error("Z404", format!("`{name}` cannot stand in a place to draw"));
        let d = d.at(span, "not known from positions and velocities alone");
        self.report(d.help("places contain coordinates, velocities, t and parameters"))
    }

    fn traced(&mut self, formula: &Formula) -> Lowering<()> {
        for spot in self.places(formula)? {
            self.draw(format!("trace({})", spot.name), Shape::Trace { place: spot.place });
        }
        Ok(())
    }

    fn draw_spot(&mut self, spot: &Spot, span: Span) -> Lowering<()> {
        let shape = match spot.kind {
            SpotKind::Body => self.body_shape(spot, span)?,
            kind => Shape::Point { place: spot.place.clone(), has_mass: kind == SpotKind::Particle },
        };
        self.draw(spot.name.clone(), shape);
        Ok(())
    }

    fn body_shape(&mut self, spot: &Spot, span: Span) -> Lowering<Shape> {
        let frame = self.frame(&spot.key, span)?;
        let Some(NamedObject::Definition { statement, indices }) = self.names.objects.get(&spot.key).cloned() else {
            return Err(crate::lower::Reported);
        };
        let StatementKind::Body { target, properties, .. } = &self.tree.statements[statement].kind else {
            return Err(crate::lower::Reported);
        };
        let bound = self.bindings(&index_variables(target, &indices));
        let before = std::mem::replace(&mut self.locals, bound);
        let radii = self.radii(properties, frame.is_planar());
        self.locals = before;
        Ok(Shape::Body { place: spot.place.clone(), axes: frame.axes(), radii: radii? })
    }

    /// The half-axes of the homogeneous ellipsoid with this mass and these principal inertias.
    ///
    /// $$ a_1^2 = \frac{5}{2m}\,(I_2 + I_3 - I_1) $$
    ///
    /// In the plane both are the radius of gyration, √(I/m). Products of inertia are ignored.
    fn radii(&mut self, properties: &[Property], planar: bool) -> Lowering<Vec<Expr>> {
        let find = |name: &str| properties.iter().find(|p| p.name.text == name).map(|p| &p.value);
        let (Some(mass), Some(inertia)) = (find("mass"), find("inertia")) else { return Err(crate::lower::Reported) };
        let mass = self.scalar(mass)?.expr;
        let matrix = self.inertia(inertia, planar)?;
        let moments: Vec<Expr> = (0..matrix.len()).map(|k| matrix[k][k].expr).collect();
        if mass == Expr::ZERO {
            return Ok(vec![Expr::ZERO; if planar { 2 } else { 3 }]);
        }
        let g = &mut self.graph;
        if planar {
            let square = g.div(moments[0], mass);
            return Ok(vec![g.sqrt(square); 2]);
        }
        let factor = g.rational(5, 2);
        let half_axis = |k: usize| {
            let others = g.add(moments[(k + 1) % 3], moments[(k + 2) % 3]);
            let difference = g.sub(others, moments[k]);
            let product = g.mul(factor, difference);
            let square = g.div(product, mass);
            // it is never negative for a body, except by rounding
            let square = g.apply2(Function2::Max, square, Expr::ZERO);
            g.sqrt(square)
        };
        Ok((0..3).map(half_axis).collect())
    }

    /// Draws the rod of a constraint, and its forces if it is a rod or was named.
    fn draw_constraint(&mut self, label: Labelled, is_named: bool, stage: &SceneInputs) {
        let rod = self.rod(label, stage);
        let name = self.labelled(label).name.clone();
        let is_rod = rod.is_some();
        if let Some((from, to)) = rod {
            self.draw(name, Shape::Rod { from, to });
        }
        if (is_rod || is_named) && self.has_rods() {
            self.draw_forces(label, stage);
        }
    }

    /// The ends of the rod that a position constraint represents, or `None`.
    fn rod(&mut self, label: Labelled, stage: &SceneInputs) -> Option<Ends> {
        let Labelled::Constraint(k) = label else { return None };
        let rows = self.model.constraints[k].rows.clone();
        if rows.iter().any(|row| row.level != Level::Position) {
            return None;
        }
        match self.sketches.get(&label) {
            Some(sketch) if !sketch.points.is_empty() => sketch.ends.clone(),
            _ => self.rod_by_coordinates(&rows, &stage.bare),
        }
    }

    /// The rod of an equation between the coordinates of one or two points, if it fixes their distance.
    fn rod_by_coordinates(&mut self, rows: &[Row], bare: &Bare) -> Option<Ends> {
        let [row] = rows else { return None };
        let symbols = self.graph.symbols(row.expr);
        let positions: Vec<Expr> = symbols
            .into_iter()
            .filter(|s| *s == self.model.time || matches!(self.meaning.get(s), Some(Meaning::Position(_))))
            .collect();
        let mut of: Vec<usize> = positions.iter().map(|s| bare.of.get(s).copied()).collect::<Option<_>>()?;
        of.sort_unstable();
        of.dedup();
        let places: Vec<&Vec<Expr>> = of.iter().map(|&k| &bare.spots[k].place).collect();
        if places.iter().map(|p| p.len()).sum::<usize>() != positions.len() {
            return None;
        }
        let ends = match places[..] {
            [to] => (vec![Expr::ZERO; to.len()], to.clone()),
            [from, to] if from.len() == to.len() => (from.clone(), to.clone()),
            _ => return None,
        };
        self.fixes_distance(row.expr, &ends).then_some(ends)
    }

    /// `true` if φ depends on two places by their distance only: ∂φ/∂P is along P − O, and ∂φ/∂O is opposite to it.
    fn fixes_distance(&mut self, phi: Expr, (from, to): &Ends) -> bool {
        let gradient = self.graph.gradient_in(phi, |s| from.contains(&s) || to.contains(&s));
        let by = |s: &Expr| gradient.iter().find(|(q, _)| q == s).map_or(Expr::ZERO, |(_, d)| *d);
        let (by_from, by_to): (Vec<Expr>, Vec<Expr>) = (from.iter().map(by).collect(), to.iter().map(by).collect());
        let arm: Vec<Expr> = from.iter().zip(to).map(|(o, p)| self.graph.sub(*p, *o)).collect();
        let mut zeros = Vec::new();
        for i in 0..arm.len() {
            if from[i] != Expr::ZERO {
                zeros.push(self.graph.add(by_from[i], by_to[i]));
            }
            for j in 0..i {
                let (a, b) = (self.graph.mul(arm[i], by_to[j]), self.graph.mul(arm[j], by_to[i]));
                zeros.push(self.graph.sub(a, b));
            }
        }
        zeros.into_iter().all(|e| is_zero(&self.graph, e))
    }

    /// Draws the forces of a constraint on the particles it refers to.
    fn draw_forces(&mut self, label: Labelled, stage: &SceneInputs) {
        if self.graph.len() > stage.full {
            return;
        }
        let constraint = self.labelled(label);
        let (name, rows) = (constraint.name.clone(), constraint.rows.clone());
        let reaction = self.reaction_parts(&rows, &stage.symbols);
        for spot in self.touched(label, &reaction, &stage.bare) {
            if let Some(force) = self.determined_force(&reaction, &spot.place) {
                self.draw(format!("reaction({name}, {})", spot.name), Shape::Force { at: spot.place, force });
            }
        }
    }

    /// The particles that a constraint names, or else those whose coordinates it acts on.
    pub(super) fn touched(&self, label: Labelled, reaction: &[(usize, Expr)], bare: &Bare) -> Vec<Spot> {
        let named = self.sketches.get(&label).map_or(&[][..], |sketch| &sketch.points);
        if !named.is_empty() {
            return named.iter().filter(|s| s.kind == SpotKind::Particle).cloned().collect();
        }
        let coordinates = reaction.iter().map(|(k, _)| self.model.coordinates[*k].q);
        let mut of: Vec<usize> = coordinates.filter_map(|q| bare.of.get(&q).copied()).collect();
        of.sort_unstable();
        of.dedup();
        of.into_iter().map(|k| bare.spots[k].clone()).filter(|s| s.kind == SpotKind::Particle).collect()
    }

    /// The force at a place, or `None` unless the coordinates can move it in every direction and so determine it.
    pub(super) fn determined_force(&mut self, reaction: &[(usize, Expr)], place: &[Expr]) -> Option<Vec<Expr>> {
        let jacobian = self.jacobian(place);
        let mut moving: Vec<Expr> = jacobian.iter().flatten().map(|(q, _)| *q).collect();
        moving.sort_unstable();
        moving.dedup();
        if moving.len() < place.len() {
            return None;
        }
        self.force_at(reaction, &jacobian).into_iter().collect()
    }
}

//! Calls: elementary functions, vectors, the user's own functions, and quantities of the motion.

use crate::diagnostic::Diagnostic;
use crate::equations::{Symbols, constraint_row};
use crate::lower::names::{Labelled, NamedObject, function_names};
use crate::lower::value::{Quantity, Value};
use crate::lower::{Lower, Lowering};
use crate::model::{Constraint, Derived, FrictionLaw, Level, Row};
use crate::syntax::Span;
use crate::syntax::name::{canonical, nearest};
use crate::syntax::tree::*;
use crate::units::Dimension;
use zwang_expr::{Expr, Function, Function2, Graph};

impl Lower<'_> {
    pub(super) fn call(&mut self, name: &Name, arguments: &[Formula], span: Span) -> Lowering<Value> {
        let key = canonical(&name.text);
        if let Some(NamedObject::Function { statement }) = self.names.objects.get(&key) {
            let statement = *statement;
            return self.user_function(&key, statement, arguments, span);
        }
        if let Some(function) = Function::from_name(&name.text) {
            return self.elementary(function, arguments, span);
        }
        if let Some(function) = Function2::from_name(&name.text) {
            return self.two_arguments(function, &name.text, arguments, span);
        }
        match name.text.as_str() {
            "dot" | "cross" => self.vector_product(&name.text, arguments, span),
            "direction" => self.direction(arguments, span),
            "der" => {
                self.expect_arguments("der", arguments, 1, span)?;
                let value = self.formula(&arguments[0])?;
                self.primed(value, 1, span)
            }
            "reaction" | "lambda" | "λ" | "residual" | "work" | "power" => {
                self.of_constraint(&name.text, arguments, span)
            }
            "control" | "momentum" => self.of_coordinate(&name.text, arguments, span),
            "energy" | "kinetic" | "potential" | "gaussian" => self.of_motion(&name.text, arguments, span),
            "table" => self.table(arguments, span),
            _ => self.unknown_function(&key, &name.text, name.span),
        }
    }

    fn unknown_function<T>(&mut self, key: &str, shown: &str, span: Span) -> Lowering<T> {
        if self.names.objects.contains_key(key) {
            return self.report(
                Diagnostic::error("Z107", format!("`{shown}` is not a function"))
                    .at(span, "a bracket follows")
                    .help(format!("for a product write   {shown}*(…)")),
            );
        }
        let own = self
            .names
            .objects
            .iter()
            .filter(|(_, e)| matches!(e, NamedObject::Function { .. }))
            .map(|(k, _)| k.as_str());
        let known = own.chain(function_names());
        let near = nearest(shown, known).map(str::to_string);
        let d = Diagnostic::error("Z101", format!("there is no function `{shown}`")).at(span, "not known");
        let d = match (shown, near) {
            ("diff" | "d" | "D", _) => d.help("a time derivative is written with a prime: x'"),
            ("ln", _) => d.cured_by("the natural logarithm is `log`", "log"),
            ("arcsin" | "arccos" | "arctan", _) => {
                let own = shown.replacen("arc", "a", 1);
                d.cured_by(format!("write `{own}`"), own)
            }
            (_, Some(near)) => d.did_you_mean(&near),
            _ => d.help(format!("for a product write   {shown}*(…);   to define it   let {shown}(s) = …")),
        };
        self.report(d)
    }

    fn expect_arguments(&mut self, name: &str, arguments: &[Formula], n: usize, span: Span) -> Lowering<()> {
        if arguments.len() == n {
            return Ok(());
        }
        let form = match n {
            0 => format!("{name}()"),
            1 => format!("{name}(a)"),
            2 if name == "dot" && arguments.len() == 1 => {
                "the velocity is written x'; dot(a, b) multiplies vectors".into()
            }
            _ => format!("{name}(a, b)"),
        };
        let message = format!("`{name}` takes {n} argument{}, not {}", if n == 1 { "" } else { "s" }, arguments.len());
        self.report(Diagnostic::error("Z107", message).at(span, "wrong number of arguments").help(form))
    }

    fn elementary(&mut self, function: Function, arguments: &[Formula], span: Span) -> Lowering<Value> {
        self.expect_arguments(function.name(), arguments, 1, span)?;
        let value = self.formula(&arguments[0])?;
        if function == Function::Abs {
            return self.length(value, arguments[0].span);
        }
        let Quantity { expr, dim } = self.as_scalar(value, arguments[0].span)?;
        let dim = match function {
            Function::Sqrt => dim.power(0.5),
            Function::Sign => Dimension::NONE.into(),
            _ => {
                self.pure_number(&dim, arguments[0].span, &format!("the argument of {}", function.name()))?;
                Dimension::NONE.into()
            }
        };
        Ok(Value::Scalar(Quantity::new(self.graph.apply(function, expr), dim)))
    }

    fn two_arguments(&mut self, function: Function2, name: &str, arguments: &[Formula], span: Span) -> Lowering<Value> {
        if arguments.len() < 2 || function == Function2::Atan2 {
            self.expect_arguments(name, arguments, 2, span)?;
        }
        let mut result = self.scalar(&arguments[0])?;
        for argument in &arguments[1..] {
            let next = self.scalar(argument)?;
            self.same_dimension((&result.dim, arguments[0].span), (&next.dim, argument.span), "the arguments differ")?;
            let dim = if function == Function2::Atan2 { Dimension::NONE.into() } else { next.dim };
            result = Quantity::new(self.graph.apply2(function, result.expr, next.expr), dim);
        }
        Ok(Value::Scalar(result))
    }

    fn vector_product(&mut self, name: &str, arguments: &[Formula], span: Span) -> Lowering<Value> {
        self.expect_arguments(name, arguments, 2, span)?;
        let (a, b) = (self.formula(&arguments[0])?, self.formula(&arguments[1])?);
        let (a, b) = (self.as_vector(a, arguments[0].span)?, self.as_vector(b, arguments[1].span)?);
        if a.len() != b.len() {
            let message = format!("a vector of {} components and one of {}", a.len(), b.len());
            return self.report(Diagnostic::error("Z106", message).at(span, "both must have the same number"));
        }
        if name == "dot" {
            let terms: Vec<Value> = a.iter().zip(&b).map(|(a, b)| Value::Scalar(self.times(a, b))).collect();
            return self.total(terms, span);
        }
        let minus = |lower: &mut Self, i: usize, j: usize| -> Lowering<Quantity> {
            let (p, q) = (lower.times(&a[i], &b[j]), lower.times(&a[j], &b[i]));
            let q = lower.scaled(Value::Scalar(q), Quantity::new(Expr::MINUS_ONE, Dimension::NONE.into()));
            let sum = lower.added(Value::Scalar(p), q, (span, span))?;
            lower.as_scalar(sum, span)
        };
        if a.len() == 2 {
            return Ok(Value::Scalar(minus(self, 0, 1)?));
        }
        Ok(Value::Vector(vec![minus(self, 1, 2)?, minus(self, 2, 0)?, minus(self, 0, 1)?]))
    }

    fn times(&mut self, a: &Quantity, b: &Quantity) -> Quantity {
        Quantity::new(self.graph.mul(a.expr, b.expr), a.dim.times(&b.dim, 1.0))
    }

    fn total(&mut self, terms: Vec<Value>, span: Span) -> Lowering<Value> {
        let mut terms = terms.into_iter();
        let mut total = terms.next().expect("at least one term");
        for term in terms {
            total = self.added(total, term, (span, span))?;
        }
        Ok(total)
    }

    /// v/|v|, and zero for the zero vector.
    fn direction(&mut self, arguments: &[Formula], span: Span) -> Lowering<Value> {
        self.expect_arguments("direction", arguments, 1, span)?;
        let value = self.formula(&arguments[0])?;
        if let Value::Scalar(q) = value {
            let sign = self.graph.apply(Function::Sign, q.expr);
            return Ok(Value::Scalar(Quantity::new(sign, Dimension::NONE.into())));
        }
        let length = self.length(value.clone(), span)?;
        let length = self.as_scalar(length, span)?.expr;
        let mut part = |q: Quantity| {
            let quotient = self.graph.div(q.expr, length);
            let expr = self.graph.select(zwang_expr::Comparison::Greater, length, Expr::ZERO, quotient, Expr::ZERO);
            Quantity::new(expr, Dimension::NONE.into())
        };
        Ok(match value {
            Value::Generalized(g) => Value::Generalized(g.into_iter().map(|(k, q)| (k, part(q))).collect()),
            other => Value::Vector(other.components().into_iter().map(part).collect()),
        })
    }

    fn user_function(&mut self, key: &str, statement: usize, arguments: &[Formula], span: Span) -> Lowering<Value> {
        let StatementKind::Let { arguments: Some(names), value, .. } = &self.tree.statements[statement].kind else {
            return Err(crate::lower::Reported);
        };
        self.expect_arguments(key, arguments, names.len(), span)?;
        let values = self.each(arguments.iter())?;
        let bound = names.iter().map(|name| canonical(&name.text)).zip(values).collect();
        if self.definitions.in_progress_set.contains(key) {
            return self.report(
                Diagnostic::error("Z105", format!("the function `{key}` calls itself"))
                    .at(span, "needs itself")
                    .help("for a repeated term write `sum(i in 1..n: …)`, for a chain a family"),
            );
        }
        self.check_circle(key, span)?;
        self.enter(key);
        let before = std::mem::replace(&mut self.locals, bound);
        let result = crate::stack::with_stack(512 * 1024, 8 * 1024 * 1024, || self.formula(value));
        self.locals = before;
        self.leave();
        result
    }

    /// The label that a formula names, such as `rod` or `rod[2]`.
    pub(super) fn label(&mut self, formula: &Formula) -> Lowering<Labelled> {
        let (key, shown) = match &formula.kind {
            FormulaKind::Member(of, name, None) => match self.body_key(of)? {
                Some(key) => (format!("{key}.{}", name.text), format!("{key}.{}", name.text)),
                None => (String::new(), self.written(formula.span)),
            },
            _ => self.key_of(formula)?.unwrap_or((String::new(), self.written(formula.span))),
        };
        if let Some(label) = self.labels.known.get(&key) {
            return Ok(*label);
        }
        // its statement had a mistake of its own
        if self.labels.failed.contains(&key) || self.names.unknown.contains(&key) {
            return Err(crate::lower::Reported);
        }
        let d = Diagnostic::error("Z101", format!("`{shown}` is not the label of a constraint"))
            .at(formula.span, "no such label");
        let d = match self.labels.families.get(&key) {
            Some(members) => d.help(format!("it is a family: write one of `{}` …", members[0])),
            None => match nearest(&key, self.labels.known.keys().map(String::as_str)) {
                Some(near) => d.did_you_mean(near),
                None => d.help("name a constraint like this:   constraint rod: …   (those without are c1, c2, …)"),
            },
        };
        self.report(d)
    }

    pub(super) fn labelled(&self, label: Labelled) -> &Constraint {
        match label {
            Labelled::Constraint(k) => &self.model.constraints[k],
            Labelled::Contact(k) => &self.model.contacts[k],
            Labelled::Control(k) => &self.model.controls[k].stated,
        }
    }

    fn of_constraint(&mut self, name: &str, arguments: &[Formula], span: Span) -> Lowering<Value> {
        self.only_in_outputs(name, span)?;
        if !(name == "reaction" && arguments.len() == 2) {
            self.expect_arguments(name, arguments, 1, span)?;
        }
        let label = self.label(&arguments[0])?;
        let rows = self.labelled(label).rows.clone();
        let shown = self.labelled(label).name.clone();
        let quantities: Vec<Quantity> = match name {
            "work" | "power" => {
                // the numbers of contacts follow those of constraints
                let is_ideal = self.labelled(label).friction.is_none() && self.states_no_law();
                let derived = match (label, name) {
                    (Labelled::Constraint(_) | Labelled::Contact(_), "power") if is_ideal => {
                        return self.power_of(&rows);
                    }
                    (Labelled::Constraint(k), "work") => Derived::Work(k),
                    (Labelled::Constraint(k), _) => Derived::Power(k),
                    (Labelled::Contact(k), "work") => Derived::Work(self.model.constraints.len() + k),
                    (Labelled::Contact(k), _) => Derived::Power(self.model.constraints.len() + k),
                    (Labelled::Control(k), "work") => Derived::ControlWork(k),
                    (Labelled::Control(k), _) => Derived::ControlPower(k),
                };
                let symbol = self.derived_symbol(derived, format!("{name}({shown})"));
                let dim = if name == "work" {
                    self.dims.energy.clone()
                } else {
                    self.dims.energy.times(&self.dims.time, -1.0)
                };
                vec![Quantity::new(symbol, dim)]
            }
            "reaction" | "lambda" if matches!(label, Labelled::Control(_)) => {
                let d = Diagnostic::error("Z107", format!("`{shown}` is a control, which has no {name}"));
                let d = d.at(arguments[0].span, "a control");
                return self.report(d.help("its force on a coordinate is `control(q)`"));
            }
            "residual" => rows.iter().map(|r| Quantity::new(r.expr, self.row_dim(r.lambda))).collect(),
            "reaction" if arguments.len() == 2 => {
                let acting = self.with_friction(label, rows);
                return self.reaction_at(&acting, &arguments[1]);
            }
            "reaction" => {
                let acting = self.with_friction(label, rows);
                return self.reaction(&acting);
            }
            _ => rows.iter().map(|r| Quantity::new(r.lambda, self.lambda_dim(r.lambda, r.level))).collect(),
        };
        let n_components = self.labelled(label).n_components;
        Ok(match quantities.len() {
            1 if matches!(name, "work" | "power") || n_components == 1 => {
                Value::Scalar(quantities.into_iter().next().expect("one row"))
            }
            _ => Value::Vector(in_components(&rows, quantities, n_components)),
        })
    }

    /// `true` if λᵀA q̇ is the whole power of a constraint: no nonideal law adds to it.
    fn states_no_law(&self) -> bool {
        let is_law = |kind: &StatementKind| matches!(kind, StatementKind::Nonideal { .. });
        self.states_law || !self.tree.statements.iter().any(|s| is_law(&s.kind))
    }

    /// The rows of a constraint and those of its friction; a nonideal law refers to the ideal part only.
    fn with_friction(&self, label: Labelled, mut rows: Vec<Row>) -> Vec<Row> {
        let is_own = |law: &&FrictionLaw| match label {
            Labelled::Constraint(k) => law.constraint && law.of == k,
            Labelled::Contact(k) => !law.constraint && law.of == k,
            Labelled::Control(_) => false,
        };
        if !self.states_law {
            rows.extend(self.model.frictions.iter().filter(is_own).flat_map(|law| law.slip.iter().cloned()));
        }
        rows
    }

    pub(super) fn row_dim(&mut self, lambda: Expr) -> crate::lower::Dim {
        match self.dims.rows.get(&lambda) {
            Some(dim) => dim.clone(),
            None => self.dimensions.unknown(None),
        }
    }

    /// [λ] = [E]/[φ], divided by a second for each derivative in the row.
    fn lambda_dim(&mut self, lambda: Expr, level: Level) -> crate::lower::Dim {
        let row = self.row_dim(lambda);
        let seconds = match level {
            Level::Position => 0.0,
            Level::Velocity => 1.0,
            Level::Acceleration => 2.0,
        };
        self.dims.energy.times(&row, -1.0).times(&self.dims.time, -seconds)
    }

    /// Aᵀλ of one constraint, as expressions.
    fn reaction(&mut self, rows: &[Row]) -> Lowering<Value> {
        let symbols = Symbols::new(self.model.time, &self.model.coordinates);
        let parts = self.reaction_parts(rows, &symbols);
        let dim = |k: usize| self.dims.energy.times(&self.dims.coordinates[k], -1.0);
        Ok(Value::Generalized(parts.into_iter().map(|(k, e)| (k, Quantity::new(e, dim(k)))).collect()))
    }

    /// The nonzero components of Aᵀλ, each with its coordinate.
    pub(super) fn reaction_parts(&mut self, rows: &[Row], symbols: &Symbols) -> Vec<(usize, Expr)> {
        let mut parts: Vec<(usize, Expr)> = Vec::new();
        for row in rows {
            for (coordinate, a) in constraint_row(&mut self.graph, symbols, row) {
                let term = self.graph.mul(a, row.lambda);
                match parts.iter_mut().find(|(k, _)| *k == coordinate) {
                    Some((_, sum)) => *sum = self.graph.add(*sum, term),
                    None => parts.push((coordinate, term)),
                }
            }
        }
        parts.sort_by_key(|(k, _)| *k);
        parts
    }

    /// The power of an ideal constraint: λᵀA q̇.
    fn power_of(&mut self, rows: &[Row]) -> Lowering<Value> {
        let Value::Generalized(force) = self.reaction(rows)? else { return Err(crate::lower::Reported) };
        let coordinates = &self.model.coordinates;
        let terms: Vec<Expr> = force.iter().map(|(k, f)| self.graph.mul(f.expr, coordinates[*k].qdot)).collect();
        let dim = self.dims.energy.times(&self.dims.time, -1.0);
        Ok(Value::Scalar(Quantity::new(self.graph.sum(&terms), dim)))
    }

    /// The force of a constraint on a point.
    ///
    /// A component that the coordinates do not determine is a symbol without a value.
    fn reaction_at(&mut self, rows: &[Row], at: &Formula) -> Lowering<Value> {
        let symbols = Symbols::new(self.model.time, &self.model.coordinates);
        let reaction = self.reaction_parts(rows, &symbols);
        let place = self.formula(at)?;
        let place = self.as_vector(place, at.span)?;
        self.at_point(&reaction, &place)
    }

    /// The control force as a force at a point.
    fn control_at(&mut self, place: &[Quantity]) -> Lowering<Value> {
        let mut force = Vec::new();
        for k in if self.model.controls.is_empty() { Vec::new() } else { self.model.driven() } {
            force.push((k, self.control_symbol(k)));
        }
        self.at_point(&force, place)
    }

    /// The symbol of u on coordinate k.
    fn control_symbol(&mut self, k: usize) -> Expr {
        let name = format!("control({})", self.model.coordinates[k].name);
        self.derived_symbol(Derived::Control(k), name)
    }

    /// A generalized force as a force at a point.
    fn at_point(&mut self, force: &[(usize, Expr)], place: &[Quantity]) -> Lowering<Value> {
        let dim = self.dims.energy.times(&place[0].dim, -1.0);
        let jacobian = self.jacobian(&place.iter().map(|p| p.expr).collect::<Vec<_>>());
        let force = self.force_at(force, &jacobian);
        let undetermined = match force.iter().all(Option::is_some) {
            true => Expr::ZERO,
            false => self.derived_symbol(Derived::Undetermined, "undetermined component of a reaction".into()),
        };
        let parts = force.into_iter().map(|f| Quantity::new(f.unwrap_or(undetermined), dim.clone()));
        Ok(Value::Vector(parts.collect()))
    }

    /// J = ∂P/∂q, row by row: the symbols of the coordinates and the derivatives with respect to them.
    pub(super) fn jacobian(&mut self, place: &[Expr]) -> Vec<Vec<(Expr, Expr)>> {
        let is_position = |s: Expr| matches!(self.meaning.get(&s), Some(crate::lower::Meaning::Position(_)));
        place.iter().map(|&p| self.graph.gradient_in(p, is_position)).collect()
    }

    /// The force F at a point with Jᵀ F = Aᵀλ, J = ∂P/∂q: F = (J Jᵀ)⁻¹ J Aᵀλ.
    ///
    /// Along a direction in which the point cannot move, the coordinates do not determine the force.
    pub(super) fn force_at(&mut self, reaction: &[(usize, Expr)], jacobian: &[Vec<(Expr, Expr)>]) -> Vec<Option<Expr>> {
        let movable: Vec<usize> = (0..jacobian.len()).filter(|i| !jacobian[*i].is_empty()).collect();
        let entry = |row: usize, q: Expr| jacobian[row].iter().find(|(s, _)| *s == q).map(|(_, d)| *d);
        let (g, coordinates) = (&mut self.graph, &self.model.coordinates);
        let (mut gram, mut right) = (Vec::new(), Vec::new());
        for &i in &movable {
            let product = |j: usize, g: &mut Graph| {
                let terms: Vec<Expr> = jacobian[i].iter().filter_map(|(q, d)| Some(g.mul(*d, entry(j, *q)?))).collect();
                g.sum(&terms)
            };
            gram.push(movable.iter().map(|&j| product(j, g)).collect::<Vec<Expr>>());
            let terms: Vec<Expr> =
                reaction.iter().filter_map(|(k, f)| Some(g.mul(entry(i, coordinates[*k].q)?, *f))).collect();
            right.push(g.sum(&terms));
        }
        let mut solved = crate::formulas::closed_form::cramer(g, &gram, &right).into_iter();
        jacobian.iter().map(|row| if row.is_empty() { None } else { solved.next() }).collect()
    }

    /// Rejects a quantity that follows from the motion in a statement that determines the motion.
    fn only_in_outputs(&mut self, name: &str, span: Span) -> Lowering<()> {
        if self.rows_ready {
            return Ok(());
        }
        self.report(
            Diagnostic::error("Z404", format!("`{name}` cannot stand here"))
                .at(span, "it is known only after energies, forces and constraints are stated")
                .help(match name {
                    "control" => "it can stand in `output` and `plot`",
                    _ => "it can stand in `output`, `plot` and `nonideal`",
                }),
        )
    }

    fn of_coordinate(&mut self, name: &str, arguments: &[Formula], span: Span) -> Lowering<Value> {
        self.only_in_outputs(name, span)?;
        self.expect_arguments(name, arguments, 1, span)?;
        let value = self.formula(&arguments[0])?;
        if let (Value::Vector(place), "control") = (&value, name) {
            return self.control_at(place);
        }
        let value = self.as_scalar(value, arguments[0].span)?;
        let Some(crate::lower::Meaning::Position(k)) = self.meaning.get(&value.expr).copied() else {
            let or_point = if name == "control" { " or a point" } else { "" };
            let d = Diagnostic::error("Z107", format!("`{name}` takes a coordinate{or_point}"))
                .at(arguments[0].span, "not a coordinate");
            return self.report(d);
        };
        let symbol = match name {
            "control" => self.control_symbol(k),
            _ => self.derived_symbol(Derived::Momentum(k), format!("{name}({})", self.model.coordinates[k].name)),
        };
        let force = self.dims.energy.times(&self.dims.coordinates[k], -1.0);
        let dim = if name == "control" { force } else { force.times(&self.dims.time, 1.0) };
        Ok(Value::Scalar(Quantity::new(symbol, dim)))
    }

    fn of_motion(&mut self, name: &str, arguments: &[Formula], span: Span) -> Lowering<Value> {
        self.only_in_outputs(name, span)?;
        self.expect_arguments(name, arguments, 0, span)?;
        let derived = match name {
            "energy" => Derived::Energy,
            "kinetic" => Derived::Kinetic,
            "potential" => Derived::Potential,
            _ => Derived::Gaussian,
        };
        let symbol = self.derived_symbol(derived, format!("{name}()"));
        let per = if derived == Derived::Gaussian { -2.0 } else { 0.0 };
        Ok(Value::Scalar(Quantity::new(symbol, self.dims.energy.times(&self.dims.time, per))))
    }

    /// `P.x`, `B.point(…)`, `B.vector(…)`, `B.omega`, `reaction(c).x`
    pub(super) fn member(
        &mut self,
        of: &Formula,
        name: &Name,
        arguments: Option<&[Formula]>,
        span: Span,
    ) -> Lowering<Value> {
        if let Some(key) = self.body_key(of)?
            && let Some(value) = self.body_member(&key, name, arguments, span)?
        {
            return Ok(value);
        }
        let value = self.formula(of)?;
        if let Value::Generalized(parts) = &value {
            let key = canonical(&name.text);
            if let Some(&NamedObject::Coordinate(k)) = self.names.objects.get(&key) {
                let part = parts.iter().find(|(j, _)| *j == k).map(|(_, q)| q.clone());
                let zero = || Quantity::new(Expr::ZERO, self.dimensions.unknown(None));
                return Ok(Value::Scalar(part.unwrap_or_else(zero)));
            }
        }
        let index = ["x", "y", "z"].iter().position(|axis| *axis == name.text);
        match (&value, index, arguments) {
            (Value::Vector(parts), Some(k), None) if k < parts.len() => Ok(Value::Scalar(parts[k].clone())),
            _ => {
                let word = value.word();
                self.report(
                    Diagnostic::error("Z108", format!("{word} has no `{}`", name.text))
                        .at(span, "no such component")
                        .help("vectors have .x .y .z; bodies have .point(…), .vector(…), .omega"),
                )
            }
        }
    }
}

/// The quantities of rows as components of a vector; those without a row are zero.
fn in_components(rows: &[Row], of_rows: Vec<Quantity>, n: usize) -> Vec<Quantity> {
    let Some(first) = of_rows.first().filter(|_| of_rows.len() < n) else { return of_rows };
    let mut all = vec![Quantity::new(Expr::ZERO, first.dim.clone()); n];
    for (row, quantity) in rows.iter().zip(of_rows) {
        let place = ["x", "y", "z"].iter().position(|axis| row.name.ends_with(&format!(".{axis}")));
        all[place.unwrap_or(0)] = quantity;
    }
    all
}

//! Names: their declarations, families with their members, and diagnostics for unknown names.

use crate::lower::value::{Quantity, Value};
use crate::lower::{Lower, Lowering, Meaning, Reported};
use crate::model::{Coordinate, Parameter};
use crate::syntax::Span;
use crate::syntax::name::{ascii, canonical, dotted, latex, nearest, skeleton, spelled_latex, undotted};
use crate::syntax::tree::*;
use crate::units::Dimension;
use crate::{diagnostic::Diagnostic, limits};
use rustc_hash::{FxHashMap, FxHashSet};
use zwang_expr::{Expr, Function, Function2};

/// The object that a name denotes.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum NamedObject {
    Coordinate(usize),
    Parameter(usize),
    /// A `let`, point, particle, body, energy or output: the statement and its indices.
    Definition {
        statement: usize,
        indices: Vec<i64>,
    },
    /// A `let` with arguments.
    Function {
        statement: usize,
    },
}

/// The object that a label denotes.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Labelled {
    Constraint(usize),
    Contact(usize),
    Control(usize),
}

/// The declared names, by canonical spelling: `θ`, `x[3]`.
#[derive(Default)]
pub(super) struct NameTable {
    /// All names but labels.
    pub(super) objects: FxHashMap<String, NamedObject>,
    /// Families: canonical name to the keys of its members, in order.
    pub(super) families: FxHashMap<String, Vec<String>>,
    member_positions: FxHashMap<String, usize>,
    /// The user's spelling of every name.
    spelling: FxHashMap<String, String>,
    /// The LaTeX of the names so far.
    typeset: FxHashSet<String>,
    /// The position of each declaration.
    declared: FxHashMap<String, Span>,
    /// Names already reported as unknown, or declared in statements that could not be read.
    pub(super) unknown: FxHashSet<String>,
}

impl NameTable {
    pub(super) fn new(tree: &SyntaxTree) -> NameTable {
        NameTable { unknown: tree.garbled.iter().map(|word| canonical(word)).collect(), ..NameTable::default() }
    }
}

/// The labels of constraints, contacts and controls.
#[derive(Default)]
pub(super) struct LabelTable {
    pub(super) known: FxHashMap<String, Labelled>,
    /// Families: canonical name to the labels of its members, in order.
    pub(super) families: FxHashMap<String, Vec<String>>,
    /// The user's labels.
    pub(super) given: FxHashSet<String>,
    /// The number of constraints without a label.
    pub(super) n_unlabelled: usize,
    /// Labels of statements with a mistake.
    pub(super) failed: FxHashSet<String>,
}

/// The values of definitions, each evaluated at its first use.
#[derive(Default)]
pub(super) struct Definitions {
    values: FxHashMap<String, Value>,
    /// The number of members of a family that were evaluated in their order.
    n_worked_out: FxHashMap<String, usize>,
    /// Definitions under evaluation, to detect cycles.
    in_progress: Vec<String>,
    pub(super) in_progress_set: FxHashSet<String>,
    /// `true` if a chain of definitions that is too deep was reported; its other links are not reported again.
    too_deep: bool,
}

/// One member of a target.
#[derive(Clone, Debug)]
pub(super) struct Member {
    /// The canonical spelling, which is the key of all maps.
    pub(super) key: String,
    /// The user's spelling.
    pub(super) shown: String,
    /// The index variables with their values.
    pub(super) bindings: Vec<(String, i64)>,
    /// All indices.
    pub(super) indices: Vec<i64>,
}

/// Names that the language itself defines.
const BUILT_IN: [&str; 18] = [
    "λ",
    "dot",
    "cross",
    "direction",
    "der",
    "sum",
    "reaction",
    "lambda",
    "residual",
    "work",
    "power",
    "control",
    "energy",
    "kinetic",
    "potential",
    "gaussian",
    "momentum",
    "table",
];

/// The names of all functions of the language.
pub(super) fn function_names<'a>() -> impl Iterator<Item = &'a str> {
    let elementary = Function::ALL.iter().map(|f| f.name()).chain(Function2::ALL.iter().map(|f| f.name()));
    elementary.chain(BUILT_IN)
}

/// `true` if the language defines a function of that name.
pub(super) fn is_function(name: &str) -> bool {
    BUILT_IN.contains(&name) || Function::from_name(name).is_some() || Function2::from_name(name).is_some()
}

impl Lower<'_> {
    /// Declares every name. Plain definitions come first, because bounds of families may use them.
    pub(super) fn declare(&mut self) {
        for (k, statement) in self.tree.statements.iter().enumerate() {
            match &statement.kind {
                StatementKind::Title(title) => self.model.title = title.clone(),
                StatementKind::Let { target, arguments: Some(_), .. } => {
                    self.declare_one(&target.name, target.span, NamedObject::Function { statement: k });
                }
                StatementKind::Let { target, .. } if target.indices.is_empty() => {
                    self.declare_one(
                        &target.name,
                        target.span,
                        NamedObject::Definition { statement: k, indices: vec![] },
                    );
                }
                StatementKind::Energy { name: Some(name), .. } => {
                    self.declare_one(name, name.span, NamedObject::Definition { statement: k, indices: vec![] });
                }
                _ => {}
            }
        }
        for (k, statement) in self.tree.statements.iter().enumerate() {
            match &statement.kind {
                StatementKind::Coordinates(list) => {
                    for (target, description) in list {
                        self.each_member(target, |lower, m| lower.coordinate(m, target.span, description));
                    }
                }
                StatementKind::Parameters(list) => {
                    for p in list {
                        self.each_member(&p.target, |lower, m| lower.declare_parameter(m, p));
                    }
                }
                StatementKind::Let { target, arguments: None, .. } if target.indices.is_empty() => {}
                StatementKind::Let { target, arguments: None, .. }
                | StatementKind::Point { target, .. }
                | StatementKind::Particle { target, .. }
                | StatementKind::Body { target, .. }
                | StatementKind::Output { target, .. } => {
                    self.each_member(target, |lower, m| {
                        let entry = NamedObject::Definition { statement: k, indices: m.indices.clone() };
                        lower.n_points += usize::from(is_place(&statement.kind));
                        lower.insert(m, target.span, entry)
                    });
                }
                _ => {}
            }
        }
        self.warn_of_look_alikes();
    }

    fn declare_one(&mut self, name: &Name, span: Span, entry: NamedObject) {
        let member =
            Member { key: canonical(&name.text), shown: name.text.clone(), bindings: Vec::new(), indices: Vec::new() };
        let _ = self.insert(&member, span, entry);
    }

    fn insert(&mut self, member: &Member, span: Span, entry: NamedObject) -> Lowering<()> {
        let Member { key, shown, indices, .. } = member;
        if key == "t" || key == "π" || is_function(key) && matches!(entry, NamedObject::Function { .. }) {
            let what = if key == "t" { "is the time" } else { "is part of the language" };
            return self.report(
                Diagnostic::error("Z104", format!("`{shown}` {what} and cannot be declared"))
                    .at(span, "already has a meaning")
                    .help("choose another name"),
            );
        }
        let family = (!indices.is_empty()).then(|| family_of(key));
        let clash = match &family {
            Some(family) => self.names.objects.contains_key(key) || self.names.objects.contains_key(family.as_str()),
            None => self.names.objects.contains_key(key) || self.names.families.contains_key(key),
        };
        if clash {
            let known = self.names.declared.get(key).or_else(|| self.names.declared.get(&family_of(key))).copied();
            // definitions are declared before the rest, so the current one may come earlier or later in the text
            let (first, second) = known.map_or((span, span), |k| (k.min(span), k.max(span)));
            let d = Diagnostic::error("Z104", format!("`{shown}` is defined twice")).at(second, "defined again here");
            let d = if first == second { d } else { d.and_at(first, "defined here") };
            return self.report(d.help("choose another name for one of them"));
        }
        self.names.declared.insert(key.clone(), span);
        if let Some(family) = family {
            let members = self.names.families.entry(family).or_default();
            self.names.member_positions.insert(key.clone(), members.len());
            members.push(key.clone());
        }
        self.names.spelling.insert(family_of(key), family_of(shown));
        self.names.objects.insert(key.clone(), entry);
        Ok(())
    }

    /// The LaTeX of a name; letter by letter if another name looks the same, as `θ1` and `θ_1` would.
    fn own_latex(&mut self, shown: &str) -> String {
        let tex = latex(shown);
        match self.names.typeset.insert(tex.clone()) {
            true => tex,
            false => spelled_latex(shown),
        }
    }

    fn coordinate(&mut self, member: &Member, span: Span, description: &Option<String>) -> Lowering<()> {
        let index = self.model.coordinates.len();
        self.insert(member, span, NamedObject::Coordinate(index))?;
        let Member { shown, .. } = member;
        let tex = self.own_latex(shown);
        let q = self.graph.symbol(shown, &tex);
        let qdot = self.graph.symbol(&format!("{shown}'"), &dotted(&tex, "\\dot"));
        let qddot = self.graph.symbol(&format!("{shown}''"), &dotted(&tex, "\\ddot"));
        self.graph.set_rate(q, qdot);
        self.graph.set_rate(qdot, qddot);
        self.meaning.insert(q, Meaning::Position(index));
        self.meaning.insert(qdot, Meaning::Velocity);
        self.meaning.insert(qddot, Meaning::Acceleration);
        self.dims.coordinates.push(self.dimensions.unknown(Some(shown)));
        let (name, description) = (shown.clone(), description.clone());
        self.model.coordinates.push(Coordinate { name, description, q, qdot, qddot, dimension: None, span });
        Ok(())
    }

    fn declare_parameter(&mut self, member: &Member, declared: &ParameterDeclaration) -> Lowering<()> {
        let index = self.model.parameters.len();
        self.insert(member, declared.target.span, NamedObject::Parameter(index))?;
        let tex = self.own_latex(&member.shown);
        let symbol = self.graph.symbol(&member.shown, &tex);
        self.graph.set_rate(symbol, Expr::ZERO);
        self.meaning.insert(symbol, Meaning::Parameter(index));
        self.dims.parameters.push(self.dimensions.unknown(Some(&member.shown)));
        self.model.parameters.push(Parameter {
            name: member.shown.clone(),
            description: declared.description.clone(),
            symbol,
            value: Expr::ZERO,
            range: None,
            unit: None,
            span: declared.target.span,
        });
        Ok(())
    }

    /// Warns of distinct names that look the same.
    fn warn_of_look_alikes(&mut self) {
        let mut looks: Vec<(String, &String)> = self
            .names
            .objects
            .keys()
            .chain(self.names.families.keys())
            .filter(|k| !k.contains('['))
            .map(|k| (skeleton(k), k))
            .collect();
        looks.sort();
        let pairs: Vec<_> = looks.windows(2).filter(|w| w[0].0 == w[1].0 && w[0].1 != w[1].1).collect();
        let warnings: Vec<Diagnostic> = pairs
            .into_iter()
            .map(|w| {
                Diagnostic::warning(
                    "Z103",
                    format!("`{}` and `{}` are different names that look alike", w[0].1, w[1].1),
                )
                .help("are they meant to be the same? then spell them the same way")
            })
            .collect();
        for warning in warnings {
            self.diagnostics.push(warning);
        }
    }

    /// The members of a target: one, or one for each index.
    pub(super) fn members(&mut self, target: &Target) -> Lowering<Vec<Member>> {
        let (name, text) = (canonical(&target.name.text), &target.name.text);
        let plain = Member { key: name, shown: text.clone(), bindings: vec![], indices: vec![] };
        let mut members = vec![plain];
        for index in &target.indices {
            let (variable, from, to) = match index {
                Index::One(formula) => (None, self.integer(formula)?, None),
                Index::Range(variable, from, to) => (variable.as_ref(), self.integer(from)?, Some(self.integer(to)?)),
            };
            let to = to.unwrap_or(from);
            let count = usize::try_from(to.saturating_sub(from).saturating_add(1)).unwrap_or(0);
            let all = count.saturating_mul(members.len());
            if all > limits::MEMBERS {
                return self.report(
                    Diagnostic::error("Z009", format!("`{text}` would have {all} members"))
                        .at(target.span, format!("at most {} are possible", limits::MEMBERS))
                        .help("use smaller bounds"),
                );
            }
            if to < from.saturating_sub(1) {
                return self.report(
                    Diagnostic::error(
                        "Z109",
                        format!("`{text}` has no members: its bounds run from {from} down to {to}"),
                    )
                    .at(target.span, "an empty family")
                    .help(format!("write the smaller bound first: [{to}..{from}]")),
                );
            }
            let variable = variable.map(|v| canonical(&v.text));
            let extended = |m: &Member, k: i64| {
                let mut m = m.clone();
                m.indices.push(k);
                m.bindings.extend(variable.iter().map(|v| (v.clone(), k)));
                m
            };
            members =
                members.iter().flat_map(|m| (from..=to).map(move |k| (m, k))).map(|(m, k)| extended(m, k)).collect();
        }
        for member in members.iter_mut().filter(|m| !m.indices.is_empty()) {
            let suffix = suffix(&member.indices);
            member.key.push_str(&suffix);
            member.shown.push_str(&suffix);
        }
        Ok(members)
    }

    /// The local names for a member: its index variables.
    pub(super) fn bound(&mut self, member: &Member) -> Vec<(String, Value)> {
        self.bindings(&member.bindings)
    }

    pub(super) fn bindings(&mut self, bindings: &[(String, i64)]) -> Vec<(String, Value)> {
        let number = |(name, k): &(String, i64)| {
            (name.clone(), Value::Scalar(Quantity::new(self.graph.integer(*k), Dimension::NONE.into())))
        };
        bindings.iter().map(number).collect()
    }

    /// An integer that is known before the derivation.
    pub(super) fn integer(&mut self, formula: &Formula) -> Lowering<i64> {
        let value = self.scalar(formula)?;
        let bad = |message: String| Diagnostic::error("Z109", message);
        let Some(number) = self.graph.constant_value(value.expr).filter(|number| !number.is_nan()) else {
            let d = bad("an index is not a number that is known beforehand".into())
                .at(formula.span, "not a constant")
                .help("bounds are numbers and `let`s of numbers, not parameters:   let n = 5");
            return self.report(d);
        };
        if !number.is_finite() || number.abs() > 1e15 {
            let d = bad("an index is far too large to count with".into()).at(formula.span, "beyond 1e15");
            return self.report(d.help("indices are whole numbers of moderate size"));
        }
        if number.fract() != 0.0 {
            let d = bad(format!("an index must be a whole number, not {number}")).at(formula.span, "not whole");
            return self.report(d.help("round it, or let the family count differently"));
        }
        Ok(number as i64)
    }

    /// The key of a plain or indexed name and the user's spelling; `None` for any other formula.
    pub(super) fn key_of(&mut self, formula: &Formula) -> Lowering<Option<(String, String)>> {
        Ok(match &formula.kind {
            FormulaKind::Name(name) => Some((canonical(name), name.clone())),
            FormulaKind::Indexed(name, indices) => {
                let indices = indices.iter().map(|i| self.integer(i)).collect::<Lowering<Vec<i64>>>()?;
                let suffix = suffix(&indices);
                Some((canonical(&name.text) + &suffix, format!("{}{suffix}", name.text)))
            }
            _ => None,
        })
    }

    /// The members of the family that a plain name denotes, each with its key and the user's spelling.
    pub(super) fn family(&self, formula: &Formula) -> Option<Vec<(String, String)>> {
        let FormulaKind::Name(name) = &formula.kind else { return None };
        let keys = self.names.families.get(&canonical(name))?;
        let spelled = |key: &String| format!("{name}{}", &key[key.find('[').unwrap_or(key.len())..]);
        Some(keys.iter().map(|key| (key.clone(), spelled(key))).collect())
    }

    /// The value of a plain or indexed name.
    pub(super) fn named(&mut self, key: String, shown: &str, span: Span) -> Lowering<Value> {
        if let Some((_, value)) = self.locals.iter().rev().find(|(name, _)| *name == key) {
            return Ok(value.clone());
        }
        match key.as_str() {
            "t" => return Ok(Value::Scalar(Quantity::new(self.model.time, self.dims.time.clone()))),
            "π" => return Ok(Value::Scalar(Quantity::new(self.graph.pi(), Dimension::NONE.into()))),
            _ => {}
        }
        if self.names.objects.contains_key(&key) {
            return self.definition(&key, span);
        }
        // a dot above the letter denotes a derivative if the name without it is known
        if let Some((bare, primes)) = undotted(shown) {
            let bare = format!("{bare}{}", key.find('[').map_or("", |k| &key[k..]));
            if self.names.objects.contains_key(&bare) || self.locals.iter().any(|(name, _)| *name == bare) {
                let value = self.named(bare, "", span)?;
                return self.primed(value, primes, span);
            }
        }
        self.unknown_name(&key, shown, span)
    }

    /// The value of a declared name, evaluated when it is first needed.
    pub(super) fn definition(&mut self, key: &str, span: Span) -> Lowering<Value> {
        if let Some(value) = self.definitions.values.get(key) {
            return Ok(value.clone());
        }
        let (statement, indices) = match self.names.objects.get(key) {
            Some(&NamedObject::Coordinate(k)) => {
                let quantity = Quantity::new(self.model.coordinates[k].q, self.dims.coordinates[k].clone());
                return Ok(Value::Scalar(quantity));
            }
            Some(&NamedObject::Parameter(k)) => {
                let quantity = Quantity::new(self.model.parameters[k].symbol, self.dims.parameters[k].clone());
                return Ok(Value::Scalar(quantity));
            }
            Some(NamedObject::Function { .. }) => {
                return self.report(
                    Diagnostic::error("Z107", format!("`{key}` is a function"))
                        .at(span, "its argument is missing")
                        .help(format!("{key}(…)")),
                );
            }
            Some(NamedObject::Definition { statement, indices }) => (*statement, indices.clone()),
            None => return Err(Reported),
        };
        self.check_circle(key, span)?;
        self.earlier_members(key, span);
        self.enter(key);
        let value = crate::stack::with_stack(512 * 1024, 8 * 1024 * 1024, || self.work_out(key, statement, &indices));
        self.leave();
        // a definition that failed is not evaluated again
        match value {
            Ok(value) => {
                self.definitions.values.insert(key.to_string(), value.clone());
                Ok(value)
            }
            Err(Reported) => {
                self.names.objects.remove(key);
                self.names.unknown.insert(key.to_string());
                Err(Reported)
            }
        }
    }

    pub(super) fn enter(&mut self, key: &str) {
        self.definitions.in_progress.push(key.to_string());
        self.definitions.in_progress_set.insert(key.to_string());
    }

    pub(super) fn leave(&mut self) {
        if let Some(key) = self.definitions.in_progress.pop() {
            self.definitions.in_progress_set.remove(&key);
        }
    }

    pub(super) fn check_circle(&mut self, key: &str, span: Span) -> Lowering<()> {
        if self.definitions.in_progress.len() >= limits::DEFINITION_DEPTH {
            if std::mem::replace(&mut self.definitions.too_deep, true) {
                return Err(Reported);
            }
            return self.report(
                Diagnostic::error(
                    "Z005",
                    format!("definitions lean on each other more than {} deep", limits::DEFINITION_DEPTH),
                )
                .at(span, "one too many")
                .help("define what others use first; a family is worked out from its first member on"),
            );
        }
        if !self.definitions.in_progress_set.contains(key) {
            return Ok(());
        }
        let from = self.definitions.in_progress.iter().position(|k| k == key).unwrap_or(0);
        let mut circle: Vec<String> = self.definitions.in_progress[from..].iter().map(|k| format!("`{k}`")).collect();
        if circle.len() > 6 {
            circle.splice(3..circle.len() - 2, ["…".to_string()]);
        }
        let circle = format!("{} → `{key}`", circle.join(" → "));
        self.report(
            Diagnostic::error("Z105", format!("the definition of `{key}` goes in a circle"))
                .at(span, "needs itself")
                .with_note(circle)
                .help("break the circle: one of them must not use the others"),
        )
    }

    /// Evaluates the earlier members of a family first, so that a long chain does not become a deep recursion.
    fn earlier_members(&mut self, key: &str, span: Span) {
        let name = family_of(key);
        let Some(&at) = self.names.member_positions.get(key) else { return };
        let known = self.definitions.n_worked_out.get(&name).copied().unwrap_or(0);
        if known >= at || self.definitions.in_progress.iter().any(|k| family_of(k) == name) {
            return;
        }
        self.definitions.n_worked_out.insert(name.clone(), at);
        for k in known..at {
            let earlier = self.names.families[&name][k].clone();
            let before = std::mem::take(&mut self.locals);
            let _ = self.definition(&earlier, span);
            self.locals = before;
        }
    }

    /// Lowers the statement of a definition, with its indices bound.
    fn work_out(&mut self, key: &str, statement: usize, indices: &[i64]) -> Lowering<Value> {
        let statement = &self.tree.statements[statement];
        let (target, value) = match &statement.kind {
            StatementKind::Let { target, value, .. } => (Some(target), value),
            StatementKind::Point { target, value } => (Some(target), value),
            StatementKind::Output { target, value, .. } => (Some(target), value),
            StatementKind::Particle { target, at, .. } | StatementKind::Body { target, at, .. } => (Some(target), at),
            StatementKind::Energy { value, .. } => (None, value),
            _ => return Err(Reported),
        };
        let variables = target.map_or(Vec::new(), |t| index_variables(t, indices));
        let bound = self.bindings(&variables);
        let before = std::mem::replace(&mut self.locals, bound);
        let mut result = self.formula(value);
        if let (Ok(point), true) = (
            &result,
            !matches!(
                statement.kind,
                StatementKind::Let { .. } | StatementKind::Output { .. } | StatementKind::Energy { .. }
            ),
        ) {
            result = match point {
                Value::Vector(_) => result,
                other => {
                    let d = Diagnostic::error("Z106", format!("the place of `{key}` is {}", other.word()))
                        .at(value.span, "a vector (x, y) or (x, y, z) is expected");
                    self.report(d)
                }
            };
        }
        self.locals = before;
        result
    }

    /// Reports an undeclared name, with the nearest known name and the line that would declare it.
    fn unknown_name<T>(&mut self, key: &str, shown: &str, span: Span) -> Lowering<T> {
        if !self.names.unknown.insert(key.to_string()) || self.diagnostics.is_full() {
            return Err(Reported);
        }
        if let Some(members) = self.names.families.get(family_of(key).as_str()) {
            let (first, last) = (members[0].clone(), members[members.len() - 1].clone());
            let d = if key.contains('[') {
                Diagnostic::error("Z108", format!("there is no member `{shown}`"))
                    .at(span, "outside the family")
                    .help(format!("the members are `{first}` to `{last}`"))
            } else {
                Diagnostic::error("Z108", format!("`{shown}` is a family"))
                    .at(span, "which member?")
                    .help(format!("write one of `{first}` … `{last}`"))
            };
            return self.report(d);
        }
        if is_function(key) {
            let d = Diagnostic::error("Z107", format!("`{shown}` is a function")).at(span, "its argument is missing");
            return self.report(d.help(format!("{shown}(…)")));
        }
        let base = family_of(key);
        if base != *key && self.names.objects.contains_key(base.as_str()) {
            return self.report(
                Diagnostic::error("Z108", format!("`{base}` has no members"))
                    .at(span, "an index behind a single quantity")
                    .help(format!("write   {base}   or declare a family:   {base}[1..n]")),
            );
        }
        if base != *key {
            return self.report(
                Diagnostic::error("Z101", format!("`{shown}` is not a coordinate, parameter or definition"))
                    .at(span, "not defined")
                    .help(format!("declare the family, for example   coordinates {base}[1..n]")),
            );
        }
        // Greek letters are also compared by their Latin names
        let spelled = self.names.spelling.iter().flat_map(|(key, shown)| [(shown.clone(), shown), (ascii(key), shown)]);
        let spelled: Vec<(String, &String)> = spelled.collect();
        let known = spelled.iter().map(|(spelling, _)| spelling.as_str()).chain(function_names()).chain(["pi"]);
        let near = nearest(shown, known).map(|near| {
            spelled
                .iter()
                .find(|(spelling, _)| spelling == near)
                .map_or(near.to_string(), |(_, shown)| shown.to_string())
        });
        let mut d = Diagnostic::error("Z101", format!("`{shown}` is not a coordinate, parameter or definition"))
            .at(span, "not defined");
        if key == "e" {
            d = d.help("the exponential function is exp(x)");
        }
        if let Some(bare) = key.strip_suffix("_dot").or_else(|| key.strip_suffix("dot"))
            && self.names.spelling.contains_key(bare)
        {
            return self.report(d.cured_by(format!("the velocity is written `{bare}'`"), format!("{bare}'")));
        }
        if let Some(near) = near {
            d = d.did_you_mean(&near);
        }
        if crate::units::find(key).is_some() {
            d = d.help(format!("as a unit it stands behind a number, `40 {shown}` or `40 1/{shown}`; in formulas in brackets, `40[1/{shown}]`"));
        }
        let value = if key == "g" { "9.81 m/s^2" } else { "1" };
        self.report(d.help(format!("to make it a parameter add   parameter {shown} = {value}")))
    }

    /// The coordinates that a target names: one, some members, or a whole family.
    pub(super) fn coordinates_of(&mut self, target: &Target) -> Option<Vec<usize>> {
        let members = self.members(target).ok()?;
        let coordinate = |entries: &FxHashMap<String, NamedObject>, key: &str| match entries.get(key) {
            Some(&NamedObject::Coordinate(k)) => Some(k),
            _ => None,
        };
        if let [one] = &members[..]
            && let Some(family) = self.names.families.get(&one.key)
        {
            return family.iter().map(|key| coordinate(&self.names.objects, key)).collect();
        }
        members.iter().map(|m| coordinate(&self.names.objects, &m.key)).collect()
    }
}

/// `true` if a statement declares a point, particle or body.
pub(super) fn is_place(kind: &StatementKind) -> bool {
    matches!(kind, StatementKind::Point { .. } | StatementKind::Particle { .. } | StatementKind::Body { .. })
}

/// `x[3]` belongs to `x`.
pub(super) fn family_of(key: &str) -> String {
    key.split('[').next().unwrap_or(key).to_string()
}

/// `[1]`, `[1,2]`
pub(super) fn suffix(indices: &[i64]) -> String {
    use std::fmt::Write;
    let mut suffix = String::with_capacity(8 * indices.len() + 2);
    for (k, index) in indices.iter().enumerate() {
        let _ = write!(suffix, "{}{index}", if k == 0 { '[' } else { ',' });
    }
    suffix.push_str(if indices.is_empty() { "[]" } else { "]" });
    suffix
}

/// The index variables of a target and their values for one member.
pub(super) fn index_variables(target: &Target, indices: &[i64]) -> Vec<(String, i64)> {
    let variable = |(index, &k): (&Index, &i64)| match index {
        Index::Range(Some(name), _, _) => Some((canonical(&name.text), k)),
        _ => None,
    };
    target.indices.iter().zip(indices).filter_map(variable).collect()
}

//! Statements. Each begins at the left margin with a keyword, so a mistake in one never affects the next.

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::syntax::Span;
use crate::syntax::lexer::{Token, TokenKind, tokens};
use crate::syntax::name::nearest;
use crate::syntax::tree::*;

/// Words that separate the parts of a statement and therefore cannot be names.
pub(super) const RESERVED: [&str; 18] = [
    "with",
    "and",
    "using",
    "from",
    "to",
    "in",
    "over",
    "steps",
    "vs",
    "by",
    "at",
    "turned",
    "if",
    "then",
    "else",
    "as",
    "matrix",
    "quaternion",
];

/// Keywords of other programs, with the corresponding ones of this language.
const OTHER_WORDS: [(&str, &str); 35] = [
    ("params", "parameter"),
    ("coords", "coordinates"),
    ("const", "parameter"),
    ("var", "coordinates"),
    ("define", "let"),
    ("def", "let"),
    ("function", "let"),
    ("joint", "constraint"),
    ("hinge", "constraint"),
    ("link", "constraint"),
    ("rod", "constraint"),
    ("collision", "contact"),
    ("moment", "torque"),
    ("motor", "torque"),
    ("actuator", "control"),
    ("inertia", "body"),
    ("energy", "lagrangian"),
    ("event", "when"),
    ("if", "when"),
    ("print", "output"),
    ("draw", "animate"),
    ("damping", "dissipation"),
    ("damper", "dissipation"),
    ("spring", "potential"),
    ("initial", "start"),
    ("init", "start"),
    ("variable", "coordinates"),
    ("variables", "coordinates"),
    ("constants", "parameter"),
    ("constant", "parameter"),
    ("constraints", "constraint"),
    ("rigid", "body"),
    ("simulate", "run"),
    ("T", "kinetic"),
    ("V", "potential"),
];

/// The keywords of statements, each with an example of its syntax.
const FORMS: [(&str, &str); 27] = [
    ("model", "model \"title\""),
    ("coordinates", "coordinates x, y, θ \"lean\", q[1..n]"),
    ("parameter", "parameter l = 1 m from 0.2 m to 3 m \"rod length\", g = 9.81 m/s^2"),
    ("let", "let r = sqrt(x^2 + y^2)   or   let f(s) = a*sin(s)"),
    ("point", "point A = (x, y)"),
    ("particle", "particle P at (x, y) with mass m"),
    ("body", "body B at (x, y, z) turned z by ψ, x by θ with mass m and inertia (I1, I2, I3)"),
    ("gravity", "gravity (0, -g)"),
    ("lagrangian", "lagrangian L = m/2*x'^2 - m*g*x"),
    ("kinetic", "kinetic m/2*x'^2"),
    ("potential", "potential m*g*y"),
    ("dissipation", "dissipation d/2*x'^2"),
    ("mass", "mass x, y: m   or   mass matrix = [a, b; b, c]"),
    ("force", "force x: -k*x   or   force P: (0, -F)"),
    ("torque", "torque B: (0, 0, M)"),
    ("constraint", "constraint rod: x^2 + y^2 = l^2"),
    ("contact", "contact floor: y >= 0 with restitution e and friction μ"),
    ("nonideal", "nonideal x: -d*x'"),
    ("control", "control trace: tip = target using q1, q2 with settling 0.2 s"),
    ("start", "start x = l, y ~ -1 m, x' = 0"),
    ("run", "run 10 s with tolerance 1e-9"),
    ("sweep", "sweep l from 0.5 m to 2 m in 50 steps"),
    ("output", "output tension = |reaction(rod)| in N"),
    ("plot", "plot x, y vs t"),
    ("animate", "animate P, rod, trace(P)"),
    ("when", "when t >= 2 s: k = 0"),
    ("import", "import \"arm.urdf\" as arm"),
];

/// The syntax of the statement that begins with a word.
fn form_of(word: &str) -> Option<&'static str> {
    FORMS.iter().find(|(keyword, _)| *keyword == word).map(|(_, form)| *form)
}

/// An error value: the mistake was already reported, and the statement is skipped.
pub(super) struct Reported;

/// The result of parsing a part.
pub(super) type Parsed<T> = Result<T, Reported>;

/// Reads a whole model text.
pub fn parse(text: &str) -> (SyntaxTree, Diagnostics) {
    let mut diagnostics = Diagnostics::default();
    let tokens = tokens(text, 0, &mut diagnostics);
    let mut tree = SyntaxTree::default();
    let mut from = 0;
    while from < tokens.len() {
        let to = (from + 1..tokens.len()).find(|&k| tokens[k].begins_statement).unwrap_or(tokens.len());
        let mut parser = Parser::new(&tokens[from..to], text.len(), &mut diagnostics);
        let statement = parser.statement();
        let saw_unit = parser.saw_unit;
        if let Ok(statement) = statement {
            tree.has_units |= saw_unit && !matches!(statement.kind, StatementKind::Run { .. });
            tree.statements.push(statement);
        } else {
            let words = tokens[from..to].iter().filter_map(|t| match &t.kind {
                TokenKind::Name(word) => Some(word.clone()),
                _ => None,
            });
            tree.garbled.extend(words.take(64));
        }
        from = to;
    }
    (tree, diagnostics)
}

pub(super) struct Parser<'a> {
    pub(super) tokens: &'a [Token],
    pub(super) at: usize,
    pub(super) diagnostics: &'a mut Diagnostics,
    /// `true` if numbers may have units without brackets here.
    pub(super) in_value: bool,
    /// The current nesting depth of brackets.
    pub(super) depth: usize,
    /// `true` if a unit with a dimension was read.
    pub(super) saw_unit: bool,
    /// The end of the text that is read.
    end: Span,
}

impl<'a> Parser<'a> {
    pub(super) fn new(tokens: &'a [Token], end: usize, diagnostics: &'a mut Diagnostics) -> Parser<'a> {
        let end = tokens.last().map_or(Span::new(end, end), |t| Span::new(t.span.end, t.span.end));
        Parser { tokens, at: 0, diagnostics, in_value: false, depth: 0, saw_unit: false, end }
    }

    pub(super) fn peek(&self) -> Option<&'a TokenKind> {
        self.tokens.get(self.at).map(|t| &t.kind)
    }

    pub(super) fn peek_at(&self, ahead: usize) -> Option<&'a TokenKind> {
        self.tokens.get(self.at + ahead).map(|t| &t.kind)
    }

    /// Span of the next token, or the position after the last one.
    pub(super) fn here(&self) -> Span {
        match self.tokens.get(self.at) {
            Some(token) => token.span,
            None => self.end,
        }
    }

    /// Span from `start` to the last token read.
    pub(super) fn since(&self, start: Span) -> Span {
        match self.at.checked_sub(1).and_then(|k| self.tokens.get(k)) {
            Some(token) if token.span.end >= start.start => start.to(token.span),
            _ => start,
        }
    }

    pub(super) fn is_symbol(&self, symbol: &str) -> bool {
        matches!(self.peek(), Some(TokenKind::Symbol(s)) if *s == symbol)
    }

    pub(super) fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Some(TokenKind::Name(n)) if n == word)
    }

    pub(super) fn eat_symbol(&mut self, symbol: &str) -> bool {
        let found = self.is_symbol(symbol);
        self.at += usize::from(found);
        found
    }

    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        self.at += usize::from(found);
        found
    }

    /// The next token in words.
    pub(super) fn found(&self) -> String {
        match self.peek() {
            None => "the statement ends here".to_string(),
            Some(TokenKind::Name(n)) => format!("`{n}`"),
            Some(TokenKind::Number(n)) => format!("the number `{n}`"),
            Some(TokenKind::Text(t)) => format!("the text \"{t}\""),
            Some(TokenKind::Prime(_)) => "a prime".to_string(),
            Some(TokenKind::Superscript(_)) => "a power".to_string(),
            Some(TokenKind::Symbol(s)) => format!("`{s}`"),
        }
    }

    /// Reports that something else was expected here.
    pub(super) fn fail<T>(&mut self, expected: &str) -> Parsed<T> {
        let (found, here) = (self.found(), self.here());
        let message = match self.peek() {
            None => format!("the statement ends where {expected} is expected"),
            Some(_) => format!("{expected} is expected, not {found}"),
        };
        let d = Diagnostic::error("Z003", message).at(here, format!("{expected} should stand here"));
        self.diagnostics.push(match self.form() {
            Some(form) => d.help(format!("the statement reads   {form}")),
            None => d,
        });
        Err(Reported)
    }

    /// The syntax of the current statement.
    fn form(&self) -> Option<&'static str> {
        let first = self.tokens.first().filter(|t| t.begins_statement)?;
        let TokenKind::Name(word) = &first.kind else { return None };
        form_of(word)
    }

    pub(super) fn expect_symbol(&mut self, symbol: &'static str) -> Parsed<()> {
        if self.eat_symbol(symbol) { Ok(()) } else { self.fail(&format!("`{symbol}`")) }
    }

    fn expect_word(&mut self, word: &'static str) -> Parsed<()> {
        if self.eat_word(word) { Ok(()) } else { self.fail(&format!("the word `{word}`")) }
    }

    /// A name that is not a reserved word.
    pub(super) fn name(&mut self, what: &str) -> Parsed<Name> {
        match self.peek() {
            Some(TokenKind::Name(text)) if !RESERVED.contains(&text.as_str()) => {
                let name = Name { text: text.clone(), span: self.here() };
                self.at += 1;
                Ok(name)
            }
            _ => self.fail(what),
        }
    }

    fn text(&mut self) -> Option<String> {
        match self.peek() {
            Some(TokenKind::Text(text)) => {
                self.at += 1;
                Some(text.clone())
            }
            _ => None,
        }
    }

    /// A list of items separated by commas; `read` reads one.
    pub(super) fn list<T>(&mut self, mut read: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut items = vec![read(self)?];
        while self.eat_symbol(",") {
            items.push(read(self)?);
        }
        Ok(items)
    }

    fn statement(&mut self) -> Parsed<Statement> {
        let start = self.here();
        if !self.tokens[0].begins_statement {
            return self.fail("a statement");
        }
        let keyword = match self.peek() {
            Some(TokenKind::Name(word)) => word.clone(),
            _ => return self.unknown_statement(None),
        };
        self.at += 1;
        let Some(kind) = self.body_of(&keyword) else {
            self.at -= 1;
            return self.unknown_statement(Some(&keyword));
        };
        let kind = kind?;
        if self.at < self.tokens.len() {
            return self.leftover();
        }
        Ok(Statement { span: self.since(start), kind })
    }

    /// Reports tokens after a complete statement.
    fn leftover<T>(&mut self) -> Parsed<T> {
        let (found, here) = (self.found(), self.here());
        let closing = [")", "]"].iter().any(|s| self.is_symbol(s));
        let code = if closing { "Z004" } else { "Z003" };
        let mut d = Diagnostic::error(code, format!("{found} is not expected here"))
            .at(here, if closing { "closes nothing" } else { "the statement was complete before this" });
        let is_keyword = matches!(self.peek(), Some(TokenKind::Name(word)) if form_of(word).is_some());
        d = match (self.peek(), self.form()) {
            _ if is_keyword && self.tokens[self.at].begins_line => {
                d.help("an indented line continues the one above: begin a statement at the left margin")
            }
            (Some(TokenKind::Symbol(";")), _) => d.help("each statement stands on a line of its own"),
            (Some(TokenKind::Symbol("<" | ">")), _) => d.help("for a one-sided constraint write   contact … >= …"),
            (_, Some(form)) => d.help(format!("the statement reads   {form}")),
            _ => d,
        };
        self.diagnostics.push(d);
        Err(Reported)
    }

    fn unknown_statement<T>(&mut self, word: Option<&str>) -> Parsed<T> {
        let here = self.here();
        let mut d = match word {
            Some(word) => Diagnostic::error("Z002", format!("`{word}` does not begin a statement"))
                .at(here, "a statement begins with a keyword"),
            None => Diagnostic::error("Z002", format!("a statement begins with a keyword, not with {}", self.found()))
                .at(here, "no keyword"),
        };
        if !self.diagnostics.is_full() {
            let near = word.and_then(|w| nearest(w, FORMS.iter().map(|(keyword, _)| *keyword)));
            let other = word.and_then(|w| OTHER_WORDS.iter().find(|(other, _)| *other == w)).map(|(_, meant)| *meant);
            d = match other.or(near) {
                Some(near) => d.did_you_mean(near),
                None => d.help("for a definition write `let … = …`; to continue the line above, indent this one"),
            };
        }
        self.diagnostics.push(d);
        Err(Reported)
    }

    fn body_of(&mut self, keyword: &str) -> Option<Parsed<StatementKind>> {
        Some(match keyword {
            "model" => self.title(),
            "coordinates" | "coordinate" => {
                self.list(|p| Ok((p.target("a coordinate")?, p.text()))).map(StatementKind::Coordinates)
            }
            "parameter" | "parameters" => self.list(Self::parameter).map(StatementKind::Parameters),
            "let" => self.definition(),
            "point" => self.point(),
            "particle" => self.particle(),
            "body" => self.body(),
            "gravity" => self.formula().map(StatementKind::Gravity),
            "lagrangian" => self.energy(EnergyKind::Lagrangian),
            "kinetic" => self.energy(EnergyKind::Kinetic),
            "potential" => self.energy(EnergyKind::Potential),
            "dissipation" => self.energy(EnergyKind::Dissipation),
            "mass" => self.mass(),
            "force" => self.force(false),
            "torque" => self.force(true),
            "constraint" => self.constraint(),
            "contact" => self.contact(),
            "control" => self.control(),
            "nonideal" => self.nonideal(),
            "start" => self.list(Self::initial).map(StatementKind::Start),
            "run" => self.run(),
            "sweep" => self.sweep(),
            "output" => self.output(),
            "plot" => self.plot(),
            "animate" => self.list(Self::formula).map(StatementKind::Animate),
            "when" => self.when(),
            "import" => self.import(),
            _ => return None,
        })
    }

    fn title(&mut self) -> Parsed<StatementKind> {
        match self.text() {
            Some(text) => Ok(StatementKind::Title(text)),
            None => self.fail("a title in quotes"),
        }
    }

    fn parameter(&mut self) -> Parsed<ParameterDeclaration> {
        let target = self.target("a parameter")?;
        self.expect_symbol("=")?;
        let value = self.value()?;
        let range = if self.eat_word("from") {
            let low = self.value()?;
            self.expect_word("to")?;
            Some((low, self.value()?))
        } else {
            None
        };
        Ok(ParameterDeclaration { target, value, range, description: self.text(), set_unit: None })
    }

    fn definition(&mut self) -> Parsed<StatementKind> {
        let target = self.target("a name")?;
        let mut arguments = None;
        if target.indices.is_empty() && self.eat_symbol("(") {
            arguments = Some(self.list(|p| p.name("an argument"))?);
            self.expect_symbol(")")?;
        }
        self.expect_symbol("=")?;
        Ok(StatementKind::Let { target, arguments, value: self.definition_value()? })
    }

    /// `let g = 9.81 m/s^2` is a plain value and may have a unit without brackets; any longer formula may not.
    fn definition_value(&mut self) -> Parsed<Formula> {
        let is_part = |t: &Token| match &t.kind {
            TokenKind::Name(name) => crate::units::find(name).is_some(),
            TokenKind::Number(_) | TokenKind::Superscript(_) => true,
            TokenKind::Symbol(symbol) => matches!(*symbol, "*" | "/" | "^" | "-"),
            _ => false,
        };
        let rest = &self.tokens[self.at..];
        let is_plain =
            matches!(rest, [Token { kind: TokenKind::Number(_), .. }, Token { kind: TokenKind::Name(_), .. }, ..])
                && rest.iter().all(is_part);
        if is_plain { self.value() } else { self.formula() }
    }

    fn point(&mut self) -> Parsed<StatementKind> {
        let target = self.target("a point")?;
        self.expect_symbol("=")?;
        Ok(StatementKind::Point { target, value: self.formula()? })
    }

    fn particle(&mut self) -> Parsed<StatementKind> {
        let target = self.target("a particle")?;
        self.expect_word("at")?;
        let at = self.formula()?;
        Ok(StatementKind::Particle { target, at, properties: self.properties()? })
    }

    fn body(&mut self) -> Parsed<StatementKind> {
        let target = self.target("a body")?;
        self.expect_word("at")?;
        let at = self.formula()?;
        let turned = if self.eat_word("turned") { self.turned()? } else { Turned::Axes(Vec::new()) };
        Ok(StatementKind::Body { target, at, turned, properties: self.properties()? })
    }

    fn turned(&mut self) -> Parsed<Turned> {
        if self.eat_word("by") {
            return if self.eat_word("quaternion") {
                self.list(Self::formula).map(Turned::Quaternion)
            } else {
                self.formula().map(Turned::Plane)
            };
        }
        let axes = self.list(|p| {
            let axis = p.name("an axis x, y or z")?;
            p.expect_word("by")?;
            Ok((axis, p.formula()?))
        })?;
        Ok(Turned::Axes(axes))
    }

    fn energy(&mut self, kind: EnergyKind) -> Parsed<StatementKind> {
        let named = matches!((self.peek(), self.peek_at(1)), (Some(TokenKind::Name(_)), Some(TokenKind::Symbol("="))));
        let name = if named { Some(self.name("a name")?) } else { None };
        if named {
            self.expect_symbol("=")?;
        }
        Ok(StatementKind::Energy { kind, name, value: self.formula()? })
    }

    fn mass(&mut self) -> Parsed<StatementKind> {
        if self.eat_word("matrix") {
            self.expect_symbol("=")?;
            return self.value().map(StatementKind::MassMatrix);
        }
        let targets = self.list(|p| p.target("a coordinate"))?;
        self.expect_symbol(":")?;
        Ok(StatementKind::Mass { targets, value: self.value()? })
    }

    fn force(&mut self, is_torque: bool) -> Parsed<StatementKind> {
        let targets = self.list(|p| p.dotted_target("a coordinate, point or body"))?;
        self.expect_symbol(":")?;
        Ok(StatementKind::Force { is_torque, targets, value: self.formula()? })
    }

    /// The label before a colon, or `None`: `rod:`, `rod[i in 1..n]:`.
    fn label(&mut self) -> Parsed<Option<Target>> {
        let mut ahead = 1;
        if !matches!(self.peek(), Some(TokenKind::Name(_))) {
            return Ok(None);
        }
        if matches!(self.peek_at(1), Some(TokenKind::Symbol("["))) {
            let is_end = |k: &usize| matches!(self.peek_at(*k), None | Some(TokenKind::Symbol("]")));
            ahead = (1..).find(is_end).unwrap_or(1) + 1;
        }
        if !matches!(self.peek_at(ahead), Some(TokenKind::Symbol(":"))) {
            return Ok(None);
        }
        let label = self.target("a label")?;
        self.expect_symbol(":")?;
        Ok(Some(label))
    }

    fn constraint(&mut self) -> Parsed<StatementKind> {
        let label = self.label()?;
        let left = self.formula()?;
        if self.is_symbol(">=") || self.is_symbol("<=") {
            let here = self.here();
            self.diagnostics.push(
                Diagnostic::error("Z003", "a constraint is an equality")
                    .at(here, "one-sided")
                    .help("for a one-sided constraint write   contact … >= …"),
            );
            return Err(Reported);
        }
        self.expect_symbol("=")?;
        let right = self.formula()?;
        Ok(StatementKind::Constraint { label, left, right, properties: self.properties()? })
    }

    fn contact(&mut self) -> Parsed<StatementKind> {
        let label = self.label()?;
        let left = self.formula()?;
        let swapped = self.is_symbol("<=");
        if !self.eat_symbol(">=") && !self.eat_symbol("<=") {
            return self.fail("`>=`");
        }
        let right = self.formula()?;
        let (left, right) = if swapped { (right, left) } else { (left, right) };
        Ok(StatementKind::Contact { label, left, right, properties: self.properties()? })
    }

    fn control(&mut self) -> Parsed<StatementKind> {
        let label = self.label()?;
        let left = self.formula()?;
        self.expect_symbol("=")?;
        let right = self.formula()?;
        let using = if self.eat_word("using") { self.list(|p| p.target("a coordinate"))? } else { Vec::new() };
        Ok(StatementKind::Control { label, left, right, using, properties: self.properties()? })
    }

    fn nonideal(&mut self) -> Parsed<StatementKind> {
        let target = self.dotted_target("a coordinate, point or body")?;
        self.expect_symbol(":")?;
        Ok(StatementKind::Nonideal { target, value: self.formula()? })
    }

    /// `with mass m and inertia I`, also `at P` after a friction
    fn properties(&mut self) -> Parsed<Vec<Property>> {
        let mut properties = Vec::new();
        let mut more = self.eat_word("with");
        while more || self.is_word("at") {
            let name = if self.is_word("at") {
                let span = self.here();
                self.at += 1;
                Name { text: "at".into(), span }
            } else {
                self.name("a property")?
            };
            // places and slips are formulas; numbers in the other properties may have units without brackets
            let formula = name.text == "at" || name.text == "slip";
            let value = match self.peek() {
                Some(TokenKind::Text(text)) => {
                    let span = self.here();
                    self.at += 1;
                    Formula { span, kind: FormulaKind::Text(text.clone()) }
                }
                _ if name.text == "method" => self.word("a method such as auto or rattle")?,
                _ if formula => self.formula()?,
                _ => self.value()?,
            };
            properties.push(Property { name, value });
            more = self.eat_word("and");
        }
        Ok(properties)
    }

    /// A word that names a choice, not a quantity: `order8`, and `half-step` without blanks around the hyphen.
    fn word(&mut self, what: &str) -> Parsed<Formula> {
        let start = self.here();
        let mut word = self.name(what)?.text;
        while let [before, hyphen, after, ..] = &self.tokens[self.at - 1..]
            && hyphen.kind == TokenKind::Symbol("-")
            && before.span.end == hyphen.span.start
            && hyphen.span.end == after.span.start
            && let TokenKind::Name(part) | TokenKind::Number(part) = &after.kind
        {
            word = format!("{word}-{part}");
            self.at += 2;
        }
        Ok(Formula { span: self.since(start), kind: FormulaKind::Name(word) })
    }

    pub(super) fn initial(&mut self) -> Parsed<Initial> {
        let start = self.here();
        let left = if self.is_quantity_before_equals() {
            let (target, primes) = self.primed_target()?;
            InitialSide::Quantity { target, primes }
        } else {
            InitialSide::Formula(self.formula()?)
        };
        let exact = self.is_symbol("=");
        if !self.eat_symbol("=") && !self.eat_symbol("~") {
            return self.fail("`=` or `~`");
        }
        let value = self.value()?;
        Ok(Initial { left, exact, value, span: self.since(start), replaces: false })
    }

    /// `true` if the next tokens are a name with indices, members and primes, perhaps in `der(…)`, up to `=` or `~`, or to an
    /// end that is a mistake.
    fn is_quantity_before_equals(&self) -> bool {
        let mut at = 0;
        let mut depth = 0usize;
        loop {
            match self.peek_at(at) {
                Some(TokenKind::Symbol("[")) => depth += 1,
                Some(TokenKind::Symbol("]")) => depth = depth.saturating_sub(1),
                None | Some(TokenKind::Symbol("=" | "~" | ",")) if depth == 0 => return at > 0,
                None => return true,
                _ if depth > 0 => {}
                Some(TokenKind::Name(word)) if word == "der" => {
                    if !matches!(self.peek_at(at + 1), Some(TokenKind::Symbol("("))) {
                        return false;
                    }
                    at += 1;
                }
                Some(TokenKind::Name(_)) => {
                    // two names in a row, or a call
                    if matches!(self.peek_at(at + 1), Some(TokenKind::Name(_) | TokenKind::Symbol("("))) {
                        return false;
                    }
                }
                Some(TokenKind::Prime(_) | TokenKind::Symbol("." | ")")) => {}
                _ => return false,
            }
            at += 1;
        }
    }

    /// `x`, `x'`, `der(x)`, `P[2]'`
    fn primed_target(&mut self) -> Parsed<(Target, u32)> {
        let mut n_der = 0;
        while self.is_word("der") && matches!(self.peek_at(1), Some(TokenKind::Symbol("("))) {
            self.at += 2;
            n_der += 1;
        }
        let target = self.dotted_target("a coordinate or point")?;
        let mut primes: u32 = n_der;
        while let Some(TokenKind::Prime(count)) = self.peek() {
            primes = primes.saturating_add(*count);
            self.at += 1;
        }
        for _ in 0..n_der {
            self.expect_symbol(")")?;
        }
        Ok((target, primes))
    }

    fn run(&mut self) -> Parsed<StatementKind> {
        let duration = self.value()?;
        Ok(StatementKind::Run { duration, properties: self.properties()? })
    }

    fn sweep(&mut self) -> Parsed<StatementKind> {
        let target = self.target("a parameter")?;
        let range = if self.eat_word("from") {
            let low = self.value()?;
            self.expect_word("to")?;
            let high = self.value()?;
            self.expect_word("in")?;
            let steps = self.formula()?;
            self.expect_word("steps")?;
            SweepRange::Steps(Box::new([low, high, steps]))
        } else if self.eat_word("over") {
            SweepRange::Over(self.list(Self::value)?)
        } else if self.eat_symbol("~") {
            let name = self.name("a distribution such as normal or uniform")?;
            self.expect_symbol("(")?;
            let values = self.list(Self::value)?;
            self.expect_symbol(")")?;
            SweepRange::Random(name, values)
        } else {
            return self.fail("`from`, `over` or `~`");
        };
        Ok(StatementKind::Sweep { target, range, properties: self.properties()? })
    }

    fn output(&mut self) -> Parsed<StatementKind> {
        let target = self.target("a name for the output")?;
        self.expect_symbol("=")?;
        let value = self.formula()?;
        let start = self.here();
        let unit = if self.eat_word("in") { Some((self.unit()?, self.since(start))) } else { None };
        Ok(StatementKind::Output { target, value, unit })
    }

    fn plot(&mut self) -> Parsed<StatementKind> {
        let values = self.list(Self::formula)?;
        let versus = if self.eat_word("vs") { Some(self.formula()?) } else { None };
        Ok(StatementKind::Plot { values, versus })
    }

    fn when(&mut self) -> Parsed<StatementKind> {
        self.in_value = true;
        let condition = self.condition();
        self.in_value = false;
        let condition = condition?;
        self.expect_symbol(":")?;
        let (target, primes) = self.primed_target()?;
        self.expect_symbol("=")?;
        Ok(StatementKind::When { condition, target, primes, value: self.value()? })
    }

    fn import(&mut self) -> Parsed<StatementKind> {
        let Some(path) = self.text() else { return self.fail("a file name in quotes") };
        let name = if self.eat_word("as") { Some(self.name("a name")?) } else { None };
        Ok(StatementKind::Import { path, name })
    }
}

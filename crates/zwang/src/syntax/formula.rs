//! Formulas, values, units and targets: precedence climbing over the tokens of one statement.

use crate::syntax::Span;
use crate::syntax::lexer::{TokenKind, tokens};
use crate::syntax::name::nearest;
use crate::syntax::parser::{Parsed, Parser, RESERVED, Reported};
use crate::syntax::tree::*;
use crate::units::{self, Dimension, Unit};
use crate::{
    diagnostic::{Diagnostic, Diagnostics},
    limits,
};

impl Parser<'_> {
    /// A formula, in which units are in brackets: `0.3[m]`.
    pub(super) fn formula(&mut self) -> Parsed<Formula> {
        let before = std::mem::replace(&mut self.in_value, false);
        let formula = self.sum();
        self.in_value = before;
        formula
    }

    /// A value, in which units may follow numbers without brackets: `9.81 m/s^2`.
    pub(super) fn value(&mut self) -> Parsed<Formula> {
        let before = std::mem::replace(&mut self.in_value, true);
        let value = self.sum();
        self.in_value = before;
        value
    }

    /// `a < b`
    pub(super) fn condition(&mut self) -> Parsed<Formula> {
        let start = self.here();
        let left = self.sum()?;
        let Some(sign) = ["<=", ">=", "<", ">"].into_iter().find(|s| self.eat_symbol(s)) else {
            return self.fail("a comparison `<`, `<=`, `>` or `>=`");
        };
        let right = self.sum()?;
        let kind = FormulaKind::Compare(sign, Box::new(left), Box::new(right));
        Ok(Formula { span: self.since(start), kind })
    }

    fn sum(&mut self) -> Parsed<Formula> {
        let start = self.here();
        let mut terms = Vec::new();
        let mut minus = false;
        loop {
            terms.push((minus, self.product()?));
            minus = self.is_symbol("-");
            if !self.eat_symbol("+") && !self.eat_symbol("-") {
                break;
            }
        }
        Ok(self.single_or(terms, start, FormulaKind::Sum))
    }

    fn product(&mut self) -> Parsed<Formula> {
        let start = self.here();
        let mut factors = Vec::new();
        let mut divides = false;
        loop {
            factors.push((divides, self.unary()?));
            divides = self.is_symbol("/");
            if !self.eat_symbol("*") && !self.eat_symbol("/") {
                break;
            }
        }
        Ok(self.single_or(factors, start, FormulaKind::Product))
    }

    /// The item itself if there is only one, otherwise the list.
    fn single_or(
        &self,
        mut items: Vec<(bool, Formula)>,
        start: Span,
        list: fn(Vec<(bool, Formula)>) -> FormulaKind,
    ) -> Formula {
        match items.len() {
            1 => items.remove(0).1,
            _ => Formula { span: self.since(start), kind: list(items) },
        }
    }

    fn unary(&mut self) -> Parsed<Formula> {
        let start = self.here();
        let mut negative = false;
        loop {
            if self.eat_symbol("-") {
                negative = !negative;
            } else if !self.eat_symbol("+") {
                break;
            }
        }
        let formula = self.power()?;
        if !negative {
            return Ok(formula);
        }
        Ok(Formula { span: self.since(start), kind: FormulaKind::Negative(Box::new(formula)) })
    }

    fn power(&mut self) -> Parsed<Formula> {
        let start = self.here();
        let base = self.postfix()?;
        let exponent = if let Some(TokenKind::Superscript(digits)) = self.peek() {
            let span = self.here();
            self.at += 1;
            let number = |d: &str| Formula { span, kind: FormulaKind::Number(d.to_string()) };
            match digits.strip_prefix('-') {
                Some(digits) => Formula { span, kind: FormulaKind::Negative(Box::new(number(digits))) },
                None => number(digits),
            }
        } else if self.eat_symbol("^") {
            self.nested(|p| p.unary())?
        } else {
            return Ok(base);
        };
        let kind = FormulaKind::Power(Box::new(base), Box::new(exponent));
        Ok(Formula { span: self.since(start), kind })
    }

    /// An atom with its primes and members: `x''`, `P.x'`, `B.point(0, 0, 1)`.
    fn postfix(&mut self) -> Parsed<Formula> {
        let start = self.here();
        let mut formula = self.atom()?;
        for depth in 0.. {
            if depth + self.depth > limits::BRACKET_DEPTH {
                return self.too_deep();
            }
            let kind = if matches!(self.peek(), Some(TokenKind::Prime(_))) {
                let mut primes: u32 = 0;
                while let Some(TokenKind::Prime(count)) = self.peek() {
                    primes = primes.saturating_add(*count);
                    self.at += 1;
                }
                FormulaKind::Prime(Box::new(formula), primes)
            } else if self.is_symbol(".") {
                self.at += 1;
                let name = self.name("a component or member")?;
                let arguments = if self.is_symbol("(") { Some(self.arguments()?) } else { None };
                FormulaKind::Member(Box::new(formula), name, arguments)
            } else {
                break;
            };
            formula = Formula { span: self.since(start), kind };
        }
        Ok(formula)
    }

    pub(super) fn atom(&mut self) -> Parsed<Formula> {
        let start = self.here();
        let kind = match self.peek() {
            Some(TokenKind::Number(written)) => self.number(written.clone())?,
            Some(TokenKind::Text(text)) => {
                self.at += 1;
                FormulaKind::Text(text.clone())
            }
            Some(TokenKind::Name(word)) if word == "if" => self.nested(Self::choice)?,
            Some(TokenKind::Name(_)) => self.named()?,
            Some(TokenKind::Symbol("(")) => return self.parenthesis(),
            Some(TokenKind::Symbol("[")) => self.nested(Self::matrix)?,
            Some(TokenKind::Symbol("|")) => self.nested(Self::length)?,
            _ => return self.fail("a number, name or bracket"),
        };
        Ok(Formula { span: self.since(start), kind })
    }

    /// Runs `read` one bracket deeper; fails beyond the largest depth.
    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= limits::BRACKET_DEPTH {
            return self.too_deep();
        }
        self.depth += 1;
        let result = crate::stack::with_stack(64 * 1024, 1024 * 1024, || read(self));
        self.depth -= 1;
        result
    }

    fn too_deep<T>(&mut self) -> Parsed<T> {
        let here = self.here();
        self.diagnostics.push(
            Diagnostic::error("Z005", format!("the formula is nested more than {} deep", limits::BRACKET_DEPTH))
                .at(here, "one bracket too many")
                .help("name a part of it with `let`"),
        );
        Err(Reported)
    }

    fn number(&mut self, written: String) -> Parsed<FormulaKind> {
        let span = self.here();
        self.at += 1;
        let value: f64 = written.parse().unwrap_or(f64::NAN);
        let vanishes =
            value == 0.0 && written.bytes().take_while(|b| !b"eE".contains(b)).any(|b| (b'1'..=b'9').contains(&b));
        if !value.is_finite() || vanishes {
            let what = if vanishes { "too small" } else { "too large" };
            self.diagnostics.push(
                Diagnostic::error(
                    "Z006",
                    format!("the number `{}` is {what} to be computed with", shortened(&written)),
                )
                .at(span, "beyond the range of 64-bit numbers")
                .help("numbers lie between 1e-300 and 1e300 in size"),
            );
            return Err(Reported);
        }
        // 0.3[m]
        if self.is_symbol("[") {
            self.at += 1;
            let unit = self.unit()?;
            if !self.eat_symbol("]") {
                return self.unclosed("]", span);
            }
            return Ok(FormulaKind::WithUnit(written, unit));
        }
        if self.in_value && self.unit_follows() {
            let unit = self.unit()?;
            return Ok(FormulaKind::WithUnit(written, unit));
        }
        self.no_bracket_follows(&written, span)?;
        self.no_name_follows(&written, span)?;
        Ok(FormulaKind::Number(written))
    }

    /// Rejects a bracket after a number in a formula: `2(x + y)` lacks the sign of the product.
    fn no_bracket_follows(&mut self, written: &str, number: Span) -> Parsed<()> {
        let is_next = self.peek() == Some(&TokenKind::Symbol("(")) && self.here().start == number.end;
        if self.in_value || !is_next {
            return Ok(());
        }
        let span = number.to(self.here());
        let d = Diagnostic::error("Z102", format!("`{written}(` in a formula")).at(span, "a product?");
        let behind = Span::new(number.end, number.end);
        let d = d.help(format!("product: {written}*(…)"));
        self.diagnostics.push(d.cure(format!("make it a product, {written}*(…)"), behind, "*"));
        Err(Reported)
    }

    /// `true` if a unit without brackets follows: `m/s^2`, `1/m`.
    fn unit_follows(&self) -> bool {
        let is_unit = |k| matches!(self.peek_at(k), Some(TokenKind::Name(n)) if units::find(&unit_name(n)).is_some());
        let one_over = matches!(self.peek(), Some(TokenKind::Number(one)) if one == "1")
            && matches!(self.peek_at(1), Some(TokenKind::Symbol("/")))
            && is_unit(2);
        is_unit(0) || one_over
    }

    /// Rejects a name after a number: `2 m` is neither a product nor a unit in a formula, and perhaps a mistyped unit
    /// in a value.
    fn no_name_follows(&mut self, written: &str, number: Span) -> Parsed<()> {
        let Some(TokenKind::Name(word)) = self.peek() else { return Ok(()) };
        if RESERVED.contains(&word.as_str()) {
            return Ok(());
        }
        let span = number.to(self.here());
        let diagnostic = if self.in_value {
            let d = match self.peek_at(1) {
                Some(TokenKind::Symbol("=" | "~")) => {
                    let d = Diagnostic::error("Z502", format!("`{word}` is not a unit")).at(self.here(), "no unit");
                    d.help(format!("a comma is missing:   {written}, {word} = …"))
                }
                _ => unknown_unit(word, self.here()),
            };
            d.help(format!("for a product write   {written}*{word}"))
        } else {
            let is_unit = units::find(&unit_name(word)).is_some();
            let chain = if is_unit { self.unit_ahead() } else { word.clone() };
            let question = if is_unit { format!("a unit, or {written} times {word}?") } else { "a product?".into() };
            let d = Diagnostic::error("Z102", format!("`{written} {word}` in a formula")).at(span, question);
            let d = d.help(format!("product: {written}*{word}"));
            // one blank between the two is replaced; what stands further apart was perhaps meant otherwise, and a comment stays
            let title = format!("make it a product, {written}*{word}");
            let d = match is_unit || self.here().start > number.end + 1 {
                true => d.guessed(title, Span::new(number.end, number.end), "*"),
                false => d.cure(title, Span::new(number.end, self.here().start), "*"),
            };
            if is_unit { d.help(format!("unit: {written}[{chain}]")) } else { d }
        };
        self.diagnostics.push(diagnostic);
        Err(Reported)
    }

    /// The text of the unit that follows; the position does not advance.
    fn unit_ahead(&mut self) -> String {
        let (at, saw_unit) = (self.at, self.saw_unit);
        let text = self.unit().map_or(String::new(), |unit| unit.text);
        (self.at, self.saw_unit) = (at, saw_unit);
        text
    }

    /// The longest chain of units: `m/s^2`, `N*m`, `1/m`.
    pub(super) fn unit(&mut self) -> Parsed<Unit> {
        let first = self.at;
        let mut unit = Unit::one();
        if matches!(self.peek(), Some(TokenKind::Number(one)) if one == "1") {
            self.at += 1;
            if !self.is_symbol("/") {
                return Ok(unit);
            }
        } else {
            unit = self.unit_factor(&unit, 1)?;
        }
        loop {
            let sign = if self.is_symbol("/") {
                -1
            } else if self.is_symbol("*") {
                1
            } else {
                break;
            };
            // if no unit follows, the sign belongs to the surrounding formula
            let is_unit = matches!(self.peek_at(1), Some(TokenKind::Name(n)) if units::find(&unit_name(n)).is_some());
            if !is_unit {
                break;
            }
            self.at += 1;
            unit = self.unit_factor(&unit, sign)?;
        }
        self.saw_unit |= !unit.dimension.same(Dimension::NONE);
        unit.text = self.tokens[first..self.at].iter().map(|t| token_text(&t.kind)).collect();
        Ok(unit)
    }

    /// One unit with its power, multiplied into `unit`.
    fn unit_factor(&mut self, unit: &Unit, sign: i32) -> Parsed<Unit> {
        let Some(TokenKind::Name(word)) = self.peek() else { return self.fail("a unit") };
        let span = self.here();
        let Some(factor) = units::find(&unit_name(word)) else {
            self.diagnostics.push(unknown_unit(word, span));
            return Err(Reported);
        };
        self.at += 1;
        let power = self.unit_power()?;
        match (-12..=12).contains(&power).then(|| unit.times(&factor, sign * power)).flatten() {
            Some(unit) => Ok(unit),
            None => {
                self.diagnostics.push(
                    Diagnostic::error("Z502", "this power of a unit is out of range").at(self.since(span), "too high"),
                );
                Err(Reported)
            }
        }
    }

    fn unit_power(&mut self) -> Parsed<i32> {
        let digits = match self.peek() {
            Some(TokenKind::Superscript(digits)) => digits.clone(),
            Some(TokenKind::Symbol("^")) => {
                self.at += 1;
                let sign = if self.eat_symbol("-") { "-" } else { "" };
                match self.peek() {
                    Some(TokenKind::Number(digits)) => format!("{sign}{digits}"),
                    _ => return self.fail("a whole number as the power of the unit"),
                }
            }
            _ => return Ok(1),
        };
        match digits.parse() {
            Ok(power) => {
                self.at += 1;
                Ok(power)
            }
            Err(_) => self.fail("a whole number as the power of the unit"),
        }
    }

    /// A name, an indexed name, a call, or a sum over an index.
    fn named(&mut self) -> Parsed<FormulaKind> {
        let keyword = matches!(self.peek(), Some(TokenKind::Name(w)) if RESERVED.contains(&w.as_str()));
        if keyword {
            return self.fail("a number, name or bracket");
        }
        let name = self.name("a name")?;
        if self.is_symbol("[") {
            let open = self.here();
            self.at += 1;
            let indices = self.nested(|p| p.formulas("]", open))?;
            return Ok(FormulaKind::Indexed(name, indices));
        }
        if !self.is_symbol("(") {
            self.check_no_adjacent(&name)?;
            return Ok(FormulaKind::Name(name.text));
        }
        if name.text == "sum" {
            return self.nested(Self::sum_over);
        }
        let arguments = self.arguments()?;
        Ok(FormulaKind::Call(name, arguments))
    }

    /// Rejects `m x`, which is not a product.
    fn check_no_adjacent(&mut self, name: &Name) -> Parsed<()> {
        let next = match self.peek() {
            Some(TokenKind::Name(next)) if !RESERVED.contains(&next.as_str()) => next.clone(),
            Some(TokenKind::Number(next)) => next.clone(),
            _ => return Ok(()),
        };
        let span = name.span.to(self.here());
        let d = Diagnostic::error("Z102", format!("`{} {next}` in a formula", name.text)).at(span, "a product?");
        let d = match self.depth == 0 && self.at == 2 && self.tokens[0].begins_statement {
            true => d.help(format!("a label: {}: {next} …", name.text)),
            false => d,
        };
        let is_function = zwang_expr::Function::from_name(&name.text).is_some();
        let help =
            if is_function { format!("{}({next})", name.text) } else { format!("product: {}*{next}", name.text) };
        let own = help.trim_start_matches("product: ").to_string();
        let (d, behind) = (d.help(help), Span::new(name.span.end, name.span.end));
        self.diagnostics.push(if is_function { d } else { d.guessed(format!("write {own}"), behind, "*") });
        Err(Reported)
    }

    fn arguments(&mut self) -> Parsed<Vec<Formula>> {
        let open = self.here();
        self.expect_symbol("(")?;
        if self.eat_symbol(")") {
            return Ok(Vec::new());
        }
        self.nested(|p| p.formulas(")", open))
    }

    /// Formulas separated by commas up to the closing bracket.
    fn formulas(&mut self, close: &'static str, open: Span) -> Parsed<Vec<Formula>> {
        let mut items = vec![self.sum()?];
        while self.eat_symbol(",") {
            items.push(self.sum()?);
        }
        if self.eat_symbol(close) { Ok(items) } else { self.unclosed(close, open) }
    }

    /// Reports a bracket that is not closed, or an unexpected token inside it.
    fn unclosed<T>(&mut self, close: &'static str, open: Span) -> Parsed<T> {
        if self.peek().is_some() && !self.is_symbol("=") && !self.is_symbol("]") && !self.is_symbol(")") {
            return self.fail(&format!("`{close}` or an operator"));
        }
        let here = self.here();
        self.diagnostics.push(
            Diagnostic::error("Z004", "a bracket is not closed")
                .at(open, "opened here")
                .and_at(here, format!("`{close}` is missing before this"))
                .help(format!("add `{close}`"))
                .guessed(format!("add `{close}`"), Span::new(here.start, here.start), close),
        );
        Err(Reported)
    }

    /// `(a)` is a; `(a, b)` is a vector.
    fn parenthesis(&mut self) -> Parsed<Formula> {
        let start = self.here();
        self.at += 1;
        let mut items = self.nested(|p| p.formulas(")", start))?;
        if items.len() == 1 {
            let mut only = items.remove(0);
            only.span = self.since(start);
            return Ok(only);
        }
        Ok(Formula { span: self.since(start), kind: FormulaKind::Vector(items) })
    }

    /// `[a, b; c, d]`
    fn matrix(&mut self) -> Parsed<FormulaKind> {
        let open = self.here();
        self.at += 1;
        let mut rows = vec![Vec::new()];
        loop {
            let item = self.sum()?;
            rows.last_mut().expect("at least one row").push(item);
            if self.eat_symbol("]") {
                return Ok(FormulaKind::Matrix(rows));
            } else if self.eat_symbol(";") {
                rows.push(Vec::new());
            } else if !self.eat_symbol(",") {
                return self.unclosed("]", open);
            }
        }
    }

    /// A bar opens if an operand is expected, otherwise it closes.
    fn length(&mut self) -> Parsed<FormulaKind> {
        let open = self.here();
        self.at += 1;
        let inside = self.sum()?;
        if !self.eat_symbol("|") {
            return self.unclosed("|", open);
        }
        Ok(FormulaKind::Length(Box::new(inside)))
    }

    fn choice(&mut self) -> Parsed<FormulaKind> {
        self.at += 1;
        let condition = self.condition()?;
        if !self.eat_word("then") {
            return self.fail("the word `then`");
        }
        let then = self.sum()?;
        if !self.eat_word("else") {
            return self.fail("the word `else`");
        }
        let otherwise = self.sum()?;
        Ok(FormulaKind::If(Box::new(condition), Box::new(then), Box::new(otherwise)))
    }

    /// `sum(i in 1..n: …)`
    fn sum_over(&mut self) -> Parsed<FormulaKind> {
        let open = self.here();
        self.at += 1;
        let index = self.name("an index")?;
        if !self.eat_word("in") {
            return self.fail("the word `in`");
        }
        let from = self.sum()?;
        self.expect_symbol("..")?;
        let to = self.sum()?;
        self.expect_symbol(":")?;
        let body = self.sum()?;
        if !self.eat_symbol(")") {
            return self.unclosed(")", open);
        }
        Ok(FormulaKind::SumOver(index, Box::new(from), Box::new(to), Box::new(body)))
    }

    /// `x`, `x[3]`, `x[1..n]`, `x[i in 1..n]`
    pub(super) fn target(&mut self, what: &str) -> Parsed<Target> {
        let name = self.name(what)?;
        let mut indices = Vec::new();
        if self.is_symbol("[") {
            let open = self.here();
            self.at += 1;
            loop {
                indices.push(self.index()?);
                if self.eat_symbol("]") {
                    break;
                } else if !self.eat_symbol(",") {
                    return self.unclosed("]", open);
                }
            }
        }
        let span = self.since(name.span);
        Ok(Target { name, indices, span })
    }

    /// A target that may be a member, such as the point `arm.tip`; the dot becomes part of the name.
    pub(super) fn dotted_target(&mut self, what: &str) -> Parsed<Target> {
        let mut target = self.target(what)?;
        while self.eat_symbol(".") {
            let member = self.name("a member")?;
            target.name.text = format!("{}.{}", target.name.text, member.text);
            target.span = self.since(target.span);
        }
        Ok(target)
    }

    fn index(&mut self) -> Parsed<Index> {
        let named = matches!(self.peek_at(1), Some(TokenKind::Name(word)) if word == "in");
        let name = if named { Some(self.name("an index")?) } else { None };
        if named {
            self.at += 1;
        }
        let from = self.nested(|p| p.formula())?;
        if self.eat_symbol("..") {
            return Ok(Index::Range(name, from, self.nested(|p| p.formula())?));
        }
        if named { self.fail("`..`") } else { Ok(Index::One(from)) }
    }
}

/// The name of a unit with µ as μ.
fn unit_name(written: &str) -> String {
    written.replace('µ', "μ")
}

/// A unit as written in a model, such as `m/s^2`; `None` if the text contains anything else.
pub fn unit(text: &str) -> Option<Unit> {
    let mut diagnostics = Diagnostics::default();
    let tokens = tokens(text, 0, &mut diagnostics);
    let mut parser = Parser::new(&tokens, text.len(), &mut diagnostics);
    let unit = parser.unit().ok()?;
    (parser.at == tokens.len()).then_some(unit)
}

/// Z502: a word in the place of a unit.
fn unknown_unit(word: &str, span: Span) -> Diagnostic {
    let d = Diagnostic::error("Z502", format!("`{word}` is not a unit")).at(span, "no unit of that name");
    match (word, nearest(word, units::names())) {
        ("g", _) => d.help("`g` is kept for gravity: write `gram`").guessed("write `gram`", span, "gram"),
        (_, Some(near)) => d.did_you_mean(near),
        (_, None) => d.help("zwang explain Z502 lists the units"),
    }
}

fn shortened(written: &str) -> String {
    if written.len() <= 24 { written.to_string() } else { format!("{}…", &written[..20]) }
}

fn token_text(kind: &TokenKind) -> String {
    match kind {
        TokenKind::Name(text) | TokenKind::Number(text) | TokenKind::Text(text) => text.clone(),
        TokenKind::Superscript(digits) => format!("^{digits}"),
        TokenKind::Symbol(symbol) => symbol.to_string(),
        TokenKind::Prime(count) => "'".repeat(*count as usize),
    }
}

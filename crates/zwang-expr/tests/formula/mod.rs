//! A small reader of formulas, so that tests can state identities as they are written.

use std::collections::HashMap;
use zwang_expr::{Expr, Function, Graph};

/// A graph and the symbols met so far.
#[derive(Default)]
pub struct Formulas {
    pub graph: Graph,
    symbols: HashMap<String, Expr>,
}

impl Formulas {
    /// The expression of a text such as `m*l^2*cos(a - b)/2`; names without an argument are symbols, those that start
    /// like masses, lengths and the like are constant in time.
    pub fn read(&mut self, text: &str) -> Expr {
        let tokens: Vec<char> = text.chars().filter(|c| !c.is_whitespace()).collect();
        let mut reader = Reader { formulas: self, tokens, at: 0 };
        let e = reader.sum();
        assert_eq!(reader.at, reader.tokens.len(), "{text}");
        e
    }

    fn symbol(&mut self, name: &str) -> Expr {
        if let Some(&e) = self.symbols.get(name) {
            return e;
        }
        let e = self.graph.symbol(name, name);
        if name.starts_with(['m', 'l', 'g', 'k', 'r', 'J']) {
            self.graph.set_rate(e, Expr::ZERO);
        }
        self.symbols.insert(name.to_string(), e);
        e
    }
}

struct Reader<'a> {
    formulas: &'a mut Formulas,
    tokens: Vec<char>,
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> char {
        self.tokens.get(self.at).copied().unwrap_or(' ')
    }

    fn takes(&mut self, c: char) -> bool {
        let is = self.peek() == c;
        self.at += is as usize;
        is
    }

    fn sum(&mut self) -> Expr {
        let mut sum = if self.takes('-') {
            let first = self.product();
            self.formulas.graph.neg(first)
        } else {
            self.product()
        };
        loop {
            if self.takes('+') {
                let next = self.product();
                sum = self.formulas.graph.add(sum, next);
            } else if self.takes('-') {
                let next = self.product();
                sum = self.formulas.graph.sub(sum, next);
            } else {
                return sum;
            }
        }
    }

    fn product(&mut self) -> Expr {
        let mut product = self.power();
        loop {
            if self.takes('*') {
                let next = self.power();
                product = self.formulas.graph.mul(product, next);
            } else if self.takes('/') {
                let next = self.power();
                product = self.formulas.graph.div(product, next);
            } else {
                return product;
            }
        }
    }

    fn power(&mut self) -> Expr {
        let base = self.factor();
        if !self.takes('^') {
            return base;
        }
        let exponent = self.factor();
        self.formulas.graph.pow(base, exponent)
    }

    fn word(&mut self, is_part: impl Fn(char) -> bool) -> String {
        let start = self.at;
        while is_part(self.peek()) {
            self.at += 1;
        }
        self.tokens[start..self.at].iter().collect()
    }

    fn factor(&mut self) -> Expr {
        if self.takes('(') {
            let e = self.sum();
            assert!(self.takes(')'));
            return e;
        }
        if self.peek().is_ascii_digit() {
            let number = self.word(|c| c.is_ascii_digit() || c == '.');
            return self.formulas.graph.decimal(&number).expect("a number");
        }
        let name = self.word(|c| c.is_alphanumeric() || c == '_' || c == '\'');
        assert!(!name.is_empty(), "unexpected {}", self.peek());
        match Function::from_name(&name).filter(|_| self.peek() == '(') {
            Some(f) => {
                let argument = self.factor();
                self.formulas.graph.apply(f, argument)
            }
            None if name == "pi" => self.formulas.graph.pi(),
            None => self.formulas.symbol(&name),
        }
    }
}

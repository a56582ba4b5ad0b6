//! Operands of instructions.
//!
//! PTX ISA, "Instruction Operands".

use super::ast::{Base, Operand};
use super::lexer::TokenKind;
use super::parser::{Parsed, Parser, parse_integer};

impl<'a> Parser<'a> {
    /// One operand.
    pub(super) fn operand(&mut self) -> Parsed<Operand<'a>> {
        match self.peek() {
            TokenKind::Mark('[') => self.address(),
            TokenKind::Mark('{') => Ok(Operand::Vector(self.list('{', '}')?)),
            TokenKind::Mark('(') => Ok(Operand::Group(self.list('(', ')')?)),
            TokenKind::Mark('!') => {
                self.next();
                Ok(Operand::Not(self.word("a predicate")?))
            }
            _ => self.simple_or_pair(),
        }
    }

    fn simple_or_pair(&mut self) -> Parsed<Operand<'a>> {
        let first = self.simple()?;
        if !self.eat('|') {
            return Ok(first);
        }
        let second = self.simple()?;
        Ok(Operand::Pair(Box::new(first), Box::new(second)))
    }

    fn simple(&mut self) -> Parsed<Operand<'a>> {
        match self.peek() {
            TokenKind::Word("_") => {
                self.next();
                Ok(Operand::Sink)
            }
            TokenKind::Word(_) => {
                let name = self.dotted_name()?;
                Ok(Operand::Name(name, self.offset()?))
            }
            TokenKind::Mark('-') => {
                self.next();
                self.number(true)
            }
            _ => self.number(false),
        }
    }

    /// A name, with the member that special registers have: `%tid.x`.
    fn dotted_name(&mut self) -> Parsed<&'a str> {
        let name = self.word("an operand")?;
        match self.peek() {
            TokenKind::Dot(member) if self.touches() => {
                self.next();
                Ok(self.joined(name, member))
            }
            _ => Ok(name),
        }
    }

    fn number(&mut self, negative: bool) -> Parsed<Operand<'a>> {
        let TokenKind::Number(text) = self.peek() else {
            return self.unexpected("an operand");
        };
        match parse_number(text) {
            Some(operand) => {
                self.next();
                let folded = self.fold_sum(operand)?;
                Ok(if negative { negate(folded) } else { folded })
            }
            None => self.unexpected("a number"),
        }
    }

    /// `16+4`, which LLVM prints for absolute addresses.
    fn fold_sum(&mut self, operand: Operand<'a>) -> Parsed<Operand<'a>> {
        Ok(match operand {
            Operand::Integer(value) => Operand::Integer(value.wrapping_add(self.offset()? as u64)),
            other => other,
        })
    }

    /// Any number of `+4` and `-4`.
    pub(super) fn offset(&mut self) -> Parsed<i64> {
        let mut sum = 0i64;
        loop {
            // A minus is the integer's own.
            if !self.eat('+') && self.peek() != TokenKind::Mark('-') {
                return Ok(sum);
            }
            sum = sum.wrapping_add(self.integer()? as i64);
        }
    }

    fn address(&mut self) -> Parsed<Operand<'a>> {
        self.expect('[')?;
        let base = match self.peek() {
            TokenKind::Word(_) => Base::Name(self.dotted_name()?),
            _ => Base::Absolute(self.integer()?),
        };
        let offset = self.offset()?;
        if self.eat(']') {
            return Ok(Operand::Address { base, offset });
        }
        if offset == 0 && self.eat(',') && self.peek() == TokenKind::Mark('{') {
            let coordinates = self.list('{', '}')?;
            if self.eat(']') {
                return Ok(Operand::Place { base, coordinates });
            }
        }
        let mut depth = 1;
        while depth > 0 {
            match self.next() {
                TokenKind::Mark('[') => depth += 1,
                TokenKind::Mark(']') => depth -= 1,
                TokenKind::Mark(';') | TokenKind::End => return self.unexpected("`]`"),
                _ => {}
            }
        }
        Ok(Operand::Unknown)
    }

    fn list(&mut self, open: char, close: char) -> Parsed<Vec<Operand<'a>>> {
        self.expect(open)?;
        let mut operands = Vec::new();
        while !self.eat(close) {
            operands.push(self.operand()?);
            if !self.eat(',') && self.peek() != TokenKind::Mark(close) {
                return self.unexpected(&format!("`,` or `{close}`"));
            }
        }
        Ok(operands)
    }
}

fn negate(operand: Operand<'_>) -> Operand<'_> {
    match operand {
        Operand::Integer(value) => Operand::Integer(value.wrapping_neg()),
        Operand::Single(bits) => Operand::Single(bits ^ 1 << 31),
        Operand::Double(bits) => Operand::Double(bits ^ 1 << 63),
        other => other,
    }
}

/// A literal: an integer, a float by its bits, or a decimal.
pub(super) fn parse_number<'a>(text: &str) -> Option<Operand<'a>> {
    match text.get(..2).unwrap_or("") {
        "0f" | "0F" => u32::from_str_radix(&text[2..], 16).ok().map(Operand::Single),
        "0d" | "0D" => u64::from_str_radix(&text[2..], 16).ok().map(Operand::Double),
        _ => parse_integer(text).map(Operand::Integer).or_else(|| {
            let value: f64 = text.parse().ok()?;
            Some(Operand::Double(value.to_bits()))
        }),
    }
}

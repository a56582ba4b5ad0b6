//! Operands of instructions.
//!
//! PTX ISA, "Instruction Operands".

use super::ast::{Base, Operand};
use super::lexer::TokenKind;
use super::parser::{Parsed, Parser};

impl<'a> Parser<'a> {
    /// One operand.
    pub(super) fn operand(&mut self) -> Parsed<Operand<'a>> {
        match self.peek() {
            TokenKind::Mark('[') => self.address(),
            TokenKind::Mark('{') => Ok(Operand::Vector(self.list('{', '}')?)),
            _ => self.simple_or_pair(),
        }
    }

    /// An operand of `call`, which may be a list in parentheses.
    pub(super) fn operand_of_call(&mut self) -> Parsed<Operand<'a>> {
        match self.peek() {
            TokenKind::Mark('(') => Ok(Operand::Group(self.list('(', ')')?)),
            _ => self.operand(),
        }
    }

    fn simple_or_pair(&mut self) -> Parsed<Operand<'a>> {
        let first = self.simple()?;
        if !matches!(first, Operand::Name(..) | Operand::Sink) || !self.eat('|') {
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
            TokenKind::Word(name) if name != "WARP_SZ" => {
                let name = self.dotted_name()?;
                Ok(Operand::Name(name, self.offset()?))
            }
            TokenKind::Mark('!') if matches!(self.peek_at(1).kind, TokenKind::Word(_)) => {
                self.next();
                Ok(Operand::Not(self.word("a predicate")?))
            }
            _ => Ok(self.constant()?.operand()),
        }
    }

    /// A name, with the member that special registers and vectors have: `%tid.x`.
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

    /// What is added to a name: `+4`, `+-4`, `+2*4`.
    pub(super) fn offset(&mut self) -> Parsed<i64> {
        if !self.eat('+') {
            return Ok(0);
        }
        Ok(self.constant_integer()? as i64)
    }

    fn address(&mut self) -> Parsed<Operand<'a>> {
        self.expect('[')?;
        let base = match self.peek() {
            TokenKind::Word(_) => Base::Name(self.dotted_name()?),
            _ => Base::Absolute(self.constant_integer()?),
        };
        let offset = self.offset()?;
        if self.eat(']') {
            return Ok(Operand::Address { base, offset });
        }
        if offset != 0 || !self.eat(',') {
            return self.unexpected("`]`");
        }
        if self.peek() == TokenKind::Mark('{') {
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
            operands.push(self.simple()?);
            if !self.eat(',') && self.peek() != TokenKind::Mark(close) {
                return self.unexpected(&format!("`,` or `{close}`"));
            }
        }
        Ok(operands)
    }
}

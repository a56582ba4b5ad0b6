//! Bodies of functions.
//!
//! PTX ISA, "Statements".

use super::ast::{Guard, Instruction, Registers, Statement};
use super::lexer::TokenKind;
use super::parser::{Parsed, Parser};
use super::types::Type;

impl<'a> Parser<'a> {
    /// `{ ... }`. Errors inside are recorded and the next statement is tried.
    pub(super) fn body(&mut self) -> Parsed<Vec<Statement<'a>>> {
        self.deeper(Self::block)
    }

    fn block(&mut self) -> Parsed<Vec<Statement<'a>>> {
        self.expect('{')?;
        let mut statements = Vec::new();
        while !self.eat('}') {
            if self.peek() == TokenKind::End {
                return self.unexpected("`}`");
            }
            if self.statement(&mut statements).is_err() {
                self.recover();
            }
        }
        Ok(statements)
    }

    fn statement(&mut self, out: &mut Vec<Statement<'a>>) -> Parsed<()> {
        match self.peek() {
            TokenKind::Mark('{') => {
                let inner = self.body()?;
                out.push(Statement::Block(inner));
            }
            TokenKind::Mark('@') => {
                let instruction = self.instruction()?;
                out.push(Statement::Instruction(instruction));
            }
            TokenKind::Word(label) if self.peek_at(1).kind == TokenKind::Mark(':') => {
                let line = self.line();
                self.next();
                self.next();
                let labelled = self.labelled(line, label)?;
                out.push(labelled);
            }
            TokenKind::Word(_) => {
                let instruction = self.instruction()?;
                out.push(Statement::Instruction(instruction));
            }
            TokenKind::Dot(word) => self.directive(word, out)?,
            _ => return self.unexpected("a statement"),
        }
        Ok(())
    }

    fn labelled(&mut self, line: u32, label: &'a str) -> Parsed<Statement<'a>> {
        match self.peek() {
            TokenKind::Dot("branchtargets") => {
                self.next();
                let mut targets = vec![self.word("a label")?];
                while self.eat(',') {
                    targets.push(self.word("a label")?);
                }
                self.expect(';')?;
                Ok(Statement::BranchTargets { label, targets })
            }
            TokenKind::Dot("callprototype") => {
                self.next();
                self.parameters()?;
                self.word("`_`")?;
                self.parameters()?;
                self.recover();
                Ok(Statement::CallPrototype { label })
            }
            TokenKind::Dot("calltargets") => {
                self.recover();
                Ok(Statement::CallTargets)
            }
            _ => Ok(Statement::Label { line, name: label }),
        }
    }

    fn directive(&mut self, word: &'a str, out: &mut Vec<Statement<'a>>) -> Parsed<()> {
        match word {
            "loc" => {
                let (file, line) = self.location()?;
                out.push(Statement::Location { file, line });
            }
            "reg" => self.registers(out)?,
            "pragma" => self.pragma()?,
            "visible" | "extern" | "weak" | "common" => {
                return self
                    .unexpected("a statement (linkage directives are outside of functions)");
            }
            _ => {
                let variables = self.variables(false)?;
                out.extend(variables.into_iter().map(Statement::Variable));
            }
        }
        Ok(())
    }

    fn registers(&mut self, out: &mut Vec<Statement<'a>>) -> Parsed<()> {
        self.next();
        let (mut ty, mut lanes) = (None, 1);
        while let Some(word) = self.dot() {
            match (word, Type::named(word)) {
                ("v2", _) => lanes = 2,
                ("v4", _) => lanes = 4,
                (_, Some(found)) if ty.is_none() && found.is_of_registers() => ty = Some(found),
                _ => {
                    return self
                        .error(self.line(), format!("`.{word}` is not a type of registers"));
                }
            }
        }
        let Some(ty) = ty else { return self.unexpected("a type") };
        if lanes > 1 && (ty == Type::Pred || ty.bits() * lanes > 128) {
            return self
                .error(self.line(), "a vector cannot be of predicates or have more than 128 bits");
        }
        loop {
            let line = self.line();
            let name = self.word("a register")?;
            let mut count = None;
            if self.eat('<') {
                count = Some(self.integer_32()?);
                self.expect('>')?;
            }
            out.push(Statement::Registers(Registers { line, name, ty, lanes, count }));
            if !self.eat(',') {
                return self.expect(';');
            }
        }
    }

    fn instruction(&mut self) -> Parsed<Instruction<'a>> {
        let line = self.line();
        let mut guard = None;
        if self.eat('@') {
            let negated = self.eat('!');
            guard = Some(Guard { negated, name: self.word("a predicate")? });
        }
        let opcode = self.word("an instruction")?;
        let mut modifiers = Vec::new();
        while let Some(modifier) = self.dot() {
            modifiers.push(modifier);
        }
        let mut operands = Vec::new();
        while !self.eat(';') {
            operands.push(if opcode == "call" { self.operand_of_call()? } else { self.operand()? });
            if self.eat(',') {
                if self.peek() == TokenKind::Mark(';') {
                    return self.unexpected("an operand");
                }
            } else if self.peek() != TokenKind::Mark(';') {
                return self.unexpected("`,` or `;`");
            }
        }
        Ok(Instruction { line, guard, opcode, modifiers, operands })
    }
}

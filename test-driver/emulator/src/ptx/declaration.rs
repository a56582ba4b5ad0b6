//! Variables, parameters and functions.
//!
//! PTX ISA, "State Spaces, Types, and Variables" and "Directives".

use super::ast::{Ast, Function, Initial, Operand, StateSpace, Variable};
use super::lexer::TokenKind;
use super::operand::parse_number;
use super::parser::{Parsed, Parser};
use super::types::Type;

/// What stands between the start of a declaration and its name.
struct Header {
    line: u32,
    home: Option<StateSpace>,
    ty: Option<Type>,
    lanes: u32,
    align: u32,
    external: bool,
}

fn home(word: &str) -> Option<StateSpace> {
    Some(match word {
        "global" => StateSpace::Global,
        "const" => StateSpace::Const,
        "shared" | "shared::cta" => StateSpace::Shared,
        "local" => StateSpace::Local,
        "param" => StateSpace::Param,
        "reg" => StateSpace::Register,
        _ => return None,
    })
}

impl<'a> Parser<'a> {
    /// A variable or function at the top level.
    pub(super) fn definition(&mut self, tree: &mut Ast<'a>) -> Parsed<()> {
        let line = self.line();
        let mut external = false;
        while let TokenKind::Dot(word @ ("visible" | "extern" | "weak" | "common")) = self.peek() {
            external |= word == "extern";
            self.next();
        }
        match self.peek() {
            TokenKind::Dot(word @ ("entry" | "func")) => {
                self.next();
                let function = self.function(line, word == "entry")?;
                tree.functions.push(function);
                Ok(())
            }
            TokenKind::Dot(word) if home(word).is_some() => {
                tree.variables.extend(self.variables(external)?);
                Ok(())
            }
            _ => {
                let result = self.unexpected("a variable or function");
                self.next();
                result
            }
        }
    }

    /// `.shared .align 4 .b8 a[16], b[4];` with initialisers.
    pub(super) fn variables(&mut self, external: bool) -> Parsed<Vec<Variable<'a>>> {
        let header = self.header(external)?;
        let mut variables = Vec::new();
        loop {
            let mut variable = self.declarator(&header)?;
            if self.eat('=') {
                self.initial(&mut variable)?;
            }
            variables.push(variable);
            if !self.eat(',') {
                self.expect(';')?;
                return Ok(variables);
            }
        }
    }

    fn header(&mut self, external: bool) -> Parsed<Header> {
        let line = self.line();
        let mut header = Header { line, home: None, ty: None, lanes: 1, align: 0, external };
        while let Some(word) = self.dot() {
            match word {
                "align" => header.align = self.integer()? as u32,
                // The alignment after `.ptr` is that of what it points to.
                "ptr" => self.pointee()?,
                "attribute" => self.attribute()?,
                "v2" => header.lanes = 2,
                "v4" => header.lanes = 4,
                "v8" => header.lanes = 8,
                _ => match (home(word), Type::named(word)) {
                    (Some(home), _) => header.home = header.home.or(Some(home)),
                    (None, Some(ty)) => header.ty = Some(ty),
                    _ => return self.error(line, format!("`.{word}` is not a space or type")),
                },
            }
        }
        Ok(header)
    }

    fn pointee(&mut self) -> Parsed<()> {
        loop {
            match self.peek() {
                TokenKind::Dot("align") => {
                    self.next();
                    self.integer()?;
                }
                TokenKind::Dot(word) if home(word).is_some() => {
                    self.next();
                }
                _ => return Ok(()),
            }
        }
    }

    fn attribute(&mut self) -> Parsed<()> {
        self.expect('(')?;
        while !self.eat(')') {
            if self.next() == TokenKind::End {
                return self.unexpected("`)`");
            }
        }
        Ok(())
    }

    fn declarator(&mut self, header: &Header) -> Parsed<Variable<'a>> {
        let Some(ty) = header.ty else { return self.unexpected("a type") };
        let name = self.word("a name")?;
        let element = u64::from(ty.bytes() * header.lanes);
        let mut bytes = Some(element);
        while self.eat('[') {
            if self.eat(']') {
                bytes = None;
                continue;
            }
            let length = self.integer()?;
            self.expect(']')?;
            bytes = bytes.map(|bytes| bytes.saturating_mul(length));
        }
        Ok(Variable {
            line: header.line,
            home: header.home.unwrap_or(StateSpace::Param),
            name,
            ty,
            bytes,
            align: header.align.max(element as u32).max(1),
            external: header.external,
            initial: Vec::new(),
        })
    }

    fn initial(&mut self, variable: &mut Variable<'a>) -> Parsed<()> {
        self.initial_value(&mut variable.initial, variable.ty)?;
        if variable.bytes.is_none() {
            let element = u64::from(variable.ty.bytes());
            variable.bytes = Some(element * variable.initial.len() as u64);
        }
        Ok(())
    }

    fn initial_value(&mut self, values: &mut Vec<Initial<'a>>, ty: Type) -> Parsed<()> {
        if self.eat('{') {
            while !self.eat('}') {
                self.initial_value(values, ty)?;
                if !self.eat(',') && self.peek() != TokenKind::Mark('}') {
                    return self.unexpected("`,` or `}`");
                }
            }
            return Ok(());
        }
        let value = match self.peek() {
            TokenKind::Word(_) => self.initial_address(u64::MAX)?,
            _ => self.initial_number(ty)?,
        };
        values.push(value);
        Ok(())
    }

    /// A number, or `0xFF00(generic(name)+4)`: a mask that selects bytes of an address.
    fn initial_number(&mut self, ty: Type) -> Parsed<Initial<'a>> {
        let negative = self.eat('-');
        let TokenKind::Number(text) = self.peek() else { return self.unexpected("a value") };
        let Some(number) = parse_number(text) else { return self.unexpected("a number") };
        self.next();
        let bits = match number {
            Operand::Integer(mask) if self.peek() == TokenKind::Mark('(') => {
                self.next();
                let value = self.initial_address(mask)?;
                self.expect(')')?;
                return Ok(value);
            }
            Operand::Integer(value) if negative => value.wrapping_neg(),
            Operand::Integer(value) => value,
            Operand::Single(bits) => u64::from(bits ^ u32::from(negative) << 31),
            Operand::Double(bits) => {
                let bits = bits ^ u64::from(negative) << 63;
                let narrow = ty == Type::F32 && text.get(..2) != Some("0d");
                if narrow { u64::from((f64::from_bits(bits) as f32).to_bits()) } else { bits }
            }
            _ => return self.unexpected("a number"),
        };
        Ok(Initial::Bits(bits))
    }

    fn initial_address(&mut self, mask: u64) -> Parsed<Initial<'a>> {
        let mut name = self.word("a name")?;
        if name == "generic" && self.eat('(') {
            name = self.word("a name")?;
            self.expect(')')?;
        }
        let offset = self.offset()?;
        Ok(Initial::Address { name, offset, mask })
    }

    fn function(&mut self, line: u32, entry: bool) -> Parsed<Function<'a>> {
        while self.peek() == TokenKind::Dot("attribute") {
            self.next();
            self.attribute()?;
        }
        let returns = self.parameters()?;
        let name = self.word("a function's name")?;
        let parameters = self.parameters()?;
        let [max_block, required_block] = self.bounds()?;
        let body = if self.eat(';') { None } else { Some(self.body()?) };
        Ok(Function { line, entry, name, returns, parameters, max_block, required_block, body })
    }

    /// A list of parameters in parentheses, or nothing.
    pub(super) fn parameters(&mut self) -> Parsed<Vec<Variable<'a>>> {
        let mut parameters = Vec::new();
        if !self.eat('(') {
            return Ok(parameters);
        }
        while !self.eat(')') {
            let header = self.header(false)?;
            parameters.push(self.declarator(&header)?);
            if !self.eat(',') && self.peek() != TokenKind::Mark(')') {
                return self.unexpected("`,` or `)`");
            }
        }
        Ok(parameters)
    }

    /// The directives between a function's parameters and its body: what `.maxntid` and what
    /// `.reqntid` say.
    fn bounds(&mut self) -> Parsed<[Option<[u32; 3]>; 2]> {
        let mut bounds = [None; 2];
        while let Some(word) = self.dot() {
            match word {
                "pragma" => self.recover(),
                "attribute" => self.attribute()?,
                _ => {
                    let values = self.integers()?;
                    let value = |index: usize| values.get(index).map_or(1, |&n| n as u32);
                    if let Some(which) = ["maxntid", "reqntid"].iter().position(|&is| is == word) {
                        bounds[which] = Some([value(0), value(1), value(2)]);
                    }
                }
            }
        }
        Ok(bounds)
    }

    fn integers(&mut self) -> Parsed<Vec<u64>> {
        let mut values = Vec::new();
        while let TokenKind::Number(_) = self.peek() {
            values.push(self.integer()?);
            self.eat(',');
        }
        Ok(values)
    }
}

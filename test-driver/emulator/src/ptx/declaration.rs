//! Variables, parameters and functions.
//!
//! PTX ISA, "State Spaces, Types, and Variables" and "Directives".

use super::ast::{Ast, Function, Initial, StateSpace, Variable};
use super::lexer::TokenKind;
use super::literal::{Constant, parse_integer};
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

/// The values of an initialiser so far.
struct Values<'a> {
    ty: Type,
    /// The element that the next value is of.
    place: u64,
    /// The array's lengths.
    rows: Vec<u64>,
    list: Vec<(u64, Initial<'a>)>,
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
            self.check_variable(&variable)?;
            variables.push(variable);
            if !self.eat(',') {
                self.expect(';')?;
                return Ok(variables);
            }
        }
    }

    fn check_variable(&mut self, variable: &Variable<'a>) -> Parsed<()> {
        let (line, name) = (variable.line, variable.name);
        let in_memory = matches!(variable.home, StateSpace::Global | StateSpace::Const);
        if !variable.initial.is_empty() && !in_memory {
            return self
                .error(line, format!("`{name}` has an initial value, and is not in memory"));
        }
        if !variable.external && variable.bytes.unwrap_or(0) == 0 {
            return self.error(line, format!("`{name}` has no length"));
        }
        Ok(())
    }

    fn header(&mut self, external: bool) -> Parsed<Header> {
        let line = self.line();
        let mut header = Header { line, home: None, ty: None, lanes: 1, align: 0, external };
        while let Some(word) = self.dot() {
            match word {
                "align" => header.align = self.alignment()?,
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

    /// A power of two.
    fn alignment(&mut self) -> Parsed<u32> {
        let line = self.line();
        match u32::try_from(self.integer()?) {
            Ok(align) if align.is_power_of_two() => Ok(align),
            _ => self.error(line, "an alignment that is no power of two of 32 bits"),
        }
    }

    fn pointee(&mut self) -> Parsed<()> {
        loop {
            match self.peek() {
                TokenKind::Dot("align") => {
                    self.next();
                    self.alignment()?;
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
        let element = ty.bytes() * header.lanes;
        let rows = self.dimensions()?;
        let elements =
            rows.as_ref().map(|rows| rows.iter().fold(1, |a: u64, &b| a.saturating_mul(b)));
        Ok(Variable {
            line: header.line,
            home: header.home.unwrap_or(StateSpace::Param),
            name,
            ty,
            bytes: elements.map(|elements| elements.saturating_mul(u64::from(element))),
            align: header.align.max(element).max(1),
            external: header.external,
            rows: rows.unwrap_or_default(),
            initial: Vec::new(),
        })
    }

    /// `[2][3]`; `None` where a length is left out.
    fn dimensions(&mut self) -> Parsed<Option<Vec<u64>>> {
        let mut rows = Some(Vec::new());
        while self.eat('[') {
            if self.eat(']') {
                rows = None;
                continue;
            }
            let length = self.integer()?;
            self.expect(']')?;
            if let Some(rows) = &mut rows {
                rows.push(length);
            }
        }
        Ok(rows)
    }

    fn initial(&mut self, variable: &mut Variable<'a>) -> Parsed<()> {
        let rows = std::mem::take(&mut variable.rows);
        let mut values = Values { ty: variable.ty, place: 0, rows, list: Vec::new() };
        self.initial_value(&mut values, 0)?;
        variable.initial = values.list;
        if variable.bytes.is_none() {
            let element = u64::from(variable.ty.bytes());
            variable.bytes = Some(element.saturating_mul(values.place));
        }
        Ok(())
    }

    /// A value, or a list of values that fills a row of the array: what it leaves out is zero.
    fn initial_value(&mut self, values: &mut Values<'a>, depth: usize) -> Parsed<()> {
        if self.eat('{') {
            let start = values.place;
            while !self.eat('}') {
                self.deeper(|parser| parser.initial_value(values, depth + 1))?;
                if !self.eat(',') && self.peek() != TokenKind::Mark('}') {
                    return self.unexpected("`,` or `}`");
                }
            }
            if depth > 0 && depth < values.rows.len() {
                let row = values.rows[depth..].iter().fold(1, |a: u64, &b| a.saturating_mul(b));
                values.place = values.place.max(start.saturating_add(row));
            }
            return Ok(());
        }
        let value = match self.peek() {
            TokenKind::Word(name) if name != "WARP_SZ" => self.initial_address(u64::MAX)?,
            _ => self.initial_number(values.ty)?,
        };
        values.list.push((values.place, value));
        values.place = values.place.saturating_add(1);
        Ok(())
    }

    /// A constant expression, or `0xFF00(generic(name)+4)`: a mask that selects bytes of an address.
    fn initial_number(&mut self, ty: Type) -> Parsed<Initial<'a>> {
        if let (TokenKind::Number(text), TokenKind::Mark('(')) = (self.peek(), self.peek_at(1).kind)
        {
            let Some(mask) = parse_integer(text) else { return self.unexpected("a mask") };
            self.next();
            self.next();
            let value = self.initial_address(mask)?;
            self.expect(')')?;
            return Ok(value);
        }
        let bits = match self.constant()? {
            Constant::Double(value) if ty == Type::F32 => u64::from((value as f32).to_bits()),
            Constant::Double(value) => value.to_bits(),
            Constant::Single(bits) => u64::from(bits),
            Constant::Bits(bits) => bits,
            Constant::Signed(value) => value as u64,
            Constant::Unsigned(value) => value,
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
                    let value = |index: usize| values.get(index).map_or(1, |&n| n);
                    if values.contains(&0) && matches!(word, "maxntid" | "reqntid") {
                        return self.error(self.line(), format!("`.{word}` of zero threads"));
                    }
                    if let Some(which) = ["maxntid", "reqntid"].iter().position(|&is| is == word) {
                        bounds[which] = Some([value(0), value(1), value(2)]);
                    }
                }
            }
        }
        Ok(bounds)
    }

    fn integers(&mut self) -> Parsed<Vec<u32>> {
        let mut values = Vec::new();
        while let TokenKind::Number(_) = self.peek() {
            values.push(self.integer_32()?);
            self.eat(',');
        }
        Ok(values)
    }
}

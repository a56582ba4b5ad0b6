//! Variables, parameters and functions.
//!
//! PTX ISA, "State Spaces, Types, and Variables" and "Directives".

use super::ast::{Ast, Function, Initial, StateSpace, Variable};
use super::bounds::Bounds;
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
        let mut linkage = None;
        if let TokenKind::Dot(word @ ("visible" | "extern" | "weak" | "common")) = self.peek() {
            linkage = Some(word);
            self.next();
        }
        let external = linkage == Some("extern");
        match self.peek() {
            TokenKind::Dot(word @ ("entry" | "func")) if linkage != Some("common") => {
                self.next();
                let mut function = self.function(line, word == "entry")?;
                function.linkage = linkage;
                if external && function.body.is_some() {
                    let message =
                        format!("`{}` is `.extern` and cannot have a body", function.name);
                    return self.error(line, message);
                }
                tree.functions.push(function);
                Ok(())
            }
            TokenKind::Dot(word) if home(word).is_some() => {
                let variables = self.variables(external)?;
                for variable in &variables {
                    self.check_module_variable(variable, linkage)?;
                    if external {
                        self.externals.insert(variable.name);
                    } else if linkage.is_none() && self.externals.contains(variable.name) {
                        let message = format!(
                            "`{}` was declared `.extern` before, and is defined here without `.visible`",
                            variable.name
                        );
                        return self.error(variable.line, message);
                    }
                }
                tree.variables.extend(variables);
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
        if matches!(name, "_" | "WARP_SZ") {
            return self
                .error(line, format!("`{name}` is reserved and cannot be the name of a variable"));
        }
        if !variable.initial.is_empty() && !in_memory {
            return self.error(
                line,
                format!(
                    "`{name}` has an initial value, which variables in `.global` and `.const` only can have"
                ),
            );
        }
        if variable.ty == Type::Pred {
            return self.error(
                line,
                format!("`{name}` has the type `.pred`, which registers only can have"),
            );
        }
        if matches!(variable.ty, Type::Bf16 | Type::Bf16x2 | Type::Tf32) {
            let message = format!(
                "`{name}` has the type `.{}`, which variables cannot have",
                variable.ty.name()
            );
            return self.error(line, message);
        }
        if variable.external && !variable.initial.is_empty() {
            return self
                .error(line, format!("`{name}` is `.extern` and cannot have an initial value"));
        }
        if !variable.external && variable.bytes.unwrap_or(0) == 0 {
            return self.error(line, format!("`{name}` has no length"));
        }
        Ok(())
    }

    /// What is declared for the whole module.
    fn check_module_variable(
        &mut self,
        variable: &Variable<'a>,
        linkage: Option<&str>,
    ) -> Parsed<()> {
        let (line, name) = (variable.line, variable.name);
        if matches!(variable.home, StateSpace::Local | StateSpace::Param | StateSpace::Register) {
            return self.error(
                line,
                format!(
                    "`{name}` is in a state space of functions, but declared outside of a function"
                ),
            );
        }
        if linkage == Some("common") && variable.home != StateSpace::Global {
            return self.error(line, format!("`{name}` is `.common`, so it must be in `.global`"));
        }
        Ok(())
    }

    /// The parameters and results of a function.
    fn check_function(
        &mut self,
        line: u32,
        entry: bool,
        returns: &[Variable<'a>],
        parameters: &[Variable<'a>],
    ) -> Parsed<()> {
        if entry && !returns.is_empty() {
            return self.error(line, "a kernel cannot have a result");
        }
        let in_memory = |variable: &&Variable<'_>| variable.home == StateSpace::Param;
        if returns.len() > 1 && returns.iter().any(|result| in_memory(&result)) {
            return self.error(line, "several results must be registers");
        }
        for variable in parameters.iter().chain(returns) {
            let name = variable.name;
            let wrong = match variable.home {
                StateSpace::Register => None,
                StateSpace::Param if variable.ty == Type::Pred => Some("is a predicate"),
                StateSpace::Param if entry && variable.bytes.unwrap_or(0) == 0 => {
                    Some("has no length")
                }
                StateSpace::Param => None,
                _ => Some("is neither `.param` nor `.reg`"),
            };
            if let Some(wrong) = wrong {
                return self.error(variable.line, format!("parameter `{name}` {wrong}"));
            }
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
                "attribute" if header.ty.is_some() => {
                    return self.error(line, "`.attribute` must be before the type");
                }
                "attribute" => {
                    let is_managed = self.attribute()? == "managed";
                    if is_managed && header.home != Some(StateSpace::Global) {
                        return self.error(line, "`.managed` is for variables in `.global`");
                    }
                }
                "v2" => header.lanes = 2,
                "v4" => header.lanes = 4,
                _ => match (home(word), Type::named(word)) {
                    (Some(home), _) => header.home = header.home.or(Some(home)),
                    (None, Some(ty)) if header.ty.is_none() => header.ty = Some(ty),
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
            _ => self.error(line, "an alignment must be a power of two below 2^32"),
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

    /// Gives the name of an attribute, or of the first of several.
    pub(super) fn attribute(&mut self) -> Parsed<&'a str> {
        self.expect('(')?;
        let name = match self.peek() {
            TokenKind::Dot(name @ ("managed" | "unified")) => name,
            _ => return self.unexpected("`.managed` or `.unified`"),
        };
        while !self.eat(')') {
            if self.next() == TokenKind::End {
                return self.unexpected("`)`");
            }
        }
        Ok(name)
    }

    fn declarator(&mut self, header: &Header) -> Parsed<Variable<'a>> {
        let Some(ty) = header.ty else { return self.unexpected("a type") };
        let Some(home) = header.home else {
            return self.unexpected("a state space such as `.param`");
        };
        if header.lanes > 1 && ty.bits() * header.lanes > 128 {
            return self.error(header.line, "a vector cannot have more than 128 bits");
        }
        let name = self.word("a name")?;
        let element = ty.bytes() * header.lanes;
        let rows = self.dimensions()?;
        let elements =
            rows.as_ref().map(|rows| rows.iter().fold(1, |a: u64, &b| a.saturating_mul(b)));
        Ok(Variable {
            line: header.line,
            home,
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
        let is_array = !rows.is_empty() || variable.bytes.is_none();
        if is_array != (self.peek() == TokenKind::Mark('{')) {
            let wanted = if is_array { "values in braces" } else { "a value" };
            return self.unexpected(wanted);
        }
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
                if values.place > start.saturating_add(row) {
                    return self.error(self.line(), format!("a row has more than {row} values"));
                }
                values.place = values.place.max(start.saturating_add(row));
            }
            return Ok(());
        }
        let value = match self.peek() {
            TokenKind::Word(name) if name != "WARP_SZ" => self.initial_address(u64::MAX)?,
            _ => self.initial_number(values.ty)?,
        };
        if let Initial::Address { mask, .. } = value {
            let whole = mask == u64::MAX;
            if values.ty != if whole { Type::U64 } else { Type::U8 } {
                return self.error(
                    self.line(),
                    "an address needs the type `.u64`, a byte of an address the type `.u8`",
                );
            }
        }
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
        let line = self.line();
        let constant = self.constant()?;
        if ty.is_float() && constant.integer().is_some() {
            return self.error(line, "an integer is given for a floating-point number");
        }
        let is_integer = ty.name().starts_with(['s', 'u']);
        if is_integer && constant.integer().is_none() {
            return self.error(line, "a floating-point number is given for an integer");
        }
        let bits = match constant {
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
            let _ = self.attribute()?;
        }
        let returns = self.parameters()?;
        let name = self.word("a function's name")?;
        let parameters = self.parameters()?;
        self.check_function(line, entry, &returns, &parameters)?;
        let Bounds { max_block, required_block } = self.bounds(entry)?;
        let body = if self.eat(';') { None } else { Some(self.body()?) };
        let linkage = None;
        Ok(Function {
            line,
            entry,
            linkage,
            name,
            returns,
            parameters,
            max_block,
            required_block,
            body,
        })
    }

    /// A list of parameters in parentheses, or nothing.
    pub(super) fn parameters(&mut self) -> Parsed<Vec<Variable<'a>>> {
        let mut parameters = Vec::new();
        if !self.eat('(') {
            return Ok(parameters);
        }
        while !self.eat(')') {
            let header = self.header(false)?;
            if header.lanes > 1 && header.home == Some(StateSpace::Param) {
                return self.error(header.line, "a parameter cannot be a vector");
            }
            parameters.push(self.declarator(&header)?);
            if self.eat(',') {
                if self.peek() == TokenKind::Mark(')') {
                    return self.unexpected("a parameter");
                }
            } else if self.peek() != TokenKind::Mark(')') {
                return self.unexpected("`,` or `)`");
            }
        }
        Ok(parameters)
    }
}

//! The variables and constants of a function in Rust that does what one of the host does: written as they are used.

use super::{
    Port,
    declared::Declared,
    expression::{self, Expression, Names},
    host::{Host, argument_of, assignments},
    names::{identifier, is_word, rust_type},
    text::{split, words},
};
use std::collections::BTreeSet;

/// The names of a function.
pub(super) struct Scope<'p> {
    pub(super) port: &'p Port<'p>,
    pub(super) host: Option<&'p Host>,
    /// What the parameters of the host template are, by name.
    pub(super) types: &'p [(String, String)],
    /// The names that are taken in Rust.
    pub(super) taken: BTreeSet<String>,
    /// Variables that are declared: their names in C++ and in Rust, and their types.
    bound: Vec<(String, String, &'static str)>,
    /// Their declarations.
    lets: Vec<String>,
    /// Variables whose values are looked for.
    open: Vec<String>,
}

impl<'p> Scope<'p> {
    pub(super) fn new(
        port: &'p Port<'p>,
        host: Option<&'p Host>,
        types: &'p [(String, String)],
    ) -> Self {
        let taken = ["device", "kernels", "stream", "launch"].map(str::to_owned).into();
        Self { port, host, types, taken, bound: Vec::new(), lets: Vec::new(), open: Vec::new() }
    }

    /// A value of the program as one of Rust; what is declared for a part of one that is not known is taken back.
    pub(super) fn value(&mut self, text: &str, ty: &str) -> Option<String> {
        let read = Expression::read(text, &|name| self.port.macros.function(name))?;
        self.written(&read, ty)
    }

    /// The declarations of variables that a text uses, outside of texts in quotes.
    pub(super) fn declarations(&self, text: &str) -> String {
        let mut kept: Vec<&str> = Vec::new();
        let bare = |text: &str| text.split('"').step_by(2).collect::<Vec<_>>().join(" ");
        let mut used = bare(text);
        // Each may be used by those after it.
        for (line, (_, rust, _)) in self.lets.iter().zip(&self.bound).rev() {
            if used.split(|c| !is_word(c)).any(|word| word == rust) {
                used += &bare(line.split_once('=').map_or("", |(_, value)| value));
                kept.push(line);
            }
        }
        kept.iter().rev().map(|line| format!("    {line}\n")).collect()
    }

    pub(super) fn written(&mut self, read: &Expression, ty: &str) -> Option<String> {
        let (bound, lets, taken) = (self.bound.len(), self.lets.len(), self.taken.clone());
        let written = expression::rust(read, ty, self);
        if written.is_none() {
            self.bound.truncate(bound);
            self.lets.truncate(lets);
            self.taken = taken;
        }
        written
    }

    /// The sizes that a part of a launch's configuration has, of `dim3` or of a number.
    pub(super) fn dimensions(&self, text: &str) -> Vec<String> {
        if let Some(list) = text
            .strip_prefix("dim3")
            .and_then(|it| it.trim_start().strip_prefix(['(', '{'])?.strip_suffix([')', '}']))
        {
            return split(list);
        }
        match self.dim3(text) {
            Some(value) => self.dimensions(&value),
            None => vec![text.to_owned()],
        }
    }

    /// The value of a variable of the type `dim3`, as `dim3(..)`.
    fn dim3(&self, name: &str) -> Option<String> {
        let host = self.host?;
        let declared = host.variable(name).filter(|it| it.ty == "dim3")?;
        // A dimension that is set later.
        let is_set = ["x", "y", "z"].iter().any(|it| {
            let dense: String = host.code.split_whitespace().collect();
            dense
                .match_indices(&format!("{name}.{it}="))
                .any(|(at, found)| !dense[at + found.len()..].starts_with('='))
        });
        let value = host.value(declared).ok().filter(|_| !is_set)?;
        Some(if value.starts_with("dim3") { value } else { format!("dim3({value})") })
    }

    /// The type of Rust for one of C++, with what the template is instantiated for.
    fn scalar(&self, ty: &str) -> Option<&'static str> {
        let ty = self.types.iter().find(|(name, _)| name == ty).map_or(ty, |(_, it)| it);
        rust_type(ty).or_else(|| rust_type(&self.port.aliased(ty)))
    }

    /// Declares a variable of the host, once.
    fn variable(&mut self, name: &str) -> Option<(String, &'static str)> {
        if let Some((_, rust, ty)) = self.bound.iter().find(|(known, ..)| known == name) {
            return Some((rust.clone(), ty));
        }
        if self.open.iter().any(|it| it == name) {
            return None;
        }
        let (ty, value) = self.found(name)?;
        let text = match value {
            Value::Known(text) => text,
            Value::Unknown(what) => format!("fill_in({what:?})"),
            Value::Of(value, what) => {
                self.open.push(name.to_owned());
                let known = self.value(&value, ty);
                self.open.pop();
                known.unwrap_or_else(|| format!("fill_in({what:?})"))
            }
        };
        let rust = identifier(name, &mut self.taken);
        self.lets.push(format!("let {rust}: {ty} = {text};"));
        self.bound.push((name.to_owned(), rust.clone(), ty));
        Some((rust, ty))
    }

    /// The type of a variable of the host, and what is known of its value.
    fn found(&self, name: &str) -> Option<(&'static str, Value)> {
        let host = self.host;
        if let Some((host, own)) = host.and_then(|it| Some((it, it.variable(name)?))) {
            let ty = self.scalar(&own.ty).filter(|_| own.is_single)?;
            let value = match host.value(own) {
                Err(what) => Value::Unknown(what),
                Ok(value) => match argument_of(&value) {
                    Some(place) => Value::argument(place, name),
                    None => {
                        let Declared { ty, line, .. } = own;
                        let what = format!("`{name}`: `{ty} {name} = {value}` in line {line}");
                        Value::Of(value, what)
                    }
                },
            };
            return Some((ty, value));
        }
        let given = host.and_then(|host| host.parameters.iter().find(|it| it.name == name));
        if let (Some(host), Some(given)) = (host, given) {
            let ty = self.scalar(&given.ty).filter(|_| !given.is_pointer)?;
            let what = format!("`{name}`, a parameter of `{}`", host.name);
            let passed = self.passed(host, name);
            let value = match passed.filter(|_| assignments(&host.code, name).is_empty()) {
                Some((other, value)) => match self.port.number_of(&value, Some(other), 0) {
                    Some(number) if !ty.starts_with('f') && ty != "bool" => {
                        Value::Known(number.to_string())
                    }
                    _ if ty == "bool" && ["true", "false"].contains(&&*value) => {
                        Value::Known(value)
                    }
                    _ => {
                        let variable = other.variable(&value);
                        let said = variable.and_then(|it| other.value(it).ok());
                        match said.as_deref().and_then(argument_of) {
                            Some(place) => Value::argument(place, name),
                            None => Value::Unknown(format!("{what}: the program passes `{value}`")),
                        }
                    }
                },
                None => Value::Unknown(what),
            };
            return Some((ty, value));
        }
        let mut globals = self.port.sources.iter().flat_map(|it| &it.program.globals);
        let global = globals.find(|it| it.name == name && !it.is_const)?;
        let ty = self.scalar(&global.ty).filter(|_| global.is_single)?;
        let what = format!("`{name}`, a variable of the program, of line {}", global.line);
        Some((ty, Value::Unknown(what)))
    }

    /// What all calls of a function of the host pass for a parameter, with the function that does.
    fn passed(&self, host: &Host, name: &str) -> Option<(&'p Host, String)> {
        let place = host.parameters.iter().position(|it| it.name == name)?;
        let others = self.port.hosts.iter().filter(|it| it.name != host.name);
        let mut given = others.flat_map(|other| {
            let calls = other.calls(&host.name);
            calls.filter_map(move |(_, arguments)| Some((other, arguments.get(place)?.clone())))
        });
        let first = given.next()?;
        given.all(|(_, value)| value == first.1).then_some(first)
    }
}

/// What is known of a variable's value.
enum Value {
    /// As Rust has it.
    Known(String),
    /// An expression of C++, and what is said where it is not read.
    Of(String, String),
    /// What is said of it.
    Unknown(String),
}

impl Value {
    fn argument(place: usize, name: &str) -> Self {
        Self::Known(format!("argument({place}, {name:?})"))
    }
}

impl Names for Scope<'_> {
    fn name(&mut self, name: &str, ty: &str) -> Option<String> {
        if ty == "bool" && ["true", "false"].contains(&name) {
            return Some(name.to_owned());
        }
        if let Some((_, text)) = self.types.iter().find(|(known, _)| known == name) {
            return text.parse::<i64>().ok().map(|number| number.to_string());
        }
        let (rust, own) = match self.variable(name) {
            Some(found) => found,
            None => match self.port.constant(name)? {
                Constant::Named(rust) => (rust, "usize"),
                Constant::Written(text) => return self.value(&text, ty),
            },
        };
        let is_same = own == ty;
        let is_possible =
            ty != "bool" && own != "bool" && (ty.starts_with('f') || !own.starts_with('f'));
        match is_same {
            true => Some(rust),
            false => is_possible.then(|| format!("{rust} as {ty}")),
        }
    }

    fn ty(&mut self, ty: &str) -> Option<String> {
        if let Some(scalar) = self.scalar(ty) {
            return Some(scalar.to_owned());
        }
        // Of a variable, `sizeof x` and `sizeof(x[0])`, the type is not looked for.
        let [name] = words(ty)[..] else { return None };
        self.port.is_type(name).then(|| self.port.structure(name))
    }

    fn member(&mut self, name: &str, dimension: usize) -> Option<Expression> {
        self.dim3(name)?;
        let sizes = self.dimensions(name);
        let size = sizes.get(dimension).map_or("1", String::as_str);
        Expression::read(size, &|name| self.port.macros.function(name))
    }

    fn is_float(&mut self, name: &str) -> bool {
        let types = self.host.into_iter().flat_map(|host| {
            let given = host.parameters.iter().map(|it| (&it.name, &it.ty));
            host.variables.iter().map(|it| (&it.name, &it.ty)).chain(given)
        });
        let own = types.into_iter().find(|(it, _)| *it == name).and_then(|(_, ty)| self.scalar(ty));
        own.is_some_and(|ty| ty.starts_with('f'))
    }
}

/// A constant of the program.
pub(super) enum Constant {
    /// An integer, by its name in Rust.
    Named(String),
    /// What its text is.
    Written(String),
}

impl Port<'_> {
    /// A macro, or a constant outside of functions.
    fn constant(&self, name: &str) -> Option<Constant> {
        if let Some(number) = self.number_of(name, None, 0).filter(|number| *number >= 0) {
            let mut constants = self.constants.borrow_mut();
            let taken: BTreeSet<_> =
                constants.values().map(|(rust, _)| rust.to_lowercase()).collect();
            let (rust, _) = constants.entry(name.to_owned()).or_insert_with(|| {
                let mut taken = taken;
                (identifier(name, &mut taken).to_uppercase(), number)
            });
            return Some(Constant::Named(rust.clone()));
        }
        let text = self.macros.object(name).map(|it| it.text.clone());
        let global = || self.global(name).and_then(|it| it.value.clone());
        text.or_else(global).filter(|text| text != name).map(Constant::Written)
    }

    fn global(&self, name: &str) -> Option<&Declared> {
        let mut all = self.sources.iter().flat_map(|it| &it.program.globals);
        all.find(|it| it.name == name && it.is_const && it.is_single)
    }

    /// The number that an expression is, of constants, and of the variables of a function.
    pub(super) fn number_of(&self, text: &str, host: Option<&Host>, depth: usize) -> Option<i64> {
        if depth > 8 {
            return None;
        }
        let read = Expression::read(text, &|name| self.macros.function(name))?;
        read.value(&mut |name| {
            let own = host.and_then(|host| {
                let variable = host.variable(name)?;
                Some(host.value(variable).ok().filter(|_| variable.is_single))
            });
            match own {
                Some(value) => self.number_of(&value?, host, depth + 1),
                None => match self.macros.object(name) {
                    Some(_) => self.macros.value(name, 0),
                    None => self.number_of(self.global(name)?.value.as_ref()?, None, depth + 1),
                },
            }
        })
    }
}

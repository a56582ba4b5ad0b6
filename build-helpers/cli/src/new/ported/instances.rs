//! What the launches of a CUDA program say: numbers, and which instances of its templates they are of.

use super::{
    Port,
    names::rust_type,
    program::{Kernel, Launch, Parameter, words},
};

/// An instance of a template: what the settings call it, and what Rust does.
pub(super) type Instance = (String, Vec<String>);

impl Port<'_> {
    pub(super) fn launches<'a>(&'a self, kernel: &'a Kernel) -> impl Iterator<Item = &'a Launch> {
        self.program.launches.iter().filter(|launch| launch.kernel == kernel.name)
    }

    /// A number, also by the name of a constant.
    pub(super) fn number(&self, text: &str) -> Option<u32> {
        let digits = text.trim().trim_end_matches(['u', 'U', 'l', 'L']);
        if let Ok(number) = digits.parse() {
            return Some(number);
        }
        let is_name = words(text) == [text.trim()];
        let mut lines = self.text.lines().filter(|_| is_name).filter_map(|line| {
            let line = line.split("//").next().unwrap_or_default().trim().trim_end_matches(';');
            let (head, value) = match line.strip_prefix("#define ") {
                Some(rest) => rest.trim().split_once(char::is_whitespace)?,
                None => line.split_once('=').filter(|(head, _)| words(head).contains(&"int"))?,
            };
            let is_it = words(head).last().is_some_and(|name| *name == text.trim());
            let value = value.trim().trim_matches(['(', ')']);
            is_it.then(|| value.parse().ok()).flatten()
        });
        lines.next()
    }

    /// The instance that a launch is of; `None` where the text does not tell it.
    pub(super) fn instance(&self, kernel: &Kernel, launch: &Launch) -> Option<Instance> {
        let mut written = launch.template.clone();
        let missing = kernel.template.iter().skip(written.len());
        let deduced: Option<Vec<_>> =
            missing.map(|name| self.deduced(kernel, launch, name)).collect();
        written.extend(deduced?);
        let rust = written.iter().map(|argument| match rust_type(&self.aliased(argument)) {
            Some(ty) => Some(ty.to_owned()),
            None => self.number(argument).map(|number| number.to_string()),
        });
        Some((written.join(", "), rust.collect::<Option<_>>()?))
    }

    /// The argument of a template parameter, by the type that an argument of the launch is declared with.
    pub(super) fn deduced(&self, kernel: &Kernel, launch: &Launch, name: &str) -> Option<String> {
        let place = kernel.parameters.iter().position(|it| it.ty == name && it.is_pointer)?;
        let argument = launch.arguments.get(place)?;
        let mut statements = self.text.split([';', '{', '}', '\n']);
        statements.find_map(|statement| {
            let statement = statement.trim();
            let (ty, rest) = statement.split_once('*')?;
            let ty = ty.trim();
            let ty = launch.types.iter().find(|(name, _)| name == ty).map_or(ty, |(_, it)| it);
            let is_it = words(rest).contains(&argument.as_str());
            (is_it && rust_type(&self.aliased(ty)).is_some()).then(|| ty.to_owned())
        })
    }

    /// The instances of a template that the program launches.
    pub(super) fn instances(&self, kernel: &Kernel) -> Vec<Instance> {
        let mut found: Vec<Instance> = Vec::new();
        for instance in self.launches(kernel).filter_map(|launch| self.instance(kernel, launch)) {
            if !found.contains(&instance) {
                found.push(instance);
            }
        }
        found
    }

    /// The value of a constant, or of a product of such; `None` where a name is a variable, or has several values under `#if`.
    pub(super) fn constant(&self, text: &str) -> Option<String> {
        let text = text.trim();
        if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Some(text.to_owned());
        }
        if words(text) != [text] {
            return None;
        }
        let mut values: Vec<_> = self
            .text
            .lines()
            .filter_map(|line| {
                let line = line.split("//").next()?.trim();
                let (name, value) = match line.strip_prefix('#') {
                    Some(rest) => rest
                        .trim_start()
                        .strip_prefix("define ")?
                        .trim()
                        .split_once(char::is_whitespace)?,
                    None => line.split_once('=').filter(|(head, _)| {
                        words(head).iter().any(|word| ["const", "constexpr"].contains(word))
                    })?,
                };
                let is_it = words(name).last().is_some_and(|it| *it == text);
                is_it.then(|| {
                    value.trim().trim_end_matches(';').trim_matches(['(', ')', ' ']).to_owned()
                })
            })
            .collect();
        values.dedup();
        let [value] = &values[..] else { return None };
        let is_number = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| value.clone())
    }

    /// The type that a macro or an alias of C++ stands for.
    pub(super) fn aliased(&self, ty: &str) -> String {
        let of = |name: &str| {
            self.text.lines().find_map(|line| {
                let line = line.split("//").next()?.trim().trim_end_matches(';').trim();
                let (new, old) = if let Some(rest) = line.strip_prefix("typedef ") {
                    rest.rsplit_once(char::is_whitespace).map(|(old, new)| (new, old))?
                } else if let Some(rest) = line.strip_prefix("using ") {
                    rest.split_once('=')?
                } else {
                    line.strip_prefix('#')?
                        .trim_start()
                        .strip_prefix("define ")?
                        .trim()
                        .split_once(char::is_whitespace)?
                };
                // `typedef struct name` begins a declaration of several lines.
                let is_tag =
                    words(old).first().is_some_and(|it| ["struct", "union", "enum"].contains(it));
                (new.trim() == name && !is_tag).then(|| old.trim().to_owned())
            })
        };
        let mut ty = ty.to_owned();
        // Aliases of aliases end; those that name themselves do not.
        for _ in 0..4 {
            match of(&ty).filter(|old| rust_type(&ty).is_none() && *old != ty) {
                Some(old) => ty = old,
                None => break,
            }
        }
        ty
    }

    /// The type of Rust for the elements of a buffer.
    pub(super) fn element(
        &self,
        kernel: &Kernel,
        parameter: &Parameter,
        arguments: &[String],
    ) -> String {
        let place = kernel.template.iter().position(|name| *name == parameter.ty);
        match place.and_then(|place| arguments.get(place)) {
            Some(argument) => argument.clone(),
            None => {
                let ty = self.aliased(&parameter.ty);
                rust_type(&ty).map_or_else(|| format!("kernels::{ty}"), str::to_owned)
            }
        }
    }
}

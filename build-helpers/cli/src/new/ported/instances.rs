//! What the launches of a CUDA program say: numbers, and which instances of its templates they are of.

use super::{
    Port,
    names::rust_type,
    program::{Kernel, Launch, Parameter},
    text::{closing, words},
};

/// An instance of a template: what the settings call it, and what Rust does.
pub(super) type Instance = (String, Vec<String>);

impl Port<'_> {
    pub(super) fn launches<'a>(&'a self, kernel: &'a Kernel) -> impl Iterator<Item = &'a Launch> {
        self.program.launches.iter().filter(|launch| launch.kernel == kernel.name)
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
            None => self.number_of(argument, None, 0).map(|number| number.to_string()),
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
                rust_type(&ty).map_or_else(|| self.structure(&ty), str::to_owned)
            }
        }
    }

    /// The name that wrappers have for a structure: that of its tag, where a `typedef` gives it another.
    pub(super) fn structure(&self, ty: &str) -> String {
        let name = words(ty).last().copied().unwrap_or(ty);
        let tags = self.sources.iter().flat_map(|source| typedefs(&source.code));
        let tag =
            tags.into_iter().find(|(_, names)| names.contains(&name)).and_then(|(tag, _)| tag);
        format!("kernels::{}", tag.unwrap_or(name))
    }

    /// Whether the program declares a structure of this name.
    pub(super) fn is_type(&self, name: &str) -> bool {
        let is_declared = |code: &str| {
            let kinds = ["struct", "union", "class"].into_iter();
            let mut heads =
                kinds.flat_map(|kind| code.match_indices(kind).map(move |it| (it, kind)));
            heads.any(|((at, _), kind)| {
                let rest = code[at + kind.len()..].split(['{', ';', ':']).next();
                rest.is_some_and(|rest| words(rest).last() == Some(&name))
            })
        };
        self.sources.iter().any(|it| {
            is_declared(&it.code)
                || typedefs(&it.code).iter().any(|(_, names)| names.contains(&name))
        })
    }
}

/// The `typedef`s of structures: their tags, and the names.
fn typedefs(code: &str) -> Vec<(Option<&str>, Vec<&str>)> {
    let found = code.match_indices("typedef").filter_map(|(at, word)| {
        let rest = &code[at + word.len()..];
        let end = rest.find([';', '{'])?;
        let head = words(&rest[..end]);
        if !["struct", "union", "class"].contains(head.first()?) {
            return None;
        }
        if rest[end..].starts_with(';') {
            let [_, tag, name] = head[..] else { return None };
            return Some((Some(tag), vec![name]));
        }
        let names = rest[closing(rest, end)? + 1..].split(';').next()?;
        let names = names.split(',').filter(|it| !it.contains('*'));
        let names = names.filter_map(|it| words(it).last().copied()).collect();
        Some((head[1..].last().copied().filter(|it| !it.ends_with(')')), names))
    });
    found.collect()
}

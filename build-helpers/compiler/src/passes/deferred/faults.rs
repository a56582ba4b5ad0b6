//! Faults of deferred references, each with file and line.

use kernelmill_llvm::ir::Value;

use crate::ir::calls_of;

/// A deferred reference in a source.
#[derive(Clone, Copy)]
pub(super) struct Reference<'a, 'c> {
    /// The source, as people know it.
    pub(super) source: &'a str,
    /// The function that it names.
    pub(super) name: &'a str,
    /// The declaration that stands for the function.
    pub(super) marker: Value<'c>,
}

impl Reference<'_, '_> {
    /// No source has the function; `nearest` is the most similar name, with the source that has it
    /// where that is not among the given ones.
    pub(super) fn missing(&self, nearest: Option<Nearest<'_>>) -> String {
        let Self { name, .. } = self;
        let help = match nearest {
            None => format!(
                "export it as `#[unsafe(no_mangle)] pub extern \"C\" fn {name}`, or as `extern \"C\" __device__`"
            ),
            Some(Nearest { name, source: Some(source) }) => {
                format!("the nearest is `{name}` of {source}")
            }
            Some(Nearest { name, source: None }) => format!("the nearest is `{name}`"),
        };
        format!("{}: no source exports a function `{name}`; {help}", self.place())
    }

    /// Several sources have the function.
    pub(super) fn ambiguous(&self, sources: &[&str]) -> String {
        let sources: Vec<_> = sources.iter().map(|display| format!("`{display}`")).collect();
        format!(
            "{}: several sources export a function `{}`: {}; rename one of them",
            self.place(),
            self.name,
            sources.join(", ")
        )
    }

    /// The function is defined with other types.
    pub(super) fn other_types(&self, function: Value<'_>) -> String {
        format!(
            "{}: `{}` is declared with the type `{:?}` and defined with the type `{:?}`; write the same \
             parameters and result",
            self.place(),
            self.name,
            self.marker.value_type(),
            function.value_type()
        )
    }

    /// Where the function is named.
    fn place(&self) -> String {
        let has_line = |at: &Value<'_>| at.debug_line() > 0;
        let call = calls_of(self.marker).into_iter().find(has_line);
        let used = || {
            let users = self.marker.users().into_iter();
            users.filter(|user| user.is_instruction()).find(has_line)
        };
        match call.or_else(used) {
            Some(at) => format!("{}:{}", at.debug_file().unwrap_or_default(), at.debug_line()),
            None => self.source.to_owned(),
        }
    }
}

/// A function whose name is similar to one that is missing.
pub(super) struct Nearest<'a> {
    pub(super) name: String,
    /// The source, where it is not given with the module.
    pub(super) source: Option<&'a str>,
}

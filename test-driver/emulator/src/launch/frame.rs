//! Frames of faults: the line of the source that a fault is in, as compilers draw it.

use super::Fault;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use std::{fs, path::Path};

impl Fault {
    /// The line of the source that the fault is in, with its place marked; `None` where the PTX names none, or where the
    /// file is not there. Relative names are looked for in a folder.
    #[must_use]
    pub fn frame(&self, folder: &Path) -> Option<String> {
        let (file, number) = self.source.as_ref()?;
        let text = fs::read_to_string(folder.join(&**file)).ok()?;
        let before = usize::try_from(*number).ok()?.checked_sub(1)?;
        let code = text.lines().nth(before)?;
        let start: usize = text.split_inclusive('\n').take(before).map(str::len).sum();
        let start = start + code.len() - code.trim_start().len();
        let marked = AnnotationKind::Primary.span(start..start + code.trim().len());
        let snippet = Snippet::source(text.as_str()).path(&**file).annotation(marked);
        let group = Group::with_level(Level::ERROR).element(snippet);
        Some(Renderer::plain().render(&[group]).trim_end().to_owned())
    }
}

//! The calls that lead from a kernel to a place in its module, for messages.

use std::collections::{HashMap, VecDeque};

use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{Linkage, ModuleExt, SourceFrame, Value},
};

use crate::{
    base::{demangle::demangle, names::SHIM_PREFIX},
    diagnostic::Frame,
};

/// Who calls whom in a module.
pub(crate) struct CallChains<'c> {
    context: &'c Context,
    /// For each function that a kernel leads to, the call by which it is reached first; `None` for
    /// the kernels.
    reached: HashMap<Value<'c>, Option<Value<'c>>>,
}

/// The end of the path of what `static_assert!` calls, which is where it stands.
const ASSERTION: &str = "assertion::__static_assert";

/// The part of a path before the standard library's own folders.
const STANDARD: &str = "library/";

impl<'c> CallChains<'c> {
    /// Those from the functions that are to be seen from outside.
    pub(crate) fn of(context: &'c Context, module: &Module<'c>) -> Self {
        let is_root = |function: &Value<'c>| function.linkage() == Linkage::External;
        Self::from(context, module.definitions().into_iter().filter(is_root))
    }

    /// Those from these functions.
    pub(crate) fn from(context: &'c Context, roots: impl IntoIterator<Item = Value<'c>>) -> Self {
        let mut work: VecDeque<_> = roots.into_iter().collect();
        let mut reached: HashMap<_, _> = work.iter().map(|function| (*function, None)).collect();
        while let Some(function) = work.pop_front() {
            for call in function.calls() {
                let Some(callee) = call.called_function() else { continue };
                if !callee.is_declaration() && !reached.contains_key(&callee) {
                    reached.insert(callee, Some(call));
                    work.push_back(callee);
                }
            }
        }
        Self { context, reached }
    }

    /// Whether a kernel leads to the function by calls of functions by their names.
    pub(crate) fn is_reached(&self, function: Value<'c>) -> bool {
        self.reached.contains_key(&function)
    }

    /// The way to the start of a function.
    pub(crate) fn to_start_of(&self, function: Value<'c>) -> Vec<Frame> {
        let start = function.source_start(self.context);
        let start = start.as_ref().and_then(frame);
        let start = start.unwrap_or_else(|| nameless(&demangle(&function.name())));
        self.continued(vec![start], self.reached.get(&function).copied().flatten())
    }

    /// The way to an instruction, the place itself first.
    pub(crate) fn to(&self, instruction: Value<'c>) -> Vec<Frame> {
        self.continued(Vec::new(), Some(instruction))
    }

    fn continued(&self, mut frames: Vec<Frame>, mut place: Option<Value<'c>>) -> Vec<Frame> {
        while let Some(instruction) = place {
            let function = instruction.block().function();
            let found = instruction.source_frames(self.context);
            if found.is_empty() {
                frames.push(nameless(&demangle(&function.name())));
            }
            frames.extend(found.iter().filter_map(frame));
            place = self.reached.get(&function).copied().flatten();
        }
        shorten(frames)
    }
}

/// A function that nothing more is known of.
pub(crate) fn nameless(function: &str) -> Frame {
    Frame { function: function.to_owned(), file: String::new(), line: 0, library: false }
}

/// A frame for people; `None` for what the attribute `#[kernel]` has added.
fn frame(found: &SourceFrame) -> Option<Frame> {
    let function = demangle(&found.function);
    if found.function.starts_with(SHIM_PREFIX) || function.ends_with(ASSERTION) {
        return None;
    }
    let inside = found.file.rsplit_once(&format!("/{STANDARD}"));
    let file = inside.filter(|_| found.file.starts_with('/')).map_or(&*found.file, |(_, it)| it);
    let library = file.len() < found.file.len()
        || file.starts_with(STANDARD)
        || file.starts_with('/')
        || file.starts_with("kernelmill_device/");
    Some(Frame { function, file: file.to_owned(), line: found.line, library })
}

/// Leaves of each run of library functions the one that was called from outside, and drops what has
/// no line where others have.
fn shorten(frames: Vec<Frame>) -> Vec<Frame> {
    let is_known = frames.iter().any(|frame| frame.line > 0);
    let mut kept: Vec<Frame> = Vec::new();
    for frame in frames {
        if is_known && frame.line == 0 {
            continue;
        }
        match kept.last_mut() {
            Some(last) if last.library && frame.library => *last = frame,
            _ => kept.push(frame),
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(function: &str, file: &str, line: u32) -> SourceFrame {
        SourceFrame { function: function.into(), file: file.into(), line, column: 1 }
    }

    #[test]
    fn frames_name_the_users_source_and_the_door_of_a_library() {
        let found = [
            source("inner", "/rustc/0123/library/alloc/src/raw_vec.rs", 10),
            source("outer", "/rustc/0123/library/alloc/src/vec/mod.rs", 20),
            source("heap", "kernels/a.rs", 5),
            source("index_1d", "kernelmill_device/thread.rs", 7),
            source("__kernelmill_entry_heap", "kernels/a.rs", 3),
        ];
        let frames: Vec<_> = found.iter().filter_map(frame).collect();
        let shown: Vec<_> = shorten(frames).iter().map(ToString::to_string).collect();
        assert_eq!(
            shown,
            [
                "`outer`",
                "kernels/a.rs:5, in `heap`",
                "kernelmill_device/thread.rs:7, in `index_1d`",
            ]
        );
    }
}

//! Processor levels that a block's function is built for ([x86-64 microarchitecture
//! levels](https://gitlab.com/x86-psABIs/x86-64-ABI)). The run time takes the last one that runs where
//! it is (`src/backend/cpu/dispatch.rs` of `kernelmill`).

use kernelmill_llvm::{inkwell::context::Context, ir::Value};

use super::abi::VARIANTS;

/// A processor.
pub(super) struct Level {
    /// As LLVM calls it; empty for the target's own.
    processor: &'static str,
    /// The bits of a vector that code may use.
    vector_bits: &'static str,
    /// The threads of a vector: as many as a vector has lanes of 32 bits, or 1.
    pub(super) lanes: u32,
}

/// Without AVX2 threads run one after the other: vectors of 4 lanes gain little there, and would cost
/// as much time to compile as each of the others.
const X86_64: [Option<Level>; VARIANTS] = [
    Some(Level { processor: "", vector_bits: "128", lanes: 1 }),
    Some(Level { processor: "x86-64-v3", vector_bits: "256", lanes: 8 }),
    Some(Level { processor: "x86-64-v4", vector_bits: "512", lanes: 16 }),
];

/// NEON is part of every processor of this architecture.
const AARCH64: [Option<Level>; VARIANTS] =
    [Some(Level { processor: "", vector_bits: "128", lanes: 4 }), None, None];

/// The variants for a target.
pub(super) fn of(triple: &str) -> &'static [Option<Level>; VARIANTS] {
    if triple.starts_with("x86_64") { &X86_64 } else { &AARCH64 }
}

/// The variants of scalar code for a target, but for the one that every processor runs: vectors matter less there, so that
/// one for newer processors is enough.
pub(super) fn scalar(triple: &str) -> [Option<&'static Level>; VARIANTS] {
    let [_, middle, _] = of(triple);
    [None, middle.as_ref(), None]
}

impl Level {
    /// Lets a function use what the processor has.
    pub(super) fn apply<'c>(&self, context: &'c Context, function: Value<'c>) {
        if self.processor.is_empty() {
            return;
        }
        function.add_text_attribute(context, "target-cpu", self.processor);
        function.add_text_attribute(context, "prefer-vector-width", self.vector_bits);
        function.add_text_attribute(context, "min-legal-vector-width", self.vector_bits);
    }
}

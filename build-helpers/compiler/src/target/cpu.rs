//! The machine's own processor: native objects, and bitcode that the program compiles when it runs.

use kernelmill_artifact::{ArtifactKind, CPU_THREAD_MEMORY};
use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    machine::Machine,
};

use super::{
    backend::{Backend, Edit, Emitted},
    bitcode,
};
use crate::{
    Error, cpu,
    diagnostic::Fault,
    passes::{
        check::ValidModule,
        entry::{Entry, Unit},
    },
    target_info::{AddressSpaces, Printf, TargetInfo},
    toolchain::Toolchain,
};

/// The processor that the application runs on.
pub(crate) struct Cpu {
    machine: Machine,
    is_bitcode: bool,
}

/// Functions that every program has from the C library or Rust's. LLVM makes calls of some that no source
/// calls, where the system has them: `calloc` of `malloc` and `memset`, `strlen` of a loop.
const PROVIDED: &[&str] = &[
    "memcpy",
    "memmove",
    "memset",
    "memcmp",
    "bcmp",
    "_setjmp",
    "longjmp",
    "fmaf",
    "fma",
    "fmodf",
    "fmod",
    "floorf",
    "floor",
    "ceilf",
    "ceil",
    "truncf",
    "trunc",
    "rintf",
    "rint",
    "roundevenf",
    "roundeven",
    "fminf",
    "fmin",
    "fmaxf",
    "fmax",
    "roundf",
    "round",
    "nearbyintf",
    "nearbyint",
    "printf",
    "malloc",
    "free",
    "calloc",
    "strlen",
    "wcslen",
    "memchr",
    "memrchr",
    "memccpy",
    "mempcpy",
    "stpcpy",
    "puts",
    "putchar",
];

impl Cpu {
    pub(crate) fn new(toolchain: &Toolchain) -> Result<Self, Error> {
        Ok(Self { machine: Machine::of_host(&toolchain.host)?, is_bitcode: false })
    }

    /// The target whose modules are not emitted as objects, but embedded for the program to compile.
    pub(crate) fn into_bitcode(self) -> Self {
        Self { is_bitcode: true, ..self }
    }
}

impl TargetInfo for Cpu {
    fn machine(&self) -> &Machine {
        &self.machine
    }

    fn is_gpu(&self) -> bool {
        false
    }

    fn formats_panics(&self) -> bool {
        true
    }

    fn exports_functions(&self) -> bool {
        true
    }

    fn has_heap(&self) -> bool {
        true
    }

    fn print(&self) -> Option<Printf> {
        Some(Printf::Variadic("printf"))
    }

    fn operations(&self) -> String {
        [
            include_str!("numeric.ll"),
            include_str!("rsqrt.ll"),
            include_str!("half_soft.ll"),
            include_str!("cpu.ll"),
            include_str!("wavefront.ll"),
            include_str!("copy_plain.ll"),
            include_str!("tma_none.ll"),
            include_str!("wgmma_none.ll"),
            include_str!("tensor_none.ll"),
        ]
        .concat()
    }

    fn address_spaces(&self) -> Option<AddressSpaces> {
        None
    }

    fn provides(&self, function: &str) -> bool {
        PROVIDED.contains(&function) || self.is_bitcode && function == CPU_THREAD_MEMORY
    }

    fn takes_assembly(&self) -> bool {
        true
    }

    fn processors(&self) -> &'static [&'static str] {
        &["x86", "aarch64"]
    }
}

impl Backend for Cpu {
    fn enter<'c>(&self, unit: &Unit<'_, 'c>) -> Result<Vec<Entry>, Error> {
        cpu::enter(unit, &self.machine)
    }

    fn find_context_uses<'c>(&self, context: &'c Context, module: &Module<'c>) -> Vec<Fault> {
        cpu::find_context_uses(context, module)
    }

    fn keep_constants(&self, module: &Module<'_>) {
        if self.is_bitcode {
            bitcode::keep_constants(module);
        }
    }

    fn prepare_bitcode<'c>(&self, context: &'c Context, module: &Module<'c>) -> Result<(), Error> {
        match self.is_bitcode {
            true => bitcode::place_thread_locals(context, module, &self.machine),
            false => Ok(()),
        }
    }

    fn work_around_llvm<'c>(&self, context: &'c Context, module: &Module<'c>) {
        cpu::store_single_lanes(context, module);
    }

    fn emit(
        &self,
        _toolchain: &Toolchain,
        module: &ValidModule<'_, '_>,
        _edit: Edit<'_>,
    ) -> Result<Emitted, Error> {
        if self.is_bitcode {
            bitcode::name_kernels(module.module());
            let bytes = bitcode::embed(module.module(), None);
            return Ok(Emitted::new(ArtifactKind::Bitcode, bytes));
        }
        Ok(Emitted::new(ArtifactKind::Object, self.machine.object(module.module())?))
    }
}

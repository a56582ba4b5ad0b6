//! Target information: what passes over LLVM's intermediate representation ask of a target.

use std::collections::BTreeSet;

use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{TypeKind, Value},
    machine::Machine,
};

use crate::{Error, diagnostic::Fault, passes::call_chains::CallChains, toolchain::Toolchain};

/// A vendor's mathematical functions as bitcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VendorMath {
    /// NVIDIA's `libdevice`.
    Libdevice,
    /// AMD's `ocml`, which asks for the processor: 9010 is gfx90a.
    Ocml { processor: u32, has_waves_of_64: bool },
}

/// A target's function that prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Printf {
    /// C's `printf` of this name.
    Variadic(&'static str),
    /// One of this name that takes the format and the address of the arguments, which lie one after the
    /// other, each aligned to its size: `vprintf` of the CUDA driver.
    Packed(&'static str),
}

/// The numbers of a target's address spaces.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AddressSpaces {
    pub(crate) global: u32,
    pub(crate) shared: u32,
    /// Of tables of the compiler's and the source's own.
    pub(crate) constant: u32,
    /// Of what the host writes and kernels only read.
    pub(crate) constant_variables: u32,
    pub(crate) private: u32,
    /// The least alignment of shared arrays in bytes; smaller ones have that of their size, and 128 at
    /// least.
    pub(crate) shared_align: u64,
}

/// A question to libraries of device code: which of some functions do they define?
pub(crate) struct LibraryQuery<'a, 'c> {
    pub(crate) toolchain: &'a Toolchain,
    pub(crate) context: &'c Context,
    /// The functions, as a module declares them.
    pub(crate) functions: &'a [Value<'c>],
    /// The source, for messages.
    pub(crate) name: &'a str,
}

/// What libraries have of some functions.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// Those that they define.
    pub(crate) defined: BTreeSet<String>,
    /// Those that they define with other types.
    pub(crate) other_types: BTreeSet<String>,
}

/// What passes ask of a target. Its counterparts in LLVM are `TargetTransformInfo` and clang's
/// `TargetInfo`.
pub(crate) trait TargetInfo {
    /// The machine that code is generated for.
    fn machine(&self) -> &Machine;

    /// Whether threads run in lockstep groups, so that code must not be moved across branches
    /// where it exchanges data between them.
    fn is_gpu(&self) -> bool;

    /// Whether panics format their message on the device.
    fn formats_panics(&self) -> bool {
        false
    }

    /// The target's function that is like C's `printf`, where it has one.
    fn print(&self) -> Option<Printf> {
        None
    }

    /// Whether the host formats what kernels print, from the values that they send.
    fn sends_lines(&self) -> bool {
        false
    }

    /// Whether a binary tells the host by a variable that its kernels print.
    fn marks_printing(&self) -> bool {
        false
    }

    /// The mathematical functions of its vendor's.
    fn vendor_math(&self) -> Option<VendorMath> {
        None
    }

    /// Whether there is `malloc` and `free`.
    fn has_heap(&self) -> bool {
        false
    }

    /// Whether code of another language can be linked with functions that are compiled without a kernel.
    fn exports_functions(&self) -> bool {
        false
    }

    /// The intrinsic that ends a thread, where it ends its whole group of threads with it.
    fn ends_group(&self) -> Option<&'static str> {
        None
    }

    /// The operations of `kernelmill_device` that the target has instructions for, as LLVM's
    /// textual IR.
    fn operations(&self) -> String;

    /// LLVM's name of the scope of all threads of the device; empty where there is none.
    fn device_scope(&self) -> &'static str {
        ""
    }

    /// Where globals and stack slots lie; `None` where there is one address space.
    fn address_spaces(&self) -> Option<AddressSpaces>;

    /// The bytes that a kernel's parameters can take, where they are limited.
    fn parameter_limit(&self) -> Option<u64> {
        None
    }

    /// The address space that panic records are taken to lie in; 0: any.
    fn panic_record_space(&self) -> u32 {
        0
    }

    /// Whether a launch has to give exactly the arguments that a kernel has, the address of a panic record among them.
    fn counts_arguments(&self) -> bool {
        false
    }

    /// The bytes of static shared memory that a block can have, where they are limited.
    fn shared_limit(&self) -> Option<u64> {
        None
    }

    /// The passes that optimise the module.
    fn passes(&self, optimization: u8) -> String {
        format!("always-inline,default<O{optimization}>,globaldce")
    }

    /// Functions that may stay undefined.
    fn provides(&self, _function: &str) -> bool {
        false
    }

    /// What libraries given with the job have of undefined functions, for the target.
    ///
    /// # Errors
    ///
    /// Where the tools that know cannot be run.
    fn linked(&self, _query: &LibraryQuery<'_, '_>) -> Result<Found, Error> {
        Ok(Found::default())
    }

    /// What an operation of the device crate is, which the target does not have, for messages.
    fn missing_operation(&self, _operation: &str) -> Option<&'static str> {
        None
    }

    /// What an optimised module does that the target cannot, beside what is checked for every target.
    fn faults<'c>(&self, _module: &Module<'c>, _call_chains: &CallChains<'c>) -> Vec<Fault> {
        Vec::new()
    }

    /// Whether LLVM has no way to compute with a type on the target. By default it is what only
    /// the processors of hosts have: everything else it makes of what there is.
    fn lacks(&self, kind: TypeKind) -> bool {
        self.is_gpu()
            && matches!(
                kind,
                TypeKind::Fp128 | TypeKind::X86Fp80 | TypeKind::PpcFp128 | TypeKind::X86Amx
            )
    }

    /// Whether a function can be called through a pointer.
    fn calls_pointers(&self) -> bool {
        true
    }

    /// Whether a source can have assembly of the target's.
    fn takes_assembly(&self) -> bool {
        false
    }

    /// The processors whose instructions LLVM can select, by the part of their names after `llvm.`.
    fn processors(&self) -> &'static [&'static str];
}

//! Targets: one file each behind one trait and one [`lookup`].

mod amd;
mod cpu;
mod nvidia;

use std::cell::RefCell;

use kernelmill_artifact::{ArtifactKind, Signature, Target};
use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{TypeKind, Value},
    machine::Machine,
};

use crate::{
    Error, Job, PassReport, Strategy, Toolchain,
    check::ValidModule,
    device_link::Found,
    parameters,
    place::{AddressSpaces, Backtraces},
};

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

/// What the pipeline asks of a target.
pub(crate) trait Backend {
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

    /// The mathematical functions of its vendor's.
    fn vendor_math(&self) -> Option<VendorMath> {
        None
    }

    /// Whether there is `malloc` and `free`.
    fn has_heap(&self) -> bool {
        false
    }

    /// The intrinsic that ends a thread, where it ends its whole group of threads with it.
    fn ends_group(&self) -> Option<&'static str> {
        None
    }

    /// The operations of `kernelmill_device` that the target has instructions for, as LLVM's
    /// textual IR.
    fn operations(&self) -> String;

    /// Where globals and stack slots lie; `None` where there is one address space.
    fn address_spaces(&self) -> Option<AddressSpaces>;

    /// The bytes that a kernel's parameters can take, where they are limited.
    fn parameter_limit(&self) -> Option<u64> {
        None
    }

    /// Builds the functions that the device starts, one a kernel, from the shims that the
    /// attribute `#[kernel]` left.
    fn enter<'c>(&self, unit: &Unit<'_, 'c>) -> Result<Vec<Entry>, Error>;

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
    fn linked<'c>(
        &self,
        _tools: (&Toolchain, &'c Context),
        _functions: &[Value<'c>],
        _name: &str,
    ) -> Result<Found, Error> {
        Ok(Found::default())
    }

    /// Changes what LLVM would make wrong code of, once everything is optimised.
    fn mend<'c>(&self, _context: &'c Context, _module: &Module<'c>) {}

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

    /// Turns a checked module into bytes.
    fn emit(
        &self,
        toolchain: &Toolchain,
        module: &ValidModule<'_, '_>,
    ) -> Result<(ArtifactKind, Vec<u8>), Error>;
}

/// A module on its way through the pipeline.
pub(crate) struct Unit<'a, 'c> {
    pub(crate) context: &'c Context,
    pub(crate) module: &'a Module<'c>,
    pub(crate) signatures: &'a [Signature],
    /// The name of the source, unique in the program.
    pub(crate) name: &'a str,
    /// Whether kernels are vectorised on the CPU, and split into regions at uniform barriers.
    pub(crate) vectorize: bool,
    /// The calls on the way to panics, for who takes the lines out of the module.
    pub(crate) backtraces: &'a Backtraces,
    /// What the user is to be told although all went well, a line each.
    pub(crate) warnings: &'a RefCell<Vec<String>>,
    /// What the CPU's passes report.
    pub(crate) passes: &'a RefCell<Vec<PassReport>>,
}

/// A function that the device starts.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// Its symbol in the binary.
    pub(crate) symbol: String,
    /// Shared memory that the kernel declares, in bytes a block.
    pub(crate) static_shared_bytes: u32,
    /// The constant that describes a CPU kernel.
    pub(crate) cpu_symbol: Option<String>,
    /// The lowering strategy of a CPU kernel.
    pub(crate) strategy: Option<Strategy>,
}

/// The back end of a job's target.
pub(crate) fn lookup(toolchain: &Toolchain, job: &Job<'_>) -> Result<Box<dyn Backend>, Error> {
    let signatures = job.source.signatures;
    let bytes = signatures.iter().map(parameters::bytes).max().unwrap_or(0);
    let needs = nvidia::Needs {
        parameter_bytes: bytes,
        debug_level: job.config.options.debug_level,
        matrices: job.source.lowered.names(nvidia::MATRICES),
        bulk: job.source.lowered.names(nvidia::BULK),
        maps: job.source.lowered.names(nvidia::MAPS),
    };
    let link = job.config.params.device_link.as_ref();
    let nvidia = |arch, assemble| nvidia::Nvidia::new(arch, assemble, &needs, link);
    match &job.config.target {
        Target::Cpu => Ok(Box::new(cpu::Cpu::new(toolchain)?)),
        Target::Ptx(arch) => Ok(Box::new(nvidia(*arch, false)?)),
        Target::Cubin(arch) => Ok(Box::new(nvidia(*arch, true)?)),
        Target::Amd(amd) => Ok(Box::new(amd::Amd::new(amd)?)),
        other => {
            let file = signatures.first().map_or("", |signature| &signature.file);
            Err(Error::Unsupported { file: file.to_owned(), target: other.clone() })
        }
    }
}

//! A parsed module, as its users see it.

use crate::decode;
use crate::program::Program;
use crate::syntax::{ParseErrors, parse};
use std::sync::Arc;

/// A PTX module, parsed and ready to be loaded on any number of devices.
///
/// ```
/// let text = "
/// .version 6.3
/// .target sm_75
/// .address_size 64
/// .visible .entry fill(.param .u64 out, .param .u32 value)
/// .maxntid 128
/// { ret; }
/// ";
/// let module = ptx_emulator::Module::parse(text).unwrap();
/// let kernel = module.kernel("fill").unwrap();
/// assert_eq!(kernel.parameters[1].offset, 8);
/// assert_eq!(kernel.max_threads, Some(128));
/// assert_eq!(module.target(), (75, None));
/// ```
#[derive(Clone)]
pub struct Module {
    pub(crate) program: Arc<Program>,
    kernels: Arc<[Kernel]>,
    target: (u32, Option<char>),
    unsupported: Arc<[Unsupported]>,
}

/// A kernel of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// Its name.
    pub name: String,
    /// Its parameters, in order.
    pub parameters: Vec<Parameter>,
    /// Bytes of static shared memory, of itself and of what it calls.
    pub static_shared_bytes: u32,
    /// Most threads of a block, from `.maxntid` or `.reqntid`.
    pub max_threads: Option<u32>,
    /// The only shape a block may have, from `.reqntid`.
    pub required_block: Option<[u32; 3]>,
    /// An estimate of the 32-bit registers of a thread, from the registers declared, at most 255.
    pub registers: u32,
    /// Bytes of local memory of a thread, without what is called.
    pub local_bytes: u32,
    pub(crate) function: usize,
}

/// A parameter of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Its length in bytes.
    pub size: u32,
    /// Its alignment in bytes.
    pub align: u32,
    /// Its place among the kernel's parameters, in bytes.
    pub offset: u32,
}

/// Something in a module that the emulator lacks. It faults when it is executed, not before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// The instruction's mnemonic, or the name of a function without a body.
    pub what: String,
    /// Its PTX line, from 1.
    pub line: u32,
}

/// What decoding gives for a [`Module`].
pub(crate) struct Decoded {
    pub(crate) program: Program,
    pub(crate) kernels: Vec<Kernel>,
    pub(crate) unsupported: Vec<Unsupported>,
}

impl Module {
    /// Parses the text of a module.
    ///
    /// # Errors
    /// Everything in the text that is not PTX or does not fit together, such as names that are not
    /// declared; not instructions that the emulator lacks, which [`Module::unsupported`] lists.
    pub fn parse(ptx: &str) -> Result<Module, ParseErrors> {
        let tree = parse(ptx)?;
        let decoded = decode::decode(&tree)?;
        Ok(Module {
            program: Arc::new(decoded.program),
            kernels: decoded.kernels.into(),
            target: tree.target,
            unsupported: decoded.unsupported.into(),
        })
    }

    /// The kernels, in the order of the text.
    pub fn kernels(&self) -> impl Iterator<Item = &Kernel> {
        self.kernels.iter()
    }

    /// The kernel called `name`.
    pub fn kernel(&self, name: &str) -> Option<&Kernel> {
        self.kernels.iter().find(|kernel| kernel.name == name)
    }

    /// Capability and suffix of the `.target` directive: `sm_90a` is `(90, Some('a'))`.
    pub fn target(&self) -> (u32, Option<char>) {
        self.target
    }

    /// What of the module cannot run, in the order of its lines.
    pub fn unsupported(&self) -> Vec<Unsupported> {
        self.unsupported.to_vec()
    }
}

impl std::fmt::Debug for Module {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Module")
            .field("target", &self.target)
            .field("kernels", &self.kernels)
            .finish_non_exhaustive()
    }
}

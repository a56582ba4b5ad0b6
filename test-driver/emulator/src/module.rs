//! Modules: PTX that is parsed, decoded and analysed.

use crate::analysis;
use crate::decode::decode;
use crate::execute::Code;
use crate::program::{Kernel, Program, Unsupported};
use crate::ptx::{ParseErrors, parse};
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
    /// Of each function of the program.
    pub(crate) code: Arc<[Code]>,
    kernels: Arc<[Kernel]>,
    target: (u32, Option<char>),
    unsupported: Arc<[Unsupported]>,
}

impl Module {
    /// Parses the text of a module.
    ///
    /// # Errors
    /// Everything in the text that is not PTX or does not fit together, such as names that are not
    /// declared; not instructions that the emulator lacks, which [`Module::unsupported`] lists.
    pub fn parse(ptx: &str) -> Result<Module, ParseErrors> {
        let tree = parse(ptx)?;
        let mut decoded = decode(&tree)?;
        let functions = decoded.program.functions.iter_mut().zip(&decoded.bodies);
        let code = functions.map(|(function, body)| analysis::guard(body, function)).collect();
        Ok(Module {
            program: Arc::new(decoded.program),
            code,
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

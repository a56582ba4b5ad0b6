//! Modules: code objects that are loaded, and functions of them.

use crate::{
    code::{self, Code},
    execute::digest,
    metadata::{Kernel, Metadata},
};

#[derive(Debug)]
pub(crate) struct Module {
    pub(crate) device: i32,
    /// The digest of its bytes.
    pub(crate) digest: u64,
    pub(crate) metadata: Metadata,
}

/// A kernel of a module.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub(crate) module: usize,
    pub(crate) device: i32,
    pub(crate) digest: u64,
    pub(crate) kernel: Kernel,
    /// Whether the module says that kernels of it print.
    pub(crate) prints: bool,
}

/// Bytes of the header of a file in ELF, and of an entry of its table of sections.
const HEADER: usize = 64;

impl Module {
    /// Loads a code object for a device of this architecture.
    ///
    /// # Safety
    ///
    /// `image` can be read as far as its header says.
    pub(crate) unsafe fn load(
        image: *const u8,
        device: i32,
        architecture: &str,
    ) -> Result<Self, (Code, String)> {
        let invalid = |what: String| (code::INVALID_IMAGE, what);
        // SAFETY: promised.
        let magic = unsafe { std::slice::from_raw_parts(image, 4) };
        if magic != b"\x7fELF" {
            return Err(invalid("not an ELF file".to_owned()));
        }
        // SAFETY: promised.
        let header = unsafe { std::slice::from_raw_parts(image, HEADER) };
        let word = |at: usize| u64::from_le_bytes(header[at..at + 8].try_into().expect("8 bytes"));
        let half = |at: usize| u16::from_le_bytes([header[at], header[at + 1]]);
        // The table of sections is the last thing in what the linker writes.
        let bytes = word(40) as usize + usize::from(half(58)) * usize::from(half(60));
        // SAFETY: promised.
        let image = unsafe { std::slice::from_raw_parts(image, bytes) };
        let metadata = Metadata::read(image).map_err(invalid)?;
        let mut wanted = metadata.target.split(':');
        let mut has = architecture.split(':');
        let is_processor = wanted.next() == has.next();
        if !is_processor || wanted.any(|mode| !architecture.split(':').any(|it| it == mode)) {
            let what = format!("for {}, but the device is {architecture}", metadata.target);
            return Err((code::NO_BINARY_FOR_GPU, what));
        }
        Ok(Self { device, digest: digest(image), metadata })
    }
}

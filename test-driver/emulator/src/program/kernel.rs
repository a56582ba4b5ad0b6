//! What is known of kernels before they run: parameters, limits, resources.

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

//! A kernel file in Rust, and how rustc is to compile it.

use std::path::PathBuf;

use kernelmill_artifact::{DeviceFunction, Signature};

/// A kernel file in Rust.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RustSource {
    /// The file, absolute.
    pub path: PathBuf,
    /// The file as people know it, for example `kernels/saxpy.rs`: what panics and rustc's
    /// messages show.
    pub display: String,
    /// The folder of the package, absolute.
    pub package_root: PathBuf,
    /// The Rust edition of the package, for example `2024`.
    pub edition: String,
    /// What `--cfg` is given, besides `kernelmill`.
    pub cfgs: Vec<String>,
    /// Further arguments of rustc.
    pub arguments: Vec<String>,
    /// The kernels that the file defines.
    pub signatures: Vec<Signature>,
    /// The functions in it that the host can give to kernels.
    pub functions: Vec<DeviceFunction>,
    /// Instances of its generic kernels besides those in the file, each with the name of its kernel.
    pub instances: Vec<(String, String)>,
}

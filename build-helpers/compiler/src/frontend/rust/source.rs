//! A kernel file in Rust, and how rustc is to compile it.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

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
    /// What stands for files while rustc runs, where not all of them is to be compiled.
    pub mirror: Option<Mirror>,
}

/// A crate of which only some of the text is compiled: rustc is given a folder with these files, in which each lies at
/// its absolute path, and names them by that path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mirror {
    /// Files with their texts; the crate's root is among them.
    pub texts: Vec<MirroredText>,
    /// Files that are there as they are, absolute.
    pub copies: Vec<PathBuf>,
}

/// A file of a [`Mirror`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MirroredText {
    /// The file that it stands for, absolute.
    pub path: PathBuf,
    /// What rustc reads there.
    pub text: Arc<str>,
    /// Whether that is all of the file. Of one of which it is not, the rest changes nothing.
    pub is_whole: bool,
}

impl Mirror {
    /// The text that stands for a file.
    #[must_use]
    pub fn text(&self, path: &Path) -> Option<&str> {
        self.texts.iter().find(|it| it.path == path).map(|it| &*it.text)
    }
}

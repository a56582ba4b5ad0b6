//! Libraries of device code, which cubins are linked with: relocatable objects of NVIDIA's.

use std::path::PathBuf;

/// Libraries of device code, and the linker for them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DeviceLink {
    /// NVIDIA's linker of device code, where a target needs it.
    pub nvlink: Option<PathBuf>,
    /// What `nvlink --version` printed; empty where none is needed.
    pub version: String,
    /// The libraries, in the order in which they are searched.
    pub libraries: Vec<DeviceLibrary>,
}

/// Relocatable device code: an archive, an object of `nvcc -dc`, a cubin of `ptxas -c`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DeviceLibrary {
    /// How people know it.
    pub name: String,
    /// Whether the settings name it. The toolkit's own is looked at without.
    pub is_named: bool,
    /// Where it is.
    pub path: PathBuf,
    /// The digest of its content.
    pub digest: String,
}

impl DeviceLink {
    /// Everything here that can change a cubin's bytes, as text. No path is in it.
    pub(crate) fn key(&self) -> String {
        let digests = self.libraries.iter().map(|library| library.digest.as_str());
        let digests: Vec<_> = digests.collect();
        format!("{} {}", self.version.trim(), digests.join(" "))
    }

    /// The names of the libraries, for messages.
    #[must_use]
    pub fn names(&self) -> String {
        let names = self.libraries.iter().map(|library| format!("`{}`", library.name));
        names.collect::<Vec<_>>().join(", ")
    }
}

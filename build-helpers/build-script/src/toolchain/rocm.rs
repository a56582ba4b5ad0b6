//! ROCm's device libraries.

use super::search::Search;
use std::path::PathBuf;

/// Where the folder with the libraries lies below an installation: ROCm's own, and Debian's.
const FOLDERS: [&str; 3] =
    ["amdgcn/bitcode", "lib/x86_64-linux-gnu/amdgcn/bitcode", "lib/amdgcn/bitcode"];

/// Finds AMD's mathematical functions: in the folder that `HIP_DEVICE_LIB_PATH` names, below
/// `ROCM_PATH`, and where ROCm and Debian's packages are installed.
pub(crate) fn find_ocml(search: &Search<'_>) -> Option<PathBuf> {
    let named = search.environment.path("HIP_DEVICE_LIB_PATH");
    let root = search.environment.path("ROCM_PATH");
    let roots = root.into_iter().chain(["/opt/rocm", "/usr"].map(PathBuf::from));
    let below = roots.flat_map(|root| FOLDERS.map(|folder| root.join(folder)));
    named.into_iter().chain(below).map(|it| it.join("ocml.bc")).find(|path| path.is_file())
}

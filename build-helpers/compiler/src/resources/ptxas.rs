//! Spills of the kernels that ptxas assembles, as `ptxas -v` prints them ([ptxas options]):
//!
//! ```text
//! ptxas info    : Compiling entry function 'k' for 'sm_80'
//! ptxas info    : Function properties for k
//!     352 bytes stack frame, 384 bytes spill stores, 256 bytes spill loads
//! ptxas info    : Used 32 registers, used 1 barriers, 364 bytes cmem[0]
//! ```
//!
//! Behind the properties of a kernel are those of the functions that it calls; the spills of all of them are the
//! kernel's.
//!
//! [ptxas options]: https://docs.nvidia.com/cuda/cuda-compiler-driver-nvcc/#verbose-v

use std::collections::BTreeMap;

/// The bytes of a thread that spilled registers are stored to, and loaded from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Spills {
    /// What stores write.
    pub(crate) stores: u32,
    /// What loads read.
    pub(crate) loads: u32,
}

/// How ptxas starts what is no warning.
const INFO: &str = "ptxas info ";

/// Whether a line is of what ptxas prints only because it is asked for.
pub(crate) fn is_said(line: &str) -> bool {
    line.starts_with(INFO) || properties(line).is_some()
}

/// The spills of each kernel, by its symbol.
pub(crate) fn spills(said: &str) -> BTreeMap<String, Spills> {
    let mut found: BTreeMap<String, Spills> = BTreeMap::new();
    let mut kernel = None;
    for line in said.lines() {
        if let Some((_, rest)) = line.split_once("Compiling entry function '") {
            kernel = rest.split('\'').next().map(str::to_owned);
        } else if let (Some(kernel), Some(function)) = (&kernel, properties(line)) {
            let all = found.entry(kernel.clone()).or_default();
            all.stores = all.stores.saturating_add(function.stores);
            all.loads = all.loads.saturating_add(function.loads);
        }
    }
    found
}

/// `N bytes stack frame, N bytes spill stores, N bytes spill loads`.
fn properties(line: &str) -> Option<Spills> {
    let mut parts = line.trim().split(", ");
    let mut bytes = |what| parts.next()?.strip_suffix(what)?.parse::<u32>().ok();
    bytes(" bytes stack frame")?;
    Some(Spills { stores: bytes(" bytes spill stores")?, loads: bytes(" bytes spill loads")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Acceptance: S3.8.
    #[test]
    fn stores_and_loads_of_a_kernel_are_those_of_its_functions_too() {
        let said = "\
ptxas warning : Stack size for entry function 'k' cannot be statically determined
ptxas info    : 0 bytes gmem, 128 bytes cmem[3]
ptxas info    : Compiling entry function 'k2' for 'sm_80'
ptxas info    : Function properties for k2
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 96 registers, used 0 barriers, 364 bytes cmem[0]
ptxas info    : Compiling entry function 'k' for 'sm_80'
ptxas info    : Function properties for k
    8 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads
ptxas info    : Used 32 registers, used 0 barriers, 364 bytes cmem[0]
ptxas info    : Function properties for _Z1gPfi
    728 bytes stack frame, 556 bytes spill stores, 952 bytes spill loads
";
        let found = spills(said);
        assert_eq!(found["k2"], Spills::default());
        assert_eq!(found["k"], Spills { stores: 560, loads: 960 });
        assert_eq!(found.len(), 2);
        assert_eq!(said.lines().filter(|line| !is_said(line)).count(), 1, "the warning is left");
    }

    #[test]
    fn what_is_no_line_of_ptxas_says_nothing() {
        for line in ["", "8 bytes stack frame", "x bytes stack frame, 1 bytes spill stores"] {
            assert_eq!(properties(line), None, "{line}");
        }
        assert!(
            spills("    0 bytes stack frame, 1 bytes spill stores, 1 bytes spill loads").is_empty()
        );
    }
}

//! The target `native`: the GPUs in this machine.

use crate::base::environment::BuildEnvironment;
use kernelmill_artifact::Target;
use std::{fs, process::Command};

/// One target for each kind of GPU in this machine; `cpu`, with a warning, where there is none.
///
/// AMD GPUs are listed by the kernel's driver, NVIDIA GPUs by `nvidia-smi`. A cubin is made for
/// exactly the architecture found; no suffix is added.
pub(crate) fn targets(environment: &BuildEnvironment) -> Vec<Target> {
    let listed = Command::new("nvidia-smi")
        .args(["--query-gpu=compute_cap", "--format=csv,noheader"])
        .output()
        .ok()
        .filter(|output| output.status.success())
        .map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let mut found = Vec::new();
    let capabilities = listed.as_deref().unwrap_or_default().lines().map(str::trim);
    for name in capabilities.filter(|line| !line.is_empty()).map(str::to_owned).chain(amd()) {
        match Target::parse_entry(&name) {
            Ok(targets) => found.extend(targets),
            Err(_) => environment.cargo.warn(&format!(
                "target `native`: this machine has a GPU of architecture {name}, which this \
                 version of kernelmill does not know; nothing is compiled for it"
            )),
        }
    }
    if found.is_empty() {
        environment.cargo.warn(
            &"target `native`: no GPU was found in this machine, so kernels are compiled for `cpu` only; \
              to build for other machines, name their targets",
        );
        found.push(Target::Cpu);
    }
    found
}

/// The processors that the AMD driver lists.
fn amd() -> Vec<String> {
    let Ok(nodes) = fs::read_dir("/sys/class/kfd/kfd/topology/nodes") else { return Vec::new() };
    let mut found: Vec<_> = nodes
        .filter_map(|node| fs::read_to_string(node.ok()?.path().join("properties")).ok())
        .filter_map(|text| processor(&text))
        .collect();
    found.sort();
    found.dedup();
    found
}

/// `gfx_target_version 90402` is gfx942: decimal pairs of major, minor and step, the last two
/// written as hexadecimal digits.
fn processor(properties: &str) -> Option<String> {
    let line = properties.lines().find_map(|line| line.strip_prefix("gfx_target_version "))?;
    let version: u32 = line.trim().parse().ok().filter(|version| *version > 0)?;
    Some(format!("gfx{}{:x}{:x}", version / 10000, version / 100 % 100, version % 100))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_drivers_numbers_are_processors() {
        let name =
            |version: u32| processor(&format!("simd_count 1\ngfx_target_version {version}\n"));
        assert_eq!(name(90402).as_deref(), Some("gfx942"));
        assert_eq!(name(90010).as_deref(), Some("gfx90a"));
        assert_eq!(name(110_000).as_deref(), Some("gfx1100"));
        assert_eq!(name(0), None);
    }
}

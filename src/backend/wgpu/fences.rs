//! Fences of memory in modules (`OpMemoryBarrier`), and devices whose drivers do something else with them.

use super::interface;

/// What becomes of fences on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fences {
    Kept,
    /// They are left out: Mesa's llvmpipe makes barriers of the work-group of them, up to version 22 at least, at which
    /// threads of other branches are lost. Its atomic operations are those of the processor, which order all memory.
    LeftOut,
    /// A module with fences is not loaded: naga makes barriers of the thread group of them in Metal's language.
    Refused,
}

/// The last version of Mesa whose fences were seen to be barriers.
const LAST_MESA: u32 = 22;

/// The number of `OpMemoryBarrier`.
const OP_MEMORY_BARRIER: u32 = 225;

impl Fences {
    /// Of a device of Metal, or of another with this driver.
    pub(super) fn of(is_metal: bool, driver: &str) -> Self {
        match is_metal {
            true => Self::Refused,
            false if is_old_llvmpipe(driver) => Self::LeftOut,
            false => Self::Kept,
        }
    }
}

/// Whether a driver is Mesa's llvmpipe of such a version: `llvmpipe Mesa 22.3.6 (LLVM 15.0.6)`.
fn is_old_llvmpipe(driver: &str) -> bool {
    let version = driver.split("Mesa ").nth(1).and_then(|rest| rest.split('.').next());
    let version = version.and_then(|it| it.parse::<u32>().ok());
    driver.contains("llvmpipe") && version.is_some_and(|version| version <= LAST_MESA)
}

/// Whether a module has fences.
pub(super) fn has(module: &[u32]) -> bool {
    interface::instructions(module).any(|(_, code, _)| code == OP_MEMORY_BARRIER)
}

/// A module without its fences.
pub(super) fn without(module: &[u32]) -> Vec<u32> {
    let mut kept = module[..interface::HEADER].to_vec();
    for (place, code, _) in interface::instructions(module) {
        if code != OP_MEMORY_BARRIER {
            kept.extend_from_slice(&module[place]);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_versions_of_llvmpipe_are_known() {
        assert_eq!(Fences::of(true, ""), Fences::Refused);
        assert!(is_old_llvmpipe("llvmpipe Mesa 22.3.6 (LLVM 15.0.6)"));
        for other in
            ["llvmpipe Mesa 23.1.0 (LLVM 16.0.0)", "radv Mesa 22.3.6", "llvmpipe", "NVIDIA 580.1"]
        {
            assert!(!is_old_llvmpipe(other), "{other}");
        }
    }

    #[test]
    fn fences_are_left_out() {
        let fence = [3 << 16 | OP_MEMORY_BARRIER, 7, 8];
        let barrier = [4 << 16 | 224, 7, 7, 8];
        let header = [0x0723_0203, 0x0001_0400, 0, 9, 0];
        let module = [&header[..], &barrier, &fence, &barrier].concat();
        assert!(has(&module));
        let changed = without(&module);
        assert!(!has(&changed));
        assert_eq!(changed, [&header[..], &barrier, &barrier].concat());
    }
}

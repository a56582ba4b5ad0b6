//! CPU dispatch: which of a kernel's functions runs on this processor.
//!
//! A kernel is compiled for several levels of the instruction set. Guaranteed: the function taken needs
//! nothing that the processor lacks.

use std::sync::LazyLock;

use crate::embedded::abi::Run;

/// The variable that limits what is used of the processor.
const VARIABLE: &str = "KERNELMILL_CPU";

/// Its values, in the order of [`run`](crate::embedded::abi::Kernel::run).
const NAMES: [&str; 3] = ["baseline", "avx2", "avx512"];

/// The level that is used.
static LEVEL: LazyLock<usize> =
    LazyLock::new(|| level(std::env::var(VARIABLE).ok().as_deref(), detected()));

/// The name of the level that is used, where the architecture has several.
pub(super) fn level_name() -> Option<&'static str> {
    cfg!(target_arch = "x86_64").then(|| NAMES[*LEVEL])
}

/// The best function that this processor runs, and the environment allows.
pub(super) fn best(functions: &[Option<Run>; 3]) -> Option<Run> {
    functions[..=*LEVEL].iter().rev().copied().flatten().next()
}

/// The level to use where the processor has `detected`: never more than that, whatever is asked
/// for. What is no level counts as not asked for.
fn level(asked: Option<&str>, detected: usize) -> usize {
    let asked = asked.and_then(|asked| NAMES.iter().position(|name| *name == asked));
    asked.map_or(detected, |asked| asked.min(detected))
}

/// What the processor, and the operating system, allow. The lists are those of the levels v3 and
/// v4 of the x86-64 psABI, which compiled code is built for.
#[cfg(target_arch = "x86_64")]
fn detected() -> usize {
    let v3 = is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("f16c")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("movbe");
    let v4 = v3
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512cd")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl");
    usize::from(v3) + usize::from(v4)
}

#[cfg(not(target_arch = "x86_64"))]
fn detected() -> usize {
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_the_processor_has_is_never_used() {
        assert_eq!(level(None, 1), 1);
        assert_eq!(level(Some("avx512"), 1), 1);
        assert_eq!(level(Some("avx512"), 2), 2);
        assert_eq!(level(Some("baseline"), 2), 0);
        assert_eq!(level(Some("avx2"), 2), 1);
        assert_eq!(level(Some("avx1024"), 2), 2);
    }

    #[test]
    fn a_function_that_is_not_there_is_passed_over() {
        unsafe extern "C" fn run(_: *const *const u8, _: *mut crate::embedded::abi::Block) {}
        assert!(best(&[Some(run), None, None]).is_some());
        assert!(best(&[None, None, None]).is_none());
    }
}

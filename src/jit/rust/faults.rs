//! What a program can choose wrongly: constants and kernels that the bitcode does not have, values of other types, and launch
//! bounds that are wider than those of the source. Each is one line for people.

use std::collections::{BTreeMap, BTreeSet};

use kernelmill_artifact::{BitcodeConstant, LaunchLimits, Signature, target::nearest};

use super::constant::ConstantValue;

/// Values of constants that no source has, or that are of another type.
pub(super) fn constant_faults(
    chosen: &BTreeMap<String, ConstantValue>,
    known: &BTreeSet<&BitcodeConstant>,
) -> Vec<String> {
    let mut faults = Vec::new();
    for (name, value) in chosen {
        let mut own = known.iter().filter(|it| it.name == *name).peekable();
        if own.peek().is_none() {
            let all = list(known.iter().map(|it| format!("{}: {}", it.name, it.ty)));
            let near = near(name, known.iter().map(|it| &*it.name));
            faults.push(format!(
                "the bitcode has no constant `{name}`{near}; its constants: {all}; declare constants with `constant!` \
                 of kernelmill-device"
            ));
        }
        if let Some(other) = own.find(|it| it.ty != value.ty) {
            let (expected, found) = (&other.ty, value.ty);
            faults.push(format!(
                "the constant `{name}` has the type `{expected}`, but is given a value of type `{found}`"
            ));
        }
    }
    faults
}

/// That launch bounds are given for a kernel that there is not among `names`.
pub(super) fn missing_kernel(name: &str, names: &[&str]) -> String {
    let near = near(name, names.iter().copied());
    let all = list(names.iter().map(|name| (*name).to_owned()));
    format!(
        "launch bounds are given for the kernel `{name}`, which the bitcode does not have{near}; its kernels: {all}. \
         Of generic kernels it has only the instances that the build has made"
    )
}

/// The launch bounds of a kernel that are chosen, with those of its source, which they may only narrow.
pub(super) fn narrowed(
    signature: &Signature,
    chosen: LaunchLimits,
) -> Result<LaunchLimits, String> {
    let own = signature.limits;
    let limits = chosen.or(own);
    let threads: u32 = limits.block.iter().product();
    let fault = if limits.block != [0; 3] && limits.block.contains(&0) {
        format!("the block size {:?} has no threads", limits.block)
    } else if own.block != [0; 3] && own.block != limits.block {
        format!(
            "its source states the block size {:?}, but {:?} was chosen",
            own.block, limits.block
        )
    } else if own.max_block_threads > 0 && limits.max_block_threads > own.max_block_threads {
        format!(
            "its source states at most {} threads per block, but {} were chosen",
            own.max_block_threads, limits.max_block_threads
        )
    } else if limits.max_block_threads > 0 && threads > limits.max_block_threads {
        format!(
            "a block of {:?} has more threads than the launch bounds allow, {}",
            limits.block, limits.max_block_threads
        )
    } else {
        return Ok(limits);
    };
    Err(format!("the kernel `{}`: {fault}", signature.name()))
}

/// The name that is nearest to one that there is not.
fn near<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> String {
    let near = nearest(name, names.map(str::to_owned));
    near.map_or_else(String::new, |it| format!(" (the nearest is `{it}`)"))
}

/// Names between backquotes, or that there are none.
fn list(names: impl IntoIterator<Item = String>) -> String {
    let names: Vec<_> = names.into_iter().map(|name| format!("`{name}`")).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

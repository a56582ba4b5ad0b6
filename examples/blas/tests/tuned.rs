//! What the committed tuning file has for a device is what launches on it get; on others they are as if nothing was tuned.

use std::collections::BTreeMap;

use blas::{
    Blas, Element, Instances, Tile,
    kernels::{Half, Kernels},
};
use kernelmill::{CompiledKernel, Device};

const FILE: &str = include_str!("../kernelmill-tuning.toml");

/// A choice of the file, by its keys.
type Choice = BTreeMap<&'static str, &'static str>;

/// The choices of the file, which has a line for each key.
fn choices() -> Vec<Choice> {
    let tables = FILE.split("[[choice]]\n").skip(1);
    let pairs = |table: &'static str| table.lines().filter_map(|line| line.split_once(" = "));
    tables
        .map(|table| pairs(table).map(|(key, value)| (key, value.trim_matches('"'))).collect())
        .collect()
}

/// The smallest sizes of a choice's class.
fn sizes<const D: usize>(choice: &Choice) -> [usize; D] {
    let classes = choice["size-class"].trim_matches(['[', ']']).split(", ");
    let sizes: Vec<usize> = classes.map(|class| 1 << class.parse::<u32>().unwrap()).collect();
    sizes.try_into().unwrap()
}

/// Whether a choice is for the device of the kernels. That of the CPU is from a version that did not say its level.
fn is_here(choice: &Choice, kernels: &Kernels) -> bool {
    let device = kernels.device();
    [device.tuning_name(), device.name()].contains(&choice["device"])
}

/// Whether the file has anything for the device of the kernels.
fn is_tuned(kernels: &Kernels) -> bool {
    choices().iter().any(|it| is_here(it, kernels))
}

/// Compares the tiles of a routine with those in the file, on a device that is in it; else with the smallest.
fn check<const D: usize, T: Element, S: Element>(kernels: &Kernels, routine: &str)
where
    Kernels: Instances<T, S>,
{
    let blas = Blas::<T, S>::new(kernels);
    let group = Blas::<T, S>::group(routine);
    let mut count = 0;
    for choice in choices().iter().filter(|it| it.get("group") == Some(&&*group)) {
        count += 1;
        let names = blas.instances(routine).unwrap().map(|kernel| kernel.name());
        let place = names.iter().position(|name| *name == choice["kernel"]);
        let place = place.unwrap_or_else(|| panic!("{choice:?} is none of {names:?}"));
        let is_here = is_here(choice, kernels);
        let expected = if is_here { Tile::ALL[place] } else { Tile::Small };
        if is_here || !is_tuned(kernels) {
            assert_eq!(blas.fastest(routine, sizes::<D>(choice)).unwrap(), expected, "{choice:?}");
        }
    }
    assert!(count >= 3, "{group} is not tuned");
}

fn check_all<T: Element, S: Element>(kernels: &Kernels)
where
    Kernels: Instances<T, S>,
{
    check::<1, T, S>(kernels, "axpy");
    check::<1, T, S>(kernels, "dot");
    check::<2, T, S>(kernels, "gemv");
    check::<3, T, S>(kernels, "gemm");
}

#[test]
fn tiles_are_those_of_the_file() {
    let kernels = Kernels::load(&Device::cpu().unwrap()).unwrap();
    check_all::<f32, f32>(&kernels);
    check_all::<f64, f64>(&kernels);
    check_all::<Half, f32>(&kernels);
}

#[test]
fn a_device_that_was_not_tuned_gets_the_smallest_tiles() {
    let device = Device::cpu_sequential().unwrap();
    assert!(!FILE.contains(&format!("{:?}", device.name())), "it was tuned");
    check_all::<f32, f32>(&Kernels::load(&device).unwrap());
}

#[test]
fn blocks_of_axpy_are_those_of_the_file() {
    let kernels = Kernels::load(&Device::cpu().unwrap()).unwrap();
    let all = kernels.compiled();
    let instances: [CompiledKernel; 9] = [
        all.axpy_f32_f32_1().unwrap(),
        all.axpy_f32_f32_4().unwrap(),
        all.axpy_f32_f32_16().unwrap(),
        all.axpy_f64_f64_1().unwrap(),
        all.axpy_f64_f64_4().unwrap(),
        all.axpy_f64_f64_16().unwrap(),
        all.axpy_Half_f32_1().unwrap(),
        all.axpy_Half_f32_4().unwrap(),
        all.axpy_Half_f32_16().unwrap(),
    ];
    for kernel in &instances {
        let is_own = |it: &&Choice| !it.contains_key("group") && it["kernel"] == kernel.name();
        let choices = choices();
        let own: Vec<_> = choices.iter().filter(is_own).collect();
        assert!(own.len() >= 3, "{} is not tuned", kernel.name());
        for choice in own {
            let [block] = kernel.suggested_block_shape(sizes(choice));
            if is_here(choice, &kernels) {
                assert_eq!(block.to_string(), choice["block"], "{choice:?}");
            } else if !is_tuned(&kernels) {
                assert_eq!(block, 256, "{choice:?}");
            }
        }
    }
}

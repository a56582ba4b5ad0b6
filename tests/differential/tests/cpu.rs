//! Every random kernel on the CPU.

use differential::{CASES, CHECKED, Context, STRIDES, TILES};
use kernelmill::Device;
use kernelmill_build::manifest::{Lowering, Manifest, ScalarReason, Strategy};
use std::{env, path::Path, process::Command};

#[test]
fn the_cpu_agrees_with_the_host() {
    let context = Context::new(Device::cpu().unwrap()).unwrap();
    assert!(CASES.len() >= 50);
    for case in CASES {
        context.check(case).unwrap_or_else(|error| panic!("{error}"));
    }
    for tile in TILES {
        context.check_tile(tile).unwrap_or_else(|error| panic!("{error}"));
    }
    for stride in STRIDES {
        context.check_stride(stride).unwrap_or_else(|error| panic!("{error}"));
    }
    for checked in CHECKED {
        context.check_checked(checked).unwrap_or_else(|error| panic!("{error}"));
    }
}

/// Agreement says nothing of vectorised code where no kernel has any.
#[test]
fn many_cases_are_vectorised_and_the_vectoriser_failed_on_none() {
    let manifest = Manifest::read(Path::new(env!("OUT_DIR"))).unwrap();
    let kernels = manifest.binaries.iter().flat_map(|binary| &binary.kernels);
    let strategies: Vec<_> = kernels.filter_map(|kernel| kernel.strategy.as_ref()).collect();
    let count = |is: &dyn Fn(&Strategy) -> bool| strategies.iter().filter(|it| is(it)).count();
    let has_failed =
        |it: &Strategy| matches!(it.scalar, Some(ScalarReason::VectorizationFailed { .. }));
    assert_eq!(count(&has_failed), 0, "{strategies:?}");
    assert!(count(&|it| it.block == Some([64, 1, 1])) >= 20, "{strategies:?}");
    assert!(count(&|it| it.interchanged_loops == 1) >= 10, "{strategies:?}");
    let is_vectorised = |it: &Strategy| !it.widths.is_empty();
    let loops = count(&|it| is_vectorised(it) && it.lowering == Lowering::ThreadLoop);
    let has_regions = |it: &Strategy| matches!(it.lowering, Lowering::BarrierRegions { .. });
    let regions = count(&|it| is_vectorised(it) && has_regions(it));
    let exits = count(&|it| {
        is_vectorised(it)
            && matches!(it.lowering, Lowering::BarrierRegions { early_exits: 1.., .. })
    });
    assert!(exits >= 10, "{exits} of {strategies:?}");
    let coroutines = count(&|it| matches!(it.lowering, Lowering::Coroutine(_)));
    assert!(loops >= 5 && regions >= 20 && coroutines >= 30, "{loops} {regions} {coroutines}");
}

/// The same for what is compiled for older processors; one that this machine has not counts as its own.
#[test]
fn what_older_processors_run_agrees_too() {
    for processor in ["baseline", "avx2"] {
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["--exact", "the_cpu_agrees_with_the_host"]).env("KERNELMILL_CPU", processor);
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("1 passed"), "{processor}: {text}");
    }
}

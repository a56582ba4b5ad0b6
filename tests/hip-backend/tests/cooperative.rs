//! Cooperative launches on the fake HIP run time. That they are right is checked with all other kernels.

use conformance::{Context, Scope};
use hip_backend::{Kernels, clean_child, register_conformance, register_own};
use kernelmill::{Capability, Device, Support};

/// What each check of a kernel whose blocks wait for each other gives.
fn outcomes() -> Vec<(&'static str, conformance::Outcome)> {
    register_conformance();
    let context = Context::new(Device::hip(0).unwrap()).unwrap();
    let names = ["grid_distances", "grid_jacobi", "grid_rounds", "grid_panics"];
    let checks = conformance::all().into_iter().filter(|it| names.contains(&it.name));
    let checks = checks.filter(|it| it.scope == Scope::Everywhere);
    let outcomes: Vec<_> = checks.map(|check| (check.name, check.run(&context))).collect();
    assert_eq!(outcomes.len(), names.len());
    drop(context);
    kernelmill::module_cache().release_unused();
    outcomes
}

#[test]
fn a_device_without_cooperative_launches_refuses_such_kernels() {
    let name = "a_device_without_cooperative_launches_refuses_such_kernels";
    clean_child(name, &[("FAKE_HIP_COOPERATIVE", "0")], || {
        for (kernel, outcome) in outcomes() {
            let error = outcome.unwrap_err().to_string();
            let is_told = error.contains("needs cooperative launches, which")
                || error.contains("no cooperative launches");
            assert!(is_told, "{kernel}: {error}");
        }
    });
}

#[test]
fn a_call_that_fails_is_named_and_the_next_launch_works() {
    let calls = [
        "hipModuleLaunchCooperativeKernel",
        "hipModuleOccupancyMaxActiveBlocksPerMultiprocessor",
        "hipMemsetD8Async",
    ];
    let name = "a_call_that_fails_is_named_and_the_next_launch_works";
    for call in calls {
        let failure = format!("{call} at call 3");
        clean_child(name, &[("FAKE_HIP_FAIL", &*failure)], || {
            let outcomes = outcomes();
            let failed = outcomes.iter().filter_map(|(_, outcome)| outcome.as_ref().err());
            let failed: Vec<_> = failed.map(ToString::to_string).collect();
            assert!(matches!(&failed[..], [error] if error.contains("failed")), "{failed:?}");
        });
    }
}

/// By the threads of a compute unit, 2048, and its local memory, 64 KiB.
#[test]
fn the_driver_says_the_occupancy() {
    clean_child("the_driver_says_the_occupancy", &[], || {
        register_own();
        let device = Device::hip(0).unwrap();
        assert_eq!(device.support(Capability::Occupancy), Support::Full);
        let kernels = Kernels::load(&device).unwrap();
        let saxpy = kernels.compiled().saxpy().unwrap();
        for (threads, bytes, blocks) in
            [(256, 0, 8), (100, 0, 20), (256, 20 << 10, 3), (1025, 0, 0)]
        {
            let found = saxpy.occupancy(threads, bytes).unwrap().unwrap();
            assert_eq!((found.blocks, found.max_warps), (blocks, 64), "{threads}, {bytes}");
            assert_eq!(found.warps, blocks * threads.div_ceil(32));
        }
        assert_eq!(saxpy.suggested_block_size(0).unwrap(), 1024);
    });
}

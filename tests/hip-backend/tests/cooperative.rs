//! Cooperative launches on the fake HIP run time. That they are right is checked with all other kernels.

use conformance::{Context, Scope};
use hip_backend::{clean_child, register_conformance};
use kernelmill::Device;

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

//! Compiled kernels on the fake driver: what the driver says of them, and how long they stay loaded.

use cuda_backend::{Kernels, clean_child};
use kernelmill::{
    ArtifactKind, CompiledKernel, Device, Launch, Multiprocessor, Resources, artifact::Target,
    module_cache, select::Architecture,
};

fn compiled(device: &Device) -> (Kernels, CompiledKernel) {
    let kernels = Kernels::load(device).unwrap();
    let saxpy = kernels.compiled().unwrap();
    (kernels, saxpy)
}

/// Acceptance: S3.1.
#[test]
fn a_compiled_kernel_says_who_it_is_and_what_the_driver_has_made_of_it() {
    let name = "a_compiled_kernel_says_who_it_is_and_what_the_driver_has_made_of_it";
    clean_child(name, &[("FAKE_CUDA_ARCH", "80")], || {
        let device = Device::cuda(0).unwrap();
        let (_kernels, saxpy) = compiled(&device);
        assert_eq!((saxpy.name(), saxpy.entry()), ("saxpy", "saxpy"));
        assert_eq!((saxpy.source(), saxpy.target()), ("kernels/saxpy.rs", "compute_75"));
        assert_eq!((saxpy.fingerprint(), saxpy.kind()), ("cuda-backend", ArtifactKind::Ptx));
        assert_eq!(saxpy.device(), &device);
        let Resources { registers, static_shared_bytes, max_threads, spill_stores, .. } =
            saxpy.resources().unwrap();
        assert!(registers.is_some_and(|count| (1..=255).contains(&count)), "{registers:?}");
        assert_eq!((static_shared_bytes, max_threads), (Some(0), Some(1024)));
        assert_eq!(spill_stores, None, "the driver does not say it");
    });
}

/// Acceptance: S3.1.
#[test]
fn the_driver_and_the_rules_agree_on_occupancy() {
    clean_child("the_driver_and_the_rules_agree_on_occupancy", &[("FAKE_CUDA_ARCH", "80")], || {
        let device = Device::cuda(0).unwrap();
        let (_kernels, saxpy) = compiled(&device);
        let Architecture::Nvidia { major, minor } = *device.architecture() else {
            panic!("it is NVIDIA's")
        };
        let Ok(Target::Cubin(arch)) = format!("sm_{major}{minor}").parse() else {
            panic!("it is a target")
        };
        let rules = Multiprocessor::of(arch).unwrap();
        let resources = saxpy.resources().unwrap();
        let mut different = std::collections::BTreeSet::new();
        for (threads, shared) in [
            (32, 0),
            (128, 0),
            (256, 0),
            (1024, 0),
            (128, 20 << 10),
            (256, 100 << 10),
            (2048, 0),
            (0, 0),
        ] {
            let found = saxpy.occupancy(threads, shared).unwrap().unwrap();
            let expected = rules.resident_blocks(&resources, threads, shared);
            assert_eq!(Some(found.blocks), expected, "{threads} threads, {shared} bytes");
            assert_eq!(found.warps, found.blocks * threads.div_ceil(32));
            assert!((0.0..=1.0).contains(&found.fraction()), "{found:?}");
            different.insert(found.blocks);
        }
        assert!(different.len() > 4, "{different:?}");
        let best = saxpy.suggested_block_size(0).unwrap();
        assert_eq!(best, 1024);
        // Few blocks fit, so that they have all threads.
        let best = saxpy.suggested_block_size(100 << 10).unwrap();
        let few = rules.resident_blocks(&resources, 1024, 100 << 10);
        let found = saxpy.occupancy(best, 100 << 10).unwrap().unwrap();
        assert_eq!((best, Some(found.blocks)), (1024, few));
        assert!(found.blocks < 3, "{found:?}");
    });
}

/// Acceptance: S3.1.
#[test]
fn a_module_is_unloaded_after_the_last_of_its_kernels_and_their_work() {
    let name = "a_module_is_unloaded_after_the_last_of_its_kernels_and_their_work";
    clean_child(name, &[("FAKE_CUDA_STREAMS", "lazy")], || {
        module_cache().set_capacity(0);
        let device = Device::cuda(0).unwrap();
        let (kernels, saxpy) = compiled(&device);
        let another = kernels.compiled().unwrap();
        let (x, mut y) = (device.upload(&[1.0_f32; 4]).unwrap(), device.zeros(4).unwrap());
        let stream = device.new_stream().unwrap();
        kernels.saxpy(&stream, Launch::linear(4), 3.0, &x, &mut y).unwrap();
        let loaded = || {
            let statistics = module_cache().statistics();
            (statistics.loaded, statistics.unloads)
        };
        drop(kernels);
        drop(another);
        assert_eq!((loaded(), saxpy.name()), ((1, 0), "saxpy"), "one kernel of it lives");
        drop(saxpy);
        stream.synchronize().unwrap();
        module_cache().release_unused();
        assert_eq!(loaded(), (0, 1));
        assert_eq!(y.download().unwrap(), [3.0; 4]);
    });
}

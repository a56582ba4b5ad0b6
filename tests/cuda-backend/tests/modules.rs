//! The module cache on the fake driver and on the processor: what Halide's tests of its cache state
//! (`gpu_many_kernels`, `gpu_multi_context_threaded`, `gpu_object_lifetime`), budgets, and loaders.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Barrier,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use cuda_backend::{Gate, Kernels, clean_child, copy, cuda_stream, fake_child, many_modules};
use cudarc::driver::CudaContext;
use kernelmill::{__codegen::KernelSet, CacheStatistics, Device, Error, Launch, module_cache};

fn copies(numbers: std::ops::RangeInclusive<usize>) -> Vec<(usize, &'static KernelSet)> {
    numbers.map(|number| (number, copy(number))).collect()
}

/// Loads and runs each of the kernels, which add their numbers.
fn sum(device: &Device, copies: &[(usize, &'static KernelSet)]) -> f32 {
    let (one, mut sum) = (device.upload(&[1.0_f32]).unwrap(), device.zeros::<f32>(1).unwrap());
    for (number, copy) in copies {
        let kernels = Kernels::load_copy(device, copy).unwrap();
        let launch = Launch::grid([1], [1]);
        kernels.saxpy(&device.stream(), launch, *number as f32, &one, &mut sum).unwrap();
    }
    let found = sum.download().unwrap()[0];
    // Freeing the buffers is work of the stream too, and modules of streams with work are not evicted.
    drop((one, sum));
    device.synchronize().unwrap();
    found
}

fn counts() -> (u64, u64, u64) {
    let CacheStatistics { loads, unloads, hits, .. } = module_cache().statistics();
    (loads, unloads, hits)
}

fn many_kernels(device: &Device) {
    let copies = copies(1..=70);
    many_modules(device, |device, count| sum(device, &copies[..count]));
}

/// Acceptance: S4.3, S4.8, S4.12, C25.
#[test]
fn many_kernels_on_cuda() {
    clean_child("many_kernels_on_cuda", &[], || many_kernels(&Device::cuda(0).unwrap()));
}

/// Acceptance: S4.12, C25.
#[test]
fn many_kernels_on_the_processor() {
    clean_child("many_kernels_on_the_processor", &[], || many_kernels(&Device::cpu().unwrap()));
}

/// Acceptance: S4.6, C25.
#[test]
fn threads_with_fresh_contexts_release_what_they_load() {
    clean_child("threads_with_fresh_contexts_release_what_they_load", &[], || {
        let copies = copies(1..=3);
        // Two pairs of threads.
        let start = Barrier::new(4);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    start.wait();
                    for _ in 0..10 {
                        let context = CudaContext::new(0).unwrap();
                        let device = Device::from_cuda_context(&context).unwrap();
                        assert_eq!(sum(&device, &copies), 6.0);
                    }
                });
            }
        });
        let statistics = module_cache().statistics();
        assert_eq!((statistics.loads, statistics.unloads, statistics.loaded), (120, 120, 0));
        assert_eq!((statistics.evictions, statistics.bytes), (0, 0));
    });
}

#[test]
fn threads_that_use_one_device_load_each_module_once() {
    clean_child("threads_that_use_one_device_load_each_module_once", &[], || {
        let copies = copies(1..=3);
        let device = Device::cuda(0).unwrap();
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..10).for_each(|_| assert_eq!(sum(&device, &copies), 6.0)));
            }
        });
        assert_eq!(counts(), (3, 0, 4 * 10 * 3 - 3));
    });
}

/// Three devices of two generations, by one thread in turn and then by a thread each: each call sets the context that it needs.
#[test]
fn each_device_has_modules_of_its_own() {
    let three = [("FAKE_CUDA_DEVICES", "3"), ("FAKE_CUDA_ARCH", "80,90")];
    fake_child("each_device_has_modules_of_its_own", &three, || {
        let copies = copies(1..=3);
        let devices = [0, 1, 2].map(|ordinal| Device::cuda(ordinal).unwrap());
        for hits in [0, 9] {
            devices.iter().for_each(|device| assert_eq!(sum(device, &copies), 6.0, "{device}"));
            assert_eq!(counts(), (9, 0, hits));
        }
        thread::scope(|scope| {
            for device in &devices {
                let copies = &copies;
                scope.spawn(move || assert_eq!(sum(device, copies), 6.0, "{device}"));
            }
        });
        assert_eq!(counts(), (9, 0, 18));
        drop(devices);
        module_cache().release_unused();
        assert_eq!(counts(), (9, 9, 18));
    });
}

/// Acceptance: S4.13.
#[test]
fn the_bytes_of_modules_are_within_the_budget() {
    clean_child("the_bytes_of_modules_are_within_the_budget", &[], || {
        let device = Device::cuda(0).unwrap();
        let copies = copies(1..=5);
        let bytes = copies[0].1.artifacts[0].bytes.len() as u64;
        sum(&device, &copies);
        assert_eq!(module_cache().statistics().bytes, 5 * bytes);
        module_cache().set_byte_budget(3 * bytes - 1);
        let statistics = module_cache().statistics();
        assert_eq!((statistics.bytes, statistics.evictions), (2 * bytes, 3));
        // Those that were used last have stayed.
        let before = counts().0;
        sum(&device, &copies[3..]);
        assert_eq!(counts().0, before);
    });
}

#[test]
fn a_module_whose_launch_is_in_flight_is_not_evicted() {
    let streams = [("FAKE_CUDA_STREAMS", "lazy")];
    clean_child("a_module_whose_launch_is_in_flight_is_not_evicted", &streams, || {
        let device = Device::cuda(0).unwrap();
        let stream = device.new_stream().unwrap();
        let (one, mut sum) = (device.upload(&[1.0_f32]).unwrap(), device.zeros::<f32>(1).unwrap());
        device.synchronize().unwrap();
        // Loaded first: a driver may wait for the gate to load a module, too.
        let kernels = Kernels::load_copy(&device, copy(1)).unwrap();
        let gate = Gate::on(cuda_stream(&stream));
        kernels.saxpy(&stream, Launch::grid([1], [1]), 1.0, &one, &mut sum).unwrap();
        drop(kernels);
        // To unload it would wait for the gate, for ever.
        module_cache().set_capacity(0);
        let statistics = module_cache().statistics();
        assert_eq!((statistics.loaded, statistics.held, statistics.evictions), (1, 0, 0));
        gate.open();
        stream.synchronize().unwrap();
        module_cache().set_capacity(0);
        let statistics = module_cache().statistics();
        assert_eq!((statistics.loaded, statistics.evictions), (0, 1));
        assert_eq!(sum.download().unwrap(), [1.0]);
    });
}

/// Acceptance: S4.10.
#[test]
fn a_module_is_unloaded_after_its_launches() {
    // Lazy streams make the driver unload at once what the back end does not wait for.
    let streams = [("FAKE_CUDA_STREAMS", "lazy")];
    clean_child("a_module_is_unloaded_after_its_launches", &streams, || {
        let device = Device::cuda(0).unwrap();
        let stream = device.new_stream().unwrap();
        let (one, mut sum) = (device.upload(&[1.0_f32]).unwrap(), device.zeros::<f32>(1).unwrap());
        let kernels = Kernels::load_copy(&device, copy(5)).unwrap();
        kernels.saxpy(&stream, Launch::grid([1], [1]), 5.0, &one, &mut sum).unwrap();
        drop(kernels);
        module_cache().release_unused();
        assert_eq!(module_cache().statistics().unloads, 1);
        assert_eq!(sum.download().unwrap(), [5.0]);
    });
}

/// Acceptance: S4.11.
#[test]
fn a_context_of_the_program_outlives_its_device() {
    clean_child("a_context_of_the_program_outlives_its_device", &[], || {
        let copies = copies(1..=3);
        let context = CudaContext::new(0).unwrap();
        for _ in 0..3 {
            let device = Device::from_cuda_context(&context).unwrap();
            assert_eq!(sum(&device, &copies), 6.0);
            drop(device);
            module_cache().clear();
            let memory = context.default_stream().clone_htod(&[7_u32]).unwrap();
            assert_eq!(context.default_stream().clone_dtoh(&memory).unwrap(), [7]);
        }
    });
}

/// Acceptance: S4.13.
#[test]
fn a_loader_gives_a_binary_or_declines() {
    clean_child("a_loader_gives_a_binary_or_declines", &[], || {
        let device = Device::cuda(0).unwrap();
        let (first, second) = (copy(1), copy(2));
        let asked = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&asked);
        let loader = move |request: &kernelmill::LoadRequest<'_>| {
            counter.fetch_add(1, Ordering::SeqCst);
            let artifact = request.artifact();
            let is_first = artifact.fingerprint == first.artifacts[0].fingerprint;
            // The same text, and a comment.
            Ok(is_first.then(|| [b"// mine\n", artifact.bytes].concat()))
        };
        // SAFETY: what it gives is the embedded binary but for a comment.
        unsafe { module_cache().set_loader(Some(Arc::new(loader))) };
        let bytes = first.artifacts[0].bytes.len() as u64;
        assert_eq!(sum(&device, &[(1, first), (2, second)]), 3.0);
        assert_eq!(sum(&device, &[(1, first), (2, second)]), 3.0);
        assert_eq!(asked.load(Ordering::SeqCst), 2);
        assert_eq!(module_cache().statistics().bytes, 2 * bytes + 8);
        // SAFETY: there is none.
        unsafe { module_cache().set_loader(None) };
        module_cache().clear();
        assert_eq!(sum(&device, &[(1, first), (2, second)]), 3.0);
        assert_eq!(asked.load(Ordering::SeqCst), 2);
        assert_eq!(module_cache().statistics().bytes, 2 * bytes);
    });
}

/// A loader that fails, then one that panics, then one that gives what the device cannot load.
fn faulty_loaders(device: &Device, garbage: &str) {
    let set = copy(1);
    let load = || Kernels::load_copy(device, set);
    // SAFETY: it gives no binary.
    unsafe { module_cache().set_loader(Some(Arc::new(|_| Err("no such file".into())))) };
    let error = load().unwrap_err();
    assert!(matches!(error, Error::Loader { .. }));
    let told = format!("{error:?}");
    assert!(told.contains("\n  because: no such file\n  for more: "), "{told}");
    // SAFETY: as above.
    unsafe { module_cache().set_loader(Some(Arc::new(|_| panic!("in the loader")))) };
    assert!(catch_unwind(AssertUnwindSafe(load)).is_err());
    // SAFETY: the driver refuses it, and nothing is launched.
    unsafe { module_cache().set_loader(Some(Arc::new(|_| Ok(Some(b"garbage".to_vec()))))) };
    let error = format!("{:?}", load().unwrap_err());
    assert!(error.contains(garbage), "{error}");
    let statistics = module_cache().statistics();
    assert_eq!((statistics.loads, statistics.failures, statistics.loaded), (0, 3, 0));
    // SAFETY: it gives no binary.
    unsafe { module_cache().set_loader(Some(Arc::new(|_| Ok(None)))) };
    assert_eq!(sum(device, &[(1, set)]), 1.0);
}

/// Acceptance: S4.3, S4.12.
#[test]
fn a_loader_that_fails_on_cuda_leaves_no_module() {
    clean_child("a_loader_that_fails_on_cuda_leaves_no_module", &[], || {
        faulty_loaders(&Device::cuda(0).unwrap(), "cuModuleLoadDataEx failed");
    });
}

/// Acceptance: S4.12.
#[test]
fn a_loader_that_fails_on_the_processor_leaves_no_module() {
    clean_child("a_loader_that_fails_on_the_processor_leaves_no_module", &[], || {
        faulty_loaders(&Device::cpu().unwrap(), "this device has no binaries to load");
    });
}

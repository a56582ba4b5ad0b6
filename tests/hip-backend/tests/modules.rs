//! The module cache on the fake HIP run time: what Halide's tests of its cache state. That as much is released as was made
//! the run time checks itself.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use hip_backend::{Copy, PADDING, clean_child, copies, fresh_contexts, many_modules};
use kernelmill::{Device, Error, module_cache};

/// Streams that begin work when something waits for it.
const LAZY: (&str, &str) = ("FAKE_HIP_STREAMS", "lazy");

/// Loads and runs each of the code objects, which add their numbers.
fn sum(device: &Device, copies: &[Copy]) -> f32 {
    let (x, mut sum) = (device.upload(&[1.0_f32]).unwrap(), device.zeros::<f32>(1).unwrap());
    for copy in copies {
        copy.add(device, &x, &mut sum).unwrap();
    }
    let found = sum.download().unwrap()[0];
    drop((x, sum));
    device.synchronize().unwrap();
    found
}

/// Acceptance: S4.8, S4.12, C25.
#[test]
fn many_kernels_on_hip() {
    clean_child("many_kernels_on_hip", &[LAZY], || {
        let copies = copies(70);
        many_modules(&Device::hip(0).unwrap(), |device, count| sum(device, &copies[..count]));
    });
}

/// Each pair has a device of its own.
///
/// Acceptance: S4.6, C25.
#[test]
fn two_pairs_of_threads_with_fresh_contexts_on_hip() {
    let variables = [LAZY, ("FAKE_HIP_DEVICES", "2")];
    clean_child("two_pairs_of_threads_with_fresh_contexts_on_hip", &variables, || {
        let copies = copies(3);
        fresh_contexts(
            2,
            |pair| Device::hip(pair).unwrap(),
            |device, count| sum(device, &copies[..count]),
        );
    });
}

/// The program's own loader gives another code object, or declines.
///
/// Acceptance: S4.13.
#[test]
fn a_loader_gives_a_code_object_or_declines() {
    clean_child("a_loader_gives_a_code_object_or_declines", &[LAZY], || {
        let (device, copies) = (Device::hip(0).unwrap(), copies(3));
        let asked = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&asked);
        let loader = move |request: &kernelmill::LoadRequest<'_>| {
            counter.fetch_add(1, Ordering::SeqCst);
            let mut bytes = request.artifact().bytes.to_vec();
            let is_first = std::mem::replace(&mut bytes[PADDING], 3) == 1;
            Ok(is_first.then_some(bytes))
        };
        // SAFETY: what it gives is the third code object, whose kernel has the same parameters.
        unsafe { module_cache().set_loader(Some(Arc::new(loader))) };
        assert_eq!(sum(&device, &copies[..2]), 3.0 + 2.0);
        assert_eq!(asked.load(Ordering::SeqCst), 2);
        // SAFETY: there is none.
        unsafe { module_cache().set_loader(None) };
        module_cache().clear();
        assert_eq!(sum(&device, &copies[..2]), 1.0 + 2.0);
    });
}

#[test]
fn a_loader_that_fails_on_hip_leaves_no_module() {
    clean_child("a_loader_that_fails_on_hip_leaves_no_module", &[LAZY], || {
        let (device, copies) = (Device::hip(0).unwrap(), copies(1));
        let load = || {
            let x = device.upload(&[1.0_f32]).unwrap();
            copies[0].add(&device, &x, &mut device.zeros::<f32>(1).unwrap()).unwrap_err()
        };
        // SAFETY: it gives no binary.
        unsafe { module_cache().set_loader(Some(Arc::new(|_| Err("no such file".into())))) };
        let error = load();
        assert!(matches!(error, Error::Loader { .. }), "{error}");
        // SAFETY: the library refuses it, and nothing is launched.
        unsafe { module_cache().set_loader(Some(Arc::new(|_| Ok(Some(b"garbage".to_vec()))))) };
        let error = load().to_string();
        assert!(error.contains("hipModuleLoadData failed"), "{error}");
        let statistics = module_cache().statistics();
        assert_eq!((statistics.loads, statistics.failures, statistics.loaded), (0, 2, 0));
        // SAFETY: it gives no binary.
        unsafe { module_cache().set_loader(Some(Arc::new(|_| Ok(None)))) };
        assert_eq!(sum(&device, &copies), 1.0);
    });
}

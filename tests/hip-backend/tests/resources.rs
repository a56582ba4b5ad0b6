//! Contexts and modules that come and go, on several threads: what is created is released.

use hip_backend::{Kernels, clean_child, register_conformance, register_own};
use kernelmill::{Device, Launch, Stream, module_cache};

const LEN: usize = 64;

/// Launches on new streams and checks the result.
fn use_device(device: &Device, stream: &Stream) {
    let kernels = Kernels::load(device).unwrap();
    let x = device.upload(&[1.0f32; LEN]).unwrap();
    let mut y = device.zeros::<f32>(LEN).unwrap();
    for _ in 0..3 {
        kernels.saxpy(stream, Launch::linear(LEN), 2.0, &x, &mut y).unwrap();
    }
    assert_eq!(y.download().unwrap(), [6.0; LEN]);
}

/// Each pair of threads shares a context, and makes ten of them one after the other.
#[test]
fn two_pairs_of_threads_with_ten_contexts_each() {
    let name = "two_pairs_of_threads_with_ten_contexts_each";
    let variables = [("FAKE_HIP_DEVICES", "2"), ("FAKE_HIP_STREAMS", "random:5")];
    clean_child(name, &variables, || {
        register_own();
        std::thread::scope(|scope| {
            for ordinal in 0..2 {
                scope.spawn(move || {
                    for _ in 0..10 {
                        let device = Device::hip(ordinal).unwrap();
                        std::thread::scope(|pair| {
                            for _ in 0..2 {
                                let device = &device;
                                pair.spawn(move || {
                                    use_device(device, &device.stream());
                                    use_device(device, &device.new_stream().unwrap());
                                });
                            }
                        });
                    }
                });
            }
        });
        module_cache().release_unused();
        let found = module_cache().statistics();
        assert_eq!((found.loaded, found.loads), (0, found.unloads));
        // Ten contexts of each device, whose modules nobody else can use.
        assert!(found.loads >= 20, "{}", found.loads);
    });
}

/// More modules than stay loaded, used and released and used again.
///
/// Acceptance: S4.12.
#[test]
fn modules_are_unloaded_and_loaded_again() {
    clean_child("modules_are_unloaded_and_loaded_again", &[("FAKE_HIP_STREAMS", "lazy")], || {
        register_own();
        register_conformance();
        module_cache().set_capacity(3);
        let device = Device::hip(0).unwrap();
        for _ in 0..3 {
            let context = conformance::Context::new(device.clone()).unwrap();
            let checks = conformance::all();
            for check in checks.iter().take(20) {
                check.run(&context).unwrap_or_else(|error| panic!("{}: {error}", check.name));
            }
            drop(context);
            use_device(&device, &device.new_stream().unwrap());
        }
        drop(device);
        let found = module_cache().statistics();
        assert_eq!((found.loaded, found.loads), (0, found.unloads));
        assert!(found.loads > 60, "{}", found.loads);
    });
}

/// A device that gives one error from now on is said to be lost, another one is the best, and what was made on it is given back.
#[test]
fn a_lost_device_keeps_nothing() {
    let calls = ["hipStreamQuery", "hipStreamSynchronize", "hipDeviceSynchronize"];
    let rules = calls.map(|call| format!("{call} at call 3 onwards with hipErrorIllegalAddress"));
    let rules = rules.join("; ");
    clean_child("a_lost_device_keeps_nothing", &[("FAKE_HIP_FAIL", &*rules)], || {
        register_own();
        let device = Device::hip(0).unwrap();
        let kernels = Kernels::load(&device).unwrap();
        let (x, mut y) = (device.upload(&[1.0_f32]).unwrap(), device.zeros::<f32>(1).unwrap());
        kernels.saxpy(&device.stream(), Launch::linear(1), 2.0, &x, &mut y).unwrap();
        let failed = (0..4).find_map(|_| device.synchronize().err()).unwrap();
        assert!(failed.to_string().contains("hipErrorIllegalAddress"), "{failed}");
        let error = (0..4).find_map(|_| Device::hip(0).err()).unwrap().to_string();
        let expected = "hipStreamQuery failed for device 0, which is lost until the process ends: hipErrorIllegalAddress";
        assert!(error.starts_with(expected), "{error}");
        assert_eq!(Device::best().unwrap(), Device::cpu().unwrap());
        drop((x, y, kernels, device));
        kernelmill::module_cache().release_unused();
        assert_eq!(kernelmill::module_cache().statistics().loaded, 0);
    });
}

//! Devices: which there are, which binaries they take, and what they refuse.

use std::fs;

use hip_backend::{Kernels, LEAKS, clean_child, is_child, register_own, run_child};
use kernelmill::{Backend, Device, Error, Launch, select::Architecture};
use test_support::{driver::fake_hip, library::without_function, root, temporary_folder};

#[test]
fn the_environment_names_one_of_two_devices() {
    let two = [("FAKE_HIP_DEVICES", "2"), ("KERNELMILL_DEVICE", "hip:1")];
    clean_child("the_environment_names_one_of_two_devices", &two, || {
        register_own();
        let device = Device::best().unwrap();
        assert_eq!((device.backend(), device.selector()), (Backend::Hip, "hip:1".to_owned()));
        let other = Device::hip(0).unwrap();
        assert_ne!(device, other);
        assert_eq!(Device::hip(1).unwrap(), device);
        // What is of one is refused on the other, and both work side by side.
        let x = device.upload(&[1.0f32; 4]).unwrap();
        for device in [&device, &other, &device] {
            let kernels = Kernels::load(device).unwrap();
            let mut y = device.zeros::<f32>(4).unwrap();
            let result = kernels.saxpy(&device.stream(), Launch::linear(4), 2.0, &x, &mut y);
            match result {
                Ok(()) => assert_eq!(y.download().unwrap(), [2.0; 4]),
                Err(error) => assert!(matches!(error, Error::WrongDevice { .. }), "{error}"),
            }
        }
        let inventory = Device::inventory();
        assert!(
            inventory.contains("\n  hip:1: Fake AMD GPU 1 (the AMD GPU gfx1100)"),
            "{inventory}"
        );
        let error = Device::hip(2).unwrap_err().to_string();
        assert_eq!(
            error,
            "HIP is not available: there is no device 2: the driver has 2, numbered from 0"
        );
    });
}

#[test]
fn no_device_is_no_fault() {
    clean_child("no_device_is_no_fault", &[("FAKE_HIP_DEVICES", "0")], || {
        assert_eq!(Device::best().unwrap().backend(), Backend::Cpu);
        assert!(Device::unavailable().is_empty());
        assert!(Device::hip(0).unwrap_err().to_string().contains("there is no device 0"));
    });
}

#[test]
fn a_binary_is_chosen_by_processor_and_modes() {
    let arch = [("FAKE_HIP_ARCH", "gfx90a:sramecc+:xnack-")];
    clean_child("a_binary_is_chosen_by_processor_and_modes", &arch, || {
        register_own();
        let device = Device::hip(0).unwrap();
        let expected = Architecture::Amd {
            processor: "gfx90a".to_owned(),
            xnack: Some(false),
            sramecc: Some(true),
        };
        assert_eq!(*device.architecture(), expected);
        let kernels = Kernels::load(&device).unwrap();
        let (x, mut y) = (device.upload(&[1.0f32; 4]).unwrap(), device.zeros(4).unwrap());
        kernels.saxpy(&device.stream(), Launch::linear(4), 2.0, &x, &mut y).unwrap();
        assert_eq!(y.download().unwrap(), [2.0; 4]);
    });
}

#[test]
fn a_device_without_a_binary_is_told_why() {
    let arch = [("FAKE_HIP_ARCH", "gfx942:sramecc+:xnack-")];
    clean_child("a_device_without_a_binary_is_told_why", &arch, || {
        let error = Kernels::load(&Device::hip(0).unwrap()).unwrap_err().to_string();
        for part in ["runs on gfx1100 only, the device is gfx942", "gfx90a:xnack-: runs on gfx90a"]
        {
            assert!(error.contains(part), "{error}");
        }
    });
}

#[test]
fn memory_that_there_is_not_and_launches_that_are_too_large() {
    let name = "memory_that_there_is_not_and_launches_that_are_too_large";
    clean_child(name, &[("FAKE_HIP_MEMORY", "1000000")], || {
        register_own();
        let device = Device::hip(0).unwrap();
        let error = device.zeros::<u8>(1_000_001).unwrap_err();
        assert!(matches!(error, Error::OutOfMemory { bytes: 1_000_001, .. }), "{error}");
        let kernels = Kernels::load(&device).unwrap();
        let (x, mut y) = (device.upload(&[1.0f32; 4]).unwrap(), device.zeros(4).unwrap());
        let stream = device.stream();
        for (launch, text) in [
            (Launch::grid([1 << 24], [256]), "4294967296 threads in x, the limit of"),
            (Launch::grid([1], [1025]), "1025 threads per block in x, the limit of"),
            (Launch::linear(4).shared_bytes(65_537), "65537 bytes of shared memory, the limit of"),
        ] {
            let error = kernels.saxpy(&stream, launch, 2.0, &x, &mut y).unwrap_err();
            assert!(matches!(error, Error::Limit { .. }), "{error}");
            assert!(error.to_string().contains(text), "{error}");
        }
        kernels.saxpy(&stream, Launch::linear(4), 2.0, &x, &mut y).unwrap();
        assert_eq!(y.download().unwrap(), [2.0; 4]);
    });
}

/// The fake library says so where a kernel has no code to run.
#[test]
fn kernels_that_are_not_registered_are_refused() {
    let name = "kernels_that_are_not_registered_are_refused";
    let check = [("FAKE_HIP_LEAK_CHECK", "1")];
    let child = run_child(name, &check, || {
        let device = Device::hip(0).unwrap();
        let kernels = Kernels::load(&device).unwrap();
        let (x, mut y) = (device.upload(&[1.0f32; 4]).unwrap(), device.zeros(4).unwrap());
        let error =
            kernels.saxpy(&device.stream(), Launch::linear(4), 2.0, &x, &mut y).unwrap_err();
        let text = "hipModuleLaunchKernel failed for the launch of `saxpy`: hipErrorLaunchFailure (719), \
                    unspecified launch failure";
        assert_eq!(error.to_string(), text);
    });
    assert_eq!(child.code, Some(LEAKS), "{}", child.stderr);
    assert!(child.stderr.contains("that no test has registered"), "{}", child.stderr);
}

/// Buffers that are never dropped are found, so that tests without leaks say something.
#[test]
fn leaks_are_found() {
    let child = run_child("leaks_are_found", &[("FAKE_HIP_LEAK_CHECK", "1")], || {
        let device = Device::hip(0).unwrap();
        std::mem::forget(device.zeros::<u8>(100).unwrap());
    });
    assert_eq!(child.code, Some(LEAKS), "{}", child.stderr);
    assert!(child.stderr.contains("not released: Device(0) of 100 bytes"), "{}", child.stderr);
}

/// Some of the functions that the back end cannot do without, which are all found in the same way.
#[test]
fn a_library_that_lacks_a_function_is_a_reason() {
    let name = "a_library_that_lacks_a_function_is_a_reason";
    let functions = needed_functions();
    assert!(functions.len() > 30, "{functions:?}");
    let folder = temporary_folder();
    let path = folder.path().to_str().unwrap();
    for function in functions.iter().step_by(12) {
        if !is_child(name) {
            let old = without_function(&fake_hip().join("libamdhip64.so"), function);
            fs::write(folder.path().join("libamdhip64.so"), old).unwrap();
        }
        let variables = [("LD_LIBRARY_PATH", path), ("LACKING", &**function)];
        clean_child(name, &variables, || {
            let expected = format!(
                "HIP is not available: the HIP library has no function `{}`, and kernelmill needs that of HIP 5 or \
                 later: update ROCm",
                std::env::var("LACKING").unwrap()
            );
            let reasons: Vec<_> = Device::unavailable().iter().map(ToString::to_string).collect();
            assert_eq!(reasons, [&*expected]);
            assert_eq!(Device::hip(0).unwrap_err().to_string(), expected);
            assert_eq!(Device::best().unwrap().backend(), Backend::Cpu);
        });
    }
}

/// The functions that the back end declares to be in every library.
fn needed_functions() -> Vec<String> {
    let text = fs::read_to_string(root().join("src/backend/hip/library.rs")).unwrap();
    let declared = text.lines().filter_map(|line| line.strip_prefix("    hip")?.split_once('('));
    declared.map(|(name, _)| format!("hip{name}")).collect()
}

/// Another GPU than the binaries are for: the processor is the best device for these kernels.
#[test]
fn a_gpu_without_a_binary_is_passed_over() {
    let arch = [("FAKE_HIP_ARCH", "gfx1030"), ("KERNELMILL_LOG", "summary")];
    clean_child("a_gpu_without_a_binary_is_passed_over", &arch, || {
        assert_eq!(Device::best().unwrap().backend(), Backend::Hip);
        let kernels = Kernels::best().unwrap();
        assert_eq!(kernels.device().backend(), Backend::Cpu);
        let text = Kernels::candidates().unwrap().to_string();
        let reason = "\n      gfx1100: runs on gfx1100 only, the device is gfx1030\n";
        assert!(text.contains(reason), "{text}");
    });
}

/// On a machine with a library of its own there is nothing to see.
#[test]
fn a_machine_without_a_library_is_told() {
    let name = "a_machine_without_a_library_is_told";
    clean_child(name, &[("LD_LIBRARY_PATH", "/no/such/folder")], || {
        let Err(error) = Device::hip(0) else { return eprintln!("there is a library: {name}") };
        assert!(matches!(error, Error::NoDevice { .. }), "{error}");
        assert_eq!(error.to_string(), "HIP is not available: no HIP library is installed");
        assert!(Device::inventory().contains("  no hip: no HIP library is installed\n"));
        assert!(Device::unavailable().is_empty());
    });
}

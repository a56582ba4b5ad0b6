//! A driver that is there and does not start: the processor is the best device, and the reason is told.

use cuda_backend::{copy_for, fake_child, is_left_out, run_child, say_left_out};
use kernelmill::{__codegen::Loaded, Backend, Candidates, Device, DeviceVerdict, Error};

const FAILURE: (&str, &str) = ("FAKE_CUDA_FAIL", "cuInit at call 1 onwards with SYSTEM_NOT_READY");

#[track_caller]
fn reasons(expected: &[&str]) {
    let found = Device::unavailable().iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(found.len(), expected.len(), "{found:?}");
    found.iter().zip(expected).for_each(|(found, part)| assert!(found.contains(part), "{found}"));
}

#[test]
fn a_driver_that_does_not_start_is_a_reason() {
    fake_child("a_driver_that_does_not_start_is_a_reason", &[FAILURE], || {
        reasons(&["cuInit failed for CUDA: CUDA_ERROR_SYSTEM_NOT_READY"]);
        assert_eq!(Device::best().unwrap().backend(), Backend::Cpu);
        assert_eq!(Device::all().len(), 1);
        let error = Device::cuda(0).unwrap_err().to_string();
        assert!(error.starts_with("cuInit failed"), "{error}");
    });
}

#[test]
fn a_device_that_cannot_be_opened_is_a_reason_and_the_others_are_there() {
    let name = "a_device_that_cannot_be_opened_is_a_reason_and_the_others_are_there";
    let fail = [
        ("FAKE_CUDA_DEVICES", "2"),
        ("FAKE_CUDA_FAIL", "cuDevicePrimaryCtxRetain at call 1 with OUT_OF_MEMORY"),
    ];
    fake_child(name, &fail, || {
        reasons(&["cuDevicePrimaryCtxRetain failed for device 0: CUDA_ERROR_OUT_OF_MEMORY"]);
        reasons(&[]);
        assert_eq!(Device::all().len(), 3);
    });
}

/// The driver is never asked for a function that it may lack: what is missing, and what to do, is told.
#[test]
fn a_driver_that_is_too_old_is_a_reason() {
    let old = [("FAKE_CUDA_VERSION", "10020"), ("FAKE_CUDA_FAIL", "cuInit at call 1 onwards")];
    fake_child("a_driver_that_is_too_old_is_a_reason", &old, || {
        let expected = "CUDA is not available: the installed NVIDIA driver supports CUDA 10.2, and kernelmill needs \
                        11.4 or later: update the driver";
        reasons(&[expected]);
        let error = Device::cuda(0).unwrap_err();
        assert!(matches!(error, Error::Unavailable { .. }), "{error}");
        assert_eq!(error.to_string(), expected);
        assert_eq!(Device::best().unwrap().backend(), Backend::Cpu);
    });
}

#[test]
fn the_oldest_driver_is_used() {
    fake_child("the_oldest_driver_is_used", &[("FAKE_CUDA_VERSION", "11040")], || {
        reasons(&[]);
        assert_eq!(Device::best().unwrap().backend(), Backend::Cuda);
    });
}

#[test]
fn a_machine_without_a_gpu_has_no_reason() {
    let none = [("FAKE_CUDA_DEVICES", "0")];
    fake_child("a_machine_without_a_gpu_has_no_reason", &none, || {
        reasons(&[]);
        assert_eq!(Device::best().unwrap().backend(), Backend::Cpu);
        let error = Device::cuda(0).unwrap_err();
        assert!(matches!(error, Error::NoDevice { .. }), "{error}");
        assert!(error.to_string().contains("there is no device 0"), "{error}");
    });
}

#[test]
fn the_reason_is_logged_where_that_is_asked_for() {
    let name = "the_reason_is_logged_where_that_is_asked_for";
    if is_left_out(name) {
        return;
    }
    let best = || drop(Device::best().unwrap());
    let logged = run_child(name, &[FAILURE, ("KERNELMILL_LOG", "summary")], best);
    logged.expect_success();
    let line = "kernelmill: cuInit failed for CUDA: CUDA_ERROR_SYSTEM_NOT_READY";
    assert!(logged.stderr.contains(line), "{}", logged.stderr);
    assert!(logged.stderr.contains("; using "), "{}", logged.stderr);
    let silent = run_child(name, &[FAILURE, ("KERNELMILL_LOG", "")], best);
    assert!(!silent.stderr.contains("kernelmill:"), "{}", silent.stderr);
}

/// What the variable names is opened, and nothing else is.
#[test]
fn the_environment_names_the_device() {
    let name = "the_environment_names_the_device";
    if is_left_out(name) {
        return;
    }
    let two = ("FAKE_CUDA_DEVICES", "2");
    let printed = |device: &str| {
        let variables = [two, ("KERNELMILL_DEVICE", device)];
        let child = run_child(name, &variables, || match Device::best() {
            Ok(device) => println!("found {}", device.selector()),
            Err(error) => println!("{error}"),
        });
        child.expect_success();
        child.stdout
    };
    for (device, found) in
        [("", "cuda:0"), ("cuda", "cuda:0"), ("cuda:1", "cuda:1"), ("cpu", "cpu")]
    {
        let stdout = printed(device);
        assert!(stdout.contains(&format!("found {found}\n")), "{device}: {stdout}");
    }
    let stdout = printed("cuda:2");
    for part in [
        "names `cuda:2`, which cannot be opened: CUDA is not available: there is no device 2: the driver has 2, \
         numbered from 0",
        "\n  cuda:0: ",
        "\n  cuda:1: ",
        "\n  no hip: ",
        "\n  cpu: ",
    ] {
        assert!(stdout.contains(part), "{part}: {stdout}");
    }
}

/// Devices that are there are listed though another cannot be opened.
#[test]
fn the_inventory_has_every_device() {
    let fail = [
        ("FAKE_CUDA_DEVICES", "2"),
        ("FAKE_CUDA_FAIL", "cuDevicePrimaryCtxRetain at call 1 with OUT_OF_MEMORY"),
    ];
    fake_child("the_inventory_has_every_device", &fail, || {
        let inventory = Device::inventory();
        let failed = "\n  cuda:1: ";
        assert!(inventory.starts_with("  no cuda: cuDevicePrimaryCtxRetain failed"), "{inventory}");
        assert!(inventory.contains(failed), "{inventory}");
    });
}

const TWO_ARCHITECTURES: [(&str, &str); 2] =
    [("FAKE_CUDA_DEVICES", "2"), ("FAKE_CUDA_ARCH", "80,90")];

/// The first GPU is passed over where the program has a binary for the second one only.
#[test]
fn the_best_device_for_kernels_has_a_binary() {
    fake_child("the_best_device_for_kernels_has_a_binary", &TWO_ARCHITECTURES, || {
        let set = copy_for("compute_90");
        assert_eq!(Device::best().unwrap().selector(), "cuda:0");
        assert_eq!(Loaded::best(set).unwrap().device().selector(), "cuda:1");
        let candidates = Candidates::of(set).unwrap();
        let verdicts: Vec<_> = candidates.devices.iter().map(|it| it.verdict).collect();
        use DeviceVerdict as V;
        assert_eq!(verdicts, [V::NoBinary, V::Chosen, V::NoBinary]);
        assert_eq!(candidates.chosen(), Some(&Device::cuda(1).unwrap()));
        let text = candidates.to_string();
        for part in [
            "devices for the kernels of package `cuda-backend`:\n  cuda:0: ",
            "): lacks binaries\n    kernels/saxpy.rs: no embedded binary runs on ",
            "\n      compute_90: runs on compute capability 9.0 and later, the device has 8.0\n  cuda:1: ",
            "): chosen\n    kernels/saxpy.rs for compute_90 (PTX, ",
            "\n  cpu: ",
            "\n      compute_90: is for NVIDIA GPUs, the device is the CPU",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let all = Candidates::of(copy_for("compute_75")).unwrap();
        let verdicts: Vec<_> = all.devices.iter().map(|it| it.verdict).collect();
        assert_eq!(verdicts, [V::Chosen, V::Outranked, V::NoBinary]);
    });
}

#[test]
fn a_machine_without_a_device_for_the_kernels_is_explained() {
    let name = "a_machine_without_a_device_for_the_kernels_is_explained";
    fake_child(name, &[("FAKE_CUDA_ARCH", "80")], || {
        let error = Loaded::best(copy_for("compute_90")).unwrap_err();
        assert_eq!(error.code().number(), "KM1050");
        let text = error.to_string();
        for part in [
            "no embedded binary of package `cuda-backend` runs on a device of this machine; the devices are:\n  cuda:0: ",
            "\n      compute_90: runs on compute capability 9.0 and later, the device has 8.0\n  cpu: ",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    });
}

/// The device that the environment names is taken, or it is said why it cannot be.
#[test]
fn the_environment_names_the_device_for_kernels() {
    let name = "the_environment_names_the_device_for_kernels";
    for device in ["cuda:0", "cuda:1", "cpu-async"] {
        let [devices, architectures] = TWO_ARCHITECTURES;
        let variables = [devices, architectures, ("KERNELMILL_DEVICE", device)];
        fake_child(name, &variables, || {
            let named = std::env::var("KERNELMILL_DEVICE").unwrap();
            let found = Loaded::best(copy_for("compute_90"));
            let candidates = Candidates::of(copy_for("compute_90")).unwrap();
            let of_named = candidates.devices.iter().find(|it| it.device.selector() == named);
            let others = candidates.devices.iter().filter(|it| it.device.selector() != named);
            assert!(others.map(|it| it.verdict).all(|it| it == DeviceVerdict::NotNamed));
            if named == "cuda:1" {
                assert_eq!(found.unwrap().device().selector(), named);
                assert_eq!(of_named.unwrap().verdict, DeviceVerdict::Chosen);
            } else {
                assert!(matches!(found.unwrap_err(), Error::NoBinary(_)));
                assert_eq!(of_named.unwrap().verdict, DeviceVerdict::NoBinary);
            }
        });
    }
}

/// On a machine with a driver of its own there is nothing to see.
#[test]
fn a_machine_without_a_driver_is_told() {
    let name = "a_machine_without_a_driver_is_told";
    fake_child(name, &[("LD_LIBRARY_PATH", "/no/such/folder")], || {
        let Err(error) = Device::cuda(0) else { return say_left_out("there is a driver", name) };
        assert!(matches!(error, Error::NoDevice { .. }), "{error}");
        assert_eq!(error.to_string(), "CUDA is not available: no NVIDIA driver is installed");
        assert!(Device::inventory().contains("  no cuda: no NVIDIA driver is installed\n"));
        reasons(&[]);
    });
}

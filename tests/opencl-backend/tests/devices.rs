//! Which devices there are, what they are called, and what is said of those that are not there.

use kernelmill::{
    Backend, Capability, Device, DeviceVerdict, Error, Launch, Support, select::Architecture,
};
use opencl_backend::{Kernels, clean_child, run_child};
use test_support::{temporary_folder, tool, write_file};

#[test]
fn pocl_comes_after_the_processor() {
    clean_child("pocl_comes_after_the_processor", &[], || {
        let devices = Device::all();
        let backends: Vec<_> = devices.iter().map(Device::backend).collect();
        assert_eq!(backends, [Backend::Cpu, Backend::OpenCl]);
        assert_eq!(Device::best().unwrap(), devices[0]);
        let pocl = Device::opencl(0).unwrap();
        assert_eq!((&pocl, pocl.selector()), (&devices[1], "opencl:0".to_owned()));
        assert_eq!(*pocl.architecture(), Architecture::OpenCl { spirv: None });
        assert!(pocl.name().ends_with(" of Portable Computing Language"), "{pocl}");
        assert!(pocl.limits().threads_per_block >= 256, "{:?}", pocl.limits());
        let inventory = Device::inventory();
        assert!(inventory.contains(&format!("\n  opencl:0: {pocl}\n")), "{inventory}");
        assert!(Device::unavailable().is_empty());
        let error = Device::opencl(3).unwrap_err().to_string();
        assert_eq!(
            error,
            "OpenCL is not available: there is no device 3: OpenCL has 1, numbered from 0"
        );
    });
}

#[test]
fn devices_are_named_by_their_platform() {
    for name in ["opencl", "opencl:0", "opencl:pocl", "opencl:Portable", "opencl:PTHREAD"] {
        clean_child("devices_are_named_by_their_platform", &[("KERNELMILL_DEVICE", name)], || {
            assert_eq!(Device::best().unwrap().backend(), Backend::OpenCl);
        });
    }
}

#[test]
fn a_name_that_no_device_has_is_explained() {
    let variables = [("KERNELMILL_DEVICE", "opencl:radeon")];
    clean_child("a_name_that_no_device_has_is_explained", &variables, || {
        let error = Device::best().unwrap_err().to_string();
        let reason = "names `opencl:radeon`, which cannot be opened: OpenCL is not available: no device has `radeon` \
                      in its name; the devices are: ";
        assert!(
            error.contains(reason) && error.contains("of Portable Computing Language"),
            "{error}"
        );
    });
}

/// The form of each source that is taken, and why the other ones are not.
#[test]
fn binaries_are_chosen_by_what_the_device_reads() {
    clean_child("binaries_are_chosen_by_what_the_device_reads", &[], || {
        let kernels = Kernels::load(&Device::opencl(0).unwrap()).unwrap();
        let choice = kernels.chosen().iter().find(|it| it.artifact.source.ends_with("streams.cl"));
        let text = choice.expect("a choice for each source").to_string();
        assert!(text.contains("streams.cl for opencl-c (OpenCL C, "), "{text}");
        for line in [
            "\n  not cpu: is for the CPU, the device is an OpenCL device",
            "\n  not spirv64: is SPIR-V, which the device does not support",
        ] {
            assert!(text.contains(line), "{text}");
        }
    });
}

/// A device that the back end cannot use is told, and another one is taken.
#[test]
fn a_device_without_shared_virtual_memory_is_a_reason() {
    let name = "a_device_without_shared_virtual_memory_is_a_reason";
    clean_child(name, &[("OPENCL_LAYER_WITHOUT_SVM", "1")], || {
        let error = Device::opencl(0).unwrap_err();
        assert!(matches!(error, Error::UnsupportedDevice { .. }), "{error}");
        let error = error.to_string();
        let parts = [
            "OpenCL is not available: ",
            " of Portable Computing Language (OpenCL 3.0 ",
            ") has no shared virtual memory, which kernelmill requires of OpenCL devices",
        ];
        assert!(parts.iter().all(|part| error.contains(part)), "{error}");
        let reasons: Vec<_> = Device::unavailable().iter().map(ToString::to_string).collect();
        assert_eq!(reasons, [error]);
        assert_eq!(Device::best().unwrap().backend(), Backend::Cpu);
    });
}

/// Where the host cannot read the memory of a panic while a kernel writes it, kernels that can panic are refused, and only they.
#[test]
fn a_device_without_fine_grained_memory_refuses_kernels_that_panic() {
    let name = "a_device_without_fine_grained_memory_refuses_kernels_that_panic";
    let Some(translator) = tool::llvm_spirv() else { return };
    let translator = translator.to_str().expect("text");
    let variables = [("OPENCL_LAYER_SPIRV", translator), ("OPENCL_LAYER_WITHOUT_SVM", "fine")];
    clean_child(name, &variables, || {
        let device = Device::opencl(0).unwrap();
        assert_eq!(device.support(Capability::Panics), Support::None);
        let kernels = Kernels::load(&device).unwrap();
        let x = device.upload(&[1.0_f32; 4]).unwrap();
        let error = kernels.says(&device.stream(), Launch::grid([1], [4]), &x).unwrap_err();
        assert!(matches!(error, Error::Unsupported { .. }), "{error}");
        let expected = "a kernel that can panic needs panics of kernels, which ";
        assert!(error.to_string().starts_with(expected), "{error}");
    });
}

/// Without an implementation the processor is left.
#[test]
fn a_machine_without_opencl_has_the_processor() {
    let name = "a_machine_without_opencl_has_the_processor";
    let variables = [("OCL_ICD_VENDORS", "/no/such/folder/")];
    let child = run_child(name, &variables, || {
        assert_eq!(Device::best().unwrap(), Device::cpu().unwrap());
        assert_eq!(Device::all().len(), 1);
        assert!(Device::unavailable().is_empty());
        let Err(Error::NoDevice { backend: Backend::OpenCl, reason }) = Device::opencl(0) else {
            panic!("there is no device")
        };
        println!("reason: {reason}");
        println!("{}", Device::inventory());
    });
    let Some(child) = child else { return };
    child.expect_success();
    let expected =
        "the OpenCL library finds no device: install the OpenCL implementation (ICD) of the device";
    assert!(child.stdout.contains(&format!("reason: {expected}\n")), "{}", child.stdout);
    assert!(child.stdout.contains(&format!("  no opencl: {expected}\n")), "{}", child.stdout);
}

/// The processor comes first, and pocl would do.
#[test]
fn kernels_have_candidates() {
    clean_child("kernels_have_candidates", &[], || {
        let candidates = Kernels::candidates().unwrap();
        let found: Vec<_> =
            candidates.devices.iter().map(|it| (it.device.selector(), it.verdict)).collect();
        // Kernels in Rust and CUDA C++ are SPIR-V there, which this device does not read.
        let expected = [
            ("cpu".to_owned(), DeviceVerdict::Chosen),
            ("opencl:0".to_owned(), DeviceVerdict::Incomplete),
        ];
        assert_eq!(found, expected, "{candidates}");
        assert_eq!(*Kernels::best().unwrap().device(), Device::cpu().unwrap());
    });
}

#[test]
fn a_machine_without_a_library_is_told() {
    let name = "a_machine_without_a_library_is_told";
    // The first file of that name, which is none of a library, is the one that counts.
    let folder = temporary_folder();
    write_file(&folder, "libOpenCL.so.1", b"");
    let path = folder.path().to_str().expect("text");
    let variables = [("OPENCL_DYLIB_PATH", "/no/such/library.so"), ("LD_LIBRARY_PATH", path)];
    let child = run_child(name, &variables, || {
        let error = Device::opencl(0).unwrap_err();
        assert!(matches!(error, Error::NoDevice { .. }), "{error}");
        assert_eq!(error.to_string(), "OpenCL is not available: no OpenCL library is installed");
        assert!(Device::inventory().contains("  no opencl: no OpenCL library is installed\n"));
        assert!(Device::unavailable().is_empty());
    });
    if let Some(child) = child {
        child.expect_success();
    }
}

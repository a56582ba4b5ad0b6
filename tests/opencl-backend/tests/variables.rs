//! Variables of the host, as SPIR-V on pocl: their memory is there as long as the module, and what fails leaves nothing behind.

use kernelmill::{Device, Launch, Result, module_cache};
use opencl_backend::{Child, Kernels, run_child};
use test_support::tool;

/// Runs `body` on pocl behind the layer that translates SPIR-V, and whose rule makes a call fail; `None` where one of them
/// is not there. Nothing may leak.
fn on_pocl(name: &str, rule: &str, body: impl FnOnce(&Device)) -> Option<Child> {
    let translator = tool::llvm_spirv()?;
    let translator = translator.to_str().expect("text");
    let variables = [
        ("OPENCL_LAYER_SPIRV", translator),
        ("OPENCL_LAYER_LEAK_CHECK", "1"),
        ("OPENCL_LAYER_FAIL", rule),
    ];
    let child = run_child(name, &variables, || {
        let device = Device::opencl(0).unwrap();
        body(&device);
        drop(device);
        module_cache().release_unused();
    })?;
    child.expect_success();
    Some(child)
}

fn counted(device: &Device) -> Result<[i32; 3]> {
    let kernels = Kernels::load(device)?;
    let (counts, step) = (kernels.variables().counts()?, kernels.variables().step()?);
    assert_eq!((counts.read()?, step.read()?), ([1, 2, 3], 0));
    step.write(&7)?;
    // SAFETY: there is an element for each thread.
    unsafe { kernels.counted(&device.stream(), Launch::grid([1], [3])) }?;
    counts.read()
}

/// A module that is loaded again has the initial values again.
#[test]
fn each_loaded_module_has_memory_of_its_own() {
    let name = "each_loaded_module_has_memory_of_its_own";
    let _ = on_pocl(name, "", |device| {
        for _ in 0..3 {
            assert_eq!(counted(device).unwrap(), [18, 19, 20]);
            module_cache().release_unused();
        }
        let found = module_cache().statistics();
        assert_eq!((found.loaded, found.loads), (0, found.unloads));
    });
}

/// The functions that memory of variables needs, each of which fails the first time.
#[test]
fn each_function_for_the_memory_of_variables_fails_once() {
    let name = "each_function_for_the_memory_of_variables_fails_once";
    for function in [
        "clSVMAlloc",
        "clEnqueueSVMMemFill",
        "clCreateKernel",
        "clSetKernelArgSVMPointer",
        "clEnqueueNDRangeKernel",
        "clFinish",
    ] {
        let child = on_pocl(name, &format!("{function} at call 1"), |device| {
            let first = counted(device).unwrap_err().to_string();
            println!("reported: {first}");
            assert_eq!(counted(device).unwrap(), [18, 19, 20]);
        });
        let Some(child) = child else { return };
        let reported = child.stdout.lines().find_map(|line| line.split("reported: ").nth(1));
        let is_named = |text: &str| text.contains(function) || text.contains("out of memory");
        assert!(reported.is_some_and(is_named), "{function}: {}\n{}", child.stdout, child.stderr);
    }
}

//! Functions of the OpenCL library that fail: the error names the function, or nothing is lost by it; nothing leaks, and the
//! next attempt works. And programs that cannot be built.

use kernelmill::{Device, Error, Launch, Result, module_cache};
use opencl_backend::{Child, Kernels, LEAKS, Layer, clean_child, run_child};
use std::{collections::BTreeSet, sync::Arc};
use test_support::tool;

const LEN: usize = 64;

/// Functions that are called once in a process, to list the devices.
const LISTING: [&str; 4] =
    ["clGetDeviceIDs", "clGetDeviceInfo", "clGetPlatformIDs", "clGetPlatformInfo"];

/// The other functions that the back end calls, but for those of SPIR-V and of programs that cannot be built.
const FUNCTIONS: [&str; 27] = [
    "clBuildProgram",
    "clCreateCommandQueueWithProperties",
    "clCreateContext",
    "clCreateKernel",
    "clCreateProgramWithSource",
    "clEnqueueBarrierWithWaitList",
    "clEnqueueMarkerWithWaitList",
    "clEnqueueNDRangeKernel",
    "clEnqueueSVMFree",
    "clEnqueueSVMMemFill",
    "clEnqueueSVMMemcpy",
    "clFinish",
    "clFlush",
    "clGetEventInfo",
    "clGetEventProfilingInfo",
    "clGetKernelInfo",
    "clGetKernelWorkGroupInfo",
    "clReleaseCommandQueue",
    "clReleaseContext",
    "clReleaseEvent",
    "clReleaseKernel",
    "clReleaseProgram",
    "clRetainEvent",
    "clSVMAlloc",
    "clSetKernelArg",
    "clSetKernelArgSVMPointer",
    "clWaitForEvents",
];

/// Codes that calls fail with.
const CODES: [(i32, &str); 2] = [(-5, "CL_OUT_OF_RESOURCES"), (-2, "CL_DEVICE_NOT_AVAILABLE")];

/// Functions whose failure is made up for: waits and records that are tried in another way, questions whose answer
/// is assumed, and those that give something back.
const MADE_UP_FOR: [&str; 10] = [
    "clEnqueueBarrierWithWaitList",
    "clEnqueueMarkerWithWaitList",
    "clEnqueueSVMFree",
    "clGetEventInfo",
    "clReleaseCommandQueue",
    "clReleaseContext",
    "clReleaseEvent",
    "clReleaseKernel",
    "clReleaseProgram",
    "clRetainEvent",
];

/// Functions that are made up for in some places only: where a marker or memory that is given back is flushed, where a `drop` waits
/// that nobody can be told of, and where a device need not know what it is asked.
const MADE_UP_FOR_IN_PLACES: [&str; 4] =
    ["clFinish", "clFlush", "clGetDeviceInfo", "clWaitForEvents"];

/// Copies, launches on two streams, events: everything that the back end calls.
fn program() -> Result<Vec<u32>> {
    let device = Device::opencl(0)?;
    let kernels = Kernels::load(&device)?;
    let streams = [device.stream(), device.new_stream()?];
    let mut x = device.upload(&[1_u32; LEN])?;
    let mut out = device.zeros::<u32>(LEN)?;
    for stream in &streams {
        // SAFETY: there is an element for each work-item.
        unsafe { kernels.add(stream, Launch::grid([LEN as u32], [1]), &mut x, 2)? };
    }
    let start = streams[0].record()?;
    let event = streams[1].record()?;
    streams[0].wait(&event)?;
    event.synchronize()?;
    start.synchronize()?;
    event.is_complete()?;
    event.elapsed_since(&start)?;
    let pinned = device.pinned_from(&[5_u32; LEN])?;
    let mut y = device.zeros::<u32>(LEN)?;
    y.copy_from_async(&streams[1], &pinned)?;
    // SAFETY: there is an element for each work-item.
    unsafe { kernels.sum_of(&streams[0], Launch::grid([LEN as u32], [1]), &x, &y, &mut out)? };
    let elements = out.download()?;
    drop((kernels, x, y, streams));
    module_cache().release_unused();
    device.synchronize()?;
    Ok(elements)
}

/// Runs the program until an attempt succeeds, and prints what the others reported.
fn attempts() {
    for attempt in 0..3 {
        match program() {
            Ok(elements) => {
                assert_eq!(elements, [10; LEN]);
                println!("attempt {attempt} is right");
                if attempt > 0 {
                    break;
                }
            }
            Err(error) => println!("reported: {error}"),
        }
        module_cache().release_unused();
    }
}

/// What is wrong with a process in which a function has failed.
fn judge(function: &str, child: &Child) -> Vec<String> {
    let reported: Vec<_> =
        child.stdout.lines().filter_map(|line| line.split("reported: ").nth(1)).collect();
    let mut faults = Vec::new();
    if child.code != Some(0) {
        faults.push(format!("{function}: code {:?}: {}", child.code, child.stderr));
    }
    let has_failed = child.stderr.contains("opencl-layer: call 1 fails");
    if has_failed == (function == "none of them") {
        faults.push(format!("{function}: {}", child.stderr));
    }
    let names_it = |error: &&str| {
        error.contains(&format!("{function} failed for "))
            || function == "clSVMAlloc" && error.starts_with("out of memory")
    };
    if !reported.iter().all(names_it) || reported.len() > 1 {
        faults.push(format!("{function}: reported as {reported:?}"));
    }
    if reported.is_empty() && has_failed && !MADE_UP_FOR.contains(&function) {
        faults.push(format!("{function}: not reported"));
    }
    if !child.stdout.contains("is right") {
        faults.push(format!("{function}: no attempt succeeded: {}", child.stdout));
    }
    faults
}

/// Acceptance: S4.12.
#[test]
fn each_function_that_lists_devices_fails_once() {
    let name = "each_function_that_lists_devices_fails_once";
    let mut faults = Vec::new();
    for function in LISTING.into_iter().chain(["none of them"]) {
        let fail = format!("{function} at call 1");
        let variables = [("OPENCL_LAYER_FAIL", &*fail), ("OPENCL_LAYER_LEAK_CHECK", "1")];
        let Some(child) = run_child(name, &variables, attempts) else {
            return;
        };
        faults.extend(judge(function, &child));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Whether an error is of a call that has failed.
fn is_of(error: &Error, function: &str, code: &str) -> bool {
    let error = error.to_string();
    error.starts_with(&format!("{function} failed for ")) && error.contains(code)
        || function == "clSVMAlloc" && error.starts_with("out of memory")
}

/// Each call of the program in turn, until there is none left; the next run, in which a later call fails, comes to that call. The
/// device is opened anew each time.
///
/// Acceptance: S4.12.
#[test]
fn each_call_fails_once() {
    clean_child("each_call_fails_once", &[], || {
        let layer = Layer::of_process();
        let run = || {
            let result = program();
            module_cache().release_unused();
            result
        };
        assert_eq!(run().unwrap(), [10; LEN]);
        let (mut faults, mut functions, mut reported) =
            (Vec::new(), BTreeSet::new(), BTreeSet::new());
        let mut previous = (String::new(), "");
        for call in 1.. {
            let before = layer.left();
            let (code, code_name) = CODES[call as usize % CODES.len()];
            layer.fail(call, code);
            let result = run();
            let Some(function) = layer.failed() else { break };
            let mut fault = |what: String| {
                faults.push(format!("call {call}, {function}, {code_name}: {what}"));
            };
            // The command was given: it is waited for before its memory is used for anything else.
            if function == "clFlush" && layer.next().as_deref() != Some("clFinish") {
                fault(format!("{:?} comes next", layer.next()));
            }
            match result {
                Ok(elements) if elements != [10; LEN] => fault(format!("{elements:?}")),
                Ok(_) if MADE_UP_FOR.contains(&&*function) => {}
                Ok(_) if MADE_UP_FOR_IN_PLACES.contains(&&*function) => {}
                Ok(_) => fault("not reported".to_owned()),
                Err(error) if is_of(&error, &function, code_name) => {
                    reported.insert(function.clone());
                }
                // What a `drop` could not report, the next use of the device may.
                Err(error) if is_of(&error, &previous.0, previous.1) => {}
                Err(error) => fault(format!("reported as {error}")),
            }
            if layer.left() > before {
                fault(format!("{} objects are left", layer.left() - before));
            }
            previous = (function.clone(), code_name);
            functions.insert(function);
        }
        layer.fail(0, 0);
        let last = run().or_else(|_| run());
        assert_eq!(last.unwrap(), [10; LEN]);
        assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
        let missing: Vec<_> = FUNCTIONS.iter().filter(|it| !functions.contains(**it)).collect();
        assert!(missing.is_empty(), "never called: {missing:?}");
        let silent = MADE_UP_FOR_IN_PLACES.iter().filter(|it| !reported.contains(**it));
        let silent: Vec<_> = silent.collect();
        assert!(silent.is_empty(), "never reported: {silent:?}");
    });
}

/// The functions that only modules of SPIR-V need.
#[test]
fn each_function_for_spirv_fails_once() {
    let name = "each_function_for_spirv_fails_once";
    let Some(translator) = tool::llvm_spirv() else { return };
    let translator = translator.to_str().expect("text");
    for function in ["clCreateProgramWithIL", "clSetKernelExecInfo"] {
        let fail = format!("{function} at call 1");
        let variables = [("OPENCL_LAYER_SPIRV", translator), ("OPENCL_LAYER_FAIL", &*fail)];
        let run = || {
            let device = Device::opencl(0).unwrap();
            let x = device.upload(&[1.0_f32; 4]).unwrap();
            let says = || {
                let kernels = Kernels::load(&device)?;
                kernels.says(&device.stream(), Launch::grid([1], [4]), &x)?;
                device.synchronize()
            };
            println!("reported: {}", says().unwrap_err());
            says().unwrap();
            drop(x);
            module_cache().release_unused();
        };
        let Some(child) = run_child(name, &variables, run) else { return };
        child.expect_success();
        let expected = format!("reported: {function} failed for ");
        assert!(child.stdout.contains(&expected), "{function}: {}", child.stdout);
    }
}

/// The layer sees what is not given back.
#[test]
fn a_leak_is_seen() {
    let variables = [("OPENCL_LAYER_LEAK_CHECK", "1")];
    let child = run_child("a_leak_is_seen", &variables, || {
        std::mem::forget(Device::opencl(0).unwrap().zeros::<u32>(1).unwrap());
    });
    let Some(child) = child else { return };
    assert_eq!(child.code, Some(LEAKS), "{}", child.stderr);
    for left in ["1 of contexts", "1 of memory", "1 of queues"] {
        assert!(child.stderr.contains(&format!("left: {left}")), "{}", child.stderr);
    }
}

#[test]
fn too_much_memory_is_an_error() {
    clean_child("too_much_memory_is_an_error", &[], || {
        let device = Device::opencl(0).unwrap();
        let Err(Error::OutOfMemory { bytes, device: name }) = device.zeros::<u8>(1 << 50) else {
            panic!("no machine has a pebibyte")
        };
        assert_eq!((bytes, &*name), (1 << 50, device.name()));
        assert_eq!(device.zeros::<u8>(8).unwrap().download().unwrap(), [0; 8]);
    });
}

#[test]
fn launches_beyond_the_limits_are_refused() {
    clean_child("launches_beyond_the_limits_are_refused", &[], || {
        let device = Device::opencl(0).unwrap();
        let kernels = Kernels::load(&device).unwrap();
        let mut values = device.upload(&[1_u32]).unwrap();
        let launch = Launch::grid([1], [device.limits().threads_per_block + 1]);
        // SAFETY: it is not launched.
        let error = unsafe { kernels.add(&device.stream(), launch, &mut values, 1) }.unwrap_err();
        assert!(matches!(error, Error::Limit { .. }), "{error}");
        let mut out = device.zeros::<u32>(32).unwrap();
        let (stream, most) = (device.stream(), device.limits().shared_bytes as usize);
        // SAFETY: it is not launched.
        let error =
            unsafe { kernels.takes_local(&stream, Launch::grid([1], [32]), most / 4, &mut out, 1) };
        assert!(matches!(error, Err(Error::Limit { .. })), "{error:?}");
        let other = Device::cpu().unwrap();
        // SAFETY: it is not launched.
        let error = unsafe {
            kernels.add(&other.stream(), Launch::grid([1], [1]), &mut values, 1).unwrap_err()
        };
        assert!(matches!(error, Error::WrongDevice { .. }), "{error}");
        assert_eq!(values.download().unwrap(), [1]);
    });
}

/// Loads the kernels with `program` in the place of one source's.
fn load_with(device: &Device, program: &'static [u8]) -> String {
    module_cache().clear();
    // SAFETY: the library checks what it is given.
    unsafe {
        module_cache().set_loader(Some(Arc::new(move |request| {
            let is_it = request.artifact().source.ends_with("streams.cl");
            Ok(is_it.then(|| program.to_vec()))
        })));
    }
    let error = Kernels::load(device).expect_err("the program is wrong").to_string();
    // SAFETY: there is none.
    unsafe { module_cache().set_loader(None) };
    module_cache().clear();
    error
}

#[test]
fn programs_that_cannot_be_built_are_explained() {
    clean_child("programs_that_cannot_be_built_are_explained", &[], || {
        let device = Device::opencl(0).unwrap();
        let cases: [(&[u8], &[&str]); 5] = [
            (
                b"kernel void add(global uint *x, uint y) {\n  x[0] = nothing_here;\n}\n",
                &["cannot build kernels/streams.cl for opencl-c", "nothing_here", "2:10"],
            ),
            (b"// kernelmill: -cl-no-such-option\n", &["clBuildProgram failed", "CL_INVALID_BUILD_OPTIONS"]),
            (b"\xff\xfe", &["cannot build kernels/streams.cl", "the program is not UTF-8 text"]),
            (b"kernel void other() {}", &["kernels/streams.cl", "has no kernel `"]),
            (
                b"kernel void add(global uint *x) {}\nkernel void sum_of() {}\nkernel void steps() {}\n",
                &["kernels/streams.cl", "parameters in the kernel", "steps("],
            ),
        ];
        for (program, expected) in cases {
            let error = load_with(&device, program);
            for part in expected {
                assert!(error.contains(part), "`{part}` is not in: {error}");
            }
        }
        assert_eq!(module_cache().statistics().loaded, 0);
        Kernels::load(&device).unwrap();
    });
}

//! Functions of the driver that fail, for want of memory or because the device is lost: the error says what could not be done
//! and why, nothing leaks, and the next attempt, on a device that is opened again, works. And modules that are not valid.
//!
//! What is made to fail are the calls of Vulkan that wgpu makes of a device, each once, on lavapipe. Not provoked here, or not
//! as it should be, are
//!
//! - lists of devices that fail: they are asked for once in a process;
//! - what wgpu 30.0.2 does not give back where it cannot open a device, and its panics there, which are errors of ours;
//! - the second of the two semaphores that wgpu makes for a queue: where it cannot, it destroys the first one twice, which
//!   ends the process in lavapipe;
//! - `wgpu::Device::destroy`, which nobody calls: devices are lost by the driver alone;
//! - errors of validation in launches and copies: what wgpu would refuse there the run time refuses before;
//! - errors outside of any call, which wgpu reports for what it does by itself: no function of the driver brings one about.

use kernelmill::{Device, Error, Launch, LoadRequest, Result, module_cache};
use std::sync::Arc;
use wgpu_backend::{Child, Kernels, LEAKS, clean_child, run_child};

const LEN: usize = 300;

/// `VK_ERROR_OUT_OF_DEVICE_MEMORY` and `VK_ERROR_DEVICE_LOST`.
const NO_MEMORY: i32 = -2;
const LOST: i32 = -4;

/// What a child process says before it closes a device that has done all that it was asked for.
const CLOSING: &str = "the device is closed";

/// What it says where its first attempt is right.
const FIRST_IS_RIGHT: &str = "attempt 0 is right";

/// Functions whose failure is made up for.
const MADE_UP_FOR: [&str; 1] = ["vkResetCommandPool"];

/// Copies, launches on two streams, events, a panic: everything that the back end calls.
fn program() -> Result<Vec<u32>> {
    let device = Device::wgpu(0)?;
    let kernels = Kernels::load(&device)?;
    let streams = [device.stream(), device.new_stream()?];
    let launch = || Launch::grid([LEN.div_ceil(64) as u32], [64]);
    let x = device.upload(&[1_u32; LEN])?;
    let mut y = device.zeros::<u32>(LEN)?;
    kernels.add_scaled(&streams[0], launch(), 2, &x, &mut y)?;
    let start = streams[0].record()?;
    // A part that does not begin where the device can bind it.
    kernels.add_scaled(&streams[1], launch(), 3, &x.slice(1..), &mut y.slice_mut(1..))?;
    kernels.add_checked(&streams[1], launch(), &x, &mut y)?;
    let event = streams[1].record()?;
    streams[0].wait(&event)?;
    event.synchronize()?;
    event.is_complete()?;
    event.elapsed_since(&start)?;
    // Bytes that are not whole words, and a copy within one buffer.
    let mut bytes = device.upload(&[1_u8; 21])?;
    bytes.slice_mut(3..10).copy_from(&[2; 7])?;
    let pinned = device.pinned_from(&[7_u32; LEN])?;
    let mut copy = device.zeros::<u32>(LEN)?;
    copy.copy_from_async(&streams[1], &pinned)?;
    copy.copy_from_buffer(&streams[1], &y.slice(..))?;
    // A panic, which must not be lost either.
    kernels.add_checked(&streams[1], launch(), &x.slice(..LEN - 1), &mut y)?;
    match streams[1].synchronize() {
        Err(Error::KernelPanic(_)) => {}
        Err(error) => return Err(error),
        Ok(()) => panic!("the panic is lost"),
    }
    let elements = copy.download()?;
    assert_eq!(bytes.download()?[2..11], [1, 2, 2, 2, 2, 2, 2, 2, 1]);
    drop((kernels, x, y, copy, streams));
    module_cache().release_unused();
    device.synchronize()?;
    eprintln!("{CLOSING}");
    Ok(elements)
}

/// Runs the program until an attempt succeeds, and says what the others reported.
fn attempts() {
    for attempt in 0..3 {
        match program() {
            Ok(elements) => {
                assert_eq!(elements[0], 3);
                assert_eq!(elements[1..], [6; LEN - 1]);
                eprintln!("attempt {attempt} is right");
                if attempt > 0 {
                    break;
                }
            }
            Err(error) => eprintln!("reported: {error}"),
        }
        module_cache().release_unused();
    }
}

/// What is wrong with a process in which a call has failed; `None` where its first attempt made fewer.
fn judge(child: &Child, is_clear: impl Fn(&str) -> bool) -> Option<Vec<String>> {
    let (before, after) = child.stderr.split_once("fails, of ")?;
    if before.contains(FIRST_IS_RIGHT) {
        return None;
    }
    let function = after.lines().next()?;
    let reported: Vec<_> =
        after.lines().filter_map(|line| line.strip_prefix("reported: ")).collect();
    let is_of_opening = reported.iter().any(|it| it.starts_with("wgpu is not available: "));
    // The second semaphore of a queue.
    if function == "vkCreateSemaphore" && child.code.is_none() && reported.is_empty() {
        return Some(Vec::new());
    }
    let mut faults = Vec::new();
    if child.code != Some(0) && !(is_of_opening && child.code == Some(LEAKS)) {
        faults.push(format!("{function}: code {:?}: {}", child.code, child.stderr));
    }
    if !(is_of_opening || reported.iter().all(|it| is_clear(it))) || reported.len() > 1 {
        faults.push(format!("{function}: reported as {reported:?}"));
    }
    let is_made_up_for = before.contains(CLOSING) || MADE_UP_FOR.contains(&function);
    if reported.is_empty() && !is_made_up_for {
        faults.push(format!("{function}: not reported"));
    }
    if !after.contains(" is right") {
        faults.push(format!("{function}: no attempt succeeded: {after}"));
    }
    Some(faults)
}

fn fail_each_call(name: &str, code: i32, is_clear: impl Fn(&str) -> bool) {
    let (mut faults, mut calls) = (Vec::new(), 0);
    loop {
        let fail = format!("any at call {} with {code}", calls + 1);
        let variables = [("VULKAN_LAYER_FAIL", &*fail), ("VULKAN_LAYER_LEAK_CHECK", "1")];
        let Some(child) = run_child(name, &variables, attempts) else { return };
        let Some(found) = judge(&child, &is_clear) else { break };
        faults.extend(found.into_iter().map(|fault| format!("call {}: {fault}", calls + 1)));
        calls += 1;
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(calls > 200, "{calls} calls");
}

/// Acceptance: S4.12.
#[test]
fn each_call_fails_once_for_want_of_memory() {
    // wgpu gives up a device for which it has no memory where it cannot go on.
    let is_clear = |error: &str| {
        error.starts_with("out of memory: ")
            || error.contains(": Out of Memory: ")
            || error.contains(": the device is lost: ")
    };
    fail_each_call("each_call_fails_once_for_want_of_memory", NO_MEMORY, is_clear);
}

/// Acceptance: S4.12.
#[test]
fn each_call_loses_the_device_once() {
    let is_clear = |error: &str| error.contains(": the device is lost: ");
    fail_each_call("each_call_loses_the_device_once", LOST, is_clear);
}

/// Who holds a device that is lost is told so by each call, who opens it again gets another one meanwhile, and both give
/// back what they have.
#[test]
fn a_lost_device_is_opened_again() {
    let name = "a_lost_device_is_opened_again";
    let fail = format!("vkQueueSubmit at call 3 with {LOST}");
    clean_child(name, &[("VULKAN_LAYER_FAIL", &fail)], || {
        let double = |device: &Device, kernels: &Kernels| -> Result<Vec<u32>> {
            let x = device.upload(&[1_u32; LEN])?;
            let mut y = device.upload(&[1_u32; LEN])?;
            let launch = Launch::grid([LEN.div_ceil(64) as u32], [64]);
            kernels.add_scaled(&device.stream(), launch, 1, &x, &mut y)?;
            y.download()
        };
        let lost = Device::wgpu(0).unwrap();
        let kept = (Kernels::load(&lost).unwrap(), lost.new_stream().unwrap());
        let error = double(&lost, &kept.0).unwrap_err().to_string();
        assert!(error.starts_with("dispatch_workgroups failed for the launch of "), "{error}");
        for error in [
            double(&lost, &kept.0).unwrap_err(),
            lost.zeros::<u32>(1).map(drop).unwrap_err(),
            lost.synchronize().unwrap_err(),
            kept.1.synchronize().unwrap_err(),
            kept.1.record().map(drop).unwrap_err(),
        ] {
            let error = error.to_string();
            assert!(
                error.contains(": the device is lost: Device is lost; open it again"),
                "{error}"
            );
        }
        let device = Device::wgpu(0).unwrap();
        let kernels = Kernels::load(&device).unwrap();
        assert_eq!(double(&device, &kernels).unwrap(), [2; LEN]);
        drop((kept, lost));
        assert_eq!(double(&device, &kernels).unwrap(), [2; LEN]);
    });
}

/// A module that is not valid, on a device that takes no SPIR-V as it is.
#[test]
fn an_invalid_module_is_an_error_of_validation() {
    let translates = [("KERNELMILL_WGPU_TRANSLATE", "1")];
    clean_child("an_invalid_module_is_an_error_of_validation", &translates, || {
        /// `OpExecutionMode`, and the mode `LocalSize`.
        const MODE: u32 = 16;
        const LOCAL_SIZE: u32 = 17;
        let device = Device::wgpu(0).unwrap();
        // Blocks of no thread at all.
        let loader = |request: &LoadRequest<'_>| {
            let words = request.artifact().bytes.chunks(4);
            let words = words.map(|word| u32::from_le_bytes(word.try_into().expect("whole words")));
            let mut words: Vec<u32> = words.collect();
            let at = words.windows(3).position(|it| it[0] & 0xffff == MODE && it[2] == LOCAL_SIZE);
            words[at.expect("a kernel says how large its blocks are") + 3] = 0;
            Ok(Some(words.into_iter().flat_map(u32::to_le_bytes).collect()))
        };
        // SAFETY: what it gives is refused.
        unsafe { module_cache().set_loader(Some(Arc::new(loader))) };
        let error = Kernels::load(&device).unwrap_err();
        assert!(matches!(error, Error::Wgpu { .. }), "{error}");
        let error = error.to_string();
        assert!(error.contains(": Validation Error "), "{error}");
        assert!(error.contains("Workgroup size is out of range"), "{error}");
        // SAFETY: there is none.
        unsafe { module_cache().set_loader(None) };
        Kernels::load(&device).unwrap();
    });
}

/// The layer sees what is not given back.
#[test]
fn a_leak_is_seen() {
    let variables = [("VULKAN_LAYER_LEAK_CHECK", "1")];
    let child = run_child("a_leak_is_seen", &variables, || {
        std::mem::forget(Device::wgpu(0).unwrap().zeros::<u32>(1).unwrap());
    });
    let Some(child) = child else { return };
    assert_eq!(child.code, Some(LEAKS), "{}", child.stderr);
    assert!(child.stderr.contains("left: 1 of devices"), "{}", child.stderr);
}

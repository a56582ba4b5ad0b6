//! A driver that is not there, a device that is lost, and one that shuts down while the program still holds modules and memory.

use cuda_backend::{Kernels, copy, fake_child, is_left_out, run_child};
use kernelmill::{Device, Launch, Result, module_cache};

/// Loads two modules, launches on two streams, and drops all of it, the modules last.
fn program() -> Result<Vec<f32>> {
    let device = Device::cuda(0)?;
    let (first, second) = (Kernels::load(&device)?, Kernels::load_copy(&device, copy(3))?);
    let stream = device.new_stream()?;
    let (one, mut sum) = (device.upload(&[1.0_f32])?, device.zeros::<f32>(1)?);
    first.saxpy(&device.stream(), Launch::grid([1], [1]), 2.0, &one, &mut sum)?;
    second.saxpy(&stream, Launch::grid([1], [1]), 3.0, &one, &mut sum)?;
    let found = sum.download();
    drop((one, sum, stream));
    drop((first, second));
    module_cache().release_unused();
    found
}

/// From one call on the driver says to every call that it shuts down, as it does to what runs after `main`. The
/// program ends as usual: with a result that is right or an error, without a panic or a signal, and in time.
///
/// Acceptance: S4.11.
#[test]
fn a_driver_that_shuts_down_ends_no_program() {
    let name = "a_driver_that_shuts_down_ends_no_program";
    if is_left_out(name) {
        return;
    }
    let run = |call: usize| {
        let rule = format!("any at call {call} onwards with DEINITIALIZED");
        let child = run_child(name, &[("FAKE_CUDA_FAIL", &rule)], || {
            match program() {
                Ok(found) => assert_eq!(found, [5.0]),
                Err(error) => println!("error: {error:?}"),
            }
            module_cache().clear();
            module_cache().set_capacity(0);
            println!("the end");
        });
        assert_eq!(child.code, Some(0), "call {call}:\n{}\n{}", child.stdout, child.stderr);
        assert!(!child.stderr.contains("panicked"), "call {call}:\n{}", child.stderr);
        assert!(child.stdout.contains("the end"), "call {call}:\n{}", child.stdout);
        (child.stderr.contains("fails, of cu"), child.stdout.contains("DEINITIALIZED"))
    };
    let outcomes: Vec<_> = (1..).map(run).take_while(|(failed, _)| *failed).collect();
    // Errors at first, and right results once only what is given back fails.
    let with_errors = outcomes.iter().filter(|(_, has_error)| *has_error).count();
    assert!(outcomes.first().is_some_and(|(_, has_error)| *has_error));
    assert!(outcomes.last().is_some_and(|(_, has_error)| !*has_error));
    assert!(
        with_errors > 10 && outcomes.len() > with_errors + 5,
        "{with_errors} of {}",
        outcomes.len()
    );
}

/// Acceptance: S4.11.
#[test]
fn releasing_modules_without_a_driver_does_nothing() {
    let name = "releasing_modules_without_a_driver_does_nothing";
    if is_left_out(name) {
        return;
    }
    let child = run_child(name, &[("LD_LIBRARY_PATH", "/nonexistent")], || {
        module_cache().release_unused();
        module_cache().clear();
        module_cache().set_capacity(0);
        module_cache().set_byte_budget(0);
        assert!(Device::cuda(0).is_err());
        module_cache().release_unused();
        let statistics = module_cache().statistics();
        assert_eq!((statistics.loads, statistics.unloads, statistics.evictions), (0, 0, 0));
    });
    child.expect_success();
}

/// A kernel that takes too long: nothing of the device works any more until all of it is given back, and then all does. Its
/// module and its memory are not kept.
#[test]
fn a_lost_device_is_opened_again() {
    fake_child("a_lost_device_is_opened_again", &[("FAKE_CUDA_STEPS", "1")], || {
        let device = Device::cuda(0).unwrap();
        let kernels = Kernels::load(&device).unwrap();
        let (x, mut y) = (device.upload(&[1.0_f32]).unwrap(), device.zeros::<f32>(1).unwrap());
        kernels.saxpy(&device.stream(), Launch::grid([1], [1]), 2.0, &x, &mut y).unwrap();
        let error = y.download().unwrap_err().to_string();
        assert!(error.contains("CUDA_ERROR_LAUNCH_TIMEOUT"), "{error}");
        let error = Device::cuda(0).unwrap_err().to_string();
        let expected = "CUDA is not available: device 0 is lost, after CUDA_ERROR_LAUNCH_TIMEOUT: drop its buffers, kernels, \
                        streams and `Device`s, then open it again";
        assert_eq!(error, expected);
        assert_eq!(Device::best().unwrap(), Device::cpu().unwrap());
        drop((x, y, kernels, device));
        module_cache().release_unused();
        assert_eq!(module_cache().statistics().loaded, 0);
        let device = Device::cuda(0).unwrap();
        assert_eq!(device.upload(&[1, 2]).unwrap().download().unwrap(), [1, 2]);
    });
}

//! A kernel that kernelmill has compiled runs through cudarc.

mod support;

use cudarc::driver::{CudaContext, LaunchConfig, PushKernelArg, sys::CUresult};
use support::{BASIC, child, clean_child, load};

/// What kernelmill makes of its example's `saxpy`.
const SAXPY: &str = include_str!("kernels/saxpy.ptx");

fn run() {
    const COUNT: usize = 10_000;
    let context = CudaContext::new(0).unwrap();
    let saxpy = load(&context, SAXPY).load_function("saxpy").unwrap();
    let stream = context.new_stream().unwrap();
    let x: Vec<f32> = (0..COUNT).map(|index| index as f32).collect();
    let y = vec![1.0_f32; COUNT];
    let (on_device, mut out) = (stream.clone_htod(&x).unwrap(), stream.clone_htod(&y).unwrap());
    let config = LaunchConfig::for_num_elems(COUNT as u32);
    let mut launch = stream.launch_builder(&saxpy);
    let launch = launch.arg(&2.0_f32).arg(&on_device).arg(&COUNT).arg(&mut out).arg(&COUNT);
    // SAFETY: the kernel has these parameters: a factor, and two slices with their lengths.
    unsafe { launch.launch(config).unwrap() };
    let found = stream.clone_dtoh(&out).unwrap();
    assert!(found.iter().zip(&x).all(|(found, x)| *found == 2.0 * x + 1.0));
}

#[test]
fn saxpy_runs() {
    clean_child("saxpy_runs", &[], run);
}

#[test]
fn saxpy_runs_in_every_order_without_races() {
    for order in ["reverse", "random:1", "random:2"] {
        let variables = [("FAKE_CUDA_ORDER", order), ("FAKE_CUDA_RACES", "1")];
        clean_child("saxpy_runs_in_every_order_without_races", &variables, run);
    }
}

#[test]
fn coverage_is_written() {
    let folder = test_support::temporary_folder();
    let path = folder.path().join("coverage").display().to_string();
    clean_child("coverage_is_written", &[("FAKE_CUDA_COVERAGE", &path)], run);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains("saxpy\t49\t-\tfma.rn.f32\t10000\n"), "{text}");
    assert!(text.contains("saxpy\t54\t-\tatom.relaxed.sys.global.cas.b32\t0\n"), "{text}");
}

#[test]
fn kernels_are_made_wrong() {
    let change = [("FAKE_CUDA_MUTATE", "address at line 50 of saxpy"), ("FAKE_CUDA_RACES", "1")];
    let outcome = child("kernels_are_made_wrong", &change, || {
        let wrong = std::panic::catch_unwind(run);
        assert!(wrong.is_err());
    });
    outcome.expect_success();
    assert!(outcome.stderr.contains("changed the address in PTX line 50 of `saxpy`"));
    assert!(outcome.stderr.contains("race: read of global address"), "{}", outcome.stderr);
}

#[test]
fn changes_that_cannot_be_made_are_refused() {
    let change = [("FAKE_CUDA_MUTATE", "barrier at line 50 of saxpy")];
    let outcome = child("changes_that_cannot_be_made_are_refused", &change, || {
        let context = CudaContext::new(0).unwrap();
        let refused = context.load_module(SAXPY.into()).unwrap_err();
        assert_eq!(refused.0, CUresult::CUDA_ERROR_INVALID_PTX);
        load(&context, BASIC);
    });
    outcome.expect_success();
    let text = "there is no barrier in PTX line 50 of `saxpy`";
    assert!(outcome.stderr.contains(text), "{}", outcome.stderr);
}

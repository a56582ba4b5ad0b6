//! The example `saxpy`, unchanged, on the fake HIP run time.

#![allow(dead_code, reason = "its kernels are those of all examples here")]

include!(concat!(env!("OUT_DIR"), "/program_saxpy.rs"));

#[test]
fn saxpy_runs_on_hip() {
    let device = [("KERNELMILL_DEVICE", "hip:0")];
    hip_backend::clean_child("saxpy_runs_on_hip", &device, || {
        hip_backend::register(kernels::Kernels::embedded(), kernels::Kernels::signatures());
        // It may write files.
        let folder = test_support::temporary_folder();
        std::env::set_current_dir(folder.path()).unwrap();
        main().unwrap();
    });
}

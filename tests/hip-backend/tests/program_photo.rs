//! The example `photo`, unchanged but for its pictures, which are not written, on the fake HIP run time.

#![allow(
    dead_code,
    reason = "its kernels are those of all examples here, and `main` reads the arguments of a test"
)]

include!(concat!(env!("OUT_DIR"), "/program_photo.rs"));

#[test]
fn photo_runs_on_hip() {
    let device = [("KERNELMILL_DEVICE", "hip:0")];
    hip_backend::clean_child("photo_runs_on_hip", &device, || {
        hip_backend::register(kernels::Kernels::embedded(), kernels::Kernels::signatures());
        let picture = scene::draw(240, 160);
        let (blurred, edges) = filter(&Device::best().unwrap(), &picture).unwrap();
        assert!(reference::compare(&picture, &blurred, &edges).unwrap() > 1000);
    });
}

use kernelmill_device::prelude::*;

unsafe extern "C" {
    safe fn coshff(x: f32) -> f32;
    safe fn launch_rocket(x: f32);
    static SCALE: f32;
}

fn wave(x: f32) -> f32 {
    coshff(x) * unsafe { SCALE }
}

#[kernel]
pub fn waves(mut y: DisjointSlice<f32>) {
    if let Some(out) = y.get_mut(thread::index_1d()) {
        *out = wave(*out);
        launch_rocket(*out);
    }
}

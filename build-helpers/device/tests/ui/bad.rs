use kernelmill_device::prelude::*;

#[kernel]
struct NotAFunction;

#[kernel]
pub fn generic<T: Copy, const N: usize>(_x: &[T]) {}

#[kernel]
pub fn returns(x: f32) -> f32 {
    x
}

#[kernel]
pub async fn later() {}

struct Thing;

impl Thing {
    #[kernel]
    fn method(&self) {}
}

#[kernel]
pub fn several(
    _a: &mut [f32],
    _b: &str,
    _c: &mut DisjointSlice<f32>,
    _d: &f32,
    _e: &mut u32,
    _f: DisjointSlice,
    _g: impl Copy,
    _h: [f32],
    #[cfg(all())] _i: u32,
    _j: &[f32; 3],
) {
}

#[kernel(dim = 4)]
pub fn four() {}

#[kernel(dim = "2")]
pub fn text() {}

#[kernel(dim)]
pub fn nothing() {}

#[kernel(dim = 2, dim = 2)]
pub fn twice() {}

#[kernel(block = 256, launch_bounds(128, 2))]
pub fn future() {}

#[kernel(dim = 2, width = w)]
pub fn no_width(_y: DisjointSlice<f32, Index2D>) {}

#[kernel(width = w)]
pub fn one_row(w: f32) {}

#[device_fn]
pub struct NoFunction;

#[device_fn(inline)]
pub unsafe extern "C" fn not_plain(x: f32) -> f32 {
    x
}

#[device_fn]
pub fn of_any_type<T>(x: T) -> T {
    x
}

#[kernel]
pub fn maps(a: TensorMap<f32, 2>, b: &mut tensor::TensorMapMut<f32, 2>) {}

#[kernel]
pub fn kept<'a: 'static>(x: &'static [f32], y: &'a [u32], z: DisjointSlice<'static, f32>)
where
    'a: 'static,
{
}

#[kernel(instances = ["f32", "(f32", "u8, u16, 3", 1, "f32, 1"])]
pub fn wrong_instances<T: Copy, const N: u16>(_x: &[T]) {}

#[kernel(instances = "f32", instances = ["f32"])]
pub fn no_list<T: Copy>(_x: &[T]) {}

#[kernel(instances = ["u32"])]
pub fn not_generic(_x: u32) {}

pub trait Bound {}
#[kernel(instances = ["u32, 16", "Missing, 1", "f32, 70000"])]
pub fn bounds<T: Bound, const N: u16>(_x: &[T]) {}

#[kernel(variants = [{ launch_bounds = 64 }, { cluster = [1, 1, 1] }, { block_size = 1 }, { index_width = "32" }, {}])]
pub fn variants() {}

#[kernel(variants = { launch_bounds = 64 })]
pub fn no_list() {}

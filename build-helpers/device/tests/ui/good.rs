//! Every form that a kernel can have.
use core::sync::atomic::{AtomicU32, Ordering};
use kernelmill_device as kd;
use kernelmill_device::prelude::*;

#[derive(Clone, Copy)]
#[repr(C)]
struct Params {
    a: f32,
    n: [u32; 3],
}
#[derive(Clone, Copy)]
struct Pair<A, B>(A, B);
#[derive(Clone, Copy)]
struct Wrap<'a>(core::marker::PhantomData<&'a ()>);

/// Given by the host.
#[device_fn]
#[inline]
pub(crate) const fn r#move(mut x: f32, [_, i]: [u32; 2], Params { .. }: Params) -> Result<f32, ()> {
    x += i as f32;
    Ok(x)
}

#[device_fn]
fn nothing() {}

/// A comment.
#[kernel]
#[inline(never)]
pub(crate) fn odd<'a>(
    _: f32,
    x: &'a [f32],
    v: &[[f32; 3]],
    mut y: kernelmill_device::slice::DisjointSlice<'_, f32>,
    #[allow(unused)] p: Params,
    q: Pair<Pair<i32, fn(i32) -> i64>, Option<Option<u8>>>,
    w: Wrap<'a>,
    mut z: kd::slice::DisjointSlice<Pair<i32, Option<u8>>, Index1D>,
    c: char,
    b: bool,
    big: u128,
) where
    u8: Copy,
{
    let _ = (v, q.0.0, q.0.1, &q.1, &w.0, c, b, big);
    if let Some(y) = y.get_mut(thread::index_1d()) {
        *y = x[0] + p.a + p.n[0] as f32;
    }
    if let Some(z) = z.get_mut(thread::index_1d()) {
        *z = Pair(1, None);
    }
}

/// # Safety
///
/// None is needed.
#[kernel]
pub unsafe fn r#loop() {}

#[kernel()]
extern "C" fn c_interface(_x: u32, Params { a: _a, .. }: Params) -> () {}

#[kernel(dim = 2, width = width)]
pub fn image(width: u32, mut out: DisjointSlice<u32, Index2D>) {
    let i = thread::index_2d();
    if let Some(out) = out.get_mut(i) {
        *out = (i.row() * 1000 + i.column()) as u32;
    }
}

#[kernel(dim = 3)]
pub fn cube(mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = 1;
    }
}

#[kernel]
pub fn block_sum(x: &[f32], y: DisjointSlice<f32>) {
    static mut TILE: SharedArray<f32, 256> = SharedArray::UNINIT;
    static mut COUNT: SharedArray<u32, 1> = SharedArray::UNINIT;
    let (i, t) = (thread::index_1d(), thread::thread_idx().x as usize);
    let mut y = y;
    // SAFETY: every thread writes its own element, and all the same count.
    unsafe { TILE[t] = x[i.get()] };
    // SAFETY: as above.
    unsafe { COUNT[0] = 0 };
    thread::sync_threads();
    // SAFETY: after the barrier it is used only atomically.
    unsafe { AtomicU32::from_ptr(&raw mut COUNT[0]) }.fetch_add(1, Ordering::Relaxed);
    // SAFETY: the launch gives at least 8 bytes.
    unsafe { DynamicSharedArray::<u64>::get().as_mut_ptr().write(3) };
    // SAFETY: written before the barrier.
    let value = warp::shuffle_xor(unsafe { TILE[t] }, 1) + warp::shuffle(1.0_f64, 2) as f32;
    if warp::any(value > 0.0) {
        // SAFETY: no thread uses the element other than atomically.
        let sum = unsafe { atomic::AtomicF32::from_ptr(y.as_mut_ptr()) };
        sum.fetch_add(value.sin() + value.tan().rsqrt(), Ordering::Relaxed);
    }
}

#[kernel]
fn tiles(from: &kd::tensor::TensorMap<f32, 2>, to: &'_ kd::tensor::TensorMapMut<u8, 1>) {
    let _ = (from.place([1, 2]), to.place([0]));
}

mod private {
    use super::*;

    #[derive(Clone, Copy)]
    pub struct Open;

    #[derive(Clone, Copy)]
    struct Secret(u8);

    #[kernel]
    fn hidden(s: Secret, mut y: DisjointSlice<Secret>) {
        if let Some(y) = y.get_mut(thread::index_1d()) {
            *y = Secret(s.0);
        }
    }
}

/// Each instance calls it with its own arguments; a parameter may have the name of a type here.
#[kernel(instances = ["f32, 2, u8", "u64, { 1 + 2 }, Secrets", "[u8; 4], 1, private::Open",])]
fn generic<'a, T, const N: usize, Secrets: Copy>(
    value: T,
    x: &'a [[T; N]],
    mut y: DisjointSlice<T>,
    _empty: core::marker::PhantomData<Secrets>,
) where
    T: Copy,
{
    if let Some(y) = y.get_mut(thread::index_1d()) {
        *y = if N > 1 { value } else { x[0][N - 1] };
    }
}

#[derive(Clone, Copy)]
struct Secrets;

#[device_fn]
fn half_of(x: f32) -> f32 {
    x / 2.0
}

/// It has a type too, with its conditions.
#[device_fn]
#[cfg(any())]
fn not_there(x: Missing) -> Missing {
    x
}

#[device_fn]
pub(crate) fn nothing_at_all() {}

#[kernel(instances = ["f32, half_of"], variants = [{ launch_bounds = 64 }, { block_size = [32, 2, 1], min_blocks = 2 }, { max_registers = 32, index_width = 32 }])]
fn mapped_by_type<T: Copy, F: Function<(T,), Output = T>>(mut y: DisjointSlice<T>) {
    if let Some(y) = y.get_mut(thread::index_1d()) {
        nothing_at_all::call(());
        *y = F::call((*y,));
    }
}

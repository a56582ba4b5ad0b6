//! Intrinsics: functions whose bodies the compiler supplies for each target.
//!
//! On the host they panic, except for those on floating-point numbers.

#[cfg(kernelmill)]
use core::sync::atomic::Ordering;

macro_rules! device_only {
    ($(fn $name:ident / $symbol:ident($($parameter:ident: $ty:ty),*) $(-> $output:ty)?;)*) => {
        $(
            #[cfg(kernelmill)]
            #[inline(always)]
            pub(crate) fn $name($($parameter: $ty),*) $(-> $output)? {
                unsafe extern "C" {
                    safe fn $symbol($($parameter: $ty),*) $(-> $output)?;
                }
                $symbol($($parameter),*)
            }

            #[cfg(not(kernelmill))]
            #[track_caller]
            #[allow(unused_variables, reason = "the host has no such operation")]
            #[allow(clippy::too_many_arguments, reason = "as many as the operation has")]
            pub(crate) fn $name($($parameter: $ty),*) $(-> $output)? {
                outside(stringify!($name))
            }
        )*
    };
}

device_only! {
    fn thread_idx_x / __kernelmill_thread_idx_x() -> u32;
    fn thread_idx_y / __kernelmill_thread_idx_y() -> u32;
    fn thread_idx_z / __kernelmill_thread_idx_z() -> u32;
    fn block_idx_x / __kernelmill_block_idx_x() -> u32;
    fn block_idx_y / __kernelmill_block_idx_y() -> u32;
    fn block_idx_z / __kernelmill_block_idx_z() -> u32;
    fn block_dim_x / __kernelmill_block_dim_x() -> u32;
    fn block_dim_y / __kernelmill_block_dim_y() -> u32;
    fn block_dim_z / __kernelmill_block_dim_z() -> u32;
    fn grid_dim_x / __kernelmill_grid_dim_x() -> u32;
    fn grid_dim_y / __kernelmill_grid_dim_y() -> u32;
    fn grid_dim_z / __kernelmill_grid_dim_z() -> u32;
    fn barrier / __kernelmill_barrier();
    fn grid_barrier / __kernelmill_grid_barrier();
    fn phase / __kernelmill_phase(array: *const u8);
    fn warp_barrier / __kernelmill_warp_barrier(mask: u32);
    fn warp_shuffle / __kernelmill_warp_shuffle(mask: u32, value: u32, lane: u32) -> u32;
    fn warp_shuffle_xor / __kernelmill_warp_shuffle_xor(mask: u32, value: u32, lanes: u32) -> u32;
    fn warp_shuffle_up / __kernelmill_warp_shuffle_up(mask: u32, value: u32, delta: u32) -> u32;
    fn warp_shuffle_down / __kernelmill_warp_shuffle_down(mask: u32, value: u32, delta: u32) -> u32;
    fn warp_ballot / __kernelmill_warp_ballot(mask: u32, predicate: u32) -> u32;
    fn active_mask / __kernelmill_active_mask() -> u32;
    fn lane_id / __kernelmill_lane_id() -> u32;
    fn fence_block / __kernelmill_fence_block();
    fn fence_device / __kernelmill_fence_device();
    fn dynamic_shared / __kernelmill_dynamic_shared() -> *mut u8;
    fn dynamic_shared_bytes / __kernelmill_dynamic_shared_bytes() -> u32;
    fn tensor_layout / __kernelmill_tensor_layout(element: u32) -> u32;
    fn mma_f16 / __kernelmill_mma_f16(sums: *mut f32, a: *const u32, b: *const u32);
    fn mma_bf16 / __kernelmill_mma_bf16(sums: *mut f32, a: *const u32, b: *const u32);
    fn mma_tf32 / __kernelmill_mma_tf32(sums: *mut f32, a: *const u32, b: *const u32);
    fn mma_i8 / __kernelmill_mma_i8(sums: *mut i32, a: *const u32, b: *const u32);
    fn mma_f64 / __kernelmill_mma_f64(sums: *mut f64, a: *const f64, b: *const f64);
    fn copy_async_4 / __kernelmill_copy_async_4(to: *mut u8, from: *const u8);
    fn copy_async_8 / __kernelmill_copy_async_8(to: *mut u8, from: *const u8);
    fn copy_async_16 / __kernelmill_copy_async_16(to: *mut u8, from: *const u8);
    fn copy_async_commit / __kernelmill_copy_async_commit();
    fn copy_async_wait_0 / __kernelmill_copy_async_wait_0();
    fn copy_async_wait_1 / __kernelmill_copy_async_wait_1();
    fn copy_async_wait_2 / __kernelmill_copy_async_wait_2();
    fn copy_async_wait_3 / __kernelmill_copy_async_wait_3();
    fn tma_available / __kernelmill_tma_available() -> u32;
    fn tma_init / __kernelmill_tma_init(word: *mut u64);
    fn tma_copy / __kernelmill_tma_copy(to: *mut u8, from: *const u8, bytes: u32, word: *mut u64);
    fn tma_try_wait / __kernelmill_tma_try_wait(word: *mut u64, phase: u32) -> u32;
    fn tma_fence / __kernelmill_tma_fence();
    fn tma_expect / __kernelmill_tma_expect(bytes: u32, word: *mut u64);
    fn tma_commit / __kernelmill_tma_commit();
    fn tma_wait / __kernelmill_tma_wait();
    fn tma_tile_load_1 / __kernelmill_tma_tile_load_1(to: *mut u8, map: *const u64, x: i32, word: *mut u64);
    fn tma_tile_load_2 / __kernelmill_tma_tile_load_2(to: *mut u8, map: *const u64, x: i32, y: i32, word: *mut u64);
    fn tma_tile_load_3 / __kernelmill_tma_tile_load_3(to: *mut u8, map: *const u64, x: i32, y: i32, z: i32, word: *mut u64);
    fn tma_tile_load_4 / __kernelmill_tma_tile_load_4(to: *mut u8, map: *const u64, x: i32, y: i32, z: i32, u: i32, word: *mut u64);
    fn tma_tile_load_5 / __kernelmill_tma_tile_load_5(to: *mut u8, map: *const u64, x: i32, y: i32, z: i32, u: i32, v: i32, word: *mut u64);
    fn tma_tile_store_1 / __kernelmill_tma_tile_store_1(map: *const u64, from: *const u8, x: i32);
    fn tma_tile_store_2 / __kernelmill_tma_tile_store_2(map: *const u64, from: *const u8, x: i32, y: i32);
    fn tma_tile_store_3 / __kernelmill_tma_tile_store_3(map: *const u64, from: *const u8, x: i32, y: i32, z: i32);
    fn tma_tile_store_4 / __kernelmill_tma_tile_store_4(map: *const u64, from: *const u8, x: i32, y: i32, z: i32, u: i32);
    fn tma_tile_store_5 / __kernelmill_tma_tile_store_5(map: *const u64, from: *const u8, x: i32, y: i32, z: i32, u: i32, v: i32);
    fn wgmma_available / __kernelmill_wgmma_available() -> u32;
    fn wgmma_f16 / __kernelmill_wgmma_f16(sums: *mut f32, a: u64, b: u64);
    fn wgmma_bf16 / __kernelmill_wgmma_bf16(sums: *mut f32, a: u64, b: u64);
    fn wgmma_wait / __kernelmill_wgmma_wait(sums: *mut f32);
    fn shared_address / __kernelmill_shared_address(pointer: *const u16) -> u32;
    fn ldmatrix_x2 / __kernelmill_ldmatrix_x2(words: *mut u32, row: *const u8);
    fn ldmatrix_x4 / __kernelmill_ldmatrix_x4(words: *mut u32, row: *const u8);
    fn ldmatrix_x2_trans / __kernelmill_ldmatrix_x2_trans(words: *mut u32, row: *const u8);
    fn ldmatrix_x4_trans / __kernelmill_ldmatrix_x4_trans(words: *mut u32, row: *const u8);
}

#[cfg(kernelmill)]
#[inline(always)]
pub(crate) fn f16_to_f32(bits: u16) -> f32 {
    unsafe extern "C" {
        safe fn __kernelmill_f16_to_f32(bits: u16) -> f32;
    }
    __kernelmill_f16_to_f32(bits)
}

#[cfg(kernelmill)]
#[inline(always)]
pub(crate) fn f32_to_f16(number: f32) -> u16 {
    unsafe extern "C" {
        safe fn __kernelmill_f32_to_f16(number: f32) -> u16;
    }
    __kernelmill_f32_to_f16(number)
}

#[cfg(kernelmill)]
#[inline(always)]
pub(crate) fn f64_to_f16(number: f64) -> u16 {
    unsafe extern "C" {
        safe fn __kernelmill_f64_to_f16(number: f64) -> u16;
    }
    __kernelmill_f64_to_f16(number)
}

#[cfg(not(kernelmill))]
pub(crate) fn f16_to_f32(bits: u16) -> f32 {
    // 2^112 times as much as the bits say, moved to where an `f32` has them; the greatest exponent
    // is that of infinities and NaN.
    let magnitude = u32::from(bits & 0x7fff) << 13;
    let scaled = (f32::from_bits(magnitude) * f32::from_bits(0x7780_0000)).to_bits();
    let finite = if bits & 0x7fff >= 0x7c00 { magnitude | 0x7f80_0000 } else { scaled };
    f32::from_bits(finite | u32::from(bits & 0x8000) << 16)
}

#[cfg(not(kernelmill))]
pub(crate) fn f32_to_f16(number: f32) -> u16 {
    let bits = number.to_bits();
    let (sign, magnitude) = ((bits >> 16 & 0x8000) as u16, bits & 0x7fff_ffff);
    let finite = match magnitude {
        0x7f80_0001.. => 0x7e00 | magnitude >> 13 & 0x3ff,
        // From halfway between the largest number and what would be next.
        0x477f_f000.. => 0x7c00,
        // 2^-14: the exponent is rebased, half of the last place added, or less by one where the place is even.
        0x3880_0000.. => (magnitude - 0x3800_0000 + 0x0fff + (magnitude >> 13 & 1)) >> 13,
        // The last place of 0.5 is that of subnormal numbers.
        _ => (f32::from_bits(magnitude) + 0.5).to_bits() - 0x3f00_0000,
    };
    sign | finite as u16
}

#[cfg(not(kernelmill))]
pub(crate) fn f64_to_f16(number: f64) -> u16 {
    // Rounded to odd: the last bit says that something is below it, so that rounding again is right.
    let near = number as f32;
    let back = f64::from(near);
    if back == number || number.is_nan() {
        return f32_to_f16(near);
    }
    let away = back.abs() > number.abs();
    f32_to_f16(f32::from_bits((near.to_bits() - u32::from(away)) | 1))
}

#[cfg(kernelmill)]
macro_rules! atomic_additions {
    ($($name:ident, $float:ident: $relaxed:ident $acquire:ident $release:ident $both:ident $strict:ident;)*) => {
        $(
            /// Adds to a number that threads share. The address is valid and aligned.
            #[inline(always)]
            pub(crate) fn $name(number: *mut $float, value: $float, order: Ordering) -> $float {
                unsafe extern "C" {
                    safe fn $relaxed(number: *mut $float, value: $float) -> $float;
                    safe fn $acquire(number: *mut $float, value: $float) -> $float;
                    safe fn $release(number: *mut $float, value: $float) -> $float;
                    safe fn $both(number: *mut $float, value: $float) -> $float;
                    safe fn $strict(number: *mut $float, value: $float) -> $float;
                }
                match order {
                    Ordering::Relaxed => $relaxed(number, value),
                    Ordering::Acquire => $acquire(number, value),
                    Ordering::Release => $release(number, value),
                    Ordering::AcqRel => $both(number, value),
                    // The strongest also stands for one that is not known.
                    _ => $strict(number, value),
                }
            }
        )*
    };
}

#[cfg(kernelmill)]
atomic_additions! {
    atomic_add_f32, f32: __kernelmill_atomic_add_f32_relaxed __kernelmill_atomic_add_f32_acquire __kernelmill_atomic_add_f32_release __kernelmill_atomic_add_f32_acq_rel __kernelmill_atomic_add_f32_seq_cst;
    atomic_add_f64, f64: __kernelmill_atomic_add_f64_relaxed __kernelmill_atomic_add_f64_acquire __kernelmill_atomic_add_f64_release __kernelmill_atomic_add_f64_acq_rel __kernelmill_atomic_add_f64_seq_cst;
}

#[cfg(not(kernelmill))]
#[track_caller]
#[cold]
pub(crate) fn outside(operation: &str) -> ! {
    panic!("`{operation}` works only inside a kernel that a device runs")
}

macro_rules! numeric {
    ($(fn $name:ident / $symbol:ident($($parameter:ident),*): $float:ident = $host:expr;)*) => {
        $(
            #[inline(always)]
            pub(crate) fn $name($($parameter: $float),*) -> $float {
                #[cfg(kernelmill)]
                {
                    unsafe extern "C" {
                        safe fn $symbol($($parameter: $float),*) -> $float;
                    }
                    $symbol($($parameter),*)
                }
                #[cfg(not(kernelmill))]
                $host($($parameter),*)
            }
        )*
    };
}

/// Operations on `f32`.
pub(crate) mod f32 {
    numeric! {
        fn sqrt / __kernelmill_sqrt_f32(x): f32 = f32::sqrt;
        fn fma / __kernelmill_fma_f32(a, b, c): f32 = f32::mul_add;
        fn fmuladd / __kernelmill_fmuladd_f32(a, b, c): f32 = |a, b, c| a * b + c;
        fn rsqrt / __kernelmill_rsqrt_f32(x): f32 = |x: f32| 1.0 / x.sqrt();
        fn floor / __kernelmill_floor_f32(x): f32 = f32::floor;
        fn ceil / __kernelmill_ceil_f32(x): f32 = f32::ceil;
        fn trunc / __kernelmill_trunc_f32(x): f32 = f32::trunc;
        fn rint / __kernelmill_rint_f32(x): f32 = f32::round_ties_even;
        fn fabs / __kernelmill_fabs_f32(x): f32 = f32::abs;
        fn copysign / __kernelmill_copysign_f32(x, sign): f32 = f32::copysign;
        fn minnum / __kernelmill_minnum_f32(x, y): f32 = f32::min;
        fn maxnum / __kernelmill_maxnum_f32(x, y): f32 = f32::max;
    }
}

/// Operations on `f64`.
pub(crate) mod f64 {
    numeric! {
        fn sqrt / __kernelmill_sqrt_f64(x): f64 = f64::sqrt;
        fn fma / __kernelmill_fma_f64(a, b, c): f64 = f64::mul_add;
        fn fmuladd / __kernelmill_fmuladd_f64(a, b, c): f64 = |a, b, c| a * b + c;
        fn rsqrt / __kernelmill_rsqrt_f64(x): f64 = |x: f64| 1.0 / x.sqrt();
        fn floor / __kernelmill_floor_f64(x): f64 = f64::floor;
        fn ceil / __kernelmill_ceil_f64(x): f64 = f64::ceil;
        fn trunc / __kernelmill_trunc_f64(x): f64 = f64::trunc;
        fn rint / __kernelmill_rint_f64(x): f64 = f64::round_ties_even;
        fn fabs / __kernelmill_fabs_f64(x): f64 = f64::abs;
        fn copysign / __kernelmill_copysign_f64(x, sign): f64 = f64::copysign;
        fn minnum / __kernelmill_minnum_f64(x, y): f64 = f64::min;
        fn maxnum / __kernelmill_maxnum_f64(x, y): f64 = f64::max;
    }
}

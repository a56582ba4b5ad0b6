//! With AVX-512, or with AVX2 and fused multiplication and addition.

use std::arch::x86_64::*;

/// Lanes of the vectors that are used; 0 where the CPU has none of them.
pub(crate) fn width() -> usize {
    if is_x86_feature_detected!("avx512f") {
        16
    } else if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        8
    } else {
        0
    }
}

/// The pull of all bodies on those from `start` on; as many as `out` has, whole vectors.
pub(crate) fn nbody(softening: f32, bodies: &[[f32; 4]], start: usize, out: &mut [[f32; 3]]) {
    // SAFETY: the CPU has what `width` found.
    unsafe {
        match width() {
            16 => nbody_16(softening, bodies, start, out),
            _ => nbody_8(softening, bodies, start, out),
        }
    }
}

/// A row of pixels; whole vectors.
pub(crate) fn mandelbrot_row(row: usize, step: f32, limit: u32, out: &mut [u32]) {
    // SAFETY: the CPU has what `width` found.
    unsafe {
        match width() {
            16 => mandelbrot_16(row, step, limit, out),
            _ => mandelbrot_8(row, step, limit, out),
        }
    }
}

/// Three coordinates of as many bodies as there are lanes.
fn coordinates<const LANES: usize>(bodies: &[[f32; 4]]) -> [[f32; LANES]; 3] {
    std::array::from_fn(|axis| std::array::from_fn(|lane| bodies[lane][axis]))
}

#[target_feature(enable = "avx512f")]
fn nbody_16(softening: f32, bodies: &[[f32; 4]], start: usize, out: &mut [[f32; 3]]) {
    for (number, out) in out.as_chunks_mut::<16>().0.iter_mut().enumerate() {
        let own = coordinates::<16>(&bodies[start + 16 * number..]);
        // SAFETY: arrays of sixteen floats.
        let own = unsafe { own.each_ref().map(|lanes| _mm512_loadu_ps(lanes.as_ptr())) };
        let mut sum = [_mm512_setzero_ps(); 3];
        for body in bodies {
            let d: [__m512; 3] =
                std::array::from_fn(|axis| _mm512_sub_ps(_mm512_set1_ps(body[axis]), own[axis]));
            let square = _mm512_fmadd_ps(d[0], d[0], _mm512_set1_ps(softening));
            let square = _mm512_fmadd_ps(d[1], d[1], square);
            let square = _mm512_fmadd_ps(d[2], d[2], square);
            // An estimate of fourteen bits and a step of Newton's.
            let guess = _mm512_rsqrt14_ps(square);
            let half = _mm512_mul_ps(_mm512_mul_ps(square, _mm512_set1_ps(0.5)), guess);
            let correction = _mm512_fnmadd_ps(half, guess, _mm512_set1_ps(1.5));
            let inverse = _mm512_mul_ps(guess, correction);
            let cube = _mm512_mul_ps(_mm512_mul_ps(inverse, inverse), inverse);
            let pull = _mm512_mul_ps(_mm512_set1_ps(body[3]), cube);
            sum = std::array::from_fn(|axis| _mm512_fmadd_ps(d[axis], pull, sum[axis]));
        }
        let mut lanes = [[0.0_f32; 16]; 3];
        for (lanes, sum) in lanes.iter_mut().zip(sum) {
            // SAFETY: an array of sixteen floats.
            unsafe { _mm512_storeu_ps(lanes.as_mut_ptr(), sum) };
        }
        *out = std::array::from_fn(|lane| lanes.map(|axis| axis[lane]));
    }
}

#[target_feature(enable = "avx2,fma")]
fn nbody_8(softening: f32, bodies: &[[f32; 4]], start: usize, out: &mut [[f32; 3]]) {
    for (number, out) in out.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        let own = coordinates::<8>(&bodies[start + 8 * number..]);
        // SAFETY: arrays of eight floats.
        let own = unsafe { own.each_ref().map(|lanes| _mm256_loadu_ps(lanes.as_ptr())) };
        let mut sum = [_mm256_setzero_ps(); 3];
        for body in bodies {
            let d: [__m256; 3] =
                std::array::from_fn(|axis| _mm256_sub_ps(_mm256_set1_ps(body[axis]), own[axis]));
            let square = _mm256_fmadd_ps(d[0], d[0], _mm256_set1_ps(softening));
            let square = _mm256_fmadd_ps(d[1], d[1], square);
            let square = _mm256_fmadd_ps(d[2], d[2], square);
            // An estimate of twelve bits and a step of Newton's.
            let guess = _mm256_rsqrt_ps(square);
            let half = _mm256_mul_ps(_mm256_mul_ps(square, _mm256_set1_ps(0.5)), guess);
            let correction = _mm256_fnmadd_ps(half, guess, _mm256_set1_ps(1.5));
            let inverse = _mm256_mul_ps(guess, correction);
            let cube = _mm256_mul_ps(_mm256_mul_ps(inverse, inverse), inverse);
            let pull = _mm256_mul_ps(_mm256_set1_ps(body[3]), cube);
            sum = std::array::from_fn(|axis| _mm256_fmadd_ps(d[axis], pull, sum[axis]));
        }
        let mut lanes = [[0.0_f32; 8]; 3];
        for (lanes, sum) in lanes.iter_mut().zip(sum) {
            // SAFETY: an array of eight floats.
            unsafe { _mm256_storeu_ps(lanes.as_mut_ptr(), sum) };
        }
        *out = std::array::from_fn(|lane| lanes.map(|axis| axis[lane]));
    }
}

#[target_feature(enable = "avx512f")]
fn mandelbrot_16(row: usize, step: f32, limit: u32, out: &mut [u32]) {
    let cy = _mm512_set1_ps(row as f32 * step - 1.25);
    let (four, one) = (_mm512_set1_ps(4.0), _mm512_set1_epi32(1));
    for (number, out) in out.as_chunks_mut::<16>().0.iter_mut().enumerate() {
        let columns: [f32; 16] =
            std::array::from_fn(|lane| (16 * number + lane) as f32 * step - 2.0);
        // SAFETY: an array of sixteen floats.
        let cx = unsafe { _mm512_loadu_ps(columns.as_ptr()) };
        let (mut x, mut y) = (_mm512_setzero_ps(), _mm512_setzero_ps());
        let mut count = _mm512_setzero_si512();
        for _ in 0..limit {
            let (xx, yy) = (_mm512_mul_ps(x, x), _mm512_mul_ps(y, y));
            let inside = _mm512_cmp_ps_mask::<_CMP_LE_OQ>(_mm512_add_ps(xx, yy), four);
            if inside == 0 {
                break;
            }
            count = _mm512_mask_add_epi32(count, inside, count, one);
            let xy = _mm512_mul_ps(x, y);
            x = _mm512_add_ps(_mm512_sub_ps(xx, yy), cx);
            y = _mm512_add_ps(_mm512_add_ps(xy, xy), cy);
        }
        // SAFETY: an array of sixteen numbers.
        unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), count) };
    }
}

#[target_feature(enable = "avx2,fma")]
fn mandelbrot_8(row: usize, step: f32, limit: u32, out: &mut [u32]) {
    let cy = _mm256_set1_ps(row as f32 * step - 1.25);
    let four = _mm256_set1_ps(4.0);
    for (number, out) in out.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        let columns: [f32; 8] = std::array::from_fn(|lane| (8 * number + lane) as f32 * step - 2.0);
        // SAFETY: an array of eight floats.
        let cx = unsafe { _mm256_loadu_ps(columns.as_ptr()) };
        let (mut x, mut y) = (_mm256_setzero_ps(), _mm256_setzero_ps());
        let mut count = _mm256_setzero_si256();
        for _ in 0..limit {
            let (xx, yy) = (_mm256_mul_ps(x, x), _mm256_mul_ps(y, y));
            let inside = _mm256_cmp_ps::<_CMP_LE_OQ>(_mm256_add_ps(xx, yy), four);
            if _mm256_movemask_ps(inside) == 0 {
                break;
            }
            // A lane inside is -1.
            count = _mm256_sub_epi32(count, _mm256_castps_si256(inside));
            let xy = _mm256_mul_ps(x, y);
            x = _mm256_add_ps(_mm256_sub_ps(xx, yy), cx);
            y = _mm256_add_ps(_mm256_add_ps(xy, xy), cy);
        }
        // SAFETY: an array of eight numbers.
        unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), count) };
    }
}

//! The plain loops of `plain.c`.

use crate::kernels::{Point, float2, float4};

unsafe extern "C" {
    pub(crate) fn c_column_products(out: *mut f32, x: *const f32, columns: i32, rows: i32);
    pub(crate) fn c_row_sums(out: *mut f32, x: *const f32, columns: i32, rows: i32);
    pub(crate) fn c_column_sums(out: *mut f32, x: *const f32, columns: i32, rows: i32);
    pub(crate) fn c_transpose(out: *mut f32, x: *const f32, columns: i32, rows: i32);
    pub(crate) fn c_eliminate(
        out: *mut f32,
        x: *const f32,
        by: *const f32,
        columns: i32,
        rows: i32,
    );
    pub(crate) fn c_matrix_product(
        out: *mut f32,
        a: *const f32,
        b: *const f32,
        columns: i32,
        rows: i32,
        depth: i32,
    );
    pub(crate) fn c_filter_rows(
        out: *mut f32,
        x: *const f32,
        weights: *const f32,
        columns: i32,
        rows: i32,
        reach: i32,
    );
    pub(crate) fn c_heat_tile(out: *mut f32, x: *const f32, width: i32, height: i32, rate: f32);
    pub(crate) fn c_blur(out: *mut f32, x: *const f32, width: i32, height: i32);
    pub(crate) fn c_torus(out: *mut f32, x: *const f32, width: i32, height: i32);
    pub(crate) fn c_erode_column(out: *mut u8, x: *const u8, width: i32, height: i32, reach: i32);
    pub(crate) fn c_highest_below(
        out: *mut f32,
        x: *const f32,
        width: i32,
        height: i32,
        reach: i32,
    );
    pub(crate) fn c_cheapest(out: *mut i32, before: *const i32, costs: *const i32, n: i32);
    pub(crate) fn c_lengths(out: *mut f32, x: *const Point, n: i32);
    pub(crate) fn c_energies(out: *mut f32, x: *const float4, n: i32);
    pub(crate) fn c_gray(out: *mut u8, x: *const u8, n: i32);
    pub(crate) fn c_complex_products(out: *mut float2, a: *const float2, b: *const float2, n: i32);
    pub(crate) fn c_attractions(out: *mut float4, x: *const float4, n: i32);
    pub(crate) fn c_sparse_product(
        out: *mut f32,
        starts: *const i32,
        columns: *const i32,
        values: *const f32,
        x: *const f32,
        n: i32,
    );
    pub(crate) fn c_reach(
        next: *mut i8,
        starts: *const i32,
        targets: *const i32,
        marked: *const i8,
        seen: *const i8,
        n: i32,
    );
    pub(crate) fn c_search(out: *mut i32, keys: *const i32, wanted: *const i32, n: i32, count: i32);
    pub(crate) fn c_exchange(x: *mut i32, distance: i32, direction: i32, n: i32);
    pub(crate) fn c_block_scan(out: *mut i32, x: *const i32, n: i32);
    pub(crate) fn c_matrix_powers(out: *mut f32, x: *const f32, steps: i32, n: i32);
    pub(crate) fn c_medians(out: *mut f32, x: *const f32, width: i32, height: i32);
    pub(crate) fn c_own_histogram(out: *mut i32, x: *const i32, each: i32, n: i32);
    pub(crate) fn c_differences(out: *mut f32, x: *const f32, order: i32, steps: i32, n: i32);
    pub(crate) fn c_roughness(sums: *mut f32, x: *const f32, width: i32, height: i32);
    pub(crate) fn c_tiles_turned(out: *mut f32, x: *const f32, width: i32, height: i32);
    pub(crate) fn c_passed_on(out: *mut f32, x: *const f32, n: i32);
    pub(crate) fn c_turned(out: *mut f32, x: *const f32, columns: usize, rows: usize);
    pub(crate) fn c_backwards(
        out: *mut f32,
        x: *const f32,
        depth: usize,
        height: usize,
        width: usize,
    );
    pub(crate) fn c_filled(
        out: *mut f32,
        x: *const f32,
        lengths: *const i32,
        width: i32,
        height: i32,
        n: i32,
    );
    pub(crate) fn c_pair_scan(out: *mut i32, x: *const i32, n: i32);
    pub(crate) fn c_atomic_sums(out: *mut i32, each: i32, n: i32);
    pub(crate) fn c_eliminate_below(a: *mut f32, factors: *const f32, step: i32, n: i32);
    pub(crate) fn c_square_product(out: *mut f32, a: *const f32, b: *const f32, n: i32);
    pub(crate) fn c_cosines(
        out: *mut f32,
        x: *const f32,
        basis: *const f32,
        width: i32,
        height: i32,
    );
    pub(crate) fn c_add_arrays(out: *mut f32, x: *const f32, by: f32, n: i32);
}

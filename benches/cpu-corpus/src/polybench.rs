//! PolyBench/GPU: the first and the last kernel of each program. Matrices and stencils in single precision.

use crate::{
    numbers::random,
    row::{Outcome, Table, row},
};

pub(crate) fn rows(table: &mut Table) -> Outcome {
    row!(table, "2DCONV/2DConvolution.cu", convolution2D_kernel, [64, 256], [32, 8],
        { a: In random(1, 2048 * 2048), b: Out vec![0.0_f32; 2048 * 2048] },
        (2048, 2048, a, b), c_conv2d(a, b, 2048, 2048));
    row!(table, "3DCONV/3DConvolution.cu", convolution3D_kernel, [16, 64], [32, 8],
        { a: In random(1, 16 << 18), b: Out vec![0.0_f32; 16 << 18] },
        (16, 512, 512, a, b, 8), c_conv3d(a, b, 512, 512, 8));
    row!(table, "2MM/2mm.cu", mm2_kernel1, [16, 64], [32, 8],
        { tmp: Out vec![0.0_f32; 1 << 18], a: In random(1, 1 << 18), b: In random(2, 1 << 18) },
        (512, 512, 512, 512, 1.5, 0.0, tmp, a, b), c_gemm(a, b, tmp, 512, 512, 512, 1.5, 0.0));
    row!(table, "2MM/2mm.cu", mm2_kernel2, [16, 64], [32, 8],
        { tmp: In random(1, 1 << 18), c: In random(2, 1 << 18), d: Out random(3, 1 << 18) },
        (512, 512, 512, 512, 0.0, 1.2, tmp, c, d), c_gemm(tmp, c, d, 512, 512, 512, 1.0, 1.2));
    row!(table, "3MM/3mm.cu", mm3_kernel1, [16, 64], [32, 8],
        { a: In random(1, 1 << 18), b: In random(2, 1 << 18), e: Out vec![0.0_f32; 1 << 18] },
        (512, 512, 512, 512, 512, a, b, e), c_gemm(a, b, e, 512, 512, 512, 1.0, 0.0));
    row!(table, "3MM/3mm.cu", mm3_kernel3, [16, 64], [32, 8],
        { e: In random(1, 1 << 18), f: In random(2, 1 << 18), g: Out vec![0.0_f32; 1 << 18] },
        (512, 512, 512, 512, 512, e, f, g), c_gemm(e, f, g, 512, 512, 512, 1.0, 0.0));
    let positive = |seed, n| random(seed, n).iter().map(|x| 2.0 + x).collect::<Vec<f32>>();
    row!(table, "ADI/adi.cu", adi_kernel1, [4], [256],
        { a: In random(1, 1 << 20), b: Out positive(2, 1 << 20), x: Out random(3, 1 << 20) },
        (1024, a, b, x), c_adi1(a, b, x, 1024));
    row!(table, "ADI/adi.cu", adi_kernel6, [4], [256],
        { a: In random(1, 1 << 20), b: In positive(2, 1 << 20), x: Out random(3, 1 << 20) },
        (1024, a, b, x, 500), c_adi6(a, b, x, 1024, 500));
    row!(table, "ATAX/atax.cu", atax_kernel1, [128], [32],
        { a: In random(1, 1 << 24), x: In random(2, 4096), tmp: Out vec![0.0_f32; 4096] },
        (4096, 4096, a, x, tmp), c_row_products(a, x, tmp, 4096, 4096));
    row!(table, "ATAX/atax.cu", atax_kernel2, [128], [32],
        { a: In random(1, 1 << 24), y: Out vec![0.0_f32; 4096], tmp: In random(2, 4096) },
        (4096, 4096, a, y, tmp), c_column_products_by(a, tmp, y, 4096, 4096));
    row!(table, "BICG/bicg.cu", bicg_kernel1, [16], [256],
        { a: In random(1, 1 << 24), r: In random(2, 4096), s: Out vec![0.0_f32; 4096] },
        (4096, 4096, a, r, s), c_column_products_by(a, r, s, 4096, 4096));
    row!(table, "BICG/bicg.cu", bicg_kernel2, [16], [256],
        { a: In random(1, 1 << 24), p: In random(2, 4096), q: Out vec![0.0_f32; 4096] },
        (4096, 4096, a, p, q), c_row_products(a, p, q, 4096, 4096));
    row!(table, "CORR/correlation.cu", mean_kernel, [2], [256],
        { mean: Out vec![0.0_f32; 512], data: In random(1, 1 << 18) },
        (512, 512, mean, data), c_column_means(mean, data, 512, 512));
    row!(table, "CORR/correlation.cu", corr_kernel, [2], [256],
        { symmat: Out vec![0.0_f32; 1 << 18], data: In random(1, 1 << 18) },
        (512, 512, symmat, data), c_corr(symmat, data, 512, 512));
    row!(table, "COVAR/covariance.cu", covar_mean_kernel, [2], [256],
        { mean: Out vec![0.0_f32; 512], data: In random(1, 1 << 18) },
        (512, 512, mean, data), c_column_means(mean, data, 512, 512));
    row!(table, "COVAR/covariance.cu", covar_kernel, [2], [256],
        { symmat: Out vec![0.0_f32; 1 << 18], data: In random(1, 1 << 18) },
        (512, 512, symmat, data), c_covar(symmat, data, 512, 512));
    row!(table, "DOITGEN/doitgen.cu", doitgen_kernel1, [4, 16], [32, 8],
        { sum: Out vec![0.0_f32; 1 << 21], a: In random(1, 1 << 21), c4: In random(2, 1 << 14) },
        (sum, a, c4, 64), c_doitgen1(sum, a, c4, 128, 128, 64));
    row!(table, "DOITGEN/doitgen.cu", doitgen_kernel2, [4, 16], [32, 8],
        { sum: In random(1, 1 << 21), a: Out vec![0.0_f32; 1 << 21], c4: In random(2, 1 << 14) },
        (sum, a, c4, 64), c_doitgen2(sum, a, 128, 128, 64));
    row!(table, "FDTD-2D/fdtd2d.cu", fdtd_step1_kernel, [64, 256], [32, 8],
        { fict: In random(1, 500), ex: In random(2, 1 << 22), ey: Out random(3, 1 << 22), hz: In random(4, 1 << 22) },
        (2048, 2048, fict, ex, ey, hz, 7), c_fdtd1(fict, ey, hz, 2048, 2048, 7));
    row!(table, "FDTD-2D/fdtd2d.cu", fdtd_step3_kernel, [64, 256], [32, 8],
        { ex: In random(2, 1 << 22), ey: In random(3, 1 << 22), hz: Out random(4, 1 << 22) },
        (2048, 2048, ex, ey, hz, 7), c_fdtd3(ex, ey, hz, 2048, 2048));
    row!(table, "GEMM/gemm.cu", gemm_kernel, [16, 64], [32, 8],
        { a: In random(1, 1 << 18), b: In random(2, 1 << 18), c: Out random(3, 1 << 18) },
        (512, 512, 512, 0.5, 1.2, a, b, c), c_gemm(a, b, c, 512, 512, 512, 0.5, 1.2));
    row!(table, "GEMVER/gemver.cu", gemver_kernel1, [128, 512], [32, 8],
        { a: Out random(1, 1 << 24), v1: In random(2, 4096), v2: In random(3, 4096), u1: In random(4, 4096), u2: In random(5, 4096) },
        (4096, 1.0, 1.0, a, v1, v2, u1, u2), c_gemver1(a, v1, v2, u1, u2, 4096));
    row!(table, "GEMVER/gemver.cu", gemver_kernel3, [16], [256],
        { a: In random(1, 1 << 24), x: In random(2, 4096), w: Out random(3, 4096) },
        (4096, 1.5, 1.0, a, x, w), c_gemver3(a, x, w, 4096, 1.5));
    row!(table, "GESUMMV/gesummv.cu", gesummv_kernel, [16], [256],
        { a: In random(1, 1 << 24), b: In random(2, 1 << 24), tmp: Out vec![0.0_f32; 4096], x: In random(3, 4096), y: Out vec![0.0_f32; 4096] },
        (4096, 1.5, 1.2, a, b, tmp, x, y), c_gesummv(a, b, tmp, x, y, 4096, 1.5, 1.2));
    row!(table, "GRAMSCHM/gramschmidt.cu", gramschmidt_kernel1, [1], [256],
        { a: In random(1, 1 << 22), r: Out vec![0.0_f32; 1 << 22], q: In vec![0.0_f32; 1 << 22] },
        (2048, 2048, a, r, q, 7), c_gramschmidt1(a, r, 2048, 2048, 7));
    row!(table, "GRAMSCHM/gramschmidt.cu", gramschmidt_kernel3, [8], [256],
        { a: Out random(1, 1 << 22), r: Out vec![0.0_f32; 1 << 22], q: In random(2, 1 << 22) },
        (2048, 2048, a, r, q, 7), c_gramschmidt3(a, r, q, 2048, 2048, 7));
    row!(table, "JACOBI1D/jacobi1D.cu", jacobi1d_kernel1, [16], [256],
        { a: In random(1, 4096), b: Out vec![0.0_f32; 4096] },
        (4096, a, b), c_jacobi1d(a, b, 4096));
    row!(table, "JACOBI1D/jacobi1D.cu", jacobi1d_kernel2, [16], [256],
        { a: Out vec![0.0_f32; 4096], b: In random(1, 4096) },
        (4096, a, b), c_jacobi1d_copy(a, b, 4096));
    row!(table, "JACOBI2D/jacobi2D.cu", runJacobiCUDA_kernel1, [32, 125], [32, 8],
        { a: In random(1, 1_000_000), b: Out vec![0.0_f32; 1_000_000] },
        (1000, a, b), c_jacobi2d(a, b, 1000));
    row!(table, "JACOBI2D/jacobi2D.cu", runJacobiCUDA_kernel2, [32, 125], [32, 8],
        { a: Out vec![0.0_f32; 1_000_000], b: In random(1, 1_000_000) },
        (1000, a, b), c_jacobi2d_copy(a, b, 1000));
    row!(table, "LU/lu.cu", lu_kernel1, [8], [256],
        { a: Out positive(1, 1 << 22) },
        (2048, a, 100), c_lu1(a, 2048, 100));
    row!(table, "LU/lu.cu", lu_kernel2, [64, 256], [32, 8],
        { a: Out random(1, 1 << 22) },
        (2048, a, 100), c_lu2(a, 2048, 100));
    row!(table, "MVT/mvt.cu", mvt_kernel1, [128], [32],
        { a: In random(1, 1 << 24), x: Out random(2, 4096), y: In random(3, 4096) },
        (4096, a, x, y), c_gemver3(a, y, x, 4096, 1.0));
    row!(table, "MVT/mvt.cu", mvt_kernel2, [128], [32],
        { a: In random(1, 1 << 24), x: Out random(2, 4096), y: In random(3, 4096) },
        (4096, a, x, y), c_mvt2(a, x, y, 4096));
    row!(table, "SYR2K/syr2k.cu", syr2k_kernel, [16, 64], [32, 8],
        { a: In random(1, 1 << 18), b: In random(2, 1 << 18), c: Out random(3, 1 << 18) },
        (512, 512, 1.5, 1.2, a, b, c), c_syr2k(a, b, c, 512, 512, 1.5, 1.2));
    row!(table, "SYRK/syrk.cu", syrk_kernel, [16, 64], [32, 8],
        { a: In random(1, 1 << 18), c: Out random(2, 1 << 18) },
        (512, 512, 1.5, 1.2, a, c), c_syrk(a, c, 512, 512, 1.5, 1.2));
    Ok(())
}

//! HeCBench: kernels of every fourth program. Integers and bytes, double precision, private arrays, warps, scans, atomics.

use crate::{
    numbers::{below, doubles, random},
    row::{Outcome, Table, row},
};

pub(crate) fn rows(table: &mut Table) -> Outcome {
    let zeros = |n| vec![0.0_f32; n];
    let bytes = |seed, n| below(seed, 256, n).into_iter().map(|it| it as u8).collect::<Vec<u8>>();
    let positive = |seed, n| random(seed, n).iter().map(|x| 0.5 + x).collect::<Vec<f32>>();
    let centred = |seed, n| random(seed, n).iter().map(|x| 2.0 * x - 1.0).collect::<Vec<f32>>();
    row!(table, "atomicCost-cuda/main.cu", wiAtomicOnGlobalMem::<i32>, [256], [256],
        { out: Out vec![0_i32; 65536] },
        (out, 64), c_odd_sums(out, 65536, 64));
    row!(table, "base64e-cuda/kernel.h", base64_enc, [4096], [256],
        { input: In bytes(1, 3 << 20), output: Out vec![0_u8; 4 << 20] },
        (&*input, output, 0, 1 << 20, 0), c_base64(input, output, 1 << 20));
    row!(table, "clink-cuda/kernel.h", lstm_inference, [2], [128],
        { x: In centred(1, 256 * 20000), inw: In centred(2, 20), intw: In centred(3, 100), intb: In centred(4, 20), outw: In centred(5, 5), outb: In centred(6, 1), y: Out zeros(256 * 20000) },
        (&*x, &*inw, &*intw, &*intb, &*outw, &*outb, y), c_lstm(x, inw, intw, intb, outw, outb, y, 256, 20000), within 1e-3);
    row!(table, "convolution3D-cuda/main.cu", conv3d_s1::<f32>, [4, 8, 36], [16, 16, 1],
        { x: In random(1, 4 * 4 * 100 * 100), w: In random(2, 8 * 4 * 5 * 5), y: Out zeros(4 * 8 * 96 * 96) },
        (&*x, &*w, y, 4, 8, 5, 100, 100, 96, 96, 6), c_conv_channels(x, w, y, 4, 4, 8, 5, 100, 96));
    row!(table, "extrema-cuda/kernels.h", relextrema_1D::<f32>, [4096], [256],
        { x: In random(1, 1 << 20), out: Out vec![false; 1 << 20] },
        (1 << 20, 4, true, &*x, out), c_extrema(x, out, 1 << 20, 4));
    row!(table, "flip-cuda/main.cu", flip_kernel::<f32>, [4096], [256],
        { x: In random(1, 1 << 20), out: Out zeros(1 << 20), dims: In vec![0_i64, 2], strides: In vec![8192_i64, 64, 1], contiguous: In vec![8192_i64, 64, 1], shape: In vec![128_i64, 128, 64] },
        (&*x, out, 1 << 20, &*dims, 2, &*strides, &*contiguous, &*shape, 3), c_flip(x, out, 128, 128, 64));
    row!(table, "gabor-cuda/main.cu", gabor, [64, 64], [16, 16],
        { out: Out vec![0.0_f64; 1 << 20] },
        (out, 1024, 1024, 512.0, 512.0, 0.8, 0.6, 0.01, 40_000.0, 90_000.0, 0.01),
        c_gabor(out, 1024, 1024, 512.0, 512.0, 0.8, 0.6, 0.01, 40_000.0, 90_000.0, 0.01));
    row!(table, "goulash-cuda/main.cu", gate, [4096], [256],
        { gate: Out doubles(1, 1 << 20), vm: In doubles(2, 1 << 20) },
        (gate, 1 << 20, &*vm), c_gate(gate, vm, 1 << 20));
    let sixty_fourths =
        |seed, n| below(seed, 64, n).iter().map(|it| *it as f32 / 64.0).collect::<Vec<f32>>();
    row!(table, "haccmk-cuda/haccmk.cu", haccmk_kernel, [16], [256],
        { x: In sixty_fourths(1, 4096), y: In sixty_fourths(2, 4096), z: In sixty_fourths(3, 4096), mass: In random(4, 4096), vx: Out zeros(4096), vy: Out zeros(4096), vz: Out zeros(4096) },
        (4096, 4096, &*x, &*y, &*z, &*mass, vx, vy, vz, 0.5, 0.03, 0.23), c_haccmk(x, y, z, mass, vx, vy, vz, 4096, 0.5, 0.03, 0.23), within 1e-3);
    row!(table, "heat2d-cuda/main.cu", dev_lapl_iter, [4096], [256],
        { out: Out zeros(1 << 20), input: In random(1, 1 << 20) },
        (out, &*input, 0.1, 0.6, 1024, 1024), c_laplace(out, input, 0.1, 0.6, 1024, 1024));
    row!(table, "jacobi-cuda/main.cu", jacobi_step, [128, 128], [16, 16],
        { f: Out zeros(1 << 22), old: In random(1, 1 << 22), error: Out zeros(1) },
        (f, &*old, error), c_jacobi(f, old, error, 2048), within 1e-3);
    row!(table, "keogh-cuda/main.cu", lb_keogh, [391], [256], shared (256 + 64) * 4,
        { subject: In random(1, 100_000), avgs: In random(2, 100_000), stds: In positive(3, 100_000), out: Out zeros(100_000), lower: In centred(4, 64), upper: In centred(5, 64) },
        (&*subject, &*avgs, &*stds, out, &*lower, &*upper, 64, 100_000), c_keogh(subject, avgs, stds, out, lower, upper, 64, 100_000));
    row!(table, "langevin-cuda/main.cu", k0, [4096], [256],
        { x: In positive(1, 1 << 20), out: Out zeros(1 << 20) },
        (&*x, out), c_langevin0(x, out, 1 << 20));
    row!(table, "langevin-cuda/main.cu", k2, [4096], [256],
        { x: In positive(1, 1 << 20), out: Out zeros(1 << 20) },
        (&*x, out), c_langevin2(x, out, 1 << 20));
    row!(table, "mask-cuda/main.cu", sequenceMaskKernel::<f32>, [4096], [256],
        { input: In random(1, 1 << 20), lengths: In below(2, 1024, 256), out: Out zeros(1 << 20) },
        (256, 1024, 4, &*input, &*lengths, -1.0, out), c_sequence_mask(256, 1024, 4, input, lengths, -1.0, out));
    row!(table, "matrixT-cuda/main.cu", copySharedMem, [64, 64], [16, 16],
        { out: Out zeros(1 << 20), input: In random(1, 1 << 20) },
        (out, &*input, 1024, 1024), c_same(out, input, 1 << 20));
    row!(table, "matrixT-cuda/main.cu", transposeCoalesced, [64, 64], [16, 16],
        { out: Out zeros(1 << 20), input: In random(1, 1 << 20) },
        (out, &*input, 1024, 1024), c_turn(out, input, 1024, 1024));
    row!(table, "matrixT-cuda/main.cu", transposeDiagonal, [64, 64], [16, 16],
        { out: Out zeros(1 << 20), input: In random(1, 1 << 20) },
        (out, &*input, 1024, 1024), c_turn(out, input, 1024, 1024));
    row!(table, "mcpr-cuda/kernels.h", compute_probs, [79], [256],
        { alphas: In doubles(1, 20_000 * 21), rands: In doubles(2, 100 * 21), probs: Out vec![0.0_f64; 20_000 * 21] },
        (&*alphas, &*rands, probs, 20_000, 21, 100), c_probs(alphas, rands, probs, 20_000, 21, 100));
    row!(table, "perplexity-cuda/main.cu", sigmas_kernel::<i32, f32>, [40], [256],
        { distances: In random(1, 10_000 * 64), p: Out zeros(10_000 * 64) },
        (&*distances, p, 30.0, 3.401_197_4, 100, 1e-5, 10_000, 64), c_sigmas(distances, p, 3.401_197_4, 100, 1e-5, 10_000, 64), within 1e-3);
    row!(table, "reverse-cuda/main.cu", reverse, [1], [256],
        { d: Out below(1, 1000, 256) },
        (d, 256), c_reverse(d, 256));
    row!(table, "scan2-cuda/main.cu", ScanLargeArrays, [4096], [128], shared 256 * 4,
        { out: Out zeros(1 << 20), input: In random(1, 1 << 20), sums: Out zeros(4096) },
        (out, &*input, 256, sums), c_scan_blocks(out, input, sums, 4096, 256));
    row!(table, "scan2-cuda/main.cu", blockAddition, [4096], [256],
        { input: In random(1, 4096), out: Out random(2, 1 << 20) },
        (&*input, out), c_add_blocks(input, out, 4096, 256));
    row!(table, "silu-cuda/main.cu", silu_forward_kernel, [4096], [256],
        { x: In centred(1, 1 << 20), out: Out zeros(1 << 20) },
        (&*x, out, 1 << 20), c_silu(x, out, 1 << 20));
    row!(table, "silu-cuda/main.cu", silu_backward_kernel, [4096], [256],
        { dout: In centred(1, 1 << 20), x: In centred(2, 1 << 20), dx: Out zeros(1 << 20) },
        (&*dout, &*x, dx, 1 << 20), c_silu_backward(dout, x, dx, 1 << 20));
    // Surfels in front of the camera, of radii up to 1.
    let surfels: Vec<f64> = doubles(1, 7 * 64)
        .iter()
        .enumerate()
        .map(|(i, x)| if i % 7 < 2 { 6.0 * x - 3.0 } else { 0.5 + x })
        .collect();
    row!(table, "surfel-cuda/main.cu", surfel_render::<f64>, [16, 16], [16, 16],
        { s: In surfels.clone(), d: Out vec![0.0_f64; 65536] },
        (&*s, 64, 100.0, 256, 256, d), c_surfel(s, 64, 100.0, 256, 256, d), within 1e-6);
    row!(table, "threadcpy-cuda/main.cu", threads_copy_kernel::<f32, 4>, [4096], [256],
        { input: In random(1, 1 << 22), out: Out zeros(1 << 22) },
        (&*input, out, 1 << 22), c_same(out, input, 1 << 22));
    row!(table, "vanGenuchten-cuda/main.cu", vanGenuchten, [1024], [256],
        { ksat: In doubles(1, 1 << 18), psi: In doubles(2, 1 << 18).iter().map(|x| 1.0 - 2.0 * x).collect::<Vec<f64>>(), c: Out vec![0.0_f64; 1 << 18], theta: Out vec![0.0_f64; 1 << 18], k: Out vec![0.0_f64; 1 << 18] },
        (&*ksat, &*psi, c, theta, k, 1 << 18), c_genuchten(ksat, psi, c, theta, k, 1 << 18));
    row!(table, "winograd-cuda/main.cu", winograd_conv2d, [16, 64], [32, 8],
        { input: In random(1, 1 << 20), filter: In random(2, 16), out: Out zeros(1022 * 1022) },
        (&*input, &*filter, out, 0, 0), c_winograd(input, filter, out, 1024));
    Ok(())
}

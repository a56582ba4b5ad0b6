//! Rodinia: kernels that arrays and numbers feed. Shared tiles, dynamic programming, gathers, graphs.

use crate::{
    numbers::{below, doubles, random},
    row::{Outcome, Table, row},
};

pub(crate) fn rows(table: &mut Table) -> Outcome {
    row!(table, "backprop/backprop_cuda_kernel.cu", bpnn_layerforward_CUDA, [1, 4096], [16, 16],
        { input: In random(1, 65537), hidden: Out vec![0.0_f32; 17], weights: Out random(2, 65537 * 17), partial: Out vec![0.0_f32; 65536] },
        (input, hidden, weights, partial, 65536, 16), c_layerforward(input, weights, partial, 4096, 16));
    row!(table, "backprop/backprop_cuda_kernel.cu", bpnn_adjust_weights_cuda, [1, 4096], [16, 16],
        { delta: In random(1, 17), ly: In random(2, 65537), w: Out random(3, 65537 * 17), old: Out random(4, 65537 * 17) },
        (delta, 16, ly, 65536, w, old), c_adjust_weights(delta, ly, w, old, 65536, 16));
    let some = |seed, n| below(seed, 4, n).iter().map(|it| *it == 0).collect::<Vec<bool>>();
    row!(table, "bfs/kernel2.cu", Kernel2, [1024], [512],
        { mask: Out vec![false; 1 << 19], updating: Out some(1, 1 << 19), visited: Out vec![false; 1 << 19], over: Out vec![false] },
        (mask, updating, visited, over, 1 << 19), c_bfs_update(mask, updating, visited, over, 1 << 19));
    let positive = |seed, n| random(seed, n).iter().map(|x| 2.0 + x).collect::<Vec<f32>>();
    row!(table, "gaussian/gaussian.cu", Fan1, [2], [512],
        { m: Out vec![0.0_f32; 1 << 20], a: In positive(1, 1 << 20) },
        (m, a, 1024, 10), c_fan1(m, a, 1024, 10));
    row!(table, "gaussian/gaussian.cu", Fan2, [256, 256], [4, 4],
        { m: In random(1, 1 << 20), a: Out random(2, 1 << 20), b: Out random(3, 1024) },
        (m, a, b, 1024, 1014, 10), c_fan2(m, a, b, 1024, 10));
    row!(table, "hotspot/hotspot.cu", calculate_temp, [74, 74], [16, 16],
        { power: In random(1, 1 << 20), from: In random(2, 1 << 20), to: Out vec![0.0_f32; 1 << 20] },
        (1, power, from, to, 1024, 1024, 1, 1, 0.5, 2.0, 3.0, 4.0, 0.1, 0.0),
        c_hotspot(power, from, to, 1024, 0.5, 2.0, 3.0, 4.0, 0.1));
    row!(table, "hotspot3D/opt1.cu", hotspotOpt1, [8, 128], [64, 4],
        { p: In random(1, 1 << 21), from: In random(2, 1 << 21), to: Out vec![0.0_f32; 1 << 21] },
        (p, from, to, 0.1, 512, 512, 8, 0.05, 0.05, 0.05, 0.05, 0.02, 0.02, 0.74),
        c_hotspot3d(p, from, to, 0.1, 512, 512, 8, 0.05, 0.02, 0.74));
    row!(table, "lud/cuda/lud_kernel.cu", lud_perimeter, [63], [32],
        { m: Out random(1, 1 << 20).iter().enumerate().map(|(i, x)| if i % 1025 == 0 { 16.0 + x } else { *x }).collect::<Vec<f32>>() },
        (m, 1024, 0), c_lud_perimeter(m, 1024));
    row!(table, "lud/cuda/lud_kernel.cu", lud_internal, [63, 63], [16, 16],
        { m: Out random(1, 1 << 20) },
        (m, 1024, 0), c_lud_internal(m, 1024));
    row!(table, "nw/needle_kernel.cu", needle_cuda_shared_1, [128], [16],
        { reference: In below(1, 20, 2049 * 2049), m: Out below(2, 20, 2049 * 2049) },
        (reference, m, 2049, 10, 128, 128), c_needle(reference, m, 2049, 10, 128));
    let rising = (0..8192).map(|i| f64::from(i + 1) / 8192.0).collect::<Vec<_>>();
    row!(table, "particlefilter/ex_particle_CUDA_naive_seq.cu", particle_kernel, [16], [512],
        { ax: In doubles(1, 8192), ay: In doubles(2, 8192), cdf: In rising.clone(), u: In doubles(3, 8192), xj: Out vec![0.0_f64; 8192], yj: Out vec![0.0_f64; 8192] },
        (ax, ay, cdf, u, xj, yj, 8192), c_particles(ax, ay, cdf, u, xj, yj, 8192));
    row!(table, "pathfinder/pathfinder.cu", dynproc_kernel, [1969], [256],
        { wall: In below(1, 10, 1_000_000), from: In below(2, 100, 500_000), to: Out vec![0_i32; 500_000] },
        (1, wall, from, to, 500_000, 2, 1, 1), c_pathfinder(wall, from, to, 500_000, 1));
    row!(table, "srad/srad_v1/extract_kernel.cu", extract, [2048], [512],
        { image: Out random(1, 1 << 20).iter().map(|x| 255.0 * x).collect::<Vec<f32>>() },
        (1 << 20, image), c_extract(image, 1 << 20));
    row!(table, "srad/srad_v1/prepare_kernel.cu", prepare, [2048], [512],
        { image: In random(1, 1 << 20), sums: Out vec![0.0_f32; 1 << 20], sums2: Out vec![0.0_f32; 1 << 20] },
        (1 << 20, image, sums, sums2), c_prepare(image, sums, sums2, 1 << 20));
    let before = (0..1024).map(|i: i32| (i - 1).max(0)).collect::<Vec<_>>();
    let after = (0..1024).map(|i: i32| (i + 1).min(1023)).collect::<Vec<_>>();
    row!(table, "srad/srad_v1/srad_kernel.cu", srad, [2048], [512],
        { north: In before.clone(), south: In after.clone(), east: In after.clone(), west: In before.clone(),
          dn: Out vec![0.0_f32; 1 << 20], ds: Out vec![0.0_f32; 1 << 20], de: Out vec![0.0_f32; 1 << 20], dw: Out vec![0.0_f32; 1 << 20],
          c: Out vec![0.0_f32; 1 << 20], image: In positive(1, 1 << 20) },
        (0.5, 1024, 1024, 1 << 20, north, south, east, west, dn, ds, de, dw, 0.05, c, image),
        c_srad(1024, 1024, north, south, east, west, dn, ds, de, dw, 0.05, c, image));
    row!(table, "srad/srad_v1/srad2_kernel.cu", srad2, [2048], [512],
        { north: In before.clone(), south: In after.clone(), east: In after.clone(), west: In before.clone(),
          dn: In random(1, 1 << 20), ds: In random(2, 1 << 20), de: In random(3, 1 << 20), dw: In random(4, 1 << 20),
          c: In random(5, 1 << 20), image: Out random(6, 1 << 20) },
        (0.5, 1024, 1024, 1 << 20, north, south, east, west, dn, ds, de, dw, c, image),
        c_srad2(0.5, 1024, 1024, south, east, dn, ds, de, dw, c, image));
    Ok(())
}

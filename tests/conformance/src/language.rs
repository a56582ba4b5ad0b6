//! Checks of `kernels/language.rs`, `helpers_a.rs`, `helpers_b.rs` and `with_module.rs`.

use crate::{
    Check, Context, Outcome,
    compare::{below, between, close, numbers, same},
    kernels::{MixedWithItself, cube_and_one},
};
use kernelmill::Launch;

const N: usize = 1000;

pub(crate) const CHECKS: &[Check] = &[
    Check::new("neighbour_sums", neighbour_sums),
    Check::new("generic", generic),
    Check::new("mapped_f32_cube_and_one", mapped_f32_cube_and_one),
    Check::new("mapped_i32_MixedWithItself", mapped_i32_mixed_with_itself),
    Check::new("closures", closures),
    Check::new("iterators", iterators),
    Check::new("enums", enums),
    Check::new("trait_objects", trait_objects),
    Check::new("function_pointers", function_pointers),
    Check::new("wide_integers", wide_integers),
    Check::new("wide_arithmetic", wide_arithmetic),
    Check::new("sort_rows", sort_rows),
    Check::new("sort_long", sort_long),
    Check::new("math_f64", math_f64),
    Check::new("math_f32", math_f32),
    Check::new("conversions", conversions),
    Check::new("recursion", recursion),
    Check::new("twist_a", twist_a),
    Check::new("twist_b", twist_b),
    Check::new("disc_areas", disc_areas),
];

fn neighbour_sums(on: &Context) -> Outcome {
    let x = between(1, -10.0, 10.0, N + 1);
    let (input, mut output) = (on.device.upload(&x)?, on.device.zeros::<f32>(N)?);
    on.kernels.neighbour_sums(&on.stream, Launch::linear(N), &input, &mut output)?;
    let expected: Vec<f32> = x.windows(2).map(|pair| pair[0] + pair[1]).collect();
    same(&output.download()?, &expected)
}

fn generic(on: &Context) -> Outcome {
    let x: Vec<i32> = below(2, 2000, N).iter().map(|&value| value as i32 - 1000).collect();
    let (input, mut output) = (on.device.upload(&x)?, on.device.zeros::<f64>(N)?);
    on.kernels.generic(&on.stream, Launch::linear(N), &input, &mut output)?;
    let value = |x: i32| {
        f64::from(x * 3 + 1) + f64::from(x as f32 * 0.5 + 2.0) + (f64::from(x) * 0.25 - 1.0)
    };
    same(&output.download()?, &x.iter().map(|&x| value(x)).collect::<Vec<_>>())
}

fn mapped_f32_cube_and_one(on: &Context) -> Outcome {
    let x = between(24, -4.0, 4.0, N);
    let (input, mut output) = (on.device.upload(&x)?, on.device.zeros::<f32>(N)?);
    on.kernels.mapped::<f32, cube_and_one>(&on.stream, Launch::linear(N), &input, &mut output)?;
    let expected: Vec<_> = x.iter().map(|x| x * x * x + 1.0).collect();
    close(&output.download()?, &expected, 1e-5)
}

fn mapped_i32_mixed_with_itself(on: &Context) -> Outcome {
    let x: Vec<i32> = below(25, 1 << 31, N).iter().map(|&value| value as i32).collect();
    let (input, mut output) = (on.device.upload(&x)?, on.device.zeros::<i32>(N)?);
    on.kernels.mapped::<i32, MixedWithItself>(
        &on.stream,
        Launch::linear(N),
        &input,
        &mut output,
    )?;
    let expected: Vec<_> = x.iter().map(|x| x.wrapping_mul(31).wrapping_add(*x) ^ 7).collect();
    same(&output.download()?, &expected)
}

fn closures(on: &Context) -> Outcome {
    let x = between(3, -4.0, 4.0, N);
    let (input, mut output) = (on.device.upload(&x)?, on.device.zeros::<f32>(N)?);
    on.kernels.closures(&on.stream, Launch::linear(N), 1.5, &input, &mut output)?;
    let value = |(i, x): (usize, &f32)| {
        let once = |value: f32| value * 1.5 + i as f32;
        once(once(*x)) + 2.0
    };
    close(&output.download()?, &x.iter().enumerate().map(value).collect::<Vec<_>>(), 1e-6)
}

fn iterators(on: &Context) -> Outcome {
    const COLUMNS: usize = 19;
    let x = between(4, -2.0, 2.0, N * COLUMNS);
    let (input, mut output) = (on.device.upload(&x)?, on.device.zeros::<f32>(N)?);
    let launch = Launch::linear(N);
    on.kernels.iterators(&on.stream, launch, COLUMNS as u32, &input, &mut output)?;
    let value = |row: &[f32]| {
        let products: f32 = row.windows(2).filter(|p| p[0] > 0.0).map(|p| p[0] * p[1]).sum();
        let corners: f32 = row.as_chunks::<4>().0.iter().map(|chunk| chunk[0] - chunk[3]).sum();
        products + corners + row.iter().copied().fold(f32::MIN, f32::max)
    };
    close(&output.download()?, &x.chunks(COLUMNS).map(value).collect::<Vec<_>>(), 1e-5)
}

fn enums(on: &Context) -> Outcome {
    let (codes, y) = (below(5, 50, N), between(6, -3.0, 3.0, N));
    let (input, mut output) = (on.device.upload(&codes)?, on.device.upload(&y)?);
    on.kernels.enums(&on.stream, Launch::linear(N), &input, &mut output)?;
    let step = |value: f32, code: u32| match code % 5 {
        0 => value + 1.5,
        1 => value * -2.0,
        2 => value.clamp(-1.0, 1.0),
        3 => value,
        _ => -value,
    };
    let value = |(&code, &y): (&u32, &f32)| (code..code + 3).fold(y, step);
    close(&output.download()?, &codes.iter().zip(&y).map(value).collect::<Vec<_>>(), 1e-6)
}

fn trait_objects(on: &Context) -> Outcome {
    let (kind, y) = (below(7, 2, N), between(8, 0.0, 5.0, N));
    let (input, mut output) = (on.device.upload(&kind)?, on.device.upload(&y)?);
    on.kernels.trait_objects(&on.stream, Launch::linear(N), &input, &mut output)?;
    let value = |(&kind, &y): (&u32, &f32)| if kind == 0 { y * y * 0.5 } else { y * 1.5 + 1.0 };
    close(&output.download()?, &kind.iter().zip(&y).map(value).collect::<Vec<_>>(), 1e-6)
}

fn function_pointers(on: &Context) -> Outcome {
    let selector = below(9, 3, N);
    let y: Vec<i32> = below(10, 1000, N).iter().map(|&value| value as i32 - 500).collect();
    let (input, mut output) = (on.device.upload(&selector)?, on.device.upload(&y)?);
    on.kernels.function_pointers(&on.stream, Launch::linear(N), &input, &mut output)?;
    let value = |(&selector, &y): (&u32, &i32)| match selector {
        0 => (y + 1) * 2,
        1 => -(y * 2),
        _ => -y + 1,
    };
    same(&output.download()?, &selector.iter().zip(&y).map(value).collect::<Vec<_>>())
}

fn wide_integers(on: &Context) -> Outcome {
    let x: Vec<u64> = numbers(11).take(N).collect();
    let (input, mut output) = (on.device.upload(&x)?, on.device.zeros::<u128>(N)?);
    on.kernels.wide_integers(&on.stream, Launch::linear(N), &input, &mut output)?;
    let value = |&x: &u64| {
        let product = u128::from(x).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let divisor = u128::from(x >> 7) | 1;
        ((product << 17) / divisor).wrapping_add(product % divisor)
    };
    same(&output.download()?, &x.iter().map(value).collect::<Vec<_>>())
}

fn wide_arithmetic(on: &Context) -> Outcome {
    let edges = [0, 1, u64::MAX, 1 << 63, (1 << 63) - 1];
    let mut numbers = numbers(14).zip(0..).map(|(x, i)| match i % 7 {
        0 => edges[i / 7 % edges.len()],
        _ => x >> (i % 50),
    });
    let mut next = || numbers.next().expect("there is no end of them");
    let mut x: Vec<[u64; 4]> = (0..N).map(|_| [next(), next(), next(), next()]).collect();
    // Equal numbers, and those with equal high words.
    x.iter_mut().step_by(9).for_each(|[a, b, c, d]| (*c, *d) = (*a, *b));
    x.iter_mut().skip(1).step_by(9).for_each(|[_, b, _, d]| *d = *b);
    let (input, mut output) = (on.device.upload(&x)?, on.device.zeros::<[u128; 4]>(N)?);
    on.kernels.wide_arithmetic(&on.stream, Launch::linear(N), &input, &mut output)?;
    let of_one = |&[a, b, c, d]: &[u64; 4]| {
        let [p, q] = [[a, b], [c, d]].map(|[low, high]| u128::from(high) << 64 | u128::from(low));
        let (signed_p, signed_q, by) = (p.cast_signed(), q.cast_signed(), d as u32);
        let power = (0..a % 5).fold(p, |power, _| power.wrapping_mul(power).wrapping_sub(q));
        let product = signed_p.wrapping_mul(i128::from(c.cast_signed())).cast_unsigned();
        let chosen = if a & 2 == 0 { product } else { !p & q | power.wrapping_neg() };
        let shifted = p.wrapping_shl(by)
            ^ p.wrapping_shr(by.wrapping_add(1))
            ^ signed_p.wrapping_shr(by).cast_unsigned();
        let holds = [p < q, signed_p < signed_q, p <= q, signed_p >= signed_q, p == q];
        let holds = holds.into_iter().chain([signed_p > signed_q]).zip(0..);
        let order = holds.map(|(holds, bit)| u128::from(holds) << bit).sum();
        [power, chosen, shifted, order]
    };
    same(&output.download()?, &x.iter().map(of_one).collect::<Vec<_>>())
}

fn sort_rows(on: &Context) -> Outcome {
    let x = below(12, 100, N * 8);
    let (input, mut output) = (on.device.upload(&x)?, on.device.zeros::<[u32; 8]>(N)?);
    on.kernels.sort_rows(&on.stream, Launch::linear(N), &input, &mut output)?;
    let mut rows = x.as_chunks::<8>().0.to_vec();
    rows.iter_mut().for_each(|row| row.sort_unstable());
    same(&output.download()?, &rows)
}

fn sort_long(on: &Context) -> Outcome {
    let mut rows = below(13, 1_000_000, 50 * 100).as_chunks::<100>().0.to_vec();
    let mut output = on.device.upload(&rows)?;
    on.kernels.sort_long(&on.stream, Launch::linear(rows.len()), &mut output)?;
    rows.iter_mut().for_each(|row| row.sort_unstable_by(|a, b| b.cmp(a)));
    same(&output.download()?, &rows)
}

fn math_f64(on: &Context) -> Outcome {
    let x: Vec<f64> = between(14, 0.01, 20.0, N).iter().map(|&value| f64::from(value)).collect();
    let (input, mut output) = (on.device.upload(&x)?, on.device.zeros::<[f64; 12]>(N)?);
    on.kernels.math_f64(&on.stream, Launch::linear(N), &input, &mut output)?;
    let expected: Vec<f64> = x
        .iter()
        .flat_map(|v| {
            let powers = [v.sqrt(), v.sin(), v.cos(), v.exp(), v.ln(), v.powf(1.7), v.tanh()];
            let others = [v.atan2(2.0), v.mul_add(2.0, 1.0), v.floor(), v.log2(), v.cbrt()];
            powers.into_iter().chain(others)
        })
        .collect();
    close(output.download()?.as_flattened(), &expected, 1e-12)
}

fn math_f32(on: &Context) -> Outcome {
    let x = between(15, 0.01, 20.0, N);
    let (input, mut output) = (on.device.upload(&x)?, on.device.zeros::<[f32; 12]>(N)?);
    on.kernels.math_f32(&on.stream, Launch::linear(N), &input, &mut output)?;
    let expected: Vec<f32> = x
        .iter()
        .flat_map(|v| {
            let powers = [v.sqrt(), v.sin(), v.cos(), v.exp(), v.ln(), v.powf(1.7), v.tanh()];
            let others = [v.atan2(2.0), v.mul_add(2.0, 1.0), v.floor(), v.log2(), v.cbrt()];
            powers.into_iter().chain(others)
        })
        .collect();
    close(output.download()?.as_flattened(), &expected, 2e-6)
}

fn conversions(on: &Context) -> Outcome {
    let mut x: Vec<f64> = between(16, -1e6, 1e6, N).iter().map(|&v| f64::from(v)).collect();
    let edges = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -1e300, 0.0, -0.0, 1e-40];
    x[..8].copy_from_slice(&edges);
    x[8..12].copy_from_slice(&[
        2_147_483_648.0,
        -2_147_483_904.0,
        4_294_967_040.0,
        4_294_967_296.0,
    ]);
    let (input, mut output) = (on.device.upload(&x)?, on.device.zeros::<i64>(N)?);
    on.kernels.conversions(&on.stream, Launch::linear(N), &input, &mut output)?;
    let value = |&v: &f64| {
        let single = v as f32;
        let saturated = (i64::from(v as i8) + i64::from(v as u16))
            ^ (i64::from(single as u32) << 20)
            ^ (i64::from(single as i32) << 9);
        let wrapped = (v as i64).wrapping_mul(0x1234_5678_9abc_def1);
        let bits = v.to_bits();
        let narrow = if v.is_nan() { 0 } else { single.to_bits() };
        saturated
            ^ wrapped.rotate_left(bits.count_ones())
            ^ i64::from(bits.leading_zeros())
            ^ i64::from(narrow.trailing_zeros())
    };
    same(&output.download()?, &x.iter().map(value).collect::<Vec<_>>())
}

fn recursion(on: &Context) -> Outcome {
    let x: Vec<u32> = (0..16).collect();
    let (input, mut output) = (on.device.upload(&x)?, on.device.zeros::<u32>(16)?);
    on.kernels.recursion(&on.stream, Launch::linear(16), &input, &mut output)?;
    let mut expected = vec![0, 1];
    while expected.len() < 16 {
        expected.push(expected[expected.len() - 1] + expected[expected.len() - 2]);
    }
    same(&output.download()?, &expected)
}

fn twist_a(on: &Context) -> Outcome {
    let mut y = on.device.upload(&[1_u32, 2, 3, 4])?;
    on.kernels.twist_a(&on.stream, Launch::linear(4), &mut y)?;
    same(&y.download()?, &[5, 6, 15, 12])
}

fn twist_b(on: &Context) -> Outcome {
    let mut y = on.device.upload(&[1_u32, 2, 3, 4])?;
    on.kernels.twist_b(&on.stream, Launch::linear(4), &mut y)?;
    same(&y.download()?, &[1 ^ 11, 2 ^ 7, 3 ^ 11, 4 ^ 7])
}

fn disc_areas(on: &Context) -> Outcome {
    let radius = between(17, 0.0, 10.0, N);
    let (input, mut output) = (on.device.upload(&radius)?, on.device.zeros::<f32>(N)?);
    on.kernels.disc_areas(&on.stream, Launch::linear(N), &input, &mut output)?;
    let expected: Vec<f32> =
        radius.iter().map(|radius| std::f32::consts::PI * radius * radius + 4.0).collect();
    close(&output.download()?, &expected, 1e-6)
}

//! What kernels compute, against plain Rust.

use crate::kernels::{Filter, Kernels, Pair_int, ShapedInstance, Thrice, Twice};
use kernelmill::{Device, DeviceCopy, Error, Launch, Result, Stream};

/// A device with the kernels.
pub(crate) struct On<'a> {
    pub(crate) device: &'a Device,
    pub(crate) kernels: &'a Kernels,
    pub(crate) stream: Stream,
}

const COUNT: u32 = 1000;
const LENGTH: usize = COUNT as usize;

/// Whole numbers below 100, in no order.
fn numbers() -> Vec<f32> {
    let number = |i: u32| (i.wrapping_mul(2_654_435_761).rotate_left(11) >> 7) % 100;
    (0..COUNT).map(|i| number(i) as f32).collect()
}

fn expected(of_one: impl Fn(f32) -> f32) -> Vec<f32> {
    numbers().into_iter().map(of_one).collect()
}

pub(crate) fn scaled(on: &On<'_>) -> Result<()> {
    let x = on.device.upload(&numbers())?;
    let mut y = on.device.zeros::<f32>(LENGTH)?;
    on.kernels.scaled(&on.stream, Launch::linear(LENGTH), 3.0, &x, &mut y)?;
    assert_eq!(y.download()?, expected(|x| 3.0 * x));
    // On every back end with other scalars each time.
    let mut prepared = on.kernels.prepare().scaled(Launch::linear(LENGTH), 1.0, &x, &mut y)?;
    for factor in [2.0, 5.0] {
        on.kernels.set_scalars().scaled(&mut prepared, factor)?;
        prepared.launch(&on.stream)?;
    }
    drop(prepared);
    assert_eq!(y.download()?, expected(|x| 5.0 * x));
    Ok(())
}

pub(crate) fn shifted(on: &On<'_>) -> Result<()> {
    let x = on.device.upload(&numbers())?;
    let mut y = on.device.zeros::<f32>(LENGTH)?;
    // SAFETY: there are as many elements as the last argument says.
    unsafe { on.kernels.shifted(&on.stream, Launch::linear(LENGTH), &x, &mut y, 5.0, COUNT) }?;
    assert_eq!(y.download()?, expected(|x| x + 5.0));
    Ok(())
}

pub(crate) fn doubled(on: &On<'_>) -> Result<()> {
    let x = on.device.upload(&numbers())?;
    let mut y = on.device.zeros::<f32>(LENGTH)?;
    // SAFETY: there are as many elements as the last argument says.
    unsafe { on.kernels.doubled(&on.stream, Launch::linear(LENGTH), &x, &mut y, COUNT) }?;
    assert_eq!(y.download()?, expected(|x| 2.0 * x));
    Ok(())
}

/// The settings have a contract, which makes the wrapper safe.
pub(crate) fn affine(on: &On<'_>) -> Result<()> {
    let x = on.device.upload(&numbers())?;
    let mut y = on.device.upload(&[1.0_f32; LENGTH])?;
    on.kernels.affine(&on.stream, Launch::linear(LENGTH), 3.0, &x, &mut y, COUNT - 10)?;
    let mut expected = expected(|x| 3.0 * x + 1.0);
    expected[LENGTH - 10..].fill(1.0);
    assert_eq!(y.download()?, expected);
    let launch = Launch::linear(LENGTH);
    let mut prepared = on.kernels.prepare().affine(launch, 0.0, &x, &mut y, 10)?;
    let refused = on.kernels.set_scalars().affine(&mut prepared, 9.0, COUNT + 1);
    assert!(matches!(refused, Err(Error::Contract { .. })), "{refused:?}");
    // What is refused changes nothing: ten elements, by zero.
    prepared.launch(&on.stream)?;
    on.kernels.set_scalars().affine(&mut prepared, 1.0, COUNT - 20)?;
    prepared.launch(&on.stream)?;
    drop(prepared);
    let added = numbers();
    for (found, added) in expected[..LENGTH - 20].iter_mut().zip(added) {
        *found += added;
    }
    assert_eq!(y.download()?, expected);
    Ok(())
}

pub(crate) fn backwards(on: &On<'_>) -> Result<()> {
    let numbers: Vec<u32> = (0..256).collect();
    let mut x = on.device.upload(&numbers)?;
    // SAFETY: there are four blocks of 64 elements.
    unsafe { on.kernels.backwards(&on.stream, Launch::grid([4], [64]), &mut x) }?;
    let expected: Vec<u32> =
        numbers.chunks(64).flat_map(|block| block.iter().rev().copied()).collect();
    assert_eq!(x.download()?, expected);
    // The file says what blocks the kernel is for.
    // SAFETY: nothing is launched.
    let refused = unsafe { on.kernels.backwards(&on.stream, Launch::grid([4], [32]), &mut x) };
    let error = refused.expect_err("a block of another size").to_string();
    assert!(error.contains("64"), "{error}");
    Ok(())
}

pub(crate) fn series(on: &On<'_>) -> Result<()> {
    let mut out = on.device.zeros::<u64>(32)?;
    // SAFETY: there is one element for each thread.
    unsafe { on.kernels.series(&on.stream, Launch::grid([1], [32]), &mut out, [7, 1 << 33]) }?;
    assert_eq!(out.download()?, (0..32).map(|i| 7 + (i << 33)).collect::<Vec<u64>>());
    Ok(())
}

pub(crate) fn bytes(on: &On<'_>) -> Result<()> {
    let mut out = on.device.zeros::<u8>(96)?;
    // SAFETY: there is one byte for each thread.
    unsafe { on.kernels.bytes(&on.stream, Launch::grid([1], [96]), &mut out, 200) }?;
    assert_eq!(out.download()?, (0..96).map(|i| 200_u8.wrapping_add(i)).collect::<Vec<_>>());
    Ok(())
}

/// The largest single-precision number below 1/2 is nearer to 0 than to 1, and a half goes away from zero.
pub(crate) fn rounded(on: &On<'_>) -> Result<()> {
    let edges = [0.499_999_97, -0.499_999_97, 0.5, -0.5, 1.5, 2.5, -2.5, 8_388_607.5, -0.0];
    let mut numbers: Vec<f32> = numbers().iter().map(|x| x * 1.37 - 20.0).collect();
    numbers[..edges.len()].copy_from_slice(&edges);
    let x = on.device.upload(&numbers)?;
    let (mut y, mut z) = (on.device.zeros::<f32>(LENGTH)?, on.device.zeros::<f64>(LENGTH)?);
    // SAFETY: there are as many elements as the last argument says.
    unsafe { on.kernels.rounded(&on.stream, Launch::linear(LENGTH), &x, &mut y, &mut z, COUNT) }?;
    let single = |x: &f32| x.round() + (x * 4.0).round() + x.trunc().min(128.0).exp2();
    assert_eq!(y.download()?, numbers.iter().map(single).collect::<Vec<_>>());
    let double =
        |(i, x): (i32, &f32)| f64::from(*x).round() + f64::from(*x) * f64::from(i % 80 - 40).exp2();
    assert_eq!(z.download()?, (0..).zip(&numbers).map(double).collect::<Vec<_>>());
    Ok(())
}

pub(crate) fn mirrored(on: &On<'_>) -> Result<()> {
    let word = |i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (i % 37);
    let mut words: Vec<u64> = (0..u64::from(COUNT)).map(word).collect();
    words[..4].copy_from_slice(&[u64::MAX, 1 << 63, 0, (1 << 63) - 1]);
    words[LENGTH - 4..].copy_from_slice(&[1 << 63, u64::MAX, 1 << 63, u64::MAX]);
    let x = on.device.upload(&words)?;
    let mut y = on.device.zeros::<u64>(LENGTH)?;
    // SAFETY: there are as many elements as the last argument says.
    unsafe { on.kernels.mirrored(&on.stream, Launch::linear(LENGTH), &x, &mut y, COUNT) }?;
    let of_pair = |(&a, &b): (&u64, &u64)| {
        let unsigned = (u128::from(a) * u128::from(b)) >> 64;
        let signed = (i128::from(a.cast_signed()) * i128::from(b.cast_signed())) >> 64;
        let bits = a.reverse_bits() ^ u64::from((b as u32).reverse_bits());
        unsigned as u64 ^ signed as u64 ^ bits
    };
    let expected: Vec<_> = words.iter().zip(words.iter().rev()).map(of_pair).collect();
    assert_eq!(y.download()?, expected);
    Ok(())
}

pub(crate) fn looked_through(on: &On<'_>) -> Result<()> {
    let bytes: Vec<u8> = (0..4 * COUNT).map(|i| (i.wrapping_mul(40_503) >> 4) as u8).collect();
    let x = on.device.upload(&bytes)?;
    let mut y = on.device.zeros::<i32>(LENGTH)?;
    // SAFETY: there are four bytes and one number for each of as many elements as the last argument says.
    unsafe { on.kernels.looked_through(&on.stream, Launch::linear(LENGTH), &x, &mut y, COUNT) }?;
    let of_row = |row: &[u8]| {
        let sum: i32 = row.iter().map(|&byte| i32::from(byte)).sum();
        if row.contains(&(COUNT as u8)) { -sum } else { sum }
    };
    let expected: Vec<_> = bytes.chunks(4).map(of_row).collect();
    assert!(expected.iter().any(|it| *it < 0));
    assert_eq!(y.download()?, expected);
    Ok(())
}

/// What `weighted` computes with these values of the variables.
fn weighted_with(coefficients: [f32; 4], settings: Filter, steps: [u32; 2]) -> Vec<f32> {
    let table = [0.5, 0.25];
    let of_one = |(i, x): (usize, f32)| {
        let sum = settings.weights[i % 3] + settings.offset as f32 + steps[i & 1] as f32;
        x * coefficients[i & 3] + (sum + table[i & 1])
    };
    numbers().into_iter().enumerate().map(of_one).collect()
}

/// All numbers are small multiples of 1/4, so that no sum is rounded.
pub(crate) fn variables(on: &On<'_>) -> Result<()> {
    let x = on.device.upload(&numbers())?;
    let mut y = on.device.zeros::<f32>(LENGTH)?;
    let launch = |y: &mut _| {
        // SAFETY: there are as many elements as the last argument says.
        unsafe { on.kernels.weighted(&on.stream, Launch::linear(LENGTH), &x, y, COUNT) }
    };
    launch(&mut y)?;
    let variables = on.kernels.variables();
    let (coefficients, steps) = (variables.coefficients()?, variables.steps()?);
    let (settings, calls) = (variables.settings()?, variables.calls()?);
    assert_eq!([coefficients.name(), steps.name()], ["coefficients", "steps"]);
    let zero = Filter { weights: [0.0; 3], offset: 0 };
    assert_eq!(coefficients.read()?, [0.0; 4]);
    assert_eq!((settings.read()?, calls.read()?), (zero, 1));
    assert_eq!(y.download()?, weighted_with([0.0; 4], zero, [0; 2]));
    // A launch has what was written before it, and nothing of what is written after it.
    let filter = Filter { weights: [1.0, 2.5, -4.0], offset: 7 };
    coefficients.write(&[1.0, 2.0, 3.0, 4.0])?;
    settings.write(&filter)?;
    steps.write(&[5, 6])?;
    launch(&mut y)?;
    coefficients.write_from(1, &[-2.0, -3.0])?;
    assert_eq!(y.download()?, weighted_with([1.0, 2.0, 3.0, 4.0], filter, [5, 6]));
    launch(&mut y)?;
    assert_eq!(y.download()?, weighted_with([1.0, -2.0, -3.0, 4.0], filter, [5, 6]));
    let mut last = [0.0; 2];
    coefficients.read_from(2, &mut last)?;
    assert_eq!((last, settings.read()?, calls.read()?), ([-3.0, 4.0], filter, 3));
    let error = coefficients.write_from(3, &[0.0; 2]).expect_err("beyond its end").to_string();
    assert_eq!(
        error,
        "the device variable `coefficients` has 4 elements; 2 from index 3 on are out of bounds"
    );
    // What kernels write is there when they are waited for, which reading does.
    let counts = variables.counts()?;
    assert_eq!(counts.read()?, [[1, 2, 3], [4, 5, 6]]);
    // SAFETY: there is one element for each thread.
    unsafe { on.kernels.counted(&on.stream, Launch::grid([1], [6])) }?;
    assert_eq!(counts.read()?, [[11, 12, 13], [14, 15, 16]]);
    counts.write(&[[0; 3]; 2])?;
    // SAFETY: as above.
    unsafe { on.kernels.counted(&on.stream, Launch::grid([1], [5])) }?;
    assert_eq!(counts.read()?, [[10, 10, 10], [10, 10, 0]]);
    // Others that are loaded on the device have the same variables.
    let others = Kernels::load(on.device)?;
    assert_eq!(others.variables().coefficients()?.read()?, [1.0, -2.0, -3.0, 4.0]);
    Ok(())
}

/// What `shaped` makes of some numbers, of an instance that the caller does not name.
fn shaped<T: DeviceCopy, const N: i32, F>(on: &On<'_>, a: T, x: &[T]) -> Result<Vec<T>>
where
    Kernels: ShapedInstance<T, N, 0, F>,
{
    let (from, mut y) = (on.device.upload(x)?, on.device.upload(x)?);
    let count = u32::try_from(x.len()).expect("a small number");
    // SAFETY: there are as many elements as the last argument says.
    unsafe {
        on.kernels.shaped::<T, N, 0, F>(
            &on.stream,
            Launch::linear(x.len()),
            a,
            &from,
            &mut y,
            count,
        )
    }?;
    y.download()
}

/// Instances of templates that the settings list.
pub(crate) fn templates(on: &On<'_>) -> Result<()> {
    let f32s = shaped::<f32, 4, Twice>(on, 2.0, &[1.0, 2.5, -3.0])?;
    assert_eq!(f32s, [8.0, 14.0, -8.0]);
    let f64s = shaped::<f64, 16, Twice>(on, 0.5, &[1.0, 2.5, -3.0])?;
    assert_eq!(f64s, [17.0, 18.5, 13.0]);
    let half = half::f16::from_f32;
    let halves = shaped::<_, 2, Twice>(on, half(0.5), &[half(1.0), half(7.0)])?;
    assert_eq!(halves, [half(3.0), half(9.0)]);
    let (x, mut y) = (on.device.upload(&[1, 2, 3])?, on.device.upload(&[0; 3])?);
    let launch = Launch::linear(3);
    // SAFETY: there are three elements.
    unsafe { on.kernels.shaped::<i32, 3, 1, Thrice>(&on.stream, launch, 5, &x, &mut y, 3) }?;
    assert_eq!(y.download()?, [45, 90, 135]);
    // Each instance has a wrapper of its own too.
    // SAFETY: as above.
    unsafe { on.kernels.shaped_int_3_1_Thrice(&on.stream, launch, 1, &x, &mut y, 3) }?;
    assert_eq!(y.download()?, [9, 18, 27]);
    let pairs = [Pair_int { first: 1, second: 2 }, Pair_int { first: 3, second: 4 }];
    let (x, mut y) = (on.device.upload(&pairs)?, on.device.upload(&pairs)?);
    let by = Pair_int { first: 10, second: 20 };
    // SAFETY: there is one element for each thread.
    unsafe { on.kernels.swapped::<i32, true>(&on.stream, Launch::grid([1], [2]), &x, by, &mut y) }?;
    let expected = [Pair_int { first: 12, second: 21 }, Pair_int { first: 14, second: 23 }];
    assert_eq!(y.download()?, expected);
    let mut x = on.device.upload(&[0.0_f32; 4])?;
    let launch = Launch::grid([1], [4]);
    // SAFETY: there is one element for each thread.
    unsafe { on.kernels.filled_float_float_float(&on.stream, launch, &mut x, 2.5) }?;
    assert_eq!(x.download()?, [2.5; 4]);
    // SAFETY: as above.
    unsafe { on.kernels.filled_float_float(&on.stream, launch, &mut x) }?;
    assert_eq!(x.download()?, [1.0; 4]);
    // SAFETY: as above.
    unsafe { on.kernels.halved::<f32>(&on.stream, launch, &mut x) }?;
    assert_eq!(x.download()?, [0.5; 4]);
    let mut x = on.device.upload(&[3.0_f64; 4])?;
    // SAFETY: as above.
    unsafe { on.kernels.halved::<f64>(&on.stream, launch, &mut x) }?;
    assert_eq!(x.download()?, [1.5; 4]);
    // The settings have a contract for all instances.
    let mut x = on.device.upload(&[1_u32, 2, 3, 4])?;
    on.kernels.hidden::<u32>(&on.stream, launch, &mut x)?;
    assert_eq!(x.download()?, [4, 5, 6, 7]);
    on.kernels.hidden::<u32>(&on.stream, Launch::grid([1], [5]), &mut x).expect_err("too large");
    let mut x = on.device.upload(&[0_i64; 4])?;
    // SAFETY: there is one element for each thread.
    unsafe { on.kernels.summed::<i64, 1, 2, 39>(&on.stream, launch, &mut x) }?;
    assert_eq!(x.download()?, [42; 4]);
    Ok(())
}

/// Variables of templates, one for each instance.
pub(crate) fn template_variables(on: &On<'_>) -> Result<()> {
    let launch = Launch::grid([1], [3]);
    let (mut x, mut y) = (on.device.upload(&[1.0_f32; 3])?, on.device.upload(&[2; 3])?);
    // SAFETY: there is one element for each thread.
    unsafe { on.kernels.masked(&on.stream, launch, &mut x) }?;
    assert_eq!(x.download()?, [4.0; 3]);
    let variables = on.kernels.variables();
    variables.mask_float()?.write(&[1.0, 2.0, 3.0])?;
    variables.mask_int()?.write(&[10, 20, 30])?;
    let steps = variables.steps_float_3()?;
    steps.write(&[0.5, 1.5, 2.5])?;
    assert_eq!((variables.start_float()?.read()?, variables.start_int()?.read()?), (4.0, 4));
    variables.start_int()?.write(&5)?;
    // SAFETY: there is one element for each thread.
    unsafe { on.kernels.masked(&on.stream, launch, &mut x) }?;
    // SAFETY: as above.
    unsafe { on.kernels.masked(&on.stream, launch, &mut y) }?;
    assert_eq!((x.download()?, y.download()?), (vec![8.5, 13.5, 18.5], vec![25, 45, 65]));
    assert_eq!(steps.read()?, [1.5, 2.5, 3.5]);
    assert_eq!(variables.steps_int_3()?.read()?, [1; 3]);
    Ok(())
}

//! Checks of `kernels/tensor.rs`. All but one have inputs of few bits, so that the products and their
//! sums are exact in any order.

use crate::{
    Check, Context, Outcome,
    compare::{below, between, close, same},
    panics::{Expected, reported},
};
use Matrices::{Columns, Rows};
use kernelmill::{Launch, PanicKind};

pub(crate) const CHECKS: &[Check] = &[
    Check::new("mma_f16", f16),
    Check::new("mma_bf16", bf16),
    Check::new("mma_tf32", tf32),
    Check::new("mma_i8", i8),
    Check::new("mma_f64", f64),
    Check::new("mma_shared", shared),
    Check::new("mma_dynamic", dynamic),
    Check::new("mma_panics", panics),
    Check::new("copies_ahead", copies),
];

const WARPS: usize = 6;

/// Blocks of two warps.
fn launch() -> Launch<1> {
    Launch::grid([WARPS as u32 / 2], [64])
}

/// Multiples of 1/64 between -2 and 2.
pub(crate) fn values(seed: u64, count: usize) -> Vec<f32> {
    below(seed, 257, count).into_iter().map(|value| (value as f32 - 128.0) / 64.0).collect()
}

/// The bits in half precision of numbers that it has, none of them subnormal.
pub(crate) fn halves(values: &[f32]) -> Vec<u16> {
    let half = |value: &f32| match value.to_bits() {
        bits if bits << 1 == 0 => (bits >> 16) as u16,
        bits => (bits >> 16 & 0x8000 | ((bits >> 13 & 0x3ffff) - (112 << 10))) as u16,
    };
    values.iter().map(half).collect()
}

/// Matrices, one after the other, which are given by their rows or by their columns.
enum Matrices {
    Rows(Vec<f64>),
    Columns(Vec<f64>),
}

impl Matrices {
    /// An element of the matrix `number`, all of so many rows and columns.
    fn at(&self, number: usize, [rows, columns]: [usize; 2], row: usize, column: usize) -> f64 {
        let start = number * rows * columns;
        match self {
            Rows(values) => values[start + row * columns + column],
            Columns(values) => values[start + column * rows + row],
        }
    }
}

/// A product of two matrices and what is added to it.
struct Product {
    shape: [usize; 3],
    a: Matrices,
    b: Matrices,
}

impl Product {
    /// The matrices of `warp`, one after the other, in double precision.
    fn of(&self, warp: usize, c: &[f64]) -> Vec<f64> {
        let [m, n, k] = self.shape;
        let a = |row, i| self.a.at(warp, [m, k], row, i);
        let b = |i, column| self.b.at(warp, [k, n], i, column);
        let sum = |row, column| (0..k).map(|i| a(row, i) * b(i, column)).sum::<f64>();
        let added = |at: usize| c.get(warp * m * n + at).copied().unwrap_or(0.0);
        (0..m * n).map(|at| sum(at / n, at % n) + added(at)).collect()
    }

    /// Those of every warp.
    fn all(&self, c: &[f64]) -> Vec<f64> {
        (0..WARPS).flat_map(|warp| self.of(warp, c)).collect()
    }
}

fn wide(values: &[f32]) -> Vec<f64> {
    values.iter().map(|&value| f64::from(value)).collect()
}

fn f16(on: &Context) -> Outcome {
    let (a, b, c) = (values(1, WARPS * 256), values(2, WARPS * 128), values(3, WARPS * 128));
    let (left, right) = (on.device.upload(&halves(&a))?, on.device.upload(&halves(&b))?);
    let (added, mut output) = (on.device.upload(&c)?, on.device.zeros::<f32>(WARPS * 128)?);
    on.kernels.mma_f16(&on.stream, launch(), &left, &right, &added, &mut output)?;
    let product = Product { shape: [16, 8, 16], a: Rows(wide(&a)), b: Rows(wide(&b)) };
    same(&wide(&output.download()?), &product.all(&wide(&c)))
}

fn bf16(on: &Context) -> Outcome {
    let (a, b, c) = (values(4, WARPS * 256), values(5, WARPS * 128), values(6, WARPS * 128));
    let upper =
        |values: &[f32]| values.iter().map(|it| (it.to_bits() >> 16) as u16).collect::<Vec<_>>();
    let (left, right) = (on.device.upload(&upper(&a))?, on.device.upload(&upper(&b))?);
    let (added, mut output) = (on.device.upload(&c)?, on.device.zeros::<f32>(WARPS * 128)?);
    on.kernels.mma_bf16(&on.stream, launch(), &left, &right, &added, &mut output)?;
    let product = Product { shape: [16, 8, 16], a: Rows(wide(&a)), b: Columns(wide(&b)) };
    same(&wide(&output.download()?), &product.all(&wide(&c)))
}

fn tf32(on: &Context) -> Outcome {
    let (a, b) = (between(7, -2.0, 2.0, WARPS * 256), between(8, -2.0, 2.0, WARPS * 128));
    let (left, right) = (on.device.upload(&a)?, on.device.upload(&b)?);
    let mut output = on.device.zeros::<f32>(WARPS * 128)?;
    on.kernels.mma_tf32(&on.stream, launch(), &left, &right, &mut output)?;
    // To 10 bits after the first, ties away from zero; halves are by another rule, but rare.
    let rounded = |values: &[f32]| -> Vec<f64> {
        let scale = |value: f32| 2f64.powi(10 - value.abs().log2().floor() as i32);
        values.iter().map(|&it| (f64::from(it) * scale(it)).round() / scale(it)).collect()
    };
    let product = Product { shape: [16, 8, 16], a: Columns(rounded(&a)), b: Rows(rounded(&b)) };
    let half = |sum: f64| 0.5 * sum;
    let expected: Vec<f64> = product.all(&[]).into_iter().map(half).collect();
    close(&wide(&output.download()?), &expected, 2e-6)
}

fn i8(on: &Context) -> Outcome {
    let bytes = |seed, count| -> Vec<i8> {
        below(seed, 256, count).into_iter().map(|it| it as u8 as i8).collect()
    };
    let (a, b) = (bytes(9, WARPS * 512), bytes(10, WARPS * 256));
    let c: Vec<i32> =
        below(11, u32::MAX, WARPS * 128).into_iter().map(|it| it as i32 / 2).collect();
    let (left, right, added) =
        (on.device.upload(&a)?, on.device.upload(&b)?, on.device.upload(&c)?);
    let mut output = on.device.zeros::<i32>(WARPS * 128)?;
    on.kernels.mma_i8(&on.stream, launch(), &left, &right, &added, &mut output)?;
    let floats = |bytes: &[i8]| bytes.iter().map(|&it| f64::from(it)).collect::<Vec<_>>();
    let product = Product { shape: [16, 8, 32], a: Rows(floats(&a)), b: Columns(floats(&b)) };
    let added: Vec<f64> = c.iter().map(|&it| f64::from(it)).collect();
    let expected: Vec<i32> = product.all(&added).into_iter().map(|it| it as i32).collect();
    same(&output.download()?, &expected)
}

fn f64(on: &Context) -> Outcome {
    let (a, b, c) = (values(12, WARPS * 32), values(13, WARPS * 32), values(14, WARPS * 64));
    let (a, b, c) = (wide(&a), wide(&b), wide(&c));
    let (left, right, added) =
        (on.device.upload(&a)?, on.device.upload(&b)?, on.device.upload(&c)?);
    let mut output = on.device.zeros::<f64>(WARPS * 64)?;
    on.kernels.mma_f64(&on.stream, launch(), &left, &right, &added, &mut output)?;
    let product = Product { shape: [8, 8, 4], a: Rows(a), b: Rows(b) };
    same(&output.download()?, &product.all(&c))
}

fn shared(on: &Context) -> Outcome {
    let (a, b) = (values(15, WARPS * 256), values(16, WARPS * 128));
    let (left, right) = (on.device.upload(&halves(&a))?, on.device.upload(&halves(&b))?);
    let mut output = on.device.zeros::<f32>(WARPS * 128)?;
    let launch = Launch::grid([WARPS as u32], [32]);
    on.kernels.mma_shared(&on.stream, launch, &left, &right, &mut output)?;
    let product = Product { shape: [16, 8, 16], a: Rows(wide(&a)), b: Rows(wide(&b)) };
    same(&wide(&output.download()?), &product.all(&[]))
}

fn dynamic(on: &Context) -> Outcome {
    let (a, b) = (values(17, 256), values(18, 128));
    let (left, right) = (on.device.upload(&halves(&a))?, on.device.upload(&halves(&b))?);
    let product = Product { shape: [16, 8, 16], a: Columns(wide(&a)), b: Columns(wide(&b)) };
    // Rows start at multiples of 16 bytes, or do not.
    for skip in [0, 8, 3] {
        let mut output = on.device.zeros::<f32>(128)?;
        let launch = Launch::grid([1], [32]).shared_bytes(2 * 400);
        on.kernels.mma_dynamic(&on.stream, launch, skip, &left, &right, &mut output)?;
        same(&wide(&output.download()?), &product.of(0, &[]))?;
    }
    Ok(())
}

fn panics(on: &Context) -> Outcome {
    let a = on.device.upload(&halves(&values(19, 256)))?;
    let mut output = on.device.zeros::<f32>(256)?;
    on.kernels.mma_panics(&on.stream, Launch::grid([2], [32]), &a, &mut output)?;
    let panic = reported(&on.stream)?;
    let expected = Expected {
        kind: PanicKind::IndexOutOfBounds,
        place: ("tensor.rs", 157),
        message: &["index out of bounds: the len is 256 but the index is"],
    };
    if panic.block != [1, 0, 0] {
        return Err(format!("the panic is of another block: {panic:?}").into());
    }
    expected.check(&panic)
}

fn copies(on: &Context) -> Outcome {
    const ROUNDS: usize = 6;
    let x = values(20, (ROUNDS + 1) * 128 + 1);
    // Rounds start at multiples of 16 bytes, or do not.
    for skip in [0, 1] {
        let (input, mut output) = (on.device.upload(&x)?, on.device.zeros::<f32>(32)?);
        let input = input.slice(skip..);
        on.kernels.copies_ahead(
            &on.stream,
            Launch::grid([1], [32]),
            ROUNDS as u32,
            &input,
            &mut output,
        )?;
        let sum = |t: usize| -> f32 { (0..4 * ROUNDS).map(|j| x[skip + 32 * j + 31 - t]).sum() };
        same(&output.download()?, &(0..32).map(sum).collect::<Vec<_>>())?;
    }
    Ok(())
}

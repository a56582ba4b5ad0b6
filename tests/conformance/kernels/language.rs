//! The language itself: slices, generics, closures, iterators, enums, dynamic calls, wide integers.

use core::ops::{Add, Mul};
use kernelmill_device::prelude::*;

/// `y[i] = x[i] + x[i + 1]`, with both reads checked.
#[kernel]
pub fn neighbour_sums(x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        *out = x[i.get()] + x[i.get() + 1];
    }
}

fn multiply_add<T: Copy + Mul<Output = T> + Add<Output = T>>(a: T, b: T, c: T) -> T {
    a * b + c
}

/// One generic function at three types.
#[kernel]
pub fn generic(x: &[i32], mut y: DisjointSlice<f64>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        let value = x[i.get()];
        let whole = multiply_add(value, 3, 1);
        let single = multiply_add(value as f32, 0.5, 2.0);
        let double = multiply_add(value as f64, 0.25, -1.0);
        *out = f64::from(whole) + f64::from(single) + double;
    }
}

/// `x * x * x + 1`.
#[device_fn]
pub fn cube_and_one(x: f32) -> f32 {
    x * x * x + 1.0
}

/// Three numbers in one.
#[device_fn]
fn mixed(x: i32, y: i32, z: u8) -> i32 {
    x.wrapping_mul(31).wrapping_add(y) ^ i32::from(z)
}

/// `mixed` of a number with itself.
pub struct MixedWithItself;

impl Function<(i32,)> for MixedWithItself {
    type Output = i32;

    fn call((x,): (i32,)) -> i32 {
        mixed::call((x, x, 7))
    }
}

/// A function by its type, at each element.
#[kernel(instances = ["f32, cube_and_one", "i32, MixedWithItself"])]
pub fn mapped<T: Copy, F: Function<(T,), Output = T>>(x: &[T], mut y: DisjointSlice<T>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        *out = F::call((x[i.get()],));
    }
}

fn twice(value: f32, function: impl Fn(f32) -> f32) -> f32 {
    function(function(value))
}

/// A closure that captures by reference and by value.
#[kernel]
pub fn closures(scale: f32, x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        let offset = i.get() as f32;
        let mut calls = 0;
        let value = twice(x[i.get()], |value| value * scale + offset);
        let mut count = || calls += 1;
        count();
        count();
        *out = value + calls as f32;
    }
}

/// Iterator chains over a row: zip, skip, filter, map, `chunks_exact`, fold.
#[kernel]
pub fn iterators(columns: u32, x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    let columns = columns as usize;
    if let Some(out) = y.get_mut(i) {
        let row = &x[i.get() * columns..][..columns];
        let products: f32 =
            row.iter().zip(row.iter().skip(1)).filter(|(a, _)| **a > 0.0).map(|(a, b)| a * b).sum();
        let corners = row.chunks_exact(4).map(|chunk| chunk[0] - chunk[3]).fold(0.0, |a, b| a + b);
        let largest = row.iter().copied().fold(f32::MIN, f32::max);
        *out = products + corners + largest;
    }
}

enum Operation {
    Add(f32),
    Multiply(f32),
    Clamp { low: f32, high: f32 },
    Keep,
}

fn decode(code: u32) -> Option<Operation> {
    match code % 5 {
        0 => Some(Operation::Add(1.5)),
        1 => Some(Operation::Multiply(-2.0)),
        2 => Some(Operation::Clamp { low: -1.0, high: 1.0 }),
        3 => Some(Operation::Keep),
        _ => None,
    }
}

/// Enums with data, `match`, `Option`, `if let`, `let else`.
#[kernel]
pub fn enums(codes: &[u32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    let Some(out) = y.get_mut(i) else { return };
    for step in 0..3 {
        let Some(operation) = decode(codes[i.get()] + step) else {
            *out = -*out;
            continue;
        };
        *out = match operation {
            Operation::Add(value) => *out + value,
            Operation::Multiply(value) => *out * value,
            Operation::Clamp { low, high } => out.max(low).min(high),
            Operation::Keep => *out,
        };
    }
}

trait Shape {
    fn area(&self) -> f32;
    fn scaled(&self, factor: f32) -> f32 {
        self.area() * factor
    }
}

struct Square(f32);
struct Rectangle {
    width: f32,
    height: f32,
}

impl Shape for Square {
    fn area(&self) -> f32 {
        self.0 * self.0
    }
}

impl Shape for Rectangle {
    fn area(&self) -> f32 {
        self.width * self.height
    }

    fn scaled(&self, factor: f32) -> f32 {
        self.area() * factor + 1.0
    }
}

/// A call through `&dyn Trait` whose type is known only at run time.
#[kernel]
pub fn trait_objects(kind: &[u32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        let square = Square(*out);
        let rectangle = Rectangle { width: *out, height: 3.0 };
        let shape: &dyn Shape = if kind[i.get()] == 0 { &square } else { &rectangle };
        *out = shape.scaled(0.5);
    }
}

fn increment(value: i32) -> i32 {
    value + 1
}
fn double(value: i32) -> i32 {
    value * 2
}
fn negate(value: i32) -> i32 {
    -value
}

static TABLE: [fn(i32) -> i32; 3] = [increment, double, negate];

/// Calls through a table of function pointers.
#[kernel]
pub fn function_pointers(selector: &[u32], mut y: DisjointSlice<i32>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        let first = TABLE[selector[i.get()] as usize % 3];
        let second = TABLE[(selector[i.get()] as usize + 1) % 3];
        *out = second(first(*out));
    }
}

/// 128-bit product, quotient and remainder.
#[kernel]
pub fn wide_integers(x: &[u64], mut y: DisjointSlice<u128>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        let value = u128::from(x[i.get()]);
        let product = value * 0x9e37_79b9_7f4a_7c15_u128;
        let divisor = u128::from(x[i.get()] >> 7) | 1;
        *out = (product << 17) / divisor + product % divisor;
    }
}

/// What does not divide on integers of 128 bits: products, shifts by numbers that are not known, comparisons, with and without a
/// sign, in a loop and across a branch.
#[kernel]
pub fn wide_arithmetic(x: &[[u64; 4]], mut y: DisjointSlice<[u128; 4]>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        let [a, b, c, d] = x[i.get()];
        let wide = |low: u64, high: u64| u128::from(high) << 64 | u128::from(low);
        let (p, q) = (wide(a, b), wide(c, d));
        let (signed_p, signed_q) = (p as i128, q as i128);
        let by = d as u32;
        let shifted = p.wrapping_shl(by) ^ p.wrapping_shr(by.wrapping_add(1));
        let shifted = shifted ^ signed_p.wrapping_shr(by) as u128;
        let order = u64::from(p < q)
            | u64::from(signed_p < signed_q) << 1
            | u64::from(p <= q) << 2
            | u64::from(signed_p >= signed_q) << 3
            | u64::from(p == q) << 4
            | u64::from(signed_p > signed_q) << 5;
        let mut power = p;
        let mut steps = a % 5;
        while steps > 0 {
            power = power.wrapping_mul(power).wrapping_sub(q);
            steps -= 1;
        }
        let product = signed_p.wrapping_mul(i128::from(c as i64)) as u128;
        let chosen = if a & 2 == 0 { product } else { !p & q | power.wrapping_neg() };
        *out = [power, chosen, shifted, u128::from(order)];
    }
}

/// Each thread sorts a row of eight.
#[kernel]
pub fn sort_rows(x: &[u32], mut y: DisjointSlice<[u32; 8]>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        let mut row = [0; 8];
        row.copy_from_slice(&x[i.get() * 8..i.get() * 8 + 8]);
        row.sort_unstable();
        *out = row;
    }
}

/// Long rows take `sort_unstable` past its insertion sort.
#[kernel]
pub fn sort_long(mut rows: DisjointSlice<[u32; 100]>) {
    let i = thread::index_1d();
    if let Some(row) = rows.get_mut(i) {
        row.sort_unstable_by(|a, b| b.cmp(a));
    }
}

/// Every function of `Float` at both widths, summed so that none is left out.
#[kernel]
pub fn math_f64(x: &[f64], mut y: DisjointSlice<[f64; 12]>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        let v = x[i.get()];
        *out = [
            v.sqrt(),
            v.sin(),
            v.cos(),
            v.exp(),
            v.ln(),
            v.powf(1.7),
            v.tanh(),
            v.atan2(2.0),
            v.mul_add(2.0, 1.0),
            v.floor(),
            v.log2(),
            v.cbrt(),
        ];
    }
}

/// As `math_f64`, at single precision.
#[kernel]
pub fn math_f32(x: &[f32], mut y: DisjointSlice<[f32; 12]>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        let v = x[i.get()];
        *out = [
            v.sqrt(),
            v.sin(),
            v.cos(),
            v.exp(),
            v.ln(),
            v.powf(1.7),
            v.tanh(),
            v.atan2(2.0),
            v.mul_add(2.0, 1.0),
            v.floor(),
            v.log2(),
            v.cbrt(),
        ];
    }
}

/// Casts that saturate, wrap and round, and bit tricks.
#[kernel]
pub fn conversions(x: &[f64], mut y: DisjointSlice<i64>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        let v = x[i.get()];
        let single = v as f32;
        let saturated = i64::from(v as i8) + i64::from(v as u16)
            ^ i64::from(single as u32) << 20
            ^ i64::from(single as i32) << 9;
        let wrapped = (v as i64).wrapping_mul(0x1234_5678_9abc_def1);
        let bits = v.to_bits();
        // The bits of a NaN that a conversion gives are not specified.
        let narrow = if v.is_nan() { 0 } else { single.to_bits() };
        *out = saturated
            ^ wrapped.rotate_left(bits.count_ones())
            ^ i64::from(bits.leading_zeros())
            ^ i64::from(narrow.trailing_zeros());
    }
}

/// Recursion with a depth known only at run time.
#[kernel]
pub fn recursion(x: &[u32], mut y: DisjointSlice<u32>) {
    #[inline(never)]
    fn fibonacci(n: u32) -> u32 {
        if n < 2 { n } else { fibonacci(n - 1) + fibonacci(n - 2) }
    }
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        *out = fibonacci(x[i.get()]);
    }
}

//! `#[repr(C)]` structs by value: small, large, nested, with arrays, and as elements of slices.

use core::marker::PhantomData;
use kernelmill_device::prelude::*;

/// Eight bytes: split into scalars by the host's C ABI.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Pair {
    /// First.
    pub a: f32,
    /// Second.
    pub b: u32,
}

/// More than sixteen bytes: passed in memory by the host's C ABI. Has padding after `flag`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Wide {
    /// One byte.
    pub flag: u8,
    /// Eight bytes, at offset 8.
    pub scale: f64,
    /// An array of arrays.
    pub table: [[f32; 2]; 3],
    /// A struct within.
    pub pair: Pair,
    /// Two bytes at the end, then padding.
    pub tail: i16,
}

// CHECK-PTX: .param .align 8 .b8
// CHECK-PTX: ld.param
// CHECK-PTX: st.global.b64
// CHECK-AMD: s_load
// CHECK-AMD-NOT: flat_load
/// Both structs by value beside a scalar and a slice.
#[kernel]
pub fn structs_by_value(pair: Pair, wide: Wide, bias: i64, mut y: DisjointSlice<f64>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        let row = wide.table[i.get() % 3];
        *out = f64::from(pair.a) * f64::from(pair.b)
            + f64::from(wide.flag) * wide.scale
            + f64::from(row[0] - row[1])
            + f64::from(wide.pair.a) * f64::from(wide.pair.b)
            + f64::from(wide.tail)
            + bias as f64;
    }
}

// CHECK-PTX: st.global
// CHECK-AMD-NOT: scratch_store
/// Structs as elements of a slice that is read and of one that is written.
#[kernel]
pub fn structs_in_slices(x: &[Wide], mut y: DisjointSlice<Pair>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        let wide = x[i.get()];
        out.a += wide.table[2][1] + wide.scale as f32;
        out.b = out.b.wrapping_mul(wide.pair.b) + u32::from(wide.flag) + wide.tail as u32;
    }
}

/// How a value is made from two.
#[repr(u8)]
#[derive(Clone, Copy)]
pub enum Combine {
    /// The first and the second.
    Sum = 3,
    /// The first times the second.
    Product,
    /// The first without the second.
    Difference = 200,
}

/// The sign of a number.
#[repr(i32)]
#[derive(Clone, Copy, PartialEq)]
pub enum Sign {
    /// Less than zero.
    Negative = -1,
    /// Zero.
    Zero,
    /// Greater than zero.
    Positive,
}

/// A step of a calculation.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Step {
    /// What is done.
    pub combine: Combine,
    /// With this.
    pub operand: i32,
}

// CHECK-PTX: ld.param.b8
// CHECK-AMD: s_load
/// Enums by value, in structs, and as elements of slices that are read and written.
#[kernel]
pub fn enums_cross(last: Combine, steps: &[Step], wanted: &[Sign], mut signs: DisjointSlice<Sign>) {
    let apply = |combine, value: i32, operand: i32| match combine {
        Combine::Sum => value.wrapping_add(operand),
        Combine::Product => value.wrapping_mul(operand),
        Combine::Difference => value.wrapping_sub(operand),
    };
    let i = thread::index_1d();
    if let Some(sign) = signs.get_mut(i) {
        let (step, i) = (steps[i.get()], i.get() as i32);
        let value = apply(last, apply(step.combine, i, step.operand), 2);
        let found = match value {
            ..0 => Sign::Negative,
            0 => Sign::Zero,
            1.. => Sign::Positive,
        };
        *sign = if found == wanted[i as usize] { *sign } else { found };
    }
}

// CHECK-PTX: .param .f32
// CHECK-AMD: s_load
/// Every scalar that crosses by value.
#[kernel]
#[allow(clippy::too_many_arguments, reason = "one parameter for each type is the point")]
pub fn scalars(
    a: bool,
    b: char,
    c: i8,
    d: u16,
    e: i32,
    f: u64,
    g: i128,
    h: usize,
    i: f32,
    j: f64,
    mut y: DisjointSlice<f64>,
) {
    let index = thread::index_1d();
    if let Some(out) = y.get_mut(index) {
        *out = match index.get() {
            0 => f64::from(u8::from(a)),
            1 => f64::from(u32::from(b)),
            2 => f64::from(c),
            3 => f64::from(d),
            4 => f64::from(e),
            5 => f as f64,
            6 => (g >> 64) as i64 as f64,
            7 => h as f64,
            8 => f64::from(i),
            _ => j,
        };
    }
}

/// A unit of measurement: no bytes.
#[derive(Clone, Copy)]
pub struct Meters;

/// A number with a unit, of which only the number crosses.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Length {
    /// Says what the number counts.
    pub unit: PhantomData<Meters>,
    /// The number.
    pub value: f32,
}

/// Parameters without bytes between those with, and a name that no assembler takes.
#[kernel]
pub fn größe(
    nothing: (),
    a: u8,
    unit: Meters,
    b: u128,
    length: Length,
    tag: PhantomData<f64>,
    mut y: DisjointSlice<f64>,
) {
    let Meters = unit;
    let _ = (nothing, tag);
    if let Some(out) = y.get_mut(thread::index_1d()) {
        *out = f64::from(a) + (b >> 100) as f64 + f64::from(length.value);
    }
}

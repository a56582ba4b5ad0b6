//! Matrix instructions: element types, `mma`, `ldmatrix`, `wmma` fragments, `wgmma`.
//!
//! PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions" and "Asynchronous Warpgroup Level
//! Matrix Multiply-Accumulate Instructions".

use crate::arithmetic::half::{self, Binary16, Brain16};

/// Elements of a matrix as they lie in registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Element {
    F16,
    Bf16,
    Tf32,
    F32,
    F64,
    S8,
    U8,
    S4,
    U4,
    S32,
    B1,
}

impl Element {
    pub(crate) fn bits(self) -> u32 {
        match self {
            Element::B1 => 1,
            Element::S4 | Element::U4 => 4,
            Element::S8 | Element::U8 => 8,
            Element::F16 | Element::Bf16 => 16,
            Element::Tf32 | Element::F32 | Element::S32 => 32,
            Element::F64 => 64,
        }
    }

    /// Elements in a register of 32 bits; an `f64` has a register of its own.
    pub(crate) fn per_register(self) -> usize {
        (32 / self.bits()).max(1) as usize
    }

    /// Bytes in memory; elements smaller than a byte have no address.
    pub(crate) fn bytes(self) -> u32 {
        self.bits() / 8
    }

    /// The value of element `index` of a register. All integers here are exact in `f64`.
    pub(crate) fn value(self, register: u64, index: usize) -> f64 {
        let raw = register >> (index as u32 * self.bits() % 64);
        match self {
            Element::F16 => half::value::<Binary16>(raw),
            Element::Bf16 => half::value::<Brain16>(raw),
            Element::Tf32 => f64::from(f32::from_bits(raw as u32 & !0x1fff)),
            Element::F32 => f64::from(f32::from_bits(raw as u32)),
            Element::F64 => f64::from_bits(register),
            Element::S8 => f64::from(raw as i8),
            Element::U8 => f64::from(raw as u8),
            Element::S4 => f64::from(((raw as i8) << 4) >> 4),
            Element::U4 => f64::from(raw as u8 & 15),
            Element::S32 => f64::from(raw as i32),
            Element::B1 => f64::from(raw as u8 & 1),
        }
    }

    /// The bits of a result; sums of integers wrap, or saturate if the instruction says so.
    pub(crate) fn bits_of(self, value: f64, saturate: bool) -> u64 {
        match self {
            Element::F16 => half::bits::<Binary16>(value),
            Element::Bf16 => half::bits::<Brain16>(value),
            Element::F32 => u64::from((value as f32).to_bits()),
            Element::F64 => value.to_bits(),
            _ if saturate => u64::from(value as i32 as u32),
            _ => u64::from(value as i64 as u32),
        }
    }
}

/// How a product of bits is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Product {
    Multiply,
    And,
    Xor,
}

/// `mma.sync`: the shape, the element types of A, B, C and D, and the slots of their registers.
#[derive(Clone, Debug)]
pub(crate) struct Multiply {
    pub(crate) rows: usize,
    pub(crate) depth: usize,
    pub(crate) elements: [Element; 4],
    pub(crate) a: Vec<u32>,
    pub(crate) b: Vec<u32>,
    pub(crate) c: Vec<u32>,
    pub(crate) d: Vec<u32>,
    pub(crate) product: Product,
    pub(crate) saturate: bool,
}

/// `ldmatrix` and `stmatrix` of 8 by 8 matrices of 16-bit elements.
#[derive(Clone, Debug)]
pub(crate) struct LoadMatrix {
    pub(crate) store: bool,
    pub(crate) transposed: bool,
    /// Slot and offset of the address of a row.
    pub(crate) address: u32,
    pub(crate) offset: i64,
    /// Whether the address is a generic one.
    pub(crate) generic: bool,
    pub(crate) registers: Vec<u32>,
    pub(crate) line: u32,
}

/// A matrix in registers.
#[derive(Clone, Debug)]
pub(crate) struct Fragment {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    /// Whether rows are contiguous in memory.
    pub(crate) by_rows: bool,
    pub(crate) element: Element,
    pub(crate) registers: Vec<u32>,
    pub(crate) offset: i64,
}

impl Fragment {
    /// The matrix element at place `index` of a lane's register.
    pub(crate) fn place(&self, lane: usize, register: usize, index: usize) -> usize {
        let each = self.element.per_register();
        let place = (lane * self.registers.len() + register) * each + index;
        place % (self.rows * self.columns)
    }

    /// Where an element lies in memory, in bytes from the start.
    pub(crate) fn memory(&self, place: usize, stride: u64) -> u64 {
        let (row, column) = (place / self.columns, place % self.columns);
        let (major, minor) = if self.by_rows { (row, column) } else { (column, row) };
        (major as u64 * stride + minor as u64) * u64::from(self.element.bytes())
    }
}

/// `wmma.mma`: D is A times B plus C.
#[derive(Clone, Debug)]
pub(crate) struct FragmentMultiply {
    pub(crate) a: Fragment,
    pub(crate) b: Fragment,
    pub(crate) c: Fragment,
    pub(crate) d: Fragment,
    pub(crate) saturate: bool,
}

/// `wgmma.mma_async` of 64 rows; its fields are slots unless they say otherwise.
#[derive(Clone, Debug)]
pub(crate) struct WarpgroupMultiply {
    /// The type of the factors' elements, of 16 bits.
    pub(crate) element: Element,
    /// The descriptions of both matrices.
    pub(crate) factors: [u32; 2],
    /// The sums, four for each eight columns.
    pub(crate) sums: Vec<u32>,
    /// Whether what the sums are is added.
    pub(crate) adds: u32,
    /// Line of the PTX.
    pub(crate) line: u32,
}

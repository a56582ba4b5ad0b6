//! Parameters of functions, and how numbers lie in memory.

use kernelmill_autodiff::Activity;

/// A parameter in Rust, which is one or two of LLVM's.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Parameter {
    /// A number between these.
    Number(f64, f64),
    /// An integer.
    Integer(u64),
    /// A slice of so many numbers between these.
    Slice(usize, f64, f64),
    /// A slice that is written; its content before is random too.
    Output(usize),
    /// Behind a reference without a length: numbers between these.
    Array(usize, f64, f64),
    /// The same, written.
    OutputArray(usize),
    /// Behind a reference: an integer in the width of one number, then numbers.
    Counted(u32, usize, f64, f64),
}
use Parameter::{Array, Counted, Integer, Number, Output, OutputArray, Slice};

/// How wide numbers are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Width {
    F32,
    F64,
}

impl Width {
    pub(crate) fn name(self) -> &'static str {
        if self == Self::F32 { "f32" } else { "f64" }
    }
    pub(crate) fn write(self, bytes: &mut Vec<u8>, value: f64) {
        match self {
            Self::F32 => bytes.extend((value as f32).to_le_bytes()),
            Self::F64 => bytes.extend(value.to_le_bytes()),
        }
    }
    pub(crate) fn read(self, bytes: &[u8], index: usize) -> f64 {
        match self {
            Self::F32 => f64::from(f32::from_le_bytes(bytes[4 * index..][..4].try_into().unwrap())),
            Self::F64 => f64::from_le_bytes(bytes[8 * index..][..8].try_into().unwrap()),
        }
    }
    pub(crate) fn cell(self, value: f64) -> u64 {
        match self {
            Self::F32 => u64::from((value as f32).to_bits()),
            Self::F64 => value.to_bits(),
        }
    }
}

impl Parameter {
    pub(crate) fn activities(self) -> Vec<Activity> {
        match self {
            Number(..) => vec![Activity::Active],
            Integer(_) => vec![Activity::Constant],
            Slice(..) | Output(_) => vec![Activity::Duplicated, Activity::Constant],
            Array(..) | OutputArray(_) | Counted(..) => vec![Activity::Duplicated],
        }
    }

    /// The range of its numbers.
    pub(crate) fn range(self) -> (usize, f64, f64) {
        match self {
            Number(low, high) => (1, low, high),
            Integer(_) => (0, 0.0, 0.0),
            Slice(count, low, high) | Array(count, low, high) | Counted(_, count, low, high) => {
                (count, low, high)
            }
            Output(count) | OutputArray(count) => (count, 0.1, 1.1),
        }
    }

    pub(crate) fn is_output(self) -> bool {
        matches!(self, Output(_) | OutputArray(_))
    }
}

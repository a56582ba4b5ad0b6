//! Values of LLVM's as WGSL has them. Integers of up to 32 bits are a `u32` whose other bits are zero, a pointer is the
//! offset in its [memory](super::memory), in bytes.

use kernelmill_llvm::ir::{Type, TypeKind, Value};

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scalar {
    Bool,
    /// An integer of 8, 16 or 32 bits.
    Word(u32),
    /// Of 64 bits.
    Long,
    Float,
    Double,
    Pointer,
}

impl Scalar {
    pub(super) fn of(ty: Type<'_>) -> Option<Self> {
        match (ty.kind(), ty.int_width()) {
            (TypeKind::Integer, Some(1)) => Some(Self::Bool),
            (TypeKind::Integer, Some(width @ (8 | 16 | 32))) => Some(Self::Word(width)),
            (TypeKind::Integer, Some(64)) => Some(Self::Long),
            (TypeKind::Float, _) => Some(Self::Float),
            (TypeKind::Double, _) => Some(Self::Double),
            (TypeKind::Pointer, _) => Some(Self::Pointer),
            _ => None,
        }
    }

    /// Its type in WGSL.
    pub(super) fn wgsl(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::Word(_) | Self::Pointer => "u32",
            Self::Long => "u64",
            Self::Float => "f32",
            Self::Double => "f64",
        }
    }

    /// The bits of an integer.
    pub(super) fn bits(self) -> u32 {
        match self {
            Self::Bool => 1,
            Self::Word(bits) => bits,
            Self::Float | Self::Pointer => 32,
            Self::Long | Self::Double => 64,
        }
    }

    /// Its bytes in memory.
    pub(super) fn bytes(self) -> u64 {
        u64::from(self.bits().div_ceil(8))
    }

    /// Zero.
    pub(super) fn zero(self) -> String {
        match self {
            Self::Bool => "false".to_owned(),
            Self::Word(_) | Self::Pointer => "0u".to_owned(),
            Self::Long => "0lu".to_owned(),
            Self::Float => "0.0f".to_owned(),
            Self::Double => "0.0lf".to_owned(),
        }
    }

    /// A number of this integer type.
    pub(super) fn number(self, value: u64) -> String {
        match self {
            Self::Bool => (value & 1 != 0).to_string(),
            Self::Long => format!("{value}lu"),
            _ => format!("{}u", value & self.mask()),
        }
    }

    /// All its bits.
    pub(super) fn mask(self) -> u64 {
        u64::MAX >> (64 - self.bits())
    }

    /// An expression of its WGSL type, without the bits that the integer has not.
    pub(super) fn cut(self, expression: &str) -> String {
        match self {
            Self::Word(bits @ (8 | 16)) => format!("(({expression}) & {}u)", (1_u32 << bits) - 1),
            _ => format!("({expression})"),
        }
    }

    /// The signed number that an integer is.
    pub(super) fn signed(self, expression: &str) -> String {
        match self {
            Self::Word(bits @ (8 | 16)) => {
                let shift = 32 - bits;
                format!("(bitcast<i32>({expression} << {shift}u) >> {shift}u)")
            }
            Self::Long => format!("bitcast<i64>({expression})"),
            Self::Bool => format!("select(0i, -1i, {expression})"),
            _ => format!("bitcast<i32>({expression})"),
        }
    }

    /// The integer of a signed number.
    pub(super) fn unsigned(self, expression: &str) -> String {
        match self {
            Self::Long => format!("bitcast<u64>({expression})"),
            Self::Bool => format!("(({expression}) != 0i)"),
            _ => self.cut(&format!("bitcast<u32>({expression})")),
        }
    }

    /// A value of its bits, as a `u32` or, of 64 bits, a `u64`.
    pub(super) fn of_bits(self, bits: &str) -> String {
        match self {
            Self::Bool => format!("(({bits} & 1u) != 0u)"),
            Self::Float => format!("bitcast<f32>({bits})"),
            Self::Double => format!("bitcast<f64>({bits})"),
            _ => bits.to_owned(),
        }
    }

    /// The bits of a value.
    pub(super) fn to_bits(self, value: &str) -> String {
        match self {
            Self::Bool => format!("select(0u, 1u, {value})"),
            Self::Float => format!("bitcast<u32>({value})"),
            Self::Double => format!("bitcast<u64>({value})"),
            _ => value.to_owned(),
        }
    }
}

/// The number that a literal of 64 bits is.
fn long_literal(expression: &str) -> Option<u64> {
    expression.strip_suffix("lu")?.parse().ok()
}

/// The low word of a number of 64 bits.
pub(super) fn low_word(expression: &str) -> String {
    match long_literal(expression) {
        Some(number) => format!("{}u", number as u32),
        None => format!("u32({expression})"),
    }
}

/// Its high word.
pub(super) fn high_word(expression: &str) -> String {
    match long_literal(expression) {
        Some(number) => format!("{}u", (number >> 32) as u32),
        None => format!("u32({expression} >> 32u)"),
    }
}

/// A constant number; `None` for anything else.
pub(super) fn constant(value: Value<'_>) -> Option<String> {
    let scalar = Scalar::of(value.ty())?;
    if value.is_undefined() {
        return Some(scalar.zero());
    }
    match scalar {
        Scalar::Float => value.as_f64().map(|value| float(value as f32)),
        Scalar::Double => value.as_f64().map(double),
        Scalar::Pointer => None,
        _ => value.as_u64().map(|number| scalar.number(number)),
    }
}

/// WGSL has no literals of infinities, NaNs and numbers that are not normal: their bits, through a function, which no
/// compiler evaluates.
fn float(value: f32) -> String {
    match value.is_normal() || value.to_bits() == 0 {
        true => format!("{value:?}f"),
        false => format!("float_of({}u)", value.to_bits()),
    }
}

fn double(value: f64) -> String {
    match value.is_normal() || value.to_bits() == 0 {
        true => format!("{value:?}lf"),
        false => format!("double_of({}lu)", value.to_bits()),
    }
}

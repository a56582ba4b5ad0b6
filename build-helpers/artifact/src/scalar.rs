//! Scalar types that host and device share.

/// A scalar, under its name in Rust. Size and alignment are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each is the Rust type of that name")]
pub enum Scalar {
    Bool,
    Char,
    I8,
    I16,
    I32,
    I64,
    I128,
    Isize,
    U8,
    U16,
    U32,
    U64,
    U128,
    Usize,
    F16,
    Bf16,
    F32,
    F64,
}

impl Scalar {
    /// Every scalar.
    pub const ALL: [Self; 18] = [
        Self::Bool,
        Self::Char,
        Self::I8,
        Self::I16,
        Self::I32,
        Self::I64,
        Self::I128,
        Self::Isize,
        Self::U8,
        Self::U16,
        Self::U32,
        Self::U64,
        Self::U128,
        Self::Usize,
        Self::F16,
        Self::Bf16,
        Self::F32,
        Self::F64,
    ];

    /// Size in bytes, on every device that kernelmill compiles for.
    #[must_use]
    pub const fn size(self) -> u64 {
        match self {
            Self::Bool | Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 | Self::F16 | Self::Bf16 => 2,
            Self::Char | Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::Isize | Self::Usize | Self::F64 => 8,
            Self::I128 | Self::U128 => 16,
        }
    }

    /// Whether it can be the element of a tensor map, whose tiles are copied by TMA or its emulation.
    #[must_use]
    pub const fn is_tensor_element(self) -> bool {
        use Scalar as S;
        match self {
            S::I8 | S::I16 | S::I32 | S::I64 | S::F32 | S::F64 => true,
            S::U8 | S::U16 | S::U32 | S::U64 => true,
            S::Bool | S::Char | S::I128 | S::U128 | S::Isize | S::Usize | S::F16 | S::Bf16 => false,
        }
    }

    /// The name in Rust; `f16` and `bf16` are those of the crate `half`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::Char => "char",
            Self::I8 => "i8",
            Self::I16 => "i16",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::I128 => "i128",
            Self::Isize => "isize",
            Self::U8 => "u8",
            Self::U16 => "u16",
            Self::U32 => "u32",
            Self::U64 => "u64",
            Self::U128 => "u128",
            Self::Usize => "usize",
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
            Self::F32 => "f32",
            Self::F64 => "f64",
        }
    }

    /// The scalar of this name in Rust.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scalar| scalar.name() == name)
    }
}

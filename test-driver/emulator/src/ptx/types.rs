//! The fundamental types.
//!
//! PTX ISA, "Types".

/// A fundamental type of PTX.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Type {
    Pred,
    B8,
    B16,
    B32,
    B64,
    B128,
    U8,
    U16,
    U32,
    U64,
    S8,
    S16,
    S32,
    S64,
    F16,
    F16x2,
    Bf16,
    Bf16x2,
    Tf32,
    F32,
    F32x2,
    F64,
    U16x2,
    S16x2,
    /// `e4m3x2`
    E4m3x2,
    /// `e5m2x2`
    E5m2x2,
}

const NAMES: [(&str, Type); 27] = [
    ("pred", Type::Pred),
    ("b8", Type::B8),
    ("b16", Type::B16),
    ("b32", Type::B32),
    ("b64", Type::B64),
    ("b128", Type::B128),
    ("u8", Type::U8),
    ("u16", Type::U16),
    ("u32", Type::U32),
    ("u64", Type::U64),
    ("s8", Type::S8),
    ("s16", Type::S16),
    ("s32", Type::S32),
    ("s64", Type::S64),
    ("f16", Type::F16),
    ("f16x2", Type::F16x2),
    ("bf16", Type::Bf16),
    ("bf16x2", Type::Bf16x2),
    ("tf32", Type::Tf32),
    ("f32", Type::F32),
    ("f32x2", Type::F32x2),
    ("f64", Type::F64),
    ("u16x2", Type::U16x2),
    ("s16x2", Type::S16x2),
    ("e4m3x2", Type::E4m3x2),
    ("e5m2x2", Type::E5m2x2),
    // A texture, surface or sampler is a handle of 64 bits.
    ("texref", Type::B64),
];

impl Type {
    /// The type called `name`, written without its dot.
    pub(crate) fn named(name: &str) -> Option<Type> {
        let name = if matches!(name, "surfref" | "samplerref") { "texref" } else { name };
        NAMES.iter().find(|(known, _)| *known == name).map(|&(_, ty)| ty)
    }

    /// Length in memory, in bytes; a predicate counts as one.
    pub(crate) fn bytes(self) -> u32 {
        match self {
            Type::Pred | Type::B8 | Type::U8 | Type::S8 => 1,
            Type::B16 | Type::U16 | Type::S16 | Type::F16 | Type::Bf16 => 2,
            Type::E4m3x2 | Type::E5m2x2 => 2,
            Type::B32 | Type::U32 | Type::S32 | Type::F32 | Type::Tf32 => 4,
            Type::F16x2 | Type::Bf16x2 | Type::U16x2 | Type::S16x2 => 4,
            Type::B64 | Type::U64 | Type::S64 | Type::F64 | Type::F32x2 => 8,
            Type::B128 => 16,
        }
    }

    /// Width in bits, 1 for a predicate.
    pub(crate) fn bits(self) -> u32 {
        if self == Type::Pred { 1 } else { self.bytes() * 8 }
    }

    /// Its name, without its dot.
    pub(crate) fn name(self) -> &'static str {
        NAMES.iter().find(|(_, ty)| *ty == self).map_or("", |(name, _)| name)
    }

    /// Whether registers can be declared to have it; the others are types of instructions alone.
    pub(crate) fn is_of_registers(self) -> bool {
        !matches!(
            self,
            Type::Bf16
                | Type::Bf16x2
                | Type::Tf32
                | Type::F32x2
                | Type::U16x2
                | Type::S16x2
                | Type::E4m3x2
                | Type::E5m2x2
        )
    }

    /// Whether it is of integers, signed or unsigned, and not of bits.
    pub(crate) fn is_integer(self) -> bool {
        let unsigned = [Type::U8, Type::U16, Type::U32, Type::U64, Type::U16x2];
        self.is_signed() || unsigned.contains(&self)
    }

    /// Whether one of two types is of integers and the other of floating-point numbers.
    pub(crate) fn is_of_other_kind(self, other: Type) -> bool {
        self.is_integer() && other.is_float() || self.is_float() && other.is_integer()
    }

    pub(crate) fn is_signed(self) -> bool {
        matches!(self, Type::S8 | Type::S16 | Type::S32 | Type::S64 | Type::S16x2)
    }

    pub(crate) fn is_float(self) -> bool {
        matches!(
            self,
            Type::F16
                | Type::F16x2
                | Type::Bf16
                | Type::Bf16x2
                | Type::F32
                | Type::F64
                | Type::Tf32
        )
    }
}

//! Integer arithmetic.

/// An integer type that a register can hold.
pub(crate) trait Integer: Copy + Ord {
    /// Width in bits.
    const BITS: u32;
    /// The low bits of a register.
    fn of(register: u64) -> Self;
    /// Zero-extended to a register.
    fn register(self) -> u64;
    /// The value, sign- or zero-extended.
    fn wide(self) -> i128;
    /// The low bits of a wide value.
    fn narrow(wide: i128) -> Self {
        Self::of(wide as u64)
    }
    /// The value, sign- or zero-extended to 64 bits.
    fn extended(self) -> u64;
}

macro_rules! integers {
    ($($signed:ty, $unsigned:ty;)*) => {$(
        impl Integer for $unsigned {
            const BITS: u32 = <$unsigned>::BITS;
            #[inline(always)]
            fn of(register: u64) -> Self { register as $unsigned }
            #[inline(always)]
            fn register(self) -> u64 { self as u64 }
            #[inline(always)]
            fn wide(self) -> i128 { i128::from(self) }
            #[inline(always)]
            fn extended(self) -> u64 { self as u64 }
        }
        impl Integer for $signed {
            const BITS: u32 = <$signed>::BITS;
            #[inline(always)]
            fn of(register: u64) -> Self { register as $signed }
            #[inline(always)]
            fn register(self) -> u64 { self as $unsigned as u64 }
            #[inline(always)]
            fn wide(self) -> i128 { i128::from(self) }
            #[inline(always)]
            fn extended(self) -> u64 { self as i64 as u64 }
        }
    )*};
}

integers! {
    i8, u8;
    i16, u16;
    i32, u32;
    i64, u64;
}

#[inline(always)]
fn low<T: Integer>(value: u64) -> u64 {
    T::of(value).register()
}

#[inline(always)]
pub(crate) fn add<T: Integer>(a: u64, b: u64) -> u64 {
    low::<T>(a.wrapping_add(b))
}

#[inline(always)]
pub(crate) fn subtract<T: Integer>(a: u64, b: u64) -> u64 {
    low::<T>(a.wrapping_sub(b))
}

/// `add.sat.s32`
pub(crate) fn add_saturating(a: u64, b: u64) -> u64 {
    i32::of(a).saturating_add(i32::of(b)).register()
}

/// `sub.sat.s32`
pub(crate) fn subtract_saturating(a: u64, b: u64) -> u64 {
    i32::of(a).saturating_sub(i32::of(b)).register()
}

#[inline(always)]
pub(crate) fn multiply_low<T: Integer>(a: u64, b: u64) -> u64 {
    low::<T>(a.wrapping_mul(b))
}

#[inline(always)]
pub(crate) fn multiply_high<T: Integer>(a: u64, b: u64) -> u64 {
    // 64-bit products need all 128 bits, unsigned ones as well.
    let product = T::of(a).wide().wrapping_mul(T::of(b).wide());
    low::<T>((product >> T::BITS) as u64)
}

/// The whole product, twice as wide as the operands (at most 32 bits).
#[inline(always)]
pub(crate) fn multiply_wide<T: Integer>(a: u64, b: u64) -> u64 {
    let product = T::of(a).extended().wrapping_mul(T::of(b).extended());
    if T::BITS == 16 { low::<u32>(product) } else { product }
}

#[inline(always)]
pub(crate) fn mad_low<T: Integer>(a: u64, b: u64, c: u64) -> u64 {
    low::<T>(a.wrapping_mul(b).wrapping_add(c))
}

#[inline(always)]
pub(crate) fn mad_high<T: Integer>(a: u64, b: u64, c: u64) -> u64 {
    low::<T>(multiply_high::<T>(a, b).wrapping_add(c))
}

/// `mad.hi.sat.s32`
pub(crate) fn mad_high_saturating(a: u64, b: u64, c: u64) -> u64 {
    i32::of(multiply_high::<i32>(a, b)).saturating_add(i32::of(c)).register()
}

#[inline(always)]
pub(crate) fn mad_wide<T: Integer>(a: u64, b: u64, c: u64) -> u64 {
    let sum = multiply_wide::<T>(a, b).wrapping_add(c);
    if T::BITS == 16 { low::<u32>(sum) } else { sum }
}

/// The product of the low 24 bits.
fn product_24<T: Integer>(a: u64, b: u64) -> u64 {
    let extend = |value: u64| {
        let raised = T::of(value << 8);
        (raised.wide() >> 8) as u64
    };
    extend(a).wrapping_mul(extend(b))
}

pub(crate) fn multiply_24_low<T: Integer>(a: u64, b: u64) -> u64 {
    low::<u32>(product_24::<T>(a, b))
}

pub(crate) fn multiply_24_high<T: Integer>(a: u64, b: u64) -> u64 {
    low::<u32>(product_24::<T>(a, b) >> 16)
}

pub(crate) fn mad_24_low<T: Integer>(a: u64, b: u64, c: u64) -> u64 {
    low::<u32>(multiply_24_low::<T>(a, b).wrapping_add(c))
}

pub(crate) fn mad_24_high<T: Integer>(a: u64, b: u64, c: u64) -> u64 {
    low::<u32>(multiply_24_high::<T>(a, b).wrapping_add(c))
}

/// `mad24.hi.sat.s32`
pub(crate) fn mad_24_high_saturating(a: u64, b: u64, c: u64) -> u64 {
    i32::of(multiply_24_high::<i32>(a, b)).saturating_add(i32::of(c)).register()
}

/// `c + |a - b|`
pub(crate) fn absolute_difference<T: Integer>(a: u64, b: u64, c: u64) -> u64 {
    let difference = (T::of(a).wide() - T::of(b).wide()).unsigned_abs() as u64;
    low::<T>(difference.wrapping_add(c))
}

/// Division by zero gives all ones, as devices do.
#[inline(always)]
pub(crate) fn divide<T: Integer>(a: u64, b: u64) -> u64 {
    let (a, b) = (T::of(a), T::of(b));
    if b.register() == 0 { low::<T>(u64::MAX) } else { T::narrow(a.wide() / b.wide()).register() }
}

/// The remainder by zero is the dividend.
#[inline(always)]
pub(crate) fn remainder<T: Integer>(a: u64, b: u64) -> u64 {
    let (a, b) = (T::of(a), T::of(b));
    if b.register() == 0 { a.register() } else { T::narrow(a.wide() % b.wide()).register() }
}

#[inline(always)]
pub(crate) fn minimum<T: Integer>(a: u64, b: u64) -> u64 {
    T::of(a).min(T::of(b)).register()
}

#[inline(always)]
pub(crate) fn maximum<T: Integer>(a: u64, b: u64) -> u64 {
    T::of(a).max(T::of(b)).register()
}

/// `min.relu`, `max.relu` of `s32`: not below zero.
pub(crate) fn not_negative(value: u64) -> u64 {
    i32::of(value).max(0).register()
}

pub(crate) fn absolute<T: Integer>(a: u64) -> u64 {
    T::narrow(T::of(a).wide().abs()).register()
}

pub(crate) fn negate<T: Integer>(a: u64) -> u64 {
    low::<T>(a.wrapping_neg())
}

/// Dot product of four bytes each; `A` and `B` say which of them are signed.
pub(crate) fn dot_4<A: Integer, B: Integer>(a: u64, b: u64, c: u64) -> u64 {
    let product = |byte: u32| A::of(a >> (8 * byte)).wide() * B::of(b >> (8 * byte)).wide();
    low::<u32>((0..4).map(product).sum::<i128>() as u64).wrapping_add(c) & 0xffff_ffff
}

/// Dot product of two halves of `a` with two bytes of `b`, from byte `FIRST`.
pub(crate) fn dot_2<A: Integer, B: Integer, const FIRST: u32>(a: u64, b: u64, c: u64) -> u64 {
    let product =
        |part: u32| A::of(a >> (16 * part)).wide() * B::of(b >> (8 * (part + FIRST))).wide();
    low::<u32>((0..2).map(product).sum::<i128>() as u64).wrapping_add(c) & 0xffff_ffff
}

/// `a + b + carry` and the carry out.
pub(crate) fn add_carrying<T: Integer>(a: u64, b: u64, carry: bool) -> (u64, bool) {
    let sum = u128::from(low::<T>(a)) + u128::from(low::<T>(b)) + u128::from(carry);
    (low::<T>(sum as u64), sum >> T::BITS != 0)
}

/// `a - b - borrow` and the borrow out.
pub(crate) fn subtract_borrowing<T: Integer>(a: u64, b: u64, borrow: bool) -> (u64, bool) {
    let (a, b) = (i128::from(low::<T>(a)), i128::from(low::<T>(b)));
    let difference = a - b - i128::from(borrow);
    (low::<T>(difference as u64), difference < 0)
}

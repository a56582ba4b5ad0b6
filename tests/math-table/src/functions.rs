//! The functions: where they are measured, what they are to the reference, and how far they may be
//! from it.

use crate::reference::Big;

/// A function of `Float`.
pub(crate) struct Function {
    /// Its name.
    pub(crate) name: &'static str,
    /// Where it is measured.
    pub(crate) domain: Domain,
    /// For `f32`, the function in double precision.
    pub(crate) single: fn(f64, f64) -> f64,
    /// For `f64`, the function in higher precision.
    pub(crate) double: fn(&mut Big, f64, f64) -> astro_float::BigFloat,
    /// The most that the error may be, in units of the last place: for `f32` and for `f64`.
    pub(crate) bounds: [f64; 2],
}

/// The arguments of a function.
#[derive(Clone, Copy)]
pub(crate) enum Domain {
    /// Both signs, every exponent.
    All,
    /// Positive numbers, every exponent.
    Positive,
    /// From one number to another, half of them with every exponent below.
    Between(f64, f64),
    /// `Between` one and the same number of the other sign, for `f32` and for `f64`.
    Within(f64, f64),
    /// Two numbers of both signs and every exponent whose squares are none too large.
    Pair,
    /// A positive number, and an exponent for which the power is a normal number.
    Power,
}

impl Function {
    /// Whether it has two arguments.
    pub(crate) fn is_binary(&self) -> bool {
        matches!(self.domain, Domain::Pair | Domain::Power)
    }
}

macro_rules! functions {
    ($($name:literal $domain:expr, $bounds:expr, $single:expr, $double:expr;)*) => {
        /// All that are measured, in the order of the kernels.
        pub(crate) const FUNCTIONS: &[Function] = &[$(Function {
            name: $name,
            domain: $domain,
            single: $single,
            double: $double,
            bounds: $bounds,
        }),*];
    };
}

const EXP: Domain = Domain::Within(87.0, 708.0);

functions! {
    "sqrt" Domain::Positive, [0.5, 0.5], |x, _| x.sqrt(), |big, x, _| big.sqrt(x);
    "rsqrt" Domain::Positive, [2.0, 1.5], |x, _| 1.0 / x.sqrt(), |big, x, _| big.rsqrt(x);
    "recip" Domain::Between(1e-30, 1e30), [0.5, 0.5], |x, _| 1.0 / x, |big, x, _| big.recip(x);
    "cbrt" Domain::All, [1.0, 1.0], |x, _| x.cbrt(), |big, x, _| big.cbrt(x);
    "sin" Domain::All, [2.0, 1.5], |x, _| x.sin(), |big, x, _| big.sin(x);
    "cos" Domain::All, [2.0, 1.5], |x, _| x.cos(), |big, x, _| big.cos(x);
    "sin_cos, the sine" Domain::All, [2.0, 1.5], |x, _| x.sin(), |big, x, _| big.sin(x);
    "sin_cos, the cosine" Domain::All, [2.0, 1.5], |x, _| x.cos(), |big, x, _| big.cos(x);
    "tan" Domain::All, [2.0, 1.5], |x, _| x.tan(), |big, x, _| big.tan(x);
    "asin" Domain::Within(1.0, 1.0), [2.0, 1.5], |x, _| x.asin(), |big, x, _| big.asin(x);
    "acos" Domain::Within(1.0, 1.0), [2.0, 1.5], |x, _| x.acos(), |big, x, _| big.acos(x);
    "atan" Domain::All, [2.0, 1.5], |x, _| x.atan(), |big, x, _| big.atan(x);
    "sinh" EXP, [2.0, 1.5], |x, _| x.sinh(), |big, x, _| big.sinh(x);
    "cosh" EXP, [2.0, 1.5], |x, _| x.cosh(), |big, x, _| big.cosh(x);
    "tanh" Domain::All, [2.0, 1.5], |x, _| x.tanh(), |big, x, _| big.tanh(x);
    "exp" EXP, [2.0, 1.5], |x, _| x.exp(), |big, x, _| big.exp(x);
    "exp2" Domain::Within(125.0, 1020.0), [2.0, 1.5], |x, _| x.exp2(), |big, x, _| big.exp2(x);
    "exp_m1" EXP, [2.0, 1.5], |x, _| x.exp_m1(), |big, x, _| big.exp_m1(x);
    "ln" Domain::Positive, [2.0, 1.5], |x, _| x.ln(), |big, x, _| big.ln(x);
    "log2" Domain::Positive, [2.0, 1.5], |x, _| x.log2(), |big, x, _| big.log2(x);
    "log10" Domain::Positive, [2.0, 1.5], |x, _| x.log10(), |big, x, _| big.log10(x);
    "ln_1p" Domain::Between(-0.999, 1e30), [2.0, 1.5], |x, _| x.ln_1p(), |big, x, _| big.ln_1p(x);
    "hypot" Domain::Pair, [1.5, 1.5], f64::hypot, Big::hypot;
    "atan2" Domain::Pair, [2.0, 1.5], f64::atan2, Big::atan2;
    "powf" Domain::Power, [2.0, 1.5], f64::powf, Big::powf;
    "mul_add" Domain::Pair, [0.5, 0.5], |x, y| x.mul_add(y, x), Big::mul_add;
}

//! The table of derivative rules. Code and documentation are generated from it.
//!
//! Source: the derivatives of elementary functions in NIST's Digital Library of Mathematical Functions,
//! <https://dlmf.nist.gov/4>.

use kernelmill_llvm::ir::Opcode;

use super::expression::{
    Comparison, Condition,
    Expression::{self, Add, Call, Divide, Multiply, Negate, Number, PowerRule, Subtract, Where},
    Partial::{self, MinusOne, One, Times, When, Zero},
};

const X: Expression = Expression::Argument(0);
const Y: Expression = Expression::Argument(1);
const F: Expression = Expression::Result;
const HALF: Expression = Number(0.5);
const UNIT: Expression = Number(1.0);

/// The derivative rule of one function.
#[derive(Debug)]
pub(crate) struct Rule {
    /// Its name in `kernelmill_device`.
    pub(crate) name: &'static str,
    /// Its names in LLVM and the C library, without prefix and suffix.
    pub(crate) spellings: &'static [&'static str],
    /// The derivative with respect to each argument.
    pub(crate) partials: &'static [Partial],
    /// Whether LLVM has an instruction or intrinsic for it that every target can select.
    pub(crate) intrinsic: Option<&'static str>,
}

const fn function(
    name: &'static str,
    spellings: &'static [&'static str],
    partials: &'static [Partial],
) -> Rule {
    Rule { name, spellings, partials, intrinsic: None }
}

const fn intrinsic(
    name: &'static str,
    llvm: &'static str,
    spellings: &'static [&'static str],
    partials: &'static [Partial],
) -> Rule {
    Rule { name, spellings, partials, intrinsic: Some(llvm) }
}

const fn compare(
    left: &'static Expression,
    comparison: Comparison,
    right: &'static Expression,
) -> Condition {
    Condition { left, comparison, right }
}

const LOWER: &[Partial] =
    &[When(compare(&X, Comparison::AtMost, &Y)), When(compare(&X, Comparison::NotAtMost, &Y))];
const HIGHER: &[Partial] =
    &[When(compare(&X, Comparison::AtLeast, &Y)), When(compare(&X, Comparison::NotAtLeast, &Y))];
const SQUARES: Expression = Add(&Multiply(&X, &X), &Multiply(&Y, &Y));
const ARC: Expression = Call("sqrt", &[Subtract(&UNIT, &Multiply(&X, &X))]);

/// The functions.
pub(crate) static FUNCTIONS: &[Rule] = &[
    intrinsic("sqrt", "llvm.sqrt", &["sqrt"], &[Times(Divide(&HALF, &F))]),
    function(
        "rsqrt",
        &["rsqrt"],
        &[Times(Multiply(&Number(-0.5), &Multiply(&F, &Multiply(&F, &F))))],
    ),
    function(
        "cbrt",
        &["cbrt"],
        &[Times(Divide(&UNIT, &Multiply(&Number(3.0), &Multiply(&F, &F))))],
    ),
    function("hypot", &["hypot"], &[Times(Divide(&X, &F)), Times(Divide(&Y, &F))]),
    function("sin", &["sin"], &[Times(Call("cos", &[X]))]),
    function("cos", &["cos"], &[Times(Negate(&Call("sin", &[X])))]),
    function("tan", &["tan"], &[Times(Add(&UNIT, &Multiply(&F, &F)))]),
    function("asin", &["asin"], &[Times(Divide(&UNIT, &ARC))]),
    function("acos", &["acos"], &[Times(Divide(&Number(-1.0), &ARC))]),
    function("atan", &["atan"], &[Times(Divide(&UNIT, &Add(&UNIT, &Multiply(&X, &X))))]),
    function(
        "atan2",
        &["atan2"],
        &[Times(Divide(&Y, &SQUARES)), Times(Negate(&Divide(&X, &SQUARES)))],
    ),
    function("sinh", &["sinh"], &[Times(Call("cosh", &[X]))]),
    function("cosh", &["cosh"], &[Times(Call("sinh", &[X]))]),
    function("tanh", &["tanh"], &[Times(Subtract(&UNIT, &Multiply(&F, &F)))]),
    function("exp", &["exp"], &[Times(F)]),
    function("exp2", &["exp2"], &[Times(Multiply(&F, &Number(std::f64::consts::LN_2)))]),
    function("exp_m1", &["expm1"], &[Times(Add(&F, &UNIT))]),
    function("ln", &["log"], &[Times(Divide(&UNIT, &X))]),
    function("log2", &["log2"], &[Times(Divide(&Number(std::f64::consts::LOG2_E), &X))]),
    function("log10", &["log10"], &[Times(Divide(&Number(std::f64::consts::LOG10_E), &X))]),
    function("ln_1p", &["log1p"], &[Times(Divide(&UNIT, &Add(&UNIT, &X)))]),
    function(
        "powf",
        &["pow"],
        &[
            Times(Multiply(&Y, &Call("powf", &[X, Subtract(&Y, &UNIT)]))),
            Times(Where(
                compare(&X, Comparison::Greater, &Number(0.0)),
                &Multiply(&F, &Call("ln", &[X])),
                &Number(0.0),
            )),
        ],
    ),
    intrinsic("powi", "llvm.powi", &["powi"], &[Times(PowerRule), Zero]),
    intrinsic("mul_add", "llvm.fma", &["fma"], &[Times(Y), Times(X), One]),
    intrinsic("fmuladd", "llvm.fmuladd", &["fmuladd"], &[Times(Y), Times(X), One]),
    intrinsic("abs", "llvm.fabs", &["fabs"], &[Times(Call("copysign", &[UNIT, X]))]),
    intrinsic(
        "copysign",
        "llvm.copysign",
        &["copysign"],
        &[Times(Multiply(&Call("copysign", &[UNIT, X]), &Call("copysign", &[UNIT, Y]))), Zero],
    ),
    intrinsic("min", "llvm.minnum", &["minnum", "fmin"], LOWER),
    intrinsic("max", "llvm.maxnum", &["maxnum", "fmax"], HIGHER),
    intrinsic("minimum", "llvm.minimum", &["minimum", "minimumnum"], LOWER),
    intrinsic("maximum", "llvm.maximum", &["maximum", "maximumnum"], HIGHER),
    intrinsic("floor", "llvm.floor", &["floor"], &[Zero]),
    intrinsic("ceil", "llvm.ceil", &["ceil"], &[Zero]),
    intrinsic("trunc", "llvm.trunc", &["trunc"], &[Zero]),
    intrinsic("round", "llvm.round", &["round"], &[Zero]),
    intrinsic("round_ties_even", "llvm.roundeven", &["roundeven", "rint", "nearbyint"], &[Zero]),
    intrinsic("canonicalize", "llvm.canonicalize", &["canonicalize"], &[One]),
];

/// The operators.
pub(crate) static OPERATORS: &[(Opcode, &str, &[Partial])] = &[
    (Opcode::FAdd, "x + y", &[One, One]),
    (Opcode::FSub, "x - y", &[One, MinusOne]),
    (Opcode::FMul, "x * y", &[Times(Y), Times(X)]),
    // LLVM shares the division of both.
    (
        Opcode::FDiv,
        "x / y",
        &[Times(Divide(&UNIT, &Y)), Times(Negate(&Multiply(&F, &Divide(&UNIT, &Y))))],
    ),
    (Opcode::FNeg, "-x", &[MinusOne]),
    (Opcode::FRem, "x % y", &[One, Times(Negate(&Call("trunc", &[Divide(&X, &Y)])))]),
    (Opcode::Freeze, "freeze(x)", &[One]),
];

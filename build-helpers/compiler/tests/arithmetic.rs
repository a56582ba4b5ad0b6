//! Arithmetic in emitted code: fast-math flags, and vendors' math libraries.
//!
//! Tests named `check_N_...` are after the checks of GPUCompiler.jl's and CUDA.jl's suites that they
//! carry over.

mod common;

use common::{GPUS, compile_with, compiler, count, job, lower, ptx};
use kernelmill_compiler::{Config, MathLibrary, Params};

/// ptx.jl \"fastmath rsqrt\": 1 / sqrt is one instruction only where arithmetic is fast.
/// Acceptance: C15.
#[test]
fn check_15_fastmath_rsqrt() {
    let kernel = |attribute: &str, value: &str| {
        format!(
            "use kernelmill_device::prelude::*;\nfn of(x: f32) -> f32 {{ 1.0 / x.sqrt() }}\n\
             {attribute}\npub fn rsqrt(x: &[f32], mut y: DisjointSlice<f32>) {{\n\
             let i = thread::index_1d();\n\
             if let Some(out) = y.get_mut(i) {{ *out = {value}; }}\n}}\n"
        )
    };
    let counts = |name: &str, text: &str| {
        let ptx = ptx(name, text);
        ["rsqrt.approx.f32", "sqrt.rn.f32", "sqrt.approx.f32"].map(|it| count(&ptx, it))
    };
    assert_eq!(counts("rsqrt_exact", &kernel("#[kernel]", "of(x[i.get()])")), [0, 1, 0]);
    assert_eq!(counts("rsqrt_fast", &kernel("#[kernel(fast_math)]", "of(x[i.get()])")), [1, 0, 1]);
    let per_call = kernel("#[kernel]", "fast_math(|| of(x[i.get()])) + of(x[0])");
    assert_eq!(counts("rsqrt_per_call", &per_call), [1, 1, 1]);
}

/// With `nnan` or `ninf` a NaN would be poison, in safe code.
#[test]
fn fast_arithmetic_takes_no_number_for_finite() {
    let text = "
use kernelmill_device::prelude::*;

#[kernel(fast_math)]
pub fn scaled(x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        let value = x[i.get()] / 3.0 + x[0].sqrt();
        *out = if value.is_nan() { x[value as usize] } else { value - x[1] };
    }
}
";
    for target in ["cpu"].into_iter().chain(GPUS) {
        let (source, lowered) = lower("scaled", text);
        let mut config = Config::new(target.parse().unwrap());
        config.options.validate = false;
        let module = compiler().inspect(&job("scaled", &source, &lowered, &config)).unwrap();
        let has = |line: &str, words: &[&str]| line.split(' ').any(|it| words.contains(&it));
        let lines: Vec<_> = module.lines().filter(|it| it.contains(" = ")).collect();
        assert!(lines.iter().any(|line| has(line, &["reassoc"])), "{target}");
        let finite = lines.iter().find(|line| has(line, &["nnan", "ninf", "fast"]));
        assert_eq!(finite, None, "{target}");
    }
}

#[test]
fn fast_arithmetic_leaves_the_functions_of_mathematics_as_they_are() {
    let text = "
use kernelmill_device::prelude::*;

#[kernel]
pub fn sines(x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        *out = x[i.get()].sin();
    }
}
";
    let operations = |text: &str| {
        let ptx = ptx("sines", text);
        ["fma.rn.f32", "mul.rn.f32", "add.rn.f32", "sub.rn.f32"].map(|it| count(&ptx, it))
    };
    let exact = operations(text);
    assert!(exact[0] > 5, "{exact:?}");
    assert_eq!(operations(&text.replace("#[kernel]", "#[kernel(fast_math)]")), exact);
}

/// Acceptance: S0.9.
#[test]
fn mathematics_is_nvidias_where_that_is_asked_for() {
    let text = "
use kernelmill_device::prelude::*;

#[kernel]
pub fn powers(x: &[f32], mut y: DisjointSlice<f64>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        *out = f64::from(Float::exp_m1(x[i.get()]) + x[i.get()].powf(2.5)) + Float::ln(*out);
    }
}
";
    let Some(_) = test_support::tool::nvidia("ptxas") else { return };
    let params = Params { math: MathLibrary::Vendor, ..Params::default() };
    let code = |target: &str, params: &Params| {
        let artifact = compile_with("vendor_math", text, target, params.clone());
        artifact.unwrap_or_else(|error| panic!("{target}: {error}")).bytes
    };
    let vendor = String::from_utf8(code("compute_75", &params)).unwrap();
    // Its quotient of two numbers; ours is exact.
    assert!(count(&vendor, "rcp.approx.ftz.f32") > 0, "{vendor}");
    assert_eq!(count(&vendor, "__nv") + count(&vendor, "call"), 0, "{vendor}");
    let own = String::from_utf8(code("compute_75", &Params::default())).unwrap();
    assert_eq!(count(&own, "rcp.approx"), 0, "{own}");
    // Whether it is named as the language or as `Float` names it.
    for name in ["Float::exp2(*out)", "f64::from(Float::exp2(*out as f32))", "out.exp2()"] {
        let text = text.replace("DisjointSlice<f64>", "DisjointSlice<f32>");
        let (head, _) = text.split_once("*out =").unwrap();
        let text = format!("{head}*out = ({name}) as f32;\n    }}\n}}\n");
        let artifact = compile_with("vendor_power", &text, "compute_75", params.clone()).unwrap();
        let ptx = String::from_utf8(artifact.bytes).unwrap();
        assert_eq!(count(&ptx, "ex2.approx"), 1, "{name}:\n{ptx}");
    }
    code("sm_90", &params);
    assert_eq!(code("cpu", &params), code("cpu", &Params::default()));
    let key = |params: Params| Config { params, ..Config::new("sm_90".parse().unwrap()) }.key();
    assert_ne!(key(params), key(Params::default()));
}

/// Every function, of both precisions.
#[test]
fn mathematics_is_amds_where_that_is_asked_for() {
    let Some(_) = test_support::tool::ocml() else { return };
    let params = Params { math: MathLibrary::Vendor, ..Params::default() };
    for float in ["f32", "f64"] {
        let unary = [
            "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "exp2",
            "exp_m1", "ln", "log2", "log10", "ln_1p", "cbrt",
        ];
        let sums: String = unary.iter().map(|name| format!("Float::{name}(v) + ")).collect();
        let text = format!(
            "use kernelmill_device::prelude::*;\n\n#[kernel]\n\
             pub fn all(x: &[{float}], mut y: DisjointSlice<{float}>) {{\n    \
             let i = thread::index_1d();\n    if let Some(out) = y.get_mut(i) {{\n        \
             let v = x[i.get()];\n        *out = {sums}v.powf(*out) + Float::hypot(v, *out) \
             + Float::atan2(v, *out) + v % *out;\n    }}\n}}\n"
        );
        let key = |params: &Params| {
            let target = "gfx942".parse().unwrap();
            Config { params: params.clone(), ..Config::new(target) }.key()
        };
        assert_ne!(key(&params), key(&Params::default()));
        for target in ["gfx90a", "gfx942", "gfx1030", "gfx1100"] {
            let code = |params: &Params| {
                let artifact = compile_with("vendor_math_of_amd", &text, target, params.clone());
                artifact.unwrap_or_else(|error| panic!("{float}, {target}: {error}")).bytes
            };
            assert_ne!(code(&params), code(&Params::default()), "{float}, {target}");
        }
    }
}

/// Its power of two of `f32` is the processor's instruction; ours is of additions and products alone.
/// What the library asks, of the processor for one, is answered when it is linked.
/// Acceptance: S0.9.
#[test]
fn what_amds_mathematics_asks_is_answered() {
    let Some(_) = test_support::tool::ocml() else { return };
    let text = "use kernelmill_device::prelude::*;\n\n#[kernel]\n\
                pub fn powers(mut y: DisjointSlice<f32>) {\n    \
                if let Some(out) = y.get_mut(thread::index_1d()) {\n        *out = Float::exp2(*out);\n    }\n}\n";
    let params = Params { math: MathLibrary::Vendor, ..Params::default() };
    for target in ["gfx90a", "gfx1100"] {
        let assembly = |params: &Params| {
            let config = Config { params: params.clone(), ..Config::new(target.parse().unwrap()) };
            let (source, lowered) = common::lower("vendor_powers", text);
            let job = common::job("vendor_powers", &source, &lowered, &config);
            common::compiler().assembly(&job).unwrap_or_else(|error| panic!("{error}"))
        };
        let (theirs, own) = (assembly(&params), assembly(&Params::default()));
        assert!(
            count(&theirs, "v_exp_f32") > 0 && count(&own, "v_exp_f32") == 0,
            "{target}:\n{theirs}"
        );
        for name in ["__ocml", "__oclc", "s_swappc"] {
            assert_eq!(count(&theirs, name), 0, "{target}: {name} in\n{theirs}");
        }
    }
}

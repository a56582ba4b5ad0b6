//! `autodiff!` in kernels, through the whole compiler.

#[path = "../../compiler/tests/common/mod.rs"]
mod common;

use std::sync::Arc;

use common::{compiler, job, lower};
use kernelmill_compiler::{Artifact, Compiler, Config, Error, plugin::Plugin};

const TARGETS: [&str; 3] = ["sm_90", "gfx1100", "cpu"];

fn with_plugin() -> Compiler {
    let plugins: Vec<Arc<dyn Plugin>> = vec![Arc::new(kernelmill_autodiff::plugin())];
    Compiler::new(compiler().toolchain().clone()).unwrap().with_plugins(plugins).unwrap()
}

fn compile(compiler: &Compiler, name: &str, text: &str, target: &str) -> Result<Artifact, Error> {
    let (source, lowered) = lower(name, text);
    compiler.compile(&job(name, &source, &lowered, &Config::new(target.parse().unwrap())))
}

const KERNELS: &str = "
use kernelmill_device::prelude::*;

fn loss(w: &[f32], x: f32, y: f32) -> f32 {
    let d = w[0] * Float::sin(x * w[1]) + x.exp() * w[2] - y;
    d * d
}
fn product(x: f32, y: f32) -> f32 { x * y * y }
fn integral(a: &[f32], n: u32) -> f32 {
    let mut sum = 0.0;
    for i in 0..n as usize { sum = sum * sum * 0.5 + a[i % a.len()] }
    sum
}
fn attraction(bodies: &[[f32; 4]], x: f32, y: f32, z: f32) -> f32 {
    let mut potential = 0.0;
    for b in bodies {
        let (dx, dy, dz) = (b[0] - x, b[1] - y, b[2] - z);
        potential -= b[3] / (dx * dx + dy * dy + dz * dz + 1e-3).sqrt();
    }
    potential
}

autodiff! {
    fn loss_gradient(w: &[f32], g: &mut [f32], x: f32, y: f32, seed: f32)
        = reverse loss(shared, constant, constant);
    fn slope(x: f32, dx: f32, y: f32) -> f32 = forward product(active, constant);
    fn value_and_slope(x: f32, dx: f32, y: f32, dy: f32) -> [f32; 2]
        = forward_with_value product(active, active);
    fn both(x: f32, y: f32, seed: f32) -> [f32; 2] = reverse product(active, active);
    fn all(x: f32, y: f32, seed: f32) -> [f32; 3] = reverse_with_value product(active, active);
    fn integral_gradient(a: &[f32], da: &mut [f32], n: u32, seed: f32, tape: &mut [u64])
        = reverse integral(duplicated, constant);
    fn force(bodies: &[[f32; 4]], x: f32, y: f32, z: f32, seed: f32) -> [f32; 3]
        = reverse attraction(constant, active, active, active);
}

fn all_of<T>(slice: &mut DisjointSlice<T>) -> &'static mut [T] {
    unsafe { core::slice::from_raw_parts_mut(slice.as_mut_ptr(), slice.len()) }
}

#[kernel]
pub fn fit(w: &[f32], mut g: DisjointSlice<f32>, x: &[f32], y: &[f32]) {
    let i = thread::index_1d().get();
    if i < x.len() { loss_gradient(w, all_of(&mut g), x[i], y[i], 1.0) }
}

#[kernel]
pub fn products(x: &[f32], mut out: DisjointSlice<f32>) {
    let i = thread::index_1d();
    let x = x[i.get()];
    let sums = slope(x, 1.0, 2.0) + value_and_slope(x, 1.0, x, 2.0)[1] + both(x, 3.0, 1.0)[1]
        + all(x, 3.0, 1.0)[2];
    if let Some(out) = out.get_mut(i) { *out = sums }
}

#[kernel]
pub fn integrals(a: &[f32], n: u32, mut g: DisjointSlice<f32>, mut tape: DisjointSlice<u64>) {
    integral_gradient(a, all_of(&mut g), n, 1.0, all_of(&mut tape));
}

#[kernel]
pub fn forces(bodies: &[f32], mut out: DisjointSlice<f32>) {
    let bodies = unsafe { core::slice::from_raw_parts(bodies.as_ptr().cast::<[f32; 4]>(), bodies.len() / 4) };
    let i = thread::index_1d();
    let b = bodies[i.get()];
    let [x, y, z] = force(bodies, b[0], b[1], b[2], -1.0);
    if let Some(out) = out.get_mut(i) { *out = x + y + z }
}
";

/// Acceptance: C22.
#[test]
fn kernels_with_derivatives_compile_for_every_target() {
    let compiler = with_plugin();
    for target in TARGETS {
        let artifact = compile(&compiler, "derivatives", KERNELS, target)
            .unwrap_or_else(|error| panic!("{target}: {error}"));
        assert_eq!(artifact.kernels.len(), 4, "{target}");
    }
    let (source, lowered) = lower("derivatives", KERNELS);
    let config = Config::new("compute_90".parse().unwrap());
    let ptx = compiler.assembly(&job("derivatives", &source, &lowered, &config)).unwrap();
    let add =
        ["red.relaxed", "atom.relaxed", "atom.add", "red.add", "atom.global.add", "red.global"];
    assert!(add.iter().any(|add| ptx.contains(add)), "no atomic addition: {ptx}");
    assert!(!ptx.contains("__kernelmill_autodiff"), "{ptx}");
}

/// Gravity of bodies and the price of an option, with their gradients, for the figures of
/// `docs/src/guide/autodiff.md`.
const FIGURES: &str = "
use kernelmill_device::prelude::*;

fn attraction(bodies: &[[f32; 4]], x: f32, y: f32, z: f32) -> f32 {
    let mut potential = 0.0;
    for b in bodies {
        let (dx, dy, dz) = (b[0] - x, b[1] - y, b[2] - z);
        potential -= b[3] / (dx * dx + dy * dy + dz * dz + 1e-3).sqrt();
    }
    potential
}
fn normal(x: f32) -> f32 { 0.5 * (1.0 + (0.797_884_6 * (x + 0.044_715 * x * x * x)).tanh()) }
fn price(s: f32, k: f32, t: f32, r: f32, v: f32) -> f32 {
    let root = v * t.sqrt();
    let a = ((s / k).ln() + (r + 0.5 * v * v) * t) / root;
    s * normal(a) - k * (-r * t).exp() * normal(a - root)
}
autodiff! {
    fn force(bodies: &[[f32; 4]], x: f32, y: f32, z: f32, seed: f32) -> [f32; 3]
        = reverse attraction(constant, active, active, active);
    fn push(bodies: &[[f32; 4]], x: f32, dx: f32, y: f32, dy: f32, z: f32, dz: f32) -> f32
        = forward attraction(constant, active, active, active);
    fn greeks(s: f32, k: f32, t: f32, r: f32, v: f32, seed: f32) -> [f32; 5]
        = reverse price(active, active, active, active, active);
    fn delta(s: f32, ds: f32, k: f32, t: f32, r: f32, v: f32) -> f32
        = forward price(active, constant, constant, constant, constant);
}
fn all(bodies: &[f32]) -> &[[f32; 4]] {
    unsafe { core::slice::from_raw_parts(bodies.as_ptr().cast::<[f32; 4]>(), bodies.len() / 4) }
}
#[kernel]
pub fn gravity(bodies: &[f32], mut out: DisjointSlice<f32>) {
    let (i, bodies) = (thread::index_1d(), all(bodies));
    let b = bodies[i.get()];
    if let Some(out) = out.get_mut(i) { *out = attraction(bodies, b[0], b[1], b[2]) }
}
#[kernel]
pub fn gravity_reverse(bodies: &[f32], mut out: DisjointSlice<f32>) {
    let (i, bodies) = (thread::index_1d(), all(bodies));
    let b = bodies[i.get()];
    let [x, y, z] = force(bodies, b[0], b[1], b[2], -1.0);
    if let Some(out) = out.get_mut(i) { *out = x + y + z }
}
#[kernel]
pub fn gravity_forward(bodies: &[f32], mut out: DisjointSlice<f32>) {
    let (i, bodies) = (thread::index_1d(), all(bodies));
    let b = bodies[i.get()];
    if let Some(out) = out.get_mut(i) { *out = push(bodies, b[0], 1.0, b[1], 0.5, b[2], 0.25) }
}
#[kernel]
pub fn prices(s: &[f32], mut out: DisjointSlice<f32>) {
    let i = thread::index_1d();
    let s = s[i.get()];
    if let Some(out) = out.get_mut(i) { *out = price(s, 100.0, 1.5, 0.02, 0.3) }
}
#[kernel]
pub fn prices_reverse(s: &[f32], mut out: DisjointSlice<f32>) {
    let i = thread::index_1d();
    let [a, b, c, d, e] = greeks(s[i.get()], 100.0, 1.5, 0.02, 0.3, 1.0);
    if let Some(out) = out.get_mut(i) { *out = a + b + c + d + e }
}
#[kernel]
pub fn prices_forward(s: &[f32], mut out: DisjointSlice<f32>) {
    let i = thread::index_1d();
    let s = s[i.get()];
    if let Some(out) = out.get_mut(i) { *out = delta(s, 1.0, 100.0, 1.5, 0.02, 0.3) }
}
";

#[test]
fn gradients_need_few_more_registers_than_their_functions_on_sm_90() {
    let (source, lowered) = lower("figures", FIGURES);
    let config = Config::new("compute_90".parse().unwrap());
    let ptx = with_plugin().assembly(&job("figures", &source, &lowered, &config)).unwrap();
    let Some(ptxas) = test_support::tool::nvidia("ptxas") else { return };
    let folder = test_support::temporary_folder();
    let file = test_support::write_file(&folder, "figures.ptx", ptx);
    let output = file.with_extension("cubin");
    let mut command = std::process::Command::new(ptxas);
    command.args(["-arch=sm_90", "-v"]).arg(&file).arg("-o").arg(&output);
    let result = command.output().unwrap();
    let text = String::from_utf8_lossy(&[result.stdout, result.stderr].concat()).into_owned();
    assert!(result.status.success(), "{text}");
    let registers = |kernel: &str| -> u32 {
        let (_, rest) = text.split_once(&format!("entry function '{kernel}'")).expect("a kernel");
        let spills = rest.split_once("bytes spill stores").expect("spills").0;
        assert!(spills.trim_end().ends_with(" 0"), "{kernel} spills: {text}");
        let (_, used) = rest.split_once("Used ").expect("registers");
        used.split(' ').next().unwrap().parse().unwrap()
    };
    for (kernel, most) in [("gravity", 48), ("prices", 48)] {
        let [own, reverse, forward] =
            ["", "_reverse", "_forward"].map(|suffix| registers(&format!("{kernel}{suffix}")));
        println!("{kernel}: {own} registers, reverse {reverse}, forward {forward}");
        assert!(reverse <= most && forward <= most, "{own} {reverse} {forward}");
    }
}

/// Acceptance: S2.5.
#[test]
fn kernels_without_derivatives_are_the_same_with_the_plugin() {
    const PLAIN: &str = "
use kernelmill_device::prelude::*;
#[kernel]
pub fn plain(x: &[f32], mut out: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) { *out = x[i.get()].sin() }
}
";
    for target in TARGETS {
        let with = compile(&with_plugin(), "plain", PLAIN, target).unwrap();
        let without = compile(compiler(), "plain", PLAIN, target).unwrap();
        assert_eq!(with.bytes, without.bytes, "{target}");
    }
}

/// What is said of a declaration in `autodiff!`.
fn refused(name: &str, functions: &str, declaration: &str) -> String {
    let text = format!(
        "use kernelmill_device::prelude::*;
{functions}
autodiff! {{ {declaration} }}
#[kernel]
pub fn k(x: &[f32], mut out: DisjointSlice<f32>) {{
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {{ *out = derivative(x[0], 1.0) }}
}}
"
    );
    compile(&with_plugin(), name, &text, "compute_75").map(drop).unwrap_err().to_string()
}

#[test]
fn what_does_not_fit_is_refused_at_its_line() {
    const SQUARE: &str = "fn f(x: f32) -> f32 { x * x }";
    for (name, functions, declaration, expected) in [
        (
            "mode",
            SQUARE,
            "fn derivative(x: f32, dx: f32) -> f32 = backwards f(active);",
            "`backwards` is not a mode: write forward, reverse, forward_with_value or reverse_with_value",
        ),
        (
            "activity",
            SQUARE,
            "fn derivative(x: f32, dx: f32) -> f32 = forward f(dual);",
            "`dual` is not an activity: write constant, active, duplicated or shared",
        ),
        (
            "too_few",
            SQUARE,
            "fn derivative(x: f32, dx: f32) -> f32 = forward f(constant);",
            "1 parameters are left over",
        ),
        (
            "tape",
            "fn f(x: f32) -> f32 { let (mut y, mut i) = (x, 0.0); while i < x { y = y * y; i += 0.5 } y }",
            "fn derivative(x: f32, seed: f32) -> f32 = reverse f(active);",
            "add `tape: &mut [u64]` as the last parameter",
        ),
        (
            "barrier",
            "fn f(x: f32) -> f32 { let y = x * x; thread::sync_threads(); y * x }",
            "fn derivative(x: f32, seed: f32) -> f32 = reverse f(active);",
            "`barrier::f` has no derivative: kernels/barrier.rs:2:38: a barrier has no derivative",
        ),
        (
            "warp",
            "fn f(x: f32) -> f32 { let y = x * x; warp::sync(); y * x }",
            "fn derivative(x: f32, dx: f32) -> f32 = forward f(active);",
            "a warp-level primitive has no derivative; keep it out of the function",
        ),
        (
            "body",
            "fn f(x: f32) -> f32 { f32::from_bits(x.to_bits() + 1) }",
            "fn derivative(x: f32, dx: f32) -> f32 = forward f(active);",
            "`body::f` has no derivative: kernels/body.rs:2:40: the bits of an active number",
        ),
        (
            "packed",
            "fn f(a: &[f32; 2]) -> f32 {
                // SAFETY: the elements, which are initialised.
                let both = unsafe { a.as_ptr().cast::<u64>().read_unaligned() };
                f32::from_bits((both >> 32) as u32 ^ (both as u32 & 1)) * a[0]
            }
            fn derivative(x: f32, y: f32) -> f32 { let mut d = [0.0; 2]; gradient(&[x; 2], &mut d, y); d[0] }",
            "fn gradient(a: &[f32; 2], d: &mut [f32; 2], seed: f32) = reverse f(duplicated);",
            "LLVM passes and returns arrays of a few numbers as integers; pass such arrays by reference, or \
             as structs",
        ),
        (
            "from_bits",
            "fn f(a: &[u32; 2], b: &mut [f32; 2]) { b[0] *= b[1]; b[1] = f32::from_bits(b[0].to_bits() ^ a[0]) }
            fn derivative(x: f32, y: f32) -> f32 { let (mut b, mut d) = ([x, y], [0.0; 2]); gradient(&[1, 2], &mut b, &mut d); d[0] }",
            "fn gradient(a: &[u32; 2], b: &mut [f32; 2], d: &mut [f32; 2]) = forward f(constant, duplicated);",
            "the bits of an active number are used as an integer",
        ),
    ] {
        let message = refused(name, functions, declaration);
        assert!(message.contains(expected), "{name}: {message}");
        assert!(message.contains(&format!("kernels/{name}.rs:")), "{name}: {message}");
        assert!(message.contains("by the plugin `autodiff`"), "{name}: {message}");
    }
}

/// What rustc says of a function and the declaration of its derivative; nothing where it compiles them.
fn refused_by_rustc(name: &str, text: &str) -> Option<String> {
    let text = format!("use kernelmill_device::prelude::*;\n#[kernel] pub fn k() {{}}\n{text}");
    match compiler().lower_rust(&common::source(name, &text)) {
        Ok(_) => None,
        Err(Error::Rustc { stderr }) => Some(stderr),
        Err(error) => panic!("{name}: {error}"),
    }
}

const SUM: &str = "fn f(x: &[f32], scale: f32) -> f32 { x.iter().sum::<f32>() * scale }";

#[test]
fn types_that_do_not_fit_are_refused_where_they_are_declared() {
    const SQUARE: &str = "fn f(x: f32) -> f32 { x * x }";
    const WRITE: &str = "fn f(x: &mut [f32]) { x[0] *= x[1] }";
    for (name, function, declaration, expected) in [
        (
            "number",
            SQUARE,
            "fn d(x: f32, dx: f32) -> f32 = reverse f(duplicated);",
            "is not a shadow of",
        ),
        (
            "result",
            SQUARE,
            "fn d(x: f32, seed: f32) -> &'static f32 = reverse f(active);",
            "mismatched types",
        ),
        (
            "results",
            "fn f(x: f32, y: f32) -> f32 { x * y }",
            "fn d(x: f32, y: f32, seed: f32) -> f32 = reverse f(active, active);",
            "mismatched types",
        ),
        (
            "with_value",
            SQUARE,
            "fn d(x: f32, dx: f32) -> [u32; 2] = forward_with_value f(active);",
            "mismatched types",
        ),
        (
            "tangent",
            SQUARE,
            "fn d(x: f32, dx: u32) -> f32 = forward f(active);",
            "mismatched types",
        ),
        (
            "own",
            SUM,
            "fn d(x: &[u32], g: &mut [u32], s: f32, seed: f32) = reverse f(duplicated, constant);",
            "mismatched types",
        ),
        (
            "boxed",
            "fn f(x: &f32) -> f32 { *x }",
            "fn d(x: &Box<f32>, g: &mut Box<f32>, seed: f32) = reverse f(duplicated);",
            "mismatched types",
        ),
        (
            "shared_reference",
            SUM,
            "fn d(x: &[f32], g: &[f32], s: f32, seed: f32) = reverse f(duplicated, constant);",
            "is not a shadow of",
        ),
        (
            "other_elements",
            SUM,
            "fn d(x: &[f32], g: &mut [f64], s: f32, seed: f32) = reverse f(duplicated, constant);",
            "is not a shadow of",
        ),
        (
            "not_written",
            WRITE,
            "fn d(x: &mut [f32], dx: &[f32]) = forward f(duplicated);",
            "is not a shadow of",
        ),
        (
            "array",
            "fn f(x: &[f32; 4]) -> f32 { x[3] }",
            "fn d(x: &[f32; 4], g: &mut [f32; 2], seed: f32) = reverse f(duplicated);",
            "is not a shadow of",
        ),
        (
            "owner",
            "fn f(x: &mut Box<f32>) { **x *= 2.0 }",
            "fn d(x: &mut Box<f32>, g: &mut Box<f32>) = reverse f(duplicated);",
            "the trait `Shadow` is not implemented for `Box<f32>`",
        ),
        (
            "atomics",
            WRITE,
            "fn d(x: &mut [f32], g: &[atomic::AtomicF32]) = reverse f(shared);",
            "is not a shadow of",
        ),
        (
            "forward_atomics",
            SUM,
            "fn d(x: &[f32], g: &[atomic::AtomicF32], s: f32) -> f32 = forward f(shared, constant);",
            "is not a shadow of",
        ),
        (
            "bytes",
            SUM,
            "fn d(x: &[f32], g: &mut [f32], s: f32, seed: f32, tape: &mut [u8]) = reverse f(duplicated, constant);",
            "cannot be the last parameters",
        ),
        (
            "shared_tape",
            SUM,
            "fn d(x: &[f32], g: &mut [f32], s: f32, seed: f32, tape: &[u64]) = reverse f(duplicated, constant);",
            "cannot be the last parameters",
        ),
        (
            "seed",
            SUM,
            "fn d(x: &[f32], g: &mut [f32], s: f32, seed: u32) = reverse f(duplicated, constant);",
            "cannot be the last parameters",
        ),
        (
            "unsafe_function",
            "unsafe fn f(x: *const f32) -> f32 { unsafe { *x } }",
            "fn d(x: *const f32, seed: f32) = reverse f(constant);",
            "mismatched types",
        ),
        (
            "pointers",
            "fn f(x: *const f32) -> f32 { let _ = x; 0.0 }",
            "fn d(x: *const f32, g: *mut f32, seed: f32) = reverse f(duplicated);",
            "is not a shadow of",
        ),
        (
            "rule",
            "fn f(x: f32) -> f32 { g(x) } fn g(x: f32) -> f32 { x } fn dg(x: f64) -> f64 { x }",
            "fn d(x: f32, dx: f32) -> f32 = forward f(active) where g => (dg);",
            "mismatched types",
        ),
        (
            "unsafe_rule",
            "fn f(x: f32) -> f32 { g(x) } fn g(x: f32) -> f32 { x } unsafe fn dg(x: f32) -> f32 { x }",
            "fn d(x: f32, dx: f32) -> f32 = forward f(active) where g => (dg);",
            "`unsafe fn(f32) -> f32` cannot have a rule, or be one",
        ),
        (
            "lifetime",
            "fn f(x: &'static [f32]) -> f32 { x[0] }",
            "fn d(x: &[f32], seed: f32) = reverse f(constant);",
            "mismatched types",
        ),
    ] {
        let text = format!("{function}\nautodiff! {{ pub {declaration} }}");
        let message = refused_by_rustc(name, &text).unwrap_or_else(|| panic!("{name} is compiled"));
        assert!(message.contains(expected), "{name}: {message}");
        assert!(message.contains(&format!("kernels/{name}.rs:4")), "{name}: {message}");
    }
}

#[test]
fn an_unsafe_derivative_can_be_that_of_an_unsafe_function() {
    for (name, text) in [
        ("of_safe", "fn f(x: f32) -> f32 { x * x }\nautodiff! { pub unsafe fn d(x: f32, dx: f32) -> f32 = forward f(active); }"),
        (
            "of_unsafe",
            "unsafe fn f(x: *const f32) -> f32 { unsafe { *x } }
             autodiff! { pub unsafe fn d(x: *const f32, g: *mut f32, seed: f32) = reverse f(duplicated); }",
        ),
    ] {
        assert_eq!(refused_by_rustc(name, text), None);
    }
    let call = "fn f(x: f32) -> f32 { x * x }
autodiff! { unsafe fn d(x: f32, dx: f32) -> f32 = forward f(active); }
pub fn call(x: f32) -> f32 { d(x, 1.0) }";
    let message = refused_by_rustc("called", call).unwrap();
    assert!(message.contains("call to unsafe function"), "{message}");
}

#[test]
fn shadows_of_references_are_refused() {
    let compile = |name: &str, text: &str, safety: &str, block: &str| {
        let text = format!(
            "use kernelmill_device::prelude::*;
{text}
fn all_of<T>(slice: &mut DisjointSlice<T>) -> &'static mut [T] {{
    unsafe {{ core::slice::from_raw_parts_mut(slice.as_mut_ptr(), slice.len()) }}
}}
autodiff! {{ {safety} fn d(x: &[Row], g: &mut [Row], seed: f32) = reverse f(duplicated); }}
#[kernel]
pub fn k(x: &[f32], mut g: DisjointSlice<f32>) {{
    let mut rows = [row(all_of(&mut g))];
    {block} {{ d(&[row(x)], &mut rows, 1.0) }}
}}
"
        );
        let source = common::source(name, &text);
        let lowered = compiler().lower_rust(&source).unwrap_or_else(|error| panic!("{error}"));
        let config = Config::new("cpu".parse().unwrap());
        with_plugin().compile(&job(name, &source, &lowered, &config)).map(drop)
    };
    const POINTERS: &str = "#[derive(Clone, Copy)] pub struct Row(*const f32, usize);
unsafe impl kernelmill_device::Shadow for Row {}
fn f(x: &[Row]) -> f32 { let mut sum = 0.0; for row in x { sum += unsafe { *row.0 } } sum }
fn row(x: &[f32]) -> Row { Row(x.as_ptr(), x.len()) }";
    let message = compile("rows", POINTERS, "", "").unwrap_err().to_string();
    let expected = "memory that has a shadow holds references";
    assert!(message.contains(expected) && message.contains("kernels/rows.rs:4:"), "{message}");
    compile("unsafe_rows", POINTERS, "unsafe", "unsafe").unwrap();
}

/// Each with a derivative without a tape: whether one is needed is the same for every target.
#[test]
fn one_signature_fits_every_target() {
    const FUNCTIONS: &[&str] = &[
        "let mut y = 1.0; for x in x { y = (y * x).sin() } y",
        "let mut y = 1.0; for x in x { if *x > 0.0 { y *= y + x } else { y = y * 0.5 } } y",
        "let mut y = 1.0; for x in x { y = y * x; if y > 9.0 { break } } y",
        "x.windows(2).map(|x| x[0] * x[1]).fold(0.0, |y: f32, x| y * y - x)",
        "x.chunks_exact(4).map(|x| x.iter().product::<f32>()).fold(1.0, |y: f32, x| y.cos() * x)",
        "let mut y = 1.0; for i in (0..24).step_by(3) { y = y * y * x[i] } y",
        "let mut z = *x; for i in 1..24 { z[i] = z[i] * z[i - 1] } z.iter().map(|z| z * z).sum()",
    ];
    let compiler = with_plugin();
    let mut accepted = 0;
    for (index, body) in FUNCTIONS.iter().enumerate() {
        let text = format!(
            "use kernelmill_device::prelude::*;
fn f(x: &[f32; 24]) -> f32 {{ {body} }}
autodiff! {{ fn d(x: &[f32; 24], g: &mut [f32; 24], seed: f32) = reverse f(duplicated); }}
#[kernel]
pub fn k(x: &[[f32; 24]], mut g: DisjointSlice<[f32; 24]>) {{
    let i = thread::index_1d();
    if let Some(g) = g.get_mut(i) {{ d(&x[i.get()], g, 1.0) }}
}}
"
        );
        let compiled = TARGETS.map(|target| {
            let result = compile(&compiler, &format!("signature_{index}"), &text, target);
            let message = result.map_or_else(|error| error.to_string(), |_| String::new());
            assert!(message.is_empty() || message.contains("needs a tape"), "{target}: {message}");
            message.is_empty()
        });
        assert!(compiled.iter().all(|it| *it == compiled[0]), "{body}: {compiled:?}");
        accepted += usize::from(compiled[0]);
    }
    assert!(accepted > 3, "{accepted}");
}

/// How often a loop over pairs is repeated is known when it begins, by a function that rustc has made in the device crate alone.
#[test]
fn pairs_of_slices_need_no_tape() {
    const LOOP: &str = "let mut sum = 0.0; for (x, y) in x.iter().zip(y) { sum += x * y } sum";
    for (name, body) in [("loop", LOOP), ("sum", "x.iter().zip(y).map(|(x, y)| x * y).sum()")] {
        let text = format!(
            "use kernelmill_device::prelude::*;
fn f(x: &[f32], y: &[f32]) -> f32 {{ {body} }}
autodiff! {{ fn d(x: &[f32], g: &mut [f32], y: &[f32], seed: f32) = reverse f(duplicated, constant); }}
#[kernel]
pub fn k(x: &[f32], y: &[[f32; 2]], mut g: DisjointSlice<[f32; 2]>) {{
    let i = thread::index_1d();
    if let Some(g) = g.get_mut(i) {{ d(x, g, &y[i.get()], 1.0) }}
}}
"
        );
        for target in TARGETS {
            compile(&with_plugin(), &format!("pairs_{name}"), &text, target)
                .unwrap_or_else(|error| panic!("{name} {target}: {error}"));
        }
    }
}

#[test]
fn lengths_of_shadows_are_tested_when_they_are_not_known() {
    for (name, ty, panics) in [("slices", "[f32]", true), ("arrays", "[f32; 4]", false)] {
        let text = format!(
            "use kernelmill_device::prelude::*;
fn f(x: &{ty}) -> f32 {{ x.iter().map(|x| x * x).sum() }}
autodiff! {{ fn d(x: &{ty}, g: &mut {ty}, seed: f32) = reverse f(duplicated); }}
fn of(x: &{ty}, g: &mut {ty}) {{ d(x, g, 1.0) }}
#[kernel]
pub unsafe fn k(x: &[f32], mut g: DisjointSlice<f32>) {{
    let (from, to) = (x.as_ptr(), g.as_mut_ptr());
    let (from, to) = (core::ptr::slice_from_raw_parts(from, x.len()), core::ptr::slice_from_raw_parts_mut(to, g.len()));
    unsafe {{ of(&*(from as *const {ty}), &mut *(to as *mut {ty})) }}
}}
"
        );
        let artifact = compile(&with_plugin(), name, &text, "compute_75").unwrap();
        assert_eq!(artifact.kernels[0].panics, panics, "{name}");
    }
}

/// Zero is no value of a reference, which rustc finds when it compiles the derivative of a type that is said to be
/// one of shadows. Without that it finds the field.
#[test]
fn shadows_are_of_types_that_can_be_zero() {
    const SAID: &str = "unsafe impl kernelmill_device::Shadow for Row {}";
    const SHOWN: &str = "shadow!(Row { value, other });";
    for (name, ty, said, error) in [
        ("reference", "&'static f32", SAID, "E0080"),
        ("not_zero", "core::num::NonZeroU32", SAID, "E0080"),
        ("reference_field", "&'static f32", SHOWN, "E0277"),
        ("not_zero_field", "core::num::NonZeroU32", SHOWN, "E0277"),
        ("enum_field", "Option<f32>", SHOWN, "E0277"),
    ] {
        let text = format!(
            "#[derive(Clone, Copy)] pub struct Row {{ value: f32, other: {ty} }}
{said}
fn f(x: &[Row]) -> f32 {{ x[0].value }}
autodiff! {{ pub fn d(x: &[Row], g: &mut [Row], seed: f32) = reverse f(duplicated); }}"
        );
        let message = refused_by_rustc(name, &text).unwrap_or_else(|| panic!("{name} is compiled"));
        assert!(message.contains(error), "{name}: {message}");
    }
}

/// A derivative zeroed a private number, and wrote a gradient into another, which their module never does.
#[test]
fn private_fields_are_not_written() {
    let text = |said: &str| {
        format!(
            "mod table {{
    #[derive(Clone, Copy)] pub struct Place {{ pub weight: f32, index: usize }}
    impl Place {{ pub fn of(self, x: &[f32; 6]) -> f32 {{ self.weight * x[self.index] }} }}
    {said}
}}
use table::Place;
fn f(place: &Place, x: &[f32; 6]) -> f32 {{ place.of(x) }}
autodiff! {{ pub fn d(place: &Place, g: &mut Place, x: &[f32; 6], seed: f32) = reverse f(duplicated, constant); }}"
        )
    };
    let message = refused_by_rustc("private", &text("")).expect("it is compiled");
    assert!(message.contains("`&Place` cannot have a shadow"), "{message}");
    assert!(message.contains("`kernelmill_device::shadow!`"), "{message}");
    let message =
        refused_by_rustc("hidden", &format!("{}\nshadow!(Place {{ weight, index }});", text("")));
    let message = message.expect("it is compiled");
    assert!(message.contains("field `index`") && message.contains("private"), "{message}");
    // The module itself may say so.
    let shown = text("kernelmill_device::shadow!(Place { weight, index });");
    assert_eq!(refused_by_rustc("shown", &shown), None);
}

/// Check 22 of the survey: in code that nothing optimised the marker is called before the plugin works, and the
/// derivative after it.
///
/// Acceptance: C22.
#[test]
fn check_22_a_marked_call_becomes_a_call_of_the_derivative() {
    let text = "
use kernelmill_device::prelude::*;
fn square(x: f32) -> f32 { x * x }
autodiff! { fn slope(x: f32, dx: f32) -> f32 = forward square(active); }
#[kernel]
pub fn slopes(mut out: DisjointSlice<f32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) { *out = slope(*out, 1.0) }
}
";
    let (source, lowered) = lower("marked_calls", text);
    for target in ["compute_75", "gfx1100", "cpu"] {
        let mut config = Config::new(target.parse().unwrap());
        for step in ["libraries", "optimize", "cleanup", "validate", "toplevel"] {
            config.options.set(step, "false").unwrap();
        }
        let calls = |compiler: &Compiler, name: &str| {
            let module =
                compiler.inspect(&job("marked_calls", &source, &lowered, &config)).unwrap();
            let is_call = |line: &&str| line.contains(" call ") && line.contains(name);
            module.lines().filter(is_call).count()
        };
        let [marker, derivative] =
            ["__kernelmill_autodiff.slope", "__kernelmill_derivative_forward_"];
        let found =
            [compiler(), &with_plugin()].map(|it| [calls(it, marker), calls(it, derivative)]);
        assert_eq!(found, [[1, 0], [0, 1]], "{target}: the marker, the derivative");
    }
}

/// Acceptance: S2.10.
#[test]
fn without_the_plugin_a_derivative_is_refused() {
    let text = "
use kernelmill_device::prelude::*;
fn f(x: f32) -> f32 { x * x }
autodiff! { fn derivative(x: f32, dx: f32) -> f32 = forward f(active); }
#[kernel]
pub fn k(mut out: DisjointSlice<f32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) { *out = derivative(*out, 1.0) }
}
";
    let error = compile(compiler(), "missing", text, "compute_75").map(drop).unwrap_err();
    let message = error.to_string();
    assert!(
        message.contains("autodiff.derivative.forward.active_.safe` was not replaced"),
        "{message}"
    );
    assert!(message.contains("register the plugin that replaces it"), "{message}");
}

#[test]
fn a_rule_of_the_sources_is_used() {
    let text = "
use kernelmill_device::prelude::*;
fn f(x: f32) -> f32 { f32::from_bits(x.to_bits()) }
fn slope_of_f(x: f32) -> f32 { x * 12345.0 }
fn g(x: f32) -> f32 { f(x) + x }
autodiff! { fn derivative(x: f32, dx: f32) -> f32 = forward g(active) where f => (slope_of_f); }
#[kernel]
pub fn k(mut out: DisjointSlice<f32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) { *out = derivative(*out, 1.0) }
}
";
    let (source, lowered) = lower("ruled", text);
    let config = Config::new("compute_75".parse().unwrap());
    let ptx = with_plugin().assembly(&job("ruled", &source, &lowered, &config)).unwrap();
    // 12345 as the bits of a float.
    assert!(ptx.contains("0f4640E400"), "{ptx}");
}

/// Check 8 of plugins (S2.8) for rules: those of a source are in its bitcode, whose digest is in the key
/// of an artifact, and those of the table in the plugin's version.
/// Acceptance: S2.8.
#[test]
fn check_08_all_rules_are_in_what_keys_are_made_of() {
    let modules = |rules: &str| {
        let text = format!(
            "use kernelmill_device::prelude::*;
fn f(x: f32) -> f32 {{ x * x }}
fn twice(x: f32) -> f32 {{ 2.0 * x }}
fn thrice(x: f32) -> f32 {{ 3.0 * x }}
autodiff! {{ fn derivative(x: f32, dx: f32) -> f32 = forward f(active) {rules}; }}
#[kernel]
pub fn k(mut out: DisjointSlice<f32>) {{
    if let Some(out) = out.get_mut(thread::index_1d()) {{ *out = derivative(twice(*out), thrice(*out)) }}
}}
"
        );
        lower("rules_in_keys", &text).1.modules
    };
    let all = ["", "where f => (twice)", "where f => (thrice)"].map(modules);
    assert!(all[0] != all[1] && all[1] != all[2] && all[0] != all[2]);
    let sources = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let digest = kernelmill_artifact::source_digest(&[&sources]).unwrap();
    assert!(kernelmill_autodiff::plugin().version().ends_with(&digest));
}

//! What derivatives are asked for and given, beyond their numbers.

mod common;

use common::{
    module_of, module_of_text,
    native::{Native, add_entry},
};
use kernelmill_autodiff::{
    Activity::{self, Active, Constant, Duplicated, Shared},
    Derivative, Error, Mode, Request, Rules, Session, Tape, TapeLimit,
};
use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::ModuleExt,
    machine::Machine,
};
use test_support::snapshot::{self, Markers};

const SOURCE: &str = "
#[inline(never)]
fn softplus(x: f64) -> f64 { (1.0 + x.exp()).ln() }
// Not its derivative, so that it is seen to be used.
#[unsafe(no_mangle)]
pub fn wrong_logistic(x: f64) -> f64 { 42.0 + x }
#[unsafe(no_mangle)]
pub fn user(x: f64, y: f64) -> f64 { softplus(x * y) * x }
#[unsafe(no_mangle)]
pub fn squares(x: &[f64]) -> f64 { let mut sum = 0.0; for v in x { sum += v * v } sum }
#[unsafe(no_mangle)]
pub fn repeated(x: f64, n: u64) -> f64 {
    let (mut y, mut i) = (x, 0);
    while i < n { y = y * y * 0.5 + x; i += 1 }
    y
}
#[unsafe(no_mangle)]
pub fn power(x: f64, n: u64) -> f64 { if n == 0 { 1.0 } else { x * power(x, n - 1) } }
#[inline(never)]
fn apart(x: f64) -> f64 { x * x + 1.0 }
#[unsafe(no_mangle)]
pub fn twice(x: f64, y: f64) -> f64 { apart(x) * apart(y) }
";

/// A module, and what is done in it.
fn with_module(source: &str, run: impl for<'c> FnOnce(&'c Context, &Machine, &Module<'c>)) {
    let machine = common::machine();
    let context = Context::create();
    let name = std::thread::current().name().unwrap_or("test").replace("::", "_");
    let module = module_of(&context, &machine, &format!("{name}.rs"), source);
    run(&context, &machine, &module);
}

fn derivative_of<'c>(
    context: &'c Context,
    machine: &Machine,
    module: &Module<'c>,
    request: &Request,
) -> Result<Derivative, Error> {
    let mut rules = Rules::default();
    let name = module.functions().into_iter().find(|it| it.name().contains("8softplus"));
    if let Some(name) = name {
        rules.custom(&name.name(), &["wrong_logistic"]);
    }
    Session::new(context, module, machine, &rules).differentiate(request)
}

/// Runs functions of a module on numbers, as cells.
fn run(native: &Native, symbol: &str, arguments: &[u64]) -> Vec<f64> {
    let mut results = vec![0_u64; 8];
    // SAFETY: the arguments are laid out as the function's parameters.
    unsafe { native.entry(symbol)(arguments.as_ptr(), results.as_mut_ptr()) };
    results.into_iter().map(f64::from_bits).collect()
}

fn request(function: &str, mode: Mode, activities: &[Activity]) -> Request {
    Request::new(function, mode, activities)
}

/// Where a choice leaves a value out, its derivative is 0, however steep it is.
#[test]
fn what_a_choice_leaves_out_has_the_gradient_zero() {
    const CHOICES: &str = "
#[unsafe(no_mangle)] pub fn maximum(x: f64) -> f64 { x.sqrt().max(0.5) + x }
#[unsafe(no_mangle)] pub fn minimum(x: f64) -> f64 { (1.0 / x).min(3.0) + x }
#[unsafe(no_mangle)] pub fn clamped(x: f64) -> f64 { x.ln().clamp(-2.0, 2.0) + x }
#[unsafe(no_mangle)] pub fn selected(x: f64) -> f64 { let root = x.sqrt(); if x > 0.0 { root + x } else { x } }
#[unsafe(no_mangle)] pub fn branch(x: f64) -> f64 {
    let root = x.sqrt();
    if x > 0.0 { let mut y = root; for i in 0..9 { y = y.sin() * x + i as f64 } y + x } else { x }
}
#[unsafe(no_mangle)] pub fn loops(x: f64) -> f64 {
    let mut sum = x;
    for i in 0..4 { let root = (x * i as f64).sqrt(); if root > 0.0 { sum += root * 0.5 } }
    sum
}
#[unsafe(no_mangle)] pub fn overflow(x: f64) -> f64 { (x * 1e6 + 1e6).exp().min(1e3) + x }
#[unsafe(no_mangle)] pub fn product(x: f64) -> f64 { (x.sqrt() * 3.0).max(0.5) + x }
";
    const NAMES: [&str; 8] =
        ["maximum", "minimum", "clamped", "selected", "branch", "loops", "overflow", "product"];
    with_module(CHOICES, |context, machine, module| {
        let derivatives = NAMES.map(|name| {
            let request = request(name, Mode::Reverse, &[Active]);
            derivative_of(context, machine, module, &request)
                .unwrap_or_else(|error| panic!("{error}"))
        });
        derivatives.iter().for_each(|it| add_entry(context, module, &it.symbol));
        let native = Native::load(context, machine, module, "choices");
        for (name, derivative) in NAMES.iter().zip(&derivatives) {
            let mut buffer = vec![0_u64; 1 << 10];
            let tape = [buffer.as_mut_ptr() as u64, 8 * buffer.len() as u64];
            let arguments = [0_f64.to_bits(), 1_f64.to_bits(), tape[0], tape[1]];
            let count = if matches!(derivative.tape, Tape::Buffer { .. }) { 4 } else { 2 };
            let gradient = run(&native, &derivative.symbol, &arguments[..count])[1];
            assert_eq!(gradient, 1.0, "{name}");
        }
    });
}

#[test]
fn a_rule_of_the_users_wins_over_the_body_in_both_modes() {
    with_module(SOURCE, |context, machine, module| {
        let forward = request("user", Mode::Forward, &[Active, Constant]);
        let reverse = request("user", Mode::Reverse, &[Active, Active]);
        let forward = derivative_of(context, machine, module, &forward).unwrap().symbol;
        let reverse = derivative_of(context, machine, module, &reverse).unwrap().symbol;
        add_entry(context, module, &forward);
        add_entry(context, module, &reverse);
        let native = Native::load(context, machine, module, "custom");
        let (x, y) = (0.3_f64, -0.8_f64);
        let value = (1.0 + (x * y).exp()).ln();
        let slope = 42.0 + x * y;
        let found = run(&native, &forward, &[x.to_bits(), 1.0_f64.to_bits(), y.to_bits()]);
        assert!((found[0] - value * x).abs() < 1e-15, "{found:?}");
        assert!((found[1] - (slope * y * x + value)).abs() < 1e-13, "{found:?}");
        let found = run(&native, &reverse, &[x.to_bits(), y.to_bits(), 1.0_f64.to_bits()]);
        assert!((found[1] - (slope * y * x + value)).abs() < 1e-13, "{found:?}");
        assert!((found[2] - slope * x * x).abs() < 1e-13, "{found:?}");
    });
}

#[test]
fn only_active_parameters_have_gradients_and_the_result_is_returned_if_it_is_kept() {
    with_module(SOURCE, |context, machine, module| {
        let mut all = request("twice", Mode::Reverse, &[Active, Active]);
        let types = |request: &Request| {
            let symbol = derivative_of(context, machine, module, request).unwrap().symbol;
            let ty = ModuleExt::function(module, &symbol).unwrap().value_type();
            format!("{ty:?}")
        };
        assert_eq!(types(&all), "{ double, double, double } (double, double, double)");
        all.activities[1] = Constant;
        assert_eq!(types(&all), "{ double, double } (double, double, double)");
        all.keep_result = false;
        assert_eq!(types(&all), "double (double, double, double)");
        all.mode = Mode::Forward;
        assert_eq!(types(&all), "double (double, double, double)");
        all.activities[1] = Active;
        assert_eq!(types(&all), "double (double, double, double, double)");
        let slice = request("squares", Mode::Reverse, &[Duplicated, Constant]);
        assert_eq!(types(&slice), "double (ptr, ptr, i64, double)");
    });
}

#[test]
fn threads_that_share_a_shadow_add_atomically() {
    const THREADS: usize = 4;
    const CALLS: usize = 2000;
    with_module(SOURCE, |context, machine, module| {
        let text = |activity| {
            let request = request("squares", Mode::Reverse, &[activity, Constant]);
            let derivative = derivative_of(context, machine, module, &request).unwrap();
            let function = ModuleExt::function(module, &derivative.symbol).unwrap();
            (derivative.symbol, format!("{function:?}"))
        };
        assert!(!text(Duplicated).1.contains("atomicrmw"));
        let (symbol, shared) = text(Shared);
        assert!(shared.contains("atomicrmw fadd"), "{shared}");
        add_entry(context, module, &symbol);
        let native = Native::load(context, machine, module, "shared");
        let x = [1.0_f64, 2.0, 3.0];
        let shadow = [0.0_f64; 3];
        let cells = [x.as_ptr() as u64, shadow.as_ptr() as u64, 3, 1.0_f64.to_bits()];
        std::thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| (0..CALLS).for_each(|_| drop(run(&native, &symbol, &cells))));
            }
        });
        let total = (THREADS * CALLS) as f64;
        // SAFETY: the threads that wrote to it have ended.
        let sums: Vec<f64> =
            shadow.iter().map(|sum| unsafe { std::ptr::from_ref(sum).read_volatile() }).collect();
        assert_eq!(sums, x.map(|x| 2.0 * x * total));
    });
}

#[test]
fn a_buffer_that_is_too_small_gives_nan_and_says_what_is_needed() {
    with_module(SOURCE, |context, machine, module| {
        let request = request("repeated", Mode::Reverse, &[Active, Constant]);
        let derivative = derivative_of(context, machine, module, &request).unwrap();
        assert_eq!(derivative.tape, Tape::Buffer { bytes: None });
        add_entry(context, module, &derivative.symbol);
        let native = Native::load(context, machine, module, "buffer");
        let mut buffer = vec![u64::MAX; 256];
        let address = buffer.as_mut_ptr() as u64;
        let gradient = |capacity: u64| {
            let cells = [0.4_f64.to_bits(), 100, 1.0_f64.to_bits(), address, capacity];
            let found = run(&native, &derivative.symbol, &cells);
            // SAFETY: the buffer is alive and has one number at least.
            (found[0], found[1], unsafe { (address as *const u64).read_volatile() })
        };
        let (value, slope, needed) = gradient(64);
        assert!(slope.is_nan() && !value.is_nan(), "{value} {slope}");
        // One number each time around, a header, and what the loop does not need at its end.
        assert!((800..=816).contains(&needed), "{needed}");
        let (again, slope, _) = gradient(needed);
        assert_eq!(value, again);
        let (mut y, mut expected) = (0.4_f64, 1.0);
        for _ in 0..100 {
            (y, expected) = (y * y * 0.5 + 0.4, y * expected + 1.0);
        }
        assert!((slope - expected).abs() < 1e-12, "{slope} {expected}");
        assert!(gradient(needed - 1).1.is_nan());
        // Without room for the header nothing is written.
        buffer[0] = 7;
        assert!(gradient(0).1.is_nan());
        // SAFETY: as above.
        assert_eq!(unsafe { (address as *const u64).read_volatile() }, 7);
    });
}

#[test]
fn the_tape_is_where_the_request_wants_it() {
    let source = "#[unsafe(no_mangle)] pub fn f(x: f64) -> f64 {
        let mut y = x; for _ in 0..200 { y = y * y * 0.5 + x } y }";
    with_module(source, |context, machine, module| {
        let mut request = request("f", Mode::Reverse, &[Active]);
        let tape =
            |request: &Request| derivative_of(context, machine, module, request).unwrap().tape;
        assert_eq!(tape(&request), Tape::Local { bytes: 1600 });
        request.tape = TapeLimit::Local(1599);
        assert_eq!(tape(&request), Tape::Buffer { bytes: Some(1608) });
        request.tape = TapeLimit::Buffer;
        assert_eq!(tape(&request), Tape::Buffer { bytes: Some(1608) });
    });
}

#[test]
fn forward_mode_follows_recursion_and_reverse_refuses_it() {
    with_module(SOURCE, |context, machine, module| {
        let mut wanted = request("power", Mode::Forward, &[Active, Constant]);
        let forward = derivative_of(context, machine, module, &wanted).unwrap().symbol;
        wanted.mode = Mode::Reverse;
        let message = derivative_of(context, machine, module, &wanted).unwrap_err().to_string();
        assert!(message.contains("`power` cannot be differentiated:"), "{message}");
        assert!(message.contains(".rs:18:"), "{message}");
        assert!(message.contains("`power` calls itself"), "{message}");
        add_entry(context, module, &forward);
        let native = Native::load(context, machine, module, "recursive");
        let found = run(&native, &forward, &[3.0_f64.to_bits(), 1.0_f64.to_bits(), 4]);
        assert_eq!(found[..2], [81.0, 108.0]);
    });
}

#[test]
fn a_function_that_is_called_twice_is_differentiated_once() {
    with_module(SOURCE, |context, machine, module| {
        let request = request("twice", Mode::Forward, &[Active, Active]);
        let symbol = derivative_of(context, machine, module, &request).unwrap().symbol;
        let of_callee: Vec<_> = module
            .definitions()
            .into_iter()
            .map(|function| function.name())
            .filter(|name| name.contains("derivative") && name.contains("5apart"))
            .collect();
        assert_eq!(of_callee.len(), 1, "{of_callee:?}");
        add_entry(context, module, &symbol);
        let native = Native::load(context, machine, module, "once");
        let cells = [2.0_f64, 1.0, 3.0, 0.5].map(f64::to_bits);
        assert_eq!(run(&native, &symbol, &cells)[..2], [50.0, 4.0 * 10.0 + 5.0 * 3.0]);
    });
}

#[test]
fn nothing_else_in_the_module_changes() {
    // Numbers of attribute groups and of metadata are LLVM's to give.
    let stable = |text: String| -> String {
        let words = text.split_whitespace();
        words.filter(|word| !word.starts_with(['#', '!'])).collect::<Vec<_>>().join(" ")
    };
    with_module(SOURCE, |context, machine, module| {
        let texts = || {
            let functions = module.definitions().into_iter();
            functions
                .filter(|function| !function.name().contains("derivative"))
                .map(|function| (function.name(), stable(format!("{function:?}"))))
                .collect::<Vec<_>>()
        };
        let before = texts();
        for mode in [Mode::Forward, Mode::Reverse] {
            derivative_of(context, machine, module, &request("user", mode, &[Active; 2])).unwrap();
        }
        assert_eq!(before, texts());
    });
}

#[test]
fn the_same_request_gives_the_same_code() {
    let text = || {
        let mut text = String::new();
        with_module(SOURCE, |context, machine, module| {
            let request = request("repeated", Mode::Reverse, &[Active, Constant]);
            let symbol = derivative_of(context, machine, module, &request).unwrap().symbol;
            text = format!("{:?}", ModuleExt::function(module, &symbol).unwrap());
        });
        text
    };
    assert_eq!(text(), text());
}

#[test]
fn requests_that_do_not_fit_are_refused_with_a_reason() {
    with_module(SOURCE, |context, machine, module| {
        let refused = |function: &str, activities: &[Activity]| {
            let request = request(function, Mode::Reverse, activities);
            derivative_of(context, machine, module, &request).unwrap_err().to_string()
        };
        assert_eq!(
            refused("nothing", &[]),
            "cannot differentiate `nothing`: there is no such function"
        );
        assert_eq!(
            refused("twice", &[Active]),
            "cannot differentiate `twice`: it has 2 parameters, and 1 activities are given"
        );
        assert_eq!(
            refused("squares", &[Active, Constant]),
            "cannot differentiate `squares`: parameter 0 is `ptr`, which cannot be Active: numbers \
             are active, pointers duplicated or shared, all else is constant"
        );
    });
}

const FAULTY: &str = "
unsafe extern \"C\" { fn unknown(x: f64) -> f64; }
pub static mut LAST: f64 = 0.0;
#[unsafe(no_mangle)]
pub fn faulty(x: f64, a: &mut [f64], fixed: &mut [f64], f: fn(f64) -> f64) -> f64 {
    let bits = x.to_bits();
    fixed[0] = x;
    unsafe { LAST = x };
    let y = f(x);
    let z = unsafe { unknown(x) };
    a.copy_within(0..4, 1);
    let first = f64::from_bits(bits + 1);
    first * y + z * a[0]
}
";

#[test]
fn everything_that_has_no_derivative_is_named_with_its_line_at_once() {
    with_module(FAULTY, |context, machine, module| {
        let activities = [Active, Duplicated, Constant, Constant, Constant, Constant];
        let request = request("faulty", Mode::Reverse, &activities);
        let message = derivative_of(context, machine, module, &request).unwrap_err().to_string();
        let message = message
            .replace("everything_that_has_no_derivative_is_named_with_its_line_at_once", "faulty");
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/refusals.txt");
        snapshot::check(path, &format!("{message}\n"));
    });
}

#[test]
fn vectors_and_aggregates_in_registers_have_derivatives() {
    const TEXT: &str = "
define double @f(<4 x double> %v, { double, [2 x double] } %s, i32 %i) {
  %w = fmul <4 x double> %v, %v
  %r = shufflevector <4 x double> %w, <4 x double> %v, <2 x i32> <i32 1, i32 6>
  %a = extractelement <4 x double> %w, i32 %i
  %b = extractelement <2 x double> %r, i32 0
  %c = extractelement <2 x double> %r, i32 1
  %x = extractvalue { double, [2 x double] } %s, 1, 1
  %t = insertvalue { double, [2 x double] } %s, double %a, 1, 0
  %y = extractvalue { double, [2 x double] } %t, 1, 0
  %u = insertelement <2 x double> %r, double %x, i32 %i
  %d = extractelement <2 x double> %u, i32 0
  %ab = fmul double %b, %c
  %xy = fmul double %x, %y
  %sum = fadd double %ab, %xy
  %all = fadd double %sum, %d
  ret double %all
}";
    let machine = common::machine();
    let context = Context::create();
    let module = module_of_text(&context, &machine, TEXT);
    let forward = request("f", Mode::Forward, &[Active, Active, Constant]);
    let reverse = request("f", Mode::Reverse, &[Active, Active, Constant]);
    let forward = derivative_of(&context, &machine, &module, &forward).unwrap();
    let reverse = derivative_of(&context, &machine, &module, &reverse).unwrap();
    // Vectors come in cells of their own: a function around each takes them apart.
    let wrappers = format!(
        "
define void @forward(ptr %in, ptr %out) {{
  %v = load <4 x double>, ptr %in
  %p = getelementptr double, ptr %in, i64 4
  %dv = load <4 x double>, ptr %p
  %q = getelementptr double, ptr %in, i64 8
  %s = load {{ double, [2 x double] }}, ptr %q
  %r = getelementptr double, ptr %in, i64 11
  %ds = load {{ double, [2 x double] }}, ptr %r
  %y = call {{ double, double }} @{forward}(<4 x double> %v, <4 x double> %dv, {{ double, [2 x double] }} %s, {{ double, [2 x double] }} %ds, i32 1)
  store {{ double, double }} %y, ptr %out
  ret void
}}
define void @reverse(ptr %in, ptr %out) {{
  %v = load <4 x double>, ptr %in
  %q = getelementptr double, ptr %in, i64 4
  %s = load {{ double, [2 x double] }}, ptr %q
  %y = call {{ double, <4 x double>, {{ double, [2 x double] }} }} @{reverse}(<4 x double> %v, {{ double, [2 x double] }} %s, i32 1, double 1.0)
  %gv = extractvalue {{ double, <4 x double>, {{ double, [2 x double] }} }} %y, 1
  %gs = extractvalue {{ double, <4 x double>, {{ double, [2 x double] }} }} %y, 2
  store <4 x double> %gv, ptr %out, align 8
  %o = getelementptr double, ptr %out, i64 4
  store {{ double, [2 x double] }} %gs, ptr %o
  ret void
}}
declare {{ double, double }} @{forward}(<4 x double>, <4 x double>, {{ double, [2 x double] }}, {{ double, [2 x double] }}, i32)
declare {{ double, <4 x double>, {{ double, [2 x double] }} }} @{reverse}(<4 x double>, {{ double, [2 x double] }}, i32, double)
",
        forward = forward.symbol,
        reverse = reverse.symbol
    )
    .replace("ptr %in\n", "ptr %in, align 8\n")
    .replace("ptr %p\n", "ptr %p, align 8\n");
    for symbol in [&forward.symbol, &reverse.symbol] {
        let function = ModuleExt::function(&module, symbol).unwrap();
        function.set_linkage(kernelmill_llvm::ir::Linkage::External);
    }
    module.link(module_of_text(&context, &machine, &wrappers)).unwrap();
    for symbol in ["forward", "reverse"] {
        let ty = ModuleExt::function(&module, symbol).unwrap();
        ty.set_name(&format!("entry_{symbol}"));
    }
    let native = Native::load(&context, &machine, &module, "vectors");
    let (v, s) = ([0.5, -0.7, 1.1, 0.3], [0.2, 0.9, -1.3]);
    // f = v1^2 v2 + s2 v1^2 + (r0 = v1^2), the lane 1 of r being replaced by s2
    let expected_v = [0.0, 2.0 * v[1] * (v[2] + s[2] + 1.0), v[1] * v[1], 0.0];
    let expected_s = [0.0, 0.0, v[1] * v[1]];
    let cells: Vec<u64> = v.iter().chain(&s).map(|x: &f64| x.to_bits()).collect();
    let found = run(&native, "reverse", &cells);
    for (found, expected) in found.iter().zip(expected_v.iter().chain(&expected_s)) {
        assert!((found - expected).abs() < 1e-14, "{found} {expected}");
    }
    let (dv, ds) = ([0.1, 0.2, 0.3, 0.4], [0.5, 0.6, 0.7]);
    let cells: Vec<u64> =
        v.iter().chain(&dv).chain(&s).chain(&ds).map(|x: &f64| x.to_bits()).collect();
    let change: f64 = expected_v.iter().zip(dv).map(|(g, d)| g * d).sum::<f64>()
        + expected_s.iter().zip(ds).map(|(g, d)| g * d).sum::<f64>();
    let found = run(&native, "forward", &cells);
    assert!((found[1] - change).abs() < 1e-14, "{found:?} {change}");
}

#[test]
fn half_precision_has_derivatives_by_the_operators() {
    const TEXT: &str = "
define float @f(half %x, bfloat %y) {
  %a = fmul half %x, %x
  %b = fpext half %a to float
  %c = fpext bfloat %y to float
  %d = fmul float %b, %c
  ret float %d
}";
    let machine = common::machine();
    let context = Context::create();
    let module = module_of_text(&context, &machine, TEXT);
    let request = request("f", Mode::Reverse, &[Active, Active]);
    let derivative = derivative_of(&context, &machine, &module, &request).unwrap();
    let function = ModuleExt::function(&module, &derivative.symbol).unwrap();
    assert_eq!(
        format!("{:?}", function.value_type()),
        "{ float, half, bfloat } (half, bfloat, float)"
    );
    assert!(machine.object(&module).is_ok());
}

#[test]
fn the_page_has_the_rules_of_the_code() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/src/guide/autodiff.md");
    let markers = Markers { start: "<!-- rules -->\n", end: "<!-- end of rules -->" };
    snapshot::check_part(path, markers, &kernelmill_autodiff::rules_as_markdown());
}

#[test]
fn mathematics_is_that_of_two_widths() {
    const TEXT: &str = "
declare half @llvm.sin.f16(half)
define half @f(half %x) {
  %y = call half @llvm.sin.f16(half %x)
  ret half %y
}";
    let machine = common::machine();
    let context = Context::create();
    let module = module_of_text(&context, &machine, TEXT);
    let request = request("f", Mode::Forward, &[Active]);
    let message = derivative_of(&context, &machine, &module, &request).unwrap_err().to_string();
    assert!(
        message.contains("`sin` of `half` has no derivative, only that of `f32` and `f64`"),
        "{message}"
    );
}

//! External device functions: those of other sources that kernels name.

mod common;

use common::{compiler, job, lower};
use kernelmill_compiler::{Child, Config, Error, Lowered, RustSource};
use test_support::InFolder;

const TARGETS: [&str; 3] = ["compute_75", "gfx1100", "cpu"];

const PARENT: &str = "
use kernelmill_device::prelude::*;

#[kernel]
pub fn shade_all(mut out: DisjointSlice<f32>) {
    let shade = deferred!(shade: fn(f32, u32) -> f32);
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = unsafe { shade(*out, 3) };
    }
}
";

const SHADE: &str = "
use kernelmill_device::prelude::*;

static FACTORS: [f32; 4] = [2.0, 3.0, 5.0, 7.0];

fn helper(x: f32, i: u32) -> f32 {
    x * FACTORS[i as usize % 4]
}

#[unsafe(no_mangle)]
pub extern \"C\" fn shade(x: f32, i: u32) -> f32 {
    let tint = deferred!(tint: fn(f32) -> f32);
    unsafe { tint(helper(x, i)) }
}
";

const TINT: &str = "
use kernelmill_device::prelude::*;

#[unsafe(no_mangle)]
pub extern \"C\" fn tint(x: f32) -> f32 {
    if x > 1000.0 {
        let shade = deferred!(shade: fn(f32, u32) -> f32);
        unsafe { shade(x - 1000.0, thread::thread_idx().x) }
    } else {
        x + 0.5
    }
}
";

fn child(name: &str, text: &str) -> Child {
    let (source, lowered) = lower(name, text);
    Child { display: source.display.clone(), lowered }
}

fn with(name: &str, text: &str, children: Vec<Child>) -> (InFolder<RustSource>, Lowered) {
    let (source, lowered) = lower(name, text);
    (source, Lowered { children, ..lowered })
}

fn refused(name: &str, text: &str, children: Vec<Child>) -> String {
    let (source, lowered) = with(name, text, children);
    let config = Config::new("compute_75".parse().unwrap());
    let error = compiler().compile(&job(name, &source, &lowered, &config)).unwrap_err();
    assert!(matches!(error, Error::Deferred(_)), "{error}");
    error.to_string()
}

/// Acceptance: S1.2, S1.5.
#[test]
fn a_function_of_another_source_is_found_through_others_and_in_circles() {
    let (source, lowered) =
        with("shade_all", PARENT, vec![child("shade", SHADE), child("tint", TINT)]);
    for target in TARGETS {
        let config = Config::new(target.parse().unwrap());
        let job = job("shade_all", &source, &lowered, &config);
        let module = compiler().inspect(&job).unwrap_or_else(|error| panic!("{target}: {error}"));
        assert!(!module.contains("__kernelmill_deferred"), "{target}: {module}");
        for name in ["@shade(", "@tint("] {
            let defined = |line: &&str| line.starts_with("define") && line.contains(name);
            assert!(
                module.lines().filter(defined).count() <= 1,
                "{target}: once at most: {module}"
            );
        }
        let [first, second] = [(); 2].map(|()| compiler().compile(&job).unwrap());
        assert_eq!(first, second, "{target}");
    }
}

/// Acceptance: S1.6, S1.8.
#[test]
fn a_call_through_a_reference_is_direct_and_inlined() {
    let leaf = SHADE.replace("unsafe { tint(helper(x, i)) }", "helper(x, i)");
    let leaf = leaf.replace("let tint = deferred!(tint: fn(f32) -> f32);", "");
    let (source, lowered) = with("inlined_all", PARENT, vec![child("leaf", &leaf)]);
    let config = Config::new("compute_75".parse().unwrap());
    let ptx = compiler().assembly(&job("inlined_all", &source, &lowered, &config)).unwrap();
    assert!(!ptx.contains("call") && !ptx.contains(".func"), "{ptx}");
    let product = |line: &str| line.contains("mul") && line.contains("0f40E00000");
    assert!(ptx.lines().any(product), "the fourth factor, 7, is known: {ptx}");
}

/// Acceptance: S1.1.
#[test]
fn what_a_source_has_for_others_and_names_is_known() {
    let symbols = |name: &str, text: &str| compiler().symbols(&lower(name, text).1).unwrap();
    let shade = symbols("shade", SHADE);
    assert_eq!(
        (&*shade.defines, &*shade.defers),
        (&["shade".to_owned()][..], &["tint".to_owned()][..])
    );
    let external = SHADE.replace("helper(x, i)", "unsafe { solve(x) } + x.sin()");
    let external =
        format!("{external}\nunsafe extern \"C\" {{\n    fn solve(x: f32) -> f32;\n}}\n");
    assert_eq!(symbols("external", &external).externals, ["solve"]);
    assert_eq!(shade.externals, [""; 0]);
    let parent = symbols("shade_all", PARENT);
    assert_eq!((&*parent.defines, &*parent.defers), (&[][..], &["shade".to_owned()][..]));
}

/// Acceptance: S1.11.
#[test]
fn a_name_that_no_source_has_is_told_with_the_nearest() {
    let text = PARENT.replace("deferred!(shade:", "deferred!(shader:");
    let message = refused("no_such", &text, vec![child("shade", SHADE), child("tint", TINT)]);
    let expected =
        "kernels/no_such.rs:8: no source exports a function `shader`; the nearest is `shade`";
    assert_eq!(message, expected);
    let message = refused("nothing_there", PARENT, Vec::new());
    assert!(message.contains("pub extern \"C\" fn shade"), "{message}");
}

/// Acceptance: S1.11.
#[test]
fn a_name_that_two_sources_have_is_told_with_both() {
    let children =
        vec![child("first_tint", TINT), child("second_tint", TINT), child("shade", SHADE)];
    let message = refused("two", PARENT, children);
    let end = "several sources export a function `tint`: `kernels/first_tint.rs`, \
               `kernels/second_tint.rs`; rename one of them";
    assert!(message.starts_with("kernels/shade.rs:13: ") && message.ends_with(end), "{message}");
}

/// Acceptance: S1.4.
#[test]
fn other_types_than_those_it_is_defined_with_are_told() {
    let text = PARENT.replace("fn(f32, u32) -> f32", "fn(f32, u64) -> f32");
    let message = refused("types", &text, vec![child("shade", SHADE), child("tint", TINT)]);
    let expected = "kernels/types.rs:8: `shade` is declared with the type `float (float, i64)` and defined with \
                    the type `float (float, i32)`; write the same parameters and result";
    assert_eq!(message, expected);
}

#[test]
fn a_sources_own_function_comes_first_and_helpers_of_one_name_do_not_meet() {
    let own = format!("{PARENT}{}", SHADE.replace("use kernelmill_device::prelude::*;", ""));
    let other = SHADE.replace("2.0, 3.0, 5.0, 7.0", "20.0, 30.0, 50.0, 70.0");
    let leaf = "
#[unsafe(no_mangle)]
pub extern \"C\" fn tint(x: f32) -> f32 {
    helper(x)
}

#[inline(never)]
fn helper(x: f32) -> f32 {
    x - 64.0
}
";
    let (source, lowered) =
        with("own", &own, vec![child("other", &other), child("own_leaf", leaf)]);
    let config = Config::new("compute_75".parse().unwrap());
    let ptx = compiler().assembly(&job("own", &source, &lowered, &config)).unwrap();
    assert!(ptx.contains("0f40E00000") && !ptx.contains("0f428C0000"), "7 and not 70: {ptx}");
}

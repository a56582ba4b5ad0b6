//! Rules of plugins: what stands for what in the code that a marker is given, and that other code is as it was.

mod common;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use common::{compiler, job, lower};
use kernelmill_compiler::{
    Compiler, Config, Error, Job, JobSource,
    plugin::{Plugin, Rule, Stage, Task},
};

const TARGETS: [&str; 3] = ["compute_75", "gfx1100", "cpu"];

/// Calls what its marker is given.
#[derive(Debug)]
struct Apply {
    name: &'static str,
    marker: &'static str,
    rules: Vec<Rule>,
}

impl Plugin for Apply {
    fn name(&self) -> &str {
        self.name
    }

    fn version(&self) -> &str {
        "1"
    }

    fn marker(&self) -> &str {
        self.marker
    }

    fn stages(&self) -> &[Stage] {
        &[Stage::FrontEnd]
    }

    fn rules(&self) -> &[Rule] {
        &self.rules
    }

    fn run(&self, task: &Task<'_, '_>) -> Result<bool, String> {
        for call in task.calls() {
            let arguments = call.arguments();
            let value = task.before(call).call(arguments[0], &arguments[1..]);
            task.replace(call, value);
        }
        Ok(true)
    }
}

/// Plugins with these rules.
fn with(outer: &[Rule], inner: &[Rule]) -> Compiler {
    let plugin = |name, marker, rules: &[Rule]| -> Arc<dyn Plugin> {
        Arc::new(Apply { name, marker, rules: rules.to_vec() })
    };
    let plugins = vec![
        plugin("outer", "__kernelmill_outer", outer),
        plugin("inner", "__kernelmill_inner", inner),
    ];
    let plain = Compiler::new(compiler().toolchain().clone()).unwrap();
    plain.with_plugins(plugins).unwrap()
}

const fn rule(function: &'static str, replacement: &'static str) -> Rule {
    Rule { function, replacement }
}

const LEAF: Rule = rule("leaf", "fast_leaf");
const ROOT: Rule = rule("root", "fast_root");

const TEXT: &str = "
use kernelmill_device::prelude::*;

#[allow(improper_ctypes)]
unsafe extern \"C\" {
    safe fn __kernelmill_outer(f: fn(f32) -> f32, x: f32) -> f32;
    safe fn __kernelmill_inner(f: fn(f32) -> f32, x: f32) -> f32;
}

fn leaf(x: f32) -> f32 { x * 3.0 }
fn fast_leaf(x: f32) -> f32 { x * 5.0 }
fn root(x: f32) -> f32 { x * 17.0 }
fn fast_root(x: f32) -> f32 { x * 19.0 }

#[used]
static KEPT: [fn(f32) -> f32; 2] = [fast_leaf, fast_root];

#[inline(never)]
fn outlined(x: f32) -> f32 { leaf(x) + root(x) }

fn again(x: f32) -> f32 { if x > 1000.0 { again(x * 0.25) } else { outlined(x) } }

fn nested(x: f32) -> f32 { __kernelmill_inner(outlined, x) + leaf(x) }

#[kernel]
pub fn marked(mut out: DisjointSlice<f32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = __kernelmill_outer(again, *out);
    }
}

#[kernel]
pub fn both(mut out: DisjointSlice<f32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = __kernelmill_outer(nested, *out);
    }
}

#[kernel]
pub fn plain(mut out: DisjointSlice<f32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = again(*out);
    }
}
";

/// The functions of a kernel, with those that they call, by their names.
fn reached<'m>(module: &'m str, kernel: &str) -> BTreeMap<String, &'m str> {
    let names = |text: &str| {
        let parts = text.split('@').skip(1);
        let is_part = |c: char| c.is_ascii_alphanumeric() || "_.$".contains(c);
        parts.map(|it| it.split(|c| !is_part(c)).next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let texts = module.split("\ndefine ").skip(1).map(|text| text.split("\n}").next().unwrap());
    let functions: BTreeMap<_, _> = texts.map(|text| (names(text)[0].clone(), text)).collect();
    // On the CPU a kernel is several functions.
    let of_cpu = format!("kernelmill_cpu_rules_{kernel}");
    let is_start = |name: &&String| **name == kernel || name.starts_with(&of_cpu);
    let mut work: Vec<_> = functions.keys().filter(is_start).cloned().collect();
    assert!(!work.is_empty(), "{module}");
    let mut found = BTreeMap::new();
    while let Some(name) = work.pop() {
        if let Some(text) = functions.get(&name)
            && found.insert(name, *text).is_none()
        {
            work.extend(names(text));
        }
    }
    found
}

/// The factors that a kernel multiplies by, itself or in what it calls: which leaves and roots it has.
fn factors(module: &str, kernel: &str) -> BTreeSet<u32> {
    let reached = reached(module, kernel);
    let has = |constant: &str| reached.values().any(|text| text.contains(constant));
    let known =
        [(3, "3.000000e+00"), (5, "5.000000e+00"), (17, "1.700000e+01"), (19, "1.900000e+01")];
    known.into_iter().filter(|(_, constant)| has(constant)).map(|(factor, _)| factor).collect()
}

/// The functions of a kernel without the numbers that LLVM gives to attributes and metadata of a module.
fn code(module: &str, kernel: &str) -> String {
    let functions = reached(module, kernel);
    let mut code = String::new();
    for (name, text) in functions {
        let words = text.split_whitespace().filter(|word| !word.starts_with(['#', '!']));
        code += &format!("{name}: {}\n", words.collect::<Vec<_>>().join(" "));
    }
    // The text about a stack that overflows names all kernels that come to the function: its length depends on them.
    const TEXT: &str = "@__kernelmill_stack_overflow, i64 ";
    let mut pieces = code.split(TEXT);
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |code, piece| {
        code + TEXT + piece.trim_start_matches(|it: char| it.is_ascii_digit())
    })
}

fn inspect(compiler: &Compiler, target: &str) -> String {
    let (source, lowered) = lower("rules", TEXT);
    let config = Config::new(target.parse().unwrap());
    compiler.inspect(&job("rules", &source, &lowered, &config)).unwrap_or_else(|it| panic!("{it}"))
}

/// Acceptance: S2.5.
#[test]
fn rules_hold_in_marked_code_and_in_what_it_calls_alone() {
    let compiler = with(&[LEAF], &[ROOT]);
    for target in TARGETS {
        let module = inspect(&compiler, target);
        assert_eq!(factors(&module, "marked"), [5, 17].into(), "{target}: {module}");
        assert_eq!(factors(&module, "plain"), [3, 17].into(), "{target}: {module}");
        let inherited = "a marker inside of marked code has the rules around it too";
        assert_eq!(factors(&module, "both"), [5, 19].into(), "{target}: {inherited}: {module}");
    }
    // Without rules the same plugins change nothing but the calls of markers.
    let module = inspect(&with(&[], &[]), "compute_75");
    for kernel in ["marked", "both", "plain"] {
        assert_eq!(factors(&module, kernel), [3, 17].into(), "{kernel}: {module}");
    }
}

/// Acceptance: S2.5.
#[test]
fn the_innermost_rule_for_a_function_wins() {
    let compiler = with(&[rule("leaf", "fast_leaf")], &[rule("leaf", "root"), ROOT]);
    let module = inspect(&compiler, "compute_75");
    // `outlined` is in the inner mark: its leaf is the root as it is written, its root the fast one.
    assert_eq!(factors(&module, "both"), [5, 17, 19].into(), "{module}");
}

/// Acceptance: S2.5.
#[test]
fn code_that_is_not_marked_is_the_same_to_the_byte() {
    let (source, lowered) = lower("rules", TEXT);
    let plain: Vec<_> = source.signatures.iter().filter(|it| it.name == "plain").cloned().collect();
    assert_eq!(plain.len(), 1);
    for target in TARGETS {
        let config = Config::new(target.parse().unwrap());
        let source = JobSource { lowered: &lowered, signatures: &plain, unit: "rules" };
        let bytes = |compiler: &Compiler| {
            compiler
                .compile(&Job { source, config: &config })
                .unwrap_or_else(|it| panic!("{it}"))
                .bytes
        };
        let (with_rules, without) = (with(&[LEAF], &[ROOT]), with(&[], &[]));
        assert_eq!(bytes(&with_rules), bytes(&without), "{target}");
        assert_ne!(with_rules.plugins(), without.plugins(), "rules are in the keys");
        // The same beside marked code, which calls the same functions.
        let [with_rules, without] = [&with_rules, &without].map(|it| inspect(it, target));
        assert_eq!(code(&with_rules, "plain"), code(&without, "plain"), "{target}");
        assert_ne!(code(&with_rules, "marked"), code(&without, "marked"), "{target}");
    }
}

/// Acceptance: S2.5.
#[test]
fn a_rule_whose_functions_do_not_fit_is_an_error() {
    let (source, lowered) = lower("rules", TEXT);
    let config = Config::new("compute_75".parse().unwrap());
    let error = |rule: Rule| -> Error {
        with(&[rule], &[]).compile(&job("rules", &source, &lowered, &config)).unwrap_err()
    };
    assert_eq!(
        error(rule("leaf", "missing")).to_string(),
        "a rule of the plugin `outer` replaces `leaf` by `missing`, which the source does not have; functions \
         that nothing uses are removed: name it in a `#[used]` static"
    );
    assert_eq!(
        error(rule("leaf", "rules::marked")).to_string(),
        "a rule of the plugin `outer` replaces `leaf` by `rules::marked`, which has another type"
    );
}

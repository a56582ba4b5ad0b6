//! Launch state of plugins: which kernels have it, how it reaches functions, and what is refused.

mod common;
#[expect(unreachable_pub, reason = "as it is in a crate of its own")]
#[path = "plugins/seed.rs"]
mod seed;

use std::sync::Arc;

use common::{compiler, lower};
use kernelmill_artifact::{Access, Field, Parameter, Signature, StructLayout};
use kernelmill_compiler::{
    Child, Compiler, Config, Error, Job, JobSource, Lowered, Symbols,
    plugin::{Plugin, Scalar, Stage, State, Task, ValueType},
};
use seed::Seed;

const TARGETS: [&str; 3] = ["compute_75", "gfx1100", "cpu"];

const RANDOM: &str = "
use kernelmill_device::prelude::*;

unsafe extern \"C\" {
    safe fn __kernelmill_seed() -> u64;
    safe fn __kernelmill_mixed_seed(x: u64) -> u64;
}

#[inline(never)]
fn helper(x: u64) -> u64 {
    if x == 0 { deeper(x) } else { plain(x) }
}

#[inline(never)]
fn deeper(x: u64) -> u64 {
    __kernelmill_seed() ^ x
}

#[inline(never)]
fn plain(x: u64) -> u64 {
    x.wrapping_mul(7)
}

#[kernel]
pub fn random(x: u64, mut out: DisjointSlice<u64>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = helper(x) + helper(1);
    }
}

#[kernel]
pub fn mixed(mut out: DisjointSlice<u64>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = __kernelmill_mixed_seed(3);
    }
}

#[kernel]
pub fn constant(x: u64, mut out: DisjointSlice<u64>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = plain(x) + 3;
    }
}
";

/// A plugin that asks for state and replaces nothing.
#[derive(Debug)]
struct Asks(State);

impl Plugin for Asks {
    fn name(&self) -> &str {
        "asks"
    }

    fn version(&self) -> &str {
        "1"
    }

    fn marker(&self) -> &str {
        "__kernelmill_asks"
    }

    fn stages(&self) -> &[Stage] {
        &[]
    }

    fn state(&self) -> Option<State> {
        Some(self.0.clone())
    }

    fn run(&self, _: &Task<'_, '_>) -> Result<bool, String> {
        Ok(false)
    }
}

fn with(plugin: impl Plugin + 'static) -> Compiler {
    let toolchain = compiler().toolchain().clone();
    Compiler::new(toolchain).unwrap().with_plugins(vec![Arc::new(plugin)]).unwrap()
}

fn asking(state: State) -> Compiler {
    with(Asks(state))
}

fn seed(getter: &str) -> State {
    State::value("seed", getter, ValueType::Scalar(Scalar::U64))
}

/// The signatures of a source's kernels with the state that they reach.
fn signatures(compiler: &Compiler, own: &[Signature], lowered: &Lowered) -> Vec<Signature> {
    let mut all = vec![compiler.symbols(lowered).unwrap()];
    all.extend(lowered.children.iter().map(|it| compiler.symbols(&it.lowered).unwrap()));
    let all: Vec<_> = all.iter().map(Some).collect();
    let with_state = |kernel: &Signature| {
        let mut kernel = kernel.clone();
        let reached = Symbols::of_kernel(&all, 0, &kernel.symbol, &[]);
        kernel.parameters.to_mut().extend(compiler.states(&reached));
        kernel
    };
    own.iter().map(with_state).collect()
}

fn states(signature: &Signature) -> Vec<&str> {
    signature.parameters().iter().filter_map(Parameter::state_name).collect()
}

/// The module of a source with its state, as it is before code is generated.
fn module(compiler: &Compiler, text: &str, target: &str) -> Result<String, Error> {
    let (source, lowered) = lower("state", text);
    let signatures = signatures(compiler, &source.signatures, &lowered);
    let config = Config::new(target.parse().unwrap());
    let source = JobSource { lowered: &lowered, signatures: &signatures, unit: "state" };
    compiler.inspect(&Job { source, config: &config })
}

fn fault(compiler: &Compiler, text: &str) -> String {
    module(compiler, text, "compute_75").unwrap_err().to_string()
}

/// The line that defines a function, and its body.
fn function<'t>(module: &'t str, name: &str) -> &'t str {
    let is_it = |part: &&str| part.lines().next().unwrap().contains(&format!("@{name}("));
    let found = module.split("\ndefine ").skip(1).find(is_it);
    found.unwrap_or_else(|| panic!("no {name}: {module}")).split("\n}\n").next().unwrap()
}

/// Code with its values numbered in the order of their first use, and without places in the source: names and numbers of
/// other functions' values in it depend on what else is in the module.
fn numbered(code: &str) -> Vec<String> {
    let mut names = Vec::new();
    let is_part = |c: char| c.is_ascii_alphanumeric() || "._-$".contains(c);
    let line = |line: &str| {
        let ends = [", !dbg", " #", "; preds"];
        let line = ends.iter().fold(line, |line, end| line.split(end).next().unwrap()).trim_end();
        let line = line.strip_suffix(':').map_or(line.to_owned(), |label| format!("%{label}:"));
        let mut parts = line.split('%');
        let mut shown = parts.next().unwrap().to_owned();
        for part in parts {
            let (name, rest) = part.split_at(part.find(|c| !is_part(c)).unwrap_or(part.len()));
            let known = names.iter().position(|it| it == name);
            let number = known.unwrap_or_else(|| {
                names.push(name.to_owned());
                names.len() - 1
            });
            shown += &format!("%{number}{rest}");
        }
        shown
    };
    code.lines().map(line).collect()
}

#[test]
fn the_example_of_the_page_is_what_is_tested_and_works_on_every_target() {
    let page = include_str!("../../../docs/src/guide/plugins.md");
    assert!(page.contains(include_str!("plugins/seed.rs")), "the page shows another plugin");
    let kernel = page.split("```rust\n").find(|part| part.contains("pub fn draw(")).unwrap();
    let kernel = kernel.split("```").next().unwrap();
    let compiler = with(Seed);
    for target in TARGETS {
        let module = module(&compiler, kernel, target);
        let module = module.unwrap_or_else(|error| panic!("{target}: {error}"));
        assert!(!module.contains("__kernelmill_seed"), "{target}: {module}");
    }
}

/// Acceptance: S0.6, C10.
#[test]
fn state_is_an_argument_of_the_kernels_and_functions_that_reach_it() {
    let compiler = with(Seed);
    let (source, lowered) = lower("state", RANDOM);
    let signatures = signatures(&compiler, &source.signatures, &lowered);
    let found: Vec<_> = signatures.iter().map(|it| (&*it.name, states(it))).collect();
    assert_eq!(
        found,
        [("random", vec!["seed"]), ("mixed", vec!["seed"]), ("constant", vec![])],
        "{signatures:#?}"
    );
    for target in ["compute_75", "gfx1100"] {
        let module = module(&compiler, RANDOM, target).unwrap();
        assert!(!module.contains("__kernelmill_seed"), "{target}: {module}");
        assert!(!module.contains("__kernelmill_state"), "{target}: {module}");
        let words =
            |name: &str| function(&module, name).lines().next().unwrap().matches("i64").count();
        // The value, the length, the state.
        assert_eq!((words("random"), words("mixed"), words("constant")), (3, 2, 2), "{module}");
    }
}

/// Before optimisation, where functions are still called: each on the way has one parameter more, and no other has.
///
/// Acceptance: S0.6, C10.
#[test]
fn functions_out_of_line_get_state_as_their_last_parameter() {
    let compiler = with(Seed);
    let (source, lowered) = lower("state", RANDOM);
    let signatures = signatures(&compiler, &source.signatures, &lowered);
    for target in ["compute_75", "gfx1100"] {
        let mut config = Config::new(target.parse().unwrap());
        (config.options.optimize, config.options.validate) = (false, false);
        let source = JobSource { lowered: &lowered, signatures: &signatures, unit: "state" };
        let module = compiler.inspect(&Job { source, config: &config }).unwrap();
        let parameters = |part: &str| {
            let of = |line: &&str| line.starts_with("define") && line.contains(part);
            let line = module.lines().find(of).unwrap_or_else(|| panic!("{part}: {module}"));
            line.matches("i64 ").count() - usize::from(line.contains(") i64 "))
        };
        assert_eq!(parameters("6helper"), 1 + 2, "the result, `x` and the state: {module}");
        assert_eq!(parameters("6deeper"), 1 + 2, "{module}");
        assert_eq!(parameters("5plain"), 1 + 1, "{module}");
    }
}

/// Acceptance: S0.6, C10, S2.5.
#[test]
fn a_kernel_without_state_has_the_same_code_with_the_plugin_and_without() {
    let only = RANDOM.split("#[kernel]").collect::<Vec<_>>();
    let text = format!("{}#[kernel]{}", only[0], only[3]);
    let (source, lowered) = lower("state", &text);
    let compiler = with(Seed);
    assert_eq!(signatures(&compiler, &source.signatures, &lowered), source.signatures);
    for target in TARGETS {
        let config = Config::new(target.parse().unwrap());
        let job = common::job("state", &source, &lowered, &config);
        let plain = common::compiler().compile(&job).unwrap();
        assert_eq!(compiler.compile(&job).unwrap(), plain, "{target}");
    }
    // Beside kernels with state it has the instructions that it has alone.
    let alone = common::compiler();
    for target in ["compute_75", "gfx1100"] {
        let config = Config::new(target.parse().unwrap());
        let job = common::job("state", &source, &lowered, &config);
        let alone = alone.inspect(&job).unwrap();
        let beside = module(&compiler, RANDOM, target).unwrap();
        let code =
            |module: &str| numbered(function(module, "constant").split_once('\n').unwrap().1);
        assert_eq!(code(&beside), code(&alone), "{target}");
    }
}

/// Recursion is no obstacle: the calls in the circle pass the state on.
///
/// Acceptance: S0.6.
#[test]
fn functions_that_call_themselves_pass_their_state_on() {
    let text = RANDOM.replace("__kernelmill_seed() ^ x", "__kernelmill_seed() ^ helper(x + 1)");
    let module = module(&with(Seed), &text, "compute_75").unwrap();
    let deeper =
        module.lines().find(|it| it.starts_with("define") && it.contains("6deeper")).unwrap();
    let deeper = module.split(deeper).nth(1).unwrap().split("\n}").next().unwrap();
    // Older Rust has a hash behind the name.
    let passes = |line: &str| line.contains("6helper") && line.contains("(i64 1, i64 %0)");
    assert!(deeper.lines().any(passes), "its state is its parameter: {deeper}");
}

/// Acceptance: S0.6.
#[test]
fn a_struct_and_memory_are_state_too() {
    let scalar = |scalar| ValueType::Scalar(scalar);
    let field =
        |name: &'static str, ty, offset| Field { name: name.into(), ty, offset, public: true };
    let small = vec![field("low", scalar(Scalar::U32), 0), field("high", scalar(Scalar::U32), 4)];
    let large =
        (0..5).map(|it| field(["a", "b", "c", "d", "e"][it], scalar(Scalar::U64), it as u64 * 8));
    let layout = |name: &'static str, fields: Vec<Field>, size, align| {
        let fields = fields.into();
        ValueType::Struct(StructLayout { name: name.into(), fields, size, align }.into())
    };
    let text = |ty: &str, body: &str| {
        format!(
            "
use kernelmill_device::prelude::*;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Small {{ low: u32, high: u32 }}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Large {{ a: u64, b: u64, c: u64, d: u64, e: u64 }}

unsafe extern \"C\" {{
    safe fn __kernelmill_asked() -> {ty};
}}

#[kernel]
pub fn use_it(mut out: DisjointSlice<u64>) {{
    if let Some(out) = out.get_mut(thread::index_1d()) {{
        *out = {body};
    }}
}}
"
        )
    };
    let value = |ty| State::value("asked", "__kernelmill_asked", ty);
    let pointer = State::memory("asked", "__kernelmill_asked", scalar(Scalar::U64), Access::Read);
    let cases = [
        (
            value(layout("Small", small, 8, 4)),
            "Small",
            "{ let it = __kernelmill_asked(); u64::from(it.high) }",
        ),
        (
            value(layout("Large", large.collect(), 40, 8)),
            "Large",
            "{ let it = __kernelmill_asked(); it.e }",
        ),
        (value(scalar(Scalar::F32)), "f32", "u64::from(__kernelmill_asked().to_bits())"),
        (value(scalar(Scalar::Bool)), "bool", "u64::from(__kernelmill_asked())"),
        (pointer, "*const u64", "unsafe { *__kernelmill_asked() }"),
    ];
    for (state, ty, body) in cases {
        let compiler = asking(state);
        for target in TARGETS {
            let module = module(&compiler, &text(ty, body), target);
            let module = module.unwrap_or_else(|error| panic!("{ty} for {target}: {error}"));
            assert!(!module.contains("__kernelmill_asked"), "{ty} for {target}: {module}");
        }
        let ptx = {
            let (source, lowered) = lower("state", &text(ty, body));
            let signatures = signatures(&compiler, &source.signatures, &lowered);
            let config = Config::new("compute_75".parse().unwrap());
            let source = JobSource { lowered: &lowered, signatures: &signatures, unit: "state" };
            compiler.assembly(&Job { source, config: &config }).unwrap()
        };
        let parameter = ptx.lines().find(|line| line.contains("use_it_param_2")).unwrap();
        let expected = match ty {
            "Small" => ".align 4 .b8 use_it_param_2[8]",
            "Large" => ".align 8 .b8 use_it_param_2[40]",
            "f32" => ".f32 use_it_param_2",
            "bool" => ".u8 use_it_param_2",
            _ => ".u64 ",
        };
        assert!(parameter.contains(expected), "{ty}: {parameter}");
    }
}

/// Acceptance: S0.6, S1.12.
#[test]
fn what_cannot_have_state_is_told() {
    let by_address = RANDOM.replace(
        "helper(x) + helper(1)",
        "{ let all: [fn(u64) -> u64; 2] = [helper, plain]; all[(x & 1) as usize](x) }",
    );
    let fault_of = fault(&with(Seed), &by_address);
    assert!(
        fault_of.contains("`state::helper` uses the launch state `seed`, and its address is taken"),
        "{fault_of}"
    );
    assert!(fault_of.contains("by the plugin `seed`"), "{fault_of}");
    let other_type = RANDOM
        .replace("__kernelmill_seed() -> u64", "__kernelmill_seed() -> u32")
        .replace("__kernelmill_seed() ^ x", "u64::from(__kernelmill_seed()) ^ x");
    let fault_of = fault(&with(Seed), &other_type);
    assert!(
        fault_of.contains("kernels/state.rs:16: `__kernelmill_seed` is declared with another type"),
        "{fault_of}"
    );
    assert!(fault_of.contains("with the result `u64`"), "{fault_of}");
    let refused = Compiler::new(compiler().toolchain().clone()).unwrap();
    let plugins: Vec<Arc<dyn Plugin>> = vec![Arc::new(Seed), Arc::new(Asks(seed("other")))];
    let fault_of = refused.with_plugins(plugins).unwrap_err().to_string();
    assert!(fault_of.contains("have the same state, `seed`; rename one of the two"), "{fault_of}");
    // The signature of a job must have the state that its code reaches.
    let (source, lowered) = lower("state", RANDOM);
    let config = Config::new("compute_75".parse().unwrap());
    let job = common::job("state", &source, &lowered, &config);
    let fault_of = with(Seed).compile(&job).unwrap_err().to_string();
    assert!(fault_of.contains("kernel `random` has no launch state `seed`"), "{fault_of}");
}

/// Acceptance: S0.6, S1.2.
#[test]
fn state_reaches_functions_of_other_sources() {
    let (own, text) = (
        "
use kernelmill_device::prelude::*;

#[kernel]
pub fn draw(mut out: DisjointSlice<u64>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = unsafe { deferred!(drawn: fn(u64) -> u64)(1) };
    }
}
",
        "
unsafe extern \"C\" {
    safe fn __kernelmill_seed() -> u64;
}

#[unsafe(no_mangle)]
pub extern \"C\" fn drawn(x: u64) -> u64 {
    __kernelmill_seed() + x
}
",
    );
    let compiler = with(Seed);
    let (source, mut lowered) = lower("own", own);
    let (other, child) = lower("other", text);
    lowered.children.push(Child { display: other.display.clone(), lowered: child });
    let signatures = signatures(&compiler, &source.signatures, &lowered);
    assert_eq!(states(&signatures[0]), ["seed"]);
    for target in TARGETS {
        let config = Config::new(target.parse().unwrap());
        let source = JobSource { lowered: &lowered, signatures: &signatures, unit: "state" };
        let module = compiler.inspect(&Job { source, config: &config }).unwrap();
        assert!(!module.contains("__kernelmill_seed"), "{target}: {module}");
    }
}

/// Acceptance: S2.8.
#[test]
fn state_is_part_of_the_key_of_plugins() {
    let key = |state: State| asking(state).plugins();
    let plain = key(seed("__kernelmill_seed"));
    assert_ne!(plain, key(seed("__kernelmill_start")));
    assert_ne!(
        plain,
        key(State::value("seed", "__kernelmill_seed", ValueType::Scalar(Scalar::U32)))
    );
}

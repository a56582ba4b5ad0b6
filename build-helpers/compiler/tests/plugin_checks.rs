//! Checks of the survey that the compiler's plugins come from which `plugins.rs` has not, each under
//! its number there.

mod common;
#[expect(unreachable_pub, reason = "as it is in a crate of its own")]
#[path = "plugins/cycles.rs"]
mod cycles;

use std::{
    path::PathBuf,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU32, Ordering},
    },
};

use common::{compiler, job, lower};
use cycles::Cycles;
use kernelmill_artifact::Target;
use kernelmill_compiler::{
    Artifact, Compiler, Config, Error, Toolchain,
    plugin::{Plugin, Stage, Task, ir::Type},
};
use object::{Object as _, ObjectSymbol as _};

const TARGETS: [&str; 3] = ["compute_75", "gfx1100", "cpu"];

const PLAIN: &str = "
use kernelmill_device::prelude::*;

#[kernel]
pub fn plain(mut out: DisjointSlice<u64>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = 1;
    }
}
";

/// Threads wait for each other, and what is out of bounds panics: on the CPU a context and a record
/// are built around it.
const MARKED: &str = "
use kernelmill_device::prelude::*;

unsafe extern \"C\" {
    safe fn __kernelmill_cycles() -> u64;
}

#[kernel]
pub fn marked(input: &[u64], mut out: DisjointSlice<u64>) {
    static mut TILE: SharedArray<u64, 64> = SharedArray::UNINIT;
    let lane = thread::thread_idx().x as usize;
    unsafe { TILE[lane] = input[thread::index_1d().get()] };
    thread::sync_threads();
    let other = unsafe { TILE[63 - lane] };
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = other + __kernelmill_cycles();
    }
}
";

fn with(plugins: Vec<Arc<dyn Plugin>>) -> Result<Compiler, Error> {
    Compiler::new(compiler().toolchain().clone())?.with_plugins(plugins)
}

fn config(target: &str) -> Config {
    Config::new(target.parse().unwrap())
}

fn compile(compiler: &Compiler, name: &str, text: &str, target: &str) -> Result<Artifact, Error> {
    let (source, lowered) = lower(name, text);
    compiler.compile(&job(name, &source, &lowered, &config(target)))
}

/// The module after all steps.
fn inspect(compiler: &Compiler, name: &str, text: &str, target: &str) -> String {
    let (source, lowered) = lower(name, text);
    let config = config(target);
    compiler.inspect(&job(name, &source, &lowered, &config)).unwrap_or_else(|it| panic!("{it}"))
}

/// Replaces its marker by a number, but for the targets where it declines.
#[derive(Clone, Debug)]
struct Number {
    name: &'static str,
    version: &'static str,
    marker: &'static str,
    stages: Vec<Stage>,
    priority: i32,
    is_default: bool,
    number: u64,
    declines: fn(&Target) -> bool,
    replaces: bool,
    /// Whether it returns the opposite of what it did.
    lies: bool,
}

impl Number {
    fn new(name: &'static str, number: u64, stage: Stage) -> Self {
        let (marker, stages) = ("__kernelmill_cycles", vec![stage]);
        let declines = |_: &Target| false;
        Self {
            name,
            version: "1",
            marker,
            stages,
            priority: 0,
            is_default: false,
            number,
            declines,
            replaces: false,
            lies: false,
        }
    }
}

impl Plugin for Number {
    fn name(&self) -> &str {
        self.name
    }

    fn version(&self) -> &str {
        self.version
    }

    fn marker(&self) -> &str {
        self.marker
    }

    fn stages(&self) -> &[Stage] {
        &self.stages
    }

    fn priority(&self) -> i32 {
        self.priority
    }

    fn is_default(&self) -> bool {
        self.is_default
    }

    fn replaces(&self) -> bool {
        self.replaces
    }

    fn run(&self, task: &Task<'_, '_>) -> Result<bool, String> {
        if (self.declines)(task.target()) {
            return Ok(self.lies);
        }
        for call in task.calls() {
            task.replace(call, Type::int(task.context(), 64).constant(self.number));
        }
        Ok(!self.lies)
    }
}

/// Check 1 of plugins (S2.1). The one registered last stays, if it says so; before, two of one name are an error.
/// Acceptance: S2.1.
#[test]
fn check_01_a_plugin_may_take_the_place_of_one_of_its_name() {
    let first = Number::new("number", 1_234_567, Stage::Finalize);
    let second = Number { number: 7_654_321, version: "2", ..first.clone() };
    let error = with(vec![Arc::new(first.clone()), Arc::new(second.clone())]).unwrap_err();
    let expected = "the plugin `number` is registered twice; remove one of the calls of `plugin`, or let it say that \
                    it `replaces` an earlier one";
    assert_eq!(error.to_string(), expected);
    let second = Number { replaces: true, ..second };
    let compiler = with(vec![Arc::new(first.clone()), Arc::new(second.clone())]).unwrap();
    let module = inspect(&compiler, "replaced", MARKED, "compute_75");
    assert_eq!(["1234567", "7654321"].map(|it| module.contains(it)), [false, true], "{module}");
    assert!(!compiler.plugins().contains(" 1:1 "), "{}", compiler.plugins());
    with(vec![Arc::new(second), Arc::new(first)]).unwrap_err();
}

/// Check 2 of plugins (S2.2). What a plugin says of its changes is held against the module.
/// Acceptance: S2.2.
#[test]
fn check_02_a_plugin_says_whether_it_changed_the_module() {
    let mut plugin = Number::new("number", 1_234_567, Stage::Finalize);
    plugin.lies = true;
    let error = compile(&with(vec![Arc::new(plugin.clone())]).unwrap(), "lies", MARKED, "cpu");
    assert_eq!(
        error.unwrap_err().to_string(),
        "the plugin `number` 1, at Finalize: its `run` changed the module, and returned `false`"
    );
    // What only costs a verification is no error.
    let mut rest = Number::new("rest", 7, Stage::Finalize);
    plugin.declines = |_| true;
    rest.is_default = true;
    compile(&with(vec![Arc::new(plugin), Arc::new(rest)]).unwrap(), "lies", MARKED, "cpu").unwrap();
}

/// Check 6 of plugins (S2.6). The default comes second, whatever its name and priority.
/// Acceptance: S2.6.
#[test]
fn check_06_what_a_plugin_declines_its_default_is_given() {
    let mut special = Number::new("special", 1_234_567, Stage::Finalize);
    special.declines = |target| *target == Target::Cpu;
    let mut default = Number::new("default", 7_654_321, Stage::Finalize);
    (default.is_default, default.priority) = (true, -1);
    let both: [Arc<dyn Plugin>; 2] = [Arc::new(default.clone()), Arc::new(special.clone())];
    let (one_way, other_way) = (both.to_vec(), both.into_iter().rev().collect());
    for compiler in [with(one_way).unwrap(), with(other_way).unwrap()] {
        for (target, number) in
            [("compute_75", "1234567"), ("gfx1100", "1234567"), ("cpu", "7654321")]
        {
            let module = inspect(&compiler, "declined", MARKED, target);
            let all = ["1234567", "7654321"].map(|it| (it, module.contains(it)));
            assert_eq!(all.map(|(it, there)| there == (it == number)), [true; 2], "{target}");
        }
    }
    default.declines = |_| true;
    let compiler = with(vec![Arc::new(default.clone()), Arc::new(special.clone())]).unwrap();
    let error = compile(&compiler, "declined", MARKED, "cpu").unwrap_err().to_string();
    let expected =
        "the plugins `special`, `default` have not replaced the marker `__kernelmill_cycles`";
    assert!(error.contains(expected), "{error}");
    assert_eq!(error.matches(expected).count(), error.matches("not replaced").count(), "{error}");

    special.stages = vec![Stage::FrontEnd, Stage::Optimized];
    let error = with(vec![Arc::new(default.clone()), Arc::new(special.clone())]).unwrap_err();
    let expected = "the default plugin `default` replaces the marker `__kernelmill_cycles` at the stage Finalize, \
                    and `special` replaces it until the stage Optimized; let `default` start at the stage \
                    Optimized";
    assert_eq!(error.to_string(), expected);
    let third = Number::new("third", 1, Stage::Late);
    let error = with(vec![Arc::new(third), Arc::new(special)]).unwrap_err().to_string();
    assert!(error.contains("the plugins `special` and `third` have the same marker"), "{error}");
}

/// Check 8 of plugins (S2.8). What a plugin is, and what it does by the rules it was made with, of which
/// its version speaks. What is told by the build script is in the key of the job, and rules in a
/// kernel's source are in its bitcode.
/// Acceptance: S2.8.
#[test]
fn check_08_everything_that_a_plugin_is_is_in_the_key() {
    let plain = Number::new("number", 7, Stage::Finalize);
    let mut changed = vec![plain.clone(); 7];
    changed[0].name = "numbers";
    changed[1].version = "1 with the rules of 2026";
    changed[2].marker = "__kernelmill_cycle";
    changed[3].stages = vec![Stage::Late];
    changed[4].stages = vec![Stage::Finalize, Stage::Late];
    changed[5].priority = 1;
    changed[6].is_default = true;
    let key = |plugins: &[&Number]| {
        let plugins = plugins.iter().map(|it| -> Arc<dyn Plugin> { Arc::new((*it).clone()) });
        with(plugins.collect()).unwrap().plugins()
    };
    let mut keys: Vec<_> = changed.iter().map(|it| key(&[it])).collect();
    keys.extend([key(&[]), key(&[&plain]), key(&[&plain, &changed[0].clone_with("__m")])]);
    let all = keys.len();
    assert_eq!(key(&[&plain]), key(&[&plain.clone()]));
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), all, "{keys:#?}");
}

impl Number {
    fn clone_with(&self, marker: &'static str) -> Self {
        Self { marker, ..self.clone() }
    }
}

/// Sends its marker to a function of the program.
#[derive(Debug)]
struct Imports;

#[rustfmt::skip]
impl Plugin for Imports {
    fn name(&self) -> &str { "imports" }
    fn version(&self) -> &str { "1" }
    fn marker(&self) -> &str { "__kernelmill_cycles" }
    fn stages(&self) -> &[Stage] { &[Stage::Finalize] }

    fn run(&self, task: &Task<'_, '_>) -> Result<bool, String> {
        let ty = Type::int(task.context(), 64).function(&[]);
        let Some(clock) = task.import("clock_of_the_program", ty) else { return Ok(false) };
        for call in task.calls() {
            let time = task.before(call).call(clock, &[]);
            task.replace(call, time);
        }
        Ok(true)
    }
}

/// Acceptance: S2.9.
/// What is stored names functions of the program by their symbols.
#[test]
fn check_09_a_plugin_imports_functions_of_the_program_by_their_symbols() {
    let compiler = with(vec![Arc::new(Imports)]).unwrap();
    let artifact = compile(&compiler, "imports", MARKED, "cpu").unwrap();
    let object = object::File::parse(&*artifact.bytes).unwrap();
    let is_it = |symbol: &object::Symbol<'_, '_>| {
        symbol.is_undefined() && symbol.name() == Ok("clock_of_the_program")
    };
    assert!(object.symbols().any(|symbol| is_it(&symbol)));
    let again = with(vec![Arc::new(Imports)]).unwrap();
    let again = compile(&again, "imports", MARKED, "cpu").unwrap();
    assert_eq!(again.to_bytes(), artifact.to_bytes());
    for target in ["compute_75", "gfx1100"] {
        let error = compile(&compiler, "imports", MARKED, target).unwrap_err().to_string();
        assert!(
            error.contains("the plugin `imports` has not replaced the marker"),
            "{target}: {error}"
        );
    }
}

/// Check 11 of plugins (S2.11), on the device; `is_kernel` has the host's in its example. What is for the
/// host alone may be something that no device has.
/// Acceptance: S2.11.
#[test]
fn check_11_code_for_the_host_alone_is_not_in_a_kernel() {
    let text = PLAIN.replace(
        "*out = 1;",
        "*out = if kernelmill_device::is_kernel() { 1_234_567 } else { on_the_host() };",
    );
    let text = text
        + "unsafe extern \"C\" { safe fn on_the_host() -> u64; }
const NUMBER: u64 = if kernelmill_device::is_kernel() { 7_654_321 } else { 1 };
#[kernel]
pub fn constant(mut out: DisjointSlice<u64>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = NUMBER;
    }
}
";
    for target in TARGETS {
        let module = inspect(compiler(), "both_worlds", &text, target);
        assert!(module.contains("1234567") && module.contains("7654321"), "{target}: {module}");
        assert!(!module.contains("on_the_host"), "{target}: {module}");
    }
}

/// A plugin that may compile something else before it does its own work.
#[derive(Debug)]
struct Nested {
    stage: [Stage; 1],
    /// What it compiles with.
    inner: Option<fn() -> &'static Compiler>,
}

impl Plugin for Nested {
    fn name(&self) -> &str {
        "cycles"
    }

    fn version(&self) -> &str {
        "1"
    }

    fn marker(&self) -> &str {
        "__kernelmill_cycles"
    }

    fn stages(&self) -> &[Stage] {
        &self.stage
    }

    fn run(&self, task: &Task<'_, '_>) -> Result<bool, String> {
        if let Some(inner) = self.inner {
            for target in TARGETS {
                compile(inner(), "inner", PLAIN, target).map_err(|error| error.to_string())?;
            }
            let left = MARKED.replace("cycles", "nobody");
            compile(inner(), "inner_left", &left, "cpu").unwrap_err();
        }
        Cycles.run(task)
    }
}

/// The compiler that has the plugin, which then compiles with it too.
static ITSELF: OnceLock<Compiler> = OnceLock::new();

/// Where compilers build the device's library that have none.
static SCRATCH: OnceLock<PathBuf> = OnceLock::new();

/// Check 12 of plugins (S2.12). There is no current job to restore: what a compilation knows is in the
/// values that it is passed. One within another, that fails even, or that builds the device's library
/// again, leaves the outer one's bytes as they are: its context of threads, its panics, its memory.
/// Acceptance: S2.12.
#[test]
fn check_12_a_plugin_may_compile_and_the_outer_job_does_not_notice() {
    let folder = test_support::temporary_folder();
    SCRATCH.set(folder.path().to_owned()).unwrap();
    let itself = || ITSELF.get().unwrap();
    let again = || -> &'static Compiler {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed).to_string();
        let scratch = SCRATCH.get().unwrap().join(number);
        Box::leak(Box::new(Compiler::new(Toolchain { scratch, ..common::toolchain() }).unwrap()))
    };
    let with_plugin =
        |stage, inner| with(vec![Arc::new(Nested { stage: [stage], inner })]).unwrap();
    ITSELF.set(with_plugin(Stage::Finalize, Some(itself))).unwrap();
    for target in TARGETS {
        let outer = |compiler: &Compiler| compile(compiler, "outer", MARKED, target).unwrap();
        let alone = outer(&with_plugin(Stage::Finalize, None));
        assert_eq!(outer(itself()).to_bytes(), alone.to_bytes(), "{target}");
    }
    for stage in [Stage::FrontEnd, Stage::Optimized] {
        let outer = |inner| compile(&with_plugin(stage, inner), "outer", MARKED, "cpu").unwrap();
        assert_eq!(outer(Some(again)).to_bytes(), outer(None).to_bytes(), "{stage:?}");
    }
}

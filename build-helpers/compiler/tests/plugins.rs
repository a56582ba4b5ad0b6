//! Plugins: where they run and where not, what they are told, what they leave.

mod common;
#[expect(unreachable_pub, reason = "as it is in a crate of its own")]
#[path = "plugins/cycles.rs"]
mod cycles;
#[expect(unreachable_pub, reason = "as it is in a crate of its own")]
#[path = "plugins/operations.rs"]
mod operations;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex},
};

use common::{compiler, job, lower};
use cycles::Cycles;
use kernelmill_compiler::{
    Artifact, Child, Compiler, Config, Error, Toolchain,
    plugin::{Plugin, Scope, Stage, Task, ir::Type},
};
use operations::Operations;

const TARGETS: [&str; 3] = ["compute_75", "gfx1100", "cpu"];

const CLOCK: &str = "
use kernelmill_device::prelude::*;

unsafe extern \"C\" {
    safe fn __kernelmill_cycles() -> u64;
}

#[kernel]
pub fn time(mut out: DisjointSlice<u64>) {
    let start = __kernelmill_cycles();
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = __kernelmill_cycles() - start;
    }
}
";

const PLAIN: &str = "
use kernelmill_device::prelude::*;

#[kernel]
pub fn plain(mut out: DisjointSlice<u64>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = 1;
    }
}
";

fn with(plugins: Vec<Arc<dyn Plugin>>) -> Result<Compiler, Error> {
    let toolchain: Toolchain = compiler().toolchain().clone();
    Compiler::new(toolchain)?.with_plugins(plugins)
}

fn compile(
    compiler: &Compiler,
    name: &str,
    text: &str,
    config: &Config,
) -> Result<Artifact, Error> {
    let (source, lowered) = lower(name, text);
    compiler.compile(&job(name, &source, &lowered, config))
}

fn config(target: &str) -> Config {
    Config::new(target.parse().unwrap())
}

/// A plugin that notes when it is called, and replaces its marker by a constant at one stage.
#[derive(Debug)]
struct Noted {
    name: &'static str,
    marker: &'static str,
    priority: i32,
    /// Where it replaces its marker; nowhere where it is none of its stages.
    works_at: Stage,
    stages: Vec<Stage>,
    calls: Arc<Mutex<Vec<String>>>,
}

const ALL: [Stage; 5] =
    [Stage::FrontEnd, Stage::Finalize, Stage::MidPipeline, Stage::Optimized, Stage::Late];

impl Noted {
    fn new(name: &'static str, marker: &'static str, calls: &Arc<Mutex<Vec<String>>>) -> Self {
        let calls = Arc::clone(calls);
        Self { name, marker, priority: 0, works_at: Stage::Late, stages: ALL.to_vec(), calls }
    }
}

impl Plugin for Noted {
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
        &self.stages
    }

    fn priority(&self) -> i32 {
        self.priority
    }

    fn run(&self, task: &Task<'_, '_>) -> Result<bool, String> {
        let note = format!("{} {:?} {}", self.name, task.stage(), task.meta());
        self.calls.lock().unwrap().push(note.trim().to_owned());
        if task.stage() == self.works_at {
            for call in task.calls() {
                let meta: u64 = task.meta().parse().unwrap_or(7);
                task.replace(call, Type::int(task.context(), 64).constant(meta));
            }
        }
        Ok(task.stage() == self.works_at)
    }
}

#[test]
fn the_example_of_the_page_is_what_is_tested_and_works_on_every_target() {
    let page = include_str!("../../../docs/src/guide/plugins.md");
    let example = include_str!("plugins/cycles.rs");
    assert!(page.contains(example), "docs/src/guide/plugins.md shows another example");
    assert!(page.contains(CLOCK.trim()), "docs/src/guide/plugins.md shows another kernel");
    let plugins: Vec<Arc<dyn Plugin>> = vec![Arc::new(Cycles)];
    let compiler = with(plugins).unwrap();
    let (source, lowered) = lower("clock", CLOCK);
    for (target, clock) in [("compute_75", "%clock64"), ("gfx1100", "s_getreg"), ("cpu", "rdtsc")] {
        let config = config(target);
        let code = compiler.assembly(&job("clock", &source, &lowered, &config)).unwrap();
        let clock =
            if target == "gfx1100" && code.contains("s_memtime") { "s_memtime" } else { clock };
        assert!(code.matches(clock).count() >= 2, "{target}: {code}");
        assert!(!code.contains("__kernelmill_cycles"), "{target}: {code}");
    }
}

/// Each operation, of a number that is known: the optimiser has to come to the same result.
#[test]
fn the_operations_of_the_page_are_what_is_tested_and_give_what_they_say() {
    let page = include_str!("../../../docs/src/guide/plugins.md");
    let example = include_str!("plugins/operations.rs");
    let functions = example.split_once("/// `(x + 3)").unwrap().1;
    assert!(page.contains(functions), "docs/src/guide/plugins.md shows other operations");
    let results: [(&str, u32, u32); 9] = [
        ("arithmetic", 4, 35),
        ("conversion", 4_000_000_000, 3_705_032_704),
        ("slot", 4, 4),
        ("table", 4, 11),
        ("branch", 4, 4),
        ("branch", 40, 10),
        ("function", 4, 16),
        ("intrinsic", 255, 8),
        ("atomic", 4, 4),
    ];
    let compiler = with(vec![Arc::new(Operations)]).unwrap();
    for (operation, x, result) in results {
        let text = format!(
            "
use kernelmill_device::prelude::*;

unsafe extern \"C\" {{
    #[link_name = \"__operation.{operation}\"]
    safe fn operation(x: u32) -> u32;
}}

#[kernel]
pub fn run(mut out: DisjointSlice<u32>) {{
    if let Some(out) = out.get_mut(thread::index_1d()) {{
        *out = operation({x});
    }}
}}
"
        );
        let (source, lowered) = lower("operations", &text);
        for target in TARGETS {
            let config = config(target);
            let module = compiler.inspect(&job("operations", &source, &lowered, &config));
            let module = module.unwrap_or_else(|error| panic!("{operation}, {target}: {error}"));
            let stored = format!("store i32 {},", result.cast_signed());
            assert!(
                module.contains(&stored) || operation == "atomic",
                "{target}: {operation}: {module}"
            );
            assert!(!module.contains("__operation"), "{target}: {module}");
        }
    }
}

/// Acceptance: S2.2, S2.5.
#[test]
fn code_without_the_marker_is_the_same_with_the_plugin_and_without() {
    let calls = Arc::default();
    let mut mid = Noted::new("mid", "__mid", &calls);
    mid.stages = ALL.to_vec();
    let compiler = with(vec![Arc::new(Cycles), Arc::new(mid)]).unwrap();
    for target in TARGETS {
        let with = compile(&compiler, "unmarked", PLAIN, &config(target)).unwrap();
        let without = compile(common::compiler(), "unmarked", PLAIN, &config(target)).unwrap();
        assert_eq!(with.to_bytes(), without.to_bytes(), "{target}");
    }
    assert!(calls.lock().unwrap().is_empty(), "none is called: {calls:?}");
    assert_ne!(compiler.plugins(), common::compiler().plugins());
}

/// A plugin that works on everything, and says how many kernels there are with how much memory.
#[derive(Debug)]
struct Everywhere;

impl Plugin for Everywhere {
    fn name(&self) -> &str {
        "everywhere"
    }

    fn version(&self) -> &str {
        "1"
    }

    fn marker(&self) -> &str {
        "__everywhere"
    }

    fn stages(&self) -> &[Stage] {
        &[Stage::FrontEnd]
    }

    fn scope(&self, meta: &str) -> Scope {
        if meta == "off" { Scope::Marked } else { Scope::Everything }
    }

    fn run(&self, task: &Task<'_, '_>) -> Result<bool, String> {
        for kernel in task.kernels() {
            let buffers: Vec<_> = kernel.buffers.iter().map(|buffer| &*buffer.name).collect();
            let known = kernel.buffers.iter().filter(|buffer| buffer.length.is_some()).count();
            task.note(&kernel.name, &format!("{} of {known}", buffers.join(" ")));
        }
        Ok(false)
    }
}

#[test]
fn a_plugin_for_everything_needs_no_mark_and_says_things_of_kernels() {
    let compiler = with(vec![Arc::new(Everywhere)]).unwrap();
    for target in TARGETS {
        let artifact = compile(&compiler, "unmarked", PLAIN, &config(target)).unwrap();
        assert_eq!(artifact.kernels[0].notes, ["everywhere: out of 1"], "{target}");
        assert_eq!(Artifact::from_bytes(&artifact.to_bytes()), Some(artifact), "{target}");
        let mut off = config(target);
        off.params.meta.insert("everywhere".into(), "off".into());
        let artifact = compile(&compiler, "unmarked", PLAIN, &off).unwrap();
        assert!(artifact.kernels[0].notes.is_empty(), "{target}");
    }
}

/// Acceptance: S2.3, S2.7.
#[test]
fn plugins_are_called_in_the_order_of_stages_priorities_and_names() {
    let text = CLOCK.replace(
        "safe fn __kernelmill_cycles() -> u64;",
        "safe fn __kernelmill_cycles() -> u64; safe fn __a() -> u64; safe fn __b() -> u64; safe fn __c() -> u64;",
    );
    let text = text.replace("= __kernelmill_cycles() - start", "= __a() + __b() + __c()");
    let text = text.replace("let start = __kernelmill_cycles();", "");
    let run = |order: [usize; 3]| {
        let calls = Arc::default();
        let plugins = order.map(|index| -> Arc<dyn Plugin> {
            let (name, marker) = [("a", "__a"), ("b", "__b"), ("c", "__c")][index];
            let mut plugin = Noted::new(name, marker, &calls);
            plugin.priority = -i32::from(name == "c");
            plugin.stages = vec![Stage::Late, Stage::FrontEnd, Stage::MidPipeline];
            Arc::new(plugin)
        });
        let compiler = with(plugins.to_vec()).unwrap();
        let artifact = compile(&compiler, "ordered", &text, &config("compute_75")).unwrap();
        let calls = calls.lock().unwrap().clone();
        (calls, artifact, compiler.plugins())
    };
    let first = run([0, 1, 2]);
    let expected = [
        "c FrontEnd",
        "a FrontEnd",
        "b FrontEnd",
        "c MidPipeline",
        "a MidPipeline",
        "b MidPipeline",
        "c Late",
        "a Late",
        "b Late",
    ];
    assert_eq!(first.0, expected);
    for order in [[2, 1, 0], [1, 0, 2]] {
        assert_eq!(run(order), first, "{order:?}");
    }
}

/// Acceptance: S2.3.
#[test]
fn a_plugin_works_at_every_stage_on_every_target() {
    for stage in ALL {
        for target in TARGETS {
            let calls = Arc::default();
            let mut plugin = Noted::new("noted", "__kernelmill_cycles", &calls);
            (plugin.works_at, plugin.stages) = (stage, vec![stage]);
            let compiler = with(vec![Arc::new(plugin)]).unwrap();
            compile(&compiler, "staged", CLOCK, &config(target))
                .unwrap_or_else(|error| panic!("{target}, {stage:?}: {error}"));
            assert_eq!(*calls.lock().unwrap(), [format!("noted {stage:?}")], "{target}");
        }
    }
}

/// A function of another source is part of the kernel's module before any plugin sees it.
/// Acceptance: S1.10.
#[test]
fn a_plugin_is_called_once_for_a_kernel_and_the_functions_of_other_sources() {
    let now = "
unsafe extern \"C\" {
    safe fn __kernelmill_cycles() -> u64;
}

#[unsafe(no_mangle)]
pub extern \"C\" fn now() -> u64 {
    __kernelmill_cycles()
}
";
    let text = CLOCK.replace(
        "    let start = __kernelmill_cycles();\n",
        "    let now = deferred!(now: fn() -> u64);\n    let start = unsafe { now() };\n",
    );
    for target in TARGETS {
        let calls = Arc::default();
        let mut plugin = Noted::new("noted", "__kernelmill_cycles", &calls);
        plugin.works_at = Stage::Optimized;
        let compiler = with(vec![Arc::new(plugin)]).unwrap();
        let (child, of_child) = lower("now", now);
        let (source, mut lowered) = lower("of_others", &text);
        lowered.children.push(Child { display: child.display.clone(), lowered: of_child });
        let module = compiler.inspect(&job("of_others", &source, &lowered, &config(target)));
        let module = module.unwrap_or_else(|error| panic!("{target}: {error}"));
        assert!(!module.contains("__kernelmill_cycles"), "{target}: {module}");
        // After the stage that replaces the marker nothing is left to be called for.
        let expected = ["noted FrontEnd", "noted Finalize", "noted MidPipeline", "noted Optimized"];
        assert_eq!(*calls.lock().unwrap(), expected, "{target}");
    }
}

/// Acceptance: S2.4, C22.
#[test]
fn a_plugins_meta_is_in_the_key_and_a_childs_is_its_own() {
    let calls = Arc::default();
    let compiler =
        with(vec![Arc::new(Noted::new("noted", "__kernelmill_cycles", &calls))]).unwrap();
    let mut told = config("compute_75");
    told.params.meta.insert("noted".into(), "1234567".into());
    let text = CLOCK
        .replace("__kernelmill_cycles() - start", "__kernelmill_cycles()")
        .replace("let start = __kernelmill_cycles();", "");
    let artifact = compile(&compiler, "told", &text, &told).unwrap();
    assert!(String::from_utf8(artifact.bytes).unwrap().contains("1234567"));
    assert!(calls.lock().unwrap().contains(&"noted Late 1234567".to_owned()));
    assert_ne!(told.key(), config("compute_75").key());

    let (key, mut child) = (told.key(), told.child("distance"));
    let same = child.key();
    assert_eq!(child.params.meta, told.params.meta, "it starts with its parent's");
    child.params.meta.insert("noted".into(), "2".into());
    assert_ne!(child.key(), same);
    assert_eq!((told.key(), &*told.params.meta["noted"]), (key, "1234567"));

    let names = ["notd", "noted", "notes"].map(|name| (name.to_owned(), String::new()));
    told.params.meta = BTreeMap::from(names);
    let error = compile(&compiler, "told", &text, &told).unwrap_err().to_string();
    let fault = |name: &str| {
        format!(
            "the settings have options for the plugin `{name}`, which is not registered; the nearest is `noted`"
        )
    };
    assert_eq!(error, format!("{}\n{}", fault("notd"), fault("notes")));
}

/// Acceptance: S2.10.
#[test]
fn a_marker_that_is_left_is_named_with_the_plugin_and_the_line() {
    let calls = Arc::default();
    let mut plugin = Noted::new("noted", "__kernelmill_cycles", &calls);
    plugin.stages = vec![Stage::FrontEnd];
    let compiler = with(vec![Arc::new(plugin)]).unwrap();
    for target in TARGETS {
        let error = compile(&compiler, "left", CLOCK, &config(target)).unwrap_err();
        let Error::Plugin(faults) = &error else { panic!("{target}: {error}") };
        let lines: Vec<_> = faults.iter().map(|fault| fault.place.clone()).collect();
        if target != "cpu" {
            let place = |line| Some(("kernels/left.rs".to_owned(), line));
            assert_eq!(lines, [place(10), place(12)], "{target}");
        }
        let message = error.to_string();
        let expected = "the plugin `noted` has not replaced the marker `__kernelmill_cycles`";
        assert!(message.contains(expected), "{message}");
    }
    let error = compile(common::compiler(), "left", CLOCK, &config("compute_75")).unwrap_err();
    assert!(
        error.to_string().contains("the marker `cycles` was not replaced"),
        "no plugin: {error}"
    );
}

#[derive(Debug)]
struct Refuses;

impl Plugin for Refuses {
    fn name(&self) -> &str {
        "refuses"
    }

    fn version(&self) -> &str {
        "1"
    }

    fn marker(&self) -> &str {
        "__kernelmill_cycles"
    }

    fn stages(&self) -> &[Stage] {
        &[Stage::FrontEnd]
    }

    fn run(&self, task: &Task<'_, '_>) -> Result<bool, String> {
        assert!(task.function("time").is_some() && task.function("tim").is_none());
        for call in task.calls() {
            task.refuse(call, "there is no clock");
        }
        Ok(false)
    }
}

#[test]
fn what_a_plugin_cannot_do_is_told_with_every_line() {
    let compiler = with(vec![Arc::new(Refuses)]).unwrap();
    let error = compile(&compiler, "refused", CLOCK, &config("cpu")).unwrap_err().to_string();
    assert_eq!(error.matches("there is no clock").count(), 2, "{error}");
    assert!(
        error.contains("kernels/refused.rs:10: there is no clock\n  in refused::time"),
        "{error}"
    );
    assert!(error.contains("kernels/refused.rs:12: "), "{error}");
}

/// Acceptance: S2.1.
#[test]
fn a_marker_of_the_wrong_name_is_told_with_the_one_that_was_meant() {
    let compiler = with(vec![Arc::new(Cycles)]).unwrap();
    let refused = |compiler: &Compiler, from: &str, to: &str| {
        let text = CLOCK.replace(from, to);
        compile(compiler, "misnamed", &text, &config("gfx1100")).unwrap_err().to_string()
    };
    let error = refused(&compiler, "__kernelmill_cycles", "__kernelmill_cycels");
    assert!(
        error.contains("the marker `cycels` was not replaced by a plugin or by the compiler"),
        "{error}"
    );
    let help = "help: the nearest marker is `__kernelmill_cycles`, of the plugin `cycles`";
    assert!(error.contains(help), "{error}");
    let error = refused(&compiler, "__kernelmill_cycles", "__kernelmill_temperature");
    let help = "help: register the plugin that replaces it with `Build::plugin`: registered are `cycles` for \
                `__kernelmill_cycles`; all other names";
    assert!(error.contains(help), "{error}");
    let error = refused(common::compiler(), "", "");
    assert!(error.contains("with `Build::plugin`: none is registered; all other names"), "{error}");
    let plugin = Noted::new("noted", "wrong name", &Arc::default());
    let error = with(vec![Arc::new(plugin)]).unwrap_err().to_string();
    let expected = "the plugin `noted` has the marker `wrong name`, which cannot be declared; use letters, digits and \
                    underscores, with no digit first: `__kernelmill_noted`";
    assert_eq!(error, expected);
}

#[test]
fn two_plugins_of_one_name_or_marker_are_refused() {
    let twice: Vec<Arc<dyn Plugin>> = vec![Arc::new(Cycles), Arc::new(Cycles)];
    let error = with(twice).unwrap_err().to_string();
    let expected = "the plugin `cycles` is registered twice; remove one of the calls of `plugin`, or let it say that \
                    it `replaces` an earlier one";
    assert_eq!(error, expected);
    let error = with(vec![Arc::new(Cycles), Arc::new(Refuses)]).unwrap_err().to_string();
    assert_eq!(
        error,
        "the plugins `cycles` and `refuses` have the same marker, `__kernelmill_cycles`; use one of the two"
    );
}

/// The pipeline is compiled once, whatever the targets and plugins: this program has three of each,
/// and one instance of every stage, and of the loop that runs stages.
/// Acceptance: S0.1.
#[test]
fn the_pipeline_is_compiled_once_whatever_the_targets_and_plugins() {
    use object::{Object, ObjectSymbol};
    let program = std::fs::read(std::env::current_exe().unwrap()).unwrap();
    let program = object::File::parse(&*program).unwrap();
    assert!(program.symbols().next().is_some(), "tests are built without `strip = \"symbols\"`");
    let sources = [
        ("stage", include_str!("../src/pipeline/stage.rs")),
        ("source", include_str!("../src/pipeline/source.rs")),
        ("stages", include_str!("../src/pipeline/stages.rs")),
        ("finish", include_str!("../src/pipeline/finish.rs")),
    ];
    let mut instances: BTreeMap<String, usize> = BTreeMap::new();
    for symbol in program.symbols().filter_map(|symbol| symbol.name().ok().map(str::to_owned)) {
        let name = format!("{:#}", rustc_demangle::demangle(&symbol));
        if let Some(name) = name.strip_prefix("kernelmill_compiler::pipeline::")
            && sources.iter().any(|(module, _)| name.starts_with(&format!("{module}::")))
            && !name.contains("closure")
        {
            *instances.entry(name.to_owned()).or_default() += 1;
        }
    }
    let functions = sources.iter().flat_map(|(module, source)| {
        source.lines().filter_map(move |line| {
            let line = line.trim_start_matches("pub(super) ").strip_prefix("fn ")?;
            Some(format!("{module}::{}", line.split(['(', '<']).next().unwrap()))
        })
    });
    let functions: BTreeSet<_> = functions.collect();
    for known in ["stage::run_all", "stages::optimize", "finish::artifact"] {
        assert!(instances.contains_key(known), "{known}: {instances:?}");
    }
    // What this program does not use the linker may have left out.
    assert!(instances.keys().all(|name| functions.contains(name)), "{instances:?}, {functions:?}");
    assert!(instances.values().all(|count| *count == 1), "{instances:?}");
}

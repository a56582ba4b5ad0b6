//! The device's run-time library in emitted code: panics, printing, the heap.
//!
//! Tests named `check_N_...` are after the checks of GPUCompiler.jl's and CUDA.jl's suites that they
//! carry over.

mod common;

use common::{GPUS, compile, compile_with, count, ptx};
use kernelmill_artifact::PRINTS;
use kernelmill_compiler::{Artifact, Config, PanicLevel, Params};

const QUIET: &str = "
use kernelmill_device::prelude::*;

#[kernel]
pub fn fill(value: f32, mut y: DisjointSlice<f32>) {
    if let Some(out) = y.get_mut(thread::index_1d()) {
        *out = value.sqrt();
    }
}
";

const LOUD: &str = "
use kernelmill_device::prelude::*;

fn weight(x: &[u32], i: usize) -> u32 {
    let value = x[i];
    assert!(value > 0, \"element {i} is {value}, {:>6.2} is {{least}}\", value as f32 / 3.0);
    value
}

#[kernel]
pub fn loud(x: &[u32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        let next = x.get(i.get() + 1).expect(\"one more\");
        assert_eq!(*out, 5, \"at {}\", i.get());
        let parsed: Result<u32, u8> = if *next > 7 { Ok(9) } else { Err(*next as u8) };
        if *next == 99 {
            panic!(\"no such thing\");
        }
        *out = weight(x, i.get()) / next + parsed.unwrap();
    }
}
";

const THROWS: &str = "
use kernelmill_device::prelude::*;

fn weight(x: &[u32], i: usize) -> u32 { x[i] }

#[kernel]
pub fn throws(x: &[u32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        *out = weight(x, i.get());
    }
}
";

fn with_level(level: PanicLevel, target: &str) -> Artifact {
    let params = Params { panics: level, ..Params::default() };
    let name = format!("level_{}", level.name());
    compile_with(&name, LOUD, target, params).unwrap_or_else(|error| panic!("{target}: {error}"))
}

fn contains(artifact: &Artifact, text: &str) -> bool {
    artifact.bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

/// ptx.jl \"exceptions\": nothing of the language's own panics is left, the report is there.
/// Acceptance: S0.8, C9.
#[test]
fn check_09_ptx_exceptions() {
    let ptx = ptx("exceptions", LOUD);
    for absent in ["core9panicking", "core3fmt", "trap;", "vprintf", "malloc"] {
        assert_eq!(count(&ptx, absent), 0, "{absent}: {ptx}");
    }
    assert_eq!(count(&ptx, "__kernelmill_panic"), 0, "the record is an argument: {ptx}");
    // One for panics of up to two values, and one for those of more.
    assert_eq!(count(&ptx, "cas.b32"), 2, "the record is claimed once a panic: {ptx}");
    assert_eq!(count(&ptx, "call"), 0, "{ptx}");
}

/// Only kernels that call such a function keep the address of the record in shared memory.
#[test]
fn a_panic_out_of_line_finds_the_record_of_its_launch() {
    let text = "
use kernelmill_device::prelude::*;

fn descend(x: &[u32], i: usize, depth: u32) -> u32 {
    if depth == 0 { 100 / x[i] } else { descend(x, i, depth - 1) + 1 - x[i] / x[i] }
}

#[kernel]
pub fn recursive(x: &[u32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        *out = descend(x, i.get(), 3 + *out);
    }
}

#[kernel]
pub fn plain(x: &[u32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        *out = x[i.get()];
    }
}
";
    let artifact = compile("out_of_line", text, "compute_75").unwrap();
    let shared: Vec<_> = artifact.kernels.iter().map(|it| it.static_shared_bytes).collect();
    assert_eq!(shared, [8, 0]);
    let ptx = String::from_utf8(artifact.bytes).unwrap();
    let entry = |name: &str| {
        let start = ptx.find(&format!(".entry {name}(")).unwrap();
        ptx[start..].split("\n}").next().unwrap()
    };
    let stores = |name: &str| count(entry(name), "[__kernelmill_panic_slot]");
    assert_eq!((stores("recursive"), stores("plain")), (1, 0), "{ptx}");
}

#[test]
fn the_host_has_the_texts_of_panics_on_gpus() {
    for target in GPUS {
        let artifact = compile("texts", LOUD, target).unwrap_or_else(|error| panic!("{error}"));
        let mut texts: Vec<_> =
            artifact.messages.iter().filter(|text| !text.is_empty()).map(String::as_str).collect();
        texts.sort_unstable();
        assert_eq!(
            texts,
            [
                "assertion `left == right` failed: at {usize}\n  left: {u32:?}\n right: {u32:?}",
                "called `Result::unwrap()` on an `Err` value: {u8:?}",
                "element {usize} is {u32}, {f32: >6.2} is {{least}}",
                "no such thing",
                "one more",
            ],
            "{target}"
        );
    }
}

/// A text that is known is part of the message and costs nothing; of others the device sends the bytes,
/// without formatting.
#[test]
fn texts_in_panics_are_constants_of_the_message_or_are_sent() {
    let panics = |parameter: &str| {
        format!(
            "
use kernelmill_device::prelude::*;

const UNIT: &str = \"kg\";
static NAMES: [&str; 2] = [\"length\", \"weight\"];

#[kernel]
pub fn texts(x: &[u32], mut y: DisjointSlice<u32>) {{
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {{
        let (value, name) = (x[i.get()], NAMES[x.len() % 2]);
        let _ = name;
        assert!(value > 0, \"{{{parameter}}} {{}} is {{value}}\", UNIT);
        *out = value;
    }}
}}
"
        )
    };
    for target in GPUS {
        let texts = |name: &str, parameter: &str| {
            let artifact = compile(name, &panics(parameter), target).unwrap();
            assert!(!contains(&artifact, "core3fmt"), "{target}");
            (artifact.bytes.len(), artifact.messages)
        };
        let (known, messages) = texts("known_text", "UNIT");
        assert_eq!(messages, ["kg kg is {u32}"], "{target}");
        let (sent, messages) = texts("sent_text", "name:>8?");
        assert_eq!(messages, ["{str: >8?} kg is {u32}"], "{target}");
        assert!(known < sent, "{target}: {known} {sent}");
    }
}

/// exceptions.jl: nothing at level 0, what and where at level 1, the way there at level 2.
/// Acceptance: S0.8, C21.
#[test]
fn check_21_exceptions() {
    for target in GPUS {
        let silent = with_level(PanicLevel::None, target);
        assert!(silent.kernels[0].panics, "{target}: that it panicked is always known");
        assert!(silent.locations.is_empty() && silent.messages.is_empty(), "{target}");

        let message = with_level(PanicLevel::Message, target);
        let lines: std::collections::BTreeSet<_> =
            message.locations.iter().map(|location| location.line).collect();
        // Line 5 cannot panic: line 14 has looked further.
        assert_eq!(lines, [6, 14, 15, 18, 20].into(), "{target}");
        assert!(message.locations.iter().all(|location| location.frames.is_empty()), "{target}");
        assert!(silent.bytes.len() < message.bytes.len(), "{target}");

        let backtrace = with_level(PanicLevel::Backtrace, target);
        let inner = backtrace.locations.iter().find(|location| location.line == 6).unwrap();
        let frames: Vec<_> = inner
            .frames
            .iter()
            .map(|frame| format!("{} {}:{}", frame.function, frame.file, frame.line))
            .collect();
        let expected = [
            "level_backtrace::weight kernels/level_backtrace.rs:6",
            "level_backtrace::loud kernels/level_backtrace.rs:20",
        ];
        assert_eq!(frames, expected, "{target}");
    }
}

/// Acceptance: S0.8.
#[test]
fn nothing_of_a_panics_place_is_in_the_code_where_no_one_wants_it() {
    let parts = |level: PanicLevel| {
        let ptx = String::from_utf8(with_level(level, "compute_75").bytes).unwrap();
        ["__kernelmill_locations", "cas.b32", "%ctaid.y", "trap;"].map(|part| count(&ptx, part))
    };
    assert_eq!(parts(PanicLevel::None), [0, 1, 0, 0]);
    let [locations, claims, index, traps] = parts(PanicLevel::Message);
    // Numbers stand for places.
    assert_eq!((locations, claims, traps), (0, 2, 0));
    assert!(index > 0);
}

#[test]
fn a_backtrace_goes_on_through_a_function_that_is_called_once() {
    let text = LOUD.replace("fn weight", "#[inline(never)]\nfn weight");
    for target in ["compute_75", "cpu"] {
        let params = Params { panics: PanicLevel::Backtrace, ..Params::default() };
        let artifact = compile_with("called_once", &text, target, params).unwrap();
        let inner = artifact.locations.iter().find(|location| location.line == 7).unwrap();
        let lines: Vec<_> = inner.frames.iter().map(|frame| frame.line).collect();
        assert_eq!(lines, [7, 21], "{target}: {inner:?}");
    }
}

/// `debug_assert!` and overflow are checked where rustc is asked to.
#[test]
fn debug_assertions_and_overflow_are_checked_on_demand() {
    let text = THROWS.replace("x[i]", "{ debug_assert!(i != 3, \"not {i}\"); 1 + x[i] }");
    let mut source = common::source("debug", &text);
    let mut messages = Vec::new();
    for arguments in [&[][..], &["-Cdebug-assertions=on", "-Coverflow-checks=on"]] {
        source.arguments = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        let lowered = common::compiler().lower_rust(&source).unwrap();
        let config = Config::new("compute_75".parse().unwrap());
        let job = common::job("debug", &source, &lowered, &config);
        let artifact = common::compiler().compile(&job).unwrap();
        let lines = artifact.locations.len();
        messages.push((artifact.messages, lines));
    }
    assert_eq!(messages[0], (vec![], 1));
    assert!(messages[1].0.contains(&"not {usize}".to_owned()) && messages[1].1 > 2, "{messages:?}");
}

#[test]
fn the_level_is_in_the_key() {
    let keys = PanicLevel::ALL.map(|(name, level)| {
        assert_eq!(level.name(), name);
        let params = Params { panics: level, ..Params::default() };
        Config { params, ..Config::new("cpu".parse().unwrap()) }.key()
    });
    assert!(keys[0] != keys[1] && keys[1] != keys[2] && keys[0] != keys[2], "{keys:?}");
}

/// The instructions of a code object that end a program, and those that trap.
fn ends_and_traps(artifact: &Artifact, trap: u8) -> (usize, usize) {
    let words = || artifact.bytes.as_chunks::<4>().0.iter();
    let ends = words().filter(|word| **word == [0x00, 0x00, 0xb0, 0xbf]).count();
    let ends_9 = words().filter(|word| **word == [0x00, 0x00, 0x81, 0xbf]).count();
    let traps = words().filter(|word| word[2..] == [trap, 0xbf]).count();
    (ends + ends_9, traps)
}

/// spirv.jl \"trap removal\", for targets where the end of a thread ends its group: a panic is no
/// trap, and a kernel that panics returns.
/// Acceptance: S0.8, C18.
#[test]
fn check_18_trap_removal() {
    for (target, trap) in [("gfx90a", 0x92), ("gfx1100", 0x90)] {
        let artifact = compile("trap_removal", LOUD, target).unwrap();
        assert_eq!(ends_and_traps(&artifact, trap).1, 0, "{target}");
        let artifact = compile("trap_removal_once", THROWS, target).unwrap();
        assert_eq!(ends_and_traps(&artifact, trap), (1, 0), "{target}");
    }
}

/// spirv.jl \"inlining of throwing callees\": a function that panics becomes part of the kernel, so
/// that there is a way back, unless it calls itself.
/// Acceptance: S0.8, C18.
#[test]
fn check_18_inlining_of_throwing_callees() {
    let throwing = THROWS.replace("fn weight", "#[inline(never)]\nfn weight");
    let artifact = compile("throwing", &throwing, "gfx1100").unwrap();
    assert_eq!(ends_and_traps(&artifact, 0x90), (1, 0));
    let recursive =
        throwing.replace("x[i] }", "if x[i] > 9 { weight(x, i + 1) * x[i] } else { 1 } }");
    let artifact = compile("throwing_recursive", &recursive, "gfx1100").unwrap();
    assert_eq!(ends_and_traps(&artifact, 0x90), (2, 0), "the thread ends where it is");
}

/// Acceptance: S0.7.
#[test]
fn what_a_kernel_does_not_use_is_not_in_it() {
    let parts = ["malloc", "vprintf", "panic", "print", "core3fmt", "__kernelmill"];
    let quiet = ptx("unused", QUIET);
    for part in parts {
        assert_eq!(count(&quiet, part), 0, "{part}: {quiet}");
    }
    for target in ["gfx90a", "gfx1100"] {
        let artifact = compile("unused", QUIET, target).unwrap();
        for part in ["__kernelmill_panic_record", "__kernelmill_print"] {
            assert!(!contains(&artifact, part), "{target}: {part}");
        }
    }
}

#[test]
fn printing_is_the_drivers_on_nvidia_and_the_hosts_on_amd() {
    let text = QUIET.replace("*out = value", "gpu_println!(\"{value:>8.3}\");\n*out = value");
    let ptx = ptx("prints", &text);
    assert_eq!(count(&ptx, "call.uni (retval0), vprintf"), 1, "a line is printed whole");
    for target in ["gfx90a", "gfx1100"] {
        let artifact = compile("prints", &text, target).unwrap();
        assert!(contains(&artifact, PRINTS), "{target}");
        assert!(artifact.messages.contains(&"{f32: >8.3}".to_owned()), "{:?}", artifact.messages);
        assert!(artifact.kernels.iter().all(|kernel| kernel.panics), "{target}: no record");
    }
    if test_support::tool::nvidia("ptxas").is_some() {
        compile("prints", &text, "sm_90").unwrap_or_else(|error| panic!("{error}"));
    }
}

/// A line that the host cannot format is formatted on the device; the buffer is that of the panic record, in the device's
/// global memory, also where the kernel cannot panic.
#[test]
fn lines_for_amd_go_to_the_memory_that_the_record_names() {
    let source = |line: &str| {
        format!(
            "use kernelmill_device::prelude::*;\n\n#[kernel]\npub fn prints(x: u32) {{\n    \
             gpu_println!({line});\n}}\n\n#[derive(Debug)]\npub struct Pair(u32, bool);\n"
        )
    };
    let offset = std::mem::offset_of!(kernelmill_artifact::PanicRecord, printed);
    for target in ["gfx90a", "gfx1100"] {
        let inspect = |line: &str| {
            let (text, config) = (source(line), Config::new(target.parse().unwrap()));
            let (source, lowered) = common::lower("prints_to_record", &text);
            let job = common::job("prints_to_record", &source, &lowered, &config);
            let artifact = common::compiler().compile(&job).unwrap_or_else(|it| panic!("{it}"));
            (common::compiler().inspect(&job).unwrap(), artifact)
        };
        let (module, artifact) = inspect("\"{x} {x:04x}\"");
        let is_field = |it: &str| {
            it.contains("getelementptr")
                && it.contains("ptr addrspace(1)")
                && it.contains(&format!("i64 {offset}"))
        };
        let named = module.lines().any(is_field);
        assert!(named, "{target}: {module}");
        assert!(module.contains("atomicrmw add ptr addrspace(1)"), "{target}: {module}");
        assert!(!module.contains("core3fmt"), "{target}: formatted on the device");
        assert_eq!(artifact.messages, ["{u32} {u32:04x}"], "{target}");
        let (module, artifact) = inspect("\"{:?} {x}\", Pair(x, true)");
        assert!(module.contains("core3fmt"), "{target}: not formatted on the device");
        assert!(contains(&artifact, PRINTS) && artifact.messages.is_empty(), "{target}");
    }
}

const HEAP: &str = "
use kernelmill_device::prelude::*;

#[kernel]
pub fn heap(n: u32, mut y: DisjointSlice<f32>) {
    let values: Vec<f32> = (0..n).map(|i| i as f32).collect();
    if let Some(out) = y.get_mut(thread::index_1d()) {
        *out = *Box::new(values[n as usize / 2]);
    }
}
";

/// Acceptance: S0.7.
#[test]
fn the_heap_is_malloc_where_there_is_one_and_an_error_elsewhere() {
    let ptx = ptx("heap", HEAP);
    assert!(count(&ptx, ", malloc,") > 0 && count(&ptx, "call.uni free") > 0, "{ptx}");
    compile("heap", HEAP, "cpu").unwrap_or_else(|error| panic!("{error}"));
    let error = compile("heap", HEAP, "gfx1100").unwrap_err().to_string();
    let start = "a kernel cannot be compiled for gfx1100:\n  [KM0103] allocates on the heap, which the target \
                 does not have\n";
    assert!(error.starts_with(start), "{error}");
    assert!(error.contains("from kernels/heap.rs:6, in `heap::heap`"), "{error}");
}

/// Acceptance: S0.7.
#[test]
fn a_function_of_the_run_time_library_cannot_be_defined_again() {
    let refused = |name: &str, function: &str| {
        let text = format!("{QUIET}\n{function}\n");
        GPUS.map(|target| compile(name, &text, target).unwrap_err().to_string())[0].clone()
    };
    let clash = "#[unsafe(no_mangle)]\npub extern \"C\" fn __kernelmill_barrier() {}";
    assert_eq!(
        refused("clash", clash),
        "a kernel cannot be compiled for compute_75:\n  [KM0114] defines `__kernelmill_barrier`, which is a function of \
         kernelmill's own library\n     --> `__kernelmill_barrier`\n    help: rename it; names that start with \
         `__kernelmill_` are the compiler's"
    );
    let arity =
        "#[unsafe(no_mangle)]\npub extern \"C\" fn __kernelmill_panic(kind: u32) -> ! { loop {} }";
    let message = refused("arity", arity);
    assert!(message.contains("(with 1 parameters, where the library's has 4)"), "{message}");
}

/// Acceptance: S0.7.
#[test]
fn a_declaration_that_is_not_the_librarys_is_refused() {
    let text = QUIET.replace("*out = value", "unsafe { __kernelmill_barrier(3) };\n*out = value")
        + "unsafe extern \"C\" { fn __kernelmill_barrier(id: u32); }\n";
    for target in ["compute_75", "gfx1100"] {
        let error = compile("declares", &text, target).unwrap_err().to_string();
        let part = "declares `__kernelmill_barrier` with 1 parameters, and kernelmill's own library defines it \
                    with 0, or with other types";
        assert!(error.contains(part), "{error}");
    }
}

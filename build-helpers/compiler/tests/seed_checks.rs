//! The checks of the survey that the compiler's first five points come from, each under its number
//! there. Checks that have no meaning for a language compiled ahead of time are in
//! `docs/src/adr/0010-what-a-job-is.md`.

mod common;

use common::{compile, compiler, job, lower, ptx, source};
use kernelmill_artifact::Signature;
use kernelmill_compiler::{
    Compiler, Config, Error, Job, JobSource, Toolchain, frontend::rust::signature,
};
use test_support::{InFolder, temporary_folder};

const SHARED: &str = "
use kernelmill_device::prelude::*;

#[inline(never)]
fn shared(x: f32) -> f32 {
    x * x + 1.0
}

#[kernel]
pub fn first(mut out: DisjointSlice<f32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = shared(*out);
    }
}

#[kernel]
pub fn second(mut out: DisjointSlice<f32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = shared(shared(*out));
    }
}
";

fn with_options(target: &str, options: &[(&str, &str)]) -> Config {
    let mut config = Config::new(target.parse().unwrap());
    for (name, value) in options {
        config.options.set(name, value).unwrap();
    }
    config
}

/// The module of a source after the steps that these options ask for.
fn inspect(name: &str, text: &str, target: &str, options: &[(&str, &str)]) -> String {
    let (source, lowered) = lower(name, text);
    let config = with_options(target, options);
    compiler().inspect(&job(name, &source, &lowered, &config)).unwrap_or_else(|it| panic!("{it}"))
}

fn assembly(name: &str, text: &str, target: &str) -> String {
    let (source, lowered) = lower(name, text);
    let config = with_options(target, &[]);
    compiler().assembly(&job(name, &source, &lowered, &config)).unwrap_or_else(|it| panic!("{it}"))
}

/// The lines of the function that is defined with this in its first line.
fn body<'t>(module: &'t str, first: &str) -> Vec<&'t str> {
    let lines =
        module.lines().skip_while(|line| !(line.starts_with("define") && line.contains(first)));
    lines.take_while(|line| *line != "}").collect()
}

/// Where the arguments of an AMD kernel lie, as its metadata says.
fn offsets(code: &str) -> Vec<u32> {
    let value = |line: &str, key: &str| {
        let entry = line.trim_start_matches([' ', '-']).strip_prefix(key);
        entry.map(|value| value.trim().to_owned())
    };
    let mut offsets = Vec::new();
    for line in code.lines() {
        if let Some(offset) = value(line, ".offset:") {
            offsets.push(offset.parse().unwrap());
        } else if value(line, ".value_kind:").is_some_and(|kind| kind.starts_with("hidden")) {
            // What the run time passes by itself comes after the kernel's own.
            offsets.pop();
        }
    }
    offsets
}

/// Another compiler over the same toolchain, which has nothing of what the first one built.
fn fresh() -> InFolder<Compiler> {
    let folder = temporary_folder();
    let scratch = folder.path().to_owned();
    let toolchain = Toolchain { scratch, ..compiler().toolchain().clone() };
    InFolder::new(folder, Compiler::new(toolchain).unwrap())
}

/// What the front end gives changes with the code, however deep it is called, and with nothing else.
/// Acceptance: S0.3, C1.
#[test]
fn check_01_the_front_ends_result_is_that_of_the_code() {
    let deep = "pub fn deep(x: f32) -> f32 { x * 2.0 }\n";
    let text = SHARED.replace("x * x + 1.0", "mid::mid(x)")
        + "mod mid { pub fn mid(x: f32) -> f32 { super::deep::deep(x) } }\nmod deep;\n";
    let modules = |text: &str, deep: &str| {
        let source = common::source_with("callee", text, &[("deep.rs", deep)]);
        compiler().lower_rust(&source).unwrap().modules
    };
    let first = modules(&text, deep);
    assert_eq!(modules(&text, deep), first);
    assert_eq!(modules(&format!("{text}// A comment.\n"), deep), first, "a comment");
    assert_eq!(modules(&text, &format!("{deep}// A comment.\n")), first, "one in another file");
    assert_ne!(modules(&text, &deep.replace("2.0", "3.0")), first, "a callee");
}

/// The device crate is compiled once for a toolchain, whatever a job asks for, and again when a
/// line of it changes.
/// Acceptance: S0.7, C2.
#[test]
fn check_02_the_library_does_not_depend_on_the_job_and_does_on_its_own_sources() {
    let folder = || compiler().device_crate().unwrap().1.to_owned();
    let before = folder();
    for target in ["compute_75", "gfx1100", "cpu"] {
        compile("library", SHARED, target).unwrap();
        assert_eq!(folder(), before, "{target}");
    }
    let digest = |sources: &[(&str, &str)]| {
        let mut hash = hmac_sha256::Hash::new();
        for (name, text) in sources {
            hash.update((name.len() as u64).to_le_bytes());
            hash.update(name);
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text);
        }
        hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect::<String>()
    };
    let mut sources =
        [kernelmill_device::sources::DEVICE, kernelmill_device::sources::MACROS].concat();
    let version = compiler().version();
    assert!(version.contains(&digest(&sources)), "{version}");
    let changed = format!("{} ", sources[0].1);
    sources[0].1 = &changed;
    assert!(!version.contains(&digest(&sources)), "{version}");
}

/// What is stored is the same from any process, and nothing that only holds in this one is in it.
/// Acceptance: S2.9, C3.
#[test]
fn check_03_a_result_is_portable() {
    let (source, lowered) = lower("portable", SHARED);
    let other = fresh();
    for target in ["compute_75", "gfx1100", "cpu"] {
        let config = with_options(target, &[]);
        let job = job("portable", &source, &lowered, &config);
        let artifact = compiler().compile(&job).unwrap();
        assert_eq!(other.compile(&job).unwrap().to_bytes(), artifact.to_bytes(), "{target}");
    }
    assert_eq!(other.lower_rust(&source).unwrap().modules, lowered.modules);
}

/// Acceptance: S0.4, C6.
#[test]
fn check_06_non_plain_arguments() {
    let text = "\
use num::BigInt;
#[repr(C)] pub struct Wrapper { pub scale: f32, pub value: BigInt }
#[kernel] pub fn plain(x: BigInt, w: Wrapper) {}";
    let found = signature::read(text, "kernels/plain.rs").unwrap_err();
    let found: Vec<_> = found.iter().map(ToString::to_string).collect();
    assert_eq!(
        found,
        [
            "kernels/plain.rs:3:27: error[KM0040]: parameter `x` of kernel `plain` has type `BigInt`, which \
             cannot cross from host to device\n  help: define `BigInt` as a `#[repr(C)]` struct in \
             this file",
            "kernels/plain.rs:3:38: error[KM0040]: parameter `w` of kernel `plain` has type `Wrapper`, \
             whose field `value` has type `BigInt`, which cannot cross from host to device\n  \
             kernels/plain.rs:2:60: `BigInt`\n  help: define `BigInt` as a `#[repr(C)]` struct in \
             this file",
        ]
    );
}

/// Acceptance: S0.2, S0.13, C7.
#[test]
fn check_07_always_inline() {
    for target in ["compute_75", "gfx1100", "cpu"] {
        let calls = |options: &[(&str, &str)]| {
            let module = inspect("inlined", SHARED, target, options);
            module.lines().filter(|line| line.contains("call") && line.contains("shared")).count()
        };
        assert!(calls(&[]) > 0, "{target}");
        assert_eq!(calls(&[("always_inline", "true")]), 0, "{target}");
    }
}

/// Acceptance: S0.2.
#[test]
fn strip_takes_the_lines_and_only_entry_the_callees() {
    for target in ["compute_75", "gfx1100"] {
        let has = |options: &[(&str, &str)]| {
            let module = inspect("taken", SHARED, target, options);
            let (callee, kernel) = (body(&module, "shared"), body(&module, "first"));
            [!kernel.is_empty(), !callee.is_empty(), module.contains("!DILocation(")]
        };
        assert_eq!(has(&[]), [true; 3], "{target}: kernel, callee, lines");
        assert_eq!(has(&[("strip", "true")]), [true, true, false], "{target}");
        assert!(has(&[("only_entry", "true")]).starts_with(&[true, false]), "{target}");
    }
    // On the CPU the run time finds the functions of a kernel through the constant that describes it.
    let (source, lowered) = lower("taken", SHARED);
    let config = with_options("cpu", &[("only_entry", "true")]);
    let module = compiler().inspect(&job("taken", &source, &lowered, &config)).unwrap();
    let described = module.lines().find(|line| line.starts_with("@kernelmill_cpu_taken_first"));
    let name = described.and_then(|line| line.split("ptr @").nth(1)?.split([',', ' ']).next());
    assert!(!body(&module, name.unwrap()).is_empty(), "{module}");
    assert!(body(&module, "shared").is_empty(), "{module}");
}

/// Eight floats of a thread, in a loop, whose address is taken; and none.
const SLOTS: &str = "
use kernelmill_device::prelude::*;

#[kernel]
pub fn slots(a: f32, mut out: DisjointSlice<f32>) {
    let i = thread::index_1d();
    let mut sum = 0.0;
    for step in 0..2u32 {
        let mut sums = StackArray::<f32, 8>::ZEROED;
        unsafe { sums.as_mut_ptr().add(3).write(a + step as f32) };
        sum += sums[3] + sums[4];
    }
    let mut nothing = StackArray::<f32, 0>::ZEROED;
    if let Some(out) = out.get_mut(i) {
        *out = if nothing.as_mut_ptr().is_null() { sum } else { 7777.0 };
    }
}
";

/// Acceptance: S0.13, C8.
#[test]
fn check_08_stack_slots() {
    let targets = [("compute_75", ""), ("gfx1100", ", addrspace(5)"), ("cpu", "")];
    for (target, space) in targets {
        let module = inspect("slots", SLOTS, target, &[("toplevel", "false")]);
        let kernel = body(&module, "slots5slots");
        let slots: Vec<_> =
            kernel.iter().filter(|line| line.contains("alloca [32 x i8]")).copied().collect();
        assert_eq!(slots.len(), 1, "{target}: {kernel:#?}");
        assert!(slots[0].ends_with(&format!("align 4{space}")), "{target}: {slots:?}");
        assert!(!module.contains("alloca [0 x"), "{target}: {module}");
        let end = kernel.iter().position(|line| line.starts_with("  br ")).unwrap();
        let place = kernel.iter().position(|line| *line == slots[0]).unwrap();
        assert!(place < end, "{target}: the slot is in the entry block: {kernel:#?}");
        let optimized = inspect("slots", SLOTS, target, &[]);
        assert!(!optimized.contains("alloca [32 x"), "{target}: {optimized}");
        assert!(!optimized.contains("7.777000e+03"), "{target}: an address of no bytes is null");
        assert!(target == "cpu" || !optimized.contains("alloca"), "{target}: {optimized}");
    }
}

/// Acceptance: S0.13.
#[test]
fn a_stack_array_has_plain_data_alone() {
    let text = SLOTS.replace("StackArray::<f32, 0>::ZEROED", "StackArray::<&str, 1>::ZEROED");
    let source = source("slots", &text);
    let error = compiler().lower_rust(&source).unwrap_err().to_string();
    assert!(error.contains("&str") && error.contains("AnyBitPattern"), "{error}");
    assert!(error.contains("slots.rs:13"), "{error}");
}

/// A kernel has the parameters of its source and no hidden one, save for the address of the record that
/// its panics fill, on NVIDIA's processors and where it may panic. On the CPU, what a thread knows of
/// itself reaches the functions that ask for it, and no others.
/// Acceptance: S0.6, C10.
#[test]
fn check_10_kernel_state_reaches_only_the_functions_that_use_it() {
    let text = SHARED.replace("x * x + 1.0", "x * x + thread::thread_idx().x as f32");
    for (target, kernel) in [("compute_75", "@first("), ("gfx1100", "@first(")] {
        let module = inspect("state", &text, target, &[]);
        let line = body(&module, kernel)[0];
        assert_eq!(line.matches("ptr").count(), 1, "{target}: {line}");
        assert_eq!(line.matches("i64").count(), 1, "{target}: {line}");
        assert!(!module.contains("__kernelmill_panic_record"), "{module}");
    }
    let parameters = |text: &str| {
        let module = inspect("state", text, "cpu", &[]);
        let function = body(&module, "shared");
        function.first().map(|line| line.matches("float").count() + line.matches("ptr").count())
    };
    assert_eq!(parameters(SHARED), Some(2), "float(float), and no context");
    assert_eq!(parameters(&text), None, "it is part of the kernels, where the context is at hand");
}

/// Acceptance: C11.
#[test]
fn check_11_kernel_state_survives_a_rebuild_of_the_library() {
    let text = SHARED.replace("shared(*out)", "{ assert!(*out > 0.0); shared(*out) }");
    let (source, lowered) = lower("rebuild", &text);
    let config = with_options("compute_75", &[]);
    let job = job("rebuild", &source, &lowered, &config);
    let before = compiler().compile(&job).unwrap();
    let after = fresh().compile(&job).unwrap();
    assert_eq!(before, after);
    let text = String::from_utf8(after.bytes).unwrap();
    assert!(text.contains("%gridid"), "the panic names its launch: {text}");
}

/// Point S0.9. What a library asks is answered after linking, from the job, on every target.
/// Acceptance: S0.9.
#[test]
fn what_a_library_asks_of_its_target_is_folded() {
    let text = "
use kernelmill_device::prelude::*;

unsafe extern \"C\" {
    fn __nvvm_reflect(question: *const core::ffi::c_char) -> i32;
}

#[kernel]
pub fn ask(mut out: DisjointSlice<i32>) {
    let known = unsafe { __nvvm_reflect(c\"__CUDA_ARCH\".as_ptr()) };
    let others = unsafe { __nvvm_reflect(c\"__CUDA_FTZ\".as_ptr()) + __nvvm_reflect(c\"nothing\".as_ptr()) };
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = known * 1000 + others + 7;
    }
}
";
    for (target, value) in [("compute_86", "860007"), ("gfx1100", "7"), ("cpu", "7")] {
        let module = inspect("ask", text, target, &[]);
        assert!(module.contains(&format!("store i32 {value},")), "{target}: {module}");
        assert!(!module.contains("reflect"), "{target}: {module}");
    }
    let text = text.replace("c\"nothing\"", "[c\"a\", c\"b\"][out.len() % 2]");
    for target in ["compute_86", "gfx1100", "cpu"] {
        let message = compile("ask", &text, target).unwrap_err().to_string();
        let expected = "calls `__nvvm_reflect` with an argument that is not a constant string";
        assert!(message.contains(expected) && message.contains("ask.rs:11"), "{target}: {message}");
    }
}

/// Acceptance: S0.9.
#[test]
fn denormal_numbers_are_flushed_where_a_job_asks_for_it() {
    let text = "
use kernelmill_device::prelude::*;

unsafe extern \"C\" {
    fn __nvvm_reflect(question: *const core::ffi::c_char) -> i32;
}

#[inline(never)]
fn inner(x: f32, y: f32) -> f32 {
    x * y + 7.0
}

#[kernel]
pub fn add(x: &[f32], wide: &[f64], mut out: DisjointSlice<f32>) {
    let i = thread::index_1d();
    let asked = unsafe { __nvvm_reflect(c\"__CUDA_FTZ\".as_ptr()) } as f32;
    if let Some(out) = out.get_mut(i) {
        *out = inner(*out + x[i.get()], asked * 3.0) + (wide[i.get()] + 1.0) as f32;
    }
}
";
    let (source, lowered) = lower("flush", text);
    let code = |target: &str, ftz: &str| {
        let config = with_options(target, &[("ftz", ftz)]);
        compiler().assembly(&job("flush", &source, &lowered, &config)).unwrap()
    };
    let floats = |text: &str| {
        let is_float = |line: &&str| line.contains(".f32") && line.contains(".rn");
        text.lines().filter(is_float).map(|it| it.contains(".ftz.")).collect::<Vec<_>>()
    };
    let (kept, flushed) = (code("compute_75", "false"), code("compute_75", "true"));
    for (text, expected) in [(&kept, false), (&flushed, true)] {
        let found = floats(text);
        assert!(found.len() >= 2 && found.iter().all(|it| *it == expected), "{text}");
        assert!(!text.contains(".ftz.f64"), "{text}");
    }
    // The two kernels answer `__CUDA_FTZ` in their own way: 0.0 and 3.0.
    assert!(flushed.contains("0f40400000") && !kept.contains("0f40400000"), "{flushed}");
    let mode = |text: &str| {
        let line = text.lines().find(|line| line.contains(".amdhsa_float_denorm_mode_32"));
        line.unwrap().trim().rsplit(' ').next().unwrap().to_owned()
    };
    assert_eq!(
        (mode(&code("gfx90a", "false")), mode(&code("gfx90a", "true"))),
        ("3".into(), "0".into())
    );
    assert_eq!(code("cpu", "false"), code("cpu", "true"), "a thread of the host keeps its mode");
    if test_support::tool::nvidia("ptxas").is_some() {
        let config = with_options("sm_80", &[("ftz", "true")]);
        compiler().compile(&job("flush", &source, &lowered, &config)).unwrap();
    }
}

const STRUCT: &str = "
use kernelmill_device::prelude::*;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Params {
    scale: f32,
    weights: [f32; 6],
    count: u64,
}

#[kernel]
pub fn weigh(bias: f32, params: Params, mut out: DisjointSlice<f32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = params.scale * params.weights[2] + params.count as f32 + bias;
    }
}
";

/// Acceptance: S0.6, C12.
#[test]
fn check_12_a_struct_is_bytes_in_the_kernels_signature() {
    let ptx = ptx("argument_attributes", STRUCT);
    let entry: String = ptx.split(".entry weigh(").nth(1).unwrap().split(')').take(1).collect();
    let types: Vec<_> = entry.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    assert_eq!(types[0], ".param .f32 weigh_param_0,", "{entry}");
    assert_eq!(types[1], ".param .align 8 .b8 weigh_param_1[40],", "{entry}");
    assert!(!ptx.contains(".local"), "no copy of it is made: {ptx}");
    assert!(!ptx.contains("nvvm.annotations"));
}

/// Acceptance: C14.
#[test]
fn check_14_a_function_that_two_kernels_call_is_in_both_their_modules() {
    let (source, lowered) = lower("reuse", SHARED);
    for target in ["compute_75", "gfx1100", "cpu"] {
        let config = with_options(target, &[]);
        for signature in &source.signatures {
            let signatures = std::slice::from_ref(signature);
            let source = JobSource { lowered: &lowered, signatures, unit: "reuse" };
            let module = compiler().inspect(&Job { source, config: &config }).unwrap();
            assert!(!body(&module, "shared").is_empty(), "{target}: {}", signature.name);
            let artifact = compiler().compile(&Job { source, config: &config }).unwrap();
            assert_eq!(artifact.kernels.len(), 1);
        }
    }
}

/// Acceptance: S0.3, C16.
#[test]
fn check_16_a_feature_set_is_in_the_key_and_in_the_code() {
    let keys: std::collections::BTreeSet<_> = [
        "sm_90",
        "sm_90a",
        "sm_100",
        "sm_100a",
        "sm_100f",
        "compute_90",
        "gfx90a",
        "gfx90a:xnack+",
        "gfx90a:xnack-",
    ]
    .map(|target| Config::new(target.parse().unwrap()).key())
    .into();
    assert_eq!(keys.len(), 9);
    for target in ["90a", "100f"] {
        let ptx = assembly("features", SHARED, &format!("compute_{target}"));
        assert!(ptx.contains(&format!(".target sm_{target}\n")), "{ptx}");
    }
}

/// Acceptance: S0.6, C17.
#[test]
fn check_17_arguments_of_amd_kernels() {
    let module = inspect("kernarg", STRUCT, "gfx90a", &[]);
    let line = body(&module, "@weigh(")[0];
    assert!(line.contains("amdgpu_kernel"), "{line}");
    let by_reference = "ptr addrspace(4) noalias readonly";
    assert!(line.contains(by_reference) && line.contains("byref([40 x i8])"), "{line}");
    assert!(line.contains("float "), "scalars are passed as they are: {line}");
    let code = assembly("kernarg", STRUCT, "gfx90a");
    assert!(code.contains("s_load_dword") && !code.contains("flat_load"), "{code}");
    assert!(code.contains(".private_segment_fixed_size: 0"), "{code}");
    assert_eq!(offsets(&code), [0, 8, 48, 56], "{code}");
}

/// Kernels have the names of their source; others are shown to people as they are written.
/// Acceptance: S0.5, S1.7, C20.
#[test]
fn check_20_names() {
    let text = "
use kernelmill_device::prelude::*;

#[kernel]
pub fn größe(mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = 1;
    }
}

#[kernel]
pub fn r#loop(mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = 2;
    }
}
";
    let mut targets = vec!["compute_75", "gfx1100", "cpu"];
    targets.extend(test_support::tool::nvidia("ptxas").map(|_| "sm_90"));
    for target in targets {
        let artifact = compile("names", text, target).unwrap_or_else(|error| panic!("{error}"));
        let names: Vec<_> =
            artifact.kernels.iter().map(|kernel| (&*kernel.name, &*kernel.entry)).collect();
        assert_eq!(names, [("gr__e", "gr__e"), ("loop", "loop")], "{target}");
    }
    let generic = "
use kernelmill_device::prelude::*;

#[inline(never)]
fn identity<const N: i16>(x: &str) -> usize {
    x.to_owned().len() + N as usize
}

#[kernel]
pub fn named(mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = identity::<1>(\"a\") as u32;
    }
}
";
    let message = compile("named", generic, "gfx1100").unwrap_err().to_string();
    assert!(message.contains("named::identity"), "{message}");
}

/// Acceptance: S0.5, C20.
#[test]
fn check_20_mangled_names_are_shown_as_the_path_with_types() {
    let text = "
use kernelmill_device::prelude::*;

pub mod shapes {
    use kernelmill_device::prelude::*;

    #[kernel]
    pub fn fold(a: [f32; 4], rows: &[[f32; 4]], other: &[[f32; 4]], mut out: DisjointSlice<f32>) {
        if let Some(out) = out.get_mut(thread::index_1d()) {
            *out = a[0] + rows[0][1] + other[0][2];
        }
    }
}
";
    let mut targets = vec!["compute_75", "gfx1100"];
    targets.extend(test_support::tool::nvidia("ptxas").map(|_| "sm_90"));
    let (source, lowered) = lower("names", text);
    let symbol = "_ZN5names6shapes4foldE5ArrayIfLm4EE5SliceIKS2_ES5_13DisjointSliceIfE";
    let shown = "names::shapes::fold(Array<float, 4ul>, Slice<Array<float, 4ul> const>, \
                 Slice<Array<float, 4ul> const>, DisjointSlice<float>)";
    for target in targets {
        let config = with_options(target, &[("mangle", "true")]);
        let artifact = compiler().compile(&job("names", &source, &lowered, &config)).unwrap();
        let kernel = &artifact.kernels[0];
        assert_eq!((&*kernel.name, &*kernel.entry), ("fold", symbol), "{target}");
        let is_there = artifact.bytes.windows(symbol.len()).any(|it| it == symbol.as_bytes());
        assert!(is_there, "{target}: the binary has another name");
        let config = with_options(target, &[("mangle", "true"), ("name", "chosen")]);
        let artifact = compiler().compile(&job("names", &source, &lowered, &config)).unwrap();
        assert_eq!(artifact.kernels[0].entry, "chosen", "{target}");
    }
    let shows = std::process::Command::new("c++filt").arg(symbol).output();
    if let Some(shows) = test_support::tool::require("c++filt", shows.ok()) {
        assert_eq!(String::from_utf8_lossy(&shows.stdout).trim(), shown);
    }
}

/// Acceptance: S0.2, S0.5, C21.
#[test]
fn check_21_compilation_parameters() {
    let (source, lowered) = lower("parameters", STRUCT);
    for target in ["compute_75", "gfx1100", "cpu"] {
        let named = with_options(target, &[("name", "renamed")]);
        let artifact = compiler().compile(&job("parameters", &source, &lowered, &named)).unwrap();
        let kernel = &artifact.kernels[0];
        assert_eq!((&*kernel.name, &*kernel.entry), ("weigh", "renamed"), "{target}");
        let symbol = kernel.cpu_symbol.as_deref().unwrap_or("renamed");
        assert!(symbol.ends_with("renamed"), "{symbol}");
        let bytes = artifact.bytes.windows(symbol.len());
        assert!(bytes.into_iter().any(|window| window == symbol.as_bytes()), "{target}");
    }
    let (source, lowered) = lower("two", SHARED);
    let named = with_options("compute_75", &[("name", "renamed")]);
    let error = compiler().compile(&job("two", &source, &lowered, &named)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the option `name` (`renamed`) is for a source with one kernel, and this one has `first`, `second`"
    );
}

fn large(bytes: usize) -> String {
    format!(
        "
use kernelmill_device::prelude::*;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Table {{
    values: [u32; {}],
}}

#[kernel]
pub fn look_up(table: Table, mut out: DisjointSlice<u32>) {{
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {{
        *out = table.values[i.get() % 16];
    }}
}}
",
        (bytes - 16) / 4
    )
}

/// Acceptance: S0.12, C21.
#[test]
fn check_21_parameter_space() {
    let version =
        |ptx: &str| ptx.lines().find_map(|line| line.strip_prefix(".version ")).unwrap().to_owned();
    assert_eq!(version(&ptx("small", &large(4088))), "6.3");
    assert_eq!(version(&ptx("large", &large(4096))), "8.1", "older ones have 4088 bytes");
    if test_support::tool::nvidia("ptxas").is_some() {
        for (bytes, target) in [(4104, "sm_80"), (32752, "sm_90")] {
            compile("assembled", &large(bytes), target).unwrap_or_else(|error| panic!("{error}"));
        }
    }
    let error = compile("larger", &large(32768), "sm_90").unwrap_err();
    assert_eq!(
        error.to_string(),
        "kernels/larger.rs:11: the parameters of kernel `look_up` take 32768 bytes, and sm_90 has \
         space for 32752:\n   32752 bytes: table: Table\n      16 bytes: out: DisjointSlice<u32>\n  \
         help: pass the large ones as slices, which take 16 bytes each"
    );
    assert!(matches!(error, Error::ParameterSpace { limit: 32752, .. }));
    for target in ["gfx1100", "cpu"] {
        compile("larger", &large(32768), target).unwrap_or_else(|error| panic!("{error}"));
    }
}

/// What is between parameters is the same for the host, which passes them, and for the device.
/// Acceptance: S0.4, S0.12, C21.
#[test]
fn check_21_argument_layout() {
    let text = "
use core::marker::PhantomData;
use kernelmill_device::prelude::*;

pub struct Unit;

#[kernel]
pub fn wide(a: u8, nothing: Unit, b: u128, c: bool, none: PhantomData<f64>, mut out: DisjointSlice<u128>) {
    let _ = (nothing, none);
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = if c { b } else { u128::from(a) };
    }
}
";
    let signatures: Vec<Signature> = signature::read(text, "kernels/wide.rs").unwrap();
    let shown = signatures[0].to_string();
    assert_eq!(shown, "fn wide(a: u8, b: u128, c: bool, out: DisjointSlice<u128>)");
    let ptx = ptx("wide", text);
    let entry: String = ptx.split(".entry wide(").nth(1).unwrap().split(')').take(1).collect();
    assert_eq!(entry.matches(".param").count(), 5, "{entry}");
    assert!(entry.contains(".param .align 16 .b8 wide_param_1[16]"), "{entry}");
    let code = assembly("wide", text, "gfx90a");
    assert_eq!(offsets(&code), [0, 16, 32, 40, 48], "{code}");
    compile("wide", text, "cpu").unwrap();
}

//! Names and values as tools and devices see them: paths of kernels in PTX, copies of structs that kernels
//! change, and slots of 128 bits.

mod common;

use common::{compiler, job, lower};
use kernelmill_compiler::Config;
use object::{Object as _, ObjectSymbol as _};
use test_support::tool;

fn compile(text: &str, target: &str) -> Vec<u8> {
    let (source, lowered) = lower("seen", text);
    let config = Config::new(target.parse().unwrap());
    let artifact = compiler().compile(&job("seen", &source, &lowered, &config));
    artifact.unwrap_or_else(|error| panic!("{target}: {error}")).bytes
}

fn module(text: &str, target: &str) -> String {
    let (source, lowered) = lower("seen", text);
    let config = Config::new(target.parse().unwrap());
    let module = compiler().inspect(&job("seen", &source, &lowered, &config));
    module.unwrap_or_else(|error| panic!("{target}: {error}"))
}

/// The texts of the debug information in PTX, which are numbers behind `.b8`.
fn texts(ptx: &str) -> Vec<String> {
    let numbers = ptx.lines().filter_map(|line| line.trim().strip_prefix(".b8 "));
    let numbers = numbers.flat_map(|line| line.split([',', ';', ' ']));
    let bytes: Vec<u8> = numbers.filter_map(|number| number.parse().ok()).collect();
    let texts = bytes.split(|byte| *byte == 0).map(|it| String::from_utf8_lossy(it).into_owned());
    texts.collect()
}

/// An entry has the kernel's bare name, by which programs that load the text look it up. Its body is inlined from the
/// kernel, whose symbol is its path in Rust's mangling, and PTX has the names of inlined functions from version 7.2 on. LLVM
/// writes them from 23 on.
///
/// Acceptance: S0.5.
#[test]
fn ptx_has_the_path_of_a_kernel_behind_its_bare_entry() {
    let text = "
use kernelmill_device::prelude::*;

pub mod shapes {
    use kernelmill_device::prelude::*;

    #[kernel]
    pub fn fold(x: &[f32], mut out: DisjointSlice<f32>) {
        let i = thread::index_1d();
        if let Some(out) = out.get_mut(i) {
            *out = 3.0 * x[i.get()];
        }
    }
}
";
    let ptx = String::from_utf8(compile(text, "compute_90")).unwrap();
    let is_path =
        |it: &String| format!("{:#}", rustc_demangle::demangle(it)) == "seen::shapes::fold";
    let has_names = tool::rustc().llvm_major() >= 23;
    assert_eq!(texts(&ptx).iter().any(is_path), has_names, "{ptx}");
    assert!(ptx.contains(".entry fold("), "{ptx}");
    let inlined = |line: &str| line.contains("function_name") && line.contains("inlined_at");
    assert_eq!(ptx.lines().any(inlined), has_names, "{ptx}");
    if tool::nvidia("ptxas").is_some() {
        let cubin = compile(text, "sm_90");
        // The first name is right behind another section.
        let texts = cubin.split(|byte| *byte == 0).map(String::from_utf8_lossy);
        let mut names = texts.filter_map(|it| Some(it[it.rfind("_R")?..].to_owned()));
        assert_eq!(names.any(|it| is_path(&it)), has_names, "ptxas keeps the path");
    }
}

/// A kernel that changes a struct which it was given by value has a copy, and nothing says of the copy what is true of the
/// parameter: that it never changes, or that nothing else names it.
///
/// Acceptance: S0.6.
#[test]
fn a_copy_of_a_struct_has_none_of_the_promises_of_the_parameter() {
    let text = "
use kernelmill_device::prelude::*;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Table { rows: [u32; 8] }

#[kernel]
pub fn shuffle(mut table: Table, at: &[u32], mut out: DisjointSlice<u32>) {
    for (round, place) in at.iter().enumerate() {
        table.rows[(*place % 8) as usize] += round as u32;
    }
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = table.rows[i.get() % 8];
    }
}
";
    for target in ["compute_75", "gfx1100"] {
        let module = module(text, target);
        let body = module.split("@shuffle(").nth(1).unwrap().split("\n}\n").next().unwrap();
        assert!(body.contains("alloca [32 x i8]"), "{target}: {body}");
        // What an AMD device gives a kernel beside its parameters, in constant memory, never changes.
        let of_copy: Vec<_> = body.lines().filter(|line| !line.contains("addrspace(4)")).collect();
        let of_copy = of_copy.join("\n");
        for promise in ["!invariant.load", "!tbaa", "!alias.scope", "!noalias"] {
            assert!(!of_copy.contains(promise), "{target}: {promise}: {body}");
        }
    }
    let ptx = String::from_utf8(compile(text, "compute_75")).unwrap();
    assert!(ptx.contains("ld.local") && ptx.contains("st.local"), "{ptx}");
}

/// A slot of 128-bit integers is bytes of the target's private memory, read and written in halves.
///
/// Acceptance: C19.
#[test]
fn slots_of_128_bits_are_made_of_halves() {
    let text = "
use kernelmill_device::prelude::*;

#[kernel]
pub fn wide(at: u32, mut out: DisjointSlice<u128>) {
    let mut slots = [1_u128, 2, 3, 4];
    slots[(at % 4) as usize] += 1 << 100;
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = slots[i.get() % 4];
    }
}
";
    let ptx = String::from_utf8(compile(text, "compute_75")).unwrap();
    let depot = ptx.lines().find(|line| line.contains("__local_depot")).unwrap();
    assert!(depot.contains(".align 16 .b8") && depot.contains("[64]"), "{depot}");
    assert!(!ptx.contains(".b128"), "{ptx}");
    let halves = |space: &str| {
        let is_access = |line: &&str| line.trim().starts_with(space);
        ptx.lines().filter(is_access).all(|line| line.contains("64") || line.contains("32"))
    };
    assert!(ptx.contains("ld.local") && halves("ld.local") && halves("st.local"), "{ptx}");
}

/// What the functions of a kernel are called in the object for the CPU, as `perf` and `gdb` read it.
fn functions(object: &[u8]) -> Vec<String> {
    let file = object::File::parse(object).unwrap();
    let functions = file.symbols().filter(|symbol| symbol.kind() == object::SymbolKind::Text);
    functions.map(|symbol| symbol.name().unwrap().to_owned()).collect()
}

/// What a demangler of C++ makes of symbols.
fn shown(symbols: &[String]) -> Option<Vec<String>> {
    let shown = std::process::Command::new("c++filt").args(symbols).output();
    let shown = tool::require("c++filt", shown.ok())?;
    Some(String::from_utf8(shown.stdout).unwrap().lines().map(str::to_owned).collect())
}

/// The functions that a kernel becomes on the CPU are shown as its path with its types, and with what each of them is:
/// one for each width of vectors, those of its regions, the parts of a coroutine, and what runs them. A chosen name wins.
///
/// Acceptance: S0.5.
#[test]
fn functions_on_the_cpu_are_shown_as_the_path_of_their_kernel() {
    let text = "
use kernelmill_device::prelude::*;

pub mod shapes {
    use kernelmill_device::prelude::*;

    #[kernel]
    pub fn fold(factor: f32, x: &[f32], mut out: DisjointSlice<f32>) {
        let i = thread::index_1d();
        if let Some(out) = out.get_mut(i) {
            *out = factor * x[i.get()];
        }
    }

    #[kernel]
    pub fn fold_run(mut out: DisjointSlice<u32>) {
        let i = thread::index_1d();
        if i.get() % 3 == 0 {
            thread::sync_threads();
        }
        if let Some(out) = out.get_mut(i) {
            *out += 1;
        }
    }
}
";
    let symbols = functions(&compile(text, "cpu"));
    let Some(shown) = shown(&symbols) else { return };
    let fold = "seen::shapes::fold(float, Slice<float const>, DisjointSlice<float>) [clone .";
    let run = "seen::shapes::fold_run(DisjointSlice<unsigned int>) [clone .";
    let is_of_a_kernel = |it: &&String| it.starts_with("seen::shapes::fold");
    let of_kernels: Vec<_> = shown.iter().filter(is_of_a_kernel).collect();
    assert!(of_kernels.iter().all(|it| it.starts_with(fold) || it.starts_with(run)), "{shown:#?}");
    let parts = |path: &str| -> Vec<String> {
        let parts = shown.iter().filter_map(|it| it.strip_prefix(path)?.strip_suffix(']'));
        parts.map(str::to_owned).collect()
    };
    for part in ["run1", "run8", "run16"] {
        assert!(parts(fold).contains(&part.to_owned()), "{part}: {shown:#?}");
    }
    assert!(parts(run).iter().any(|part| part.starts_with("run")), "{shown:#?}");
    // What is left is of the library, or was written by somebody.
    let is_bare = |it: &&String| it.starts_with("kernelmill_cpu_") || it.starts_with("fold");
    assert_eq!(shown.iter().find(is_bare), None, "{shown:#?}");

    let text = "
use kernelmill_device::prelude::*;

#[kernel]
pub fn fold(mut out: DisjointSlice<f32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = 1.0;
    }
}
";
    let (source, lowered) = lower("seen", text);
    let mut config = Config::new("cpu".parse().unwrap());
    config.options.name = Some("chosen".to_owned());
    let artifact = compiler().compile(&job("seen", &source, &lowered, &config)).unwrap();
    let symbols = functions(&artifact.bytes);
    assert!(symbols.contains(&"chosen.run8".to_owned()), "{symbols:?}");
}

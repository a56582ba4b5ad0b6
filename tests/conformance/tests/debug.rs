//! What binaries say of their source, for debuggers, profilers and `compute-sanitizer`.

mod common;

use std::{collections::BTreeSet, process::Command};

use common::{Source, lower, lower_with};
use kernelmill_artifact::ArtifactKind;
use kernelmill_compiler::Lowering;
use object::{Object, ObjectSection, ObjectSymbol};
use test_support::{has_path_of_the_machine, temporary_folder, tool, write_file};

const KERNEL: &str = "\
use kernelmill_device::prelude::*;

#[inline]
fn weight(value: f32) -> f32 {
    value.sqrt() * 0.25
}

#[kernel]
pub fn weigh(scale: f32, mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        let weighed = weight(*out);
        *out = scale / weighed;
    }
}
";

const CPP: &str = "\
__device__ float weight(float value) {
  return sqrtf(value) * 0.25f;
}

extern \"C\" __global__ void weigh(float scale, float *y) {
  float weighed = weight(y[threadIdx.x]);
  y[threadIdx.x] = scale / weighed;
}
";

/// The same kernel in Rust and in C++, with the lines that its code must name.
fn sources(full: bool) -> [(Source, &'static str, BTreeSet<u64>); 2] {
    let arguments = |argument| if full { vec![argument] } else { Vec::new() };
    let name = if full { "full" } else { "lines" };
    let rust = lower_with(&format!("{name}.rs"), KERNEL, &arguments("-Cdebuginfo=full")).unwrap();
    let cpp = lower_with(&format!("{name}_cpp.cu"), CPP, &arguments("-G")).unwrap();
    let file = if full { "kernels/full.rs" } else { "kernels/lines.rs" };
    let of_cpp = if full { "kernels/full_cpp.cu" } else { "kernels/lines_cpp.cu" };
    [(rust, file, BTreeSet::from([5, 13])), (cpp, of_cpp, BTreeSet::from([2, 7]))]
}

type Bytes<'a> = gimli::EndianSlice<'a, gimli::LittleEndian>;

fn section<'a>(bytes: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let file = object::File::parse(bytes).unwrap();
    file.section_by_name(name).map(|section| section.data().unwrap())
}

/// The lines of a file that a table of lines in ELF names.
fn lines(bytes: &[u8], file: &str) -> BTreeSet<u64> {
    let data = section(bytes, ".debug_line").expect("a table of lines");
    let table = gimli::DebugLine::new(data, gimli::LittleEndian);
    let program = table.program(gimli::DebugLineOffset(0), 8, None, None).unwrap();
    let mut rows = program.rows();
    let mut found = BTreeSet::new();
    while let Some((header, row)) = rows.next_row().unwrap() {
        let (Some(entry), Some(line)) = (row.file(header), row.line()) else { continue };
        let text = |value: gimli::AttributeValue<Bytes<'_>>| match value {
            gimli::AttributeValue::String(text) => {
                String::from_utf8_lossy(text.slice()).into_owned()
            }
            _ => String::new(),
        };
        let folder = entry.directory(header).map(text).unwrap_or_default();
        let name = text(entry.path_name());
        // clang writes the folder that names are relative to, which is `.`, before them.
        if format!("/{folder}/{name}").ends_with(&format!("/{file}")) {
            found.insert(line.get());
        }
    }
    found
}

/// What NVIDIA's disassembler says of the lines of a cubin.
fn disassembled(bytes: &[u8]) -> Option<String> {
    let tool = tool::nvidia("nvdisasm")?;
    let folder = temporary_folder();
    let path = write_file(&folder, "kernels.cubin", bytes);
    let output = Command::new(tool).arg("--print-line-info").arg(&path).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn line_tables_are_there_by_default_and_nothing_else() {
    for (source, file, expected) in sources(false) {
        let ptx = source.assembly("compute_75").unwrap();
        assert!(ptx.contains("\t.loc\t") && !ptx.contains(".debug_info"), "{ptx}");
        assert!(!ptx.contains(", debug"), "{ptx}");
        for target in ["sm_75", "sm_90", "gfx90a", "gfx942", "gfx1100"] {
            let artifact = source.compile(target).unwrap();
            if target.starts_with("gfx") {
                let found = lines(&artifact.bytes, file);
                assert!(found.is_superset(&expected), "{target}: {file}: {found:?}");
            } else if let Some(text) = disassembled(&artifact.bytes) {
                for line in &expected {
                    let wanted = format!("{file}\", line {line}");
                    assert!(text.contains(&wanted), "{target}: no {wanted} in\n{text}");
                }
            }
            assert_eq!(section(&artifact.bytes, ".debug_info").map(<[u8]>::len), None, "{target}");
            assert!(!has_path_of_the_machine(&artifact.bytes), "{target}");
        }
    }
}

/// Acceptance: S0.2.
#[test]
fn full_debug_information_has_variables_and_types() {
    for (source, file, expected) in sources(true) {
        let option = ("debug_level", "2");
        let ptx = source.compile_with("compute_75", option);
        assert_eq!(ptx.kind, ArtifactKind::Ptx);
        let text = String::from_utf8(ptx.bytes).unwrap();
        assert!(text.contains(".debug_info") && text.contains(".target sm_75, debug"), "{file}");
        for target in ["sm_75", "sm_90", "gfx90a", "gfx942", "gfx1100"] {
            let artifact = source.compile_with(target, option);
            let found = lines(&artifact.bytes, file);
            assert!(found.is_superset(&expected), "{target}: {file}: {found:?}");
            let all = artifact.bytes.windows(7).any(|window| window == b"weighed");
            assert!(all, "{target}: {file}: no variable");
            assert!(section(&artifact.bytes, ".debug_info").is_some(), "{target}: {file}");
            assert!(!has_path_of_the_machine(&artifact.bytes), "{target}: {file}");
        }
    }
}

/// Acceptance: S0.2.
#[test]
fn without_debug_information_the_code_is_the_same() {
    let source = lower("stripped.rs", KERNEL).unwrap();
    let none = source.compile_with("compute_75", ("debug_level", "0"));
    let none = String::from_utf8(none.bytes).unwrap();
    assert!(!none.contains(".loc") && !none.contains(".file"), "{none}");
    let code = |text: &str| {
        let lines = text.lines().map(|line| line.split("//").next().unwrap_or_default().trim_end());
        let is_code = |line: &&str| {
            let line = line.trim_start();
            !(line.is_empty() || line.starts_with('.') || line.starts_with("$L__"))
        };
        lines.filter(is_code).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(code(&none), code(&source.assembly("compute_75").unwrap()));
    let amd = source.compile_with("gfx1100", ("debug_level", "0"));
    assert!(section(&amd.bytes, ".debug_line").is_none());
}

/// An object of the CPU, linked as a program would have it.
fn linked(bytes: &[u8], name: &str) -> Vec<u8> {
    let folder = temporary_folder();
    let object = write_file(&folder, format!("{name}.o"), bytes);
    let library = object.with_extension("so");
    let mut command = Command::new("cc");
    command.args(["-shared", "-nostdlib", "-o"]).args([&library, &object]);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::read(&library).unwrap()
}

/// The places, each as `function file:line`, that debuggers have for the instructions of functions whose
/// names have this in them, with the functions that they were inlined into.
fn places(library: &[u8], part: &str) -> BTreeSet<String> {
    let file = object::File::parse(library).unwrap();
    let load = |id: gimli::SectionId| {
        let data = section(library, id.name()).unwrap_or_default();
        Ok::<_, gimli::Error>(gimli::EndianSlice::new(data, gimli::LittleEndian))
    };
    let dwarf = gimli::Dwarf::load(load).unwrap();
    let symbols = file.symbols().filter(|it| it.name().is_ok_and(|name| name.contains(part)));
    let ranges: Vec<_> = symbols.map(|it| it.address()..it.address() + it.size()).collect();
    let mut found = BTreeSet::new();
    let mut units = dwarf.units();
    while let Some(header) = units.next().unwrap() {
        let unit = dwarf.unit(header).unwrap();
        let Some(program) = unit.line_program.clone() else { continue };
        let mut rows = program.rows();
        while let Some((header, row)) = rows.next_row().unwrap() {
            let within = ranges.iter().any(|range| range.contains(&row.address()));
            let (Some(entry), Some(line), true) = (row.file(header), row.line(), within) else {
                continue;
            };
            let name = dwarf.attr_string(&unit, entry.path_name()).unwrap();
            found.insert(format!("{}:{line}", name.to_string_lossy()));
        }
    }
    found
}

/// On the CPU with every lowering strategy: vectorised and scalar, barrier regions, a coroutine.
#[test]
fn objects_of_the_cpu_have_source_lines() {
    let kernels = "\
use kernelmill_device::prelude::*;

#[kernel]
pub fn lanes(mut y: DisjointSlice<f32>) {
    if let Some(out) = y.get_mut(thread::index_1d()) {
        *out = out.sqrt() * 0.25;
    }
}

#[kernel]
pub fn regions(mut y: DisjointSlice<f32>) {
    static mut TILE: SharedArray<f32, 64> = SharedArray::UNINIT;
    let (i, t) = (thread::index_1d(), thread::thread_idx().x as usize);
    // SAFETY: each thread writes its own, before the barrier.
    unsafe { TILE[t] = i.get() as f32 };
    thread::sync_threads();
    if let Some(out) = y.get_mut(i) {
        // SAFETY: written before the barrier.
        *out += unsafe { TILE[63 - t] };
    }
}

#[kernel]
pub fn coroutine(mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    let mut value = i.get() as u32;
    while value % 7 != 0 {
        value += warp::shuffle_xor(value, 1); core::sync::atomic::fence(core::sync::atomic::Ordering::SeqCst);
    }
    warp::sync();
    if let Some(out) = y.get_mut(i) {
        *out = value / 3;
    }
}
";
    let source = lower("cpu_lines.rs", kernels).unwrap();
    let artifact = source.compile("cpu").unwrap();
    let strategies = artifact.kernels.iter().filter_map(|it| it.strategy.as_ref());
    let found: Vec<_> = strategies.map(|it| &it.lowering).collect();
    assert!(
        matches!(
            found[..],
            [Lowering::ThreadLoop, Lowering::BarrierRegions { .. }, Lowering::Coroutine(_)]
        ),
        "{found:?}"
    );
    assert!(!has_path_of_the_machine(&artifact.bytes));
    let library = linked(&artifact.bytes, "cpu_lines");
    for (kernel, lines) in [("lanes", &[6][..]), ("regions", &[15, 19]), ("coroutine", &[28, 32])] {
        let found = places(&library, kernel);
        for line in lines {
            let wanted = format!("cpu_lines.rs:{line}");
            assert!(found.iter().any(|it| it.ends_with(&wanted)), "{kernel} {line}: {found:?}");
        }
    }
    // Without it there is nothing of it, and as much code. It is the same but for a register here and there
    // whose contents do not matter.
    let none = source.compile_with("cpu", ("debug_level", "0"));
    assert!(section(&none.bytes, ".debug_line").is_none());
    let without = linked(&none.bytes, "cpu_lines_none");
    assert_eq!(functions(&library), functions(&without), "lines change the code");
}

/// The functions of a library with the bytes of their code.
fn functions(library: &[u8]) -> BTreeSet<(String, u64)> {
    let file = object::File::parse(library).unwrap();
    let functions = file.symbols().filter(|it| it.kind() == object::SymbolKind::Text);
    let found: BTreeSet<_> =
        functions.map(|it| (it.name().unwrap().to_owned(), it.size())).collect();
    assert!(found.len() > 10, "{found:?}");
    found
}

#[test]
fn objects_of_the_cpu_have_the_lines_of_cpp_and_no_variables() {
    for (source, file, expected) in sources(true) {
        let artifact = source.compile_with("cpu", ("debug_level", "2"));
        let name = file.rsplit('/').next().unwrap();
        let library = linked(&artifact.bytes, &format!("cpu_{}", name.replace('.', "_")));
        let found = places(&library, "weigh");
        for line in expected {
            let wanted = format!("{name}:{line}");
            assert!(found.iter().any(|it| it.ends_with(&wanted)), "{wanted}: {found:?}");
        }
        assert!(!artifact.bytes.windows(7).any(|window| window == b"weighed"), "{file}");
        assert!(!has_path_of_the_machine(&artifact.bytes), "{file}");
    }
}

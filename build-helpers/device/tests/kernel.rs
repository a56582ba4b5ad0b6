//! `#[kernel]`, from the file to the symbols that the compiler looks for.

mod common;

use common::{build_here, kernel_command, run};
use std::{env, fs, path::Path};
use test_support::{TempDir, snapshot, temporary_folder};

fn with_file(folder: &TempDir, name: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ui").join(name);
    let text = fs::read_to_string(file).unwrap();
    fs::write(folder.path().join(name), &text).unwrap();
    text
}

/// The `size, align, ...` of a layout static in LLVM's text form.
fn layout(module: &str, kernel: &str) -> Vec<u64> {
    let start = format!("@__kernelmill_layout_{kernel} = constant ");
    let line = module.lines().find_map(|line| line.strip_prefix(start.as_str())).unwrap();
    let Some((_, text)) = line.split_once("c\"") else { return Vec::new() };
    let text = text.split('"').next().unwrap();
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if first == '\\' { 3 } else { 1 };
        bytes.push(match first {
            '\\' => u8::from_str_radix(&rest[1..3], 16).unwrap(),
            other => other as u8,
        });
        rest = &rest[length..];
    }
    bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect()
}

#[test]
fn kernels_get_entries_and_layouts() {
    let folder = temporary_folder();
    build_here(&folder);
    with_file(&folder, "good.rs");
    for edition in ["2021", "2024"] {
        let (built, messages) = run(&mut kernel_command(&folder, "good.rs", edition));
        assert!(built, "{messages}");
        assert_eq!(messages, "", "edition {edition}");
        let module = fs::read_to_string(folder.path().join("kernels.ll")).unwrap();
        let of_generic = "ptr %__kernelmill_p1, i64 %__kernelmill_p1_len, ptr %__kernelmill_p2, \
                          i64 %__kernelmill_p2_len, ptr %__kernelmill_p3";
        let entries = [
            ("loop", "()"),
            ("c_interface", "(i32 %__kernelmill_p0, ptr %__kernelmill_p1)"),
            ("image", "(i32 %__kernelmill_p0, ptr %__kernelmill_p1, i64 %__kernelmill_p1_len)"),
            ("cube", "(ptr %__kernelmill_p0, i64 %__kernelmill_p0_len)"),
            ("hidden", "(ptr %__kernelmill_p0, ptr %__kernelmill_p1, i64 %__kernelmill_p1_len)"),
            ("mapped_by_type_f32_half_of", "(ptr %__kernelmill_p0, i64 %__kernelmill_p0_len)"),
            ("generic_f32_2_u8", &format!("(float %__kernelmill_p0, {of_generic})")),
            ("generic_u64_1_2_Secrets", &format!("(i64 %__kernelmill_p0, {of_generic})")),
            ("generic_u8_4_1_private_Open", &format!("(ptr %__kernelmill_p0, {of_generic})")),
        ];
        for (name, parameters) in entries {
            let entry = format!("define void @__kernelmill_entry_{name}{parameters} ");
            assert!(module.contains(&entry), "{entry}");
        }
        let odd = "@__kernelmill_entry_odd(float %__kernelmill_p0, ptr %__kernelmill_p1, \
                   i64 %__kernelmill_p1_len, ptr %__kernelmill_p2, i64 %__kernelmill_p2_len, \
                   ptr %__kernelmill_p3, i64 %__kernelmill_p3_len, ptr %__kernelmill_p4, \
                   ptr %__kernelmill_p5, ptr %__kernelmill_p6, ptr %__kernelmill_p7, \
                   i64 %__kernelmill_p7_len, i32 %__kernelmill_p8, i1 zeroext %__kernelmill_p9, \
                   i128 %__kernelmill_p10)";
        assert!(module.contains(odd));
        for (name, result) in [("move", "{ i32, float }"), ("nothing", "void")] {
            let entry = format!("define {result} @__kernelmill_exported_{name}(");
            assert!(module.contains(&entry), "{entry}");
        }
        assert_eq!(layout(&module, "loop"), [0_u64; 0]);
        assert_eq!(layout(&module, "cube"), [4, 4]);
        assert_eq!(layout(&module, "generic_u64_1_2_Secrets"), [8, 8, 24, 8, 8, 8, 0, 1]);
        assert_eq!(layout(&module, "hidden"), [1, 1, 1, 1]);
        let sizes = [4, 4, 4, 4, 12, 4, 4, 4, 16, 4, 24, 8, 0, 1, 8, 4, 4, 4, 1, 1, 16, 16];
        assert_eq!(layout(&module, "odd"), sizes);
    }
}

#[test]
fn barriers_and_shared_memory_reach_the_compiler_once() {
    let folder = temporary_folder();
    build_here(&folder);
    with_file(&folder, "good.rs");
    assert!(run(&mut kernel_command(&folder, "good.rs", "2024")).0);
    let module = fs::read_to_string(folder.path().join("kernels.ll")).unwrap();
    assert_eq!(module.matches("call void @__kernelmill_barrier()").count(), 1);
    assert_eq!(module.matches("[8 x i8] c\"erahs_mk\" }>, align").count(), 2);
    assert!(!module.contains("core3fmt"), "formatting in kernels that do not format");
}

#[test]
fn every_fault_is_reported_at_once_and_in_its_place() {
    let folder = temporary_folder();
    build_here(&folder);
    with_file(&folder, "bad.rs");
    let mut command = kernel_command(&folder, "bad.rs", "2024");
    let (built, messages) = run(command.arg("--error-format=short"));
    assert!(!built);
    // What rustc adds on its own account depends on its version.
    let ours = messages.lines().filter(|line| line.contains(": error: "));
    let messages: String = ours.flat_map(|line| [line, "\n"]).collect();
    let expected = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ui/bad.stderr");
    snapshot::check(expected, &messages);
}

/// `#[kernelmill::kernels]`, by its name in the crate that has it.
#[test]
fn modules_of_kernels_stay_and_what_is_none_is_reported() {
    let folder = temporary_folder();
    build_here(&folder);
    with_file(&folder, "modules.rs");
    let (start, end) = (env::consts::DLL_PREFIX, env::consts::DLL_SUFFIX);
    let macros = folder.path().join(format!("{start}kernelmill_device_macros{end}"));
    let mut command = kernel_command(&folder, "modules.rs", "2024");
    command.arg("--extern").arg(format!("kernelmill_device_macros={}", macros.display()));
    let (built, messages) = run(command.arg("--error-format=short"));
    assert!(!built);
    let ours = messages.lines().filter(|line| line.contains(": error: "));
    let messages: String = ours.flat_map(|line| [line, "\n"]).collect();
    let expected = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ui/modules.stderr");
    snapshot::check(expected, &messages);
}

/// Bounds that say `'static` in other words: what each kernel is passed, it could keep.
#[test]
fn no_kernel_can_keep_what_it_is_passed() {
    let start = "use kernelmill_device::prelude::*;
        trait Forever {} impl Forever for &'static () {}
        trait Keeps<T> { fn keep(x: T); }
        struct Kept; impl Keeps<&'static [u32]> for Kept { fn keep(_: &'static [u32]) {} }";
    let folder = temporary_folder();
    build_here(&folder);
    let built = |kernel: &str| {
        fs::write(folder.path().join("kept.rs"), format!("{start}\n{kernel}\n")).unwrap();
        run(&mut kernel_command(&folder, "kept.rs", "2024"))
    };
    for (bound, parameters) in [
        ("&'a (): Forever", "_x: &'a [u32]"),
        ("Kept: Keeps<&'a [u32]>", "_x: &'a [u32]"),
        ("&'a (): Forever", "_x: DisjointSlice<'a, u32>"),
        ("&'a (): Forever", "_x: &'a kernelmill_device::tensor::TensorMap<f32, 2>"),
    ] {
        let (succeeds, messages) =
            built(&format!("#[kernel] pub fn keeps<'a>({parameters}) where {bound} {{}}"));
        assert!(!succeeds, "{parameters} where {bound}");
        // E0597 or E0716: what borrows the launch outlives it.
        assert!(messages.contains("E0597") || messages.contains("E0716"), "{messages}");
        assert!(messages.contains("kept.rs:5:1"), "{messages}");
    }
    let fine = "#[kernel] pub fn k<'a, 'b: 'a>(_x: &'a [u32], _y: DisjointSlice<'b, u32>) {}";
    assert!(built(fine).0);
}

/// The host copies what it passes and what it is given back, and every thread of a launch has what it passes.
#[test]
fn what_crosses_is_copied_and_shared() {
    let start = "use kernelmill_device::prelude::*;
        use core::{marker::PhantomData, sync::atomic::{AtomicBool, AtomicU64}};
        pub struct Unit;
        #[repr(C)] pub struct Own(u32);
        #[repr(C)] #[derive(Clone, Copy)] pub struct OfThread(u32, PhantomData<*mut ()>);
        #[repr(C)] #[derive(Clone, Copy)] pub struct Plain(u32, PhantomData<fn()>);";
    let folder = temporary_folder();
    build_here(&folder);
    let built = |kernel: &str| {
        fs::write(folder.path().join("copied.rs"), format!("{start}\n{kernel}\n")).unwrap();
        run(&mut kernel_command(&folder, "copied.rs", "2024"))
    };
    for ty in ["Own", "OfThread"] {
        for (before, after) in [("", ""), ("[", "; 2]"), ("&'a [", "]"), ("DisjointSlice<", ">")] {
            let kernel = format!("#[kernel] pub fn takes<'a>(_x: {before}{ty}{after}) {{}}");
            let (succeeds, messages) = built(&kernel);
            assert!(!succeeds, "{kernel}");
            let expected =
                "it must be `Copy`, `Send` and `Sync`; write `#[derive(Clone, Copy)]` above it";
            assert!(messages.contains(expected), "{messages}");
            assert!(messages.contains("copied.rs:7:1"), "{messages}");
            let name = format!("`{ty}` crosses between host and device");
            let of_array = format!("`[{ty}; 2]` crosses between host and device");
            assert!(messages.contains(&name) || messages.contains(&of_array), "{messages}");
        }
    }
    let fine =
        "#[kernel] pub fn k<'a>(_a: Plain, _b: &'a [Plain], _c: DisjointSlice<[Plain; 2]>, _d: (),
        _e: PhantomData<&'a u8>, _f: &[AtomicBool], _g: DisjointSlice<AtomicU64>,
        _h: &'a [atomic::AtomicF32], _i: DeviceFn<fn(f32) -> f32>, _j: u8, _k: Unit) {}";
    let (succeeds, messages) = built(fine);
    assert!(succeeds, "{messages}");
}

/// Who forgets the barrier reads how elements are written and read.
#[test]
fn a_block_array_that_is_indexed_says_what_to_call() {
    let folder = temporary_folder();
    build_here(&folder);
    for body in ["let _ = x[0];", "x[thread::block_index().get()] = 1.0;"] {
        let kernel = format!(
            "use kernelmill_device::prelude::*;\n#[kernel] pub fn k(mut x: BlockArray<f32, 64>) {{ {body} }}\n"
        );
        fs::write(folder.path().join("indexed.rs"), kernel).unwrap();
        let (succeeds, messages) = run(&mut kernel_command(&folder, "indexed.rs", "2024"));
        let expected = "elements of a `BlockArray` are written by `write`, and read after `sync`";
        assert!(!succeeds && messages.contains(expected), "{messages}");
    }
}

/// Who writes `y[i]`, as in CUDA C++, reads how a thread gets its element.
#[test]
fn a_disjoint_slice_that_is_indexed_says_what_to_call() {
    let folder = temporary_folder();
    build_here(&folder);
    for body in
        ["let _ = y[0];", "y[thread::index_1d()] = 1.0;", "y[thread::index_1d().get()] += 1.0;"]
    {
        let kernel = format!(
            "use kernelmill_device::prelude::*;\n#[kernel] pub fn k(mut y: DisjointSlice<f32>) {{ {body} }}\n"
        );
        fs::write(folder.path().join("sliced.rs"), kernel).unwrap();
        let (succeeds, messages) = run(&mut kernel_command(&folder, "sliced.rs", "2024"));
        for expected in [
            "each element of a `DisjointSlice` belongs to one thread, which gets it by `get_mut`",
            "`if let Some(y) = y.get_mut(thread::index_1d()) { *y = value; }` writes the thread's own element",
        ] {
            assert!(!succeeds && messages.contains(expected), "{messages}");
        }
    }
}

/// Arrays of one block that a thread exchanges would be in two phases at once.
#[test]
fn no_two_block_arrays_have_one_lifetime() {
    let start = "use kernelmill_device::prelude::*;";
    let folder = temporary_folder();
    build_here(&folder);
    let built = |kernel: &str| {
        fs::write(folder.path().join("arrays.rs"), format!("{start}\n{kernel}\n")).unwrap();
        run(&mut kernel_command(&folder, "arrays.rs", "2024"))
    };
    let array = |lifetime: &str| format!("BlockArray<{lifetime}, f32, 64>");
    let kernel = |one: &str, other: &str, body: &str| {
        let (one, other) = (array(one), array(other));
        format!("#[kernel] pub fn k<'a, 'b>(mut x: {one}, mut y: {other}) {{ {body} }}")
    };
    let (succeeds, messages) = built(&kernel("'a", "'b", "x.sync(); y.sync();"));
    assert!(succeeds, "{messages}");
    for (one, other, body) in [
        ("'a", "'a", ""),
        ("'a", "'b", "core::mem::swap(&mut x, &mut y);"),
        ("'a", "'b", "let view = x.sync(); x = y; let _ = view[0];"),
        ("'a", "'b", "x.sync(); x.write(thread::block_index(), 1.0);"),
        (
            "'a",
            "'b",
            "let first = &x.sync()[0]; let _ = *first; static_of(first); fn static_of(_: &'static f32) {}",
        ),
    ] {
        let (succeeds, _) = built(&kernel(one, other, body));
        assert!(!succeeds, "{one} {other}: {body}");
    }
    let (succeeds, _) = built("#[kernel] pub fn k(x: BlockArray<Option<&'_ f32>, 4>) {}");
    assert!(!succeeds);
}

/// Acceptance: S2.11.
#[test]
fn code_for_kernels_alone_is_not_in_a_host_program() {
    let place = if kernelmill_device::is_kernel() { "device" } else { "host" };
    assert_eq!(place, "host");
}

/// This test's own crate is an ordinary build: the kernel is a function, and has no entry.
mod ordinary {
    #![deny(warnings)]
    use kernelmill_device::prelude::*;

    #[kernel(dim = 2, width = width)]
    fn fill(width: u32, value: u8, mut out: DisjointSlice<u8, Index2D>) {
        if let Some(out) = out.get_mut(thread::index_2d()) {
            *out = value;
        }
    }
}

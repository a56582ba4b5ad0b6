//! Static shared memory over a target's limit.

mod common;

use common::compile;

/// A kernel with two shared arrays of `u32`.
fn two_arrays(first: u32, second: u32) -> String {
    format!(
        "use kernelmill_device::prelude::*;
#[kernel]
pub fn two(mut y: DisjointSlice<u32>) {{
    static mut TILE: SharedArray<u32, {first}> = SharedArray::UNINIT;
    static mut SUMS: SharedArray<u32, {second}> = SharedArray::UNINIT;
    let t = thread::thread_idx().x as usize;
    // SAFETY: each thread has its own element.
    unsafe {{
        TILE[t] = t as u32;
        SUMS[t] = 1;
        thread::sync_threads();
        if let Some(out) = y.get_mut(thread::index_1d()) {{
            *out = TILE[t ^ 1] + SUMS[t ^ 1];
        }}
    }}
}}
"
    )
}

#[test]
fn too_much_static_shared_memory_is_refused_with_kernel_arrays_and_line() {
    for (target, first) in [("compute_75", 11_264), ("sm_90", 11_264), ("gfx1100", 15_360)] {
        let fits = two_arrays(first, 1024);
        compile("two", &fits, target).unwrap_or_else(|error| panic!("{target}: {error}"));
        let message = compile("two", &two_arrays(first, 1026), target).unwrap_err().to_string();
        let (bytes, limit) = (4 * (first + 1026), 4 * (first + 1024));
        let start = format!(
            "kernel `two` has {bytes} bytes of static shared memory, and a block of the target has {limit} \
             at most: `two::two::TILE` has {}, `two::two::SUMS` has 4104",
            4 * first
        );
        assert!(message.contains(&start), "{message}");
        assert!(message.contains("--> kernels/two.rs:9, in `two::two`"), "{message}");
    }
    compile("two", &two_arrays(30_000, 30_000), "cpu").unwrap();
}

#[test]
fn a_block_array_that_is_too_large_is_called_by_its_parameter() {
    let text = "use kernelmill_device::prelude::*;
#[kernel]
pub fn two(x: u32, tile: BlockArray<u32, 40000>, mut y: DisjointSlice<u32>) {
    let tile = tile.sync();
    if let Some(out) = y.get_mut(thread::index_1d()) {
        *out = tile[39999] + x;
    }
}
";
    let message = compile("two", text, "compute_75").unwrap_err().to_string();
    let end = "at most: the `BlockArray` that is parameter 2 has 160000";
    assert!(message.contains(end), "{message}");
}

#[test]
fn shared_memory_of_gigabytes_is_refused_on_the_cpu() {
    let message = compile("two", &two_arrays(1 << 28, 4), "cpu").unwrap_err().to_string();
    let start = "the kernels of the source have 1073741840 bytes of static shared memory, and on the CPU they can \
                 have 1073741824 at most: this array has 1073741824";
    assert!(message.contains(start), "{message}");
    assert!(message.contains("--> kernels/two.rs:9, in `two::two`"), "{message}");
}

/// Each thread would have one of its own, of which nothing has written the elements.
#[test]
fn a_shared_array_as_a_local_variable_is_refused_with_its_line() {
    let text = "use kernelmill_device::prelude::*;
fn first(array: SharedArray<u32, 8>) -> u32 {
    array[0]
}
#[kernel]
pub fn own(mut y: DisjointSlice<u32>) {
    if let Some(out) = y.get_mut(thread::index_1d()) {
        let array = SharedArray::<u32, 4>::UNINIT;
        *out = array[1] + first(SharedArray::UNINIT);
    }
}
";
    for target in ["cpu", "compute_75", "gfx1100"] {
        let message = compile("own", text, target).unwrap_err().to_string();
        let what = "[KM0109] has a `SharedArray` that is not a `static mut`";
        assert_eq!(message.matches(what).count(), 2, "{target}: {message}");
        assert!(message.contains("--> kernels/own.rs:8, in `own::own`"), "{target}: {message}");
        assert!(message.contains("--> kernels/own.rs:9, in `own::own`"), "{target}: {message}");
    }
}

/// Values with a shared array in them, made of constants: what comes of them is memory of one thread, or of the grid.
#[test]
fn a_shared_array_in_another_value_is_refused() {
    const ITEMS: &str = "use kernelmill_device::prelude::*;
type Tile = SharedArray<u32, 4>;
struct Padded { pad: u32, tile: Tile }
const PADDED: Padded = Padded { pad: 3, tile: SharedArray::UNINIT };
#[repr(C)] struct Last { pad: u32, tile: Tile }
const LAST: Last = Last { pad: 3, tile: SharedArray::UNINIT };
const PAIR: (Tile, u8) = (SharedArray::UNINIT, 1);
const SOME: Option<Tile> = Some(SharedArray::UNINIT);
trait Has { const TILE: SharedArray<u8, 1>; }
struct Own;
impl Has for Own { const TILE: SharedArray<u8, 1> = SharedArray::UNINIT; }
fn make<T>() -> SharedArray<T, 4> { SharedArray::UNINIT }
";
    let text = |code: &str| {
        format!(
            "{ITEMS}#[kernel]
pub fn own(mut y: DisjointSlice<u32>) {{
    let Some(out) = y.get_mut(thread::index_1d()) else {{ return }};
    {code}
}}
"
        )
    };
    for code in [
        "let it = PADDED; *out = it.tile[1] + it.pad;",
        "let it = LAST; *out = it.tile[1] + it.pad;",
        "let it = PAIR; *out = it.0[1] + u32::from(it.1);",
        "if let Some(it) = SOME { *out = it[1] }",
        "let all = [const { SharedArray::<u32, 4>::UNINIT }; 2]; *out = all[*out as usize % 2][1];",
        "let it = Box::new(SharedArray::<u32, 4>::UNINIT); *out = it[1];",
        "let it = Box::new(PADDED); *out = it.tile[1];",
        "let it = &PADDED; *out = it.tile[1];",
        "let it = Own::TILE; *out = u32::from(it[0]);",
        "let it = make::<u32>(); *out = it[0];",
        "static mut LAST_OF_GRID: Last = LAST; *out = unsafe { LAST_OF_GRID.tile[1] };",
    ] {
        let message = compile("own", &text(code), "cpu").map(|_| code).unwrap_err().to_string();
        let what = "[KM0109] has a `SharedArray` that is not a `static mut` of its own, and so is not in shared \
                    memory";
        assert!(message.contains(what), "{code}: {message}");
    }
}

/// A kernel that gives the address of a shared array of elements that are aligned to so many bytes.
fn aligned(align: u32) -> String {
    format!(
        "use kernelmill_device::prelude::*;
#[repr(C, align({align}))]
struct Line([u32; 4]);
#[kernel]
pub fn addresses(mut y: DisjointSlice<usize>) {{
    static mut TILE: SharedArray<Line, 8> = SharedArray::UNINIT;
    let t = thread::thread_idx().x as usize % 8;
    if let Some(out) = y.get_mut(thread::index_1d()) {{
        // SAFETY: nothing is read.
        *out = unsafe {{ &raw const TILE[t] }}.addr();
    }}
}}
"
    )
}

#[test]
fn alignments_above_128_are_honoured_or_refused() {
    for align in [16, 32, 128, 256, 4096] {
        let ptx = common::ptx("addresses", &aligned(align));
        assert!(ptx.contains(&format!(".shared .align {align} .b8")), "{ptx}");
        compile("addresses", &aligned(align), "gfx1100").unwrap();
    }
    compile("addresses", &aligned(128), "cpu").unwrap();
    let message = compile("addresses", &aligned(256), "cpu").unwrap_err().to_string();
    let start = "[KM0109] has a shared array whose elements are aligned to 256 bytes; on the CPU shared memory is aligned to 128";
    assert!(message.contains(start), "{message}");
    assert!(message.contains("kernels/addresses.rs:10, in `addresses::addresses`"), "{message}");
}

/// As on GPUs, a kernel has the memory of its own arrays and of those of functions that it calls; one with dynamic shared
/// memory has that behind the arrays of all.
#[test]
fn a_kernel_on_the_cpu_has_the_arrays_that_it_uses() {
    let kernel = |name: &str, size: u32, more: &str| {
        format!(
            "#[kernel]
pub fn {name}(mut y: DisjointSlice<u32>) {{
    static mut TILE: SharedArray<u32, {size}> = SharedArray::UNINIT;
    let t = thread::thread_idx().x as usize;
    // SAFETY: each thread has its own element.
    unsafe {{
        TILE[t] = t as u32;
        {more}
        thread::sync_threads();
        if let Some(out) = y.get_mut(thread::index_1d()) {{
            *out = TILE[t ^ 1];
        }}
    }}
}}
"
        )
    };
    let text = format!(
        "use kernelmill_device::prelude::*;
#[inline(never)]
fn both(t: usize) {{
    static mut SUMS: SharedArray<u32, 64> = SharedArray::UNINIT;
    // SAFETY: each thread has its own element.
    unsafe {{ SUMS[t] = 1 }}
}}
{}{}{}{}",
        kernel("small", 64, ""),
        kernel("large", 1024, ""),
        kernel("calls", 128, "both(t);"),
        kernel("other", 256, "both(t);"),
    );
    let sizes = |text: &str, target: &str| {
        let artifact = compile("sizes", text, target).unwrap();
        let kernels = artifact.kernels.into_iter();
        let mut sizes: Vec<_> = kernels.map(|it| (it.name, it.static_shared_bytes)).collect();
        sizes.sort();
        sizes.into_iter().map(|(_, bytes)| bytes).collect::<Vec<_>>()
    };
    // `calls`, `large`, `other`, `small`: the array of the function is behind the first of its kernels.
    assert_eq!(sizes(&text, "cpu"), [768, 4096, 1024 + 256, 256]);
    // On GPUs those that call a function have the place of their panic record too, 8 bytes.
    assert_eq!(sizes(&text, "sm_90"), [776, 4096, 1024 + 264, 256]);
    let dynamic = text.replacen(
        "TILE[t] = t as u32;",
        "TILE[t] = *DynamicSharedArray::<u32>::get().as_mut_ptr();",
        1,
    );
    assert_eq!(sizes(&dynamic, "cpu"), [768, 4096, 1024 + 256, 4096]);
}

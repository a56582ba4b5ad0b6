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

//! Random kernels in which each thread takes elements a constant step apart. The loop is a function that
//! the host calls too.

use super::{Body, Random};

/// One random kernel.
pub(crate) struct Stride {
    pub(crate) index: u64,
    /// What becomes of an element, and the loop over them.
    functions: String,
    /// What `#[kernel]` says of blocks.
    limits: &'static str,
    /// Whether threads exchange what they have counted, around barriers.
    exchanges: bool,
}

impl Stride {
    /// The kernel of this number; equal seeds give equal kernels.
    pub(crate) fn new(seed: u64, index: u64) -> Self {
        let mut random = Random::new(seed.wrapping_mul(0x9fb2_1c65_1e98_df25) ^ (index << 23));
        for _ in 0..8 {
            random.below(2);
        }
        let mut body = Body { random: &mut random, variables: Vec::new(), next: 0, budget: 0 };
        body.variables = vec!["i".into(), "n".into()];
        let (condition, early, value) = (body.condition(), body.expression(2), body.expression(2));
        let mut one = |of: &[&'static str]| of[random.below(of.len() as u32) as usize];
        let counter = one(&["usize", "usize", "u32", "i32"]);
        let start = one(&["first", "first", "first + 3", "first + n as usize % 7"]);
        let step = one(&[
            "threads * 9",
            "threads * 9",
            "threads * (9 + n as usize % 3)",
            "2048",
            "threads",
        ]);
        let limit = one(&["x.len()", "x.len() - 5", "x.len() * (n as usize % 5) / 4"]);
        let next = one(&["sum", "sum.rotate_left(3) ^ value", "sum.wrapping_add(value & 0xff)"]);
        let leaves = one(&["", "", "", "if value % 31 == 7 { break; }"]);
        let limits = one(&["", "", "(block_size = [64, 1, 1])", "(launch_bounds = 64)"]);
        let functions = format!(
            "#[allow(unused, clippy::all, reason = \"random code\")]\n\
             fn element_{index}(i: u32, x: &[u32], n: u32) -> u32 {{\n    \
             if {condition} {{ return {early}; }}\n    {value}\n}}\n\n\
             #[allow(unused, clippy::all, reason = \"random code\")]\n\
             fn walk_{index}(first: usize, threads: usize, n: u32, seed: u32, x: &[u32], mut put: impl FnMut(usize, u32)) -> u32 {{\n    \
             let mut i = ({start}) as {counter};\n    let mut sum = first as u32 ^ seed;\n    \
             while i < ({limit}) as {counter} {{\n        \
             let value = element_{index}(i as u32 ^ x[i as usize], x, sum);\n        \
             put(i as usize, value);\n        sum = {next};\n        {leaves}\n        \
             i += ({step}) as {counter};\n    }}\n    sum\n}}\n\n"
        );
        Self { index, functions, limits, exchanges: random.below(3) == 0 }
    }

    /// The functions, as Rust.
    pub(crate) fn functions(&self) -> &str {
        &self.functions
    }

    pub(crate) fn kernel(&self) -> String {
        let Self { index, limits, exchanges, .. } = self;
        let (before, after) = if *exchanges {
            (
                "    static mut TILE: SharedArray<u32, 64> = SharedArray::UNINIT;\n    \
                 let t = thread::thread_idx().x as usize;\n    \
                 let width = thread::block_dim().x as usize;\n    \
                 unsafe { TILE[t] = x[first] };\n    thread::sync_threads();\n    \
                 let seed = unsafe { TILE[0] };\n",
                "    thread::sync_threads();\n    unsafe { TILE[t] = sum };\n    \
                 thread::sync_threads();\n    let sum = unsafe { TILE[(t + 1) % width] };\n",
            )
        } else {
            ("    let seed = 0;\n", "")
        };
        format!(
            "\n#[kernel{limits}]\npub fn stride_{index}(n: u32, x: &[u32], mut out: DisjointSlice<u32>) {{\n    \
             let threads = thread::grid_dim().x as usize * thread::block_dim().x as usize;\n    \
             let first = thread::index_1d().get();\n{before}    \
             let sum = walk_{index}(first, threads, n, seed, x, |i, value| unsafe {{ *out.get_unchecked_mut(i) = value }});\n\
             {after}    unsafe {{ *out.get_unchecked_mut(x.len() + first) = sum }};\n}}\n"
        )
    }

    /// What the host follows.
    pub(crate) fn host_side(&self, file: u64) -> String {
        let Self { index, functions, limits, exchanges } = self;
        let exact = limits.starts_with("(block_size");
        format!(
            "Stride {{ name: \"stride_{index}\", exact: {exact}, exchanges: {exchanges}, text: {functions:?}, \
             walk: |first, threads, n, seed, x, out| \
             functions_{file}::walk_{index}(first, threads, n, seed, x, |i, value| out[i] = value), \
             launch: |on, launch, n, x, out| on.kernels.stride_{index}(&on.stream, launch, n, x, out) }},\n"
        )
    }
}

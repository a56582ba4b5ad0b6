//! Atomic additions to floating-point numbers: vectorised, not vectorised, and on the emulator, and the instructions of PTX.

use std::sync::LazyLock;

use cuda_cpp::{Launch, ThreeWays, Value};

static WAYS: LazyLock<ThreeWays> = LazyLock::new(|| ThreeWays::of("float_atomics"));

const BLOCKS: u32 = 8;

/// Runs a kernel with memory for sums first, for blocks of many sizes.
fn compare(kernel: &str, written: &[fn(u32) -> Value]) {
    for threads in [1, 7, 32, 33, 64, 200] {
        let count = BLOCKS * threads;
        let launch = Launch { grid: [BLOCKS, 1, 1], block: [threads, 1, 1], shared: 0 };
        let x: Vec<f32> = (0..count).map(|i| (i * 7 % 101) as f32 - 40.0).collect();
        let mut values: Vec<_> = written.iter().map(|make| make(count)).collect();
        values.extend([Value::floats(&x), Value::of(count - count / 9)]);
        let what = format!("{kernel} in blocks of {threads}");
        WAYS.compare((kernel, &what), launch, (&values, written.len()), true);
    }
}

fn floats(count: u32) -> Value {
    Value::floats(&vec![1.5; count as usize + 12])
}

#[test]
fn sums_are_the_same_on_the_cpu_and_on_the_emulator() {
    compare("float_sums", &[floats, |_| Value::Words(vec![0; 2])]);
    compare("old_floats", &[floats, floats]);
    compare("float_block_sums", &[floats]);
    compare("float_sums_either", &[floats]);
}

/// The atomic instructions of a kernel in PTX, without what LLVM 22 does not say of order and scope.
fn atomics(ptx: &str, kernel: &str) -> Vec<String> {
    let (_, body) = ptx.split_once(&format!(".entry {kernel}(")).expect("the kernel");
    let lines = body.lines().take_while(|line| *line != "}").map(str::trim_start);
    let lines = lines.filter(|line| line.starts_with("atom.") || line.starts_with("red."));
    let short = |line: &str| {
        let name = line.split_whitespace().next().unwrap().trim_start_matches("atom");
        let name = name.trim_start_matches("red");
        [".relaxed", ".sys", ".gpu", ".cta"]
            .iter()
            .fold(name.to_owned(), |it, word| it.replace(word, ""))
    };
    lines.map(short).collect()
}

#[test]
fn each_addition_is_one_instruction() {
    for target in ["compute_75", "compute_80", "compute_90"] {
        let artifact = WAYS.source.compile(target).unwrap_or_else(|error| panic!("{error}"));
        let ptx = String::from_utf8(artifact.bytes).unwrap();
        let (single, double) = (".global.add.f32", ".global.add.f64");
        for (kernel, expected) in [
            ("float_sums", &[single, single, single, single, double][..]),
            ("old_floats", &[single]),
            ("float_block_sums", &[".shared.add.f32"]),
            ("float_sums_either", &[".add.f32"]),
        ] {
            assert_eq!(atomics(&ptx, kernel), expected, "{kernel} for {target}\n{ptx}");
        }
    }
}

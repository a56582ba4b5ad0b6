//! Writes random kernels in CUDA C++, compiles them, and lists them with their wrappers.

use std::{env, fmt::Write as _, fs, path::PathBuf};

/// Kernels, in files of eight.
const FILES: u64 = 4;
const KERNELS_PER_FILE: u64 = 8;

fn main() {
    println!("cargo::rerun-if-env-changed=KERNELMILL_SEED");
    println!("cargo::rerun-if-changed=build.rs");
    if env::var_os("CARGO_FEATURE_KERNELS").is_none() {
        return;
    }
    let seed = env::var("KERNELMILL_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    // Beside Cargo's own folders, whose names say how a package is built: so the store has the kernels for every build.
    let target = out.ancestors().nth(4).expect("OUT_DIR is in the target folder");
    let folder = target.join(format!("random-kernels/cuda-{seed}"));
    fs::create_dir_all(&folder).expect("the target folder can be written");
    let mut cases = format!("const SEED: u64 = {seed};\nconst CASES: &[Case] = &[\n");
    for file in 0..FILES {
        let numbers = file * KERNELS_PER_FILE..(file + 1) * KERNELS_PER_FILE;
        let programs: Vec<_> = numbers.clone().map(|it| random_cuda::generate(seed, it)).collect();
        let text = random_cuda::source(&programs.iter().collect::<Vec<_>>());
        let path = folder.join(format!("random_{file}.cu"));
        if fs::read_to_string(&path).ok().as_ref() != Some(&text) {
            fs::write(path, text).expect("the target folder can be written");
        }
        for (number, program) in numbers.zip(&programs) {
            let _ = writeln!(
                cases,
                "    Case {{ number: {number}, launch: |kernels, stream, launch, x, memory| unsafe {{\n        \
                 // SAFETY: the arrays are as long as the kernel is generated for.\n        \
                 kernels.{}(stream, launch, COUNT, x, &mut memory.out, &mut memory.bins, &mut memory.slots)\n    \
                 }} }},",
                program.name
            );
        }
    }
    // A build with more files has left them.
    let old = (FILES..).map(|file| folder.join(format!("random_{file}.cu")));
    for path in old.take_while(|path| path.exists()) {
        fs::remove_file(path).expect("the target folder can be written");
    }
    cases.push_str("];\n");
    fs::write(out.join("cases.rs"), cases).expect("OUT_DIR can be written");
    // Without contraction every operation is rounded as plain Rust does it.
    kernelmill_build::Build::new()
        .source_glob(format!("{}/random_*.cu", folder.display()))
        .targets(["cpu", "compute_80"])
        .fma(false)
        .compile();
}

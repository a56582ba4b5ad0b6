//! Writes random kernels, with the same functions for the host, and compiles them.

#[path = "src/generator.rs"]
mod generator;

use std::{env, fs, path::PathBuf};

/// Kernels, in files of seventeen.
const FILES: u64 = 3;
const KERNELS_PER_FILE: u64 = 17;
/// The same of kernels that exchange elements of shared memory.
const TILE_FILES: u64 = 1;
const TILES_PER_FILE: u64 = 24;
/// Kernels that take elements a step apart, in one file.
const STRIDES: u64 = 12;
/// Kernels with checks, in one file.
const CHECKED: u64 = 24;

fn main() {
    for file in ["checks", "generator", "host_side", "loops", "strides", "tiles"] {
        println!("cargo::rerun-if-changed=src/{file}.rs");
    }
    println!("cargo::rerun-if-env-changed=KERNELMILL_SEED");
    // The default is a seed that has found a fault: a stack slot that a coroutine lost.
    let seed = env::var("KERNELMILL_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(2);
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    // Beside Cargo's own folders, whose names say how a package is built: so the store has the kernels for every build.
    let target = out.ancestors().nth(4).expect("OUT_DIR is in the target folder");
    let folder = target.join(format!("random-kernels/differential-{seed}"));
    fs::create_dir_all(&folder).expect("the target folder can be written");
    let source = |file: u64, functions: &str, kernels: &str| {
        let name = format!("functions_{file}.rs");
        write(&folder.join(&name), functions);
        let head = format!("use kernelmill_device::prelude::*;\n\ninclude!(\"{name}\");\n");
        write(&folder.join(format!("random_{file}.rs")), &(head + kernels));
    };
    let (mut cases, mut tiles) = (Vec::new(), Vec::new());
    for file in 0..FILES {
        let (mut functions, mut kernels) = (String::new(), String::new());
        for number in 0..KERNELS_PER_FILE {
            let case = generator::Case::new(seed, file * KERNELS_PER_FILE + number);
            functions.push_str(&case.functions);
            kernels.push_str(&case.kernels());
            cases.push((file, case));
        }
        source(file, &functions, &kernels);
    }
    for part in 0..TILE_FILES {
        let (mut functions, mut kernels) = (String::new(), String::new());
        for number in 0..TILES_PER_FILE {
            let tile = generator::Tile::new(seed, part * TILES_PER_FILE + number);
            functions.push_str(&tile.functions());
            kernels.push_str(&tile.kernel());
            tiles.push((FILES + part, tile));
        }
        source(FILES + part, &functions, &kernels);
    }
    let stride_file = FILES + TILE_FILES;
    let strides: Vec<_> = (0..STRIDES).map(|number| generator::Stride::new(seed, number)).collect();
    let functions: String = strides.iter().map(generator::Stride::functions).collect();
    let kernels: String = strides.iter().map(generator::Stride::kernel).collect();
    source(stride_file, &functions, &kernels);
    let check_file = stride_file + 1;
    let checked: Vec<_> =
        (0..CHECKED).map(|number| generator::Checked::new(seed, number)).collect();
    let functions: String = checked.iter().map(generator::Checked::functions).collect();
    let kernels: String = checked.iter().map(generator::Checked::kernel).collect();
    source(check_file, &functions, &kernels);
    remove_from(&folder, check_file + 1);
    let kernels = generator::Kernels { cases, tiles, stride_file, strides, check_file, checked };
    write(&out.join("cases.rs"), &kernels.host_side(seed));
    // `functions_*.rs` have no kernels, so they are no sources. Without contraction every
    // operation is rounded as on the host.
    kernelmill_build::Build::new()
        .source_glob(format!("{}/random_*.rs", folder.display()))
        .targets(["cpu", "compute_75"])
        .fma(false)
        .compile();
}

/// Removes the files that a build with more of them has left.
fn remove_from(folder: &std::path::Path, first: u64) {
    let paths = (first..).map(|number| folder.join(format!("random_{number}.rs")));
    for path in paths.take_while(|path| path.exists()) {
        fs::remove_file(path).expect("the target folder can be written");
    }
}

fn write(path: &std::path::Path, text: &str) {
    if fs::read_to_string(path).ok().as_deref() != Some(text) {
        fs::write(path, text).expect("the target folder can be written");
    }
}

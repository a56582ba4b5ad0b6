//! Throw-away packages that use kernelmill, and the cargo runs on them.
//!
//! ```no_run
//! use end_to_end::{Project, SAXPY};
//! let project = Project::new("doc").file("kernels/saxpy.rs", SAXPY).file("src/main.rs", "fn main() {}");
//! let run = project.cargo(&["build"]).succeeds();
//! assert_eq!(run.summary().unwrap().compiled, 2);
//! ```

mod project;
mod run;

pub use project::Project;
pub use run::{Run, Summary};
use std::path::PathBuf;

/// Compares what a user reads with the file of this name below `snapshots/`.
///
/// # Panics
///
/// As [`test_support::snapshot::check`] does.
#[track_caller]
pub fn check_snapshot(name: &str, actual: &str) {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/snapshots");
    test_support::snapshot::check(format!("{folder}/{name}.txt"), actual);
}

/// A kernel, `y += a * x`.
pub const SAXPY: &str = "\
use kernelmill_device::prelude::*;

#[kernel]
pub fn saxpy(a: f32, x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        *out += a * x[i.get()];
    }
}
";

/// A program that runs [`SAXPY`] and prints `5`.
pub const SAXPY_MAIN: &str = "\
mod kernels {
    kernelmill::include_kernels!();
}
use kernelmill::{Device, Launch};

fn main() -> kernelmill::Result<()> {
    let device = Device::cpu()?;
    let kernels = kernels::Kernels::load(&device)?;
    let x = device.upload(&[1.0f32; 1000])?;
    let mut y = device.upload(&[2.0f32; 1000])?;
    kernels.saxpy(&device.stream(), Launch::linear(1000), 3.0, &x, &mut y)?;
    println!(\"{}\", y.download()?[999]);
    Ok(())
}
";

/// A kernel file with one kernel of this name, which multiplies by `factor`.
#[must_use]
pub fn scale(name: &str, factor: &str) -> String {
    format!(
        "use kernelmill_device::prelude::*;\n\n#[kernel]\n\
         pub fn {name}(mut y: DisjointSlice<f32>) {{\n    let i = thread::index_1d();\n    \
         if let Some(out) = y.get_mut(i) {{\n        *out *= {factor};\n    }}\n}}\n"
    )
}

/// A program that multiplies 1 by each kernel of these names and prints the product.
#[must_use]
pub fn scale_main(names: &[&str]) -> String {
    let calls: String = names
        .iter()
        .map(|name| format!("    kernels.{name}(&device.stream(), Launch::linear(8), &mut y)?;\n"))
        .collect();
    format!(
        "mod kernels {{\n    kernelmill::include_kernels!();\n}}\n\
         use kernelmill::{{Device, Launch}};\n\nfn main() -> kernelmill::Result<()> {{\n    \
         let device = Device::cpu()?;\n    let kernels = kernels::Kernels::load(&device)?;\n    \
         let mut y = device.upload(&[1.0f32; 8])?;\n{calls}    \
         println!(\"{{}}\", y.download()?[7]);\n    Ok(())\n}}\n"
    )
}

/// The `OUT_DIR` of a package in what `cargo build --message-format=json` prints.
///
/// # Panics
///
/// Where cargo does not name it.
#[must_use]
pub fn out_dir(printed: &str, name: &str, project: &Project) -> PathBuf {
    let lines = printed.lines().filter(|line| line.contains("\"build-script-executed\""));
    let mut folders = lines.filter(|line| line.contains(name)).filter_map(|line| {
        let (_, rest) = line.split_once("\"out_dir\":\"")?;
        Some(PathBuf::from(
            rest.split('"').next()?.replace("[target]", &project.target().display().to_string()),
        ))
    });
    folders.next().expect("cargo names the folder")
}

//! Generic kernels: instances of the attribute and of the settings, launched by their generic wrappers on the CPU and
//! on the fake driver, and what users read after a mistake.

use end_to_end::Project;
use test_support::{driver::fake_driver, root};

const KERNELS: &str = "\
use core::ops::{Add, Mul};
use kernelmill_device::{block_array::AnyBitPattern, prelude::*};

/// A number that can be scaled.
pub trait Real: Copy + Mul<Output = Self> + Add<Output = Self> {
    const ONE: Self;
}
impl Real for f32 {
    const ONE: Self = 1.0;
}
impl Real for f64 {
    const ONE: Self = 1.0;
}
impl Real for u32 {
    const ONE: Self = 1;
}

/// Scales tiles of numbers.
#[kernel(instances = [\"f32, 4\", \"f64, 4\", \"f64, 16\"])]
pub fn scale<T: Real, const TILE: usize>(a: T, x: &[[T; TILE]], mut y: DisjointSlice<[T; TILE]>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        for (out, x) in out.iter_mut().zip(&x[i.get()]) {
            *out = a * *x;
        }
    }
}

/// Turns each block of numbers around, and adds one where it is told to.
#[kernel(instances = [\"u32, 64, -2\", \"f32, 32, 1\"])]
pub fn reverse<'a, T, const N: usize, const OFFSET: i32>(
    x: &'a [T],
    mut tile: BlockArray<T, N>,
    mut y: DisjointSlice<T>,
) where
    T: Real + AnyBitPattern,
{
    let (i, own) = (thread::index_1d(), thread::block_index());
    tile.write(own, x[i.get()]);
    let tile = tile.sync();
    if let Some(out) = y.get_mut(i) {
        let value = tile[N - 1 - own.get()];
        *out = if OFFSET < 0 { value } else { value + T::ONE };
    }
}
";

const MAP: &str = "\
use kernelmill_device::prelude::*;
use shapes::Negate;

/// A function of one number.
pub trait Map {
    fn call(x: f32) -> f32;
}

pub struct Square;
impl Map for Square {
    fn call(x: f32) -> f32 {
        x * x
    }
}

mod shapes {
    pub struct Negate;
    impl super::Map for Negate {
        fn call(x: f32) -> f32 {
            -x
        }
    }
}

/// Two maps in one type.
pub struct Both<F, G>(F, G);
impl<F: Map, G: Map> Map for Both<F, G> {
    fn call(x: f32) -> f32 {
        G::call(F::call(x))
    }
}
type NegatedSquare = Both<Square, Negate>;

/// Applies a function to each number.
#[kernel(instances = [\"Square, false\", \"NegatedSquare, true\"])]
pub fn map<F: Map, const TWICE: bool>(scale: [f32; 2], mut y: DisjointSlice<f32>) {
    if let Some(y) = y.get_mut(thread::index_1d()) {
        let once = F::call(*y);
        *y = scale[0] * if TWICE { F::call(once) } else { once };
    }
}

/// Writes the length of arrays of twice as many elements. The programs that launch it deny every lint.
#[allow(non_snake_case)]
#[kernel(instances = [\"1\", \"3\"])]
pub unsafe fn lengths<const N: u32>(Values: [u8; 2], r#in: &[u32], mut y: DisjointSlice<u32>) {
    if let Some(y) = y.get_mut(thread::index_1d()) {
        *y = N + r#in[0] + u32::from(Values[1]);
    }
}
";

const SETTINGS: &str = "\
targets = [\"cpu\", \"compute_75\", \"gfx1100\"]

[package.metadata.kernelmill.kernels.map]
instances = [\"Negate, false\"]

[package.metadata.kernelmill.kernels.reverse]
block-size = [64, 1, 1]

[package.metadata.kernelmill.kernels.reverse_f32_32_1]
name = \"turn\"
block-size = [32, 1, 1]
";

const MAIN: &str = "\
#![deny(warnings)]
mod kernels {
    kernelmill::include_kernels!();
}
use kernels::{Negate, NegatedSquare, Square};
use kernelmill::{Device, Launch};

fn main() -> kernelmill::Result<()> {
    let device = Device::best()?;
    let kernels = kernels::Kernels::load(&device)?;
    let stream = device.stream();

    let x = device.upload(&[[1.0f64, 2.0, 3.0, 4.0]; 10])?;
    let mut y = device.zeros::<[f64; 4]>(10)?;
    kernels.scale::<f64, 4>(&stream, Launch::linear(10), 2.5, &x, &mut y)?;
    assert_eq!(y.download()?[9], [2.5, 5.0, 7.5, 10.0]);
    let x = device.upload(&[[1.0f64; 16]; 3])?;
    let mut y = device.zeros::<[f64; 16]>(3)?;
    // The types and constants are found by the arguments.
    kernels.scale(&stream, Launch::linear(3), 0.5, &x, &mut y)?;
    assert_eq!(y.download()?[2], [0.5; 16]);
    let x = device.upload(&[[2.0f32; 4]])?;
    let mut y = device.zeros::<[f32; 4]>(1)?;
    kernels.scale_f32_4(&stream, Launch::linear(1), 3.0, &x, &mut y)?;
    assert_eq!(y.download()?, [[6.0; 4]]);

    let mut prepared = kernels.prepare().scale::<f32, 4>(Launch::linear(1), 4.0, &x, &mut y)?;
    prepared.launch(&stream)?;
    drop(prepared);
    assert_eq!(y.download()?, [[8.0; 4]]);
    let compiled = kernels.compiled().scale::<f64, 16>()?;
    assert_eq!(compiled.name(), \"scale_f64_16\");

    let builder = device.graph();
    let values = builder.add(device.upload(&[[1.0f32; 4]; 2])?)?;
    let mut scaled = builder.add(device.zeros::<[f32; 4]>(2)?)?;
    kernels.scale::<f32, 4>(&builder, Launch::linear(2), 9.0, &values, &mut scaled)?;
    let mut graph = builder.instantiate()?;
    graph.launch(&stream)?;
    assert_eq!(graph.slice(&scaled)?.download()?, [[9.0; 4]; 2]);

    let numbers: Vec<u32> = (0..128).collect();
    let (x, mut y) = (device.upload(&numbers)?, device.zeros::<u32>(128)?);
    kernels.reverse::<u32, 64, -2>(&stream, Launch::grid([2], [64]), &x, &mut y)?;
    assert_eq!(y.download()?[64..66], [127, 126]);
    let error = kernels.reverse::<u32, 64, -2>(&stream, Launch::grid([1], [128]), &x, &mut y);
    assert!(error.unwrap_err().to_string().contains(\"reverse_u32_64_minus_2\"));
    let floats: Vec<f32> = (0..64u8).map(f32::from).collect();
    let (x, mut y) = (device.upload(&floats)?, device.zeros::<f32>(64)?);
    kernels.reverse::<f32, 32, 1>(&stream, Launch::grid([2], [32]), &x, &mut y)?;
    assert_eq!(y.download()?[32..34], [64.0, 63.0]);
    kernels.turn(&stream, Launch::grid([2], [32]), &x, &mut y)?;

    let mut y = device.upload(&[3.0f32])?;
    let one = Launch::linear(1);
    kernels.map::<Square, false>(&stream, one, [1.0; 2], &mut y)?;
    kernels.map::<Negate, false>(&stream, one, [2.0; 2], &mut y)?;
    assert_eq!(y.download()?, [-18.0]);
    kernels.map::<NegatedSquare, true>(&stream, one, [1.0; 2], &mut y)?;
    assert_eq!(y.download()?, [-104_976.0]);

    let (one, mut y) = (device.upload(&[10u32])?, device.zeros::<u32>(1)?);
    // SAFETY: the kernel is one that safe code could be.
    unsafe { kernels.lengths::<3>(&stream, Launch::linear(1), [0, 100], &one, &mut y)? };
    assert_eq!(y.download()?, [113]);
    println!(\"{} {}\", device.name().len() > 0, kernels::Kernels::signatures().len());
    Ok(())
}
";

fn project(name: &str) -> Project {
    let project = Project::new(name).manifest("2024", SETTINGS);
    let manifest = project.package().join("Cargo.toml");
    let text = std::fs::read_to_string(manifest).expect("the project has a manifest");
    let run_time = format!("kernelmill = {{ path = \"{}\"", root().display());
    let with_cuda = format!("{run_time}, features = [\"cuda\"]");
    project
        .file("Cargo.toml", &text.replacen(&run_time, &with_cuda, 1))
        .file("kernels/scale.rs", KERNELS)
        .file("kernels/map.rs", MAP)
        .file("src/main.rs", MAIN)
}

#[test]
fn instances_are_launched_by_generic_wrappers_on_the_cpu_and_the_fake_driver() {
    let project = project("generics").environment("KERNELMILL_DEVICE", "cpu");
    let run = project.cargo(&["run"]).succeeds();
    assert!(run.stdout.ends_with("true 10\n"), "{}", run.stdout);
    let driver = fake_driver().display().to_string();
    let project =
        project.environment("LD_LIBRARY_PATH", &driver).environment("KERNELMILL_DEVICE", "cuda:0");
    let run = project.cargo(&["run"]).succeeds();
    assert!(run.stdout.ends_with("true 10\n"), "{}", run.stdout);
}

/// Cargo compiles a package of kernels again where the settings list other instances.
#[test]
fn instances_of_a_kernel_package_come_from_the_settings() {
    let manifest = format!(
        "[package]\nname = \"pack\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
         [dependencies]\nkernelmill-device = {{ path = \"{}/build-helpers/device\" }}\n\n[workspace]\n",
        root().display()
    );
    let kernels = "#![no_std]\nuse kernelmill_device::prelude::*;\n
#[kernel]
pub fn powers<const N: u32>(mut y: DisjointSlice<u32>) {
    if let Some(y) = y.get_mut(thread::index_1d()) {
        *y = y.pow(N);
    }
}
";
    let main = |instance: &str| {
        MAIN.split_once("    let x =")
            .expect("the first launch")
            .0
            .replace("use kernels::{Negate, NegatedSquare, Square};\n", "")
            + &format!(
                "    let mut y = device.upload(&[3u32])?;\n    \
             kernels.powers::<{instance}>(&stream, Launch::linear(1), &mut y)?;\n    \
             println!(\"{{}}\", y.download()?[0]);\n    Ok(())\n}}\n"
            )
    };
    let settings = |instance: &str| {
        format!(
            "targets = [\"cpu\"]\n\n[package.metadata.kernelmill.kernels.powers]\ninstances = \"{instance}\"\n"
        )
    };
    let mut project = Project::new("generics-package")
        .file("kernels/pack/Cargo.toml", &manifest)
        .file("kernels/pack/src/lib.rs", kernels);
    for (instance, expected) in [("2", "9\n"), ("4", "81\n")] {
        project =
            project.manifest("2024", &settings(instance)).file("src/main.rs", &main(instance));
        assert_eq!(project.cargo(&["run"]).succeeds().stdout, expected);
    }
}

/// rustc's errors without the paths and numbers that differ between machines.
fn compile_errors(stderr: &str) -> String {
    let start = stderr.find("error[E0277]").unwrap_or_else(|| panic!("no error:\n{stderr}"));
    let lines = stderr[start..].lines().take_while(|line| !line.starts_with("error: could not"));
    lines.map(|line| format!("{}\n", line.trim_end())).collect()
}

/// Acceptance: S0.4.
#[test]
fn an_instance_that_is_not_built_is_a_compile_error_with_the_line_to_add() {
    let main = "\
mod kernels {
    kernelmill::include_kernels!();
}
use kernelmill::{Device, Launch};

fn main() -> kernelmill::Result<()> {
    let device = Device::cpu()?;
    let kernels = kernels::Kernels::load(&device)?;
    let mut y = device.zeros::<f32>(1)?;
    kernels.map::<kernels::Negate, true>(&device.stream(), Launch::linear(1), [1.0; 2], &mut y)?;
    Ok(())
}
";
    let project = project("generics-missing").file("src/main.rs", main);
    let run = project.cargo(&["build"]);
    assert!(!run.success, "it compiled");
    let errors = compile_errors(&run.stderr);
    for text in [
        "the kernel `map` has no instance `Negate, true`",
        "`Negate, true`",
        "add `\"Negate, true\"` to the instances, in `#[kernel(instances = [..])]` at kernels/map.rs:36 or by \
         `instances` in `[kernels.map]` of the settings",
        "impl MapInstance<NegatedSquare, true> for Kernels",
    ] {
        assert!(errors.contains(text), "{text}\n{errors}");
    }
}

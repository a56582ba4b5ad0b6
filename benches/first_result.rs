//! The time from the start of a process to its first result: 1000 elements of `y += a * x`, checked. On the CPU; on a CUDA
//! device, which may be the fake driver, from PTX that is embedded, and with the feature `jit` from CUDA C++ that NVRTC
//! compiles, without a database of compiled programs, with an empty one, and with one that has the program.
//!
//! `cargo bench -p kernelmill --bench first_result --features jit`
//!
//! Each is a new process of this program, from before it is started until its line is read; the ways take turns.

#[cfg(feature = "cuda")]
#[path = "common/first_on_driver.rs"]
mod driver;

use std::{
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use kernelmill::{
    __codegen::{self as cg, abi},
    Buffer, Device, Launch, Result,
};

/// How often each way is measured.
const RUNS: usize = 21;

/// The number of elements.
const COUNT: usize = 1000;

/// A way to a first result: its name as an argument, and in the table.
type Way = (&'static str, &'static str);

/// The ways that every machine has.
const ON_THE_CPU: [Way; 2] = [("nothing", "a process that does nothing"), ("cpu", "the CPU")];

/// As the compiler makes one of a kernel: all threads of a block.
unsafe extern "C" fn saxpy(arguments: *const *const u8, _block: *mut abi::Block) {
    // SAFETY: a number, and two slices of so many elements, each an address and a length.
    unsafe {
        let word = |at: usize| (*arguments.add(at)).cast::<u64>().read();
        let a = (*arguments).cast::<f32>().read();
        let (x, y) = (word(1) as *const f32, word(3) as *mut f32);
        for at in 0..word(2) as usize {
            *y.add(at) += a * *x.add(at);
        }
    }
}

static SAXPY: cg::CpuKernel = cg::CpuKernel {
    version: kernelmill_artifact::FORMAT_VERSION,
    strategy: abi::STRATEGY_LOOP,
    static_shared_bytes: 0,
    frame_bytes: 0,
    frame_align: 1,
    blocks_along_y: 0,
    joins_blocks: 0,
    reserved: 0,
    run: [Some(saxpy), None, None],
    start: None,
    resume: None,
};

static SET: cg::KernelSet = cg::KernelSet {
    format_version: kernelmill_artifact::FORMAT_VERSION,
    package: "first_result",
    signatures: &[cg::Signature::borrowed("saxpy", &[])],
    functions: &[],
    variables: &[],
    tuned: &[],
    artifacts: &[
        artifact(
            "cpu",
            cg::ArtifactKind::Object,
            &[],
            &[cg::EmbeddedKernel {
                signature: 0,
                entry: "saxpy",
                static_shared_bytes: 0,
                panics: false,
                cooperative: false,
                resources: cg::Resources::UNKNOWN,
                variant: None,
                // SAFETY: a constant of this program, with a function as the type says.
                cpu: Some(unsafe { cg::CpuEntry::new(&SAXPY) }),
            }],
        ),
        #[cfg(feature = "cuda")]
        artifact(
            "compute_75",
            cg::ArtifactKind::Ptx,
            driver::PTX.as_bytes(),
            &[cg::EmbeddedKernel::loaded(0, "saxpy", 0, false, cg::Resources::UNKNOWN)],
        ),
    ],
};

const fn artifact(
    target: &'static str,
    kind: cg::ArtifactKind,
    bytes: &'static [u8],
    kernels: &'static [cg::EmbeddedKernel],
) -> cg::EmbeddedArtifact {
    cg::EmbeddedArtifact {
        fingerprint: target,
        target,
        kind,
        source: "first_result.rs",
        bytes,
        kernels,
        locations: &[],
        backtraces: &[],
        messages: &[],
        relocations: &[],
        variables: &[],
    }
}

/// The buffers of a launch.
fn buffers(device: &Device) -> Result<(Buffer<f32>, Buffer<f32>)> {
    Ok((device.upload(&[1.0; COUNT])?, device.upload(&[2.0; COUNT])?))
}

/// Says that there is a result, where it is the right one.
fn tell(y: &Buffer<f32>) -> Result<()> {
    assert_eq!(y.download()?, [5.0; COUNT]);
    println!("done");
    Ok(())
}

/// The first result of what is embedded.
fn embedded(device: &Device) -> Result<()> {
    let loaded = cg::Loaded::new(device, &SET)?;
    let (x, mut y) = buffers(device)?;
    let arguments = (cg::Value(3.0f32), cg::read_slice(&x), cg::write_slice(&mut y));
    // One block: the function for the CPU takes all elements. On a GPU there is a thread for each.
    let launch = Launch::linear_in_blocks(COUNT, 1024);
    // SAFETY: these are the parameters of `saxpy`.
    unsafe { cg::launch_with(&loaded, 0, &device.stream(), launch, arguments)? };
    tell(&y)
}

/// What a process that is measured does.
fn child(way: &str, folder: &Path) -> Result<()> {
    match way {
        "nothing" => println!("done"),
        "cpu" => embedded(&Device::cpu()?)?,
        #[cfg(feature = "cuda")]
        _ => driver::child(way, folder)?,
        #[cfg(not(feature = "cuda"))]
        _ => unreachable!("{way} and {}", folder.display()),
    }
    Ok(())
}

/// The time until the first result of a new process.
fn first_result(way: &str, folder: &Path) -> Duration {
    let mut command = Command::new(std::env::current_exe().expect("it has a path"));
    command.args(["child", way]).arg(folder).stdout(Stdio::piped());
    let begun = Instant::now();
    let mut process = command.spawn().expect("it starts");
    let mut line = String::new();
    let said = BufReader::new(process.stdout.take().expect("it is piped")).read_line(&mut line);
    let took = begun.elapsed();
    assert!(said.is_ok() && line == "done\n", "{way}: {line}");
    assert!(process.wait().expect("it ends").success(), "{way}");
    took
}

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip_while(|argument| argument != "child").skip(1);
    if let (Some(way), Some(folder)) = (arguments.next(), arguments.next()) {
        return child(&way, Path::new(&folder));
    }
    let folder = std::env::temp_dir().join(format!("first-result-{}", std::process::id()));
    #[cfg(not(feature = "cuda"))]
    let ways = ON_THE_CPU;
    #[cfg(feature = "cuda")]
    let ways = [ON_THE_CPU.to_vec(), driver::ways()?].concat();
    let mut times: Vec<Vec<Duration>> = vec![Vec::new(); ways.len()];
    // The first run of each is for what a machine does once, such as reading files, and fills the database.
    for run in 0..=RUNS {
        for ((way, _), times) in ways.iter().zip(&mut times) {
            let own = if *way == "empty" { folder.join(run.to_string()) } else { folder.join(way) };
            let took = first_result(way, &own);
            times.extend((run > 0).then_some(took));
        }
    }
    let _ = std::fs::remove_dir_all(&folder);
    for ((_, what), times) in ways.iter().zip(&mut times) {
        times.sort();
        let [least, middle] = [times[0], times[RUNS / 2]].map(|it| it.as_secs_f64() * 1e3);
        println!("  {what:52} {middle:8.2} ms, the least {least:8.2} ms");
    }
    Ok(())
}

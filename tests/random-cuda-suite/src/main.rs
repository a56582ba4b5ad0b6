//! Runs random kernels in CUDA C++ on the first NVIDIA device, or with `--cpu` on the CPU, and
//! compares all that they write with what plain Rust says.

use kernelmill::{Buffer, Device, Launch, Stream};
use random_cuda::{BLOCKS, COUNT, Memory, Program, generate, inputs, interpret};
use std::{error::Error, process::ExitCode};

mod kernels {
    kernelmill::include_kernels!();
}

include!(concat!(env!("OUT_DIR"), "/cases.rs"));

/// What a kernel writes, on the device.
struct OnDevice {
    out: Buffer<u32>,
    bins: Buffer<u32>,
    slots: Buffer<u32>,
}

type Start = fn(
    &kernels::Kernels,
    &Stream,
    Launch<2>,
    &Buffer<u32>,
    &mut OnDevice,
) -> kernelmill::Result<()>;

/// A kernel: which one of the seed, and its wrapper.
struct Case {
    number: u64,
    launch: Start,
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let on_cpu = std::env::args().nth(1).is_some_and(|argument| argument == "--cpu");
    let device = if on_cpu { Device::cpu()? } else { Device::cuda(0)? };
    let kernels = kernels::Kernels::load(&device)?;
    let mut wrong = 0;
    for case in CASES {
        let program = generate(SEED, case.number);
        if let Err(error) = check(&device, &kernels, case, &program) {
            let text = random_cuda::source(&[&program]);
            println!("seed {SEED}, kernel {}: {error}\n{text}\n", case.number);
            wrong += 1;
        }
    }
    let (count, name) = (CASES.len(), device.name());
    println!("random CUDA C++: {count} kernels of seed {SEED} on {name}, {wrong} wrong");
    Ok(if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs a kernel and compares what it wrote.
fn check(
    device: &Device,
    kernels: &kernels::Kernels,
    case: &Case,
    program: &Program,
) -> Result<(), Box<dyn Error>> {
    let expected = interpret(program, BLOCKS, COUNT).ok_or("it takes too long")?;
    let before = Memory::before(BLOCKS * program.threads());
    let x = device.upload(&inputs())?;
    let mut memory = OnDevice {
        out: device.upload(&before.out)?,
        bins: device.upload(&before.bins)?,
        slots: device.upload(&before.slots)?,
    };
    let launch = Launch::grid([BLOCKS as u32, 1], program.block);
    (case.launch)(kernels, &device.stream(), launch, &x, &mut memory)?;
    let (out, bins, slots) =
        (memory.out.download()?, memory.bins.download()?, memory.slots.download()?);
    expected.check([&out, &bins, &slots]).map_err(Into::into)
}

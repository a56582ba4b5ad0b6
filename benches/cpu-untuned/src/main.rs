//! Kernels in CUDA C++ as people write them for GPUs, that were not tuned for the CPU, against plain loops in C with
//! OpenMP on the same threads: every output compared, times taken in turns.
//!
//! ```text
//! cargo run --release -p cpu-untuned               prints a table
//! cargo run --release -p cpu-untuned -- sparse     kernels whose names have that in them
//! cargo run --release -p cpu-untuned -- --verify   compares small outputs, and measures nothing
//!
//! cargo run --release -p cpu-untuned --features cuda -- --cuda [--verify] [NAME]
//! ```
//!
//! `--cuda` runs the kernels on the first NVIDIA GPU, compares, and times them alone. The program needs no files then: it can
//! be carried to a machine with a GPU. `KERNELMILL_CUDA_COMPILER` says who compiles the kernels for it.

mod cases;
mod kernels;
#[cfg(feature = "cuda")]
mod on_cuda;
mod plain;
#[cfg(feature = "cuda")]
#[path = "../../common/cuda_times.rs"]
mod times;

use std::{
    error::Error,
    time::{Duration, Instant},
};

use kernelmill::Device;

/// How long a kernel is measured.
const BUDGET: Duration = Duration::from_secs(2);

/// Seconds of the fastest run of each, ours and C's.
pub(crate) struct Times {
    ours: f64,
    plain: f64,
}

/// How often each runs in a row.
const IN_A_ROW: usize = 8;

/// How long the machine is left alone before each row: threads that have nothing to do wait for more in a loop at first, both
/// OpenMP's and ours, and would take a core from the other side.
const PAUSE: Duration = Duration::from_millis(10);

/// Runs both in turns, each some times in a row, for a while.
fn measure(case: &mut cases::Case<'_>) -> Result<Times, Box<dyn Error>> {
    let mut times = Times { ours: f64::MAX, plain: f64::MAX };
    let begun = Instant::now();
    let mut turns = 0;
    while turns < 2 || begun.elapsed() < BUDGET {
        times.ours = times.ours.min(fastest(&mut || case.run())?);
        times.plain = times.plain.min(fastest(&mut || {
            (case.plain)();
            Ok(())
        })?);
        turns += 1;
    }
    Ok(times)
}

/// Seconds of the fastest of the runs in a row.
fn fastest(run: &mut dyn FnMut() -> Result<(), Box<dyn Error>>) -> Result<f64, Box<dyn Error>> {
    std::thread::sleep(PAUSE);
    let mut fastest = f64::MAX;
    for _ in 0..IN_A_ROW {
        let start = Instant::now();
        run()?;
        fastest = fastest.min(start.elapsed().as_secs_f64());
    }
    Ok(fastest)
}

/// Compares small outputs of all kernels, and says of how many.
fn verify(device: &Device) -> Result<usize, Box<dyn Error>> {
    let mut count = 0;
    cases::each(device, cases::Scale::Small, &mut |mut case| {
        count += 1;
        case.compare()
    })?;
    Ok(count)
}

/// The first NVIDIA GPU.
fn cuda() -> Result<Device, Box<dyn Error>> {
    #[cfg(feature = "cuda")]
    return Ok(Device::cuda(0)?);
    #[cfg(not(feature = "cuda"))]
    Err("build with `--features cuda` for `--cuda`".into())
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments: Vec<_> = std::env::args().skip(1).collect();
    let mut has = |name: &str| {
        let place = arguments.iter().position(|it| it == name);
        place.map(|it| arguments.remove(it)).is_some()
    };
    let (is_on_cuda, verify_only) = (has("--cuda"), has("--verify"));
    let device = if is_on_cuda { cuda()? } else { Device::cpu()? };
    if verify_only {
        println!("{} kernels on {device}: every output is right", verify(&device)?);
        return Ok(());
    }
    let part = arguments.into_iter().next().unwrap_or_default();
    #[cfg(feature = "cuda")]
    if is_on_cuda {
        return on_cuda::run(&device, &part);
    }
    println!("| kernel | ours, ms | C, ms | ours / C |\n| --- | --- | --- | --- |");
    let mut ratios = Vec::new();
    cases::each(&device, cases::Scale::Full, &mut |mut case| {
        if !case.name.contains(&*part) {
            return Ok(());
        }
        case.compare()?;
        let times = measure(&mut case)?;
        let ratio = times.ours / times.plain;
        let [ours, plain] = [times.ours, times.plain].map(|it| 1000.0 * it);
        println!("| {} | {ours:.3} | {plain:.3} | {ratio:.2} |", case.name);
        ratios.push(ratio.ln());
        Ok(())
    })?;
    let mean = (ratios.iter().sum::<f64>() / ratios.len().max(1) as f64).exp();
    println!("\nThe geometric mean of {} ratios: {mean:.2}.", ratios.len());
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_kernel_computes_what_the_plain_loops_do() {
        assert_eq!(super::verify(&kernelmill::Device::cpu().unwrap()).unwrap(), 42);
    }
}

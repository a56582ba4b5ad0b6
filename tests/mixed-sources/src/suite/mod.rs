//! The suite of behaviour: what every back end does in the same way, and one behaviour for each capability that it claims.
//!
//! A program opens a device and calls [`run`]. `hip-backend` has this folder too. Checks that set variables, count modules or
//! read what is printed run in processes of their own, which are the same program again.

#[expect(unreachable_pub, reason = "it is public in the packages that it is shared with")]
#[path = "../../../cuda-backend/src/awaits.rs"]
mod awaits;
mod capabilities;
#[expect(
    dead_code,
    unreachable_pub,
    reason = "it is used and public in the packages that it is shared with"
)]
#[path = "../../../cuda-backend/src/executor.rs"]
mod executor;
mod launches;
mod memory;
mod modules;
mod processes;
#[expect(unreachable_pub, reason = "it is public in the packages that it is shared with")]
#[path = "../../../cuda-backend/src/rows.rs"]
mod rows;

use crate::kernels::Kernels;
use kernelmill::{Backend, Buffer, Device, Launch, LaunchStream, Result, module_cache};
use std::{
    env,
    error::Error,
    sync::{Mutex, PoisonError},
};

/// Opens a device by the name that the program is given, and its number.
type Open = fn(&str, usize) -> Result<Device>;

/// A device with the kernels.
pub(crate) struct On {
    device: Device,
    kernels: Kernels,
    /// The name that the program is given.
    name: String,
}

type Check = fn(&On) -> Result<()>;

const CHECKS: [(&str, Check); 17] = [
    ("empty grids are no launches", launches::empty_grids),
    ("launches beyond limits are refused", launches::limits),
    ("launches of a stream are in order", launches::one_stream),
    ("streams wait for events", launches::two_streams),
    ("what is in use can be dropped", launches::drops),
    ("a panic is told once", launches::panics),
    ("graphs outlive what they are made of", launches::graphs),
    ("what belongs to another device is refused", memory::wrong_device),
    ("copies have the lengths of both sides", memory::lengths),
    ("copies are queued in order", memory::copies),
    ("fills are in the order of uses", memory::fills),
    ("parts of buffers are arguments", memory::parts),
    ("memory that there is not is an error", memory::out_of_memory),
    ("rows are copied as the host copies them", memory::rows),
    ("variables are checked", memory::variables),
    ("modules are loaded once", modules::once),
    ("every capability is as it is claimed", capabilities::all),
];

/// Runs the checks on the device that the first argument names, or the part of one that the second names.
///
/// # Errors
///
/// How many checks fail.
pub(crate) fn run(open: Open) -> std::result::Result<(), Box<dyn Error>> {
    let name = env::args().nth(1).unwrap_or_default();
    if let Some(part) = env::args().nth(2).and_then(|it| processes::find(&it)) {
        part(&|ordinal| open(&name, ordinal))?;
    } else {
        let device = open(&name, 0)?;
        let on = On { kernels: Kernels::load(&device)?, device, name };
        test_support::checks::run(CHECKS, |check| check(&on), |_| false)?;
    }
    module_cache().release_unused();
    Ok(())
}

/// Elements of most buffers.
const LEN: usize = 256;

/// Blocks of 64 threads for [`LEN`] elements.
const LAUNCH: Launch<1> = Launch::grid([4], [64]);

/// What so many rounds of `stepped` make of a value.
fn steps(value: u32, rounds: u32) -> u32 {
    let step =
        |value: u32| (value ^ value >> 15).wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    (0..rounds).fold(value, |value, _| step(value))
}

/// What [`steps`] is of 1, by the processor's kernel: the host's code is not optimised.
fn many_steps(rounds: u32) -> Result<u32> {
    static FOUND: Mutex<Option<(u32, u32)>> = Mutex::new(None);
    let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, value)) = found.filter(|(known, _)| *known == rounds) {
        return Ok(value);
    }
    let device = Device::cpu_sequential()?;
    let mut value = device.upload(&[1_u32])?;
    let launch = Launch::grid([1], [1]);
    Kernels::load(&device)?.stepped(&device.stream(), launch, rounds, &mut value)?;
    let value = value.download()?[0];
    *found = Some((rounds, value));
    Ok(value)
}

impl On {
    /// A launch that takes a tenth of a second or so. Fake drivers do no work before something waits for it, where they are
    /// told so.
    fn long(&self, stream: &impl LaunchStream) -> Result<Long> {
        let is_lazy = |variable| env::var_os(variable).is_some_and(|it| it == "lazy");
        let (threads, rounds) = match self.device.backend() {
            Backend::Cuda if is_lazy("FAKE_CUDA_STREAMS") => (1, 500),
            Backend::Hip if is_lazy("FAKE_HIP_STREAMS") => (1, 500),
            // lavapipe ends loops of more rounds.
            Backend::Wgpu => (4096, 60_000),
            _ => (1, 15_000_000),
        };
        let mut value = self.device.upload(&vec![1_u32; threads])?;
        self.kernels.stepped(stream, Launch::linear_in_blocks(threads, 64), rounds, &mut value)?;
        Ok(Long { value, rounds })
    }
}

/// A long launch and what it works on.
struct Long {
    value: Buffer<u32>,
    rounds: u32,
}

impl Long {
    /// Whether it has done all of its rounds, once it is complete.
    #[track_caller]
    fn check(&self) -> Result<()> {
        let expected = many_steps(self.rounds)?;
        assert!(self.value.download()?.iter().all(|it| *it == expected));
        Ok(())
    }
}

//! Launches whose blocks need more memory than there is, and the record of launches of one block.

use std::sync::atomic::{AtomicU32, Ordering};

use kernelmill_artifact::PanicKind;

use crate::{
    __codegen::{self as cg, abi},
    Device, Error, Launch, Result,
};

/// More than any machine has, for a thread.
const HUGE: u64 = 1 << 46;

/// A loop whose blocks keep [`HUGE`] bytes for each thread.
static LOOP: cg::CpuKernel = cg::CpuKernel {
    version: kernelmill_artifact::FORMAT_VERSION,
    strategy: abi::STRATEGY_LOOP,
    static_shared_bytes: 0,
    frame_bytes: HUGE,
    frame_align: 64,
    blocks_along_y: 0,
    joins_blocks: 0,
    reserved: 0,
    run: [Some(run), None, None],
    start: None,
    resume: None,
};

/// A coroutine of [`HUGE`] bytes.
static COROUTINE: cg::CpuKernel = cg::CpuKernel {
    strategy: abi::STRATEGY_COROUTINE,
    run: [None; 3],
    start: Some(start),
    resume: Some(resume),
    ..LOOP
};

/// A loop whose blocks keep little.
static SMALL: cg::CpuKernel =
    cg::CpuKernel { frame_bytes: 8, run: [Some(write), None, None], ..LOOP };

unsafe extern "C" fn run(_: *const *const u8, _: *mut abi::Block) {
    unreachable!("the block has no memory")
}

unsafe extern "C" fn start(_: *const *const u8, _: *mut abi::Item, _: *mut u8) {
    unreachable!("the thread has no memory")
}

unsafe extern "C" fn resume(_: *mut u8, _: *mut abi::Item) -> bool {
    unreachable!("the thread has no memory")
}

/// Writes the block's memory for 32 threads.
unsafe extern "C" fn write(_: *const *const u8, block: *mut abi::Block) {
    // SAFETY: the block has 8 bytes for each of its threads.
    unsafe { (*block).scratch.write_bytes(7, 8 * 32) }
}

/// A loop whose blocks panic.
static PANICS: cg::CpuKernel = cg::CpuKernel { run: [Some(panic), None, None], ..SMALL };

/// The blocks of [`PANICS`] that ran, and those whose record was not empty.
static RUN: AtomicU32 = AtomicU32::new(0);
static NOT_EMPTY: AtomicU32 = AtomicU32::new(0);

/// Panics every second time: writes the record as compiled code does.
unsafe extern "C" fn panic(_: *const *const u8, block: *mut abi::Block) {
    // SAFETY: block and record are those of the launch, which has one block.
    let record = unsafe { &mut *(*block).panic };
    let is_empty = !record.is_set() && record.a == 0 && record.message_len == 0;
    NOT_EMPTY.fetch_add(u32::from(!is_empty), Ordering::Relaxed);
    if RUN.fetch_add(1, Ordering::Relaxed).is_multiple_of(2) {
        (record.state, record.kind, record.location) =
            (2, PanicKind::IndexOutOfBounds as u32, u32::MAX);
        (record.a, record.b) = (7, 4);
    }
}

static SIGNATURES: [cg::Signature; 1] = [cg::Signature::borrowed("kernel", &[])];
static SETS: [cg::KernelSet; 4] = [
    set(&[artifact("11", &[embedded(&LOOP)])]),
    set(&[artifact("12", &[embedded(&COROUTINE)])]),
    set(&[artifact("13", &[embedded(&SMALL)])]),
    set(&[artifact("14", &[embedded(&PANICS)])]),
];

const fn set(artifacts: &'static [cg::EmbeddedArtifact]) -> cg::KernelSet {
    cg::KernelSet {
        format_version: kernelmill_artifact::FORMAT_VERSION,
        package: "demo",
        signatures: &SIGNATURES,
        functions: &[],
        variables: &[],
        tuned: &[],
        artifacts,
    }
}

const fn artifact(
    fingerprint: &'static str,
    kernels: &'static [cg::EmbeddedKernel],
) -> cg::EmbeddedArtifact {
    cg::EmbeddedArtifact {
        fingerprint,
        target: "cpu",
        kind: cg::ArtifactKind::Object,
        source: "kernels/kernel.rs",
        bytes: &[],
        kernels,
        locations: &[],
        backtraces: &[],
        messages: &[],
        relocations: &[],
        variables: &[],
    }
}

const fn embedded(kernel: &'static cg::CpuKernel) -> cg::EmbeddedKernel {
    // SAFETY: a constant of this program, with functions as the type says.
    let cpu = Some(unsafe { cg::CpuEntry::new(kernel) });
    cg::EmbeddedKernel {
        signature: 0,
        entry: "kernel",
        static_shared_bytes: 0,
        panics: true,
        cooperative: false,
        resources: cg::Resources::UNKNOWN,
        variant: None,
        cpu,
    }
}

fn launch(device: &Device, set: &'static cg::KernelSet, blocks: u32) -> Result<()> {
    let loaded = cg::Loaded::new(device, set)?;
    let stream = device.stream();
    // SAFETY: the kernels have no arguments.
    unsafe { cg::launch(&loaded, 0, cg::stream(&stream), Launch::grid([blocks], [32]), &[]) }
}

#[test]
fn memory_that_a_launch_cannot_get_is_an_error() {
    for device in [Device::cpu().unwrap(), Device::cpu_sequential().unwrap()] {
        lacks_memory(&device);
    }
}

/// The record is the thread's, and no launch reads what one before it has written.
#[test]
fn each_launch_of_one_block_has_an_empty_record() {
    let device = Device::cpu().unwrap();
    let loaded = cg::Loaded::new(&device, &SETS[3]).unwrap();
    let stream = device.stream();
    for number in 0..6 {
        let one = Launch::grid([1], [32]);
        // SAFETY: the kernel has no arguments.
        unsafe { cg::launch(&loaded, 0, cg::stream(&stream), one, &[]) }.unwrap();
        let reported = stream.synchronize();
        if number % 2 == 0 {
            let text = reported.unwrap_err().to_string();
            assert!(text.contains("the len is 4 but the index is 7"), "{text}");
        } else {
            reported.unwrap();
        }
    }
    assert_eq!((RUN.load(Ordering::Relaxed), NOT_EMPTY.load(Ordering::Relaxed)), (6, 0));
}

/// Launches what needs more memory than there is, and what does not.
pub(super) fn lacks_memory(device: &Device) {
    for set in &SETS[..2] {
        for blocks in [1, 64] {
            let error = launch(device, set, blocks).unwrap_err();
            let &Error::OutOfMemory { bytes, .. } = &error else { panic!("{error}") };
            assert!(bytes >= HUGE as usize, "{error}");
            launch(device, &SETS[2], blocks).unwrap();
        }
    }
}

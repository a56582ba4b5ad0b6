//! Safe kernels that ask for too much: they compute what they say, or their launch is an error.

use cuda_backend::clean_child;
use kernelmill::{Buffer, Device, Error, Launch, PanicKind, Result, Stream};
use safe_limits::Kernels;

const SEED: u32 = 77;

/// What a thread reads of local variables with so many elements.
fn expected(thread: usize, elements: usize) -> u32 {
    let (mut sum, mut place) = (0_u32, SEED);
    for _ in 0..64 {
        let at = place as usize % elements;
        let value = SEED.wrapping_mul(at as u32).wrapping_add(thread as u32);
        sum = sum.wrapping_mul(31).wrapping_add(value);
        place = place.wrapping_mul(5).wrapping_add(7);
    }
    sum
}

fn processors() -> [Device; 3] {
    [Device::cpu(), Device::cpu_sequential(), Device::cpu_async()].map(|device| device.unwrap())
}

/// Runs two blocks, and compares what each thread has read.
#[track_caller]
fn assert_right(
    device: &Device,
    threads: u32,
    elements: usize,
    launch: impl FnOnce(&Kernels, &Stream, Launch<1>, &mut Buffer<u32>) -> Result<()>,
) {
    let kernels = Kernels::load(device).unwrap();
    let mut y = device.zeros::<u32>(2 * threads as usize).unwrap();
    launch(&kernels, &device.stream(), Launch::grid([2], [threads]), &mut y).unwrap();
    for (thread, found) in y.download().unwrap().into_iter().enumerate() {
        assert_eq!(found, expected(thread, elements), "thread {thread} on {device}");
    }
}

#[test]
fn sixteen_kibibytes_of_locals_live_across_barriers() {
    for device in processors() {
        for threads in [1, 64, 1024] {
            assert_right(&device, threads, 1 << 12, |kernels, stream, launch, y| {
                kernels.locals(stream, launch, SEED, y)
            });
            assert_right(&device, threads, 1 << 12, |kernels, stream, launch, y| {
                kernels.locals_apart(stream, launch, SEED, y)
            });
            assert_right(&device, threads, 1 << 12, |kernels, stream, launch, y| {
                kernels.locals_in_turns(stream, launch, SEED, y)
            });
        }
    }
}

#[test]
fn locals_live_across_barriers_on_cuda() {
    clean_child("locals_live_across_barriers_on_cuda", &[], || {
        let device = Device::cuda(0).unwrap();
        assert_right(&device, 32, 1 << 12, |kernels, stream, launch, y| {
            kernels.locals(stream, launch, SEED, y)
        });
    });
}

#[test]
fn sixteen_mebibytes_of_locals_live_across_barriers() {
    for device in processors() {
        assert_right(&device, 2, 1 << 22, |kernels, stream, launch, y| {
            kernels.large_locals(stream, launch, SEED, y)
        });
    }
}

/// An error each time, and the device goes on.
#[test]
fn a_launch_that_cannot_get_its_memory_is_an_error() {
    for device in processors() {
        let kernels = Kernels::load(&device).unwrap();
        let mut y = device.zeros::<u32>(1024).unwrap();
        for _ in 0..8 {
            let launch = Launch::grid([1], [1024]);
            let launched = kernels.huge_locals(&device.stream(), launch, SEED, &mut y);
            let error = launched.and_then(|()| y.download()).unwrap_err();
            assert!(matches!(error, Error::OutOfMemory { .. }), "{device}: {error}");
        }
        kernels.locals(&device.stream(), Launch::grid([1], [8]), SEED, &mut y).unwrap();
        assert_eq!(y.download().unwrap()[7], expected(7, 1 << 12));
    }
}

/// What comes of threads that come to a barrier and then panic.
#[track_caller]
fn assert_panics(device: &Device, x: &[u32], kind: PanicKind, values: &[u32]) {
    let kernels = Kernels::load(device).unwrap();
    let (x, mut y) = (device.upload(x).unwrap(), device.zeros::<u32>(x.len()).unwrap());
    let launch = Launch::grid([1], [x.len() as u32]);
    kernels.barrier_before_panic(&device.stream(), launch, &x, &mut y).unwrap();
    match y.download().unwrap_err() {
        Error::KernelPanic(panic) => assert_eq!(panic.kind, kind, "{panic}"),
        error => panic!("{error}"),
    }
    assert!(y.download().unwrap().iter().all(|value| values.contains(value)));
}

#[test]
fn a_barrier_on_the_way_to_a_panic_is_one() {
    for device in processors() {
        assert_panics(&device, &[3; 64], PanicKind::Explicit, &[5]);
        let mut some = [0; 64];
        some[9] = 3;
        assert_panics(&device, &some, PanicKind::Deadlock, &[0, 5, 7]);
    }
}

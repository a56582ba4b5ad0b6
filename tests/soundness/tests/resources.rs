//! A process that lacks what launches on the CPU need: errors, no abort, no wait for ever.

use cuda_backend::run_child;
use kernelmill::{Backend, Device, Error, Launch, Result};
use soundness::kernels::Kernels;

/// A launch that is worth several threads.
fn launch(device: &Device) -> Result<Vec<u32>> {
    let kernels = Kernels::load(device)?;
    let mut y = device.zeros::<u32>(1 << 16)?;
    kernels.numbers(&device.stream(), Launch::linear(1 << 16), &mut y)?;
    y.download()
}

#[track_caller]
fn assert_works(device: &Device) {
    let numbers = launch(device).unwrap();
    assert!(numbers.iter().enumerate().all(|(index, number)| *number == index as u32));
}

#[track_caller]
fn assert_unavailable(device: &Device, reason: &str) {
    match launch(device) {
        Err(Error::Unavailable { backend: Backend::Cpu, reason: found }) => {
            assert!(found.contains(reason), "{found}");
        }
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("it did not fail"),
    }
}

/// Bytes of addresses that the process has.
#[cfg(target_os = "linux")]
fn addresses() -> u64 {
    let sizes = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = sizes.split(' ').next().unwrap().parse().unwrap();
    4096 * pages
}

/// No address space for the stack of a thread, as `RLIMIT_NPROC` would have it for users that are not root.
#[test]
#[cfg(target_os = "linux")]
fn a_process_without_threads_gets_errors() {
    let name = "a_process_without_threads_gets_errors";
    let child = run_child(name, &[], || {
        let device = Device::cpu().unwrap();
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: the limit is this function's own.
        unsafe { assert_eq!(libc::getrlimit(libc::RLIMIT_AS, &raw mut limit), 0) };
        let before = limit.rlim_cur;
        limit.rlim_cur = addresses() + (3 << 19);
        // SAFETY: as above.
        unsafe { assert_eq!(libc::setrlimit(libc::RLIMIT_AS, &raw const limit), 0) };
        for _ in 0..2 {
            assert_unavailable(&device, "the thread pool cannot be started");
        }
        assert_works(&Device::cpu_sequential().unwrap());
        limit.rlim_cur = before;
        // SAFETY: as above.
        unsafe { assert_eq!(libc::setrlimit(libc::RLIMIT_AS, &raw const limit), 0) };
    });
    child.expect_success();
}

/// The other process has none of the pool's threads.
#[test]
#[cfg(unix)]
fn a_forked_process_gets_errors() {
    let child = run_child("a_forked_process_gets_errors", &[], || {
        let device = Device::cpu().unwrap();
        assert_works(&device);
        // SAFETY: no other thread of this process holds a lock that the other one needs: those of the
        // pool wait, and the one that ends this test in time sleeps.
        let child = unsafe { libc::fork() };
        assert!(child >= 0);
        if child == 0 {
            // SAFETY: a process that waits for ever is ended by a signal.
            unsafe { libc::alarm(60) };
            let code = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                assert_unavailable(&device, "the process was forked");
                assert_works(&Device::cpu_sequential().unwrap());
            }));
            // SAFETY: ends the process without what the first one has registered for its own end.
            unsafe { libc::_exit(code.is_err().into()) };
        }
        let mut status = 0;
        // SAFETY: the process is a child of this one, and writes one number.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0, "{status:#x}");
        assert_works(&device);
    });
    child.expect_success();
}

//! A driver that lacks what it needs, and a process that was forked: errors, no abort, no wait for ever.

use cuda_backend::{Kernels, fake_child};
use kernelmill::{Buffer, Device, Error, Launch, Result};

/// A device in use, with work that nobody has waited for.
struct Bench {
    x: Buffer<f32>,
    y: Buffer<f32>,
    kernels: Kernels,
    device: Device,
}

impl Bench {
    fn new() -> Self {
        let device = Device::cuda(0).unwrap();
        let stream = device.new_stream().unwrap();
        let (x, mut y) = (device.upload(&[1.0; 4]).unwrap(), device.zeros(4).unwrap());
        let kernels = Kernels::load(&device).unwrap();
        kernels.saxpy(&stream, Launch::linear(4), 1.0, &x, &mut y).unwrap();
        Self { x, y, kernels, device }
    }

    fn launch(&mut self) -> Result<()> {
        self.kernels.saxpy(&self.device.stream(), Launch::linear(4), 1.0, &self.x, &mut self.y)
    }
}

#[track_caller]
fn assert_fails<T>(result: Result<T>, name: &str) {
    match result {
        Err(Error::Cuda { name: found, .. }) => assert_eq!(found, name),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it did not fail"),
    }
}

/// The other process has none of the driver's threads. NVIDIA's own driver promises nothing there; 580 ends with a signal.
#[test]
fn a_forked_process_gets_errors() {
    fake_child("a_forked_process_gets_errors", &[("FAKE_CUDA_STREAMS", "lazy")], || {
        let mut bench = Bench::new();
        // SAFETY: no other thread of this process holds a lock that the other one needs: the
        // driver's threads wait, and the one that ends this test in time sleeps.
        let child = unsafe { libc::fork() };
        assert!(child >= 0);
        if child == 0 {
            // SAFETY: a process that waits for ever is ended by a signal.
            unsafe { libc::alarm(60) };
            let code = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                let lost = "CUDA_ERROR_NOT_INITIALIZED";
                assert_fails(bench.launch(), lost);
                assert_fails(bench.y.download(), lost);
                assert_fails(bench.device.synchronize(), lost);
                assert_fails(bench.device.new_stream(), lost);
                assert_fails(bench.device.upload(&[1.0f32]), lost);
                assert_eq!(Device::unavailable().len(), 1);
                drop(bench);
            }));
            // SAFETY: ends the process without what the first one has registered for its own end.
            unsafe { libc::_exit(code.is_err().into()) };
        }
        let mut status = 0;
        // SAFETY: the process is a child of this one, and writes one number.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0, "{status:#x}");
        bench.launch().unwrap();
        assert_eq!(bench.y.download().unwrap(), [2.0; 4]);
    });
}

#[test]
fn a_driver_without_threads_gives_errors() {
    let name = "a_driver_without_threads_gives_errors";
    fake_child(name, &[], || {
        let device = Device::cuda(0).unwrap();
        // Stacks that no machine has room for.
        // SAFETY: the other thread of this process sleeps.
        unsafe { std::env::set_var("RUST_MIN_STACK", (1_u64 << 60).to_string()) };
        assert_fails(device.zeros::<f32>(4), "CUDA_ERROR_OPERATING_SYSTEM");
        assert_fails(device.upload(&[1.0f32]), "CUDA_ERROR_OPERATING_SYSTEM");
        assert_fails(device.stream().synchronize(), "CUDA_ERROR_OPERATING_SYSTEM");
        device.new_stream().unwrap().synchronize().unwrap();
    });
}

//! Contexts and modules that come and go, on several threads: what is made is released.

use kernelmill::{Device, Launch, Stream, module_cache};
use opencl_backend::{Kernels, clean_child};

const LEN: usize = 64;

/// Launches on a stream and checks the result.
fn use_device(device: &Device, stream: &Stream) {
    let kernels = Kernels::load(device).unwrap();
    let mut values = device.upload(&[1_u32; LEN]).unwrap();
    for _ in 0..3 {
        let launch = Launch::grid([LEN as u32], [1]);
        // SAFETY: there is an element for each work-item.
        unsafe { kernels.add(stream, launch, &mut values, 2) }.unwrap();
    }
    assert_eq!(values.download().unwrap(), [7; LEN]);
}

/// Each pair of threads shares a context, and both make ten of them one after the other.
#[test]
fn two_pairs_of_threads_with_ten_contexts_each() {
    clean_child("two_pairs_of_threads_with_ten_contexts_each", &[], || {
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    for _ in 0..10 {
                        let device = Device::opencl(0).unwrap();
                        std::thread::scope(|pair| {
                            for _ in 0..2 {
                                pair.spawn(|| {
                                    use_device(&device, &device.stream());
                                    use_device(&device, &device.new_stream().unwrap());
                                });
                            }
                        });
                    }
                });
            }
        });
        module_cache().release_unused();
        let found = module_cache().statistics();
        assert_eq!((found.loaded, found.loads), (0, found.unloads));
    });
}

/// Seventy modules, of which one stays loaded: each is used, released and loaded again.
#[test]
fn modules_are_unloaded_and_loaded_again() {
    clean_child("modules_are_unloaded_and_loaded_again", &[], || {
        module_cache().set_capacity(1);
        let device = Device::opencl(0).unwrap();
        assert_eq!(Kernels::load(&device).unwrap().chosen().len(), 2);
        while module_cache().statistics().loads < 70 {
            use_device(&device, &device.new_stream().unwrap());
        }
        drop(device);
        let found = module_cache().statistics();
        assert_eq!((found.loaded, found.loads), (0, found.unloads));
    });
}

/// Kernels are shared by threads, which launch them at once with arguments of their own.
#[test]
fn threads_share_kernels() {
    clean_child("threads_share_kernels", &[], || {
        let device = Device::opencl(0).unwrap();
        let kernels = Kernels::load(&device).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let (device, kernels) = (&device, &kernels);
                scope.spawn(move || {
                    let stream = device.new_stream().unwrap();
                    let mut values = device.upload(&[thread; LEN]).unwrap();
                    for summand in 0..100 {
                        let launch = Launch::grid([LEN as u32], [1]);
                        // SAFETY: there is an element for each work-item.
                        unsafe { kernels.add(&stream, launch, &mut values, summand * thread) }
                            .unwrap();
                    }
                    assert_eq!(values.download().unwrap(), [thread + 4950 * thread; LEN]);
                });
            }
        });
    });
}

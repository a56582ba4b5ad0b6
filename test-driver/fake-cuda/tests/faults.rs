//! What kernels do wrong is reported as CUDA reports it, and said in full.

mod support;

use std::time::Duration;

use cudarc::driver::{CudaContext, LaunchConfig, PushKernelArg, result, sys::CUresult};
use support::{Gate, Outcome, block, child, clean_child, code, kernel, load};

/// Launches a kernel that takes nothing, and gives what the next synchronisation says.
fn fault(context: &std::sync::Arc<CudaContext>, name: &str) -> CUresult {
    let stream = context.default_stream();
    // SAFETY: the kernel has no parameters; that it faults is what is tested.
    unsafe { stream.launch_builder(&kernel(context, name)).launch(block(1)).unwrap() };
    code(stream.synchronize())
}

#[track_caller]
fn said(outcome: &Outcome, texts: &[&str]) {
    outcome.expect_success();
    for text in texts {
        assert_eq!(outcome.stderr.matches(text).count(), 1, "{text}: {}", outcome.stderr);
    }
}

#[test]
fn faults_are_sticky_and_said_once() {
    let outcome = child("faults_are_sticky_and_said_once", &[], || {
        let context = CudaContext::new(0).unwrap();
        let memory = context.default_stream().alloc_zeros::<u8>(4).unwrap();
        assert_eq!(fault(&context, "fault"), CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
        assert_eq!(code(context.synchronize()), CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
        let more = code(context.default_stream().alloc_zeros::<u8>(4));
        assert_eq!(more, CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
        drop(memory);
        drop(context);
        // A new context has none of the old one's trouble.
        let context = CudaContext::new(0).unwrap();
        let memory = context.default_stream().clone_htod(&[1_u8]).unwrap();
        assert_eq!(context.default_stream().clone_dtoh(&memory).unwrap(), [1]);
    });
    said(&outcome, &["CUDA_ERROR_ILLEGAL_ADDRESS on device 0: kernel `fault`", "PTX line"]);
    assert!(outcome.stderr.contains("thread (0, 0, 0)"), "{}", outcome.stderr);
    // With the line that its `.loc` names.
    let frame = " --> tests/kernels/basic.ptx:51:2\n";
    assert!(outcome.stderr.contains(frame), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("ld.global.u32 %r1, [%rd1];\n"), "{}", outcome.stderr);
}

#[test]
fn kernels_have_their_names_in_cpp() {
    let outcome = child("kernels_have_their_names_in_cpp", &[], || {
        let context = CudaContext::new(0).unwrap();
        assert_eq!(fault(&context, "_Z7outsidev"), CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
    });
    said(&outcome, &["CUDA_ERROR_ILLEGAL_ADDRESS on device 0: kernel `outside`"]);
}

#[test]
fn faults_are_reported_when_they_are_waited_for() {
    child("faults_are_reported_when_they_are_waited_for", &[], || {
        let context = CudaContext::new(0).unwrap();
        let (stream, kernel) = (context.new_stream().unwrap(), kernel(&context, "fault"));
        let gate = Gate::on(&stream);
        // SAFETY: as in `fault`.
        unsafe { stream.launch_builder(&kernel).launch(block(1)).unwrap() };
        let event = stream.record_event(None).unwrap();
        gate.open();
        while code(event.try_is_complete()) == CUresult::CUDA_SUCCESS {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(code(event.synchronize()), CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
        assert_eq!(code(stream.synchronize()), CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
    })
    .expect_success();
}

#[test]
fn faults_are_of_one_device() {
    child("faults_are_of_one_device", &[("FAKE_CUDA_DEVICES", "2")], || {
        let (first, second) = (CudaContext::new(0).unwrap(), CudaContext::new(1).unwrap());
        first.bind_to_thread().unwrap();
        assert_eq!(fault(&first, "fault"), CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
        second.synchronize().unwrap();
        let other = second.default_stream().clone_htod(&[1_u8]).unwrap();
        assert_eq!(second.default_stream().clone_dtoh(&other).unwrap(), [1]);
    })
    .expect_success();
}

#[test]
fn memory_of_another_device_is_out_of_reach() {
    let outcome =
        child("memory_of_another_device_is_out_of_reach", &[("FAKE_CUDA_DEVICES", "2")], || {
            let (first, second) = (CudaContext::new(0).unwrap(), CudaContext::new(1).unwrap());
            let mut memory = second.default_stream().alloc_zeros::<u32>(4).unwrap();
            first.bind_to_thread().unwrap();
            let (double, stream) = (kernel(&first, "double"), first.default_stream());
            let address = {
                use cudarc::driver::DevicePtrMut;
                memory.device_ptr_mut(second.default_stream().as_ref()).0
            };
            first.bind_to_thread().unwrap();
            // SAFETY: the kernel has this parameter; that it faults is what is tested.
            unsafe { stream.launch_builder(&double).arg(&address).launch(block(4)).unwrap() };
            assert_eq!(code(stream.synchronize()), CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
        });
    outcome.expect_success();
}

#[test]
fn each_fault_has_its_error() {
    let context = || CudaContext::new(0).unwrap();
    child("each_fault_has_its_error", &[("FAKE_CUDA_STEPS", "100000")], || {
        assert_eq!(fault(&context(), "stop"), CUresult::CUDA_ERROR_LAUNCH_FAILED);
        assert_eq!(fault(&context(), "forever"), CUresult::CUDA_ERROR_LAUNCH_TIMEOUT);
        let context = context();
        let stream = context.default_stream();
        let mut memory = stream.alloc_zeros::<u64>(2).unwrap();
        // SAFETY: the kernel has this parameter; that it faults is what is tested.
        unsafe {
            let misaligned = kernel(&context, "misaligned");
            stream.launch_builder(&misaligned).arg(&mut memory).launch(block(1)).unwrap();
        }
        assert_eq!(code(stream.synchronize()), CUresult::CUDA_ERROR_MISALIGNED_ADDRESS);
    })
    .expect_success();
}

#[test]
fn what_was_printed_before_a_fault_is_shown() {
    let outcome = child("what_was_printed_before_a_fault_is_shown", &[], || {
        let context = CudaContext::new(0).unwrap();
        assert_eq!(fault(&context, "says"), CUresult::CUDA_ERROR_LAUNCH_FAILED);
    });
    outcome.expect_success();
    assert_eq!(outcome.stdout.matches("before\n").count(), 1, "{}", outcome.stdout);
}

#[test]
fn use_after_free_is_a_fault() {
    let outcome = child("use_after_free_is_a_fault", &[], || {
        let context = CudaContext::new(0).unwrap();
        let (stream, double) = (context.default_stream(), kernel(&context, "double"));
        // SAFETY: that the kernel uses the memory after it is freed is what is tested.
        unsafe {
            let address = result::malloc_sync(16).unwrap();
            result::free_sync(address).unwrap();
            stream.launch_builder(&double).arg(&address).launch(block(4)).unwrap();
        }
        assert_eq!(code(stream.synchronize()), CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
    });
    said(&outcome, &["that was freed"]);
}

#[test]
fn wrong_launches_are_refused() {
    clean_child("wrong_launches_are_refused", &[("FAKE_CUDA_ARCH", "75")], || {
        let context = CudaContext::new(0).unwrap();
        let stream = context.default_stream();
        let (stop, shared) = (kernel(&context, "stop"), kernel(&context, "with_shared"));
        let refused = |function, grid_dim, block_dim, shared_mem_bytes| {
            let config = LaunchConfig { grid_dim, block_dim, shared_mem_bytes };
            // SAFETY: the launch is refused before anything runs.
            code(unsafe { stream.launch_builder(function).arg(&0_u64).launch(config) })
        };
        for (grid, block, bytes) in [
            ((1, 1, 1), (1025, 1, 1), 0),
            ((1, 1, 1), (32, 32, 2), 0),
            ((1, 1, 1), (1, 1, 65), 0),
            ((0, 1, 1), (1, 1, 1), 0),
            ((1, 1, 1), (0, 1, 1), 0),
            ((1, 65536, 1), (1, 1, 1), 0),
            ((1, 1, 1), (1, 1, 1), 49153),
        ] {
            let found = refused(&stop, grid, block, bytes);
            assert_eq!(found, CUresult::CUDA_ERROR_INVALID_VALUE, "{grid:?} {block:?} {bytes}");
        }
        // Too few threads, too many, and as many in another shape.
        let exactly = kernel(&context, "exactly");
        for block in [(8, 1, 1), (8, 3, 1), (16, 1, 1)] {
            let found = refused(&exactly, (1, 1, 1), block, 0);
            assert_eq!(found, CUresult::CUDA_ERROR_INVALID_VALUE, "{block:?}");
        }
        let config =
            LaunchConfig { grid_dim: (3, 1, 1), block_dim: (8, 2, 1), shared_mem_bytes: 0 };
        // SAFETY: the kernel has no parameters.
        unsafe { stream.launch_builder(&exactly).launch(config).unwrap() };
        // 1024 bytes are its own.
        let one = (1, 1, 1);
        assert_eq!(refused(&shared, one, one, 48129), CUresult::CUDA_ERROR_INVALID_VALUE);
        use cudarc::driver::sys::CUfunction_attribute as A;
        let most = A::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        assert_eq!(code(shared.set_attribute(most, 64513)), CUresult::CUDA_ERROR_INVALID_VALUE);
        shared.set_attribute(most, 64512).unwrap();
        let memory = stream.alloc_zeros::<u32>(1).unwrap();
        let config = LaunchConfig { grid_dim: one, block_dim: one, shared_mem_bytes: 64512 };
        // SAFETY: the kernel has this parameter, and writes 4 bytes.
        unsafe { stream.launch_builder(&shared).arg(&memory).launch(config).unwrap() };
        assert_eq!(stream.clone_dtoh(&memory).unwrap(), [5]);
    });
}

#[test]
fn cooperative_launches_have_to_fit() {
    clean_child("cooperative_launches_have_to_fit", &[("FAKE_CUDA_ARCH", "75")], || {
        let context = CudaContext::new(0).unwrap();
        let (fill, stream) = (kernel(&context, "fill"), context.default_stream());
        let mut memory = stream.alloc_zeros::<u32>(64).unwrap();
        let mut launch = |blocks| {
            let config = LaunchConfig {
                grid_dim: (blocks, 1, 1),
                block_dim: (32, 1, 1),
                shared_mem_bytes: 0,
            };
            let mut launch = stream.launch_builder(&fill);
            let launch = launch.arg(&mut memory).arg(&64_u32).arg(&0_u32);
            // SAFETY: the kernel has these parameters, and writes within `memory`.
            code(unsafe { launch.launch_cooperative(config) })
        };
        assert_eq!(launch(2), CUresult::CUDA_SUCCESS);
        // 40 multiprocessors with 16 blocks each.
        assert_eq!(launch(641), CUresult::CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
    });
}

#[test]
fn images_for_other_machines_are_refused() {
    clean_child("images_for_other_machines_are_refused", &[("FAKE_CUDA_ARCH", "75")], || {
        let context = CudaContext::new(0).unwrap();
        let load = |image: &[u8]| {
            context.bind_to_thread().unwrap();
            // SAFETY: the image ends with a zero.
            code(unsafe { result::module::load_data(image.as_ptr().cast()) })
        };
        let cubin = load(b"\x7fELF\x02\x01\x01\x33\x07\0\0\0\0\0\0\0");
        assert_eq!(cubin, CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU);
        assert_eq!(load(b"\x01\x02\x03\0"), CUresult::CUDA_ERROR_INVALID_IMAGE);
        assert_eq!(load(b"no ptx\0"), CUresult::CUDA_ERROR_INVALID_PTX);
        let newer = b".version 8.0\n.target sm_90\n.address_size 64\n\0";
        assert_eq!(load(newer), CUresult::CUDA_ERROR_INVALID_PTX);
    });
}

#[test]
fn functions_and_globals_are_found_until_their_module_is_unloaded() {
    let name = "functions_and_globals_are_found_until_their_module_is_unloaded";
    clean_child(name, &[], || {
        let context = CudaContext::new(0).unwrap();
        let stream = context.default_stream();
        let module = load(&context, support::BASIC);
        assert_eq!(code(module.load_function("missing")), CUresult::CUDA_ERROR_NOT_FOUND);
        let counter = module.get_global("counter", &stream).unwrap();
        assert_eq!(stream.clone_dtoh(&counter).unwrap(), 7_u32.to_le_bytes());
        drop(module);
        let text = std::ffi::CString::new(support::BASIC).unwrap();
        // SAFETY: the text ends with a zero; that the handles are used after the module is unloaded
        // is what is tested.
        unsafe {
            let module = result::module::load_data(text.as_ptr().cast()).unwrap();
            let stop = result::module::get_function(module, c"stop".to_owned()).unwrap();
            result::module::unload(module).unwrap();
            let late =
                result::launch_kernel(stop, (1, 1, 1), (1, 1, 1), 0, std::ptr::null_mut(), &mut []);
            assert_eq!(code(late), CUresult::CUDA_ERROR_INVALID_HANDLE);
            let again = code(result::module::unload(module));
            assert_eq!(again, CUresult::CUDA_ERROR_INVALID_HANDLE);
        }
    });
}

//! The stack of threads: what the driver is asked for where kernels leave open how much they need.

use cuda_backend::{Kernels, clean_child, copy_with};
use cudarc::driver::{CudaContext, sys};
use kernelmill::{Device, Launch};

const CYCLE: &str = "\n.func cycle()\n{\n\tcall.uni cycle, ();\n\tret;\n}\n";
const BY_ADDRESS: &str = "\n.func by_address(.param .b64 f)\n{\n\t.reg .b64 %rd<2>;\n\tld.param.b64 %rd1, [f];\n\
                          \tprototype_0 : .callprototype _ ();\n\tcall %rd1, (), prototype_0;\n\tret;\n}\n";
const DIRECT: &str =
    "\n.func leaf()\n{\n\tret;\n}\n.func direct()\n{\n\tcall.uni leaf, ();\n\tret;\n}\n";

/// The limit of the context that is current, in bytes.
fn limit() -> usize {
    let mut limit = 0;
    // SAFETY: the driver writes one number.
    let read = unsafe { sys::cuCtxGetLimit(&raw mut limit, sys::CUlimit::CU_LIMIT_STACK_SIZE) };
    read.result().unwrap();
    limit
}

fn set_limit(bytes: usize) {
    // SAFETY: a context is current.
    let set = unsafe { sys::cuCtxSetLimit(sys::CUlimit::CU_LIMIT_STACK_SIZE, bytes) };
    set.result().unwrap();
}

/// Loads the kernel with more PTX behind it, and launches it.
fn launch(device: &Device, number: usize, more: &str) {
    let kernels = Kernels::load_copy(device, copy_with(number, more)).unwrap();
    let (x, mut y) = (device.upload(&[1.0_f32; 4]).unwrap(), device.upload(&[2.0_f32; 4]).unwrap());
    kernels.saxpy(&device.stream(), Launch::linear(4), 3.0, &x, &mut y).unwrap();
    assert_eq!(y.download().unwrap(), [5.0; 4]);
}

#[test]
fn recursion_and_calls_by_address_raise_the_limit_and_nothing_else_does() {
    let name = "recursion_and_calls_by_address_raise_the_limit_and_nothing_else_does";
    clean_child(name, &[], || {
        let context = CudaContext::new(0).unwrap();
        let device = Device::from_cuda_context(&context).unwrap();
        context.bind_to_thread().unwrap();
        let first = limit();
        assert!(first < 8192, "{first}");
        launch(&device, 1, DIRECT);
        assert_eq!(limit(), first);
        launch(&device, 2, CYCLE);
        assert_eq!(limit(), 8192);
        set_limit(first);
        launch(&device, 3, BY_ADDRESS);
        assert_eq!(limit(), 8192);
    });
}

#[test]
fn a_limit_that_the_program_has_raised_stays() {
    clean_child("a_limit_that_the_program_has_raised_stays", &[], || {
        let context = CudaContext::new(0).unwrap();
        let device = Device::from_cuda_context(&context).unwrap();
        context.bind_to_thread().unwrap();
        set_limit(16 << 10);
        launch(&device, 1, CYCLE);
        assert_eq!(limit(), 16 << 10);
    });
}

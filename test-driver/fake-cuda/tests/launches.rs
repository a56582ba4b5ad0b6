//! Launches in all their forms, and what is known about functions.

mod support;

use std::{ffi::c_void, mem::MaybeUninit, ptr};

use cudarc::driver::{
    CudaContext, DevicePtrMut, PushKernelArg, result,
    sys::{self, CUfunction_attribute as Attribute, CUresult},
};
use support::{BASIC, block, clean_child, code, kernel, load};

/// The handle behind a function.
fn raw(context: &std::sync::Arc<CudaContext>, name: &str) -> (sys::CUmodule, sys::CUfunction) {
    context.bind_to_thread().unwrap();
    let (text, name) = [BASIC, name].map(|text| std::ffi::CString::new(text).unwrap()).into();
    // SAFETY: the text ends with a zero.
    unsafe {
        let module = result::module::load_data(text.as_ptr().cast()).unwrap();
        (module, result::module::get_function(module, name).unwrap())
    }
}

#[test]
fn arguments_come_in_a_buffer_too() {
    clean_child("arguments_come_in_a_buffer_too", &[], || {
        let context = CudaContext::new(0).unwrap();
        let (module, fill) = raw(&context, "fill");
        let stream = context.default_stream();
        let mut memory = stream.alloc_zeros::<u32>(4).unwrap();
        let (address, order) = memory.device_ptr_mut(&stream);
        let arguments: [u64; 2] = [address, 4 | (5 << 32)];
        let mut bytes = size_of_val(&arguments);
        let pointer = ptr::from_ref(&arguments).cast_mut().cast::<c_void>();
        let number = ptr::without_provenance_mut::<c_void>;
        let size = ptr::from_mut(&mut bytes);
        let mut extra = [number(1), pointer, number(2), size.cast(), number(0)];
        // SAFETY: the buffer has the kernel's parameters where the kernel has them, and is refused
        // when it is too short.
        unsafe {
            let (extra, none) = (extra.as_mut_ptr(), ptr::null_mut());
            sys::cuLaunchKernel(fill, 1, 1, 1, 4, 1, 1, 0, ptr::null_mut(), none, extra)
                .result()
                .unwrap();
            *size -= 1;
            let short =
                sys::cuLaunchKernel(fill, 1, 1, 1, 4, 1, 1, 0, ptr::null_mut(), none, extra);
            assert_eq!(short, CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        drop(order);
        assert_eq!(stream.clone_dtoh(&memory).unwrap(), [5, 6, 7, 8]);
        // SAFETY: loaded above.
        unsafe { result::module::unload(module).unwrap() };
    });
}

/// A priority, and the size of a cluster.
fn attributes() -> [sys::CUlaunchAttribute; 2] {
    // SAFETY: the structure is made of numbers and null pointers.
    let mut attributes: [sys::CUlaunchAttribute; 2] =
        unsafe { MaybeUninit::zeroed().assume_init() };
    attributes[0].id = sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PRIORITY;
    attributes[1].id = sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attributes
}

#[test]
fn launches_with_attributes_are_checked() {
    clean_child("launches_with_attributes_are_checked", &[], || {
        let context = CudaContext::new(0).unwrap();
        let (module, double) = raw(&context, "double");
        let stream = context.new_stream().unwrap();
        let mut memory = stream.clone_htod(&[1_u32, 2]).unwrap();
        let (mut address, order) = memory.device_ptr_mut(&stream);
        let mut arguments = [ptr::from_mut(&mut address).cast::<c_void>()];
        let mut attributes = attributes();
        let mut launch = |x: u32, attributes: &mut [sys::CUlaunchAttribute]| {
            for attribute in attributes.iter_mut().skip(1) {
                attribute.value.clusterDim.x = x;
                attribute.value.clusterDim.y = 1;
                attribute.value.clusterDim.z = 1;
            }
            let config = sys::CUlaunchConfig {
                gridDimX: 1,
                gridDimY: 1,
                gridDimZ: 1,
                blockDimX: 2,
                blockDimY: 1,
                blockDimZ: 1,
                sharedMemBytes: 0,
                hStream: stream.cu_stream(),
                attrs: attributes.as_mut_ptr(),
                numAttrs: attributes.len() as u32,
            };
            let none = ptr::null_mut();
            // SAFETY: the kernel has this parameter, and writes within `memory`.
            unsafe { sys::cuLaunchKernelEx(&config, double, arguments.as_mut_ptr(), none) }
        };
        assert_eq!(launch(1, &mut attributes), CUresult::CUDA_SUCCESS);
        assert_eq!(launch(2, &mut attributes), CUresult::CUDA_ERROR_NOT_SUPPORTED);
        assert_eq!(launch(1, &mut []), CUresult::CUDA_SUCCESS);
        drop(order);
        assert_eq!(stream.clone_dtoh(&memory).unwrap(), [4, 8]);
        // SAFETY: loaded above.
        unsafe { result::module::unload(module).unwrap() };
    });
}

#[test]
fn functions_have_attributes() {
    clean_child("functions_have_attributes", &[("FAKE_CUDA_ARCH", "90")], || {
        let context = CudaContext::new(0).unwrap();
        let function = kernel(&context, "with_shared");
        let attribute = |which| function.get_attribute(which).unwrap();
        assert_eq!(attribute(Attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 1024);
        assert_eq!(attribute(Attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES), 1024);
        assert_eq!(attribute(Attribute::CU_FUNC_ATTRIBUTE_PTX_VERSION), 75);
        assert_eq!(attribute(Attribute::CU_FUNC_ATTRIBUTE_BINARY_VERSION), 90);
        let blocks = function.occupancy_max_active_blocks_per_multiprocessor(1024, 0, None);
        assert_eq!(blocks.unwrap(), 2);
    });
}

#[test]
fn globals_are_memory() {
    clean_child("globals_are_memory", &[], || {
        let context = CudaContext::new(0).unwrap();
        let stream = context.default_stream();
        let module = load(&context, BASIC);
        let double = module.load_function("double").unwrap();
        let mut counter = module.get_global("counter", &stream).unwrap();
        // SAFETY: the kernel has this parameter, and writes 4 bytes.
        unsafe { stream.launch_builder(&double).arg(&mut counter).launch(block(1)).unwrap() };
        assert_eq!(stream.clone_dtoh(&counter).unwrap(), 14_u32.to_le_bytes());
        assert_eq!(code(module.get_global("missing", &stream)), CUresult::CUDA_ERROR_NOT_FOUND);
    });
}

//! Memory of devices and of the host.

mod support;

use std::{mem::MaybeUninit, ptr};

use cudarc::driver::{
    CudaContext, DevicePtr, PushKernelArg, result,
    sys::{self, CUpointer_attribute as Attribute, CUresult},
};
use support::{block, child, clean_child, code, kernel};

#[test]
fn bytes_come_back() {
    clean_child("bytes_come_back", &[], || {
        let stream = CudaContext::new(0).unwrap().default_stream();
        let numbers: Vec<u64> = (0..1000).map(|n| n * n).collect();
        let on_device = stream.clone_htod(&numbers).unwrap();
        let copy = stream.clone_dtod(&on_device.slice(10..20)).unwrap();
        assert_eq!(stream.clone_dtoh(&on_device).unwrap(), numbers);
        assert_eq!(stream.clone_dtoh(&copy).unwrap(), numbers[10..20]);
        let empty = stream.null::<u8>().unwrap();
        assert_eq!(stream.clone_dtoh(&empty).unwrap(), [0_u8; 0]);
    });
}

#[test]
fn devices_have_their_own_memory() {
    clean_child("devices_have_their_own_memory", &[("FAKE_CUDA_DEVICES", "2")], || {
        // Not the default streams: cudarc copies from device to device with whatever context it
        // has made current last, and the default stream is that of the current context.
        let streams =
            [0, 1].map(|ordinal| CudaContext::new(ordinal).unwrap().new_stream().unwrap());
        let first = streams[0].clone_htod(&[1_u32, 2, 3]).unwrap();
        let second = streams[1].clone_htod(&[4_u32, 5, 6]).unwrap();
        assert_eq!(streams[0].clone_dtoh(&first).unwrap(), [1, 2, 3]);
        let moved = streams[1].clone_dtod(&first).unwrap();
        assert_eq!(streams[1].clone_dtoh(&moved).unwrap(), [1, 2, 3]);
        assert_eq!(streams[1].clone_dtoh(&second).unwrap(), [4, 5, 6]);
    });
}

#[test]
fn copies_outside_an_allocation_are_refused() {
    clean_child("copies_outside_an_allocation_are_refused", &[], || {
        let stream = CudaContext::new(0).unwrap().default_stream();
        let memory = stream.alloc_zeros::<u8>(16).unwrap();
        let (address, _order) = memory.device_ptr(&stream);
        let mut bytes = [0_u8; 17];
        // SAFETY: the host's memory is long enough; the device's is not, which is tested.
        unsafe {
            let long = code(result::memcpy_dtoh_sync(&mut bytes, address));
            assert_eq!(long, CUresult::CUDA_ERROR_INVALID_VALUE);
            let outside = code(result::memset_d8_sync(address + 16, 0, 1));
            assert_eq!(outside, CUresult::CUDA_ERROR_INVALID_VALUE);
            result::memcpy_dtoh_sync(&mut bytes[..16], address).unwrap();
        }
    });
}

#[test]
fn memory_is_freed_once() {
    clean_child("memory_is_freed_once", &[], || {
        let context = CudaContext::new(0).unwrap();
        let stream = context.default_stream().cu_stream();
        // SAFETY: the second time each is freed is what is tested.
        unsafe {
            let address = result::malloc_sync(64).unwrap();
            result::free_sync(address).unwrap();
            assert_eq!(code(result::free_sync(address)), CUresult::CUDA_ERROR_INVALID_VALUE);
            let address = result::malloc_async(stream, 64).unwrap();
            result::free_async(address, stream).unwrap();
            let again = code(result::free_async(address, stream));
            assert_eq!(again, CUresult::CUDA_ERROR_INVALID_VALUE);
            assert_eq!(code(result::malloc_sync(0)), CUresult::CUDA_ERROR_INVALID_VALUE);
        }
    });
}

#[test]
fn kernels_reach_managed_and_pinned_memory() {
    clean_child("kernels_reach_managed_and_pinned_memory", &[], || {
        let context = CudaContext::new(0).unwrap();
        let (fill, double) = (kernel(&context, "fill"), kernel(&context, "double"));
        let stream = context.default_stream();
        // SAFETY: written before it is read.
        let mut managed = unsafe { context.alloc_unified::<u32>(4, true).unwrap() };
        managed.as_mut_slice().unwrap().fill(0);
        // SAFETY: the kernel has these parameters, and writes within the memory.
        unsafe {
            let mut launch = stream.launch_builder(&fill);
            launch.arg(&mut managed).arg(&4_u32).arg(&3_u32).launch(block(4)).unwrap();
        }
        stream.synchronize().unwrap();
        assert_eq!(managed.as_slice().unwrap(), [3, 4, 5, 6]);
        managed.as_mut_slice().unwrap()[0] = 100;
        // SAFETY: as above.
        unsafe { stream.launch_builder(&double).arg(&mut managed).launch(block(4)).unwrap() };
        assert_eq!(stream.clone_dtoh(&managed).unwrap(), [200, 8, 10, 12]);

        // SAFETY: written before it is read, and freed when the stream is done.
        unsafe {
            let pinned = result::malloc_host(16, 0).unwrap().cast::<u32>();
            pinned.copy_from([1, 2, 3, 4].as_ptr(), 4);
            let address = pinned as u64;
            stream.launch_builder(&double).arg(&address).launch(block(4)).unwrap();
            stream.synchronize().unwrap();
            assert_eq!(std::slice::from_raw_parts(pinned, 4), [2, 4, 6, 8]);
            result::free_host(pinned.cast()).unwrap();
        }
    });
}

fn attribute<T>(attribute: Attribute, address: u64) -> Result<T, result::DriverError> {
    let mut value = MaybeUninit::<T>::uninit();
    // SAFETY: each test asks for the type that the attribute has.
    unsafe {
        sys::cuPointerGetAttribute(value.as_mut_ptr().cast(), attribute, address).result()?;
        Ok(value.assume_init())
    }
}

#[test]
fn addresses_tell_what_they_are() {
    clean_child("addresses_tell_what_they_are", &[], || {
        let context = CudaContext::new(0).unwrap();
        let stream = context.default_stream();
        let memory = stream.alloc_zeros::<u8>(100).unwrap();
        let (address, _order) = memory.device_ptr(&stream);
        let start = Attribute::CU_POINTER_ATTRIBUTE_RANGE_START_ADDR;
        assert_eq!(attribute::<u64>(start, address + 50).unwrap(), address);
        let bytes = Attribute::CU_POINTER_ATTRIBUTE_RANGE_SIZE;
        assert_eq!(attribute::<usize>(bytes, address).unwrap(), 100);
        let kind = Attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
        assert_eq!(attribute::<u32>(kind, address).unwrap(), 2);
        // SAFETY: freed below.
        let pinned = unsafe { result::malloc_host(8, 0).unwrap() };
        assert_eq!(attribute::<u32>(kind, pinned as u64).unwrap(), 1);
        // SAFETY: allocated above.
        unsafe { result::free_host(pinned).unwrap() };
        let host = ptr::from_ref(&0_u8) as u64;
        assert_eq!(code(attribute::<u32>(kind, host)), CUresult::CUDA_ERROR_INVALID_VALUE);
    });
}

#[test]
fn registered_memory_is_known_to_devices() {
    clean_child("registered_memory_is_known_to_devices", &[], || {
        let context = CudaContext::new(0).unwrap();
        let double = kernel(&context, "double");
        let stream = context.default_stream();
        let mut numbers = vec![1_u32, 2, 3, 4];
        let address = numbers.as_mut_ptr();
        // SAFETY: the memory is there until it is unregistered, and nobody uses it meanwhile.
        unsafe {
            sys::cuMemHostRegister_v2(address.cast(), 16, 0).result().unwrap();
            let again = sys::cuMemHostRegister_v2(address.cast(), 16, 0).result();
            let known = CUresult::CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
            assert_eq!(code(again), known);
            stream.launch_builder(&double).arg(&(address as u64)).launch(block(4)).unwrap();
            stream.synchronize().unwrap();
            sys::cuMemHostUnregister(address.cast()).result().unwrap();
        }
        assert_eq!(numbers, [2, 4, 6, 8]);
    });
}

#[test]
fn pools_count_and_limit() {
    clean_child("pools_count_and_limit", &[], || {
        let context = CudaContext::new(0).unwrap();
        let stream = context.default_stream();
        // SAFETY: the structure is made of numbers.
        let mut properties: sys::CUmemPoolProps = unsafe { MaybeUninit::zeroed().assume_init() };
        properties.allocType = sys::CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
        properties.location.type_ = sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
        properties.maxSize = 100;
        let used = sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT;
        // SAFETY: the pool exists until the end, and `bytes` is a place for 64 bits.
        unsafe {
            let pool = result::mem_pool::create(&properties).unwrap();
            let memory = result::mem_pool::alloc_async(pool, 60, stream.cu_stream()).unwrap();
            let more = result::mem_pool::alloc_async(pool, 60, stream.cu_stream());
            assert_eq!(code(more), CUresult::CUDA_ERROR_OUT_OF_MEMORY);
            let mut bytes = 0_u64;
            let place = ptr::from_mut(&mut bytes).cast();
            result::mem_pool::get_attribute(pool, used, place).unwrap();
            assert_eq!(bytes, 60);
            result::free_async(memory, stream.cu_stream()).unwrap();
            stream.synchronize().unwrap();
            result::mem_pool::get_attribute(pool, used, place).unwrap();
            assert_eq!(bytes, 0);
            result::mem_pool::destroy(pool).unwrap();
        }
    });
}

#[test]
fn files_are_imported() {
    child("files_are_imported", &[], || {
        let folder = test_support::temporary_folder();
        let path = test_support::write_file(&folder, "imported", [5; 64]);
        let file = std::fs::File::options().read(true).write(true).open(path).unwrap();
        let context = CudaContext::new(0).unwrap();
        // SAFETY: the file is 64 bytes long.
        let memory = unsafe { context.import_external_memory(file, 64).unwrap() };
        let mapped = memory.map_range(16..32).unwrap();
        let stream = context.default_stream();
        assert_eq!(stream.clone_dtoh(&mapped).unwrap(), [5; 16]);
    })
    .expect_success();
}

//! Streams and memory that the program has from the HIP run time itself: used as kernelmill's own, and left to the program.

use std::{
    ffi::{c_int, c_uint, c_void},
    ptr,
};

use hip_backend::{Kernels, clean_child, register_own};
use kernelmill::{Device, Error, Launch};
use libloading::{Library, Symbol};

const LEN: usize = 64;

/// The HIP run time, as a program calls it.
struct Hip(Library);

impl Hip {
    fn open() -> Self {
        // SAFETY: the library's initialisers have no preconditions.
        Self(unsafe { Library::new("libamdhip64.so") }.expect("the fake HIP run time"))
    }

    /// A function of the library.
    ///
    /// # Safety
    ///
    /// It has the type `F`.
    unsafe fn find<F>(&self, name: &str) -> Symbol<'_, F> {
        // SAFETY: promised.
        unsafe { self.0.get(name) }.expect("a function of the library")
    }

    fn set_device(&self, device: c_int) {
        // SAFETY: the type is the function's.
        let set: Symbol<'_, extern "C" fn(c_int) -> c_int> = unsafe { self.find("hipSetDevice") };
        assert_eq!(set(device), 0);
    }

    fn new_stream(&self) -> *mut c_void {
        type Create = unsafe extern "C" fn(*mut *mut c_void, c_uint) -> c_int;
        let mut stream = ptr::null_mut();
        // SAFETY: the type is the function's, and the place this one's own.
        let code = unsafe { self.find::<Create>("hipStreamCreateWithFlags")(&raw mut stream, 1) };
        assert_eq!(code, 0);
        stream
    }

    fn destroy(&self, stream: *mut c_void) {
        // SAFETY: the type is the function's.
        let destroy =
            unsafe { self.find::<unsafe extern "C" fn(*mut c_void) -> c_int>("hipStreamDestroy") };
        // SAFETY: the stream was made above.
        assert_eq!(unsafe { destroy(stream) }, 0);
    }

    fn query(&self, stream: *mut c_void) -> c_int {
        // SAFETY: the type is the function's, and the stream is there.
        unsafe { self.find::<unsafe extern "C" fn(*mut c_void) -> c_int>("hipStreamQuery")(stream) }
    }

    fn malloc(&self, len: usize) -> *mut f32 {
        type Allocate = unsafe extern "C" fn(*mut *mut f32, usize) -> c_int;
        let mut memory = ptr::null_mut();
        // SAFETY: the type is the function's, and the place this one's own.
        let code = unsafe { self.find::<Allocate>("hipMalloc")(&raw mut memory, len * 4) };
        assert_eq!(code, 0);
        memory
    }

    fn free(&self, memory: *mut f32) {
        // SAFETY: the type is the function's, and the memory was allocated above.
        let code =
            unsafe { self.find::<unsafe extern "C" fn(*mut f32) -> c_int>("hipFree")(memory) };
        assert_eq!(code, 0);
    }

    /// Queues a fill of every byte.
    fn fill(&self, memory: *mut f32, value: u8, stream: *mut c_void) {
        type Fill = unsafe extern "C" fn(*mut f32, u8, usize, *mut c_void) -> c_int;
        // SAFETY: the type is the function's; memory and stream were made above.
        let code = unsafe { self.find::<Fill>("hipMemsetD8Async")(memory, value, LEN * 4, stream) };
        assert_eq!(code, 0);
    }
}

#[test]
fn what_the_program_has_made_is_used_and_stays_its_own() {
    let name = "what_the_program_has_made_is_used_and_stays_its_own";
    for mode in ["lazy", "random:1"] {
        clean_child(name, &[("FAKE_HIP_STREAMS", mode)], || {
            register_own();
            let hip = Hip::open();
            hip.set_device(0);
            let (handle, x, y) = (hip.new_stream(), hip.malloc(LEN), hip.malloc(LEN));
            // Queued and not waited for: the launch is on the same stream.
            hip.fill(x, 0, handle);
            hip.fill(y, 0, handle);

            let device = Device::hip(0).unwrap();
            let kernels = Kernels::load(&device).unwrap();
            // SAFETY: the stream is destroyed after what is made of it here.
            let stream = unsafe { device.adopt_hip_stream(handle) }.unwrap();
            assert_eq!(stream.hip_stream(), Some(handle));
            assert_eq!(device.stream().hip_stream(), Some(ptr::null_mut()));
            // SAFETY: as above, for memory, which has that many elements; zeros are numbers.
            let [x_buffer, mut y_buffer] =
                [x, y].map(|memory| unsafe { device.adopt_hip_memory(memory, LEN) }.unwrap());
            kernels.saxpy(&stream, Launch::linear(LEN), 1.0, &x_buffer, &mut y_buffer).unwrap();
            // Adopted memory has its order with kernelmill's own streams and buffers.
            let ones = device.upload(&[1.0f32; LEN]).unwrap();
            let other = device.new_stream().unwrap();
            kernels.saxpy(&other, Launch::linear(LEN), 3.0, &ones, &mut y_buffer).unwrap();
            kernels.saxpy(&stream, Launch::linear(LEN), 2.0, &ones, &mut y_buffer).unwrap();
            assert_eq!(y_buffer.download().unwrap(), [5.0; LEN]);

            kernels.saxpy(&stream, Launch::linear(LEN), 2.0, &ones, &mut y_buffer).unwrap();
            drop(y_buffer);
            assert_eq!(
                hip.query(handle),
                0,
                "the launch has run before the memory is the owner's again"
            );
            drop((x_buffer, stream));
            // A second `free` or `destroy`, and one that is missing, fail the process.
            hip.free(x);
            hip.free(y);
            hip.destroy(handle);
        });
    }
}

#[test]
fn what_is_of_another_device_is_refused() {
    let name = "what_is_of_another_device_is_refused";
    clean_child(name, &[("FAKE_HIP_DEVICES", "2")], || {
        let hip = Hip::open();
        hip.set_device(1);
        let (handle, memory) = (hip.new_stream(), hip.malloc(LEN));
        let (first, cpu) = (Device::hip(0).unwrap(), Device::cpu().unwrap());
        for device in [&first, &cpu] {
            // SAFETY: nothing is used.
            let stream = unsafe { device.adopt_hip_stream(handle) }.map(|_| ());
            assert!(matches!(stream, Err(Error::WrongDevice { .. })), "{stream:?}");
            // SAFETY: as above.
            let buffer = unsafe { device.adopt_hip_memory(memory, LEN) };
            assert!(matches!(buffer, Err(Error::WrongDevice { .. })), "{buffer:?}");
        }
        // SAFETY: as above.
        let odd = unsafe { first.adopt_hip_memory(memory.byte_add(2), 1) };
        assert!(matches!(odd, Err(Error::Misaligned { .. })), "{odd:?}");
        let mut local = 0.0f32;
        // SAFETY: as above.
        let unknown = unsafe { first.adopt_hip_memory(&raw mut local, 1) }.unwrap_err();
        assert!(unknown.to_string().starts_with("hipPointerGetAttribute failed"), "{unknown}");
        // SAFETY: no elements are used.
        assert!(unsafe { first.adopt_hip_memory(ptr::null_mut::<f32>(), 0) }.unwrap().is_empty());
        // SAFETY: null is the default stream.
        let default = unsafe { first.adopt_hip_stream(ptr::null_mut()) }.unwrap();
        assert_eq!(default.hip_stream(), Some(ptr::null_mut()));
        assert_eq!(cpu.stream().hip_stream(), None);
        hip.set_device(1);
        hip.free(memory);
        hip.destroy(handle);
    });
}

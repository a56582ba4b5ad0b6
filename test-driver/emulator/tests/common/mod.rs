//! What the tests share: a device with buffers, and numbers that look random.

#![allow(dead_code, reason = "each test program uses a part of this")]
#![allow(clippy::result_large_err, reason = "a launch fails once in a test")]

pub(crate) mod faulty;

use ptx_emulator::{Device, Fault, Launch, Loaded, Module, Options, Properties, Report};

/// A device with a module on it.
pub(crate) struct Bench {
    pub(crate) device: Device,
    pub(crate) loaded: Loaded,
}

/// An argument of a kernel.
pub(crate) enum Argument {
    /// A buffer that the kernel reads or writes.
    Buffer(u64),
    U32(u32),
    U64(u64),
    F32(f32),
}

impl Argument {
    fn bytes(&self) -> Vec<u8> {
        match self {
            Argument::Buffer(value) | Argument::U64(value) => value.to_le_bytes().to_vec(),
            Argument::U32(value) => value.to_le_bytes().to_vec(),
            Argument::F32(value) => value.to_le_bytes().to_vec(),
        }
    }
}

impl Bench {
    /// A device of capability 9.0, or what the module is for, with the module whose text is given.
    pub(crate) fn new(ptx: &str) -> Bench {
        let module = Module::parse(ptx).unwrap_or_else(|errors| panic!("{errors}\n{ptx}"));
        let device = Device::new(Properties::of_capability(module.target().0.max(90)));
        let loaded = device.load(&module).unwrap();
        Bench { device, loaded }
    }

    /// A buffer that holds `values`.
    pub(crate) fn buffer<T: Number>(&self, values: &[T]) -> u64 {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.bytes()).collect();
        let address = self.device.allocate(bytes.len(), 256).unwrap();
        self.device.write(address, &bytes).unwrap();
        address
    }

    /// The first `count` values of a buffer.
    pub(crate) fn values<T: Number>(&self, address: u64, count: usize) -> Vec<T> {
        let mut bytes = vec![0; count * size_of::<T>()];
        self.device.read(address, &mut bytes).unwrap();
        bytes.chunks(size_of::<T>()).map(T::of).collect()
    }

    /// Launches a kernel.
    pub(crate) fn launch(
        &self,
        kernel: &str,
        grid: u32,
        block: u32,
        arguments: &[Argument],
        options: &Options,
    ) -> Result<Report, Fault> {
        self.launch_shaped(kernel, [grid, 1, 1], [block, 1, 1], 0, arguments, options)
    }

    /// Launches a kernel of any shape, with dynamic shared memory.
    pub(crate) fn launch_shaped(
        &self,
        kernel: &str,
        grid: [u32; 3],
        block: [u32; 3],
        dynamic_shared_bytes: u32,
        arguments: &[Argument],
        options: &Options,
    ) -> Result<Report, Fault> {
        let bytes: Vec<Vec<u8>> = arguments.iter().map(Argument::bytes).collect();
        let arguments: Vec<&[u8]> = bytes.iter().map(Vec::as_slice).collect();
        let launch =
            Launch { grid, block, dynamic_shared_bytes, arguments: &arguments, cooperative: false };
        self.device.launch(&self.loaded, kernel, &launch, options)
    }
}

/// A number that buffers hold.
pub(crate) trait Number: Copy {
    fn bytes(self) -> Vec<u8>;
    fn of(bytes: &[u8]) -> Self;
}

macro_rules! numbers {
    ($($number:ident)*) => {$(
        impl Number for $number {
            fn bytes(self) -> Vec<u8> { self.to_le_bytes().to_vec() }
            fn of(bytes: &[u8]) -> Self { $number::from_le_bytes(bytes.try_into().unwrap()) }
        }
    )*};
}

numbers!(u8 u16 u32 u64 i32 i64 f32 f64);

/// Numbers that look random, from a seed.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// From 0 to 1.
    pub(crate) fn unit(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1u64 << 24) as f32
    }
}

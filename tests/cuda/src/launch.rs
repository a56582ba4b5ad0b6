//! Runs compiled kernels: those for the CPU by kernelmill's run time, PTX on the emulator.

use std::{fs, process::Command};

use kernelmill::{
    __codegen::{
        Argument, CpuEntry, CpuKernel, EmbeddedArtifact, EmbeddedKernel, KernelSet, Loaded,
        SourceLocation, read, stream,
    },
    Buffer, Device, DeviceCopy,
};
use kernelmill_artifact::{ArtifactKind, FORMAT_VERSION, Signature};
use kernelmill_compiler::{Artifact, CompiledKernel};

use crate::Source;

/// An argument of a kernel.
#[derive(Clone, Debug)]
pub enum Value {
    /// The bytes of a scalar or a struct.
    Bytes(Vec<u8>),
    /// Memory of the device, as words, which has the kernel's results afterwards.
    Words(Vec<u32>),
}

impl Value {
    /// A number or struct by value.
    #[must_use]
    pub fn of<T: DeviceCopy>(value: T) -> Self {
        let start = std::ptr::from_ref(&value).cast::<u8>();
        // SAFETY: the value is alive, and the tests pass none with padding.
        Self::Bytes(unsafe { std::slice::from_raw_parts(start, size_of::<T>()) }.to_vec())
    }

    /// Memory with these numbers.
    #[must_use]
    pub fn floats(values: &[f32]) -> Self {
        Self::Words(values.iter().map(|value| value.to_bits()).collect())
    }

    /// The words of memory.
    ///
    /// # Panics
    ///
    /// Where it is no memory.
    #[must_use]
    pub fn words(&self) -> &[u32] {
        match self {
            Self::Words(words) => words,
            Self::Bytes(_) => panic!("a value has no words"),
        }
    }

    /// The numbers in memory.
    #[must_use]
    pub fn numbers(&self) -> Vec<f32> {
        self.words().iter().map(|word| f32::from_bits(*word)).collect()
    }
}

/// The shape of a launch.
#[derive(Clone, Copy, Debug)]
pub struct Launch {
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads in a block.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub shared: u32,
}

impl Launch {
    /// Blocks of threads along x.
    #[must_use]
    pub fn linear(blocks: u32, threads: u32) -> Self {
        Self { grid: [blocks, 1, 1], block: [threads, 1, 1], shared: 0 }
    }
}

impl Source {
    /// Runs a kernel, named as its wrapper, on the CPU and on the emulator, and gives the
    /// arguments as each leaves them.
    ///
    /// # Panics
    ///
    /// Where it does not compile, or does something wrong.
    #[must_use]
    pub fn run(&self, kernel: &str, launch: Launch, arguments: &[Value]) -> [Vec<Value>; 2] {
        let cpu = self.run_on_cpu(kernel, launch, arguments);
        let cpu = cpu.unwrap_or_else(|error| panic!("{kernel} on the CPU: {error}"));
        [cpu, self.run_on_emulator(kernel, launch, arguments)]
    }

    fn find(&self, target: &str, kernel: &str) -> (Artifact, CompiledKernel, Signature) {
        let artifact = self.compile(target).unwrap_or_else(|error| panic!("{target}: {error}"));
        let signatures = self.signatures(target);
        let names: Vec<_> = signatures.iter().map(|signature| signature.name.clone()).collect();
        let signature = signatures.into_iter().find(|signature| signature.name == kernel);
        let signature = signature.unwrap_or_else(|| panic!("{kernel} is not among {names:?}"));
        let compiled = artifact.kernels.iter().find(|entry| entry.name == signature.symbol);
        let compiled = compiled.expect("a kernel for each signature").clone();
        (artifact, compiled, signature)
    }

    /// Runs a kernel on the CPU.
    ///
    /// # Errors
    ///
    /// What the run time reports, a panic of the kernel among it.
    pub fn run_on_cpu(
        &self,
        kernel: &str,
        launch: Launch,
        arguments: &[Value],
    ) -> kernelmill::Result<Vec<Value>> {
        let (artifact, compiled, signature) = self.find("cpu", kernel);
        let set = embed(&artifact, &compiled, signature, &self.name);
        let device = Device::cpu()?;
        let loaded = Loaded::new(&device, set)?;
        let queue = device.stream();
        let mut values = Vec::new();
        let mut buffers: Vec<Buffer<u32>> = Vec::new();
        for argument in arguments {
            match argument {
                Value::Bytes(bytes) => {
                    let mut value = [0_u128; 8];
                    for (index, byte) in bytes.iter().enumerate() {
                        value[index / 16] |= u128::from(*byte) << (index % 16 * 8);
                    }
                    values.push(value);
                }
                Value::Words(words) => buffers.push(device.upload(words)?),
            }
        }
        let handle = stream(&queue);
        let held: Result<Vec<_>, _> = buffers.iter().map(|buffer| read(buffer, handle)).collect();
        let held = held?;
        let (mut value, mut memory) = (values.iter(), held.iter());
        let passed: Vec<_> = arguments
            .iter()
            .map(|argument| match argument {
                Value::Bytes(_) => Argument::value(value.next().expect("as many as before")),
                Value::Words(_) => Argument::pointer(memory.next().expect("as many as before")),
            })
            .collect();
        let shape = kernelmill::Launch::<3>::grid(launch.grid, launch.block);
        let shape = shape.shared_bytes(launch.shared as usize);
        // SAFETY: the arguments are the kernel's, which the tests see to.
        unsafe { kernelmill::__codegen::launch(&loaded, 0, handle, shape, &passed) }?;
        drop(passed);
        drop(held);
        queue.synchronize()?;
        let mut buffers = buffers.into_iter();
        arguments
            .iter()
            .map(|argument| match argument {
                Value::Bytes(_) => Ok(argument.clone()),
                Value::Words(_) => {
                    Ok(Value::Words(buffers.next().expect("as many as before").download()?))
                }
            })
            .collect()
    }

    fn run_on_emulator(&self, kernel: &str, launch: Launch, arguments: &[Value]) -> Vec<Value> {
        let (artifact, compiled, _) = self.find("compute_80", kernel);
        let ptx = String::from_utf8(artifact.bytes).expect("PTX is text");
        let module = ptx_emulator::Module::parse(&ptx).unwrap_or_else(|error| panic!("{error}"));
        let device = ptx_emulator::Device::new(ptx_emulator::Properties::default());
        let passed: Vec<_> = arguments
            .iter()
            .map(|argument| match argument {
                Value::Bytes(bytes) => bytes.clone(),
                Value::Words(words) => {
                    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
                    let address = device.allocate(bytes.len(), 256).expect("memory");
                    device.write(address, &bytes).expect("memory");
                    address.to_le_bytes().to_vec()
                }
            })
            .collect();
        let slices: Vec<&[u8]> = passed.iter().map(Vec::as_slice).collect();
        let loaded = device.load(&module).expect("memory");
        let shape = ptx_emulator::Launch {
            grid: launch.grid,
            block: launch.block,
            dynamic_shared_bytes: launch.shared,
            arguments: &slices,
            cooperative: false,
        };
        device
            .launch(&loaded, &compiled.entry, &shape, &ptx_emulator::Options::default())
            .unwrap_or_else(|fault| panic!("{kernel} on the emulator: {fault}\n{ptx}"));
        arguments
            .iter()
            .zip(&passed)
            .map(|(argument, passed)| match argument {
                Value::Bytes(_) => argument.clone(),
                Value::Words(words) => {
                    let address = u64::from_le_bytes(passed[..].try_into().expect("an address"));
                    let mut bytes = vec![0; 4 * words.len()];
                    device.read(address, &mut bytes).expect("memory");
                    let words = bytes.chunks(4).map(|word| word.try_into().expect("4 bytes"));
                    Value::Words(words.map(u32::from_le_bytes).collect())
                }
            })
            .collect()
    }
}

/// Links an object into a library of its own, opens it for good, and embeds its kernel.
fn embed(
    artifact: &Artifact,
    kernel: &CompiledKernel,
    signature: Signature,
    source: &str,
) -> &'static KernelSet {
    use std::sync::atomic::{AtomicU32, Ordering};
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let symbol = kernel.cpu_symbol.as_deref().expect("a kernel for the CPU");
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!("cuda-everywhere.{}.{number}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    fs::create_dir_all(&folder).unwrap();
    let [object, shim, library] = ["k.o", "shim.c", "k.so"].map(|name| folder.join(name));
    fs::write(&object, &artifact.bytes).unwrap();
    // The constant is hidden outside of what it is linked into.
    let text =
        format!("extern const char {symbol}[]; const void *kernel(void) {{ return {symbol}; }}");
    fs::write(&shim, text).unwrap();
    let mut linker = Command::new("cc");
    linker.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&shim).arg(&object).arg("-lm");
    let output = linker.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // SAFETY: the library has no code that runs when it is opened, and is never closed; the
    // function is the one of the text above.
    let entry = unsafe {
        let library = Box::leak(Box::new(libloading::Library::new(&library).unwrap()));
        let get: libloading::Symbol<'_, unsafe extern "C" fn() -> *const CpuKernel> =
            library.get(b"kernel").unwrap();
        CpuEntry::new(get())
    };
    fs::remove_dir_all(&folder).unwrap();
    let leak = |text: &str| -> &'static str { Box::leak(text.to_owned().into_boxed_str()) };
    let places = artifact.locations.iter().map(|place| SourceLocation {
        file: leak(&place.file),
        line: place.line,
        column: place.column,
    });
    let embedded = EmbeddedArtifact {
        fingerprint: leak(&format!("{number:064x}")),
        target: "cpu",
        kind: ArtifactKind::Object,
        source: leak(source),
        bytes: &[],
        kernels: Box::leak(Box::new([EmbeddedKernel {
            signature: 0,
            entry: leak(&kernel.entry),
            static_shared_bytes: u64::from(kernel.static_shared_bytes),
            panics: kernel.panics,
            cpu: Some(entry),
        }])),
        locations: Box::leak(places.collect::<Vec<_>>().into_boxed_slice()),
    };
    Box::leak(Box::new(KernelSet {
        format_version: FORMAT_VERSION,
        package: "cuda-everywhere",
        signatures: Box::leak(Box::new([signature])),
        artifacts: Box::leak(Box::new([embedded])),
    }))
}

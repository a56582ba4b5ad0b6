//! Runs compiled kernels: those for the CPU by kernelmill's run time, PTX on the emulator.

use std::{
    fmt::Write as _,
    fs,
    process::Command,
    sync::atomic::{AtomicU32, Ordering},
};

use kernelmill::{
    __codegen::{
        Argument, CpuEntry, CpuKernel, EmbeddedArtifact, EmbeddedKernel, KernelSet, Loaded,
        SourceLocation, read, stream,
    },
    Buffer, Device, DeviceCopy,
};
use kernelmill_artifact::{ArtifactKind, FORMAT_VERSION, GridWorkspace, PanicRecord, Signature};
use kernelmill_compiler::Artifact;
use test_support::temporary_folder;

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

    fn signature(&self, target: &str, kernel: &str) -> Signature {
        let signatures = self.signatures(target);
        let names: Vec<_> = signatures.iter().map(|signature| signature.name.clone()).collect();
        let signature = signatures.into_iter().find(|signature| signature.name == kernel);
        signature.unwrap_or_else(|| panic!("{kernel} is not among {names:?}"))
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
        let artifact = self.compile("cpu").unwrap_or_else(|error| panic!("cpu: {error}"));
        let symbol = self.signature("cpu", kernel).symbol;
        OnCpu::new(&artifact, &self.signatures("cpu"), &self.name)?.run(&symbol, launch, arguments)
    }

    fn run_on_emulator(&self, kernel: &str, launch: Launch, arguments: &[Value]) -> Vec<Value> {
        let target = "compute_80";
        let artifact = self.compile(target).unwrap_or_else(|error| panic!("{target}: {error}"));
        let symbol = self.signature(target, kernel).symbol;
        let options = ptx_emulator::Options::default();
        OnEmulator::new(&artifact)
            .run(&symbol, launch, arguments, &options)
            .unwrap_or_else(|fault| panic!("{kernel} on the emulator: {fault}"))
    }
}

/// Kernels for the CPU, ready to run.
pub struct OnCpu {
    loaded: Loaded,
    device: Device,
    symbols: Vec<String>,
}

impl OnCpu {
    /// Links and loads the kernels of an artifact, which is of these signatures.
    ///
    /// # Errors
    ///
    /// Those of the run time.
    pub fn new(
        artifact: &Artifact,
        signatures: &[Signature],
        source: &str,
    ) -> kernelmill::Result<Self> {
        let symbols = signatures.iter().map(|signature| signature.symbol.to_string()).collect();
        let device = Device::cpu()?;
        let loaded = Loaded::new(&device, embed(artifact, signatures, source))?;
        Ok(Self { loaded, device, symbols })
    }

    /// Runs a kernel, and gives the arguments as it leaves them.
    ///
    /// # Errors
    ///
    /// What the run time reports, a panic of the kernel among it.
    ///
    /// # Panics
    ///
    /// Where there is no kernel of this symbol.
    pub fn run(
        &self,
        symbol: &str,
        launch: Launch,
        arguments: &[Value],
    ) -> kernelmill::Result<Vec<Value>> {
        let index = self.symbols.iter().position(|it| it == symbol);
        let index = index.unwrap_or_else(|| panic!("{symbol} is not among {:?}", self.symbols));
        let queue = self.device.stream();
        let mut values = Vec::new();
        let mut buffers: Vec<Buffer<u32>> = Vec::new();
        for argument in arguments {
            match argument {
                Value::Bytes(bytes) => {
                    let mut value = [0_u128; 256];
                    for (index, byte) in bytes.iter().enumerate() {
                        value[index / 16] |= u128::from(*byte) << (index % 16 * 8);
                    }
                    values.push(value);
                }
                Value::Words(words) => buffers.push(self.device.upload(words)?),
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
        unsafe { kernelmill::__codegen::launch(&self.loaded, index, handle, shape, &passed) }?;
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
}

/// PTX on the emulator.
pub struct OnEmulator {
    module: ptx_emulator::Module,
    /// The names of kernels in the source and in the PTX.
    entries: Vec<(String, String)>,
    /// The names in the PTX of those whose blocks wait for each other.
    cooperative: Vec<String>,
}

impl OnEmulator {
    /// Reads the PTX of an artifact.
    ///
    /// # Panics
    ///
    /// Where the emulator does not understand it.
    #[must_use]
    pub fn new(artifact: &Artifact) -> Self {
        let ptx = std::str::from_utf8(&artifact.bytes).expect("PTX is text");
        let module = ptx_emulator::Module::parse(ptx).unwrap_or_else(|error| panic!("{error}"));
        let entries = artifact.kernels.iter().map(|it| (it.name.clone(), it.entry.clone()));
        let cooperative = artifact.kernels.iter().filter(|kernel| kernel.cooperative);
        let cooperative = cooperative.map(|kernel| kernel.entry.clone()).collect();
        Self { module, entries: entries.collect(), cooperative }
    }

    /// Runs a kernel, and gives the arguments as it leaves them.
    ///
    /// # Errors
    ///
    /// What the emulator finds wrong.
    ///
    /// # Panics
    ///
    /// Where there is no kernel of this symbol, and where memory is short.
    pub fn run(
        &self,
        symbol: &str,
        launch: Launch,
        arguments: &[Value],
        options: &ptx_emulator::Options,
    ) -> Result<Vec<Value>, Box<ptx_emulator::Fault>> {
        let entry = self.entries.iter().find(|(name, _)| name == symbol);
        let (_, entry) =
            entry.unwrap_or_else(|| panic!("{symbol} is not among {:?}", self.entries));
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
        let mut slices: Vec<&[u8]> = passed.iter().map(Vec::as_slice).collect();
        // The record of panics, behind the arguments of kernels that may panic, or what blocks that wait for each other do so
        // by.
        let record = device.allocate(size_of::<PanicRecord>(), 256).expect("memory");
        device.write(record, &[0; size_of::<PanicRecord>()]).expect("memory");
        let mut record = record.to_le_bytes();
        let cooperative = self.cooperative.contains(&entry.to_owned());
        if cooperative {
            let workspace = device.allocate(size_of::<GridWorkspace>(), 256).expect("memory");
            let bytes = [[0; 8], record].concat();
            device.write(workspace, &bytes).expect("memory");
            record = workspace.to_le_bytes();
        }
        let kernel = self.module.kernel(entry).expect("a kernel of the module");
        if kernel.parameters.len() == slices.len() + 1 {
            slices.push(&record);
        }
        let loaded = device.load(&self.module).expect("memory");
        let shape = ptx_emulator::Launch {
            grid: launch.grid,
            block: launch.block,
            dynamic_shared_bytes: launch.shared,
            arguments: &slices,
            cooperative,
        };
        device.launch(&loaded, entry, &shape, options)?;
        let after = arguments.iter().zip(&passed).map(|(argument, passed)| match argument {
            Value::Bytes(_) => argument.clone(),
            Value::Words(words) => {
                let address = u64::from_le_bytes(passed[..].try_into().expect("an address"));
                let mut bytes = vec![0; 4 * words.len()];
                device.read(address, &mut bytes).expect("memory");
                let words = bytes.chunks(4).map(|word| word.try_into().expect("4 bytes"));
                Value::Words(words.map(u32::from_le_bytes).collect())
            }
        });
        Ok(after.collect())
    }
}

/// Links an object into a library of its own, opens it for good, and embeds its kernels.
fn embed(artifact: &Artifact, signatures: &[Signature], source: &str) -> &'static KernelSet {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let folder = temporary_folder();
    let [object, shim, library] = ["k.o", "shim.c", "k.so"].map(|name| folder.path().join(name));
    fs::write(&object, &artifact.bytes).unwrap();
    let compiled: Vec<_> = signatures
        .iter()
        .map(|signature| {
            let kernel = artifact.kernels.iter().find(|kernel| kernel.name == signature.symbol);
            kernel.expect("a kernel for each signature")
        })
        .collect();
    // The constants are hidden outside of what they are linked into.
    let mut text = String::new();
    for (index, kernel) in compiled.iter().enumerate() {
        let symbol = kernel.cpu_symbol.as_deref().expect("a kernel for the CPU");
        let _ = writeln!(
            text,
            "extern const char {symbol}[]; const void *kernel_{index}(void) {{ return {symbol}; }}"
        );
    }
    fs::write(&shim, text).unwrap();
    let mut linker = Command::new("cc");
    linker.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&shim).arg(&object).arg("-lm");
    let output = linker.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // SAFETY: the library has no code that runs when it is opened, and is never closed.
    let opened = unsafe { libloading::Library::new(&library) }.unwrap();
    let opened: &'static libloading::Library = Box::leak(Box::new(opened));
    let kernels = compiled.iter().enumerate().map(|(index, kernel)| {
        // SAFETY: the function is the one of the text above.
        let entry = unsafe {
            let get: libloading::Symbol<'_, unsafe extern "C" fn() -> *const CpuKernel> =
                opened.get(format!("kernel_{index}").as_bytes()).unwrap();
            CpuEntry::new(get())
        };
        EmbeddedKernel {
            signature: index,
            entry: leak(&kernel.entry),
            static_shared_bytes: u64::from(kernel.static_shared_bytes),
            panics: kernel.panics,
            cooperative: kernel.cooperative,
            resources: kernelmill::artifact::Resources::UNKNOWN,
            variant: None,
            cpu: Some(entry),
        }
    });
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
        kernels: Box::leak(kernels.collect::<Vec<_>>().into_boxed_slice()),
        locations: Box::leak(places.collect::<Vec<_>>().into_boxed_slice()),
        backtraces: &[],
        messages: &[],
        relocations: &[],
        variables: &[],
    };
    Box::leak(Box::new(KernelSet {
        format_version: FORMAT_VERSION,
        package: "cuda-cpp",
        signatures: Box::leak(signatures.to_vec().into_boxed_slice()),
        functions: &[],
        variables: &[],
        tuned: &[],
        artifacts: Box::leak(Box::new([embedded])),
    }))
}

fn leak(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

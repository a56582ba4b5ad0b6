//! What can go wrong, on the host and on the device: the variants of [`Error`].

use std::fmt;

use super::{no_binary::NoBinary, panic::KernelPanic, timeout::LaunchTimeout, wording};
use crate::{capability::Capability, explanation::Explanation, properties::Backend};

/// The result of everything here that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong, on the host or on the device. Every message names its subject.
///
/// ```
/// let device = kernelmill::Device::cpu()?;
/// let mut buffer = device.upload(&[1u8, 2, 3])?;
/// let error = buffer.copy_from(&[0; 5]).unwrap_err();
/// assert_eq!(error.to_string(), "copy_from: the buffer has 3 elements, the host slice has 5");
/// assert_eq!(error.code().number(), "KM1012");
/// assert_eq!(
///     format!("{error:?}"),
///     format!("{error}\n  for more: cargo kernelmill explain KM1012")
/// );
/// # Ok::<(), kernelmill::Error>(())
/// ```
///
/// `Debug` prints the message, those of its sources, and the command that explains its [code](Self::code), a line each:
/// it is what a `main` that returns this error shows. Of a panic in a kernel it draws the [source line](KernelPanic::frame) too,
/// where the file is there.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A kernel panicked. Reported by the next `synchronize` or `download`.
    #[error("{0}")]
    KernelPanic(Box<KernelPanic>),
    /// A launch asks for more than the device, or the kernel on that device, can do.
    #[error(
        "kernel `{kernel}`: the launch asks for {requested} {quantity}, the limit of {device} is {limit}"
    )]
    Limit {
        /// The kernel's name.
        kernel: String,
        /// What is limited, for example `threads per block`.
        quantity: &'static str,
        /// What the launch asks for.
        requested: u64,
        /// The most it may ask for.
        limit: u64,
        /// The device's name.
        device: String,
    },
    /// A block is of another size than the kernel's author says that its blocks are of.
    #[error(
        "kernel `{kernel}` is compiled for blocks of {stated:?} threads, but the launch has blocks of {block:?}: \
         launch blocks of {stated:?}, or change the block size that the kernel's source or the settings state"
    )]
    BlockSize {
        /// The kernel's name.
        kernel: String,
        /// The threads of a block of the launch, in x, y and z.
        block: [u64; 3],
        /// Those that are stated.
        stated: [u32; 3],
    },
    /// A grid is not made of whole clusters, which the kernel's author says it is made of.
    #[error(
        "kernel `{kernel}`: a grid of {grid:?} blocks cannot be divided into clusters of {cluster:?} blocks: make \
         each dimension of the grid a multiple of the cluster's"
    )]
    Cluster {
        /// The kernel's name.
        kernel: String,
        /// The blocks of the launch, x first.
        grid: [u64; 3],
        /// The blocks of a cluster, x first.
        cluster: [u32; 3],
    },
    /// A device cannot do what a program asks for; [`Device::support`](crate::Device::support) tells before.
    #[error("{subject} needs {capability}, which {device} does not have")]
    Unsupported {
        /// What asks for it: a kernel, a graph.
        subject: String,
        /// What it asks for.
        capability: Capability,
        /// The device.
        device: String,
    },
    /// A launch that no build of a kernel with variants is made for.
    #[error("no build fits a launch of {0}")]
    NoVariant(Box<Explanation>),
    /// A launch has a block without threads.
    #[error("kernel `{kernel}`: the block size [{}, {}, {}] has no threads; every dimension must be at least 1", block[0], block[1], block[2])]
    EmptyBlock {
        /// The kernel's name.
        kernel: String,
        /// The block size asked for, x, y, z.
        block: [u64; 3],
    },
    /// A contract that the kernel's author states in the configuration does not hold.
    #[error("kernel `{kernel}`: its contract `{rule}` does not hold{values}")]
    Contract {
        /// The kernel's name.
        kernel: &'static str,
        /// The rule, as the configuration has it.
        rule: &'static str,
        /// What the names in the rule are in this launch, as a clause: ``: `n` is 4``. Empty where it has no names.
        values: String,
    },
    /// A kernel is given a function that its module does not have.
    #[error(
        "kernel `{kernel}`: the function passed as `{parameter}` is not one of the package `{package}`; pass one that \
         `Kernels::functions()` of this package returns"
    )]
    ForeignFunction {
        /// The kernel's name.
        kernel: &'static str,
        /// The parameter's name.
        parameter: &'static str,
        /// The package of the kernel.
        package: &'static str,
    },
    /// A tensor map that some device could not copy tiles by.
    #[error("a tensor map of {subject}: {}", faults.join("; "))]
    TensorMap {
        /// Its element, sizes, strides and box.
        subject: String,
        /// Everything that is wrong with it.
        faults: Vec<String>,
    },
    /// A buffer, a stream and a kernel of different devices meet.
    #[error("{subject} belongs to {found}, but is used on {expected}")]
    WrongDevice {
        /// What is of another device: `a buffer`, `the kernel `saxpy``.
        subject: String,
        /// The device it belongs to.
        found: String,
        /// The device it is used on.
        expected: String,
    },
    /// Memory that this crate has not allocated is less aligned than its elements have to be.
    #[error(
        "{subject} is at the address {address:#x}, but its elements must be aligned to {alignment} bytes"
    )]
    Misaligned {
        /// What it is: `a CudaSlice`.
        subject: &'static str,
        /// Its address on the device.
        address: u64,
        /// The alignment of an element.
        alignment: usize,
    },
    /// Two lengths that have to be equal are not.
    #[error("{operation}: the buffer has {buffer} elements, the host slice has {host}")]
    LengthMismatch {
        /// The method called.
        operation: &'static str,
        /// Elements of the buffer.
        buffer: usize,
        /// Elements of the host slice.
        host: usize,
    },
    /// Two buffers of which one is copied to the other have different lengths.
    #[error(
        "{operation}: the destination buffer has {buffer} elements, the source buffer has {copied}"
    )]
    BufferMismatch {
        /// The method called.
        operation: &'static str,
        /// Elements of the buffer that is written.
        buffer: usize,
        /// Elements of the buffer that is copied.
        copied: usize,
    },
    /// Rows are not within the memory that they are to be of, or overlap.
    #[error("{operation}: {}", wording::rows((count, width, pitch), side, elements))]
    Rows {
        /// The method called.
        operation: &'static str,
        /// The number of rows.
        count: usize,
        /// Elements of a row.
        width: usize,
        /// Elements from one row to the next.
        pitch: usize,
        /// Which memory: `the buffer`, `the host slice` or `the source buffer`.
        side: &'static str,
        /// Its elements.
        elements: usize,
    },
    /// Memory does not begin and end between two elements of the type that it is to be taken for.
    #[error(
        "{bytes} bytes at offset {offset} of a buffer cannot be cast to `{element}`: the offset and the number of \
         bytes must be multiples of its size, {size} bytes"
    )]
    Cast {
        /// Where the memory begins in its buffer, in bytes.
        offset: usize,
        /// Its bytes.
        bytes: usize,
        /// The type.
        element: &'static str,
        /// Bytes of an element.
        size: usize,
    },
    /// Memory could not be allocated.
    #[error("out of memory: {device} cannot allocate {bytes} bytes")]
    OutOfMemory {
        /// The device's name.
        device: String,
        /// Bytes asked for; `usize::MAX` where their number overflows.
        bytes: usize,
    },
    /// None of the embedded binaries of a source runs on the device.
    #[error("{0}")]
    NoBinary(Box<NoBinary>),
    /// The bindings or a compiled kernel are of another version of kernelmill.
    #[error(
        "{subject} has interface version {found}, this kernelmill has {expected}: use the same \
         version of kernelmill and kernelmill-build"
    )]
    FormatVersion {
        /// The package or the kernel.
        subject: String,
        /// Its version.
        found: u32,
        /// The version of this crate.
        expected: u32,
    },
    /// An embedded module lacks a kernel that the bindings say it has.
    #[error("{source_file}: the embedded binary for `{target}` has no kernel `{entry}`")]
    MissingKernel {
        /// The kernel's source.
        source_file: &'static str,
        /// The target of the binary.
        target: &'static str,
        /// The entry that is not there.
        entry: &'static str,
    },
    /// No binary that is loaded has a variable.
    #[error(
        "no binary that is loaded on {device} has the device variable `{variable}`: no kernel uses it, or the back \
         end does not support device variables"
    )]
    MissingVariable {
        /// The variable.
        variable: &'static str,
        /// The device.
        device: String,
    },
    /// A variable cannot be read or written: kernels of its source run, on the CPU, and the calling thread is one of
    /// rayon's, which may be needed for them; or a launch was given up that still runs.
    #[error(
        "the device variable `{variable}` is in use: kernels of its source are running, and this thread cannot wait \
         for them; use the variable from a thread outside of rayon's pool, when they have ended"
    )]
    VariableInUse {
        /// The variable.
        variable: &'static str,
    },
    /// A place in a variable that is an array is beyond its end.
    #[error(
        "the device variable `{variable}` has {length} elements; {count} from index {first} on are out of bounds"
    )]
    VariableRange {
        /// The variable.
        variable: &'static str,
        /// Its elements.
        length: usize,
        /// The first element that was asked for.
        first: usize,
        /// The number of elements that were asked for.
        count: usize,
    },
    /// The program's own loader of modules ([`ModuleCache::set_loader`]) has failed.
    ///
    /// [`ModuleCache::set_loader`]: crate::ModuleCache::set_loader
    #[error("the program's loader (`ModuleCache::set_loader`) cannot load {artifact}")]
    Loader {
        /// The binary, as the build embedded it.
        artifact: String,
        /// What the loader says.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A binary that is loaded names a symbol of the program that has no value.
    #[error(
        "{binary} needs the symbol `{symbol}` ({bytes} bytes), which has no value; define it with \
         `kernelmill::define_symbol` before the kernels are loaded"
    )]
    UndefinedSymbol {
        /// The symbol.
        symbol: &'static str,
        /// The size of its value in bytes.
        bytes: u64,
        /// The binary.
        binary: String,
    },
    /// The value of a symbol has another size than a binary that is loaded has for it.
    #[error(
        "{binary} expects {expected} bytes for the symbol `{symbol}`, but `kernelmill::define_symbol` was given \
         {found}"
    )]
    SymbolSize {
        /// The symbol.
        symbol: &'static str,
        /// The size of the value that the program has given.
        found: u64,
        /// The size in the binary.
        expected: u64,
        /// The binary.
        binary: String,
    },
    /// What compiles at run time cannot be used, or not for a device.
    #[error("{compiler} cannot be used: {reason}")]
    NoCompiler {
        /// The compiler.
        compiler: &'static str,
        /// Why, and what to do.
        reason: String,
    },
    /// What a program has chosen for run-time compilation does not suit the kernels that there are: constants and kernels of
    /// names that the bitcode does not have, values of other types, and launch bounds that the source does not allow.
    #[error(
        "the constants or launch bounds chosen at run time do not suit the kernels of the package `{package}`:\n  {}",
        faults.join("\n  ")
    )]
    InvalidChoice {
        /// The package.
        package: &'static str,
        /// Everything that does not suit them.
        faults: Vec<String>,
    },
    /// A source that is compiled at run time does not compile.
    #[error("{source_file} does not compile ({compiler}, options `{options}`):\n{log}")]
    Compile {
        /// The name of the source.
        source_file: String,
        /// The compiler and its version.
        compiler: String,
        /// The options that it was given.
        options: String,
        /// What it says: errors with lines.
        log: String,
    },
    /// A program that was compiled at run time has no kernel of a name.
    #[error("{source_file} has no kernel{}: {known}", wording::kernel(kernel))]
    NoKernel {
        /// The name of the source.
        source_file: String,
        /// The name that was asked for.
        kernel: String,
        /// The kernels that there are.
        known: String,
    },
    /// The arguments of a launch are none that a kernel takes which was compiled at run time.
    #[error("kernel `{kernel}`: {reason}")]
    Arguments {
        /// The kernel's symbol.
        kernel: String,
        /// What is wrong with them.
        reason: String,
    },
    /// The database of programs that were compiled at run time cannot be used.
    #[error("{0}")]
    Database(String),
    /// A launch took longer than the watchdog allows. Reported by the next `synchronize` or `download`,
    /// and by every later use of the buffers that the launch was given.
    #[error("{0}")]
    LaunchTimeout(Box<LaunchTimeout>),
    /// An environment variable of this crate has a value that cannot be read.
    #[error("the environment variable {variable} is `{value}`, which is not {expected}")]
    Variable {
        /// The variable.
        variable: &'static str,
        /// Its value.
        value: String,
        /// What it should be.
        expected: &'static str,
    },
    /// A back end does not work on this machine or in this process: its library is too old, or a thread cannot be started.
    #[error("{backend} is not available: {reason}")]
    Unavailable {
        /// The back end.
        backend: Backend,
        /// Why.
        reason: String,
    },
    /// The program was built without a back end.
    #[error(
        "{backend} is not available: kernelmill was built without its feature `{feature}`; enable it in Cargo.toml: \
         `features = [\"{feature}\"]`"
    )]
    Disabled {
        /// The back end.
        backend: Backend,
        /// The feature of kernelmill that it needs.
        feature: &'static str,
    },
    /// The machine does not have a device: no library is installed for it, or that lists no such device.
    #[error("{backend} is not available: {reason}")]
    NoDevice {
        /// The back end.
        backend: Backend,
        /// What is missing.
        reason: String,
    },
    /// A device lacks what its back end requires of each.
    #[error("{backend} is not available: {device} {reason}")]
    UnsupportedDevice {
        /// The back end.
        backend: Backend,
        /// The device.
        device: String,
        /// What it lacks, and what to do where something can be done.
        reason: String,
    },
    /// No device of the machine has a binary.
    #[error(
        "no embedded binary of package `{package}` runs on a device of this machine; the devices are:\n{devices}"
    )]
    NoCandidate {
        /// The package of the kernels.
        package: &'static str,
        /// Each device with the reason for each binary, and why other devices are not there: [`Candidates`](crate::Candidates).
        devices: String,
    },
    /// The device that the environment variable `KERNELMILL_DEVICE` names cannot be opened.
    #[error(
        "the environment variable KERNELMILL_DEVICE names `{device}`, which cannot be opened: {reason}; the devices \
         are:\n{devices}"
    )]
    RequestedDevice {
        /// The name of the device.
        device: String,
        /// Why it cannot be opened.
        reason: Box<Error>,
        /// Each device, and why others are not there: [`Device::inventory`](crate::Device::inventory).
        devices: String,
    },
    /// A stream is used while it is captured into a CUDA graph.
    #[error(
        "{operation}: the stream is being captured into a CUDA graph, which would not keep the memory alive; use the \
         stream before the capture begins or after it has ended"
    )]
    Capturing {
        /// What was asked of the stream.
        operation: &'static str,
    },
    /// The time of an event is asked for before the event is complete.
    #[error(
        "{operation}: an event is not complete, so its time is not known yet; wait for both events first, with \
         `Event::synchronize`"
    )]
    EventPending {
        /// The method called.
        operation: &'static str,
    },
    /// A buffer is used with a graph that it is not in, or a graph's buffer outside of it.
    #[error(
        "{subject} does not belong to the graph that it is used with; move the buffer into that graph with \
         `GraphBuilder::add`, and pass what `add` returns to launches on the same builder only"
    )]
    NotInGraph {
        /// What is used.
        subject: String,
    },
    /// A function of the CUDA driver failed.
    #[error("{function} failed for {subject}: {name} ({code})")]
    Cuda {
        /// The driver's function.
        function: &'static str,
        /// What it was called for: a kernel, a device, a number of bytes.
        subject: String,
        /// The name of the error code, for example `CUDA_ERROR_ILLEGAL_ADDRESS`.
        name: String,
        /// The error code.
        code: u32,
    },
    /// A function of the OpenCL library failed.
    #[error("{function} failed for {subject}: {name} ({code})")]
    OpenCl {
        /// The function.
        function: &'static str,
        /// What it was called for: a kernel, a device, a number of bytes.
        subject: String,
        /// The name of the error code, for example `CL_OUT_OF_RESOURCES`.
        name: &'static str,
        /// The error code.
        code: i32,
    },
    /// An OpenCL device's compiler refuses a program.
    #[error("{device} cannot build {artifact}:\n{log}")]
    OpenClBuild {
        /// The binary, as the build embedded it.
        artifact: String,
        /// The device.
        device: String,
        /// What its compiler says.
        log: String,
    },
    /// A kernel that an OpenCL device has built takes other arguments than its wrapper gives.
    #[error(
        "{artifact}: the compiler of {device} finds {parameters} parameters in the kernel, but the wrapper passes \
         those of `{signature}`; declare the same parameters for every device, whatever macros it defines"
    )]
    OpenClSignature {
        /// The binary, as the build embedded it.
        artifact: String,
        /// The kernel, as the build read it.
        signature: String,
        /// The device.
        device: String,
        /// How many parameters the kernel has there.
        parameters: u64,
    },
    /// An operation of wgpu failed: it was not valid, there was no memory for it, or the device is lost.
    #[error("{operation} failed for {subject} on {device}: {message}")]
    Wgpu {
        /// The operation, as wgpu names it, for example `create_compute_pipeline`.
        operation: &'static str,
        /// What it was called for: a kernel, a binary, a number of bytes.
        subject: String,
        /// The device.
        device: String,
        /// What wgpu says.
        message: String,
    },
    /// A function of the HIP run time failed.
    #[error("{function} failed for {subject}: {name} ({code}), {text}")]
    Hip {
        /// The function.
        function: &'static str,
        /// What it was called for: a kernel, a device, a number of bytes.
        subject: String,
        /// The name of the error code, for example `hipErrorIllegalAddress`.
        name: String,
        /// What the library says of it.
        text: String,
        /// The error code.
        code: i32,
    },
    /// A prepared launch is of another kernel than the one whose scalars are set.
    #[error("a prepared launch of {found} is given the scalars of `{expected}`")]
    OtherKernel {
        /// The kernel of the launch.
        found: String,
        /// The kernel whose scalars are set.
        expected: &'static str,
    },
    /// Several things are wrong with what one call is given: a launch beyond several limits, rows that fit neither side of a
    /// copy, several environment variables. Each is an error of its own.
    #[error("{} errors in one call:{}", .0.len(), wording::lines(.0.iter().map(|it| (it, it.code()))))]
    Several(Vec<Self>),
}

impl Error {
    /// Nothing, the error that there is, or all of them as one.
    pub(crate) fn all(mut errors: Vec<Self>) -> Result<()> {
        match errors.len() {
            0 => Ok(()),
            1 => Err(errors.remove(0)),
            _ => Err(Self::Several(errors)),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{self}")?;
        if let Self::KernelPanic(panic) = self
            && let Some(frame) = panic.frame_of_package()
        {
            write!(formatter, "\n{frame}")?;
        }
        let mut source = std::error::Error::source(self);
        while let Some(error) = source {
            write!(formatter, "\n  because: {error}")?;
            source = error.source();
        }
        write!(formatter, "\n  for more: cargo kernelmill explain {}", self.code())
    }
}

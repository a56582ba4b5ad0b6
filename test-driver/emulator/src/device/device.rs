//! Devices: memory, modules and launches.

use super::loaded::Loaded;
use super::properties::Properties;
use crate::execute::{Grid, run};
use crate::launch::{Coverage, Covered, Fault, FaultKind, Launch, Options, Report};
use crate::memory::{MemoryError, Region, Store};
use crate::module::Module;
use crate::program::{Kernel, Program, Value};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// An emulated device. Its memory is apart from the host's: device addresses are not pointers.
///
/// ```
/// use ptx_emulator::{Device, FaultKind, Launch, Module, Options, Properties};
/// let module = Module::parse("
/// .version 6.3
/// .target sm_75
/// .address_size 64
/// .visible .entry double(.param .u64 data)
/// {
///     .reg .b32 %r<3>;
///     .reg .b64 %rd<4>;
///     ld.param.u64 %rd1, [data];
///     mov.u32 %r1, %tid.x;
///     mul.wide.u32 %rd2, %r1, 4;
///     add.s64 %rd3, %rd1, %rd2;
///     ld.global.u32 %r2, [%rd3];
///     add.u32 %r2, %r2, %r2;
///     st.global.u32 [%rd3], %r2;
///     ret;
/// }").unwrap();
/// let device = Device::new(Properties::default());
/// let data = device.allocate(16, 4).unwrap();
/// device.write(data, &[1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0]).unwrap();
/// let loaded = device.load(&module).unwrap();
/// let mut launch = Launch { block: [4, 1, 1], arguments: &[&data.to_le_bytes()], ..Launch::default() };
/// device.launch(&loaded, "double", &launch, &Options::default()).unwrap();
/// let mut result = [0; 16];
/// device.read(data, &mut result).unwrap();
/// assert_eq!(result[12], 8);
///
/// launch.block = [5, 1, 1];
/// let fault = device.launch(&loaded, "double", &launch, &Options::default()).unwrap_err();
/// assert!(matches!(fault.kind, FaultKind::OutOfBounds { .. }));
/// assert_eq!((fault.ptx_line, fault.thread), (13, [4, 0, 0]));
/// ```
#[derive(Clone)]
pub struct Device {
    store: Arc<Store>,
    properties: Arc<Properties>,
    /// Launches so far.
    launches: Arc<AtomicU64>,
    /// Launches that run now.
    running: Arc<AtomicUsize>,
}

impl Device {
    /// A device with empty memory.
    pub fn new(properties: Properties) -> Device {
        let store = Arc::new(Store::new(properties.memory_bytes, properties.fill));
        let properties = Arc::new(properties);
        Device { store, properties, launches: Arc::default(), running: Arc::default() }
    }

    /// What the device is like.
    pub fn properties(&self) -> &Properties {
        &self.properties
    }

    /// Bytes of device memory in use, and bytes there are.
    pub fn memory_usage(&self) -> (u64, u64) {
        self.store.usage()
    }

    /// Allocates memory and gives its device address, a multiple of `align` and of 256.
    ///
    /// # Errors
    /// When the memory is used up or `align` is not a power of two.
    pub fn allocate(&self, bytes: usize, align: usize) -> Result<u64, MemoryError> {
        self.store.allocate(bytes as u64, align as u64, true)
    }

    /// Makes memory of the host known to the device, at its own address, until [`Device::free`].
    ///
    /// # Safety
    /// `pointer` is valid for reads and writes of `bytes` bytes until then and until the launches
    /// that began before have ended, and no references into it exist while kernels run.
    pub unsafe fn map_host(&self, pointer: *mut u8, bytes: usize) -> u64 {
        // SAFETY: the caller promises what `of_host` wants.
        let region = unsafe { Region::of_host(pointer, bytes as u64) };
        self.store.insert(region);
        pointer as u64
    }

    /// Frees an allocation. Its addresses are not given again; using them is a fault.
    ///
    /// # Errors
    /// When `address` is not the start of an allocation, or was freed before.
    pub fn free(&self, address: u64) -> Result<(), MemoryError> {
        self.store.free(address)
    }

    /// Start and length in bytes of the allocation that an address lies in.
    pub fn allocation(&self, address: u64) -> Option<(u64, u64)> {
        self.store.allocation(address)
    }

    /// Copies from the device.
    ///
    /// # Errors
    /// When the range does not lie in one allocation.
    pub fn read(&self, address: u64, out: &mut [u8]) -> Result<(), MemoryError> {
        if !out.is_empty() {
            self.store.for_copy(address, out.len(), false)?.read(address, out);
        }
        Ok(())
    }

    /// Copies to the device.
    ///
    /// # Errors
    /// When the range does not lie in one allocation.
    pub fn write(&self, address: u64, data: &[u8]) -> Result<(), MemoryError> {
        if !data.is_empty() {
            self.store.for_copy(address, data.len(), true)?.write(address, data);
        }
        Ok(())
    }

    /// Sets `bytes` bytes on the device.
    ///
    /// # Errors
    /// When the range does not lie in one allocation.
    pub fn fill(&self, address: u64, bytes: usize, value: u8) -> Result<(), MemoryError> {
        if bytes > 0 {
            self.store.for_copy(address, bytes, true)?.fill(address, bytes, value);
        }
        Ok(())
    }

    /// Places a module's variables in device memory and initialises them.
    ///
    /// # Errors
    /// When the memory is used up.
    pub fn load(&self, module: &Module) -> Result<Loaded, MemoryError> {
        let mut loaded = Loaded {
            store: Arc::clone(&self.store),
            module: module.clone(),
            addresses: Vec::new(),
        };
        for global in &module.program.globals {
            let (bytes, align) = (global.bytes, global.align);
            let address = self.store.allocate_zeroed(bytes, align, !global.constant)?;
            loaded.addresses.push(address);
        }
        for (global, &address) in module.program.globals.iter().zip(&loaded.addresses) {
            let Some(region) = self.store.find(address, global.bytes) else { continue };
            for Value { place, bits, bytes } in loaded.values(global) {
                region.write(address + place, &bits.to_le_bytes()[..bytes as usize]);
            }
        }
        Ok(loaded)
    }

    /// A number that no launch has had yet, from 1 on.
    pub fn next_number(&self) -> u64 {
        1 + self.launches.fetch_add(1, Ordering::Relaxed)
    }

    /// Runs a kernel to its end.
    ///
    /// # Errors
    /// The first fault in the order of blocks, or [`FaultKind::Launch`] when the launch itself is
    /// wrong.
    pub fn launch(
        &self,
        loaded: &Loaded,
        kernel: &str,
        launch: &Launch<'_>,
        options: &Options,
    ) -> Result<Report, Fault> {
        let refused = |reason: String| refusal(kernel, reason);
        let Some(found) = loaded.module.kernel(kernel) else {
            return Err(refused(format!("the module has no kernel `{kernel}`")));
        };
        let program = &loaded.module.program;
        let parameters = self.check(found, program, launch).map_err(refused)?;
        let layout = program.shared_layout(found.function);
        let workspace = self.workspace(launch).map_err(|error| refused(error.to_string()))?;
        let _running = Running::new(&self.running);
        let grid = Grid {
            program,
            number: options.number.unwrap_or_else(|| self.next_number()),
            templates: loaded.templates(found.function, &layout),
            entry: found.function,
            parameters,
            store: &self.store,
            grid: launch.grid,
            block: launch.block,
            shared_bytes: layout.dynamic() + launch.dynamic_shared_bytes,
            dynamic_shared_bytes: launch.dynamic_shared_bytes,
            multiprocessors: self.properties.multiprocessors,
            cooperative: launch.cooperative,
            workspace: workspace.0,
            running: &self.running,
            options,
            used: AtomicU64::new(0),
        };
        let outcome = run(&grid, &loaded.module.code);
        let coverage = coverage(program, &program.reachable(found.function), &outcome.hits);
        let instructions = coverage.instructions.iter().map(|covered| covered.count).sum();
        let report = Report { instructions, coverage, printed: outcome.printed };
        match outcome.fault {
            None => Ok(report),
            Some(fault) => Err(Fault { report: Box::new(report), ..fault }),
        }
    }

    /// Zeroed memory through which the blocks of a cooperative launch synchronise.
    fn workspace(&self, launch: &Launch<'_>) -> Result<Workspace<'_>, MemoryError> {
        if !launch.cooperative {
            return Ok(Workspace(0, &self.store));
        }
        let address = self.store.allocate(WORKSPACE_BYTES as u64, 256, true)?;
        let workspace = Workspace(address, &self.store);
        self.fill(address, WORKSPACE_BYTES, 0)?;
        self.write(address, &(WORKSPACE_BYTES as u32).to_le_bytes())?;
        Ok(workspace)
    }

    /// Checks a launch against the kernel and the device; gives the bytes of the parameters.
    fn check(
        &self,
        kernel: &Kernel,
        program: &Program,
        launch: &Launch<'_>,
    ) -> Result<Vec<u8>, String> {
        let shape = [self.fault_of_grid(launch), self.fault_of_block(kernel, launch)];
        let is_in_shape = shape.iter().all(Option::is_none);
        let mut faults: Vec<String> = shape.into_iter().flatten().collect();
        let shared = u64::from(kernel.static_shared_bytes) + u64::from(launch.dynamic_shared_bytes);
        let limit = self.properties.shared_bytes;
        if shared > u64::from(limit) {
            faults.push(format!("{shared} bytes of shared memory, but the device has {limit}"));
        }
        faults.extend(fault_of_memory(kernel, program, launch, is_in_shape));
        match place_arguments(kernel, launch.arguments) {
            Ok(bytes) if faults.is_empty() => Ok(bytes),
            Ok(_) => Err(faults.join("\n")),
            Err(others) => {
                faults.extend(others);
                Err(faults.join("\n"))
            }
        }
    }

    fn fault_of_grid(&self, launch: &Launch<'_>) -> Option<String> {
        outside("grid", launch.grid, self.properties.max_grid).or_else(|| {
            // Within the limits, the product is below 2^64.
            let blocks: u64 = launch.grid.iter().map(|&size| u64::from(size)).product();
            (blocks > u64::from(u32::MAX))
                .then(|| format!("{blocks} blocks are more than the emulator supports, 2^32 - 1"))
        })
    }

    /// One fault: a size along an axis decides the number of threads, and that often decides the shape.
    fn fault_of_block(&self, kernel: &Kernel, launch: &Launch<'_>) -> Option<String> {
        let fault = outside("block", launch.block, self.properties.max_block);
        if fault.is_some() {
            return fault;
        }
        let threads: u64 = launch.block.iter().map(|&size| u64::from(size)).product();
        let declared = kernel.max_threads.unwrap_or(u32::MAX);
        let most = self.properties.max_threads_per_block.min(declared);
        if threads > u64::from(most) {
            return Some(format!("{threads} threads in a block, at most {most} are allowed"));
        }
        let required = kernel.required_block.filter(|&shape| shape != launch.block)?;
        let block = launch.block;
        Some(format!("a block of {block:?} threads, but the kernel requires {required:?}"))
    }
}

/// A grid or block that has no size along an axis, or one beyond its limit.
fn outside(what: &str, sizes: [u32; 3], limits: [u32; 3]) -> Option<String> {
    let is_outside = sizes.iter().zip(limits).any(|(&size, limit)| size == 0 || size > limit);
    is_outside.then(|| format!("a {what} of {sizes:?} is empty or exceeds the limits {limits:?}"))
}

/// The fault of the local memory of a thread, or else of what all threads that run at once take of the host, which is known
/// of a launch whose shape is.
fn fault_of_memory(
    kernel: &Kernel,
    program: &Program,
    launch: &Launch<'_>,
    is_in_shape: bool,
) -> Option<String> {
    let local = kernel.local_bytes;
    if local > MOST_LOCAL_BYTES {
        return Some(format!(
            "{local} bytes of local memory for each thread, at most {MOST_LOCAL_BYTES} are allowed"
        ));
    }
    if !is_in_shape {
        return None;
    }
    let registers = program.functions[kernel.function].template.len() as u64;
    let count = |sizes: [u32; 3]| sizes.iter().map(|&size| u64::from(size)).product::<u64>();
    let blocks = if launch.cooperative { count(launch.grid) } else { 1 };
    let threads = blocks.saturating_mul(count(launch.block));
    let bytes = threads.saturating_mul(12 * registers + u64::from(local));
    (bytes > MOST_THREAD_BYTES).then(|| {
        format!(
            "{registers} registers and {local} bytes of local memory in {threads} threads at once, the emulator has \
             {MOST_THREAD_BYTES} bytes for both"
        )
    })
}

/// Most bytes of local memory of a thread (CUDA C++ Programming Guide, "Technical Specifications").
const MOST_LOCAL_BYTES: u32 = 512 << 10;

/// Most bytes for the registers and local memory of the threads that run at once.
const MOST_THREAD_BYTES: u64 = 1 << 30;

/// The fault of a launch that is wrong itself.
fn refusal(kernel: &str, reason: String) -> Fault {
    Fault {
        kind: FaultKind::Launch { reason },
        ptx_line: 0,
        source: None,
        function: kernel.to_string(),
        block: [0; 3],
        thread: [0; 3],
        report: Box::default(),
    }
}

const WORKSPACE_BYTES: usize = 64;

/// A launch that runs until this is dropped.
struct Running<'d>(&'d AtomicUsize);

impl<'d> Running<'d> {
    fn new(count: &'d AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A workspace that is freed when its launch ends.
struct Workspace<'a>(u64, &'a Store);

impl Drop for Workspace<'_> {
    fn drop(&mut self) {
        if self.0 != 0 {
            // Only the launch knows the address; should its kernel have freed it, nothing is lost.
            let _ = self.1.free(self.0);
        }
    }
}

/// The bytes of the arguments at their places, or everything that is wrong with them.
fn place_arguments(kernel: &Kernel, arguments: &[&[u8]]) -> Result<Vec<u8>, Vec<String>> {
    let (wanted, given) = (kernel.parameters.len(), arguments.len());
    if wanted != given {
        return Err(vec![format!("{given} arguments for {wanted} parameters")]);
    }
    let mut faults = Vec::new();
    let end = kernel.parameters.last().map_or(0, |last| last.offset.saturating_add(last.size));
    let mut bytes = vec![0; end as usize];
    for (parameter, argument) in kernel.parameters.iter().zip(arguments) {
        let (wanted, given) = (parameter.size as usize, argument.len());
        if wanted != given {
            let name = &parameter.name;
            faults.push(format!("{given} bytes for parameter `{name}` of {wanted} bytes"));
            continue;
        }
        bytes[parameter.offset as usize..][..given].copy_from_slice(argument);
    }
    if faults.is_empty() { Ok(bytes) } else { Err(faults) }
}

fn coverage(program: &Program, reachable: &[usize], hits: &[Vec<u64>]) -> Coverage {
    let mut instructions = Vec::new();
    for &index in reachable {
        let function = &program.functions[index];
        let name: Arc<str> = function.name.as_str().into();
        for (origin, &count) in function.origins.iter().zip(&hits[index]) {
            let Some(mnemonic) = origin.mnemonic else { continue };
            instructions.push(Covered {
                function: Arc::clone(&name),
                line: origin.line,
                source: program.source(*origin),
                mnemonic: Arc::clone(&program.mnemonics[mnemonic as usize]),
                count,
            });
        }
    }
    Coverage { instructions }
}

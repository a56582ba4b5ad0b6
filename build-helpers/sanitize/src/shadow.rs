//! Shadow memory of shared arrays: for each granule of an array, the last write and the last readers.
//!
//! A cell is an epoch: a thread, and its count of barriers. Keeping the last write and few readers as
//! epochs is the method of FastTrack (Flanagan and Freund, PLDI 2009), with barriers as the only
//! synchronisation. `shadow.ll` has the code that compares and updates cells.

use std::collections::{HashMap, HashSet};

use kernelmill_artifact::Target;
use kernelmill_compiler::plugin::{
    Kernel, SharedArray, Task,
    ir::{Linkage, ModuleExt, Value, parse_ir},
};

use crate::{
    memory::{Root, RootedAccess},
    options::Options,
};

/// The shadow memory of one shared array.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shadow<'c> {
    pub(crate) memory: Value<'c>,
    /// The bytes of the array that have one cell: the smallest access.
    pub(crate) granule: u64,
    /// The number of cells.
    pub(crate) cells: u64,
}

/// The shadow memory of a module.
#[derive(Debug)]
pub(crate) struct Shadows<'c> {
    of: HashMap<Value<'c>, Shadow<'c>>,
    /// That of the first bytes of the dynamic shared memory.
    pub(crate) dynamic: Option<Shadow<'c>>,
    /// The arrays without a shadow, for lack of shared memory.
    too_large: HashSet<Value<'c>>,
    /// The functions that read and write shadows, where there are any.
    pub(crate) functions: Option<Functions<'c>>,
}

/// The functions of `shadow.ll`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Functions<'c> {
    pub(crate) access: Value<'c>,
    pub(crate) clear: Value<'c>,
}

/// Cells for the last write, and for the readers with the highest and the lowest number.
pub(crate) const ROLES: u64 = 3;

/// The layout of a cell, in bits.
#[derive(Clone, Copy)]
struct Layout {
    cell: u64,
    warp: u64,
    place: u64,
}

impl Layout {
    /// The bytes of the cells of one granule.
    fn bytes(self) -> u64 {
        ROLES * self.cell / 8
    }
}

/// Cells with the source location of the access, and cells without, which take half the memory.
const LAYOUTS: [Layout; 2] =
    [Layout { cell: 64, warp: 9, place: 20 }, Layout { cell: 32, warp: 5, place: 0 }];

/// Bits for the index of a thread in its block, enough for the largest block of any device.
const THREAD: u64 = 11;

/// The bytes of shared memory that a kernel can have without opting in to more.
fn limit(target: &Target) -> u64 {
    match target {
        Target::Amd(_) => 64 << 10,
        Target::Cpu | Target::CpuBitcode => 256 << 10,
        _ => 48 << 10,
    }
}

impl<'c> Shadows<'c> {
    /// Allocates shadow memory for the shared arrays of kernels, as far as their shared memory allows.
    pub(crate) fn plan(
        task: &Task<'_, 'c>,
        options: Options,
        kernels: &[Kernel<'c>],
        accesses: &HashMap<String, Vec<RootedAccess<'c>>>,
    ) -> Result<Self, String> {
        let granules = if options.races { smallest_accesses(accesses) } else { HashMap::default() };
        let sizes = Sizes::new(task, kernels, accesses, &granules);
        let limit = limit(task.target());
        let fits = |layout: &Layout, used: &Vec<Value<'c>>| sizes.bytes(*layout, used) <= limit;
        let fits_all =
            LAYOUTS.iter().find(|layout| sizes.used.iter().all(|used| fits(layout, used)));
        let layout = *fits_all.unwrap_or(&LAYOUTS[1]);
        let too_large: HashSet<_> =
            sizes.used.iter().filter(|used| !fits(&layout, used)).flatten().copied().collect();
        let mut of = HashMap::new();
        for array in sizes.arrays.iter().filter(|array| !too_large.contains(&array.global)) {
            let Some(&Cells { granule, count }) = sizes.cells.get(&array.global) else { continue };
            let name = format!("{}.sanitize", array.global.name());
            let memory = task.new_shared_array(&name, count * layout.bytes());
            of.insert(array.global, Shadow { memory, granule, cells: count });
        }
        // The dynamic shared memory gets the rest, at most half of all: launches need memory too.
        let most = sizes.used.iter().map(|used| sizes.bytes(layout, used)).max().unwrap_or(0);
        let room = limit.saturating_sub(most).min(limit / 2);
        let dynamic = granules.get(&None).filter(|_| room >= layout.bytes()).map(|granule| {
            let cells = room / layout.bytes();
            let memory = task.new_shared_array("dynamic.sanitize", cells * layout.bytes());
            Shadow { memory, granule: *granule, cells }
        });
        let is_none = of.is_empty() && dynamic.is_none();
        let functions = if is_none { None } else { Some(Functions::link(task, layout)?) };
        Ok(Self { of, dynamic, too_large, functions })
    }

    /// Whether an array has no shadow because there is no room.
    pub(crate) fn is_too_large(&self, array: Value<'c>) -> bool {
        self.too_large.contains(&array)
    }

    /// The shadow of an array, where there is room for one.
    pub(crate) fn of(&self, array: Value<'c>) -> Option<Shadow<'c>> {
        self.of.get(&array).copied()
    }
}

/// The cells of one array.
#[derive(Clone, Copy)]
struct Cells {
    /// The bytes of the array that have one cell.
    granule: u64,
    count: u64,
}

/// The sizes from which the layout of cells is chosen.
struct Sizes<'c> {
    arrays: Vec<SharedArray<'c>>,
    cells: HashMap<Value<'c>, Cells>,
    /// The arrays that each kernel accesses.
    used: Vec<Vec<Value<'c>>>,
}

impl<'c> Sizes<'c> {
    fn new(
        task: &Task<'_, 'c>,
        kernels: &[Kernel<'c>],
        accesses: &HashMap<String, Vec<RootedAccess<'c>>>,
        granules: &HashMap<Option<Value<'c>>, u64>,
    ) -> Self {
        let arrays = task.shared_arrays();
        let mut cells = HashMap::new();
        for array in &arrays {
            if let Some(&granule) = granules.get(&Some(array.global)) {
                let count = array.bytes.div_ceil(granule);
                cells.insert(array.global, Cells { granule, count });
            }
        }
        let used = kernels.iter().map(|kernel| arrays_of(&accesses[&kernel.name])).collect();
        Self { arrays, cells, used }
    }

    /// The shared memory of a kernel that uses these arrays, with their shadows.
    fn bytes(&self, layout: Layout, used: &[Value<'c>]) -> u64 {
        let own = |array: &Value<'c>| {
            let found = self.arrays.iter().find(|it| it.global == *array);
            found.map_or(0, |it| it.bytes).next_multiple_of(16)
        };
        let cells = used.iter().filter_map(|array| self.cells.get(array));
        let shadows: u64 = cells.map(|cells| cells.count * layout.bytes()).sum();
        used.iter().map(own).sum::<u64>() + shadows
    }
}

/// The granule of each shared array that is accessed, by its smallest access; that of the dynamic
/// shared memory is at `None`.
fn smallest_accesses<'c>(
    accesses: &HashMap<String, Vec<RootedAccess<'c>>>,
) -> HashMap<Option<Value<'c>>, u64> {
    let mut granules = HashMap::new();
    for RootedAccess { access, roots } in accesses.values().flatten() {
        let array = match roots[..] {
            [Root::Shared(array)] => Some(array),
            [Root::Dynamic] => None,
            _ => continue,
        };
        let granule = granule(access.bytes.as_u64());
        let known = granules.entry(array).or_insert(granule);
        *known = granule.min(*known);
    }
    granules
}

/// The bytes that have one cell, for a smallest access of `bytes`; `None` where that is known only at
/// run time.
fn granule(bytes: Option<u64>) -> u64 {
    let bytes = bytes.filter(|bytes| *bytes > 0).unwrap_or(1);
    (1 << bytes.trailing_zeros()).min(16)
}

/// The shared arrays that a kernel accesses.
pub(crate) fn arrays_of<'c>(accesses: &[RootedAccess<'c>]) -> Vec<Value<'c>> {
    let mut arrays = Vec::new();
    for root in accesses.iter().flat_map(|it| &it.roots) {
        if let Root::Shared(array) = root
            && !arrays.contains(array)
        {
            arrays.push(*array);
        }
    }
    arrays
}

/// Conversions between cells and integers of 64 bits.
fn conversions(cell: u64) -> &'static str {
    if cell == 64 {
        "define internal i64 @__kernelmill_sanitize_narrow(i64 %x) alwaysinline { ret i64 %x }\n\
         define internal i64 @__kernelmill_sanitize_wide(i64 %x) alwaysinline { ret i64 %x }\n"
    } else {
        "define internal i32 @__kernelmill_sanitize_narrow(i64 %x) alwaysinline {\n\
         %y = trunc i64 %x to i32\nret i32 %y\n}\n\
         define internal i64 @__kernelmill_sanitize_wide(i32 %x) alwaysinline {\n\
         %y = zext i32 %x to i64\nret i64 %y\n}\n"
    }
}

impl<'c> Functions<'c> {
    fn link(task: &Task<'_, 'c>, layout: Layout) -> Result<Self, String> {
        let Layout { cell, warp, place } = layout;
        // From the lowest bit: source location, atomic flag, barriers of the warp, thread, barriers of
        // the block.
        let (warp_at, thread_at) = (place + 1, place + 1 + warp);
        let epoch_at = thread_at + THREAD;
        let ones = |bits: u64| (1_u64 << bits) - 1;
        let text = format!("{}{}", include_str!("shadow.ll"), conversions(cell))
            .replace("CELL_BITS", &cell.to_string())
            .replace("CELL_BYTES", &(cell / 8).to_string())
            .replace("ATOMIC_AT", &place.to_string())
            .replace("WARP_AT", &warp_at.to_string())
            .replace("THREAD_AT", &thread_at.to_string())
            .replace("EPOCH_AT", &epoch_at.to_string())
            .replace("PLACE_MASK", &ones(place).to_string())
            .replace("WARP_MASK", &ones(warp).to_string())
            .replace("THREAD_MASK", &ones(THREAD).to_string())
            .replace("EPOCH_MASK", &ones(cell - epoch_at).to_string());
        let module = task.module();
        let layout = module.get_data_layout();
        let (layout, triple) = (layout.as_str().to_string_lossy(), module.get_triple());
        let triple = triple.as_str().to_string_lossy();
        let part =
            parse_ir(task.context(), &text, &layout, &triple).map_err(|error| error.to_string())?;
        module.link(part).map_err(|error| error.to_string())?;
        let function = |name: &str| {
            let name = format!("__kernelmill_sanitize_{name}");
            let function = module.function(&name).ok_or_else(|| format!("{name} is not there"))?;
            // Until here LLVM's linker would have left it out.
            function.set_linkage(Linkage::Internal);
            Ok::<_, String>(function)
        };
        Ok(Self { access: function("access")?, clear: function("clear")? })
    }
}

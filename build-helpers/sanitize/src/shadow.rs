//! What is remembered of each place of a shared array: who wrote and who read it last.

use std::collections::{HashMap, HashSet};

use kernelmill_artifact::Target;
use kernelmill_compiler::plugin::{
    Kernel, Task,
    ir::{Linkage, ModuleExt, Value, parse_ir},
};

use crate::{kernel::Rooted, memory::Root, options::Options};

/// The memory beside one shared array.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shadow<'c> {
    pub(crate) memory: Value<'c>,
    /// The bytes of the array that have one cell: the smallest access.
    pub(crate) granule: u64,
    /// The number of cells.
    pub(crate) cells: u64,
}

/// The shadows of a module.
#[derive(Debug)]
pub(crate) struct Shadows<'c> {
    of: HashMap<Value<'c>, Shadow<'c>>,
    /// That of the first bytes of the shared memory which launches ask for.
    pub(crate) dynamic: Option<Shadow<'c>>,
    /// The arrays that there is no room beside for one.
    too_large: HashSet<Value<'c>>,
    /// What looks at the shadows, where there are any.
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

/// How many bits of a cell are for what.
#[derive(Clone, Copy)]
struct Layout {
    cell: u64,
    warp: u64,
    place: u64,
}

impl Layout {
    /// The bytes of the cells of one place.
    fn bytes(self) -> u64 {
        ROLES * self.cell / 8
    }
}

/// With the places of accesses, and without, which takes half the memory.
const LAYOUTS: [Layout; 2] =
    [Layout { cell: 64, warp: 9, place: 20 }, Layout { cell: 32, warp: 5, place: 0 }];

/// Bits for the thread's number in its block: more than any device has threads in one.
const THREAD: u64 = 11;

/// The bytes of shared memory that a kernel has without asking for more.
fn limit(target: &Target) -> u64 {
    match target {
        Target::Amd(_) => 64 << 10,
        Target::Cpu => 256 << 10,
        _ => 48 << 10,
    }
}

impl<'c> Shadows<'c> {
    /// Makes shadows for the arrays of kernels, where these have the memory for it.
    pub(crate) fn plan(
        task: &Task<'_, 'c>,
        options: Options,
        kernels: &[Kernel<'c>],
        accesses: &HashMap<String, Vec<Rooted<'c>>>,
    ) -> Result<Self, String> {
        let mut granules = HashMap::new();
        let found = accesses.values().flatten().filter_map(|(access, roots)| match &roots[..] {
            [Root::Shared(array)] => Some((Some(*array), granule(access.bytes.as_u64()))),
            [Root::Dynamic] => Some((None, granule(access.bytes.as_u64()))),
            _ => None,
        });
        for (array, granule) in found.filter(|_| options.races) {
            let known = granules.entry(array).or_insert(granule);
            *known = granule.min(*known);
        }
        let arrays = task.shared_arrays();
        let cells: HashMap<_, _> = arrays
            .iter()
            .filter_map(|array| {
                let granule = granules.get(&Some(array.global))?;
                Some((array.global, (*granule, array.bytes.div_ceil(*granule))))
            })
            .collect();
        let bytes = |array: &Value<'c>| {
            let own = arrays.iter().find(|it| it.global == *array).map_or(0, |it| it.bytes);
            own.next_multiple_of(16)
        };
        let used: Vec<_> =
            kernels.iter().map(|kernel| arrays_of(&accesses[&kernel.name])).collect();
        let size = |layout: &Layout, used: &Vec<Value<'c>>| {
            let cells = used.iter().filter_map(|array| cells.get(array)).map(|(_, cells)| cells);
            let shadows: u64 = cells.map(|cells| cells * layout.bytes()).sum();
            used.iter().map(bytes).sum::<u64>() + shadows
        };
        let limit = limit(task.target());
        let fits = |layout: &Layout, used: &Vec<Value<'c>>| size(layout, used) <= limit;
        let fits_all = LAYOUTS.iter().find(|layout| used.iter().all(|used| fits(layout, used)));
        let layout = fits_all.unwrap_or(&LAYOUTS[1]);
        let too_large: HashSet<_> =
            used.iter().filter(|used| !fits(layout, used)).flatten().copied().collect();
        let of: HashMap<_, _> = arrays
            .iter()
            .filter(|array| !too_large.contains(&array.global))
            .filter_map(|array| {
                let (granule, cells) = *cells.get(&array.global)?;
                let name = format!("{}.sanitize", array.global.name());
                let memory = task.new_shared_array(&name, cells * layout.bytes());
                Some((array.global, Shadow { memory, granule, cells }))
            })
            .collect();
        // Whatever the arrays leave; half of all at most, for launches have memory of their own.
        let most = used.iter().map(|used| size(layout, used)).max().unwrap_or(0);
        let room = limit.saturating_sub(most).min(limit / 2);
        let dynamic = granules.get(&None).filter(|_| room >= layout.bytes()).map(|granule| {
            let cells = room / layout.bytes();
            let memory = task.new_shared_array("dynamic.sanitize", cells * layout.bytes());
            Shadow { memory, granule: *granule, cells }
        });
        let is_none = of.is_empty() && dynamic.is_none();
        let functions = if is_none { None } else { Some(Functions::link(task, *layout)?) };
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

/// The bytes that a cell is for, where the smallest access has so many; `None` where that is known
/// only at run time.
fn granule(bytes: Option<u64>) -> u64 {
    let bytes = bytes.filter(|bytes| *bytes > 0).unwrap_or(1);
    (1 << bytes.trailing_zeros()).min(16)
}

/// The shared arrays that a kernel accesses.
pub(crate) fn arrays_of<'c>(accesses: &[Rooted<'c>]) -> Vec<Value<'c>> {
    let mut arrays = Vec::new();
    for root in accesses.iter().flat_map(|(_, roots)| roots) {
        if let Root::Shared(array) = root
            && !arrays.contains(array)
        {
            arrays.push(*array);
        }
    }
    arrays
}

/// Between the numbers of cells and those of 64 bits.
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
        // From the lowest bit: the place, whether it is atomic, the count of the warp's barriers, the
        // thread, the count of the block's.
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
        module.link_in_module(part).map_err(|error| error.to_string())?;
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

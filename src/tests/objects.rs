//! What the objects of kernelmill's compiler export, written by hand: CPU kernels.

use std::sync::atomic::{AtomicU32, Ordering};

use kernelmill_artifact::PanicRecord;

use crate::__codegen::{
    CpuKernel,
    abi::{Block, Run, STRATEGY_LOOP},
};

pub(crate) const fn looped(run: Run) -> CpuKernel {
    CpuKernel {
        version: kernelmill_artifact::FORMAT_VERSION,
        strategy: STRATEGY_LOOP,
        static_shared_bytes: 0,
        frame_bytes: 0,
        frame_align: 1,
        blocks_along_y: 0,
        joins_blocks: 0,
        reserved: 0,
        run: [Some(run), None, None],
        start: None,
        resume: None,
    }
}

#[unsafe(no_mangle)]
pub(super) static kernelmill_cpu_demo_saxpy: CpuKernel = looped(saxpy);
#[unsafe(no_mangle)]
pub(super) static kernelmill_cpu_demo_fill: CpuKernel = looped(fill);
#[unsafe(no_mangle)]
static kernelmill_cpu_demo_scale: CpuKernel = looped(scale);

/// Argument `index`, read as a `T`.
///
/// # Safety
///
/// It is one.
pub(crate) unsafe fn argument<T: Copy>(arguments: *const *const u8, index: usize) -> T {
    // SAFETY: promised.
    unsafe { (*arguments.add(index)).cast::<T>().read() }
}

/// Argument `index`, the address of memory: as compiled code reads it, a number.
///
/// # Safety
///
/// It is one.
pub(crate) unsafe fn address<T>(arguments: *const *const u8, index: usize) -> *mut T {
    // SAFETY: promised.
    std::ptr::with_exposed_provenance_mut(unsafe { argument::<usize>(arguments, index) })
}

/// The global index of every thread of a block, x, y, z, and the index in the block.
pub(super) fn threads(block: &Block) -> impl Iterator<Item = ([usize; 3], [u32; 3])> {
    // SAFETY: the run time sets it to the geometry of the launch.
    let [width, height, depth] = unsafe { (*block.geometry).block };
    let origin = [0, 1, 2].map(|axis| {
        // SAFETY: as above.
        block.index[axis] as usize * unsafe { (*block.geometry).block[axis] } as usize
    });
    let planes = (0..depth).flat_map(move |z| (0..height).map(move |y| (y, z)));
    planes.flat_map(move |(y, z)| {
        (0..width).map(move |x| {
            let [ox, oy, oz] = origin;
            ([ox + x as usize, oy + y as usize, oz + z as usize], [x, y, z])
        })
    })
}

/// `y[i] += a * x[i]` for `i < y.len()`; panics, as the compiled kernel would, where `x` is
/// shorter.
unsafe extern "C" fn saxpy(arguments: *const *const u8, block: *mut Block) {
    // SAFETY: the run time passes the arguments of the signature, and a valid block.
    unsafe {
        let a: f32 = argument(arguments, 0);
        let x = std::slice::from_raw_parts(address(arguments, 1), argument(arguments, 2));
        let (y, y_len): (*mut f32, usize) = (address(arguments, 3), argument(arguments, 4));
        assert!((*block).geometry.is_aligned() && y.is_aligned() && !y.is_null());
        for ([i, ..], thread) in threads(&*block) {
            if i >= y_len {
                continue;
            }
            let Some(x) = x.get(i) else {
                panic_out_of_bounds((*block).panic, &*block, thread, i, x.len());
                continue;
            };
            *y.add(i) += a * x;
        }
    }
}

/// `__kernelmill_panic` of kernelmill_device.
unsafe fn panic_out_of_bounds(
    record: *mut PanicRecord,
    block: &Block,
    thread: [u32; 3],
    index: usize,
    len: usize,
) {
    // SAFETY: the record lives as long as the launch.
    let state = unsafe { AtomicU32::from_ptr(&raw mut (*record).state) };
    if state.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok() {
        // SAFETY: this thread has claimed it.
        unsafe {
            (*record).kind = 2;
            (*record).a = index as u64;
            (*record).b = len as u64;
            (*record).location = 0;
            (*record).block = block.index;
            (*record).thread = thread;
        }
        state.store(2, Ordering::Release);
    }
}

/// `out[y * width + x] = step * (y * width + x)` for `x < width`.
unsafe extern "C" fn fill(arguments: *const *const u8, block: *mut Block) {
    // SAFETY: the run time passes the arguments of the signature, and a valid block.
    unsafe {
        let params: super::generated::Params = argument(arguments, 0);
        let (out, len): (*mut u64, usize) = (address(arguments, 1), argument(arguments, 2));
        for ([x, y, _], _) in threads(&*block) {
            let i = y * params.width as usize + x;
            if x < params.width as usize && i < len {
                *out.add(i) = params.step * i as u64;
            }
        }
    }
}

/// `out[i] = 2 * in[i]` for `i < n`, `i` counted along z.
unsafe extern "C" fn scale(arguments: *const *const u8, block: *mut Block) {
    // SAFETY: the run time passes the arguments of the signature, and a valid block.
    unsafe {
        let (out, r#in): (*mut f32, *const f32) = (address(arguments, 0), address(arguments, 1));
        let n: i32 = argument(arguments, 2);
        for ([.., z], _) in threads(&*block) {
            if z < n as usize {
                *out.add(z) = 2.0 * *r#in.add(z);
            }
        }
    }
}

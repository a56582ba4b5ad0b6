//! Tuned launches of compiled kernels: the block that `cargo kernelmill tune` has found for a device and a size class, and
//! the one that a kernel gets where nothing was tuned.

use super::CompiledKernel;
use crate::{
    device::Device,
    launch::{Launch, usual_block},
    limits::stated_block,
    size_class,
};

impl CompiledKernel {
    /// A launch of at least `n` threads in a row with the block size, and by the build, that `cargo kernelmill tune` found
    /// to be fastest on this device for such sizes: [`tuned_cover`](Self::tuned_cover) in one dimension. Where the
    /// device was not tuned, or the kernel has no build any more that fits, it is [`Launch::linear`], in smaller blocks where
    /// the kernel is made for those.
    ///
    /// ```
    /// use kernelmill::{CompiledKernel, Launch};
    ///
    /// fn launch_of(kernel: &CompiledKernel, elements: usize) -> Launch<1> {
    ///     // For `kernels.saxpy(&stream, launch, 2.0, &x, &mut y)`.
    ///     kernel.tuned_launch(elements)
    /// }
    /// ```
    #[must_use]
    pub fn tuned_launch(&self, n: usize) -> Launch<1> {
        self.tuned_cover([n])
    }

    /// A launch of at least `sizes` threads, x first, with the block shape, and by the build, that `cargo kernelmill tune`
    /// found to be fastest on this device for such sizes. It takes the nearest size class that was tuned: the distances
    /// of all dimensions are added up, and of several as near the one of the fewest elements counts.
    ///
    /// Where the device was not tuned in as many dimensions, or the kernel has no build any more that fits, the block is
    /// the one that the kernel's source states; else one of 256, of 32 by 8 or of 32 by 4 by 2 threads, halved along its last axis
    /// until the kernel takes it.
    ///
    /// ```
    /// use kernelmill::{CompiledKernel, Launch};
    ///
    /// fn launch_of(kernel: &CompiledKernel, width: usize, height: usize) -> Launch<2> {
    ///     // For `kernels.blur(&stream, launch, width as u32, &picture, &mut out)`.
    ///     kernel.tuned_cover([width, height])
    /// }
    /// ```
    #[must_use]
    pub fn tuned_cover<const D: usize>(&self, sizes: [usize; D]) -> Launch<D>
    where
        Launch<D>: Into<Launch<3>>,
    {
        let signature = self.0.kernel.embedded().signature;
        let of = |device| size_class::nearest(self.0.tuned, (signature, device), sizes);
        let tuned = tuning_names(self.device()).into_iter().find_map(of);
        let launch = tuned.map(|(it, block)| {
            let launch = Launch::cover(sizes, block);
            launch.max_registers(it.max_registers)
        });
        let fits = |launch: &Launch<D>| self.variants().has_build_for(&(*launch).into());
        launch.filter(fits).unwrap_or_else(|| self.usual_cover(sizes))
    }

    /// Which of several kernels `cargo kernelmill tune GROUP` found to be fastest on their device for a problem of such
    /// sizes, by its place: instances of a generic kernel with tiles of other sizes, say, each of which has launches of its
    /// own. It is 0 where the group was not tuned in as many dimensions on this device, or the kernel found is
    /// none of these. They are kernels of one package on one device.
    ///
    /// ```
    /// use kernelmill::CompiledKernel;
    ///
    /// fn tile(tiles: &[CompiledKernel; 3], rows: usize, columns: usize) -> u32 {
    ///     [4, 8, 16][CompiledKernel::fastest("gemm_f32", tiles, [rows, columns])]
    /// }
    /// ```
    #[must_use]
    pub fn fastest<const D: usize>(group: &str, kernels: &[Self], sizes: [usize; D]) -> usize {
        let Some(first) = kernels.first() else { return 0 };
        let of = |device| size_class::nearest_of_group(first.0.tuned, (group, device), &sizes);
        let found = tuning_names(first.device()).into_iter().find_map(of);
        let is_it = |kernel: &Self| {
            // Places among the signatures are those of a package.
            std::ptr::eq(kernel.0.tuned, first.0.tuned)
                && Some(kernel.0.kernel.embedded().signature) == found
        };
        kernels.iter().position(is_it).unwrap_or(0)
    }

    /// The launch of at least `sizes` threads where nothing was tuned.
    fn usual_cover<const D: usize>(&self, sizes: [usize; D]) -> Launch<D>
    where
        Launch<D>: Into<Launch<3>>,
    {
        if let Some(stated) = stated_block(&self.limits()) {
            return Launch::cover(sizes, stated);
        }
        let (variants, most) = (self.variants(), self.device().limits().threads_per_block);
        let fits = |block: [u32; D]| {
            let threads = block.iter().product::<u32>();
            threads <= most && variants.has_build_for(&Launch::cover(sizes, block).into())
        };
        Launch::cover(sizes, halved_until(fits))
    }

    /// The block shape of [`tuned_cover`](Self::tuned_cover), x first: for launches whose grids are another matter than
    /// the problem's sizes, as those of kernels with grid-stride loops.
    ///
    /// ```
    /// use kernelmill::{CompiledKernel, Launch};
    ///
    /// fn launch_of(kernel: &CompiledKernel, width: usize, height: usize) -> Launch<2> {
    ///     Launch::grid([4, 64], kernel.suggested_block_shape([width, height]))
    /// }
    /// ```
    #[must_use]
    pub fn suggested_block_shape<const D: usize>(&self, sizes: [usize; D]) -> [u32; D]
    where
        Launch<D>: Into<Launch<3>>,
    {
        // Blocks come from numbers of 32 bits.
        self.tuned_cover(sizes).block_size().map(|size| u32::try_from(size).unwrap_or(u32::MAX))
    }
}

/// What a device was tuned under: files of earlier versions have its name alone.
fn tuning_names(device: &Device) -> [&str; 2] {
    [device.tuning_name(), device.name()]
}

/// The usual block, halved along its last axis that can be until it fits; a block of one thread where none does.
fn halved_until<const D: usize>(fits: impl Fn([u32; D]) -> bool) -> [u32; D] {
    let mut block = usual_block();
    while !fits(block) {
        let Some(axis) = block.iter().rposition(|size| *size > 1) else { break };
        block[axis] /= 2;
    }
    block
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_that_does_not_fit_keeps_its_row_as_long_as_it_can() {
        let most = |threads: u32| move |block: [u32; 3]| block.iter().product::<u32>() <= threads;
        assert_eq!(halved_until(most(256)), [32, 4, 2]);
        assert_eq!(halved_until(most(64)), [32, 2, 1]);
        assert_eq!(halved_until(most(20)), [16, 1, 1]);
        assert_eq!(halved_until(|_: [u32; 2]| false), [1, 1]);
        assert_eq!(halved_until(|block: [u32; 1]| block[0] < 256), [128]);
    }
}

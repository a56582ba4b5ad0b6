//! Launch limits: the check of a launch against those of the device and of the kernel.

use kernelmill_artifact::LaunchLimits;

use crate::{
    error::{Error, Result},
    launch::Launch,
    properties::Limits,
};

/// What one compiled kernel needs, or allows beyond the limits of the device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KernelLimits {
    /// Threads in a block; registers can make it fewer than the device allows.
    pub(crate) threads_per_block: u32,
    /// Bytes of shared memory that the kernel declares.
    pub(crate) static_shared_bytes: u64,
}

/// A launch that is within the limits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Checked {
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) dynamic_shared_bytes: u32,
}

impl Checked {
    /// A launch that was checked, in the words of drivers.
    pub(crate) fn of(launch: &Launch<3>) -> Self {
        // Nothing is cut: every value was compared with a limit of 32 bits.
        let narrow = |sizes: &[u64; 3]| sizes.map(|size| size as u32);
        let (grid, block) = launch.sizes();
        let (grid, block) = (narrow(grid), narrow(block));
        Self { grid, block, dynamic_shared_bytes: launch.dynamic_shared_bytes() as u32 }
    }
}

/// Checks a launch against what the kernel's author says of launches.
///
/// # Errors
///
/// [`Error::Limit`], [`Error::BlockSize`] and [`Error::Cluster`].
pub(crate) fn check_bounds(launch: &Launch<3>, limits: &LaunchLimits, kernel: &str) -> Result<()> {
    let (grid, cluster) = (launch.grid_size(), limits.cluster.map(u64::from));
    let is_split = |axis: usize| cluster[axis] > 0 && !grid[axis].is_multiple_of(cluster[axis]);
    let block = check_block(launch.block_size(), limits, kernel);
    if (0..3).any(is_split) {
        let split = Error::Cluster { kernel: kernel.to_owned(), grid, cluster: limits.cluster };
        return Error::all([split].into_iter().chain(block.err()).collect());
    }
    block
}

fn check_block(block: [u64; 3], limits: &LaunchLimits, kernel: &str) -> Result<()> {
    let threads = block.iter().fold(1, |threads: u64, size| threads.saturating_mul(*size));
    let most = u64::from(limits.max_block_threads);
    if most > 0 && threads > most {
        return Err(Error::Limit {
            kernel: kernel.to_owned(),
            quantity: "threads per block",
            requested: threads,
            limit: most,
            device: "the launch bounds in its source".to_owned(),
        });
    }
    let stated = limits.block;
    if (0..3).any(|axis| stated[axis] > 0 && block[axis] != u64::from(stated[axis])) {
        return Err(Error::BlockSize { kernel: kernel.to_owned(), block, stated });
    }
    Ok(())
}

/// The block that limits state, in a launch of `D` dimensions; `None` where they state none, or one of more dimensions.
pub(crate) fn stated_block<const D: usize>(limits: &LaunchLimits) -> Option<[u32; D]> {
    let (block, rest) = limits.block.split_at_checked(D)?;
    let is_flat = rest.iter().all(|size| *size == 1) && block.iter().all(|size| *size > 0);
    if is_flat { block.try_into().ok() } else { None }
}

/// The error of a launch that asks for more than there is.
fn refused(
    kernel: &str,
    quantity: &'static str,
    requested: u64,
    limit: u64,
    device: &str,
) -> Error {
    let (kernel, device) = (kernel.to_owned(), device.to_owned());
    Error::Limit { kernel, quantity, requested, limit, device }
}

const GRID_NAMES: [&str; 3] = ["blocks in x", "blocks in y", "blocks in z"];

const BLOCK_NAMES: [&str; 3] =
    ["threads per block in x", "threads per block in y", "threads per block in z"];

/// The most threads of a launch. Threads are numbered in 64 bits, and safe kernels rely on no two having the
/// same number; of more than this, none could ever end.
const MOST_THREADS: u64 = i64::MAX as u64;

impl Limits {
    /// Checks a launch of `kernel` on a device, of which `device` tells the name; whether anything is to be done.
    ///
    /// # Errors
    ///
    /// [`Error::EmptyBlock`], and [`Error::Limit`] for each limit that it is beyond.
    pub(crate) fn check<'d>(
        &self,
        launch: &Launch<3>,
        needs: &KernelLimits,
        kernel: &str,
        device: impl Fn() -> &'d str,
    ) -> Result<bool> {
        // Read one by one where they are: a copy would wait for what has just been written.
        let (grid, block) = launch.sizes();
        if grid.contains(&0) {
            return Ok(false);
        }
        let is_within = |axis: usize| {
            grid[axis] <= self.grid[axis].into()
                && (1..=self.block[axis].into()).contains(&block[axis])
        };
        if is_within(0) && is_within(1) && is_within(2) {
            // The product of two is exact, as each of them was compared with a limit of 32 bits.
            let in_block = (block[0] * block[1]).saturating_mul(block[2]);
            let all = (grid[0] * grid[1]).saturating_mul(grid[2].saturating_mul(in_block));
            let shared = needs.static_shared_bytes.saturating_add(launch.dynamic_shared_bytes());
            if in_block <= self.threads_per_block.min(needs.threads_per_block).into()
                && all <= MOST_THREADS
                && shared <= self.shared_bytes.into()
            {
                return Ok(true);
            }
        }
        Err(self.excess(launch, needs, kernel, device()))
    }

    /// The error of a launch that is beyond some limits. A product is left out where one of its factors is beyond its own.
    #[cold]
    fn excess(
        &self,
        launch: &Launch<3>,
        needs: &KernelLimits,
        kernel: &str,
        device: &str,
    ) -> Error {
        let (grid, block) = launch.sizes();
        let mut errors = Vec::new();
        if block.contains(&0) {
            errors.push(Error::EmptyBlock { kernel: kernel.to_owned(), block: *block });
        }
        let mut within = |quantity, requested: u64, limit: u64| {
            if requested > limit {
                errors.push(refused(kernel, quantity, requested, limit, device));
            }
            requested <= limit
        };
        let (mut is_grid_within, mut is_block_within) = (true, true);
        for axis in 0..3 {
            is_grid_within &= within(GRID_NAMES[axis], grid[axis], self.grid[axis].into());
            is_block_within &= within(BLOCK_NAMES[axis], block[axis], self.block[axis].into());
        }
        let product =
            |sizes: &[u64; 3]| sizes.iter().fold(1, |all: u64, it| all.saturating_mul(*it));
        let threads = self.threads_per_block.min(needs.threads_per_block);
        let is_block_within =
            is_block_within && within("threads per block", product(block), threads.into());
        if is_grid_within && is_block_within {
            let all = product(grid).saturating_mul(product(block));
            within("threads in the launch", all, MOST_THREADS);
        }
        let shared = needs.static_shared_bytes.saturating_add(launch.dynamic_shared_bytes());
        within("bytes of shared memory", shared, self.shared_bytes.into());
        let all = Error::all(errors);
        all.expect_err("a launch within all limits is not refused")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        grid: [0x7fff_ffff, 65535, 65535],
        block: [1024, 1024, 64],
        threads_per_block: 1024,
        shared_bytes: 1000,
        warp_size: 32,
    };

    fn check(launch: impl Into<Launch<3>>) -> std::result::Result<bool, String> {
        let needs = KernelLimits { threads_per_block: 512, static_shared_bytes: 400 };
        let checked = LIMITS.check(&launch.into(), &needs, "saxpy", || "the device");
        checked.map_err(|error| error.to_string())
    }

    #[test]
    fn launches_within_the_limits_pass_and_empty_grids_are_nothing() {
        assert_eq!(check(Launch::grid([1, 65535], [16, 32]).shared_bytes(600)), Ok(true));
        assert_eq!(check(Launch::linear(0)), Ok(false));
        assert_eq!(check(Launch::grid([4, 0], [100_000, 1])), Ok(false));
    }

    /// Threads along each axis count, of which no axis alone has too many.
    #[test]
    fn threads_of_a_block_are_those_along_all_axes() {
        assert_eq!(check(Launch::grid([1; 3], [8, 8, 8])), Ok(true));
        for block in [[16, 8, 8], [8, 16, 8], [8, 8, 16], [1024, 1024, 64]] {
            let text = check(Launch::grid([1; 3], block)).unwrap_err();
            assert!(text.contains(" threads per block, the limit of "), "{text}");
        }
        let limits = Limits { block: [u32::MAX; 3], ..LIMITS };
        let needs = KernelLimits { threads_per_block: 1024, static_shared_bytes: 0 };
        // The product has 96 bits, of which the lower 64 are 0.
        let launch = Launch::grid([1; 3], [1 << 31, 1 << 31, 4]);
        assert!(limits.check(&launch, &needs, "saxpy", || "the device").is_err());
    }

    /// Each limit once: that a product is too large too needs no saying.
    #[test]
    fn every_limit_that_a_launch_is_beyond_is_told() {
        let launch = Launch::grid([1, 70_000], [2048, 1]).shared_bytes(700);
        let lines = [
            "2048 threads per block in x, the limit of the device is 1024 (KM1002)",
            "70000 blocks in y, the limit of the device is 65535 (KM1002)",
            "1100 bytes of shared memory, the limit of the device is 1000 (KM1002)",
        ];
        let lines = lines.map(|line| format!("\n  kernel `saxpy`: the launch asks for {line}"));
        assert_eq!(check(launch), Err(format!("3 errors in one call:{}", lines.concat())));
        let text = check(Launch::grid([1, 1], [0, 2000])).unwrap_err();
        assert!(
            text.contains("has no threads") && text.contains("2000 threads per block in y"),
            "{text}"
        );
        // Threads of a block and shared memory are limits apart.
        let text = check(Launch::grid([1], [1000]).shared_bytes(700)).unwrap_err();
        assert!(text.starts_with("2 errors in one call:\n"), "{text}");
        assert!(text.contains("1000 threads per block, the limit of the device is 512"), "{text}");
        // Clusters and blocks too.
        let limits = LaunchLimits { cluster: [2, 1, 1], block: [64, 1, 1], ..LaunchLimits::NONE };
        let launch: Launch<3> = Launch::grid([3], [32]).into();
        let error = check_bounds(&launch, &limits, "saxpy").unwrap_err();
        let Error::Several(errors) = &error else { panic!("{error}") };
        assert!(matches!(errors[..], [Error::Cluster { .. }, Error::BlockSize { .. }]), "{error}");
    }

    #[test]
    fn a_block_is_stated_in_as_many_dimensions_as_it_has() {
        let of = |block| LaunchLimits { block, ..LaunchLimits::NONE };
        assert_eq!(stated_block::<1>(&of([0; 3])), None);
        assert_eq!(stated_block(&of([64, 1, 1])), Some([64]));
        assert_eq!(stated_block(&of([64, 1, 1])), Some([64, 1]));
        assert_eq!(stated_block::<1>(&of([64, 2, 1])), None);
        assert_eq!(stated_block(&of([8, 8, 2])), Some([8, 8, 2]));
        assert_eq!(stated_block::<2>(&of([8, 8, 2])), None);
    }

    #[test]
    fn blocks_are_those_that_the_source_is_made_for() {
        let check = |block, limits| check_block(block, &limits, "saxpy").map_err(|e| e.to_string());
        let most = LaunchLimits { max_block_threads: 128, ..LaunchLimits::NONE };
        assert_eq!(check([128, 1, 1], most), Ok(()));
        assert_eq!(check([1 << 40, 1 << 40, 1], LaunchLimits::NONE), Ok(()));
        let text = "kernel `saxpy`: the launch asks for 129 threads per block, the limit of the launch bounds in its \
                    source is 128";
        assert_eq!(check([129, 1, 1], most), Err(text.to_owned()));
        assert!(check([1 << 40, 1 << 40, 1], most).is_err());
        let exact = LaunchLimits { block: [16, 8, 1], ..LaunchLimits::NONE };
        assert_eq!(check([16, 8, 1], exact), Ok(()));
        let text = "kernel `saxpy` is compiled for blocks of [16, 8, 1] threads, but the launch has blocks of [16, 4, \
                    1]: launch blocks of [16, 8, 1], or change the block size that the kernel's source or the \
                    settings state";
        assert_eq!(check([16, 4, 1], exact), Err(text.to_owned()));
    }

    #[test]
    fn grids_are_whole_clusters() {
        let pairs = LaunchLimits { cluster: [2, 1, 1], ..LaunchLimits::NONE };
        let check = |grid| {
            let launch = Launch::grid(grid, [32, 1, 1]);
            check_bounds(&launch, &pairs, "saxpy").map_err(|error| error.to_string())
        };
        assert_eq!(check([4, 3, 1]), Ok(()));
        let text = "kernel `saxpy`: a grid of [3, 4, 1] blocks cannot be divided into clusters of [2, 1, 1] blocks: \
                    make each dimension of the grid a multiple of the cluster's";
        assert_eq!(check([3, 4, 1]), Err(text.to_owned()));
    }

    #[test]
    fn every_error_names_kernel_request_limit_and_device() {
        let cases: [(Launch<3>, &str); 5] = [
            (
                Launch::linear(usize::MAX).into(),
                "72057594037927936 blocks in x, the limit of the device is 2147483647",
            ),
            (
                Launch::grid([1, 70_000], [1, 1]).into(),
                "70000 blocks in y, the limit of the device is 65535",
            ),
            (
                Launch::grid([1; 3], [1, 1, 65]),
                "65 threads per block in z, the limit of the device is 64",
            ),
            (
                Launch::grid([1, 1], [32, 32]).into(),
                "1024 threads per block, the limit of the device is 512",
            ),
            (
                Launch::linear(1).shared_bytes(601).into(),
                "1001 bytes of shared memory, the limit of the device is 1000",
            ),
        ];
        for (launch, text) in cases {
            assert_eq!(check(launch), Err(format!("kernel `saxpy`: the launch asks for {text}")));
        }
        let empty = check(Launch::grid([1, 1], [3, 0]));
        let text = "kernel `saxpy`: the block size [3, 0, 1] has no threads; every dimension must be at least 1";
        assert_eq!(empty, Err(text.to_owned()));
    }

    /// Threads with the numbers 2^64 and 0 would both own the first element.
    #[test]
    fn launches_in_which_two_threads_have_one_number_are_refused() {
        let limits = Limits { grid: [u32::MAX; 3], ..LIMITS };
        let needs = KernelLimits { threads_per_block: 1024, static_shared_bytes: 0 };
        let check = |grid, block| {
            limits.check(&Launch::grid(grid, block), &needs, "saxpy", || "the device")
        };
        assert!(check([1 << 31, 1 << 31, 1], [1, 1, 1]).is_ok());
        for grid in [[1 << 31, 1 << 31, 2], [1 << 31, 1 << 31, 4], [u32::MAX; 3]] {
            let text = check(grid, [1, 1, 1]).unwrap_err().to_string();
            assert!(text.contains("threads in the launch"), "{text}");
            assert!(text.contains("the limit of the device is 9223372036854775807"), "{text}");
        }
        assert!(check([1 << 31, 1 << 31, 1], [2, 1, 1]).is_err());
    }
}

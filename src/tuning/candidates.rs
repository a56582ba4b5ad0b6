//! Candidates of the tuner: the block shapes and builds of a kernel that are worth a try.

use std::collections::BTreeSet;

use super::asked::written;
use crate::{
    compiled::CompiledKernel,
    explanation::Outcome,
    launch::{Launch, usual_block},
    limits::stated_block,
    properties::Limits,
};

/// Blocks in one dimension, besides the usual one.
const LINES: [[u32; 3]; 5] = [[32, 1, 1], [64, 1, 1], [128, 1, 1], [512, 1, 1], [1024, 1, 1]];

/// Shapes in two dimensions, besides the usual one: from a warp's row to a square, for each number of threads. None is
/// narrower than 8, below which the threads of a warp reach too many rows of memory.
const SHAPES: [[u32; 3]; 13] = [
    [16, 16, 1],
    [64, 4, 1],
    [128, 2, 1],
    [256, 1, 1],
    [8, 8, 1],
    [16, 4, 1],
    [32, 2, 1],
    [16, 8, 1],
    [32, 4, 1],
    [64, 2, 1],
    [32, 16, 1],
    [64, 8, 1],
    [32, 32, 1],
];

/// Shapes in three dimensions, besides the usual one.
const BRICKS: [[u32; 3]; 11] = [
    [8, 8, 4],
    [16, 4, 4],
    [32, 8, 1],
    [64, 2, 2],
    [256, 1, 1],
    [4, 4, 4],
    [8, 4, 4],
    [32, 2, 2],
    [8, 8, 8],
    [32, 4, 4],
    [32, 8, 4],
];

/// A launch that is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Candidate<const D: usize> {
    /// x first.
    pub(super) block: [u32; D],
    /// 0 where any build will do.
    pub(super) registers: u8,
}

impl<const D: usize> Candidate<D> {
    pub(super) fn launch(self, sizes: [usize; D]) -> Launch<D> {
        Launch::cover(sizes, self.block).max_registers(self.registers)
    }

    pub(super) fn describe(self) -> String {
        let (block, registers) = (written(&self.block), self.registers);
        match registers {
            0 => format!("blocks of {block} threads"),
            _ => format!("blocks of {block} threads and at most {registers} registers"),
        }
    }
}

/// The launches to try: the usual block first, and no two that run the same build in the same blocks.
pub(super) fn candidates<const D: usize>(
    kernel: &CompiledKernel,
    sizes: [usize; D],
) -> Vec<Candidate<D>>
where
    Launch<D>: Into<Launch<3>>,
{
    let builds = kernel.builds();
    let registers = builds.iter().filter_map(|build| build.limits().registers());
    let registers: BTreeSet<u8> = registers.filter_map(|it| u8::try_from(it).ok()).collect();
    let elements = sizes.iter().map(|size| *size as u64).product();
    let (mut known, mut found) = (BTreeSet::new(), Vec::new());
    let limits = kernel.device().limits();
    for block in blocks(&builds).into_iter().filter(|block| fits(limits, *block, sizes)) {
        for registers in std::iter::once(0).chain(registers.iter().copied()) {
            let candidate = Candidate { block, registers };
            let explanation = kernel.explain(&candidate.launch(sizes).into(), elements);
            let chosen = explanation.builds.iter().position(|it| it.outcome == Outcome::Chosen);
            let Some(build) = chosen.and_then(|place| builds.get(place)) else { continue };
            if known.insert((block, build.fingerprint(), build.entry())) {
                found.push(candidate);
            }
        }
    }
    found
}

/// The blocks to try: those of the tables, and those that the builds are made for.
fn blocks<const D: usize>(builds: &[CompiledKernel]) -> Vec<[u32; D]> {
    let table: &[[u32; 3]] = match D {
        1 => &LINES,
        2 => &SHAPES,
        _ => &BRICKS,
    };
    let shape =
        |sizes: &[u32; 3]| std::array::from_fn(|axis| sizes.get(axis).copied().unwrap_or(1));
    let mut blocks = vec![usual_block()];
    blocks.extend(table.iter().map(shape));
    blocks.extend(builds.iter().filter_map(|build| stated_block(&build.limits())));
    if D == 1 {
        let most = builds.iter().filter_map(|build| build.limits().most_threads());
        blocks.extend(most.map(|most| shape(&[most, 1, 1])));
    }
    blocks
}

/// Whether a device takes such blocks, and as many of them as the sizes need.
fn fits<const D: usize>(limits: &Limits, block: [u32; D], sizes: [usize; D]) -> bool {
    let grid = Launch::cover(sizes, block).grid_size();
    block.iter().product::<u32>() <= limits.threads_per_block
        && block.iter().zip(limits.block).all(|(size, most)| *size <= most)
        && grid.iter().zip(limits.grid).all(|(size, most)| *size <= u64::from(most))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_that_a_device_does_not_take_are_not_tried() {
        let limits = Limits {
            grid: [0x7fff_ffff, 65535, 65535],
            block: [1024, 1024, 64],
            threads_per_block: 512,
            shared_bytes: 0,
            warp_size: 32,
        };
        assert!(fits(&limits, [32, 16], [100, 100]));
        assert!(!fits(&limits, [32, 32], [100, 100]));
        assert!(!fits(&limits, [2, 2, 128], [100, 100, 100]));
        // A low block needs more of them than there can be.
        assert!(fits(&limits, [256, 2], [100, 131_070]));
        assert!(!fits(&limits, [256, 1], [100, 131_070]));
    }

    #[test]
    fn no_shape_is_tried_twice_and_none_is_larger_than_a_block_can_be() {
        fn check<const D: usize>(count: usize) {
            let all = blocks::<D>(&[]);
            assert_eq!((all.len(), all[0]), (count, usual_block()));
            assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), count);
            let threads = |block: &[u32; D]| block.iter().product::<u32>();
            assert!(all.iter().all(|block| (32..=1024).contains(&threads(block))), "{all:?}");
        }
        check::<1>(6);
        check::<2>(14);
        check::<3>(12);
    }
}

//! Layouts of fragments: the elements that each lane holds.

use super::element::{Element, Product};
use crate::intrinsics;

/// A layout of fragments over the lanes of a warp.
///
/// [`Self::MMA`] is that of PTX's `mma.sync`. In the others each lane has the whole rows of A and columns
/// of B that its elements of the product need, so that lanes exchange nothing:
/// - [`Self::SOFTWARE`]: the product is spread as by `mma.sync`;
/// - [`Self::MFMA`]: a block of 4 by 4 for each 4 lanes, as AMD's `v_mfma_*_4x4x*_16b_*` have them, half
///   of whose 16 blocks are in a warp of 32;
/// - [`Self::WMMA`]: as AMD's `v_wmma_*_16x16x16_*`, whose columns 8 to 15 do rows again that are in
///   other registers.
///
/// PTX ISA, "Warp-level matrix instructions"; AMD's "CDNA3" and "RDNA3" instruction set guides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout(u32);

impl Layout {
    pub(super) const SOFTWARE: Self = Self(0);
    pub(super) const MMA: Self = Self(1);
    pub(super) const MFMA: Self = Self(2);
    pub(super) const WMMA: Self = Self(3);

    /// The layout that the target uses for fragments of this element.
    #[inline(always)]
    pub(super) fn of<E: Element>() -> Self {
        Self(intrinsics::tensor_layout(E::KIND))
    }

    /// How many registers a lane has of A.
    #[inline(always)]
    pub(super) fn a_registers<S: Product<E>, E: Element>(self) -> usize {
        let row = S::K / E::PER_REGISTER;
        match self {
            Self::MMA => S::M * row / 32,
            Self::SOFTWARE => S::M / 8 * row,
            _ => row,
        }
    }

    /// How many registers a lane has of B.
    #[inline(always)]
    pub(super) fn b_registers<S: Product<E>, E: Element>(self) -> usize {
        let column = S::K / E::PER_REGISTER;
        match self {
            Self::MMA => column / 4,
            Self::SOFTWARE => 2 * column,
            _ => column,
        }
    }

    /// Row and first column of a register of A.
    #[inline(always)]
    pub(super) fn a<S: Product<E>, E: Element>(
        self,
        lane: usize,
        register: usize,
    ) -> (usize, usize) {
        let (each, row) = (E::PER_REGISTER, S::K / E::PER_REGISTER);
        match self {
            Self::MMA => {
                let (half, part) =
                    if S::M == 16 { (register % 2, register / 2) } else { (0, register) };
                (lane / 4 + 8 * half, (4 * part + lane % 4) * each)
            }
            Self::SOFTWARE => (lane / 4 + 8 * (register / row), register % row * each),
            Self::MFMA => (lane / 4 % 4 * 4 + lane % 4, register * each),
            _ => (lane % 16, register * each),
        }
    }

    /// First row and column of a register of B.
    #[inline(always)]
    pub(super) fn b<S: Product<E>, E: Element>(
        self,
        lane: usize,
        register: usize,
    ) -> (usize, usize) {
        let (each, column) = (E::PER_REGISTER, S::K / E::PER_REGISTER);
        match self {
            Self::MMA => ((4 * register + lane % 4) * each, lane / 4),
            Self::SOFTWARE => (register % column * each, lane % 4 * 2 + register / column),
            Self::MFMA => (register * each, lane / 16 * 4 + lane % 4),
            _ => (register * each, lane % 8),
        }
    }

    /// Row and column of an element of the product.
    #[inline(always)]
    pub(super) fn sum(self, lane: usize, index: usize) -> (usize, usize) {
        match self {
            Self::MFMA => (lane / 4 % 4 * 4 + index, lane / 16 * 4 + lane % 4),
            Self::WMMA => (2 * (index + 4 * (lane / 8 % 2)) + lane / 16, lane % 8),
            _ => (lane / 4 + 8 * (index / 2), lane % 4 * 2 + index % 2),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::element::{
        Bf16, F16, M8N8K4, M16N8K8, M16N8K16, M16N8K32, REGISTERS, SUMS, Shape, Tf32,
    };
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};

    const WIDE: [Layout; 4] = [Layout::SOFTWARE, Layout::MMA, Layout::MFMA, Layout::WMMA];

    fn sums<S: Shape>(layout: Layout) -> BTreeMap<(usize, usize), usize> {
        let each = |lane| (0..S::M * S::N / 32).map(move |index| (layout.sum(lane, index), lane));
        (0..32).flat_map(each).collect()
    }

    /// Every element of the product is in one lane, and every element of A and B in some.
    fn covers<S: Product<E>, E: Element>(layouts: &[Layout]) {
        for &layout in layouts {
            assert!(S::M * S::N / 32 <= SUMS);
            let sums = sums::<S>(layout);
            assert_eq!(sums.len(), S::M * S::N, "{layout:?}");
            assert!(sums.keys().all(|(row, column)| *row < S::M && *column < S::N));
            let (of_a, of_b) = (layout.a_registers::<S, E>(), layout.b_registers::<S, E>());
            assert!(of_a <= REGISTERS && of_b <= REGISTERS, "{of_a} {of_b}");
            let a: BTreeSet<_> = (0..32)
                .flat_map(|lane| (0..of_a).map(move |j| layout.a::<S, E>(lane, j)))
                .collect();
            let b: BTreeSet<_> = (0..32)
                .flat_map(|lane| (0..of_b).map(move |j| layout.b::<S, E>(lane, j)))
                .collect();
            let starts: Vec<usize> = (0..S::K).step_by(E::PER_REGISTER).collect();
            let rows = |&k: &usize| (0..S::M).map(move |row| (row, k));
            let columns = |&k: &usize| (0..S::N).map(move |column| (k, column));
            assert_eq!(a, starts.iter().flat_map(rows).collect(), "{layout:?}");
            assert_eq!(b, starts.iter().flat_map(columns).collect(), "{layout:?}");
        }
    }

    #[test]
    fn fragments_have_every_element() {
        covers::<M16N8K16, F16>(&WIDE);
        covers::<M16N8K16, Bf16>(&WIDE);
        covers::<M16N8K8, Tf32>(&WIDE);
        covers::<M16N8K32, i8>(&WIDE);
        covers::<M8N8K4, f64>(&WIDE[..2]);
    }

    /// Where lanes exchange nothing, a lane has the row and the column of each of its sums.
    #[test]
    fn lanes_have_what_their_sums_need() {
        for layout in [Layout::SOFTWARE, Layout::MFMA] {
            for (lane, index) in (0..32).flat_map(|lane| (0..4).map(move |index| (lane, index))) {
                let (row, column) = layout.sum(lane, index);
                let b = layout.b_registers::<M16N8K16, F16>();
                assert!((0..b).any(|j| layout.b::<M16N8K16, F16>(lane, j).1 == column));
                let group = if layout == Layout::MFMA {
                    lane / 4 * 4..lane / 4 * 4 + 4
                } else {
                    lane..lane + 1
                };
                let a = layout.a_registers::<M16N8K16, F16>();
                let mut rows = group
                    .flat_map(|lane| (0..a).map(move |j| layout.a::<M16N8K16, F16>(lane, j).0));
                assert!(rows.any(|held| held == row), "{layout:?} {lane} {index}");
            }
        }
    }

    /// Lane 5 of `mma.m16n8k16`, as PTX ISA 9.7.14.5.8 has it.
    #[test]
    fn the_layout_of_mma_is_that_of_ptx() {
        let a: Vec<_> = (0..4).map(|j| Layout::MMA.a::<M16N8K16, F16>(5, j)).collect();
        assert_eq!(a, [(1, 2), (9, 2), (1, 10), (9, 10)]);
        let b: Vec<_> = (0..2).map(|j| Layout::MMA.b::<M16N8K16, F16>(5, j)).collect();
        assert_eq!(b, [(2, 1), (10, 1)]);
        let sums: Vec<_> = (0..4).map(|index| Layout::MMA.sum(5, index)).collect();
        assert_eq!(sums, [(1, 2), (1, 3), (9, 2), (9, 3)]);
    }
}

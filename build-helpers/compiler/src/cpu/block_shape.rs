//! What is known of the size of blocks when a kernel is compiled.

use kernelmill_artifact::{Dimension, Signature};

/// The threads of the shortest vectors.
pub(super) const LEAST_LANES: u32 = 4;

/// What is known of the size of all blocks of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BlockShape {
    /// Nothing.
    Any,
    /// They have one thread along y and z, or the kernel does not ask which one along y a thread is.
    Row,
    /// All have this size.
    Exact([u32; 3]),
}

impl BlockShape {
    /// What the signature of a kernel says, and whether its source asks for the place of a thread along y.
    ///
    /// What lowering adds, as the place of a panic, asks for it in every kernel.
    pub(super) fn of(signature: &Signature, asks_for_y: bool) -> Self {
        match (signature.limits.block, signature.dimension) {
            _ if !asks_for_y => Self::Row,
            ([0, 0, 0], Dimension::One) => Self::Row,
            ([0, 0, 0], Dimension::Two | Dimension::Three | Dimension::Any) => Self::Any,
            (block, _) => Self::Exact(block),
        }
    }

    /// The threads of vectors along x where a processor has vectors of `most`.
    pub(super) fn lanes(self, most: u32) -> u32 {
        match self {
            Self::Exact([width, ..]) => lanes_of_row(width, most),
            Self::Any | Self::Row => most,
        }
    }
}

/// The threads of vectors for rows of `width` threads where a processor has vectors of `most`: fewer where a row has fewer,
/// since a vector that lacks threads is run under a mask. The most that divide the row, or else the fewest that hold it.
pub(super) fn lanes_of_row(width: u32, most: u32) -> u32 {
    if width >= most {
        return most;
    }
    let mut lanes = most;
    while lanes > LEAST_LANES {
        lanes /= 2;
        if width.is_multiple_of(lanes) {
            return lanes;
        }
    }
    width.next_power_of_two().clamp(LEAST_LANES.min(most), most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrow_rows_have_vectors_that_are_full() {
        let of = |most: u32, widths: &[u32]| -> Vec<u32> {
            widths.iter().map(|width| lanes_of_row(*width, most)).collect()
        };
        assert_eq!(of(16, &[1, 3, 4, 8, 12, 16, 20, 24, 64]), [4, 4, 4, 8, 4, 16, 16, 16, 16]);
        assert_eq!(of(16, &[5, 6, 9, 15]), [8, 8, 16, 16], "as few as hold the row");
        assert_eq!(of(8, &[2, 4, 7, 8, 12]), [4, 4, 8, 8, 8]);
        assert_eq!(of(4, &[1, 3, 4, 5]), [4; 4]);
        assert_eq!(of(1, &[1, 3, 16]), [1; 3], "scalar code stays what it is");
    }

    #[test]
    fn vectors_are_shorter_only_where_all_blocks_are_narrow() {
        assert_eq!(BlockShape::Exact([8, 8, 1]).lanes(16), 8);
        assert_eq!(BlockShape::Any.lanes(16), 16);
        assert_eq!(BlockShape::Row.lanes(16), 16);
    }
}

//! Checks of `kernels/boxes.rs`, against plain Rust.

use crate::{Check, Context, Outcome, compare::same};
use kernelmill::{Launch, Swizzle, TensorMap, TensorMapMut};

pub(crate) const CHECKS: &[Check] = &[
    Check::new("boxes_of_one", one),
    Check::new("boxes_of_two", two),
    Check::new("boxes_of_three", three),
    Check::new("boxes_of_four", four),
    Check::new("boxes_of_five", five),
    Check::new("boxes_moved", moved),
    Check::new("boxes_of_five_written", five_written),
];

/// A tensor as plain Rust has it, the innermost dimension first.
struct Tensor<const D: usize> {
    sizes: [usize; D],
    strides: [usize; D],
    boxes: [usize; D],
}

impl<const D: usize> Tensor<D> {
    /// The index in memory of each element of the box at a place; `None` outside of the tensor.
    fn indices(&self, start: [i64; D]) -> Vec<Option<usize>> {
        let count = self.boxes.iter().product::<usize>();
        let index = |number: usize| {
            let (mut rest, mut index) = (number, 0);
            for (d, first) in start.iter().enumerate() {
                let at = usize::try_from(first + (rest % self.boxes[d]) as i64).ok()?;
                rest /= self.boxes[d];
                index += if at < self.sizes[d] { at * self.strides[d] } else { return None };
            }
            Some(index)
        };
        (0..count).map(index).collect()
    }

    /// The boxes that the kernels write out: `count` of them, `step` apart.
    fn boxes<T: Copy + Default>(
        &self,
        memory: &[T],
        first: [i32; D],
        (step, count): (i32, u32),
    ) -> Vec<T> {
        let mut written = Vec::new();
        for number in 0..i64::from(count) {
            let mut start = first.map(i64::from);
            start[0] += i64::from(step) * number;
            let indices = self.indices(start).into_iter();
            written.extend(indices.map(|it| it.map_or(T::default(), |it| memory[it])));
        }
        written
    }
}

/// A check of boxes that are read: with edges that hang over on every side.
macro_rules! boxes_read {
    ($($check:ident $kernel:ident $element:ty, $rank:literal: $tensor:expr, $first:expr,
        $boxes:expr, $swizzle:expr;)*) => {$(
        fn $check(on: &Context) -> Outcome {
            let tensor: Tensor<$rank> = $tensor;
            let last = tensor.sizes.iter().zip(tensor.strides).map(|(n, stride)| (n - 1) * stride);
            // Units of 16 bytes, so that tensors begin with one where guard pages end them with a page.
            let len = (last.sum::<usize>() + 1).next_multiple_of(16 / size_of::<$element>());
            let memory: Vec<$element> = (0..len).map(|i| (i % 251 + 1) as $element).collect();
            let (step, count) = $boxes;
            let expected = tensor.boxes(&memory, $first, (step, count));
            let memory = on.device.upload(&memory)?;
            for swizzle in $swizzle {
                // More threads than elements, fewer, and a number that does not divide them.
                for threads in [256, 32, 50] {
                    let mut out = on.device.zeros::<$element>(expected.len())?;
                    let (sizes, strides) = (tensor.sizes, tensor.strides);
                    let map = TensorMap::tiled(&memory, sizes, strides, tensor.boxes)?;
                    let (map, launch) = (map.swizzled(swizzle)?, Launch::grid([2], [threads]));
                    on.kernels.$kernel(&on.stream, launch, &map, $first, step, count, &mut out)?;
                    same(&out.download()?, &expected)?;
                }
            }
            Ok(())
        }
    )*};
}

boxes_read! {
    one boxes_of_one u8, 1:
        Tensor { sizes: [1000], strides: [1], boxes: [208] },
        [-100], (150, 9), [Swizzle::None];
    two boxes_of_two f32, 2:
        Tensor { sizes: [50, 19], strides: [1, 52], boxes: [16, 12] },
        [-3, 11], (9, 8), [Swizzle::None, Swizzle::Bytes64];
    three boxes_of_three u16, 3:
        Tensor { sizes: [40, 9, 5], strides: [1, 48, 488], boxes: [16, 4, 3] },
        [-8, 7, -1], (8, 7), [Swizzle::None, Swizzle::Bytes32];
    four boxes_of_four i64, 4:
        Tensor { sizes: [20, 3, 2, 4], strides: [1, 24, 80, 240], boxes: [16, 2, 2, 3] },
        [-10, 2, 1, -2], (7, 5), [Swizzle::None, Swizzle::Bytes128];
    five boxes_of_five f64, 5:
        Tensor { sizes: [6, 2, 3, 2, 3], strides: [1, 6, 12, 36, 72], boxes: [4, 2, 2, 2, 2] },
        [-1, 1, -1, 0, 2], (3, 3), [Swizzle::None, Swizzle::Bytes32];
}

fn moved(on: &Context) -> Outcome {
    // The last column of boxes hangs over by 3 elements, the last row by 2; rows have 4 bytes too many.
    let from = Tensor { sizes: [45, 22], strides: [1, 48], boxes: [16, 8] };
    let to = Tensor { sizes: [45, 22], strides: [1, 56], boxes: [16, 8] };
    let values: Vec<f32> = (0..48 * 22).map(|i| i as f32).collect();
    let mut expected = vec![-1.0_f32; 56 * 22];
    for (x, y) in (0..45).flat_map(|x| (0..22).map(move |y| (x, y))) {
        expected[56 * y + x] = 2.0 * values[48 * y + x];
    }
    let input = on.device.upload(&values)?;
    for (swizzle, other) in [(Swizzle::None, Swizzle::Bytes64), (Swizzle::Bytes64, Swizzle::None)] {
        let mut output = on.device.upload(&vec![-1.0_f32; 56 * 22])?;
        let source = TensorMap::tiled(&input, from.sizes, from.strides, from.boxes)?;
        let target = TensorMapMut::tiled(&mut output, to.sizes, to.strides, to.boxes)?;
        let (source, mut target) = (source.swizzled(swizzle)?, target.swizzled(other)?);
        let launch = Launch::grid([3, 3], [64, 1]);
        on.kernels.boxes_moved(&on.stream, launch, &source, &mut target)?;
        same(&output.download()?, &expected)?;
    }
    Ok(())
}

fn five_written(on: &Context) -> Outcome {
    // Rows that end within 16 bytes, and rows that do not; boxes hang over on both sides.
    [7, 8].into_iter().try_for_each(|width| five_written_of(on, width))
}

fn five_written_of(on: &Context, width: usize) -> Outcome {
    let sizes = [width, 3, 2, 2, 2];
    let to = Tensor { sizes, strides: [1, 8, 24, 48, 96], boxes: [4, 3, 1, 2, 2] };
    let (count, blocks) = (to.boxes.iter().product::<usize>(), 3);
    let values: Vec<f64> = (0..count * blocks).map(|i| i as f64 + 0.5).collect();
    let mut expected = vec![0.0; 192];
    for block in 0..blocks {
        let start = [block as i64 * 4 - 2, -1, 0, 0, 0];
        for (number, index) in to.indices(start).into_iter().enumerate() {
            if let Some(index) = index {
                expected[index] = values[block * count + number];
            }
        }
    }
    let (input, mut output) = (on.device.upload(&values)?, on.device.zeros::<f64>(192)?);
    let mut map = TensorMapMut::tiled(&mut output, to.sizes, to.strides, to.boxes)?;
    let launch = Launch::grid([blocks as u32], [64]);
    on.kernels.boxes_of_five_written(&on.stream, launch, &input, &mut map)?;
    same(&output.download()?, &expected)
}

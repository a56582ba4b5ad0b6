//! Tensor maps: tensors in device memory, of which kernels copy tiles (TMA).
//!
//! Guaranteed: a map that is made fits the tensor memory accelerator of every device, so that what is
//! tested on one runs on the others. A tile is a box in the words of CUDA's driver API, and in those of
//! the messages here.

use std::fmt;

use kernelmill_artifact::{MAX_TENSOR_RANK, TensorMapData};

use crate::{
    copy::DeviceCopy,
    device::Device,
    error::{Error, Result},
    hal::{Memory, TensorFormat},
    slice::{BufferSlice, BufferSliceMut},
};

/// An element of a tensor whose tiles are copied: integers and floats of 1 to 8 bytes.
pub trait TensorElement: DeviceCopy + sealed::Sealed {}

mod sealed {
    /// Only the numbers of `kernelmill_device::tensor::TensorElement`.
    pub trait Sealed {}
}

macro_rules! elements {
    ($($ty:ty)*) => {$(
        impl sealed::Sealed for $ty {}
        impl TensorElement for $ty {}
    )*};
}

elements!(i8 i16 i32 i64 u8 u16 u32 u64 f32 f64);

/// How the rows of a tile are laid out in shared memory, so that threads that read a column of it use
/// different banks: units of 16 bytes change places within each row, by the number of the row.
///
/// A row of the tile, its innermost dimension, has exactly as many bytes as the name says.
/// `kernelmill_device::tensor::TensorMap::place` says where an element lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Swizzle {
    /// One row after the other.
    #[default]
    None,
    /// Rows of 32 bytes.
    Bytes32,
    /// Rows of 64 bytes.
    Bytes64,
    /// Rows of 128 bytes.
    Bytes128,
}

impl Swizzle {
    /// The bytes of a row; `None` where any number is right.
    pub(crate) const fn row(self) -> Option<usize> {
        match self {
            Self::None => None,
            Self::Bytes32 => Some(32),
            Self::Bytes64 => Some(64),
            Self::Bytes128 => Some(128),
        }
    }

    /// The bits of a row's number that are put over those of a unit.
    const fn mask(self) -> u32 {
        match self {
            Self::None => 0,
            Self::Bytes32 => 1,
            Self::Bytes64 => 3,
            Self::Bytes128 => 7,
        }
    }
}

/// A tensor of `D` dimensions in memory that kernels read, and the tile of it that they copy to shared
/// memory at a time: the argument for a kernel's `&TensorMap<T, D>`.
///
/// On NVIDIA's processors from sm_90 on a unit of the processor's own copies
/// (`cp.async.bulk.tensor`); elsewhere the threads of the block do. The restrictions are those of that
/// unit, and the same on every device.
///
/// ```
/// use kernelmill::{Device, TensorMap};
///
/// let device = Device::cpu()?;
/// let picture = device.zeros::<f32>(1000 * 600)?;
/// // 1000 by 600, 1000 elements from a row to the next, in tiles of 32 by 8.
/// let map = TensorMap::tiled(&picture, [1000, 600], [1, 1000], [32, 8])?;
/// let wrong = TensorMap::tiled(&picture, [1001, 600], [1, 1001], [30, 8]).unwrap_err();
/// assert_eq!(
///     wrong.to_string(),
///     "a tensor map of f32, sizes [1001, 600], strides [1, 1001], box [30, 8]: \
///      its last element has the index 600599, but the buffer has 600000 elements; \
///      stride 1 is 4004 bytes, which is not a multiple of 16; \
///      a row of the box is 120 bytes, which is not a multiple of 16"
/// );
/// # Ok::<(), kernelmill::Error>(())
/// ```
pub struct TensorMap<'b, T, const D: usize> {
    memory: BufferSlice<'b, T>,
    data: TensorMapData,
    tiling: Tiling<D>,
}

/// A tensor of `D` dimensions in memory that kernels write tiles to: the argument for a kernel's
/// `&TensorMapMut<T, D>`. As [`TensorMap`].
pub struct TensorMapMut<'b, T, const D: usize> {
    memory: BufferSliceMut<'b, T>,
    data: TensorMapData,
    tiling: Tiling<D>,
}

/// What a map is made from.
#[derive(Clone, Copy)]
struct Tiling<const D: usize> {
    sizes: [usize; D],
    strides: [usize; D],
    box_sizes: [usize; D],
    swizzle: Swizzle,
}

macro_rules! maps {
    ($($name:ident of $slice:ident),*) => {$(
        impl<'b, T: TensorElement, const D: usize> $name<'b, T, D> {
            /// The tensor of these sizes in a buffer, or in a slice of one, whose elements in
            /// dimension `d` are `strides[d]` elements apart, in tiles of these sizes. The innermost
            /// dimension is first, and its stride is 1.
            ///
            /// # Errors
            ///
            /// [`Error::TensorMap`] with everything that is wrong: the first element lies at a multiple
            /// of 16 bytes, strides are multiples of 16 bytes and less than 2^40, sizes at most 2^32,
            /// the last element is within the memory, a tile has 1 to 256 elements in each dimension and
            /// rows of a multiple of 16 bytes. [`Error::Cuda`] where the driver refuses it nevertheless.
            pub fn tiled(
                memory: impl Into<$slice<'b, T>>,
                sizes: [usize; D],
                strides: [usize; D],
                box_sizes: [usize; D],
            ) -> Result<Self> {
                let tiling = Tiling { sizes, strides, box_sizes, swizzle: Swizzle::None };
                Self::new(memory.into(), tiling)
            }

            /// The same with units of 16 bytes in other places.
            ///
            /// # Errors
            ///
            /// [`Error::TensorMap`] where a row of the tile is of another size.
            pub fn swizzled(self, swizzle: Swizzle) -> Result<Self> {
                Self::new(self.memory, Tiling { swizzle, ..self.tiling })
            }

            fn new(memory: $slice<'b, T>, tiling: Tiling<D>) -> Result<Self> {
                let place = (memory.memory(), memory.offset_bytes(), memory.len());
                let data = tiling.encode::<T>(memory.device(), place)?;
                Ok(Self { memory, data, tiling })
            }
        }
    )*};
}

maps!(TensorMap of BufferSlice, TensorMapMut of BufferSliceMut);

impl<'b, T, const D: usize> TensorMap<'b, T, D> {
    pub(crate) fn parts(&self) -> (BufferSlice<'b, T>, TensorMapData) {
        (self.memory.clone(), self.data)
    }
}

impl<T, const D: usize> TensorMapMut<'_, T, D> {
    pub(crate) fn parts(&mut self) -> (BufferSliceMut<'_, T>, TensorMapData) {
        (self.memory.slice_mut(..), self.data)
    }
}

/// The most elements of a dimension.
const MOST: u64 = 1 << 32;
/// The most bytes from an element to the next one of a dimension, and one more.
const FARTHEST: u64 = 1 << 40;
/// The most elements of a tile in a dimension.
const LARGEST_BOX: usize = 256;
/// What addresses, strides and rows of tiles are multiples of, in bytes.
const UNIT: u64 = 16;

impl<const D: usize> Tiling<D> {
    /// What crosses, of elements in memory that begin at an offset in bytes and are so many.
    fn encode<T: TensorElement>(
        &self,
        device: &Device,
        (memory, offset, len): (Option<&dyn Memory>, usize, usize),
    ) -> Result<TensorMapData> {
        const { assert!(D >= 1 && D <= MAX_TENSOR_RANK, "tensors have 1 to 5 dimensions") };
        let address = memory.map_or(0, Memory::address) + offset as u64;
        let faults = self.faults(size_of::<T>() as u64, address, len);
        if !faults.is_empty() {
            let Self { sizes, strides, box_sizes, .. } = self;
            let subject = format!(
                "{}, sizes {sizes:?}, strides {strides:?}, box {box_sizes:?}",
                std::any::type_name::<T>()
            );
            return Err(Error::TensorMap { subject, faults });
        }
        let mut data =
            TensorMapData { address, swizzle: self.swizzle.mask(), ..TensorMapData::NOTHING };
        for d in 0..D {
            data.sizes[d] = self.sizes[d] as u64;
            data.strides[d] = (self.strides[d] * size_of::<T>()) as u64;
            data.box_sizes[d] = self.box_sizes[d] as u32;
        }
        let format = TensorFormat { element_bytes: size_of::<T>(), rank: D };
        if let Some(descriptor) = device.context().tensor_map(&data, format)? {
            data.descriptor = descriptor;
            data.is_encoded = 1;
        }
        Ok(data)
    }

    /// Everything that is wrong with it.
    fn faults(&self, bytes: u64, address: u64, len: usize) -> Vec<String> {
        let mut faults = Vec::new();
        let mut check = |holds: bool, fault: String| {
            if !holds {
                faults.push(fault);
            }
        };
        check(
            address.is_multiple_of(UNIT),
            format!("its first element is {} bytes past a multiple of {UNIT}", address % UNIT),
        );
        for (d, size) in self.sizes.iter().enumerate() {
            check(
                (1..=MOST).contains(&(*size as u64)),
                format!("size {d} is {size}, but must be 1 to {MOST}"),
            );
        }
        check(self.strides[0] == 1, format!("stride 0 is {}, but must be 1", self.strides[0]));
        let span = self.sizes.iter().zip(&self.strides);
        let last = span.fold(0_usize, |last, (size, stride)| {
            last.saturating_add(size.saturating_sub(1).saturating_mul(*stride))
        });
        check(
            last < len,
            format!("its last element has the index {last}, but the buffer has {len} elements"),
        );
        for (d, stride) in self.strides.iter().enumerate().skip(1) {
            let wide = (*stride as u64).saturating_mul(bytes);
            check(
                wide.is_multiple_of(UNIT),
                format!("stride {d} is {wide} bytes, which is not a multiple of {UNIT}"),
            );
            check(
                (1..FARTHEST).contains(&wide),
                format!("stride {d} is {wide} bytes, but must be less than {FARTHEST} and not 0"),
            );
        }
        for (d, size) in self.box_sizes.iter().enumerate() {
            check(
                (1..=LARGEST_BOX).contains(size),
                format!("the box has the size {size} in dimension {d}, but it must be 1 to 256"),
            );
        }
        let row = (self.box_sizes[0] as u64).saturating_mul(bytes);
        check(
            row.is_multiple_of(UNIT),
            format!("a row of the box is {row} bytes, which is not a multiple of {UNIT}"),
        );
        if let Some(wanted) = self.swizzle.row() {
            check(
                row == wanted as u64,
                format!("a row of the box is {row} bytes, but `{:?}` needs {wanted}", self.swizzle),
            );
        }
        faults
    }
}

macro_rules! debug {
    ($($name:ident)*) => {$(
        impl<T, const D: usize> fmt::Debug for $name<'_, T, D> {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                let Tiling { sizes, strides, box_sizes, swizzle } = &self.tiling;
                formatter
                    .debug_struct(stringify!($name))
                    .field("sizes", sizes)
                    .field("strides", strides)
                    .field("box_sizes", box_sizes)
                    .field("swizzle", swizzle)
                    .finish_non_exhaustive()
            }
        }
    )*};
}

debug!(TensorMap TensorMapMut);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_faults_are_told_at_once() {
        let device = Device::cpu().unwrap();
        let mut buffer = device.zeros::<u16>(100).unwrap();
        let map = TensorMap::tiled(buffer.slice(1..), [0, 9], [2, 7], [300, 0]);
        let Err(Error::TensorMap { faults, .. }) = map else { panic!("it is refused") };
        let expected = [
            "its first element is 2 bytes past a multiple of 16",
            "size 0 is 0, but must be 1 to 4294967296",
            "stride 0 is 2, but must be 1",
            "stride 1 is 14 bytes, which is not a multiple of 16",
            "the box has the size 300 in dimension 0, but it must be 1 to 256",
            "the box has the size 0 in dimension 1, but it must be 1 to 256",
            "a row of the box is 600 bytes, which is not a multiple of 16",
        ];
        assert_eq!(faults, expected);
        let far = TensorMap::tiled(&buffer, [8, 2], [1, 1 << 39], [8, 1]).unwrap_err();
        let text = far.to_string();
        assert!(
            text.contains("has the index 549755813895, but the buffer has 100 elements"),
            "{text}"
        );
        assert!(text.contains("stride 1 is 1099511627776 bytes, but must be less"), "{text}");
        let still = TensorMap::tiled(&buffer, [8, 2], [1, 0], [8, 1]).unwrap_err();
        assert!(still.to_string().contains("stride 1 is 0 bytes"), "{still}");
        let swizzled = TensorMapMut::tiled(&mut buffer, [8, 2], [1, 8], [8, 1]).unwrap();
        let error = swizzled.swizzled(Swizzle::Bytes64).unwrap_err().to_string();
        assert!(error.ends_with("a row of the box is 16 bytes, but `Bytes64` needs 64"), "{error}");
    }

    #[test]
    fn what_crosses_has_bytes_for_strides_and_nothing_past_the_last_dimension() {
        let device = Device::cpu().unwrap();
        let buffer = device.zeros::<f64>(1000).unwrap();
        let map = TensorMap::tiled(buffer.slice(4..), [9, 5, 3], [1, 10, 60], [4, 2, 1]).unwrap();
        let map = map.swizzled(Swizzle::Bytes32).unwrap();
        let (memory, data) = map.parts();
        let start = memory.memory().unwrap().address();
        assert_eq!(data.address, start + 32);
        assert_eq!(data.sizes, [9, 5, 3, 0, 0]);
        assert_eq!(data.strides, [8, 80, 480, 0, 0]);
        assert_eq!((data.box_sizes, data.swizzle), ([4, 2, 1, 0, 0], 1));
        assert_eq!((data.is_encoded, data.descriptor), (0, [0; 16]));
    }
}

//! Tensor maps: what `cp.async.bulk.tensor` (TMA) copies tiles by, in a layout of the emulator's own.
//!
//! The layout of the driver's `CUtensorMap` is not documented. (CUDA Driver API, "Tensor Map Object
//! Management"; PTX ISA, "Tensors".)

/// A tensor in device memory, and the tile of it that is copied at a time. The innermost dimension is
/// first.
///
/// ```
/// use ptx_emulator::TensorMap;
/// let map = TensorMap {
///     address: 4096,
///     element_bytes: 4,
///     sizes: vec![100, 50],
///     strides: vec![400],
///     box_sizes: vec![32, 8],
///     swizzle: 0,
/// };
/// let words = map.encode().unwrap();
/// assert_eq!(TensorMap::decode(&words), Some(map.clone()));
/// assert!(TensorMap { strides: vec![402], ..map }.encode().is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorMap {
    /// Address of the first element, a multiple of 16.
    pub address: u64,
    /// Bytes of an element: 1, 2, 4 or 8.
    pub element_bytes: u32,
    /// Elements in each dimension, 1 to 5 of them.
    pub sizes: Vec<u64>,
    /// Bytes from an element to the next one in each dimension but the first.
    pub strides: Vec<u64>,
    /// Elements of a tile in each dimension (the driver API's box).
    pub box_sizes: Vec<u32>,
    /// Bytes of the rows in which units of 16 bytes change places: 0, 32, 64 or 128.
    pub swizzle: u32,
}

/// The words of a descriptor.
pub(crate) const WORDS: usize = 16;

/// What a descriptor starts with.
const MAGIC: u64 = 0x7074_782d_626f_7865;

const UNIT: u64 = 16;

impl TensorMap {
    /// The descriptor: 128 bytes that only this emulator understands.
    ///
    /// # Errors
    ///
    /// What `cuTensorMapEncodeTiled` refuses, by its documentation.
    pub fn encode(&self) -> Result<[u64; WORDS], String> {
        self.check()?;
        let mut words = [0; WORDS];
        words[0] = MAGIC;
        words[1] = self.address;
        words[2] = self.sizes.len() as u64
            | u64::from(self.element_bytes) << 8
            | u64::from(self.swizzle) << 16;
        for (place, size) in self.sizes.iter().enumerate() {
            words[3 + place] = *size;
        }
        for (place, stride) in self.strides.iter().enumerate() {
            words[8 + place] = *stride;
        }
        for (place, size) in self.box_sizes.iter().enumerate() {
            words[12 + place / 4] |= u64::from(*size) << (16 * (place % 4));
        }
        words[WORDS - 1] = checksum(&words);
        Ok(words)
    }

    /// Reads a descriptor; `None` where it is none that [`TensorMap::encode`] has written.
    #[must_use]
    pub fn decode(words: &[u64; WORDS]) -> Option<TensorMap> {
        if words[0] != MAGIC || words[WORDS - 1] != checksum(words) {
            return None;
        }
        let rank = (words[2] & 0xff) as usize;
        let map = TensorMap {
            address: words[1],
            element_bytes: (words[2] >> 8 & 0xff) as u32,
            sizes: words.get(3..3 + rank)?.to_vec(),
            strides: words.get(8..8 + rank.checked_sub(1)?)?.to_vec(),
            box_sizes: (0..rank)
                .map(|place| (words[12 + place / 4] >> (16 * (place % 4)) & 0xffff) as u32)
                .collect(),
            swizzle: (words[2] >> 16) as u32,
        };
        map.check().is_ok().then_some(map)
    }

    fn check(&self) -> Result<(), String> {
        let rank = self.sizes.len();
        let fail = |holds: bool, fault: &str| if holds { Ok(()) } else { Err(fault.to_owned()) };
        fail((1..=5).contains(&rank), "a tensor must have 1 to 5 dimensions")?;
        fail(self.strides.len() + 1 == rank, "there must be one stride fewer than dimensions")?;
        fail(self.box_sizes.len() == rank, "the box must have as many dimensions as the tensor")?;
        fail(matches!(self.element_bytes, 1 | 2 | 4 | 8), "elements must have 1, 2, 4 or 8 bytes")?;
        fail(self.address.is_multiple_of(UNIT), "the address must be a multiple of 16")?;
        let is_size = |size: &u64| (1..=1 << 32).contains(size);
        fail(self.sizes.iter().all(is_size), "sizes must be 1 to 2^32")?;
        let is_stride = |stride: &u64| stride.is_multiple_of(UNIT) && *stride < 1 << 40;
        fail(self.strides.iter().all(is_stride), "strides must be multiples of 16 below 2^40")?;
        let is_box = |size: &u32| (1..=256).contains(size);
        fail(
            self.box_sizes.iter().all(is_box),
            "the box must have 1 to 256 elements in each dimension",
        )?;
        let row = self.box_sizes[0] * self.element_bytes;
        fail(
            u64::from(row).is_multiple_of(UNIT),
            "a row of the box must be a multiple of 16 bytes",
        )?;
        fail(
            matches!(self.swizzle, 0 | 32 | 64 | 128),
            "the swizzling must be of 0, 32, 64 or 128 bytes",
        )?;
        fail(
            self.swizzle == 0 || row <= self.swizzle,
            "a row of the box must not be longer than the swizzling",
        )
    }

    /// The alignment of a tile in shared memory, in bytes, and the bits of an address that are
    /// put over those of a unit.
    pub(crate) fn placing(&self) -> (u64, u64) {
        let mask = u64::from(self.swizzle / 16).saturating_sub(1);
        (128, mask)
    }
}

fn checksum(words: &[u64; WORDS]) -> u64 {
    words[..WORDS - 1]
        .iter()
        .fold(MAGIC, |sum, word| (sum ^ word).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(29))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map() -> TensorMap {
        TensorMap {
            address: 1 << 40,
            element_bytes: 2,
            sizes: vec![1 << 32, 2, 3, 4, 5],
            strides: vec![16, 32, 48, (1 << 40) - 16],
            box_sizes: vec![32, 256, 1, 2, 3],
            swizzle: 64,
        }
    }

    #[test]
    fn a_descriptor_that_was_changed_is_none() {
        let words = map().encode().unwrap();
        assert_eq!(TensorMap::decode(&words), Some(map()));
        for word in 0..WORDS {
            let mut changed = words;
            changed[word] ^= 1;
            assert_eq!(TensorMap::decode(&changed), None, "word {word}");
        }
        assert_eq!(TensorMap::decode(&[0; WORDS]), None);
    }

    #[test]
    fn what_the_driver_refuses_is_refused() {
        let faulty: [fn(&mut TensorMap); 9] = [
            |map| map.address = 8,
            |map| map.element_bytes = 3,
            |map| map.sizes[1] = 0,
            |map| map.sizes[0] += 1,
            |map| map.strides[0] = 24,
            |map| map.strides[3] = 1 << 40,
            |map| map.box_sizes[1] = 257,
            |map| map.box_sizes[0] = 4,
            |map| map.box_sizes[0] = 64,
        ];
        for (place, change) in faulty.into_iter().enumerate() {
            let mut map = map();
            change(&mut map);
            assert!(map.encode().is_err(), "change {place}");
        }
        assert!(TensorMap { sizes: vec![], strides: vec![], ..map() }.encode().is_err());
    }
}

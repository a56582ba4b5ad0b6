//! Copies and fills, of rows as well.

use std::{ptr, sync::Arc};

use super::allocation::{self, find};
use crate::base::error::{AsyncError, Error, Result};
use crate::driver;
use crate::emulator::BadAddress;

/// Where bytes are.
#[derive(Clone)]
pub(crate) enum Place {
    /// An address of the program's own memory.
    Host(usize),
    /// An address that a device knows, of the host's memory also.
    Device(u64),
    /// A copy of the program's memory.
    Staged(Arc<[u8]>),
}

/// One side of a copy: rows `pitch` bytes apart, in slices `slice` bytes apart.
#[derive(Clone)]
pub(crate) struct Side {
    pub(crate) place: Place,
    pub(crate) pitch: usize,
    pub(crate) slice: usize,
}

/// A copy of `depth` slices of `height` rows of `width` bytes.
#[derive(Clone)]
pub(crate) struct Copy {
    pub(crate) source: Side,
    pub(crate) target: Side,
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) depth: usize,
    /// The devices that the addresses are seen from, if not the stream's: source and target.
    pub(crate) ordinals: Option<[usize; 2]>,
}

/// A fill of `height` rows of `width` elements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fill {
    pub(crate) address: u64,
    pub(crate) pitch: usize,
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) value: u32,
    /// 1, 2 or 4.
    pub(crate) element_bytes: usize,
}

impl Side {
    /// Bytes that follow each other.
    pub(crate) fn line(place: Place) -> Self {
        Self { place, pitch: 0, slice: 0 }
    }
}

impl Copy {
    /// A copy of bytes that follow each other.
    pub(crate) fn line(source: Place, target: Place, bytes: usize) -> Self {
        let (source, target) = (Side::line(source), Side::line(target));
        Self { source, target, width: bytes, height: 1, depth: 1, ordinals: None }
    }

    /// Checks that what devices know is in one allocation each.
    pub(crate) fn check(&self, ordinal: usize) -> Result<()> {
        let [source, target] = self.ordinals.unwrap_or([ordinal; 2]);
        self.check_side(&self.source, source)?;
        self.check_side(&self.target, target)
    }

    fn check_side(&self, side: &Side, ordinal: usize) -> Result<()> {
        let Place::Device(address) = side.place else { return Ok(()) };
        if [self.width, self.height, self.depth].contains(&0) {
            return Ok(());
        }
        let rows = side.pitch.checked_mul(self.height - 1);
        let slices = side.slice.checked_mul(self.depth - 1);
        let bytes = rows.zip(slices).and_then(|(rows, slices)| rows.checked_add(slices));
        let bytes = bytes.and_then(|bytes| bytes.checked_add(self.width));
        allocation::check(address, bytes.ok_or(Error::CUDA_ERROR_INVALID_VALUE)?, ordinal)
    }

    /// Copies everything.
    pub(crate) fn run(&self, ordinal: usize) -> Result<(), AsyncError> {
        let [source, target] = self.ordinals.unwrap_or([ordinal; 2]);
        let mut row = Vec::new();
        for (slice, line) in (0..self.depth).flat_map(|z| (0..self.height).map(move |y| (z, y))) {
            let at = |side: &Side| slice * side.slice + line * side.pitch;
            let (from, to) = (at(&self.source), at(&self.target));
            let copied = match (&self.source.place, &self.target.place) {
                (Place::Staged(bytes), place) => {
                    put(place, to, &bytes[from..from + self.width], target)
                }
                (from_place, to_place) => {
                    row.resize(self.width, 0);
                    get(from_place, from, &mut row, source)
                        .and_then(|()| put(to_place, to, &row, target))
                }
            };
            copied.map_err(|BadAddress| self.async_error())?;
        }
        Ok(())
    }

    fn async_error(&self) -> AsyncError {
        let name = |place: &Place| match place {
            Place::Host(address) => format!("host address {address:#x}"),
            Place::Device(address) => format!("device address {address:#x}"),
            Place::Staged(_) => "memory of the host".to_owned(),
        };
        let bytes = self.width * self.height * self.depth;
        let (source, target) = (name(&self.source.place), name(&self.target.place));
        let text = format!(
            "a copy of {bytes} bytes from {source} to {target} is outside of allocated memory"
        );
        AsyncError { error: Error::CUDA_ERROR_ILLEGAL_ADDRESS, text }
    }
}

impl Fill {
    /// Checks that the rows are in one allocation, and the address is that of an element.
    pub(crate) fn check(&self, ordinal: usize) -> Result<()> {
        if !self.address.is_multiple_of(self.element_bytes as u64) {
            return Err(Error::CUDA_ERROR_INVALID_VALUE);
        }
        if self.width == 0 || self.height == 0 {
            return Ok(());
        }
        let row =
            self.width.checked_mul(self.element_bytes).ok_or(Error::CUDA_ERROR_INVALID_VALUE)?;
        if self.height > 1 && self.pitch < row {
            return Err(Error::CUDA_ERROR_INVALID_VALUE);
        }
        let rows = self.pitch.checked_mul(self.height - 1);
        let bytes =
            rows.and_then(|rows| rows.checked_add(row)).ok_or(Error::CUDA_ERROR_INVALID_VALUE)?;
        allocation::check(self.address, bytes, ordinal)
    }

    /// Fills everything.
    pub(crate) fn run(&self, ordinal: usize) -> Result<(), AsyncError> {
        let row = self.value.to_le_bytes()[..self.element_bytes].repeat(self.width);
        for line in 0..self.height {
            let filled = put(&Place::Device(self.address), line * self.pitch, &row, ordinal);
            filled.map_err(|BadAddress| {
                let text = format!(
                    "a fill of {} bytes at {:#x} is outside of allocated memory",
                    row.len() * self.height,
                    self.address
                );
                AsyncError { error: Error::CUDA_ERROR_ILLEGAL_ADDRESS, text }
            })?;
        }
        Ok(())
    }
}

/// A copy of the program's memory, made now.
pub(crate) fn stage(address: usize, bytes: usize) -> Arc<[u8]> {
    let mut staged = vec![0; bytes];
    // SAFETY: who passes memory to a copy promises that it can be read when that is called.
    unsafe { ptr::copy(address as *const u8, staged.as_mut_ptr(), bytes) };
    staged.into()
}

/// Reads bytes.
fn get(place: &Place, at: usize, out: &mut [u8], ordinal: usize) -> Result<(), BadAddress> {
    let host = match place {
        Place::Staged(bytes) => {
            out.copy_from_slice(&bytes[at..at + out.len()]);
            return Ok(());
        }
        Place::Host(address) => address + at,
        Place::Device(address) => {
            let address = address + at as u64;
            let found = find(address, ordinal).ok_or(BadAddress)?;
            if !found.kind.is_of_host() {
                let driver = driver::driver().map_err(|_| BadAddress)?;
                return driver.devices[found.owner.ordinal].emulator.read(address, out);
            }
            found
                .contains(address, out.len() as u64)
                .then_some(address as usize)
                .ok_or(BadAddress)?
        }
    };
    // SAFETY: memory of the program's is promised to be readable until the copy is done; memory
    // that is allocated here was found to be long enough.
    unsafe { ptr::copy(host as *const u8, out.as_mut_ptr(), out.len()) };
    Ok(())
}

/// Writes bytes.
fn put(place: &Place, at: usize, bytes: &[u8], ordinal: usize) -> Result<(), BadAddress> {
    let host = match place {
        Place::Staged(_) => return Err(BadAddress),
        Place::Host(address) => address + at,
        Place::Device(address) => {
            let address = address + at as u64;
            let found = find(address, ordinal).ok_or(BadAddress)?;
            if !found.kind.is_of_host() {
                let driver = driver::driver().map_err(|_| BadAddress)?;
                return driver.devices[found.owner.ordinal].emulator.write(address, bytes);
            }
            let long = found.contains(address, bytes.len() as u64);
            long.then_some(address as usize).ok_or(BadAddress)?
        }
    };
    // SAFETY: as in `get`, for writing.
    unsafe { ptr::copy(bytes.as_ptr(), host as *mut u8, bytes.len()) };
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_host_memory_are_copied() {
        let source: Vec<u8> = (0..12).collect();
        let mut target = [0_u8; 8];
        let copy = Copy {
            source: Side { place: Place::Host(source.as_ptr() as usize), pitch: 4, slice: 0 },
            target: Side { place: Place::Host(target.as_mut_ptr() as usize), pitch: 3, slice: 0 },
            width: 2,
            height: 3,
            depth: 1,
            ordinals: None,
        };
        copy.run(0).unwrap();
        assert_eq!(target, [0, 1, 0, 4, 5, 0, 8, 9]);
    }

    #[test]
    fn copies_outside_all_allocations_are_refused() {
        let copy = Copy::line(Place::Device(0x10), Place::Host(0), 4);
        assert_eq!(copy.check(0), Err(Error::CUDA_ERROR_INVALID_VALUE));
        assert_eq!(copy.run(0).unwrap_err().error, Error::CUDA_ERROR_ILLEGAL_ADDRESS);
        assert_eq!(Copy::line(Place::Device(0x10), Place::Host(0), 0).check(0), Ok(()));
    }
}

//! Whether a device rounds a multiplication and an addition once, where a module asks for that: found out once for each device,
//! by an entry point of the module ([`FUSED_PROBES`]).

use kernelmill_artifact::{FUSED, FUSED_PROBES};
use std::sync::OnceLock;
use wgpu::BufferUsages;

use super::{driver::Gpu, interface::Interface, once::Once, staging};
use crate::error::Result;

/// What is known of a device, for `f32` and for `f64`.
#[derive(Default)]
pub(super) struct Fused([OnceLock<bool>; 2]);

/// The entry points of a module that find it out: the module of each, where there is one.
pub(super) struct Probes([Option<Vec<u32>>; 2]);

/// The words of each buffer: 1 + 2^-12 twice, and 1 + 2^-27 twice, whose products lose 2^-24 and 2^-54 by their rounding.
const NUMBERS: [&[u32]; 2] = [
    &[0x3f80_0800, 0x3f80_0800, 0, 0],
    &[0x0200_0000, 0x3ff0_0000, 0x0200_0000, 0x3ff0_0000, 0, 0, 0, 0],
];

impl Probes {
    /// Those of a module.
    pub(super) fn of(interface: &Interface, words: &[u32]) -> Self {
        let known = |name: &str| interface.entries().any(|(entry, _)| entry == name);
        Self(FUSED_PROBES.map(|name| known(name).then(|| interface.numbered(name, words))))
    }

    /// The numbers in a module that stand for what is known of the device, and what takes their place.
    pub(super) fn answers(&self, gpu: &Gpu, fused: &Fused) -> Result<Vec<(u32, u32)>> {
        let mut answers = Vec::new();
        for (index, number) in FUSED.into_iter().enumerate() {
            let Some(module) = &self.0[index] else { continue };
            let known = &fused.0[index];
            let is_fused = match known.get() {
                Some(is_fused) => *is_fused,
                None => {
                    let found = probe(gpu, index, module)?;
                    *known.get_or_init(|| found)
                }
            };
            answers.push((number, u32::from(is_fused)));
        }
        Ok(answers)
    }
}

/// Computes the numbers on the device.
fn probe(gpu: &Gpu, index: usize, words: &[u32]) -> Result<bool> {
    let (name, numbers) = (FUSED_PROBES[index], NUMBERS[index]);
    let subject = || format!("`{name}`");
    let bytes: Vec<u8> = numbers.iter().flat_map(|word| word.to_le_bytes()).collect();
    let usage = BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
    let buffer = staging::temporary(gpu, bytes.len() as u64, usage)?;
    let usage = BufferUsages::MAP_READ | BufferUsages::COPY_DST;
    let staging = staging::temporary(gpu, bytes.len() as u64, usage)?;
    gpu.scoped("write_buffer", subject, || gpu.queue.write_buffer(&buffer, 0, &bytes))?;
    // SAFETY: it is what naga has written for a module that is valid.
    let once = unsafe { Once::new(gpu, name, words.to_vec())? };
    let submission = gpu.submit("dispatch_workgroups", subject, |encoder| {
        once.run(gpu, encoder, &buffer);
        encoder.copy_buffer_to_buffer(&buffer, 0, &staging, 0, bytes.len() as u64);
    })?;
    let mut read = vec![0; bytes.len()];
    staging::read_mapped(gpu, (&staging, Some(submission)), 0, &mut read)?;
    let sum = &read[bytes.len() / 4 * 3..];
    Ok(sum.iter().any(|byte| *byte != 0))
}

//! `CUdevice_attribute`.

use super::profile::Profile;

/// Largest pitch of a two-dimensional copy.
const MAX_PITCH: i32 = i32::MAX;

/// The highest number of an attribute that CUDA 12.8 has.
const LAST: i32 = 143;

/// The value of an attribute; `None` for numbers that are no attribute.
pub(super) fn value(profile: &Profile, ordinal: usize, attribute: i32) -> Option<i32> {
    if !(1..=LAST).contains(&attribute) {
        return None;
    }
    let limit = limits(profile, attribute).or_else(|| of_multiprocessors(profile, attribute));
    let value = limit.or_else(|| clocks(profile, attribute));
    let value = value.map(|value| i32::try_from(value).unwrap_or(i32::MAX));
    value.or_else(|| features(profile, ordinal, attribute)).or(Some(0))
}

/// Limits of launches.
fn limits(profile: &Profile, attribute: i32) -> Option<u32> {
    Some(match attribute {
        1 => Profile::THREADS_PER_BLOCK,
        2..=4 => Profile::BLOCK[attribute as usize - 2],
        5..=7 => Profile::GRID[attribute as usize - 5],
        8 => Profile::SHARED_WITHOUT_ASKING,
        9 => 64 << 10,
        10 => Profile::WARP,
        12 | 82 => Profile::REGISTERS,
        97 => profile.shared_per_block,
        111 => Profile::SHARED_RESERVED,
        _ => return None,
    })
}

/// What multiprocessors have.
fn of_multiprocessors(profile: &Profile, attribute: i32) -> Option<u32> {
    Some(match attribute {
        16 => profile.multiprocessors,
        39 => profile.threads_per_multiprocessor,
        75 => profile.major,
        76 => profile.minor,
        81 => profile.shared_per_multiprocessor,
        106 => profile.blocks_per_multiprocessor,
        _ => return None,
    })
}

/// Frequencies and widths.
fn clocks(profile: &Profile, attribute: i32) -> Option<u32> {
    Some(match attribute {
        13 => profile.clock_khz,
        36 => profile.memory_clock_khz,
        37 => profile.memory_bus_bits,
        38 => profile.l2_bytes,
        // Single to double precision throughput.
        87 => 2,
        // Engines for copies beside kernels.
        40 => 2,
        _ => return None,
    })
}

/// What the device can do, and where it sits.
fn features(profile: &Profile, ordinal: usize, attribute: i32) -> Option<i32> {
    Some(match attribute {
        11 => MAX_PITCH,
        // Alignment of textures, and of their pitch.
        14 => 512,
        51 => 32,
        // Overlap of copies, mapped host memory, concurrent kernels, unified addressing.
        15 | 19 | 31 | 41 => 1,
        // PCI bus, device and domain.
        33 => ordinal as i32 + 1,
        34 | 50 => 0,
        // Stream priorities, caching of globals and locals.
        78..=80 => 1,
        // Managed memory, host atomics over the link, managed memory while kernels run, and
        // through the host's page tables, compute preemption.
        83 | 89 | 90 => 1,
        86 | 88 | 100 => 0,
        // Host pointers of registered memory.
        91 | 99 => 1,
        // Cooperative launches.
        95 => 1,
        // Pools of memory, with no handle that other processes could import.
        115 => 1,
        119 => 0,
        // Clusters.
        120 => 0,
        // L2 that persists, and accesses with a window.
        108 | 109 => {
            if profile.major >= 8 {
                (profile.l2_bytes / 2) as i32
            } else {
                0
            }
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_those_of_the_profile() {
        let hopper = Profile::named("90").unwrap();
        assert_eq!(value(&hopper, 0, 1), Some(1024));
        assert_eq!(value(&hopper, 0, 4), Some(64));
        assert_eq!(value(&hopper, 0, 5), Some(0x7fff_ffff));
        assert_eq!(value(&hopper, 0, 75), Some(9));
        assert_eq!(value(&hopper, 0, 97), Some(232_448));
        assert_eq!(value(&hopper, 0, 0), None);
        assert_eq!(value(&hopper, 0, 10_000), None);
    }
}

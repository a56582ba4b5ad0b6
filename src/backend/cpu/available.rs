//! Memory of the host that is available for the large arenas of blocks.
//!
//! Linux hands out addresses for more memory than there is, and ends the process when it uses them. So what
//! blocks keep between barriers, 16 GiB for 1024 threads with 16 MiB of local variables each, is compared
//! with what there is before it is allocated. Guaranteed: all large arenas together take no more than what was
//! available when the last of them was made.

use std::{
    fs,
    sync::{Mutex, PoisonError},
};

/// Arenas of fewer bytes are not asked about.
const LARGE_BYTES: usize = 64 << 20;

/// The bytes of all large arenas.
static TAKEN: Mutex<usize> = Mutex::new(0);

/// What an arena takes of the memory that is available, until it is dropped.
#[derive(Debug)]
pub(super) struct Share(usize);

impl Share {
    /// A share of `bytes` bytes; `None` where there is not so much.
    pub(super) fn take(bytes: usize) -> Option<Self> {
        if bytes < LARGE_BYTES {
            return Some(Self(0));
        }
        let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        let new = taken.checked_add(bytes)?;
        if available().is_some_and(|available| !fits(new, *taken, available)) {
            return None;
        }
        *taken = new;
        Some(Self(bytes))
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        if self.0 > 0 {
            *TAKEN.lock().unwrap_or_else(PoisonError::into_inner) -= self.0;
        }
    }
}

/// Whether arenas may take `new` bytes, where they have taken `taken` before. Whether what they have is in use
/// already, and so no longer available, is not known.
fn fits(new: usize, taken: usize, available: usize) -> bool {
    new <= available.saturating_add(taken) / 2
}

/// The bytes that are available to this process; `None` where the system does not say.
fn available() -> Option<usize> {
    let of_machine = meminfo(&fs::read_to_string("/proc/meminfo").ok()?)?;
    let number = |file| {
        let text = fs::read_to_string(format!("/sys/fs/cgroup/memory.{file}")).ok()?;
        text.trim().parse::<usize>().ok()
    };
    let of_group = number("max").zip(number("current"));
    let of_group = of_group.map_or(usize::MAX, |(most, used)| most.saturating_sub(used));
    Some(of_machine.min(of_group))
}

/// The bytes that Linux says are available.
fn meminfo(text: &str) -> Option<usize> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.split_whitespace().next()?.parse::<usize>().ok()?.checked_mul(1 << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arenas_take_what_is_available_together() {
        let gib = 1 << 30;
        assert!(fits(4 * gib, 0, 8 * gib) && !fits(5 * gib, 0, 8 * gib));
        // The first one is not in use yet, or is.
        assert!(fits(6 * gib, 4 * gib, 8 * gib) && !fits(8 * gib, 4 * gib, 8 * gib));
        assert!(!fits(8 * gib, 4 * gib, 4 * gib));
    }

    #[test]
    fn what_linux_says_is_read() {
        let text = "MemTotal:       24689764 kB\nMemFree:  1 kB\nMemAvailable:   22041828 kB\n";
        assert_eq!(meminfo(text), Some(22_041_828 << 10));
        assert_eq!(meminfo("MemTotal: 1 kB\n"), None);
    }

    #[test]
    #[cfg(all(target_os = "linux", not(miri)))]
    fn a_share_of_all_memory_is_refused_and_a_dropped_one_is_given_back() {
        let available = available().unwrap();
        assert!(Share::take(available).is_none());
        for _ in 0..8 {
            drop(Share::take(available / 3).unwrap());
        }
        assert!(Share::take(usize::MAX).is_none());
        assert!(Share::take(1).is_some());
    }
}

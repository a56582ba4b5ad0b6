//! Profiles: the properties of the devices of an architecture.

/// The properties of an architecture, those of its first data-centre GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Profile {
    /// As `FAKE_CUDA_ARCH` has it, for example `90a`.
    pub(crate) name: &'static str,
    pub(crate) major: u32,
    pub(crate) minor: u32,
    /// Whether PTX for this architecture alone, such as `sm_90a`, can be loaded.
    pub(crate) specific: bool,
    pub(crate) multiprocessors: u32,
    pub(crate) threads_per_multiprocessor: u32,
    pub(crate) blocks_per_multiprocessor: u32,
    /// Bytes of shared memory that a block can have, after asking.
    pub(crate) shared_per_block: u32,
    pub(crate) shared_per_multiprocessor: u32,
    pub(crate) l2_bytes: u32,
    pub(crate) clock_khz: u32,
    pub(crate) memory_clock_khz: u32,
    pub(crate) memory_bus_bits: u32,
}

impl Profile {
    /// Bytes of shared memory that a block can have without asking.
    pub(crate) const SHARED_WITHOUT_ASKING: u32 = 48 << 10;
    /// Bytes of shared memory that the system takes of each block.
    pub(crate) const SHARED_RESERVED: u32 = 1 << 10;
    pub(crate) const THREADS_PER_BLOCK: u32 = 1024;
    pub(crate) const BLOCK: [u32; 3] = [1024, 1024, 64];
    pub(crate) const GRID: [u32; 3] = [0x7fff_ffff, 65535, 65535];
    pub(crate) const REGISTERS: u32 = 65536;
    pub(crate) const WARP: u32 = 32;

    /// The profile with this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        PROFILES.iter().copied().find(|profile| profile.name == name)
    }

    /// The names of all profiles.
    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        PROFILES.iter().map(|profile| profile.name)
    }

    /// The compute capability as PTX has it, for example 75.
    pub(crate) fn capability(&self) -> u32 {
        self.major * 10 + self.minor
    }

    /// Whether PTX for a target such as `sm_90a` runs on the device.
    pub(crate) fn runs(&self, target: u32, suffix: Option<char>) -> bool {
        match suffix {
            None => target <= self.capability(),
            // Family targets run on the devices of their family.
            Some('f') => target / 10 == self.major && target <= self.capability() && self.specific,
            Some(_) => target == self.capability() && self.specific,
        }
    }
}

const TURING: Profile = Profile {
    name: "75",
    major: 7,
    minor: 5,
    specific: false,
    multiprocessors: 40,
    threads_per_multiprocessor: 1024,
    blocks_per_multiprocessor: 16,
    shared_per_block: 64 << 10,
    shared_per_multiprocessor: 64 << 10,
    l2_bytes: 4 << 20,
    clock_khz: 1_590_000,
    memory_clock_khz: 5_001_000,
    memory_bus_bits: 256,
};

const AMPERE: Profile = Profile {
    name: "80",
    major: 8,
    minor: 0,
    multiprocessors: 108,
    threads_per_multiprocessor: 2048,
    blocks_per_multiprocessor: 32,
    shared_per_block: 163 << 10,
    shared_per_multiprocessor: 164 << 10,
    l2_bytes: 40 << 20,
    clock_khz: 1_410_000,
    memory_clock_khz: 1_215_000,
    memory_bus_bits: 5120,
    ..TURING
};

const GA102: Profile = Profile {
    name: "86",
    minor: 6,
    multiprocessors: 84,
    threads_per_multiprocessor: 1536,
    blocks_per_multiprocessor: 16,
    shared_per_block: 99 << 10,
    shared_per_multiprocessor: 100 << 10,
    l2_bytes: 6 << 20,
    clock_khz: 1_740_000,
    memory_clock_khz: 7_251_000,
    memory_bus_bits: 384,
    ..AMPERE
};

const ADA: Profile = Profile {
    name: "89",
    minor: 9,
    multiprocessors: 142,
    blocks_per_multiprocessor: 24,
    l2_bytes: 96 << 20,
    clock_khz: 2_490_000,
    memory_clock_khz: 9_001_000,
    ..GA102
};

const HOPPER: Profile = Profile {
    name: "90",
    major: 9,
    multiprocessors: 132,
    shared_per_block: 227 << 10,
    shared_per_multiprocessor: 228 << 10,
    l2_bytes: 50 << 20,
    clock_khz: 1_980_000,
    memory_clock_khz: 2_619_000,
    ..AMPERE
};

const BLACKWELL: Profile =
    Profile { name: "100", major: 10, multiprocessors: 148, l2_bytes: 126 << 20, ..HOPPER };

const PROFILES: &[Profile] = &[
    TURING,
    AMPERE,
    GA102,
    ADA,
    HOPPER,
    Profile { name: "90a", specific: true, ..HOPPER },
    BLACKWELL,
    Profile { name: "100a", specific: true, ..BLACKWELL },
    Profile { name: "103", minor: 3, ..BLACKWELL },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ptx_for_older_devices_runs() {
        let hopper = Profile::named("90").unwrap();
        assert!(hopper.runs(75, None) && hopper.runs(90, None));
        assert!(!hopper.runs(100, None) && !hopper.runs(90, Some('a')));
        assert!(Profile::named("90a").unwrap().runs(90, Some('a')));
        assert!(!Profile::named("100a").unwrap().runs(90, Some('a')));
        assert!(!Profile::named("75").unwrap().runs(80, None));
        assert!(Profile::named("103").unwrap().runs(103, None));
    }
}

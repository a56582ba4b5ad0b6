//! Thresholds: the most that a kernel may take of a device. A build with a kernel that takes more fails.

use kernelmill_artifact::Resources;

/// The most that a kernel may take of a device; `None` where it may take any number. What is not known of a binary is not
/// compared: the registers of PTX, for example.
///
/// ```no_run
/// use kernelmill_build::{Build, Thresholds};
/// Build::new().thresholds(Thresholds { registers: Some(64), spills: Some(0), ..Thresholds::NONE }).compile();
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Thresholds {
    /// Registers of a thread.
    pub registers: Option<u32>,
    /// Bytes of a thread that spills store and load together; on AMD's GPUs eight for each spilled register.
    pub spills: Option<u32>,
    /// Bytes of a thread's stack.
    pub stack_bytes: Option<u32>,
    /// Bytes of shared memory that a block has without that of its launch.
    pub shared_bytes: Option<u32>,
}

/// The keys, as they are written in TOML.
pub(crate) const THRESHOLD_KEYS: [&str; 4] = ["registers", "spills", "stack-bytes", "shared-bytes"];

impl Thresholds {
    /// Any number of everything.
    pub const NONE: Self =
        Self { registers: None, spills: None, stack_bytes: None, shared_bytes: None };

    /// These, and where there is none, the others.
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            registers: self.registers.or(other.registers),
            spills: self.spills.or(other.spills),
            stack_bytes: self.stack_bytes.or(other.stack_bytes),
            shared_bytes: self.shared_bytes.or(other.shared_bytes),
        }
    }

    /// What is over them: the key, the number, what it counts, and the most that is allowed.
    pub(crate) fn exceeded(
        &self,
        resources: &Resources,
    ) -> Vec<(&'static str, u32, &'static str, u32)> {
        let [registers, spills, stack, shared] = THRESHOLD_KEYS;
        let numbers = [
            (registers, resources.registers, "registers a thread", self.registers),
            (spills, resources.spills(), "bytes of spills a thread", self.spills),
            (stack, resources.stack_bytes, "bytes of stack a thread", self.stack_bytes),
            (
                shared,
                resources.static_shared_bytes,
                "bytes of shared memory a block",
                self.shared_bytes,
            ),
        ];
        let over = |(key, number, what, most): (_, Option<u32>, _, Option<u32>)| {
            let (number, most) = (number?, most?);
            (number > most).then_some((key, number, what, most))
        };
        numbers.into_iter().filter_map(over).collect()
    }
}

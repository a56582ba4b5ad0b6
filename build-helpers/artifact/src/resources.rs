//! Resources of compiled kernels: what a kernel takes of a device, as far as its compiler says.

/// What a kernel takes of a device. A resource that its target does not have, or whose compiler does not say it, is
/// `None`.
///
/// - **cubins** have all but `scalar_registers` and `spilled_registers`, as ptxas reports them.
/// - **AMD code objects** count spilled registers, and not the bytes of stores and loads apart.
/// - **Objects for the CPU** have `stack_bytes`, `static_shared_bytes` and `max_threads`.
/// - **PTX** has none before a driver has compiled it.
///
/// ```
/// use kernelmill_artifact::Resources;
///
/// let cubin = Resources { spill_stores: Some(24), spill_loads: Some(40), ..Resources::UNKNOWN };
/// assert_eq!(cubin.spills(), Some(64));
/// let code_object = Resources { spilled_registers: Some(3), ..Resources::UNKNOWN };
/// assert_eq!(code_object.spills(), Some(24));
/// assert_eq!(Resources::UNKNOWN.spills(), None);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Resources {
    /// Registers of a thread, of 32 bits.
    pub registers: Option<u32>,
    /// Scalar registers of a wave, on AMD's GPUs.
    pub scalar_registers: Option<u32>,
    /// Bytes of a thread that stores of spilled registers write, one for each such instruction in the code.
    pub spill_stores: Option<u32>,
    /// Bytes of a thread that loads of spilled registers read, in the same way.
    pub spill_loads: Option<u32>,
    /// Registers of a thread that are spilled, on AMD's GPUs.
    pub spilled_registers: Option<u32>,
    /// Bytes of a thread on its stack: local variables and, on GPUs, spilled registers. `None` where recursion leaves
    /// it open, too.
    pub stack_bytes: Option<u32>,
    /// Bytes of a block of static shared memory, with what the architecture keeps for itself.
    pub static_shared_bytes: Option<u32>,
    /// Bytes of constant memory: the parameters with what stands before them, and constants.
    pub constant_bytes: Option<u32>,
    /// The most threads of a block.
    pub max_threads: Option<u32>,
}

/// The bytes of a register.
const REGISTER_BYTES: u32 = 4;

impl Resources {
    /// Nothing is known.
    pub const UNKNOWN: Self = Self {
        registers: None,
        scalar_registers: None,
        spill_stores: None,
        spill_loads: None,
        spilled_registers: None,
        stack_bytes: None,
        static_shared_bytes: None,
        constant_bytes: None,
        max_threads: None,
    };

    /// The bytes of a thread that its spills store and load together, which a limit of spills is compared with. Where
    /// only spilled registers are counted, each is stored once and loaded once.
    #[must_use]
    pub fn spills(&self) -> Option<u32> {
        match (self.spill_stores, self.spill_loads) {
            (None, None) => {
                self.spilled_registers.map(|count| count.saturating_mul(2 * REGISTER_BYTES))
            }
            (stores, loads) => Some(stores.unwrap_or(0).saturating_add(loads.unwrap_or(0))),
        }
    }

    /// These resources, and those of `other` where these are not known.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            registers: self.registers.or(other.registers),
            scalar_registers: self.scalar_registers.or(other.scalar_registers),
            spill_stores: self.spill_stores.or(other.spill_stores),
            spill_loads: self.spill_loads.or(other.spill_loads),
            spilled_registers: self.spilled_registers.or(other.spilled_registers),
            stack_bytes: self.stack_bytes.or(other.stack_bytes),
            static_shared_bytes: self.static_shared_bytes.or(other.static_shared_bytes),
            constant_bytes: self.constant_bytes.or(other.constant_bytes),
            max_threads: self.max_threads.or(other.max_threads),
        }
    }
}

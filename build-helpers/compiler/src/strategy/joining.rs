//! Why the blocks of a kernel are not joined, as data.

use std::fmt::{self, Display};

use serde::{Deserialize, Serialize};

/// Why neighbouring blocks of a kernel are not run as one larger block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub enum JoinRefusal {
    /// The code is scalar.
    Scalar,
    /// Its threads wait for each other.
    Waits,
    /// Its author says how large blocks are, or how many make a cluster.
    StatedBlock,
    /// It uses shared memory.
    SharedMemory,
    /// It uses what a block and its threads have besides indices and sizes: lanes of warps, thread exits, tests of the stack.
    BlockFacts,
    /// A thread may wait for what a thread of another block writes: atomic operations whose result is used, volatile
    /// accesses, fences.
    MemoryOrder,
    /// It calls code that the compiler does not know.
    UnknownCall,
    /// An index or a size along the axis of the vectors is used otherwise than in `block_index * block_dim + thread_index`
    /// and `block_dim * grid_dim`.
    Indices {
        /// The axis: 0 for x, 1 for y.
        axis: u32,
    },
}

impl Display for JoinRefusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Scalar => "the code is scalar",
            Self::Waits => "threads of a block wait for each other",
            Self::StatedBlock => "the source states a block size, launch bounds or a cluster",
            Self::SharedMemory => "it uses shared memory",
            Self::BlockFacts => "it uses more of its block than indices and sizes",
            Self::MemoryOrder => "it uses results of atomic operations, volatile accesses or fences",
            Self::UnknownCall => "it calls code that is not known here",
            Self::Indices { axis } => {
                let axis = if *axis == 0 { "x" } else { "y" };
                return write!(
                    formatter,
                    "indices along {axis} are used otherwise than in `block_index * block_dim + thread_index`"
                );
            }
        })
    }
}

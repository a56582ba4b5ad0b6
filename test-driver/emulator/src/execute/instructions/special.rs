//! Special registers.
//!
//! PTX ISA, "Special Registers".

use crate::execute::machine::{Instruction, Machine};

macro_rules! special {
    ($($(#[$documentation:meta])* $name:ident,)*) => {
        /// A special register.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Special {
            $($(#[$documentation])* $name,)*
        }

        /// All of them, each at its own number.
        const ALL: &[Special] = &[$(Special::$name),*];
    };
}

special! {
    Tid,
    Ntid,
    Ctaid,
    Nctaid,
    LaneId,
    WarpId,
    NumberOfWarps,
    SmId,
    NumberOfSms,
    GridId,
    LaneMaskEq,
    LaneMaskLe,
    LaneMaskLt,
    LaneMaskGe,
    LaneMaskGt,
    Clock,
    ClockHigh,
    Clock64,
    GlobalTimer,
    GlobalTimerLow,
    GlobalTimerHigh,
    DynamicShared,
    TotalShared,
    WarpSize,
    /// Cluster registers of a grid without clusters: each block is its own cluster.
    One,
    Zero,
    ClusterId,
    NumberOfClusters,
    ReservedShared,
    /// Address of the workspace that the blocks of a cooperative launch synchronise through.
    WorkspaceHigh,
    WorkspaceLow,
}

impl Special {
    /// The register called `name` and its dimension; all of them but a few have only one.
    pub(crate) fn named(name: &str) -> Option<(Special, u32)> {
        let (base, member) = match name.split_once('.') {
            Some((base, _)) if !Special::is_vector(base) => return None,
            Some((base, member)) => (base, member),
            None => (name, "x"),
        };
        let dimension = match member {
            "x" => 0,
            "y" => 1,
            "z" => 2,
            // The fourth member of a vector is always zero.
            "w" => return Some((Special::Zero, 0)),
            _ => return None,
        };
        Some((Special::base(base)?, dimension))
    }

    pub(crate) fn is_vector(base: &str) -> bool {
        let plain = base.strip_prefix("%cluster_").or_else(|| base.strip_prefix('%'));
        matches!(plain, Some("tid" | "ntid" | "ctaid" | "nctaid" | "clusterid" | "nclusterid"))
    }

    fn base(name: &str) -> Option<Special> {
        use Special::*;
        Some(match name {
            "%tid" => Tid,
            "%ntid" => Ntid,
            "%ctaid" => Ctaid,
            "%nctaid" => Nctaid,
            "%laneid" => LaneId,
            "%warpid" => WarpId,
            "%nwarpid" => NumberOfWarps,
            "%smid" => SmId,
            "%nsmid" => NumberOfSms,
            "%gridid" => GridId,
            "%lanemask_eq" => LaneMaskEq,
            "%lanemask_le" => LaneMaskLe,
            "%lanemask_lt" => LaneMaskLt,
            "%lanemask_ge" => LaneMaskGe,
            "%lanemask_gt" => LaneMaskGt,
            "%clock" => Clock,
            "%clock_hi" => ClockHigh,
            "%clock64" => Clock64,
            "%globaltimer" => GlobalTimer,
            "%globaltimer_lo" => GlobalTimerLow,
            "%globaltimer_hi" => GlobalTimerHigh,
            "%dynamic_smem_size" => DynamicShared,
            "%total_smem_size" | "%aggr_smem_size" => TotalShared,
            "WARP_SZ" => WarpSize,
            "%cluster_nctaid" | "%cluster_nctarank" => One,
            "%cluster_ctaid" | "%cluster_ctarank" | "%is_explicit_cluster" => Zero,
            "%clusterid" => ClusterId,
            "%nclusterid" => NumberOfClusters,
            "%reserved_smem_offset_begin"
            | "%reserved_smem_offset_end"
            | "%reserved_smem_offset_cap" => ReservedShared,
            "%envreg1" => WorkspaceHigh,
            "%envreg2" => WorkspaceLow,
            "%current_graph_exec" => Zero,
            // Counters of performance monitors, which nobody has set.
            _ if name.strip_prefix("%pm").is_some_and(is_counter) => Zero,
            _ if name.strip_prefix("%envreg")?.parse::<u32>().is_ok_and(|number| number < 32) => {
                Zero
            }
            _ => return None,
        })
    }

    /// Whether it is another each time that it is read.
    pub(crate) fn is_clock(self) -> bool {
        use Special::*;
        matches!(self, Clock | ClockHigh | Clock64 | GlobalTimer | GlobalTimerLow | GlobalTimerHigh)
    }

    fn value(self, m: &Machine<'_>, dimension: usize) -> u64 {
        use Special::*;
        let lane = m.thread.lane();
        let clock = m.clock.wrapping_add(u64::from(m.thread.pc));
        let threads: u32 = m.grid.block.iter().product();
        match self {
            Tid => u64::from(m.thread.index[dimension]),
            Ntid => u64::from(m.grid.block[dimension]),
            Ctaid | ClusterId => u64::from(m.block.index[dimension]),
            Nctaid | NumberOfClusters => u64::from(m.grid.grid[dimension]),
            LaneId => u64::from(lane),
            WarpId => u64::from(m.thread.warp()),
            NumberOfWarps => u64::from(threads.div_ceil(32)),
            SmId => u64::from(m.block.number % m.grid.multiprocessors),
            NumberOfSms => u64::from(m.grid.multiprocessors),
            LaneMaskEq => 1 << lane,
            LaneMaskLe => (2 << lane) - 1,
            LaneMaskLt => (1 << lane) - 1,
            LaneMaskGe => 0xffff_ffff & !((1u64 << lane) - 1),
            LaneMaskGt => 0xffff_ffff & !((2u64 << lane) - 1),
            Clock | GlobalTimerLow => clock & 0xffff_ffff,
            ClockHigh | GlobalTimerHigh => clock >> 32,
            Clock64 | GlobalTimer => clock,
            DynamicShared => u64::from(m.grid.dynamic_shared_bytes),
            TotalShared => m.block.shared.len() as u64,
            WarpSize => 32,
            WorkspaceHigh => m.grid.workspace >> 32,
            WorkspaceLow => m.grid.workspace & 0xffff_ffff,
            GridId => m.grid.number,
            One => 1,
            Zero | ReservedShared => 0,
        }
    }
}

/// Whether `%pm` with this end is a counter.
fn is_counter(number: &str) -> bool {
    let plain = number.strip_suffix("_64").unwrap_or(number);
    plain.len() == 1 && plain.bytes().all(|digit| (b'0'..=b'7').contains(&digit))
}

/// Reads special register `x` of dimension `e` into `d`.
pub(crate) fn read_special(m: &mut Machine<'_>, i: &Instruction, pc: u32) -> u32 {
    m.thread.pc = pc;
    let value = ALL[i.x as usize].value(m, i.e as usize);
    m.set(i.d, value);
    pc + 1
}

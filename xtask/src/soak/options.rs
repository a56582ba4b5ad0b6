//! The arguments of `cargo xtask soak`.

/// How much is tried.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The builds that are killed; of the other faults a part of that.
    #[arg(long, default_value_t = 2_000)]
    pub(super) kills: u64,
    /// The kernels that are compiled for every kind of target.
    #[arg(long, default_value_t = 10_000)]
    pub(super) compilations: u64,
    /// The inputs of each fuzzer of parsers.
    #[arg(long, default_value_t = 1_000_000)]
    pub(super) fuzz: u64,
    /// Stops each test when its share of so many minutes is over, however much was tried.
    #[arg(long)]
    pub(super) minutes: Option<u64>,
    /// The first seed, in place of one that the commit gives.
    #[arg(long)]
    pub(super) seed: Option<u64>,
}

//! Workers: what one core of the host keeps while it runs blocks.

use crate::checks::Detector;
use crate::execute::machine::Code;
use crate::execute::state::Grid;
use crate::memory::Window;

/// What one core keeps while it runs blocks.
pub(crate) struct Worker<'p> {
    /// Of each function.
    pub(crate) code: &'p [Code],
    /// Instructions run.
    pub(crate) steps: u64,
    /// How often each instruction of each function ran.
    pub(crate) hits: Vec<Vec<u64>>,
    pub(crate) windows: Vec<Vec<Window>>,
    pub(crate) detector: Option<Box<Detector>>,
    pub(crate) printed: Vec<(u32, String)>,
}

impl<'p> Worker<'p> {
    pub(crate) fn new(grid: &Grid<'_>, code: &'p [Code]) -> Worker<'p> {
        let mut lengths = vec![0; grid.program.functions.len()];
        for index in grid.program.reachable(grid.entry) {
            lengths[index] = code[index].plain.len();
        }
        Worker {
            code,
            steps: 0,
            hits: lengths.iter().map(|&length| vec![0; length]).collect(),
            windows: lengths.iter().map(|&length| vec![Window::default(); length]).collect(),
            detector: grid.options.detect_races.then(|| Box::new(Detector::new())),
            printed: Vec::new(),
        }
    }
}

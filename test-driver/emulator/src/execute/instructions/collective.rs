//! The handler of warp collectives: the thread waits for the other lanes.

use crate::execute::machine::{Instruction, Machine, STOP, Stop};
use crate::execute::state::Wait;
use crate::launch::FaultKind;

/// Waits for the lanes in slot `a` for operation `x`.
pub(crate) fn wait(m: &mut Machine<'_>, i: &Instruction, _: u32) -> u32 {
    let mask = m.get(i.a) as u32;
    let lane = m.thread.lane();
    if mask >> lane & 1 == 0 {
        m.fail(FaultKind::MissingLanes { mask, missing: 1 << lane });
        return STOP;
    }
    m.thread.wait = Wait::Warp { operation: i.x, mask };
    m.stop(Stop::Wait)
}

//! Shuffles, votes and matches.
//!
//! PTX ISA, "shfl.sync", "vote.sync" and "match.sync".

use super::lanes::Lanes;
use crate::execute::state::Undefined;
use crate::program::{Shuffle, ShuffleMode, Vote};

/// The lane that `lane` reads, and whether it lies in the segment.
fn source(mode: ShuffleMode, lane: u32, b: u32, c: u32) -> (u32, bool) {
    let (segment, clamp) = (c >> 8 & 31, c & 31);
    let highest = (lane & segment) | (clamp & !segment);
    let lowest = lane & segment;
    let b = b & 31;
    let (from, inside) = match mode {
        ShuffleMode::Up => (lane.wrapping_sub(b), lane as i32 - b as i32 >= highest as i32),
        ShuffleMode::Down => (lane + b, lane + b <= highest),
        ShuffleMode::Butterfly => (lane ^ b, lane ^ b <= highest),
        ShuffleMode::Index => (lowest | (b & !segment), lowest | (b & !segment) <= highest),
    };
    if inside { (from, true) } else { (lane, false) }
}

/// A shuffle. What a lane that takes no part would give is undefined: with `poison` the register is so,
/// else it gets the own value.
pub(super) fn shuffle(lanes: &mut Lanes<'_>, op: &Shuffle, poison: bool) {
    let mut values = [0; 32];
    let mut undefined = [None; 32];
    for lane in lanes.each() {
        values[lane] = lanes.get(lane, op.a) & 0xffff_ffff;
        undefined[lane] = lanes.threads[lane].undefined(op.a);
    }
    for lane in lanes.each() {
        let (operand, control) = (lanes.get(lane, op.b) as u32, lanes.get(lane, op.c) as u32);
        let (from, inside) = source(op.mode, lane as u32, operand, control);
        let takes_part = lanes.members >> from & 1 == 1;
        let from = if takes_part { from as usize } else { lane };
        lanes.set(lane, op.d, values[from]);
        let thread = &mut lanes.threads[lane];
        if takes_part {
            thread.define(op.d, undefined[from]);
        } else if poison {
            thread.tainted = true;
            thread.define(op.d, Some(Undefined::Shuffled(op.d)));
        }
        lanes.set(lane, op.p, u64::from(inside));
    }
}

pub(super) fn vote(lanes: &mut Lanes<'_>, mode: Vote, d: u32, a: u32) {
    let yes = lanes.each().filter(|&lane| lanes.get(lane, a) & 1 == 1);
    let ballot: u32 = yes.map(|lane| 1 << lane).sum();
    let value = match mode {
        Vote::All => u64::from(ballot == lanes.members),
        Vote::Any => u64::from(ballot != 0),
        Vote::Uniform => u64::from(ballot == 0 || ballot == lanes.members),
        Vote::Ballot => u64::from(ballot),
    };
    lanes.set_all(d, value);
}

pub(super) fn match_any(lanes: &mut Lanes<'_>, d: u32, a: u32, width: u32) {
    let value = |lanes: &Lanes<'_>, lane| lanes.get(lane, a) & (u64::MAX >> (64 - width));
    let mut results = [0u64; 32];
    for lane in lanes.each() {
        let own = value(lanes, lane);
        let same = lanes.each().filter(|&other| value(lanes, other) == own);
        results[lane] = same.map(|other| 1 << other).sum();
    }
    lanes.each().for_each(|lane| lanes.set(lane, d, results[lane]));
}

pub(super) fn match_all(lanes: &mut Lanes<'_>, d: u32, p: u32, a: u32, width: u32) {
    let value = |lane| lanes.get(lane, a) & (u64::MAX >> (64 - width));
    let first = value(lanes.members.trailing_zeros() as usize);
    let all = lanes.each().all(|lane| value(lane) == first);
    let mask = u64::from(lanes.members);
    lanes.set_all(d, if all { mask } else { 0 });
    lanes.set_all(p, u64::from(all));
}

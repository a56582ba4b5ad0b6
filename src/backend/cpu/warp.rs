//! Warp-level primitives on the CPU: shuffles, votes and barriers among coroutines.

use crate::embedded::abi::{Item, WAIT_ENDED, WAIT_NONE, WAIT_WARP, operation};

/// The lanes of a warp.
pub(super) const LANES: usize = 32;

/// Completes the warp operations that can be, once no lane of the warp can run on; true if there
/// was one, and lanes can run again.
///
/// Lanes that wait at the same operation with the same mask are a group. Its operation completes
/// when every lane in the mask has arrived, or has ended: those that have ended do not count.
pub(super) fn complete(lanes: &mut [Item]) -> bool {
    let alive = bits(lanes, |item| item.wait != WAIT_ENDED);
    let mut waiting = bits(lanes, |item| item.wait == WAIT_WARP);
    let mut completed = false;
    while waiting != 0 {
        let leader = identity(&lanes[waiting.trailing_zeros() as usize]);
        let group = waiting & bits(lanes, |item| identity(item) == leader);
        waiting &= !group;
        let (which, mask, _) = leader;
        let arrived = which == operation::ACTIVE_MASK || mask & alive & !group == 0;
        if arrived {
            perform(lanes, which, mask, group);
            completed = true;
        }
    }
    completed
}

/// What makes two waiting lanes one group.
fn identity(item: &Item) -> (u32, u32, u32) {
    let place = if item.operation == operation::ACTIVE_MASK { item.argument } else { 0 };
    (item.operation, item.mask, place)
}

/// Gives every lane of `group` its result, and lets it run on.
fn perform(lanes: &mut [Item], which: u32, mask: u32, group: u32) {
    let ballot = group & mask & bits(lanes, |item| item.value != 0);
    for lane in (0..lanes.len()).filter(|lane| group >> lane & 1 == 1) {
        let result = match which {
            operation::SHUFFLE..=operation::SHUFFLE_DOWN => {
                let source = source(which, lane as u32, lanes[lane].argument)
                    .filter(|source| *source < 32 && group >> source & 1 == 1);
                lanes[source.map_or(lane, |source| source as usize)].value
            }
            operation::BALLOT => ballot,
            operation::ACTIVE_MASK => group,
            _ => 0,
        };
        lanes[lane].result = result;
        lanes[lane].wait = WAIT_NONE;
    }
}

/// The lane whose value a shuffle reads; one that there is not gives the lane's own value. Numbers of
/// lanes wrap, as on NVIDIA's processors.
fn source(which: u32, lane: u32, argument: u32) -> Option<u32> {
    match which {
        operation::SHUFFLE => Some(argument % 32),
        operation::SHUFFLE_XOR => Some(lane ^ argument),
        operation::SHUFFLE_UP => lane.checked_sub(argument),
        _ => lane.checked_add(argument),
    }
}

/// One bit for each lane of which `is` holds.
fn bits(lanes: &[Item], is: impl Fn(&Item) -> bool) -> u32 {
    lanes.iter().enumerate().fold(0, |bits, (lane, item)| bits | u32::from(is(item)) << lane)
}

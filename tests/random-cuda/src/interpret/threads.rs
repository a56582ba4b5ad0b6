//! Sets of threads, and what the threads of a warp do together.

use crate::program::{Lanes, WarpOperation};

/// A set of threads.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Threads(pub(super) u128);

impl Threads {
    pub(super) const NONE: Self = Self(0);

    pub(super) fn one(thread: usize) -> Self {
        Self(1 << thread)
    }

    pub(super) fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(super) fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(super) fn iter(self) -> impl Iterator<Item = usize> {
        (0..128).filter(move |thread| self.0 >> thread & 1 == 1)
    }
}

/// The lanes of a thread's warp that are among `threads`.
pub(super) fn of_warp(threads: Threads, thread: usize) -> u32 {
    (threads.0 >> (thread / 32 * 32)) as u32
}

/// What an operation of a warp gives a thread; `values` and `wanted` are those of all threads.
pub(super) fn warp(
    operation: WarpOperation,
    thread: usize,
    (values, wanted): (&[u32], &[u32]),
    here: Threads,
    lanes: Lanes,
) -> u32 {
    let (first, lane) = (thread / 32 * 32, thread % 32);
    let mask = of_warp(here, thread);
    let active = || (0..32).filter(move |lane| mask >> lane & 1 == 1);
    let of_lane = |lane: usize| values[first + lane];
    let ballot = |test: &dyn Fn(u32) -> bool| {
        active().filter(|lane| test(of_lane(*lane))).fold(0, |mask, lane| mask | 1 << lane)
    };
    match operation {
        WarpOperation::Xor(bits) => of_lane(lane ^ bits as usize),
        WarpOperation::Index => {
            let wanted = wanted[thread] as usize;
            of_lane(match lanes {
                Lanes::Low => wanted & 15,
                Lanes::High => wanted & 15 | 16,
                _ => wanted & 31,
            })
        }
        WarpOperation::First => of_lane(mask.trailing_zeros() as usize),
        WarpOperation::Up(by, width) => {
            let place = lane as u32 % width;
            if by > place { values[thread] } else { values[thread - by as usize] }
        }
        WarpOperation::Down(by, width) => {
            let place = lane as u32 % width;
            if place + by >= width { values[thread] } else { values[thread + by as usize] }
        }
        WarpOperation::Ballot => ballot(&|value| value & 3 == 1),
        WarpOperation::Any => u32::from(ballot(&|value| value & 15 == 1) != 0),
        WarpOperation::All => u32::from(ballot(&|value| value & 15 == 1) == 0),
        WarpOperation::Match => ballot(&|value| value % 3 == values[thread] % 3),
        WarpOperation::Sum => active().fold(0, |sum: u32, lane| sum.wrapping_add(of_lane(lane))),
        WarpOperation::Greatest => active().map(of_lane).max().unwrap_or(0),
    }
}

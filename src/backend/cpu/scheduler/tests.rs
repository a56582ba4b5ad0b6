//! The scheduler, with coroutines written by hand: a program is a function from the number of the
//! step to what the thread waits for next.

use kernelmill_artifact::{PANIC_MESSAGE_BYTES, PanicKind, PanicRecord};

use super::*;
use crate::embedded::abi::{Geometry, OF_WARPS, WAIT_WARP, operation};

/// What a thread does after a step.
enum Step {
    Barrier,
    /// One of several barriers.
    BarrierNumber(u32),
    /// One of several barriers of the grid.
    Grid(u32),
    /// Operation, mask, argument, value.
    Warp(u32, u32, u32, u32),
    End,
}

use Step::{Barrier, BarrierNumber, End, Grid, Warp};

const FULL: u32 = u32::MAX;

/// A kernel whose only argument is an array of `u32`, shared by all threads.
trait Program {
    fn step(step: u32, item: &Item, memory: &mut [u32]) -> Step;
}

/// A coroutine: the array, its length and the next step.
#[repr(C)]
struct Frame {
    memory: *mut u32,
    len: usize,
    step: u32,
}

unsafe extern "C" fn start(arguments: *const *const u8, _item: *mut Item, frame: *mut u8) {
    // SAFETY: the arguments are an address and a length, the frame has room.
    unsafe {
        let memory = (*arguments).cast::<*mut u32>().read();
        let len = (*arguments.add(1)).cast::<usize>().read();
        frame.cast::<Frame>().write(Frame { memory, len, step: 0 });
    }
}

unsafe extern "C" fn resume<P: Program>(frame: *mut u8, item: *mut Item) -> bool {
    // SAFETY: the frame was started; coroutines run one at a time.
    let (frame, item) = unsafe { (&mut *frame.cast::<Frame>(), &mut *item) };
    // SAFETY: the argument of the launch.
    let memory = unsafe { std::slice::from_raw_parts_mut(frame.memory, frame.len) };
    let step = P::step(frame.step, item, memory);
    frame.step += 1;
    match step {
        End => return true,
        Barrier => (item.wait, item.argument) = (WAIT_BARRIER, 1),
        BarrierNumber(number) => (item.wait, item.argument) = (WAIT_BARRIER, number),
        Grid(number) => (item.wait, item.argument) = (WAIT_GRID, number),
        Warp(operation, mask, argument, value) => {
            item.wait = WAIT_WARP;
            (item.operation, item.mask, item.argument, item.value) =
                (operation, mask, argument, value);
        }
    }
    false
}

/// Runs one block of `shape` threads; the record afterwards.
fn run<P: Program>(shape: [u32; 3], memory: &mut [u32]) -> PanicRecord {
    let threads: usize = shape.iter().map(|&n| n as usize).product();
    let mut record = PanicRecord::EMPTY;
    let geometry = Geometry { grid: [1; 3], block: shape, dynamic_shared_bytes: 0, reserved: 0 };
    let mut block = Block {
        index: [4, 5, 6],
        reserved: 0,
        geometry: &geometry,
        shared: std::ptr::null_mut(),
        panic: &raw mut record,
        scratch: std::ptr::null_mut(),
        jump: [0; 64],
        stack_limit: 0,
        stack_overflow: None,
    };
    let (address, len) = (memory.as_mut_ptr(), memory.len());
    let arguments = [std::ptr::from_ref(&address).cast::<u8>(), std::ptr::from_ref(&len).cast()];
    let mut items = Vec::<Item>::with_capacity(threads);
    let mut frames = Vec::<Frame>::with_capacity(threads);
    let scheduler = Scheduler {
        start,
        resume: resume::<P>,
        arguments: arguments.as_ptr(),
        shape,
        items: items.as_mut_ptr(),
        frames: frames.as_mut_ptr().cast(),
        stride: size_of::<Frame>(),
    };
    // SAFETY: everything has room for `threads` threads.
    unsafe { scheduler.run(&raw mut block) };
    record
}

fn linear(item: &Item) -> usize {
    // SAFETY: `run` sets both.
    let [width, height, _] = unsafe { (*(*item.block).geometry).block };
    let [x, y, z] = item.thread;
    ((z * height + y) * width + x) as usize
}

/// Reverses the array through itself, with a barrier between.
struct Reverse;

impl Program for Reverse {
    fn step(step: u32, item: &Item, memory: &mut [u32]) -> Step {
        let (thread, half) = (linear(item), memory.len() / 2);
        match step {
            0 => {
                memory[thread] = thread as u32 * 10;
                Barrier
            }
            1 => {
                memory[half + thread] = memory[half - 1 - thread];
                End
            }
            _ => unreachable!("ended"),
        }
    }
}

#[test]
fn a_barrier_lets_nobody_through_before_the_last() {
    for shape in [[1, 1, 1], [64, 1, 1], [33, 2, 1], [5, 3, 7], [1024, 1, 1]] {
        let threads: u32 = shape.iter().product();
        let mut memory = vec![0; 2 * threads as usize];
        assert!(!run::<Reverse>(shape, &mut memory).is_set());
        let reversed: Vec<u32> = (0..threads).rev().map(|i| i * 10).collect();
        assert_eq!(memory[threads as usize..], reversed);
    }
}

/// A third of the threads returns before each of two barriers; the rest sees what they wrote.
struct LeaveEarly;

impl Program for LeaveEarly {
    fn step(step: u32, item: &Item, memory: &mut [u32]) -> Step {
        let thread = linear(item);
        memory[0] += 1;
        match step {
            0 | 1 if thread % 3 == step as usize => End,
            0 | 1 => Barrier,
            _ => {
                memory[thread + 1] = memory[0];
                memory[0] -= 1;
                End
            }
        }
    }
}

#[test]
fn threads_that_have_returned_do_not_count_at_a_barrier() {
    let mut memory = vec![0; 101];
    assert!(!run::<LeaveEarly>([100, 1, 1], &mut memory).is_set());
    // 100 arrive at the first barrier, 66 at the second, and each that is left counts itself.
    for thread in 0..100 {
        assert_eq!(memory[thread + 1], if thread % 3 == 2 { 100 + 66 + 1 } else { 0 });
    }
}

/// Every shuffle with arguments that differ between lanes; results to 6 rows of the array.
struct Shuffles;

const SHUFFLES: [u32; 4] =
    [operation::SHUFFLE, operation::SHUFFLE_XOR, operation::SHUFFLE_UP, operation::SHUFFLE_DOWN];

fn shuffle_argument(which: usize, lane: u32) -> u32 {
    [(lane * 7 + 3) % 40, 13, 5, 9][which]
}

impl Program for Shuffles {
    fn step(step: u32, item: &Item, memory: &mut [u32]) -> Step {
        let (thread, which) = (linear(item), step as usize);
        if step > 0 {
            memory[(which - 1) * 70 + thread] = item.result;
        }
        match SHUFFLES.get(which) {
            Some(&operation) => {
                let argument = shuffle_argument(which, item.lane);
                Warp(operation, FULL, argument, 1000 + thread as u32)
            }
            None => End,
        }
    }
}

#[test]
fn shuffles_are_those_of_the_reference_also_in_a_part_of_a_warp() {
    // Two whole warps and one of six lanes.
    let mut memory = vec![0; 4 * 70];
    assert!(!run::<Shuffles>([70, 1, 1], &mut memory).is_set());
    for which in 0..4 {
        for thread in 0..70u32 {
            let (warp, lane) = (thread / 32 * 32, thread % 32);
            let argument = i64::from(shuffle_argument(which, lane));
            let lane = i64::from(lane);
            let source = [argument % 32, lane ^ argument, lane - argument, lane + argument][which];
            let there = (0..32).contains(&source) && i64::from(warp) + source < 70;
            let source = if there { i64::from(warp) + source } else { i64::from(thread) };
            let got = memory[which * 70 + thread as usize];
            assert_eq!(i64::from(got), 1000 + source, "operation {which}, thread {thread}");
        }
    }
}

/// All lanes vote yes, then those divisible by 4 return; the others vote on being odd, and shuffle
/// from a lane that left.
struct BallotAfterExit;

impl Program for BallotAfterExit {
    fn step(step: u32, item: &Item, memory: &mut [u32]) -> Step {
        let thread = linear(item);
        match step {
            0 => Warp(operation::BALLOT, FULL, 0, 1),
            1 if item.lane.is_multiple_of(4) => End,
            1 => {
                assert_eq!(item.result, FULL);
                Warp(operation::BALLOT, FULL, 0, item.lane % 2 * 8)
            }
            2 => {
                memory[thread] = item.result;
                Warp(operation::SHUFFLE, FULL, item.lane / 4 * 4, 7 + item.lane)
            }
            3 => {
                memory[32 + thread] = item.result;
                Warp(operation::BARRIER, FULL, 0, 0)
            }
            _ => End,
        }
    }
}

#[test]
fn lanes_that_have_ended_count_neither_in_a_ballot_nor_as_a_source() {
    let mut memory = vec![0; 64];
    assert!(!run::<BallotAfterExit>([32, 1, 1], &mut memory).is_set());
    for lane in (0..32).filter(|lane| lane % 4 != 0) {
        assert_eq!(memory[lane], 0xaaaa_aaaa);
        assert_eq!(memory[32 + lane], 7 + lane as u32);
    }
}

/// The lower and the upper half of a warp go different ways: each operates on its own mask, in
/// another order, with a block barrier before the end.
struct Halves;

impl Program for Halves {
    fn step(step: u32, item: &Item, memory: &mut [u32]) -> Step {
        let thread = linear(item);
        let lower = item.lane < 16;
        let mask = if lower { 0x0000_ffff } else { 0xffff_0000 };
        match (step, lower) {
            (0, true) => Warp(operation::BALLOT, mask, 0, item.lane & 1),
            (0, false) => Warp(operation::SHUFFLE_XOR, mask, 1, item.lane),
            (1, _) => {
                memory[thread] = item.result;
                Warp(operation::ACTIVE_MASK, 0, u32::from(lower), 0)
            }
            (2, _) => {
                memory[64 + thread] = item.result;
                Barrier
            }
            _ => End,
        }
    }
}

#[test]
fn divergent_halves_of_a_warp_operate_on_their_masks() {
    let mut memory = vec![0; 128];
    assert!(!run::<Halves>([64, 1, 1], &mut memory).is_set());
    for thread in 0..64 {
        let lane = thread as u32 % 32;
        let (first, active) =
            if lane < 16 { (0x0000_aaaa, 0x0000_ffff) } else { (lane ^ 1, 0xffff_0000) };
        assert_eq!((memory[thread], memory[64 + thread]), (first, active), "thread {thread}");
    }
}

/// Lane 3 goes to the barrier, the others to a warp operation that names it.
struct Stuck;

impl Program for Stuck {
    fn step(_step: u32, item: &Item, _memory: &mut [u32]) -> Step {
        match linear(item) {
            3 => Barrier,
            0 => End,
            _ => Warp(operation::BARRIER, FULL, 0, 0),
        }
    }
}

#[test]
fn threads_that_wait_for_each_other_for_ever_are_a_deadlock() {
    let record = run::<Stuck>([8, 1, 1], &mut []);
    assert_eq!((record.state, PanicKind::from_code(record.kind)), (2, PanicKind::Deadlock));
    assert_eq!((record.block, record.thread), ([4, 5, 6], [1, 0, 0]));
    let text = "deadlock in a block: 6 threads wait at a warp-level primitive that other lanes do not reach, 1 at the \
                block's barrier, 1 have exited";
    assert_eq!(record.message(&[], &[]), text);
    assert!(text.len() <= PANIC_MESSAGE_BYTES);
}

/// Thread 2 panics; the others would pass one barrier, and then wait for ever.
struct PanicThenStuck;

impl Program for PanicThenStuck {
    fn step(step: u32, item: &Item, memory: &mut [u32]) -> Step {
        memory[step as usize] += 1;
        if linear(item) == 2 {
            // SAFETY: `run` sets the block and the record.
            unsafe {
                let record = &mut *(*item.block).panic;
                (record.kind, record.state) = (PanicKind::Explicit as u32, 2);
            }
            return End;
        }
        if step == 0 { Barrier } else { Stuck::step(0, item, &mut []) }
    }
}

#[test]
fn after_a_panic_the_block_ends_at_its_next_barrier() {
    let mut memory = [0; 2];
    let record = run::<PanicThenStuck>([8, 1, 1], &mut memory);
    assert_eq!(memory, [8, 0]);
    assert_eq!(PanicKind::from_code(record.kind), PanicKind::Explicit);
}

/// Threads below 3 wait at one barrier, the others at another; thread 4 has returned.
struct Apart;

impl Program for Apart {
    fn step(step: u32, item: &Item, memory: &mut [u32]) -> Step {
        memory[step as usize] += 1;
        match (step, linear(item)) {
            (0, 4) | (1, _) => End,
            (_, thread) => BarrierNumber(1 + u32::from(thread < 3)),
        }
    }
}

#[test]
fn threads_at_different_barriers_are_a_deadlock() {
    let mut memory = [0; 2];
    let record = run::<Apart>([8, 1, 1], &mut memory);
    assert_eq!((record.state, PanicKind::from_code(record.kind)), (2, PanicKind::Deadlock));
    assert_eq!((record.block, record.thread), ([4, 5, 6], [3, 0, 0]));
    let text = "deadlock in a block: its threads wait at 2 different barriers: 3 and 4 threads, 1 have exited";
    assert_eq!(record.message(&[], &[]), text);
    assert_eq!(memory, [8, 0], "no barrier has opened");
}

/// Threads below `memory[2]` wait at one barrier, of the kind `memory[3]`, the others at another; thread 4 has returned.
struct Warps;

impl Program for Warps {
    fn step(step: u32, item: &Item, memory: &mut [u32]) -> Step {
        memory[step as usize] += 1;
        match (step, linear(item)) {
            (0, 4) | (1, _) => End,
            (_, thread) => {
                BarrierNumber(memory[3] | 1 | u32::from(thread as u32 >= memory[2]) << 1)
            }
        }
    }
}

#[test]
fn barriers_at_each_of_which_whole_warps_wait_open_together() {
    for (split, kind, opens) in [
        (32, OF_WARPS, true),
        (64, OF_WARPS, true),
        (0, OF_WARPS, true),
        (33, OF_WARPS, false),
        (1, OF_WARPS, false),
        (32, 0, false),
        (0, 0, true),
    ] {
        let mut memory = [0, 0, split, kind];
        let record = run::<Warps>([72, 1, 1], &mut memory);
        assert_eq!(!record.is_set(), opens, "{split}");
        assert_eq!(memory[1], if opens { 71 } else { 0 }, "{split}");
    }
}

/// Every thread passes the same barriers, one after the other.
struct Together;

impl Program for Together {
    fn step(step: u32, _item: &Item, _memory: &mut [u32]) -> Step {
        if step < 3 { BarrierNumber(step + 1) } else { End }
    }
}

#[test]
fn different_barriers_one_after_the_other_open() {
    assert!(!run::<Together>([40, 1, 1], &mut []).is_set());
}

/// Threads below `memory[0]` wait at a barrier of the block, below `memory[1]` at one of the grid, the others at another
/// one.
struct OfGrid;

impl Program for OfGrid {
    fn step(step: u32, item: &Item, memory: &mut [u32]) -> Step {
        match (step, linear(item) as u32) {
            (1.., _) => End,
            (_, thread) if thread < memory[0] => Barrier,
            (_, thread) => Grid(2 - u32::from(thread < memory[1])),
        }
    }
}

#[test]
fn threads_at_barriers_of_block_and_grid_and_of_a_grid_that_does_not_run_are_a_deadlock() {
    for (ends, thread, text) in [
        (
            [3, 8],
            3,
            "deadlock in a block: 3 threads wait at the block's barrier, 5 at the grid's, 0 have exited",
        ),
        (
            [0, 6],
            6,
            "deadlock in a block: its threads wait at 2 different barriers of the grid: 6 and 2 threads, 0 have exited",
        ),
        (
            [0, 8],
            0,
            "8 threads wait at a barrier of the grid, which the other blocks do not reach: the launch is not \
             cooperative",
        ),
    ] {
        let mut memory = ends;
        let record = run::<OfGrid>([8, 1, 1], &mut memory);
        assert_eq!(PanicKind::from_code(record.kind), PanicKind::Deadlock, "{ends:?}");
        assert_eq!(record.message(&[], &[]), text);
        assert_eq!(record.thread, [thread, 0, 0]);
    }
}

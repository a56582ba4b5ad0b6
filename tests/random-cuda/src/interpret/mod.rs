//! What a program computes, in plain Rust: the threads of a block go through each statement
//! together, those that are somewhere else left out.

mod threads;
mod values;

use crate::{
    operators::ATOMICS,
    program::{
        BINS, ELEMENTS, FIELDS, Form, Function, INPUTS, INTS, Int, Program, REALS, Statement, Test,
    },
};
use threads::{Threads, of_warp, warp};

/// What is in memory when a kernel has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    /// A result for each thread.
    pub out: Vec<u32>,
    /// The counters that all blocks share.
    pub bins: Vec<u32>,
    /// The fields of the structures of each thread's own; there is room for the largest.
    pub slots: Vec<u32>,
}

impl Memory {
    /// What is there before a launch of so many threads in all.
    #[must_use]
    pub fn before(threads: usize) -> Self {
        let bins = ATOMICS.iter().flat_map(|atomic| [atomic.start; BINS]).collect();
        let slots = (0..(FIELDS * threads) as u32).map(|at| at.wrapping_mul(77_777)).collect();
        Self { out: vec![0; threads], bins, slots }
    }

    /// Compares it with what a kernel wrote: the results, the counters, each thread's own.
    ///
    /// # Errors
    ///
    /// The first element that differs.
    pub fn check(&self, written: [&[u32]; 3]) -> Result<(), String> {
        let lists = [("out", &self.out), ("bins", &self.bins), ("slots", &self.slots)];
        for ((name, expected), got) in lists.into_iter().zip(written) {
            if expected.len() != got.len() {
                return Err(format!("{name} has {} elements, not {}", got.len(), expected.len()));
            }
            let mut both = expected.iter().zip(got).enumerate();
            if let Some((at, (expected, got))) = both.find(|(_, (expected, got))| expected != got) {
                return Err(format!("{name}[{at}] is {got:#x} and should be {expected:#x}"));
            }
        }
        Ok(())
    }
}

/// The array that kernels read.
#[must_use]
pub fn inputs() -> Vec<u32> {
    (0..INPUTS as u32).map(|at| at.wrapping_mul(0x9e37_79b9) ^ (at << 3)).collect()
}

/// Blocks of a launch, in a row.
pub const BLOCKS: usize = 3;
/// The parameter of the kernels in launches.
pub const COUNT: u32 = 1003;

/// Steps after which a program is too long to be of use.
const MOST_STEPS: u64 = 400_000;

/// What a program computes with blocks in a row and this parameter; `None` where it takes too
/// long.
#[must_use]
pub fn interpret(program: &Program, blocks: usize, n: u32) -> Option<Memory> {
    let threads = program.threads();
    let memory = Memory::before(threads * blocks);
    let mut machine = Machine {
        program,
        n,
        x: inputs(),
        memory,
        tile: Vec::new(),
        pool: [0; BINS],
        block: 0,
        steps: 0,
    };
    for block in 0..blocks {
        machine.block = block;
        machine.tile = vec![0; threads];
        machine.pool = [0; BINS];
        let mut frame = Frame::new(0, threads);
        let all = Threads(if threads == 128 { u128::MAX } else { (1 << threads) - 1 });
        machine.run(&mut frame, &program.body, all);
        for (thread, state) in frame.states.iter().enumerate() {
            machine.memory.out[block * threads + thread] = state.result();
        }
    }
    (machine.steps < MOST_STEPS).then_some(machine.memory)
}

/// The variables of a thread in one function.
#[derive(Clone, Default)]
struct State {
    ints: [u32; INTS],
    reals: [f32; REALS],
    elements: [u32; ELEMENTS as usize],
    counters: Vec<u32>,
    elected: Vec<u32>,
    returned: Option<u32>,
}

impl State {
    fn result(&self) -> u32 {
        let bits = |real: &f32| if real.is_nan() { 0x7fc0_0000 } else { real.to_bits() };
        let values = self.ints.iter().copied().chain(self.reals.iter().map(bits));
        let mix = |result: u32, value: u32| result.wrapping_mul(31).wrapping_add(value);
        values.chain(self.elements).fold(17, mix)
    }
}

fn at(list: &mut Vec<u32>, place: usize) -> &mut u32 {
    if list.len() <= place {
        list.resize(place + 1, 0);
    }
    &mut list[place]
}

/// Threads in one function.
struct Frame {
    /// The number of the first one that has a state.
    first: usize,
    states: Vec<State>,
    returned: Threads,
    /// For each loop that is open its number, who has left it, and who has left this round of it.
    loops: Vec<(usize, Threads, Threads)>,
}

impl Frame {
    fn new(first: usize, count: usize) -> Self {
        let states = vec![State::default(); count];
        Self { first, states, returned: Threads::NONE, loops: Vec::new() }
    }

    fn state(&mut self, thread: usize) -> &mut State {
        &mut self.states[thread - self.first]
    }

    /// Those who are still here.
    fn here(&self, threads: Threads) -> Threads {
        let elsewhere =
            self.loops.iter().fold(self.returned, |all, (_, left, next)| all.or(*left).or(*next));
        threads.without(elsewhere)
    }
}

struct Machine<'p> {
    program: &'p Program,
    n: u32,
    x: Vec<u32>,
    memory: Memory,
    tile: Vec<u32>,
    pool: [u32; BINS],
    block: usize,
    steps: u64,
}

impl Machine<'_> {
    fn run(&mut self, frame: &mut Frame, body: &[Statement], threads: Threads) {
        for statement in body {
            let here = frame.here(threads);
            self.steps += u64::from(here.0.count_ones());
            if here.is_empty() || self.steps > MOST_STEPS {
                return;
            }
            self.statement(frame, statement, here);
        }
    }

    /// The threads for which a test holds.
    fn those(&mut self, frame: &mut Frame, test: &Test, threads: Threads) -> Threads {
        let mut found = Threads::NONE;
        for thread in threads.iter() {
            if self.test(frame, thread, test) {
                found = found.or(Threads::one(thread));
            }
        }
        found
    }

    fn values(&mut self, frame: &mut Frame, value: &Int, threads: Threads) -> Vec<u32> {
        let mut values = vec![0; 128];
        for thread in threads.iter() {
            values[thread] = self.int(frame, thread, value);
        }
        values
    }

    fn statement(&mut self, frame: &mut Frame, statement: &Statement, here: Threads) {
        match statement {
            Statement::Set(to, value) => {
                for thread in here.iter() {
                    frame.state(thread).ints[*to] = self.int(frame, thread, value);
                }
            }
            Statement::SetReal(to, value) => {
                for thread in here.iter() {
                    frame.state(thread).reals[*to] = self.real(frame, thread, value);
                }
            }
            Statement::SetElement(place, value) => {
                for thread in here.iter() {
                    let place = self.int(frame, thread, place) % ELEMENTS;
                    let value = self.int(frame, thread, value);
                    frame.state(thread).elements[place as usize] = value;
                }
            }
            Statement::If(test, yes, no) => {
                let those = self.those(frame, test, here);
                self.run(frame, yes, those);
                self.run(frame, no, here.without(those));
            }
            Statement::Loop { id, form, most, test, body } => {
                self.looping(frame, (*id, *form, *most), (test, body), here);
            }
            Statement::Break(test, id) | Statement::Continue(test, id) => {
                let those = self.those(frame, test, here);
                let open = frame.loops.iter_mut().find(|(open, ..)| open == id);
                if let Some((_, left, next)) = open {
                    let list = if matches!(statement, Statement::Break(..)) { left } else { next };
                    *list = list.or(those);
                }
            }
            Statement::Return(test, value) => {
                for thread in self.those(frame, test, here).iter() {
                    let value = self.int(frame, thread, value);
                    frame.state(thread).returned = Some(value);
                    frame.returned = frame.returned.or(Threads::one(thread));
                }
            }
            Statement::Switch(on, cases) => {
                let on = self.values(frame, on, here);
                let mut inside = Threads::NONE;
                for (number, (body, falls)) in cases.iter().enumerate() {
                    for thread in here.iter() {
                        if on[thread] as usize % (cases.len() + 1) == number {
                            inside = inside.or(Threads::one(thread));
                        }
                    }
                    self.run(frame, body, inside);
                    if !falls {
                        inside = Threads::NONE;
                    }
                }
            }
            _ => self.among_threads(frame, statement, here),
        }
    }

    fn looping(
        &mut self,
        frame: &mut Frame,
        (id, form, most): (usize, Form, u32),
        (test, body): (&Test, &[Statement]),
        here: Threads,
    ) {
        here.iter().for_each(|thread| *at(&mut frame.state(thread).counters, id) = 0);
        frame.loops.push((id, Threads::NONE, Threads::NONE));
        let mut inside = here;
        let mut is_first = true;
        loop {
            inside = frame.here(inside);
            if form != Form::DoWhile || !is_first {
                for thread in inside.iter() {
                    let count = *at(&mut frame.state(thread).counters, id);
                    if count >= most || !self.test(frame, thread, test) {
                        inside = inside.without(Threads::one(thread));
                    }
                }
            }
            if inside.is_empty() || self.steps > MOST_STEPS {
                break;
            }
            let step = |frame: &mut Frame, threads: Threads| {
                threads.iter().for_each(|it| *at(&mut frame.state(it).counters, id) += 1);
            };
            if form != Form::For {
                step(frame, inside);
            }
            self.run(frame, body, inside);
            if let Some((_, _, next)) = frame.loops.last_mut() {
                *next = Threads::NONE;
            }
            if form == Form::For {
                step(frame, frame.here(inside));
            }
            is_first = false;
        }
        frame.loops.pop();
    }

    fn among_threads(&mut self, frame: &mut Frame, statement: &Statement, here: Threads) {
        match statement {
            Statement::Exchange { to, value, from } => {
                for thread in here.iter() {
                    self.tile[thread] = self.int(frame, thread, value);
                }
                for thread in here.iter() {
                    let from = self.int(frame, thread, from) as usize % self.tile.len();
                    frame.state(thread).ints[*to] = self.tile[from];
                }
            }
            Statement::Tally { to, atomic, index, value, from } => {
                let atomic = &ATOMICS[*atomic];
                for thread in here.iter().filter(|thread| *thread < BINS) {
                    self.pool[thread] = atomic.start;
                }
                for thread in here.iter() {
                    let index = self.int(frame, thread, index) as usize % BINS;
                    let value = self.int(frame, thread, value);
                    self.pool[index] = (atomic.value)(self.pool[index], value);
                }
                for thread in here.iter() {
                    let from = self.int(frame, thread, from) as usize % BINS;
                    frame.state(thread).ints[*to] = self.pool[from];
                }
            }
            Statement::Warp { to, operation, value, lane, lanes } => {
                let values = self.values(frame, value, here);
                let wanted = self.values(frame, lane, here);
                for thread in here.iter() {
                    let result = warp(*operation, thread, (&values, &wanted), here, *lanes);
                    frame.state(thread).ints[*to] = result;
                }
            }
            Statement::ShuffleReal { to, value, bits } => {
                let mut values = vec![0.0; 128];
                for thread in here.iter() {
                    values[thread] = self.real(frame, thread, value);
                }
                for thread in here.iter() {
                    frame.state(thread).reals[*to] = values[thread ^ *bits as usize];
                }
            }
            Statement::Elect { id, test, body } => {
                let those = self.those(frame, test, here);
                for thread in here.iter() {
                    *at(&mut frame.state(thread).elected, *id) = of_warp(those, thread);
                }
                self.run(frame, body, those);
            }
            Statement::Halves(low, high) => {
                let lower = Threads(u128::MAX / 0xffff_ffff * 0xffff);
                self.run(frame, low, here.and(lower));
                self.run(frame, high, here.without(lower));
            }
            Statement::Atomic { atomic, index, value } => {
                for thread in here.iter() {
                    let index = self.int(frame, thread, index) as usize % BINS;
                    let value = self.int(frame, thread, value);
                    let bin = &mut self.memory.bins[atomic * BINS + index];
                    *bin = (ATOMICS[*atomic].value)(*bin, value);
                }
            }
            Statement::Own { to, atomic, value } => {
                for thread in here.iter() {
                    let value = self.int(frame, thread, value);
                    let slot = self.own_field(thread, 0);
                    let slot = &mut self.memory.slots[slot];
                    frame.state(thread).ints[*to] = *slot;
                    *slot = (ATOMICS[*atomic].value)(*slot, value);
                }
            }
            Statement::OwnLoop { id, most, atomic, value } => {
                for thread in here.iter() {
                    let slot = self.own_field(thread, 0);
                    for count in 0..*most {
                        *at(&mut frame.state(thread).counters, *id) = count;
                        let value = self.int(frame, thread, value);
                        let old = self.memory.slots[slot];
                        self.memory.slots[slot] = (ATOMICS[*atomic].value)(old, value);
                    }
                }
            }
            Statement::Fields { to, read, writes, through: _ } => {
                for thread in here.iter() {
                    let of = |machine: &Self, by: [u32; 2]| {
                        let [a, b] = read
                            .map(|field| machine.memory.slots[machine.own_field(thread, field)]);
                        a.wrapping_mul(by[0]).wrapping_add(b.wrapping_mul(by[1]))
                    };
                    let before = of(self, [3, 1]);
                    for (field, value) in writes {
                        let slot = self.own_field(thread, *field);
                        self.memory.slots[slot] = self.int(frame, thread, value);
                    }
                    let after = of(self, [7, 1]);
                    frame.state(thread).ints[*to] = before.wrapping_mul(5).wrapping_add(after);
                }
            }
            _ => {}
        }
    }

    /// The place of a field of a thread's own structure.
    fn own_field(&self, thread: usize, field: usize) -> usize {
        (self.block * self.program.threads() + thread) * self.program.fields + field
    }

    fn call(&mut self, thread: usize, function: &Function, arguments: [u32; 2]) -> u32 {
        let mut frame = Frame::new(thread, 1);
        frame.states[0].ints[..2].copy_from_slice(&arguments);
        self.run(&mut frame, &function.body, Threads::one(thread));
        match frame.states[0].returned {
            Some(value) => value,
            None => self.int(&mut frame, thread, &function.result),
        }
    }
}

//! Random kernels that do little but exchange elements of shared memory, for blocks whose size their
//! limits say. Each round is four pure functions, which the host follows.

use std::fmt::Write as _;

use super::Random;

/// One random kernel for blocks of at most 64 threads.
pub(crate) struct Tile {
    pub(crate) index: u64,
    rounds: Vec<Round>,
    /// The type of the elements.
    element: &'static str,
    /// What `#[kernel]` says of blocks.
    limits: &'static str,
}

/// Between two barriers each thread reads an element, and may then write one.
struct Round {
    read: String,
    write: String,
    holds: String,
    next: String,
    /// The steps that it is done with, one after the other.
    steps: Steps,
}

enum Steps {
    Once(u32),
    /// From this number on, half as much each time.
    Down(u32),
    /// From 1 on, twice as much each time, below this number.
    Up(u32),
}

impl Tile {
    /// The kernel of this number; equal seeds give equal kernels.
    pub(crate) fn new(seed: u64, index: u64) -> Self {
        let mut random = Random::new(seed.wrapping_mul(0xd134_2543_de82_ef95) ^ (index << 9));
        for _ in 0..8 {
            random.below(2);
        }
        let rounds = (0..1 + random.below(5)).map(|_| Round::new(&mut random)).collect();
        let element = ["u32", "u32", "u64", "u16", "u8"][random.below(5) as usize];
        let limits = ["(block_size = [64, 1, 1])", "(launch_bounds = 64)", ""];
        Self { index, rounds, element, limits: limits[[0, 0, 1, 1, 2][random.below(5) as usize]] }
    }

    /// The functions of its rounds, as Rust.
    pub(crate) fn functions(&self) -> String {
        let mut text = String::new();
        for (number, round) in self.rounds.iter().enumerate() {
            let name = format!("{}_{number}", self.index);
            let Round { read, write, holds, next, .. } = round;
            for (name, parameters, result, value) in [
                (format!("read_{name}"), "t: usize, width: usize, step: usize", "usize", read),
                (format!("write_{name}"), "t: usize, width: usize, step: usize", "usize", write),
                (
                    format!("holds_{name}"),
                    "t: usize, step: usize, own: u32, other: u32",
                    "bool",
                    holds,
                ),
                (
                    format!("next_{name}"),
                    "t: usize, step: usize, own: u32, other: u32",
                    "u32",
                    next,
                ),
            ] {
                let _ = writeln!(
                    text,
                    "#[allow(unused, clippy::all, reason = \"random code\")]\n\
                     fn {name}({parameters}) -> {result} {{ {value} }}\n"
                );
            }
        }
        text
    }

    pub(crate) fn kernel(&self) -> String {
        let Self { index, element, limits, .. } = self;
        let mut text = format!(
            "\n#[kernel{limits}]\npub fn tile_{index}(n: u32, x: &[u32], mut out: DisjointSlice<u32>) {{\n    \
             static mut TILE: SharedArray<{element}, 64> = SharedArray::UNINIT;\n    \
             let i = thread::index_1d();\n    let t = thread::thread_idx().x as usize;\n    \
             let width = thread::block_dim().x as usize;\n    \
             let mut own = x[i.get() % x.len()] ^ n;\n    unsafe {{ TILE[t] = own as {element} }};\n"
        );
        for (number, round) in self.rounds.iter().enumerate() {
            let name = format!("{index}_{number}");
            let (head, tail) = match round.steps {
                Steps::Once(step) => (format!("let step = {step}_usize;\n    {{"), ""),
                Steps::Down(from) => {
                    (format!("let mut step = {from}_usize;\n    while step > 0 {{"), "step /= 2;")
                }
                Steps::Up(to) => {
                    (format!("let mut step = 1_usize;\n    while step < {to} {{"), "step *= 2;")
                }
            };
            let _ = write!(
                text,
                "    {head}\n        thread::sync_threads();\n        \
                 let other = unsafe {{ TILE[read_{name}(t, width, step)] }} as u32;\n        \
                 thread::sync_threads();\n        \
                 if holds_{name}(t, step, own, other) {{\n            \
                 own = next_{name}(t, step, own, other);\n            \
                 unsafe {{ TILE[write_{name}(t, width, step)] = own as {element} }};\n        }}\n        \
                 {tail}\n    }}\n"
            );
        }
        text + "    thread::sync_threads();\n    \
                if let Some(out) = out.get_mut(i) { *out = own ^ unsafe { TILE[t] } as u32; }\n}\n"
    }

    /// What the host follows.
    pub(crate) fn host_side(&self, file: u64) -> String {
        let Self { index, element, limits, .. } = self;
        let module = format!("functions_{file}");
        let mut rounds = String::new();
        for (number, round) in self.rounds.iter().enumerate() {
            let steps = match round.steps {
                Steps::Once(step) => vec![step],
                Steps::Down(from) => {
                    (0..32).map(|by| from >> by).take_while(|step| *step > 0).collect()
                }
                Steps::Up(to) => (0..32).map(|by| 1 << by).take_while(|step| *step < to).collect(),
            };
            let name = format!("{index}_{number}");
            let _ = write!(
                rounds,
                "Round {{ read: {module}::read_{name}, write: {module}::write_{name}, \
                 holds: {module}::holds_{name}, next: {module}::next_{name}, steps: &{steps:?} }}, "
            );
        }
        let most = match *element {
            "u8" => u64::from(u8::MAX),
            "u16" => u64::from(u16::MAX),
            "u32" => u64::from(u32::MAX),
            _ => u64::MAX,
        };
        let exact = limits.starts_with("(block_size");
        format!(
            "Tile {{ name: \"tile_{index}\", rounds: &[{rounds}], most: {most}, \
             exact: {exact}, text: {:?}, \
             launch: |on, launch, n, x, out| on.kernels.tile_{index}(&on.stream, launch, n, x, out) }},\n",
            self.functions()
        )
    }
}

impl Round {
    fn new(random: &mut Random) -> Self {
        let number = random.below(63) + 1;
        let steps = match random.below(4) {
            0 => Steps::Down(1 << random.below(6)),
            1 => Steps::Up(1 << (1 + random.below(6))),
            _ => Steps::Once(number),
        };
        let read = [
            "(t + step) % width",
            "(t ^ step) % width",
            "width - 1 - t",
            "(3 * t + step) % width",
            "t / (step % 16 + 1)",
            "step % width",
            "(t & !(step & 63)) % width",
            "(2 * t - (t & (step - 1))) % width",
        ];
        // No two threads write the same element.
        let write = ["t", "t", "t", "width - 1 - t", "(t + step) % width", "(3 * t + 5) % width"];
        let holds = [
            "true",
            "true",
            "t < step",
            "t >= step",
            "t & step == 0",
            "other > own",
            "t % 5 != 2 && other % 3 != own % 7",
            "(own > other) == (t & step == 0)",
        ];
        let next = [
            "own.wrapping_add(other)",
            "own.max(other)",
            "own.min(other)",
            "other",
            "own.rotate_left(3) ^ other",
            "other.wrapping_mul(t as u32 | 1)",
            "own.wrapping_sub(other / (step as u32 + 1))",
        ];
        let mut one = |of: &[&str]| of[random.below(of.len() as u32) as usize].to_owned();
        let (read, write, holds, next) = (one(&read), one(&write), one(&holds), one(&next));
        Self { read, write, holds, next, steps }
    }
}

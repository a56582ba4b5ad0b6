//! Random kernels, written by the build script: what the CPU back end and PTX compute is compared
//! with the same functions compiled for the host.

use context::{BLOCKS, WIDTHS};
use kernelmill::{Backend, Buffer, Launch};
use std::error::Error;

mod checked;
mod context;

pub use checked::Checked;
pub use context::Context;

include!(concat!(env!("OUT_DIR"), "/cases.rs"));

type Function = fn(u32, &[u32], u32) -> u32;
type Start = fn(&Context, Launch<1>, u32, &Buffer<u32>, &mut Buffer<u32>) -> kernelmill::Result<()>;

/// One random kernel with what it is made of.
pub struct Case {
    /// The kernel.
    pub name: &'static str,
    f: Function,
    g: Function,
    leave: u32,
    rounds: u32,
    step: u32,
    quit: u32,
    mix: u32,
    lane: u32,
    text: &'static str,
    launch: Start,
    /// The same with barriers of which it cannot be proven that all threads reach them.
    launch_apart: Start,
}

/// A random kernel that exchanges elements of shared memory.
pub struct Tile {
    /// The kernel.
    pub name: &'static str,
    rounds: &'static [Round],
    /// The largest number that an element can be.
    most: u64,
    /// Whether it can only be launched with blocks of 64 threads.
    exact: bool,
    text: &'static str,
    launch: Start,
}

/// A random kernel in which each thread takes elements a step apart.
pub struct Stride {
    /// The kernel.
    pub name: &'static str,
    /// Whether it can only be launched with blocks of 64 threads.
    exact: bool,
    /// Whether threads exchange what they have counted.
    exchanges: bool,
    text: &'static str,
    walk: Walk,
    launch: Start,
}

/// What the thread of this number does, of so many, with two parameters, and what it has counted then.
type Walk = fn(usize, usize, u32, u32, &[u32], &mut [u32]) -> u32;

type Place = fn(usize, usize, usize) -> usize;

/// What each thread does between two barriers: the element that it reads, whether it writes one, what
/// and where.
struct Round {
    read: Place,
    write: Place,
    holds: fn(usize, usize, u32, u32) -> bool,
    next: fn(usize, usize, u32, u32) -> u32,
    steps: &'static [usize],
}

impl Context {
    /// Runs a case, both as it is and with barriers that nothing is proven of, and compares every
    /// element.
    ///
    /// # Errors
    ///
    /// What the device reported, or the first element that differs, with the case's source.
    pub fn check(&self, case: &Case) -> Result<(), Box<dyn Error>> {
        let x: Vec<u32> = (0..97_u32).map(|i| i.wrapping_mul(0x9e37_79b9) ^ (i << 3)).collect();
        let n = 1000 + case.step;
        // What lanes that there are not give is defined on the CPU only, and so is what those give that have left.
        let is_cpu = self.device.backend() == Backend::Cpu;
        let is_whole = case.mix == 0 || is_cpu;
        if !is_cpu && case.leave != 0 && matches!(case.mix, 1..=6) {
            return Ok(());
        }
        let widths = if is_whole { &WIDTHS[..] } else { &WIDTHS[..1] };
        for &width in widths {
            self.check_width(case, width, &x, n)?;
        }
        Ok(())
    }

    fn check_width(
        &self,
        case: &Case,
        width: usize,
        x: &[u32],
        n: u32,
    ) -> Result<(), Box<dyn Error>> {
        let expected = case.expected(width, x, n);
        for (launch, how) in [(case.launch, "plain"), (case.launch_apart, "apart")] {
            let got = self.run(launch, width, x, n, width * BLOCKS);
            let got = got.map_err(|error| format!("{}: {error}", case.name))?;
            if let Some(place) = (0..got.len()).find(|&place| got[place] != expected[place]) {
                return Err(format!(
                    "seed {SEED}, {} ({how}), blocks of {width}, element {place}: {} on {}, {} on \
                     the host\nleave {}, rounds {}, step {}, quit {}, mix {}, lane {}\n{}",
                    case.name,
                    got[place],
                    self.device.name(),
                    expected[place],
                    case.leave,
                    case.rounds,
                    case.step,
                    case.quit,
                    case.mix,
                    case.lane,
                    case.text
                )
                .into());
            }
        }
        Ok(())
    }

    /// Runs a kernel of tiles, and compares every element.
    ///
    /// # Errors
    ///
    /// As [`Context::check`].
    pub fn check_tile(&self, tile: &Tile) -> Result<(), Box<dyn Error>> {
        let x: Vec<u32> = (0..197_u32).map(|i| i.wrapping_mul(0x85eb_ca6b) ^ (i << 5)).collect();
        let widths = if tile.exact { &WIDTHS[..1] } else { &WIDTHS[..] };
        for &width in widths {
            let expected = tile.expected(width, &x, 77);
            let got = self.run(tile.launch, width, &x, 77, width * BLOCKS);
            let got = got.map_err(|error| format!("{}: {error}", tile.name))?;
            if let Some(place) = (0..got.len()).find(|&place| got[place] != expected[place]) {
                let Tile { name, text, .. } = tile;
                let (found, wanted) = (got[place], expected[place]);
                let steps: Vec<_> = tile.rounds.iter().map(|round| round.steps).collect();
                return Err(format!(
                    "seed {SEED}, {name}, blocks of {width}, element {place}: {found} on {}, \
                     {wanted} on the host\nsteps {steps:?}\n{text}",
                    self.device.name()
                )
                .into());
            }
        }
        Ok(())
    }

    /// Runs a kernel in which threads take elements a step apart, and compares every element.
    ///
    /// # Errors
    ///
    /// As [`Context::check`].
    pub fn check_stride(&self, stride: &Stride) -> Result<(), Box<dyn Error>> {
        let all: Vec<u32> = (0..5003_u32).map(|i| i.wrapping_mul(0xc2b2_ae35) ^ (i << 7)).collect();
        let widths = if stride.exact { &WIDTHS[..1] } else { &WIDTHS[..] };
        let with = |width| [(width, 6, usize::MAX), (width, 13, usize::MAX), (width, 6, 9)];
        for (width, n, more) in widths.iter().flat_map(|width| with(*width)) {
            let threads = width * BLOCKS;
            // With a few more elements than threads, most blocks take one iteration.
            let x = &all[..all.len().min(threads.saturating_add(more))];
            let expected = stride.expected(width, x, n);
            let got = self.run(stride.launch, width, x, n, x.len() + threads);
            let got = got.map_err(|error| format!("{}: {error}", stride.name))?;
            if let Some(place) = (0..got.len()).find(|&place| got[place] != expected[place]) {
                let Stride { name, text, .. } = stride;
                let (found, wanted) = (got[place], expected[place]);
                return Err(format!(
                    "seed {SEED}, {name}, blocks of {width}, n {n}, element {place}: {found} on {}, \
                     {wanted} on the host\n{text}",
                    self.device.name()
                )
                .into());
            }
        }
        Ok(())
    }

    /// Runs a kernel with checks, and compares every element, or the panic.
    ///
    /// # Errors
    ///
    /// As [`Context::check`].
    pub fn check_checked(&self, checked: &Checked) -> Result<(), Box<dyn Error>> {
        checked.check(self).map_err(|error| format!("seed {SEED}, {error}").into())
    }

    fn run(
        &self,
        start: Start,
        width: usize,
        x: &[u32],
        n: u32,
        elements: usize,
    ) -> kernelmill::Result<Vec<u32>> {
        let input = self.device.upload(x)?;
        let mut output = self.device.zeros::<u32>(elements)?;
        start(self, Launch::grid([BLOCKS as u32], [width as u32]), n, &input, &mut output)?;
        output.download()
    }
}

impl Case {
    /// What the kernel computes, block by block and round by round.
    fn expected(&self, width: usize, x: &[u32], n: u32) -> Vec<u32> {
        let blocks = (0..BLOCKS).flat_map(|block| {
            let number = |t: usize| (block * width + t) as u32;
            let mut tile: Vec<u32> = (0..width).map(|t| (self.f)(number(t), x, n)).collect();
            let mut stays: Vec<bool> =
                tile.iter().map(|value| self.leave == 0 || value % self.leave != 0).collect();
            for round in 0..self.rounds {
                let before = tile.clone();
                for t in 0..width {
                    if !stays[t] {
                        continue;
                    }
                    let other = before[(t + self.step as usize) % width];
                    if other % 3 != round % 3 {
                        tile[t] = (self.g)(other, x, n ^ t as u32);
                    }
                    if round == 1 && self.quit != 0 && t % self.quit as usize == 0 {
                        stays[t] = false;
                    }
                }
            }
            if self.mix != 0 {
                for _ in 0..2 {
                    let warps = tile.chunks(32).zip(stays.chunks(32));
                    tile = warps.flat_map(|(warp, stays)| self.mixed(warp, stays)).collect();
                }
            }
            tile
        });
        blocks.collect()
    }

    /// What the lanes of a warp have after they have exchanged values, of which those that do not stay have
    /// left; a lane that is not there gives the thread's own value.
    fn mixed(&self, warp: &[u32], stays: &[bool]) -> Vec<u32> {
        let by = self.lane as usize;
        let votes = warp.iter().zip(stays);
        let votes = votes.map(|(value, stays)| u32::from(*stays && value % self.lane < 2));
        let votes = votes.enumerate().fold(0, |bits, (lane, vote)| bits | vote << lane);
        let exchanged = warp.iter().enumerate().map(|(lane, &mine)| {
            if !stays[lane] {
                return mine;
            }
            let from = match self.mix {
                1 => Some(lane ^ by),
                2 => lane.checked_sub(by),
                3 => Some(lane + by),
                4 => Some(by),
                5 => Some(mine as usize % by),
                6 => Some(lane + mine as usize / 5 % by),
                _ => return mine.rotate_left(1) ^ votes,
            };
            mine.rotate_left(1)
                ^ *from
                    .filter(|&from| stays.get(from) == Some(&true))
                    .map_or(&mine, |from| &warp[from])
        });
        exchanged.collect()
    }
}

impl Stride {
    /// What the kernel computes, thread by thread.
    fn expected(&self, width: usize, x: &[u32], n: u32) -> Vec<u32> {
        let threads = width * BLOCKS;
        let mut out = vec![0; x.len() + threads];
        for first in 0..threads {
            let block = first / width * width;
            let seed = if self.exchanges { x[block] } else { 0 };
            let sum = (self.walk)(first, threads, n, seed, x, &mut out);
            // Threads take what the next one of their block has counted.
            let t =
                if self.exchanges { (first - block + width - 1) % width } else { first - block };
            out[x.len() + block + t] = sum;
        }
        out
    }
}

impl Tile {
    /// What the kernel computes, block by block and round by round.
    fn expected(&self, width: usize, x: &[u32], n: u32) -> Vec<u32> {
        let kept = |value: u32| (u64::from(value) & self.most) as u32;
        let blocks = (0..BLOCKS).flat_map(|block| {
            let mut own: Vec<u32> =
                (0..width).map(|t| x[(block * width + t) % x.len()] ^ n).collect();
            let mut tile: Vec<u32> = own.iter().map(|value| kept(*value)).collect();
            for (round, &step) in
                self.rounds.iter().flat_map(|it| it.steps.iter().map(move |s| (it, s)))
            {
                let before = tile.clone();
                for t in 0..width {
                    let other = before[(round.read)(t, width, step)];
                    if (round.holds)(t, step, own[t], other) {
                        own[t] = (round.next)(t, step, own[t], other);
                        tile[(round.write)(t, width, step)] = kept(own[t]);
                    }
                }
            }
            (0..width).map(|t| own[t] ^ tile[t]).collect::<Vec<_>>()
        });
        blocks.collect()
    }
}

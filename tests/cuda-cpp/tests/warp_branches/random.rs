//! Random kernels in CUDA C++ with collectives under branches and loops of warps, and of lanes.
//!
//! What decides for a whole warp is computed from its number and from data at that place. Where lanes part, only
//! those that are there take part, and all meet again before the next collective.

use std::fmt::Write as _;

/// Files of kernels, and the kernels of each.
pub(crate) const FILES: u64 = 2;
pub(crate) const KERNELS: u64 = 8;

/// A kernel.
pub(crate) struct Kernel {
    pub(crate) name: String,
    body: String,
    /// Whether CUDA defines what it computes, in blocks of whole warps.
    pub(crate) is_defined: bool,
}

/// The kernels of a file; equal seeds give equal kernels.
pub(crate) fn kernels(seed: u64, file: u64) -> Vec<Kernel> {
    (0..KERNELS).map(|number| kernel(seed, file * KERNELS + number)).collect()
}

/// A file with these kernels.
pub(crate) fn text(kernels: &[Kernel]) -> String {
    let mut text = String::from(
        "#define FULL 0xffffffffu\n\
         #define T ((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x)\n\
         #define SIZE (blockDim.x * blockDim.y * blockDim.z)\n",
    );
    for Kernel { name, body, .. } in kernels {
        let _ = write!(
            text,
            "__global__ void {name}(unsigned *out, const unsigned *x, unsigned n) {{\n\
             __shared__ unsigned tile[1024];\n\
             unsigned t = T, i = blockIdx.x * SIZE + t, lane = t % 32, w = t / 32;\n\
             unsigned a = x[i], b = lane * 5 + n, c = 1;\ntile[t] = t;\n__syncthreads();\n\
             {body}out[i] = a ^ b * 3 ^ c * 7;\n}}\n"
        );
    }
    text
}

struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mixed = (self.0 ^ (self.0 >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed >> 33) % end
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len() as u64) as usize]
    }
}

/// Where a statement is.
#[derive(Clone, Copy)]
struct Place {
    depth: u32,
    /// All warps are there.
    is_block: bool,
    /// The loops around it.
    loops: u32,
}

struct Writer {
    random: Random,
    text: String,
    is_defined: bool,
    names: u32,
    /// The counters of the loops around a statement.
    counters: Vec<String>,
}

fn kernel(seed: u64, number: u64) -> Kernel {
    let random = Random(
        seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ number.wrapping_mul(0xd134_2543_de82_ef95),
    );
    let mut writer =
        Writer { random, text: String::new(), is_defined: true, names: 0, counters: Vec::new() };
    (0..20).for_each(|_| _ = writer.random.below(2));
    let place = Place { depth: 0, is_block: true, loops: 0 };
    writer.statements(place, 4);
    let Writer { text: body, is_defined, .. } = writer;
    Kernel { name: format!("random_{number}"), body, is_defined }
}

impl Writer {
    fn statements(&mut self, place: Place, least: u64) {
        let count = least + self.random.below(3);
        (0..count).for_each(|_| self.statement(place));
    }

    fn statement(&mut self, place: Place) {
        let is_deep = place.depth >= 3;
        match self.random.below(if is_deep { 8 } else { 16 }) {
            0 | 1 => self.set(),
            2..=5 => self.collective("FULL"),
            6 if place.loops > 0 => {
                let test = self.of_warp();
                let how = self.random.one(&["break", "break", "continue"]);
                let _ = writeln!(self.text, "if ({test}) {how};");
            }
            7 => self.of_lanes(),
            8..=10 => {
                let test = self.of_warp();
                let inner = Place { depth: place.depth + 1, is_block: false, ..place };
                let _ = writeln!(self.text, "if ({test}) {{");
                self.statements(inner, 1);
                if self.random.below(2) == 0 {
                    self.text.push_str("} else {\n");
                    self.statements(inner, 1);
                }
                self.text.push_str("}\n");
            }
            11..=13 => self.repeat(place),
            14 => {
                let test = self.of_warp();
                let _ =
                    writeln!(self.text, "if ({test} && w % 3 == 1) {{ out[i] = a + b; return; }}");
            }
            15 if self.random.below(3) == 0 => {
                // From here on warps lack lanes.
                self.is_defined = false;
                let value = self.random.below(13);
                let _ =
                    writeln!(self.text, "if (a % 17 == {value}) {{ out[i] = a * 3 + c; return; }}");
            }
            _ if place.is_block => {
                let by = 1 + self.random.below(40);
                let _ = writeln!(
                    self.text,
                    "tile[t] = a; __syncthreads(); b += tile[(t + {by}) % SIZE]; __syncthreads();"
                );
            }
            _ => self.collective("FULL"),
        }
    }

    fn set(&mut self) {
        let text = self.random.one(&[
            "a = a * 5 + b;",
            "b ^= a >> 3;",
            "c += b % 7;",
            "if (a % 3 == lane % 3) c = a; else b = c + 1;",
            "for (unsigned k = 0; k < a % 4; k++) b += b / 3 + k;",
            "a = x[(a + w) % SIZE];",
        ]);
        let _ = writeln!(self.text, "{text}");
    }

    fn collective(&mut self, mask: &str) {
        let by = 1 + self.random.below(31);
        let text = match self.random.below(9) {
            0 => format!("a += __shfl_xor_sync({mask}, a, {by});"),
            1 => format!("b ^= __shfl_up_sync({mask}, a, {by});"),
            2 => format!("a += __shfl_down_sync({mask}, b, {by});"),
            3 => format!("c = __shfl_sync({mask}, a, (b + {by}) % 32);"),
            4 => format!("c ^= __ballot_sync({mask}, a % 3 == 0);"),
            5 => format!("b += __any_sync({mask}, a % 64 == {by});"),
            6 => format!("b += 2 * __all_sync({mask}, a % 64 != {by});"),
            7 => format!("__syncwarp({mask}); c++;"),
            _ => format!("for (int s = 16; s > 0; s >>= 1) a += __shfl_xor_sync({mask}, a, s);"),
        };
        let _ = writeln!(self.text, "{text}");
    }

    /// Some lanes of each warp, and what they do together.
    fn of_lanes(&mut self) {
        // What the mask of the active lanes is depends on the machine.
        self.is_defined = false;
        let test =
            self.random.one(&["a % 3 == 1", "lane < 9", "b % 2 == a % 2", "(a ^ lane) % 5 > 1"]);
        let _ = writeln!(self.text, "if ({test}) {{");
        for _ in 0..1 + self.random.below(2) {
            self.text.push_str("{ unsigned here = __activemask(); ");
            self.collective("here");
            self.text.push_str("}\n");
        }
        self.set();
        self.text.push_str("}\n__syncwarp();\n");
    }

    fn repeat(&mut self, place: Place) {
        self.names += 1;
        let k = format!("k{}", self.names);
        let (most, step) = (2 + self.random.below(5), 1 + self.random.below(2));
        let trips = match self.random.below(4) {
            0 => format!("{most}"),
            1 => format!("(w * {step} + n) % {most}"),
            2 => format!("x[(w + {step}) % SIZE] % {most}"),
            _ => format!("(x[w % SIZE] + c % 1 + w) % {most} + 1"),
        };
        let is_block = place.is_block && !trips.contains('w');
        let inner = Place { depth: place.depth + 1, is_block: false, loops: place.loops + 1 };
        let inner = Place { is_block: is_block && self.random.below(2) == 0, ..inner };
        let inner = if inner.is_block { Place { loops: 0, ..inner } } else { inner };
        let _ = writeln!(self.text, "for (unsigned {k} = 0; {k} < {trips}; {k}++) {{\nc += {k};");
        self.counters.push(k);
        self.statements(inner, 2);
        self.counters.pop();
        self.text.push_str("}\n");
    }

    /// A condition that is the same for all lanes of a warp.
    fn of_warp(&mut self) -> String {
        let (number, of) = (self.random.below(4), 2 + self.random.below(3));
        let inner = self.counters.last().map(|name| format!(" + {name}")).unwrap_or_default();
        match self.random.below(4) {
            0 => format!("(w + {number}{inner}) % {of} == 0"),
            1 => format!("w <= {number}"),
            2 => format!("(x[(w + {number}) % SIZE]{inner}) % {of} == 1"),
            _ => format!("(n + w * {number}{inner}) % {of} != 0"),
        }
    }
}

//! Random safe kernels that panic: outlined calls under conditions, panics and assertions after them, early
//! returns, and several checked slices. What a thread does is two functions that the host calls too.

use std::fmt::Write as _;

use super::Random;

/// One random kernel.
pub(crate) struct Checked {
    pub(crate) index: u64,
    /// The outlined functions, the conditions, and the body of a thread.
    functions: String,
    /// Whether a barrier lies between the conditions and the body.
    has_barrier: bool,
}

impl Checked {
    /// The kernel of this number; equal seeds give equal kernels.
    pub(crate) fn new(seed: u64, index: u64) -> Self {
        let mut random = Random::new(seed.wrapping_mul(0xe703_7ed1_a0b4_28db) ^ (index << 13));
        for _ in 0..8 {
            random.below(2);
        }
        let has_barrier = random.below(4) == 0;
        let mut writer = Writer { random: &mut random, index, sites: 0, names: 0, budget: 14 };
        let mut functions = writer.outlined(0) + &writer.outlined(1);
        functions += &writer.conditions();
        functions += &writer.body();
        Self { index, functions, has_barrier }
    }

    /// The functions, as Rust.
    pub(crate) fn functions(&self) -> &str {
        &self.functions
    }

    pub(crate) fn kernel(&self) -> String {
        let index = self.index;
        let (before, after) = if self.has_barrier {
            (
                "    static mut TILE: SharedArray<u32, 64> = SharedArray::UNINIT;\n    \
                 let t = thread::thread_idx().x as usize;\n    \
                 let width = thread::block_dim().x as usize;\n    \
                 unsafe { TILE[t] = i.get() as u32 };\n",
                "    thread::sync_threads();\n    \
                 let seed = unsafe { TILE[(t + 1) % width] };\n",
            )
        } else {
            ("", "    let seed = i.get() as u32 + 1;\n")
        };
        format!(
            "\n#[kernel]\npub fn checked_{index}(n: u32, x: &[u32], a: &[u32], b: &[u32], \
             mut out: DisjointSlice<u32>) {{\n    let i = thread::index_1d();\n{before}    \
             let conditions = conditions_{index}(i.get(), a.len(), b.len(), n);\n{after}    \
             if let Some(out) = out.get_mut(i) {{ body_{index}(i.get(), conditions, x, a, b, n, seed, out); }}\n}}\n"
        )
    }

    /// What the host follows.
    pub(crate) fn host_side(&self, file: u64) -> String {
        let Self { index, functions, has_barrier } = self;
        format!(
            "Checked {{ name: \"checked_{index}\", has_barrier: {has_barrier}, text: {functions:?}, \
             conditions: functions_{file}::conditions_{index}, body: functions_{file}::body_{index}, \
             launch: |on, launch, n, x, a, b, out| \
             on.kernels.checked_{index}(&on.stream, launch, n, x, a, b, out) }},\n"
        )
    }
}

const ALLOW: &str = "#[allow(unused, clippy::all, reason = \"random code\")]\n";

/// The text of a kernel's functions that is being written.
struct Writer<'r> {
    random: &'r mut Random,
    index: u64,
    /// Panics that have been written, each with a message of its own.
    sites: u32,
    names: u32,
    /// Statements that may still be written.
    budget: u32,
}

impl Writer<'_> {
    fn one(&mut self, of: &[&str]) -> String {
        of[self.random.below(of.len() as u32) as usize].to_owned()
    }

    /// A function that is never inlined, of numbers or of floats.
    fn outlined(&mut self, number: u32) -> String {
        let index = self.index;
        let rounds = 3 + self.random.below(40);
        let update =
            self.one(&["s * y + i as f64", "s + y * 0.75", "s * 0.5 - y", "(s + y).abs()"]);
        let cut = self.one(&["s *= 0.5", "s -= 999.0", "return 7", "break"]);
        let whole = self.one(&[
            "s.wrapping_mul(y | 1).wrapping_add(i)",
            "s.rotate_left(y % 32) ^ i",
            "(s ^ y) / (i + 1)",
        ]);
        let text = match self.random.below(3) {
            0 => format!(
                "let (mut s, y) = (f64::from(s % 1000), f64::from(y % 100) * 0.01); let mut i = 0_u32;\n    \
                 while i < {rounds} {{ s = {update}; i += 1; if s > 1e3 {{ {cut}; }} }}\n    (s * 8.0) as u32"
            ),
            1 => format!("let mut s = s; for i in 0..{rounds} {{ s = {whole}; }} s"),
            _ => format!(
                "let mut s = s; for i in 0..y % {rounds} {{ s = {whole}; if s % 7 == 3 {{ return s / 2; }} }} s"
            ),
        };
        format!(
            "{ALLOW}#[inline(never)]\nfn outlined_{index}_{number}(s: u32, y: u32) -> u32 {{\n    {text}\n}}\n\n"
        )
    }

    /// Three conditions on a thread's number, computed before anything else.
    fn conditions(&mut self) -> String {
        let index = self.index;
        let three: Vec<_> = (0..3).map(|_| self.limit("a", "b")).collect();
        format!(
            "{ALLOW}fn conditions_{index}(i: usize, a: usize, b: usize, n: u32) -> (bool, bool, bool) {{\n    \
             ({})\n}}\n\n",
            three.join(", ")
        )
    }

    /// A condition on a thread's number and two lengths.
    fn limit(&mut self, a: &str, b: &str) -> String {
        let (factor, offset) = (1 + self.random.below(4), self.random.below(9));
        let length = if self.random.below(2) == 0 { a } else { b };
        match self.random.below(9) {
            0 => format!("i * {factor} + {offset} <= {length}"),
            1 => format!("i + {offset} < {length}"),
            2 => format!("{length} > i * {factor}"),
            3 => format!("!(i * {factor} + {offset} >= {length})"),
            4 => format!(
                "(i as u32).wrapping_mul({factor}).wrapping_add(n) as usize % 4096 < {length}"
            ),
            5 => format!("(i as u32 * {factor} + {offset}) < {length} as u32"),
            6 => format!("i as i32 * {factor} - {offset} < {length} as i32"),
            7 => format!("i + {offset} < {a} && i * {factor} < {b}"),
            _ => format!("i + {offset} < {a} || i / {factor} < {b}"),
        }
    }

    /// A condition where a thread has a number `s`.
    fn condition(&mut self) -> String {
        match self.random.below(9) {
            0 => self.limit("a.len()", "b.len()"),
            1 => self.one(&["s % 4 == 1", "s % 3 != 0", "s > 1000", "(s as i32) < 0"]),
            2 => self.one(&["i % 2 == 0", "i % 5 != 3", "i > 20", "i % 16 < 9"]),
            3 => self.one(&["n > 100", "n % 2 == 0"]),
            4 => format!("!{}", self.one(&["c.0", "c.1", "c.2"])),
            5 => self.one(&["c.0 && c.1", "c.1 || s % 2 == 0", "c.0 != c.2"]),
            _ => self.one(&["c.0", "c.1", "c.2"]),
        }
    }

    /// The index of an element of a slice.
    fn place(&mut self, slice: &str) -> String {
        let (factor, offset) = (1 + self.random.below(3), self.random.below(12));
        match self.random.below(7) {
            0 => format!("i * {factor}"),
            1 | 2 => format!("i + {offset}"),
            3 => format!("(i as u32 + {offset}) as usize"),
            4 => format!("s as usize % ({slice}.len() + {})", self.random.below(2)),
            5 => format!("(n as usize % 3) * {factor} + i"),
            _ => "i".to_owned(),
        }
    }

    fn slice(&mut self) -> String {
        self.one(&["a", "b"])
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("v{}", self.names)
    }

    fn body(&mut self) -> String {
        let index = self.index;
        let mut text = String::new();
        for _ in 0..3 + self.random.below(4) {
            text.push_str(&self.statement(1));
        }
        format!(
            "{ALLOW}fn body_{index}(i: usize, c: (bool, bool, bool), x: &[u32], a: &[u32], b: &[u32], \
             n: u32, seed: u32, out: &mut u32) {{\n    let mut s = seed;\n{text}    *out = s;\n}}\n\n"
        )
    }

    fn block(&mut self, depth: usize) -> String {
        let statements = 1 + self.random.below(3);
        (0..statements).map(|_| self.statement(depth + 1)).collect()
    }

    fn statement(&mut self, depth: usize) -> String {
        let pad = "    ".repeat(depth);
        self.budget = self.budget.saturating_sub(1);
        let kinds = if self.budget == 0 || depth > 3 { 9 } else { 13 };
        match self.random.below(kinds) {
            0 | 1 => self.call(&pad),
            2 => self.panic(&pad),
            3 | 4 => self.element(&pad),
            5 => self.early_return(&pad),
            6 => format!("{pad}*out = s;\n"),
            7 => self.option(&pad),
            8 => self.row(&pad),
            9 => self.counted_loop(depth, &pad),
            _ => self.branch(depth, &pad),
        }
    }

    fn call(&mut self, pad: &str) -> String {
        let (index, number) = (self.index, self.random.below(2));
        let other = self.one(&["n", "i as u32", "x[i % x.len()]", "s / 3", "*out"]);
        format!("{pad}s = outlined_{index}_{number}(s, {other});\n")
    }

    /// A panic that few threads come to where the slices are long.
    fn panic(&mut self, pad: &str) -> String {
        self.sites += 1;
        let (site, kind) = (self.sites, self.random.below(5));
        let condition = self.one(&["c.0", "c.1", "c.2"]);
        let limit = self.limit("a.len()", "b.len()");
        match kind {
            0 => format!("{pad}assert!({condition}, \"site {site}\");\n"),
            1 => format!("{pad}if !{condition} {{ panic!(\"site {site}\"); }}\n"),
            2 => format!("{pad}assert!({limit}, \"site {site}\");\n"),
            3 => format!(
                "{pad}if !({condition} && {limit}) {{ panic!(\"site {site} with {{s}}\"); }}\n"
            ),
            _ => format!("{pad}if s % 997 == 5 && !{condition} {{ panic!(\"site {site}\"); }}\n"),
        }
    }

    fn element(&mut self, pad: &str) -> String {
        let slice = self.slice();
        let place = self.place(&slice);
        match self.random.below(3) {
            0 => format!("{pad}s ^= {slice}[{place}];\n"),
            1 => format!("{pad}s = {slice}[{place}].wrapping_add(s / 5);\n"),
            _ => format!("{pad}*out = {slice}[{place}] ^ s;\n"),
        }
    }

    /// Several checks in a row.
    fn row(&mut self, pad: &str) -> String {
        let (slice, other) = (self.slice(), self.slice());
        let (first, second) = (self.place(&slice), self.place(&other));
        format!(
            "{pad}s = s.wrapping_add({slice}[i] ^ {slice}[i + 1]).wrapping_sub({other}[{second}] | {slice}[{first}]);\n"
        )
    }

    fn early_return(&mut self, pad: &str) -> String {
        let condition = self.condition();
        let before = self.one(&["*out = s; ", "*out ^= 5; ", ""]);
        format!("{pad}if {condition} {{ {before}return; }}\n")
    }

    fn option(&mut self, pad: &str) -> String {
        let (slice, name) = (self.slice(), self.name());
        let place = self.place(&slice);
        match self.random.below(4) {
            0 => format!(
                "{pad}let Some({name}) = {slice}.get({place}) else {{ return }};\n{pad}s ^= *{name};\n"
            ),
            1 => format!(
                "{pad}s = {slice}.get({place}).copied().unwrap_or(3).rotate_left(s % 32);\n"
            ),
            2 => format!("{pad}s ^= *{slice}.get({place}).unwrap();\n"),
            _ => format!(
                "{pad}let {name} = {slice}.iter().skip(i).take(3).fold(s, |l, r| l.wrapping_mul(3) ^ r);\n{pad}s = {name};\n"
            ),
        }
    }

    fn branch(&mut self, depth: usize, pad: &str) -> String {
        let (condition, yes) = (self.condition(), self.block(depth));
        if self.random.below(2) == 0 {
            return format!("{pad}if {condition} {{\n{yes}{pad}}}\n");
        }
        let no = self.block(depth);
        format!("{pad}if {condition} {{\n{yes}{pad}}} else {{\n{no}{pad}}}\n")
    }

    fn counted_loop(&mut self, depth: usize, pad: &str) -> String {
        let (name, limit) = (self.name(), self.one(&["s % 5", "n % 4", "3", "i as u32 % 3"]));
        let (slice, inner) = (self.slice(), self.block(depth));
        let mut text = format!("{pad}for {name} in 0..{limit} {{\n{inner}");
        let condition = self.condition();
        let _ = match self.random.below(4) {
            0 => writeln!(text, "{pad}    if {condition} {{ break; }}"),
            1 => writeln!(text, "{pad}    if {condition} {{ continue; }}"),
            2 => writeln!(text, "{pad}    s ^= {slice}[i + {name} as usize];"),
            _ => Ok(()),
        };
        text + &format!("{pad}    s = s.wrapping_add({name});\n{pad}}}\n")
    }
}

//! Random kernels as text.
//!
//! A case is two pure functions, `f` of a thread's number and the input, and `g` of a round's
//! values, and a kernel that calls them around barriers. The functions are compiled for the host
//! too, so what they mean is what Rust says; the kernel's own skeleton is small enough to be
//! followed on the host by hand (`src/lib.rs`).

#[path = "checks.rs"]
mod checks;
#[path = "host_side.rs"]
mod host_side;
#[path = "loops.rs"]
mod loops;
#[path = "strides.rs"]
mod strides;
#[path = "tiles.rs"]
mod tiles;

pub(crate) use checks::Checked;
pub(crate) use host_side::Kernels;
pub(crate) use strides::Stride;
pub(crate) use tiles::Tile;

use std::fmt::Write as _;

/// One random kernel.
pub(crate) struct Case {
    /// Its number, part of its name.
    pub(crate) index: u64,
    /// `f` and `g`, as Rust.
    pub(crate) functions: String,
    /// Threads whose value is 0 modulo this leave before the first barrier; 0: none do.
    pub(crate) leave: u32,
    /// Rounds between barriers.
    pub(crate) rounds: u32,
    /// How far the neighbour is whose value a round reads.
    pub(crate) step: u32,
    /// Whether the number of rounds is known only when the kernel runs.
    pub(crate) open: bool,
    /// After round 1 the threads whose index is 0 modulo this leave the loop; 0: none do.
    pub(crate) quit: u32,
    /// In the end lanes exchange values by this operation; 0: by none.
    pub(crate) mix: u32,
    /// How far, or from which lane.
    pub(crate) lane: u32,
}

impl Case {
    /// The case of this number; equal seeds give equal cases.
    pub(crate) fn new(seed: u64, index: u64) -> Self {
        let mut random = Random::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (index << 17));
        let mut functions = String::new();
        for (name, parameters) in
            [("f", "i: u32, x: &[u32], n: u32"), ("g", "i: u32, x: &[u32], n: u32")]
        {
            let mut body = Body { random: &mut random, variables: Vec::new(), next: 0, budget: 9 };
            let text = body.function();
            let _ = write!(
                functions,
                "#[allow(unused, clippy::all, reason = \"random code\")]\nfn {name}{index}({parameters}) -> u32 {{\n{text}}}\n\n"
            );
        }
        let rounds = random.below(4);
        let step = 1 + random.below(62);
        let open = random.below(2) == 0;
        let (leave, quit, mix, lane) = (0, 0, 0, 0);
        let mut case = Self { index, functions, leave, rounds, step, open, quit, mix, lane };
        let kind = random.below(6);
        match kind {
            0 | 4 => case.leave = [3, 5, 11][random.below(3) as usize],
            1 => case.quit = [3, 7][random.below(2) as usize],
            _ => {}
        }
        if matches!(kind, 2..5) {
            case.mix = 1 + random.below(7);
            case.lane = [1, 5, 16, 31][random.below(4) as usize];
        }
        case
    }

    /// The kernel, twice, for blocks of at most 64 threads: as it is, and with barriers under a
    /// condition that holds for every thread, which no compiler can know. On the CPU that
    /// is lowered to a coroutine, for which nothing has to be proven.
    pub(crate) fn kernels(&self) -> String {
        let name = format!("case_{}", self.index);
        let plain = self.kernel(&name, "thread::sync_threads();");
        let apart = "if (t as u32) < n { thread::sync_threads(); }";
        plain + &self.kernel(&format!("{name}_apart"), apart)
    }

    fn kernel(&self, name: &str, barrier: &str) -> String {
        let Self { index, leave, rounds, step, quit, .. } = self;
        let leaving = if *leave == 0 {
            String::new()
        } else {
            format!("    if value % {leave} == 0 {{ return; }}\n")
        };
        let more = if self.open { " + n / 65536" } else { "" };
        let quitting = if *quit == 0 {
            String::new()
        } else {
            format!("        if round == 1 && t % {quit} == 0 {{ break; }}\n")
        };
        let mixing = self.exchange().map_or_else(String::new, |exchange| {
            format!(
                "    for _ in 0..2{more} {{\n        let mine = unsafe {{ TILE[t] }};\n        \
                 unsafe {{ TILE[t] = mine.rotate_left(1) ^ {exchange} }};\n    }}\n"
            )
        });
        format!(
            "\n#[kernel]\npub fn {name}(n: u32, x: &[u32], mut out: DisjointSlice<u32>) {{\n    \
             static mut TILE: SharedArray<u32, 64> = SharedArray::UNINIT;\n    \
             let i = thread::index_1d();\n    let t = thread::thread_idx().x as usize;\n    \
             let width = thread::block_dim().x as usize;\n    \
             let value = f{index}(i.get() as u32, x, n);\n    \
             unsafe {{ TILE[t] = value }};\n    \
             if let Some(out) = out.get_mut(i) {{ *out = value; }}\n{leaving}    \
             for round in 0..{rounds}{more} {{\n        {barrier}\n        \
             let other = unsafe {{ TILE[(t + {step}) % width] }};\n        {barrier}\n        \
             if other % 3 != round % 3 {{ unsafe {{ TILE[t] = g{index}(other, x, n ^ t as u32) }}; }}\n\
             {quitting}    }}\n{mixing}    \
             if let Some(out) = out.get_mut(i) {{ *out = unsafe {{ TILE[t] }}; }}\n}}\n"
        )
    }
}

impl Case {
    /// What the host follows.
    fn host_side(&self, file: u64) -> String {
        let Self { index, functions, leave, rounds, step, quit, mix, lane, .. } = self;
        format!(
            "Case {{ name: \"case_{index}\", f: functions_{file}::f{index}, g: functions_{file}::g{index}, \
             leave: {leave}, rounds: {rounds}, step: {step}, quit: {quit}, mix: {mix}, lane: {lane}, \
             text: {functions:?}, \
             launch: |on, launch, n, x, out| on.kernels.case_{index}(&on.stream, launch, n, x, out), \
             launch_apart: |on, launch, n, x, out| \
             on.kernels.case_{index}_apart(&on.stream, launch, n, x, out) }},\n"
        )
    }

    /// The operation by which lanes exchange `mine`; `Case::mixed` of `src/lib.rs` does the same.
    fn exchange(&self) -> Option<String> {
        let lane = self.lane;
        Some(match self.mix {
            0 => return None,
            1 => format!("warp::shuffle_xor(mine, {lane})"),
            2 => format!("warp::shuffle_up(mine, {lane})"),
            3 => format!("warp::shuffle_down(mine, {lane})"),
            4 => format!("warp::shuffle(mine, {lane})"),
            5 => format!("warp::shuffle(mine, mine % {lane})"),
            6 => format!("warp::shuffle_down(mine, mine / 5 % {lane})"),
            _ => format!("warp::ballot(mine % {lane} < 2)"),
        })
    }
}

/// A generator of numbers that looks random enough, xorshift64*.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    fn below(&mut self, limit: u32) -> u32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as u32 % limit
    }
}

/// The body of a function that is being written.
struct Body<'r> {
    random: &'r mut Random,
    /// Names that are in scope, all of type `u32`.
    variables: Vec<String>,
    next: usize,
    /// Statements that may still be nested.
    budget: u32,
}

impl Body<'_> {
    fn function(&mut self) -> String {
        self.variables = vec!["i".into(), "n".into()];
        let mut text = String::new();
        for _ in 0..2 + self.random.below(4) {
            text.push_str(&self.statement(1));
        }
        let result = self.expression(2);
        text + &format!("    {result}\n")
    }

    fn name(&mut self) -> String {
        self.next += 1;
        format!("v{}", self.next)
    }

    fn variable(&mut self) -> String {
        let index = self.random.below(self.variables.len() as u32);
        self.variables[index as usize].clone()
    }

    fn statement(&mut self, depth: usize) -> String {
        let pad = "    ".repeat(depth);
        self.budget = self.budget.saturating_sub(1);
        let kind = if self.budget == 0 || depth > 3 { 0 } else { self.random.below(11) };
        match kind {
            1 => self.branch(depth, &pad),
            2 => self.counted_loop(depth, &pad),
            3 => self.open_loop(depth, &pad),
            4 => self.array(&pad),
            5 => self.matching(&pad),
            6 => self.early_return(&pad),
            7 => loops::several_exits(self, depth, &pad),
            8 => loops::labelled(self, depth, &pad),
            9 => loops::escape(self, &pad),
            _ => {
                let value = self.expression(3);
                let name = self.name();
                self.variables.push(name.clone());
                format!("{pad}let mut {name}: u32 = {value};\n")
            }
        }
    }

    /// Statements in braces; what they define is forgotten after them.
    fn block(&mut self, depth: usize) -> String {
        let known = self.variables.len();
        let mut text = String::new();
        for _ in 0..1 + self.random.below(2) {
            text.push_str(&self.statement(depth + 1));
        }
        self.variables.truncate(known);
        text
    }

    /// A variable that can be assigned to, made before the statement that does.
    fn target(&mut self, pad: &str) -> (String, String) {
        let (name, value) = (self.name(), self.expression(1));
        (name.clone(), format!("{pad}let mut {name}: u32 = {value};\n"))
    }

    fn branch(&mut self, depth: usize, pad: &str) -> String {
        let (name, declaration) = self.target(pad);
        let condition = self.condition();
        let (yes, yes_value) = (self.block(depth), self.expression(2));
        let (no, no_value) = (self.block(depth), self.expression(2));
        // What the blocks define is gone, so their values use only what is known outside.
        self.variables.push(name.clone());
        format!(
            "{declaration}{pad}if {condition} {{\n{yes}{pad}    {name} = {yes_value};\n{pad}}} else \
             {{\n{no}{pad}    {name} ^= {no_value};\n{pad}}}\n"
        )
    }

    fn counted_loop(&mut self, depth: usize, pad: &str) -> String {
        let (name, declaration) = self.target(pad);
        let (counter, limit) = (self.name(), self.expression(1));
        let known = self.variables.len();
        self.variables.extend([name.clone(), counter.clone()]);
        let (inner, value) = (self.block(depth), self.expression(2));
        self.variables.truncate(known);
        self.variables.push(name.clone());
        format!(
            "{declaration}{pad}for {counter} in 0..{limit} % 9 {{\n{inner}{pad}    \
             {name} = {name}.rotate_left(5).wrapping_add({value});\n{pad}}}\n"
        )
    }

    /// A loop that ends by a `break` in its middle.
    fn open_loop(&mut self, depth: usize, pad: &str) -> String {
        let (name, declaration) = self.target(pad);
        let counter = self.name();
        let known = self.variables.len();
        self.variables.extend([name.clone(), counter.clone()]);
        let (condition, inner, value) = (self.condition(), self.block(depth), self.expression(2));
        self.variables.truncate(known);
        self.variables.push(name.clone());
        format!(
            "{declaration}{pad}let mut {counter}: u32 = 0;\n{pad}loop {{\n{pad}    {counter} += 1;\n\
             {pad}    if {counter} > 12 || {condition} {{ break; }}\n{inner}{pad}    \
             if {name} % 5 == 2 {{ {name} += 1; continue; }}\n{pad}    \
             {name} = {name}.wrapping_mul(3) ^ {value};\n{pad}}}\n"
        )
    }

    fn array(&mut self, pad: &str) -> String {
        let array = self.name();
        let values: Vec<_> = (0..4).map(|_| self.expression(1)).collect();
        let (index, value, read) = (self.expression(1), self.expression(2), self.expression(1));
        let name = self.name();
        self.variables.push(name.clone());
        format!(
            "{pad}let mut {array} = [{}];\n{pad}{array}[({index} % 4) as usize] = {value};\n\
             {pad}let {name}: u32 = {array}[({read} % 4) as usize] ^ {array}.iter().fold(7, |a: u32, b| \
             a.wrapping_mul(31).wrapping_add(*b));\n",
            values.join(", ")
        )
    }

    fn matching(&mut self, pad: &str) -> String {
        let (on, first, second, third) =
            (self.expression(2), self.expression(2), self.expression(2), self.expression(2));
        let name = self.name();
        self.variables.push(name.clone());
        format!(
            "{pad}let {name}: u32 = match {on} % 6 {{\n{pad}    0 => {first},\n{pad}    1 | 4 => {second},\n\
             {pad}    other => other ^ {third},\n{pad}}};\n"
        )
    }

    fn early_return(&mut self, pad: &str) -> String {
        let (condition, value) = (self.condition(), self.expression(1));
        format!("{pad}if {condition} {{ return {value}; }}\n")
    }

    fn condition(&mut self) -> String {
        let (left, right) = (self.expression(1), self.expression(1));
        match self.random.below(5) {
            0 => format!("{left} > {right}"),
            1 => format!("{left} % 4 == {right} % 3"),
            2 => format!("({left} as i32) < ({right} as i32)"),
            3 => format!("({left} & 0xff) as f32 * 0.5 > ({right} & 0x7f) as f32"),
            _ => format!("{left}.count_ones() >= {right}.leading_zeros()"),
        }
    }

    fn expression(&mut self, depth: u32) -> String {
        if depth == 0 {
            return match self.random.below(4) {
                0 => format!("{}_u32", self.random.below(1 << 31)),
                1 => format!("{}_u32", self.random.below(9)),
                _ => self.variable(),
            };
        }
        let left = self.expression(depth - 1);
        let right = self.expression(depth - 1);
        match self.random.below(18) {
            0 => format!("{left}.wrapping_add({right})"),
            1 => format!("{left}.wrapping_sub({right})"),
            2 => format!("{left}.wrapping_mul({right})"),
            3 => format!("({left} ^ {right})"),
            4 => format!("({left} & !{right})"),
            5 => format!("({left} / ({right} | 1))"),
            6 => format!("(({left} as i32) % (({right} as i32) | 0x10)) as u32").wrap(),
            7 => format!("{left}.rotate_right({right} % 32)"),
            8 => format!("({left} >> ({right} % 31))"),
            9 => format!("(({left} as i32).wrapping_shr({right})) as u32").wrap(),
            10 => format!("((u64::from({left}) * u64::from({right})) >> 16) as u32").wrap(),
            11 => format!("{left}.min({right})"),
            12 => format!("x[({left} % x.len() as u32) as usize]"),
            13 => format!("{left}.checked_div({right}).unwrap_or(17)"),
            14 => format!(
                "(({left} & 0xffff) as f32 / (({right} & 0xff) as f32 + 0.5) - 3.25).to_bits()"
            ),
            15 => format!("((({left} >> 7) as f32 * 0.0625 - 9.5) as u32 ^ {right})"),
            16 => format!(
                "x[(({left} % 9) * 10 + {right} % 10) as usize % x.len()].wrapping_add({left} / 10 % 7)"
            ),
            _ => format!("((f64::from({left}) * 0.37 + f64::from({right})).sqrt() as u32)"),
        }
    }
}

/// Text in brackets.
trait Wrap {
    fn wrap(self) -> String;
}

impl Wrap for String {
    fn wrap(self) -> String {
        format!("({self})")
    }
}

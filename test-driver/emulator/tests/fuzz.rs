//! A structured fuzzer: kernels with changes that know what PTX looks like are parsed, loaded and run.
//!
//! Whatever the text is, the answer is an error of one line for each mistake, a fault, or a result: no
//! panic, no memory beyond a bound, no launch past its budget. `KERNELMILL_FUZZ_CASES` says how many inputs
//! to try and `KERNELMILL_FUZZ_SEED` with which first seed; every input has its own seed, which is printed
//! when it fails and makes it again alone with `KERNELMILL_FUZZ_CASES=1`; `KERNELMILL_FUZZ_SECONDS` ends a long
//! run.
//!
//! After Zeller, Gopinath, Böhme, Fraser and Holler, ["The Fuzzing Book"](https://www.fuzzingbook.org),
//! "Mutation-Based Fuzzing" and "Fuzzing with Grammars".

#![allow(clippy::result_large_err, reason = "a launch fails once in a test")]

#[path = "common/cases.rs"]
mod cases;
mod common;

use cases::CASES;
use common::Random;
use ptx_emulator::{Device, Kernel, Launch, Module, Options, Order, Properties};
use std::alloc::{GlobalAlloc, Layout, System};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Inputs that are tried where the environment does not say how many.
const CASES_IN_CI: u64 = 2_000;

/// Most bytes that an input may make the emulator hold.
const MOST_BYTES: usize = 1 << 30;

/// Counts the bytes that are allocated.
struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: everything is passed on to the system's allocator; counting touches no memory of its own.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let live = LIVE.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(live, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let live = LIVE.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(live, Ordering::Relaxed);
        // SAFETY: as in `alloc`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as in `alloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Instructions that no kernel of the corpus has, so that their modifiers and operands are tried too.
const EXTRA: &str = "
    mov.v4.u32 {%r1, %r2, %r3, %r4}, %tid;
    .reg .v4 .f32 vec; .reg .v2 .b64 wide<4>; .reg .b128 %q<3>; .reg .b16 %h<9>;
    mov.b128 %q1, {%rd1, %rd2};
    lop3.b32 %r1, %r2, %r3, %r4, 0x1b;
    shf.r.wrap.b32 %r1, %r2, %r3, %r4;
    prmt.b32.b4e %r1, %r2, %r3, %r4;
    bfe.s32 %r1, %r2, %r3, %r4;
    bfi.b64 %rd1, %rd2, %rd3, %r1, %r2;
    szext.clamp.s32 %r1, %r2, %r3;
    bmsk.wrap.b32 %r1, %r2, %r3;
    fns.b32 %r1, %r2, %r3, %r4;
    dp4a.u32.s32 %r1, %r2, %r3, %r4;
    sub.cc.u32 %r1, %r2, %r3; addc.cc.u32 %r1, %r2, %r3; madc.hi.u32 %r1, %r2, %r3, %r4;
    vote.sync.ballot.b32 %r1, %p1, 0xffffffff;
    match.all.sync.b64 %r1|%p1, %rd1, 0xffffffff;
    redux.sync.min.s32 %r1, %r2, 0xffffffff;
    elect.sync %r1|%p1, 0xffffffff; activemask.b32 %r1;
    shfl.sync.bfly.b32 %r1|%p1, %r2, 1, 0x1f, 0xffffffff;
    barrier.cta.red.popc.aligned.u32 %r1, 1, 64, %p1;
    bar.arrive 1, 64; bar.warp.sync 0xffffffff; nanosleep.u32 5;
    mbarrier.init.shared.b64 [%r1], 1; mbarrier.arrive.shared.b64 %rd1, [%r1];
    mbarrier.try_wait.parity.shared.b64 %p1, [%r1], 0;
    cp.async.cg.shared.global [%r1], [%rd1], 16, 8; cp.async.wait_group 0; cp.async.commit_group;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], 64, [%r2];
    ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r1, %r2, %r3, %r4}, [%r5];
    mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, {%r5,%r6}, {%f1,%f2,%f3,%f4};
    wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8}, [%rd1], %r1;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1,%f2,%f3,%f4}, %rd1, %rd2, 1, 1, 1, 0, 0;
    atom.global.cas.b64 %rd1, [%rd2], %rd3, %rd4; red.shared.add.f32 [%r1], %f1; atom.exch.b128 %q1, [%rd1], %q2;
    ld.volatile.v2.f64 {%fd1, %fd2}, [%rd1+16]; st.release.gpu.global.u32 [%rd1], %r1;
    cvt.rn.bf16x2.f32 %r1, %f1, %f2; cvt.rni.sat.s8.f32 %r1, %f1; cvt.rn.satfinite.e4m3x2.f32 %h1, %f1, %f2;
    set.lt.and.f32.f32 %f1, %f2, %f3, %p1; setp.ltu.xor.f16x2 %p1|%p2, %r1, %r2, %p3;
    testp.subnormal.f32 %p1, %f1; copysign.f64 %fd1, %fd2, %fd3; fma.rn.relu.f16x2 %r1, %r2, %r3, %r4;
    ex2.approx.ftz.f32 %f1, %f2; sqrt.rn.f64 %fd1, %fd2; rcp.approx.ftz.f64 %fd1, %fd2; div.full.f32 %f1, %f2, %f3;
    isspacep.shared %p1, %rd1; cvta.to.local.u64 %rd1, %rd2; createpolicy.fractional.L2::evict_last.b64 %rd1, 0.5;
    call (%r1), %rd1, (%r2), prototype_0; brx.idx %r1, table;
    .local .align 8 .b8 stack[16]; .shared .align 8 .b8 block[64]; .global .u32 counts[4] = {1, 2 * 3, -1, ~0};
    @!%p1 trap; exit; brkpt; membar.sys; fence.proxy.async; discard.global.L2 [%rd1], 128; pmevent 3;
    mul24.hi.s32 %r1, %r2, %r3; mad24.hi.sat.s32 %r1, %r2, %r3, %r4; sad.u16 %h1, %h2, %h3; min.s16x2 %r1, %r2, %r3;
";

/// Numbers at the edges.
const NUMBERS: [&str; 22] = [
    "0",
    "1",
    "-1",
    "3",
    "31",
    "32",
    "33",
    "63",
    "64",
    "127",
    "255",
    "4096",
    "65535",
    "0x7fffffff",
    "0x80000000",
    "0xffffffff",
    "0x100000000",
    "0x7fffffffffffffff",
    "0x8000000000000000",
    "0xffffffffffffffff",
    "999999999",
    "1 << 40",
];

/// Words of which texts are made where a change replaces one.
const WORDS: [&str; 45] = [
    ".pred",
    ".b8",
    ".b16",
    ".b32",
    ".b64",
    ".b128",
    ".u8",
    ".s8",
    ".u16",
    ".s16",
    ".u32",
    ".s32",
    ".u64",
    ".s64",
    ".f16",
    ".f16x2",
    ".bf16",
    ".bf16x2",
    ".f32",
    ".f64",
    ".tf32",
    ".e4m3x2",
    ".v2",
    ".v4",
    ".v8",
    ".global",
    ".shared",
    ".local",
    ".const",
    ".param",
    ".cc",
    ".sat",
    ".ftz",
    ".rn",
    ".rz",
    ".hi",
    ".lo",
    ".wide",
    ".sync",
    ".aligned",
    ".volatile",
    ".wrap",
    ".uni",
    ".x4",
    ".trans",
];

/// What texts are changed with.
struct Mutator {
    random: Random,
    /// All lines of the corpus that are statements.
    statements: Vec<String>,
}

impl Mutator {
    fn new() -> Mutator {
        let corpus = CASES.iter().flat_map(|case| case.text.lines());
        let statements = corpus.chain(EXTRA.split(';')).map(str::trim).filter(|line| {
            !line.is_empty() && !line.starts_with("//") && !line.starts_with(".loc")
        });
        let statements =
            statements.map(|line| format!("{};", line.trim_end_matches(';'))).collect();
        Mutator { random: Random::new(1), statements }
    }

    fn below(&mut self, count: usize) -> usize {
        (self.random.next() % count.max(1) as u64) as usize
    }

    fn pick<'t>(&mut self, from: &[&'t str]) -> &'t str {
        from[self.below(from.len())]
    }

    /// A statement of the corpus.
    fn statement(&mut self) -> String {
        let at = self.below(self.statements.len());
        self.statements[at].clone()
    }

    /// The input of a seed: a kernel of the corpus with one to three changes.
    fn input(&mut self, seed: u64) -> String {
        self.random = Random::new(seed);
        // The first numbers of near seeds are near.
        for _ in 0..4 {
            self.random.next();
        }
        let case = &CASES[self.below(CASES.len())];
        let mut lines: Vec<String> = case.text.lines().map(str::to_string).collect();
        for _ in 0..1 + self.below(3) {
            self.change(&mut lines);
        }
        lines.join("\n")
    }

    fn change(&mut self, lines: &mut Vec<String>) {
        if lines.is_empty() {
            return;
        }
        let at = self.below(lines.len());
        match self.below(16) {
            0 => drop(lines.remove(at)),
            1 => {
                let line = lines[at].clone();
                lines.insert(self.below(lines.len()), line);
            }
            2..=4 => {
                let statement = self.statement();
                lines.insert(at, statement);
            }
            5 | 6 => lines[at] = self.with_word(&lines[at].clone()),
            7 | 8 => lines[at] = self.with_number(&lines[at].clone()),
            9 | 10 => {
                let other = self.below(lines.len());
                lines[at] = self.with_operand(&lines[at], &lines[other])
            }
            11 => lines[at] = self.with_opcode(&lines[at].clone()),
            12 => lines[at] = self.with_byte(&lines[at].clone()),
            13 => lines[at] = self.nested(),
            14 => {
                lines[at] =
                    format!("@{}%p{} {}", self.pick(&["", "!"]), self.below(9), lines[at].trim())
            }
            _ => {
                let other = self.below(lines.len());
                lines.swap(at, other);
            }
        }
    }

    /// A word after a dot is another, or there is one more.
    fn with_word(&mut self, line: &str) -> String {
        let word = self.pick(&WORDS);
        let dots: Vec<usize> = line.match_indices('.').map(|(at, _)| at).collect();
        if dots.is_empty() {
            return line.to_string();
        }
        let start = dots[self.below(dots.len())];
        let end = line[start + 1..].find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let end = end.map_or(line.len(), |end| start + 1 + end);
        let rest = if self.below(3) == 0 { &line[start..] } else { &line[end..] };
        format!("{}{word}{rest}", &line[..start])
    }

    fn with_number(&mut self, line: &str) -> String {
        let number = self.pick(&NUMBERS);
        let is_start = |at: usize| {
            let bytes = line.as_bytes();
            bytes[at].is_ascii_digit() && (at == 0 || !bytes[at - 1].is_ascii_alphanumeric())
        };
        let starts: Vec<usize> =
            (0..line.len()).filter(|&at| line.is_char_boundary(at) && is_start(at)).collect();
        if starts.is_empty() {
            return line.to_string();
        }
        let start = starts[self.below(starts.len())];
        let end = line[start..]
            .find(|c: char| !c.is_ascii_alphanumeric())
            .map_or(line.len(), |end| start + end);
        format!("{}{number}{}", &line[..start], &line[end..])
    }

    /// An operand of this line is one of another.
    fn with_operand(&mut self, line: &str, other: &str) -> String {
        let operands = |line: &str| -> Vec<String> {
            let start = line.find(char::is_whitespace).unwrap_or(line.len());
            line[start..].split([',', ';']).map(|operand| operand.trim().to_string()).collect()
        };
        let (ours, theirs) = (operands(line.trim()), operands(other.trim()));
        let (old, new) = (&ours[self.below(ours.len())], &theirs[self.below(theirs.len())]);
        if old.is_empty() { format!("{line} {new}") } else { line.replacen(old.as_str(), new, 1) }
    }

    fn with_opcode(&mut self, line: &str) -> String {
        let other = self.statement();
        let opcode = other.split_whitespace().next().unwrap_or("");
        match line.trim().split_once(char::is_whitespace) {
            Some((_, rest)) => format!("{opcode} {rest}"),
            None => opcode.to_string(),
        }
    }

    fn with_byte(&mut self, line: &str) -> String {
        let marks = ".,;:[]{}()<>%@!\"'/*+-=|&^~?#\\\n\0é";
        let marks: Vec<char> = marks.chars().collect();
        let mark = marks[self.below(marks.len())];
        let places: Vec<usize> = line.char_indices().map(|(at, _)| at).collect();
        if places.is_empty() {
            return mark.to_string();
        }
        let at = places[self.below(places.len())];
        let rest: String = line[at..].chars().skip(self.below(2)).collect();
        format!("{}{mark}{rest}", &line[..at])
    }

    /// Something nested, deep or not.
    fn nested(&mut self) -> String {
        let depth = [1, 2, 50, 127, 128, 129, 20_000][self.below(7)];
        let (open, middle, close) = [
            ("{", "", "}"),
            ("mov.b32 %r1, (", "1", ");"),
            ("(", "1", ")"),
            ("-", "1", ";"),
            ("[", "%r1", "]"),
            ("mov.b64 %rd1, {", "%r1", "};"),
            ("L: ", "", ""),
            ("1 ? 2 : ", "3", ";"),
        ][self.below(8)];
        format!("{}{middle}{}", open.repeat(depth), close.repeat(depth))
    }
}

/// Parses and runs a text; gives whether it was parsed.
fn run(text: &str, seed: u64) -> bool {
    let module = match Module::parse(text) {
        Ok(module) => module,
        Err(errors) => {
            let lines = text.split('\n').count() as u32;
            assert!(!errors.errors().is_empty());
            for error in errors.errors() {
                assert!(
                    (1..=lines).contains(&error.line),
                    "line {} of {lines}: {error}",
                    error.line
                );
                assert!(!error.message.contains(char::is_control), "{error:?}");
            }
            return false;
        }
    };
    module.kernels().take(2).for_each(|kernel| launch(&module, kernel, seed));
    true
}

fn launch(module: &Module, kernel: &Kernel, seed: u64) {
    let properties = Properties { memory_bytes: 8 << 20, ..Properties::of_capability(90) };
    let device = Device::new(properties);
    let Ok(loaded) = device.load(module) else { return };
    let argument = |size: u32| match size {
        8 => device.allocate(2048, 8).unwrap_or(0).to_le_bytes().to_vec(),
        _ => (0..size).map(|byte| u8::from(byte == 0) * 32).collect(),
    };
    let bytes: Vec<Vec<u8>> = kernel.parameters.iter().map(|it| argument(it.size)).collect();
    let arguments: Vec<&[u8]> = bytes.iter().map(Vec::as_slice).collect();
    let shape = Launch {
        grid: [1 + (seed % 2) as u32, 1, 1],
        block: [if seed.is_multiple_of(5) { 40 } else { 64 }, 1, 1],
        dynamic_shared_bytes: 1024,
        arguments: &arguments,
        cooperative: seed.is_multiple_of(7),
    };
    let order = [Order::Forward, Order::Reverse, Order::Random(seed)][(seed % 3) as usize];
    let options = Options {
        order,
        detect_races: seed.is_multiple_of(2),
        poison: !seed.is_multiple_of(4),
        step_budget: Some(8_000),
        ..Options::default()
    };
    // Most of these fault; that they come back is what matters.
    let _ = device.launch(&loaded, &kernel.name, &shape, &options);
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().map_or(default, |value| value.parse().unwrap())
}

#[test]
fn changed_kernels_end_in_errors_faults_or_results() {
    let cases = setting("KERNELMILL_FUZZ_CASES", CASES_IN_CI);
    let first = setting("KERNELMILL_FUZZ_SEED", 1);
    let mut mutator = Mutator::new();
    let limit = Duration::from_secs(setting("KERNELMILL_FUZZ_SECONDS", u64::MAX));
    let (start, mut tried) = (Instant::now(), 0);
    let (mut parsed, mut failed) = (0, Vec::new());
    for seed in first..first + cases {
        if start.elapsed() > limit {
            break;
        }
        tried += 1;
        let text = mutator.input(seed);
        let before = LIVE.load(Ordering::Relaxed);
        PEAK.store(before, Ordering::Relaxed);
        let result = catch_unwind(AssertUnwindSafe(|| run(&text, seed)));
        let taken = PEAK.load(Ordering::Relaxed).saturating_sub(before);
        parsed += u64::from(*result.as_ref().unwrap_or(&true));
        if result.is_err() || taken > MOST_BYTES {
            println!("seed {seed}, {taken} bytes:\n{text:.20000}");
            failed.push(seed);
        }
    }
    println!("{tried} inputs from seed {first}: {parsed} parsed and run, {} failed", failed.len());
    // For `cargo xtask soak`.
    println!("counted: inputs: {tried} tried, {} failed", failed.len());
    assert!(failed.is_empty(), "KERNELMILL_FUZZ_SEED of the inputs that failed: {failed:?}");
    assert!(
        tried < 100 || (parsed * 10 > tried && parsed * 10 < tried * 9),
        "{parsed} of {tried} parsed"
    );
}

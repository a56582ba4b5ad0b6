//! What kernels of the CPU benchmark become on aarch64: loops over vectors of four lanes, and nothing
//! that a processor without extensions lacks. `cargo xtask test` runs kernels there, on an emulator.

mod common;

use std::{collections::HashMap, sync::OnceLock};

use common::{source, toolchain};
use kernelmill_compiler::{Compiler, Config, Job, JobSource};
use test_support::tool;

/// The target whose library `cargo xtask setup` installs.
const TARGET: &str = "aarch64-unknown-linux-musl";

/// A compiler for aarch64; `None`, said once, where Rust's library for it is not installed.
fn compiler() -> Option<&'static Compiler> {
    static COMPILER: OnceLock<Option<Compiler>> = OnceLock::new();
    let make = || {
        let toolchain = kernelmill_compiler::Toolchain { host: TARGET.to_owned(), ..toolchain() };
        let is_there = toolchain.sysroot.join("lib/rustlib").join(TARGET).join("lib").is_dir();
        tool::require(TARGET, is_there.then(|| Compiler::new(toolchain).unwrap()))
    };
    COMPILER.get_or_init(make).as_ref()
}

/// The vector widths of the only kernel in a text, and its code.
fn assembly(name: &str, text: &str) -> Option<(Vec<u32>, String)> {
    let compiler = compiler()?;
    let source = source(&format!("neon_{name}"), text);
    let lowered = compiler.lower_rust(&source).unwrap_or_else(|error| panic!("{error}"));
    let config = Config::new("cpu".parse().unwrap());
    let unit = JobSource { lowered: &lowered, signatures: &source.signatures, unit: name };
    let job = Job { source: unit, config: &config };
    let artifact = compiler.compile(&job).unwrap_or_else(|error| panic!("{error}"));
    let widths = artifact.kernels[0].strategy.clone().unwrap().widths;
    Some((widths, compiler.assembly(&job).unwrap_or_else(|error| panic!("{error}"))))
}

/// The loops of assembly text: what is between a label and a jump back to it.
fn loops(assembly: &str) -> Vec<String> {
    let lines: Vec<&str> = assembly.lines().map(str::trim).collect();
    let (mut labels, mut ends) = (HashMap::new(), Vec::new());
    for (number, line) in lines.iter().enumerate() {
        if let Some(label) = line.split(':').next().filter(|_| line.starts_with(".L")) {
            labels.insert(label, number);
        }
        let is_jump = line.starts_with("b\t")
            || line.starts_with("b.")
            || line.starts_with("cb")
            || line.starts_with("tb");
        let to = line.rsplit([' ', '\t']).next().filter(|_| is_jump);
        if let Some(&start) = to.and_then(|label| labels.get(label)) {
            ends.push((start, number));
        }
    }
    ends.into_iter().map(|(start, end)| lines[start..=end].join("\n")).collect()
}

/// Compiles a kernel, and looks for a loop that has all of these instructions.
fn check(name: &str, text: &str, instructions: &[&str]) {
    let Some((widths, assembly)) = assembly(name, text) else { return };
    assert_eq!(widths, [4], "{name}");
    // `z` and `p` are the registers of SVE.
    let beyond = assembly.lines().find(|line| {
        let operands = line.trim().split_once('\t').map_or("", |(_, operands)| operands);
        let mut words = operands.split([',', ' ', '{', '}', '[', ']']);
        line.starts_with('\t') && !line.starts_with("\t.") && words.any(is_scalable)
    });
    assert_eq!(beyond, None, "{name}");
    let loops = loops(&assembly);
    let has_all = |found: &String| instructions.iter().all(|it| has(found, it));
    assert!(loops.iter().any(has_all), "{name}: {}", loops.join("\n\n"));
}

/// Whether a line has an instruction of this name, on registers of this kind: `fmla .4s`.
fn has(code: &str, instruction: &str) -> bool {
    let (names, kind) = instruction.split_once(' ').unwrap();
    let is = |line: &str| names.split('|').any(|name| line.split('\t').next() == Some(name));
    code.lines().any(|line| is(line) && line.contains(kind))
}

/// Whether an operand is a register of SVE: `z3.s`, `p0/m`.
fn is_scalable(word: &str) -> bool {
    let register = word.split(['.', '/']).next().unwrap_or("");
    let number = register.strip_prefix(['z', 'p']).and_then(|number| number.parse::<u32>().ok());
    number.is_some_and(|number| number < 32)
}

macro_rules! kernels {
    ($($test:ident: $name:literal, $instructions:expr;)*) => {
        $(
            #[test]
            fn $test() {
                let text = include_str!(concat!("../../../benches/cpu-bench/kernels/", $name, ".rs"));
                // Code for blocks of a known size has no loops left to look at.
                check($name, &text.replace("(block_size = [256, 1, 1])", ""), $instructions);
            }
        )*
    };
}

kernels! {
    saxpy_adds_four_products_at_once: "saxpy", &["fmla .4s", "ldr|ldp q", "str|stp q"];
    nbody_takes_four_roots_at_once: "nbody", &["fmla .4s", "fsqrt .4s", "fdiv .4s"];
    mandelbrot_goes_round_in_fours: "mandelbrot", &["fmla|fmls .4s", "fcmge|fcmgt .4s"];
    stencil_reads_four_pixels_at_once: "stencil", &["fadd .4s", "fmla|fmul .4s", "ldr|ldp|ldur q"];
    reduction_adds_four_sums_at_once: "reduce", &["fadd .4s", "ldr|ldp|ldur q"];
}

#[test]
fn loops_and_registers_are_told_apart() {
    let text = ".LA:\n\tadd\tx1, x1, x2\n.LB:\n\tfmla\tv0.4s, v1.4s, v2.4s\n\tb.ne\t.LB\n\tcbnz\tw1, .LA\n";
    let loops = loops(text);
    assert_eq!(loops.len(), 2);
    assert!(has(&loops[0], "fmla .4s") && !has(&loops[0], "add x") && !has(&loops[0], "fmla .2d"));
    assert!(
        is_scalable("z3.s") && is_scalable("p0/m") && !is_scalable("v3.4s") && !is_scalable("pc")
    );
}

//! Which instructions of a kernel run for its checks alone, in PTX as LLVM writes it: an instruction a line.
//!
//! A block from which no `ret` is reached is a panic's. A branch to one is a check, and so is what nothing but checks
//! and panics uses: dead-code elimination, if the checks were not there.

use anyhow::{Context as _, Result};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// An instruction of a kernel.
struct Instruction<'a> {
    /// Of the text, from 1.
    line: u32,
    block: usize,
    mnemonic: &'a str,
    /// Registers that it makes, if that is all it does.
    makes: Vec<&'a str>,
    uses: Vec<&'a str>,
    /// Where a branch goes.
    to: Option<&'a str>,
    is_predicated: bool,
}

/// The lines of the instructions that run for checks alone.
pub(super) fn lines(ptx: &str, kernel: &str) -> Result<BTreeSet<u32>> {
    let (instructions, labels) = read(ptx, kernel)?;
    let ends = returning(&instructions, &labels);
    let is_panic = |block: usize| !ends.contains(&block);
    let mut checks = BTreeSet::new();
    for (index, it) in instructions.iter().enumerate() {
        let next = instructions.get(index + 1).map(|next| next.block);
        let target = it.to.and_then(|to| labels.get(to)).copied();
        let is_check = it.is_predicated
            && [target, next].into_iter().flatten().any(is_panic)
            && target.is_some();
        if is_panic(it.block) || is_check {
            checks.insert(it.line);
        }
    }
    while let Some(line) = only_for(&instructions, &checks) {
        checks.insert(line);
    }
    Ok(checks)
}

/// An instruction that is not among the checks, and makes what nothing but those uses.
fn only_for(instructions: &[Instruction<'_>], checks: &BTreeSet<u32>) -> Option<u32> {
    let rest = || instructions.iter().filter(|it| !checks.contains(&it.line));
    let used: BTreeSet<&str> = rest().flat_map(|it| it.uses.iter().copied()).collect();
    let is_unused = |it: &&Instruction<'_>| {
        !it.makes.is_empty() && !it.makes.iter().any(|it| used.contains(it))
    };
    rest().find(is_unused).map(|it| it.line)
}

/// The blocks from which the kernel may return.
fn returning(instructions: &[Instruction<'_>], labels: &HashMap<&str, usize>) -> BTreeSet<usize> {
    let mut from: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut ends = BTreeSet::new();
    for (index, it) in instructions.iter().enumerate() {
        let next = instructions.get(index + 1).map(|next| next.block);
        let leaves = ["ret", "exit", "trap", "bra"].contains(&it.mnemonic) && !it.is_predicated;
        if it.mnemonic == "ret" {
            ends.insert(it.block);
        }
        let target = it.to.and_then(|to| labels.get(to)).copied();
        let next = next.filter(|next| !leaves && *next != it.block);
        for to in [target, next].into_iter().flatten() {
            from.entry(to).or_default().push(it.block);
        }
    }
    let mut work: Vec<usize> = ends.iter().copied().collect();
    while let Some(block) = work.pop() {
        for before in from.get(&block).into_iter().flatten() {
            if ends.insert(*before) {
                work.push(*before);
            }
        }
    }
    ends
}

/// The instructions of a kernel, and the blocks that labels name.
fn read<'a>(ptx: &'a str, kernel: &str) -> Result<(Vec<Instruction<'a>>, HashMap<&'a str, usize>)> {
    let start = format!(".entry {kernel}(");
    let lines = (1_u32..).zip(ptx.lines());
    let mut body = lines
        .skip_while(|(_, line)| !line.contains(&start))
        .skip_while(|(_, line)| *line != "{")
        .skip(1)
        .take_while(|(_, line)| *line != "}")
        .peekable();
    body.peek().with_context(|| format!("the text has no kernel {kernel}"))?;
    let (mut instructions, mut labels, mut block) = (Vec::new(), HashMap::new(), 0);
    for (number, line) in body {
        let line = line.trim();
        if let Some(label) = line.strip_suffix(':') {
            // Labels of debug information lie beside others, and name the same block.
            let is_begun = |it: &Instruction<'_>| it.block == block;
            block += usize::from(instructions.last().is_some_and(is_begun));
            labels.insert(label, block);
        } else if let Some(instruction) = instruction(line, number, block) {
            let ends = ["ret", "exit", "trap", "bra"].contains(&instruction.mnemonic);
            instructions.push(instruction);
            block += usize::from(ends);
        }
    }
    Ok((instructions, labels))
}

/// The instruction in a line; `None` for directives and comments.
fn instruction(line: &str, number: u32, block: usize) -> Option<Instruction<'_>> {
    let text = line.strip_suffix(';')?;
    let (predicate, text) = match text.strip_prefix('@') {
        Some(rest) => rest.split_once(char::is_whitespace)?,
        None => ("", text),
    };
    let (opcode, operands) = text.trim().split_once(char::is_whitespace).unwrap_or((text, ""));
    if opcode.starts_with(['.', '/', '{', '}']) {
        return None;
    }
    let mnemonic = opcode.split('.').next()?;
    let changes = ["st", "red", "atom", "bar", "barrier", "bra", "call", "fence", "membar"];
    let is_ordered = ["acquire", "relaxed", "volatile"].iter().any(|it| opcode.contains(it));
    let results = if changes.contains(&mnemonic) || is_ordered { 0 } else { results(operands) };
    let (made, used) = operands.split_at(results);
    let uses = registers(used).chain(registers(predicate));
    Some(Instruction {
        line: number,
        block,
        mnemonic,
        makes: registers(made).collect(),
        uses: uses.collect(),
        to: (mnemonic == "bra").then(|| operands.trim()),
        is_predicated: !predicate.is_empty(),
    })
}

/// The bytes of an instruction's first operand, which a vector of registers may be.
fn results(operands: &str) -> usize {
    let end = if operands.trim_start().starts_with('{') { '}' } else { ',' };
    operands.find(end).unwrap_or(operands.len())
}

/// The registers that a text names, but for special ones such as `%tid.x`.
fn registers(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|it: char| !it.is_ascii_alphanumeric() && it != '%' && it != '.');
    words.filter(|word| word.starts_with('%') && word.ends_with(|it: char| it.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::lines;

    const CHECKED: &str = "\
.visible .entry other(
)
{
\tret;
}
.visible .entry kernel(
\t.param .u64 kernel_param_0
)
{
\t.reg .pred \t%p<3>;
\tmov.u32 \t%r1, %tid.x;
\tld.param.b64 \t%rd1, [kernel_param_0];
\tld.param.b64 \t%rd2, [kernel_param_1];
\tcvt.u64.u32 \t%rd3, %r1;
\tadd.s64 \t%rd4, %rd2, 4;
\tsetp.ge.u64 \t%p1, %rd3, %rd4;
\t@%p1 bra \t$L__BB0_2;
\tshl.b64 \t%rd5, %rd3, 2;
\tadd.s64 \t%rd6, %rd1, %rd5;
\tst.global.b32 \t[%rd6], %r1;
\tsetp.eq.b32 \t%p2, %r1, 0;
\t@%p2 bra \t$L__BB0_1;
\tst.global.b32 \t[%rd6], 1;
$L__BB0_1:
$L__tmp0:
\t.loc\t1 4 17
\tret;
$L__BB0_2:
\tst.global.b64 \t[%rd1], %rd4;
\texit;
}
";

    /// The branch to the panic, its comparison, the length and what is added to it, and the panic. The index is used
    /// otherwise too, and the other branch leads to no panic.
    #[test]
    fn what_nothing_but_a_check_uses_is_found() {
        let found = lines(CHECKED, "kernel").unwrap();
        let mnemonics: Vec<&str> = found
            .iter()
            .map(|line| CHECKED.lines().nth(*line as usize - 1).unwrap().trim())
            .map(|line| line.split_whitespace().find(|word| !word.starts_with('@')).unwrap())
            .collect();
        assert_eq!(
            mnemonics,
            ["ld.param.b64", "add.s64", "setp.ge.u64", "bra", "st.global.b64", "exit;"]
        );
    }

    #[test]
    fn a_kernel_without_panics_has_no_checks() {
        assert!(lines(CHECKED, "other").unwrap().is_empty());
        assert!(lines(CHECKED, "third").is_err());
    }
}

//! Launch bounds of variants in what nvcc makes: options of ptxas for cubins, performance-tuning directives in PTX, where
//! the driver reads them ([PTX ISA][ptx]). A block size is a bound there too; launches are held to it by the run time.
//!
//! [ptx]: https://docs.nvidia.com/cuda/parallel-thread-execution/#performance-tuning-directives

use kernelmill_artifact::LaunchLimits;

/// The directives that these replace.
const DIRECTIVES: [&str; 4] = [".maxntid", ".reqntid", ".minnctapersm", ".maxnreg"];

/// The options of nvcc for a cubin whose launches have these bounds, in place of those in its source. nvcc gives them to ptxas
/// alone, so that they change no PTX.
pub(super) fn arguments(limits: &LaunchLimits) -> Vec<String> {
    let mut options = Vec::new();
    match limits.registers() {
        // ptxas ignores the others where it is told this.
        Some(registers) => options.push(format!("-maxrregcount={registers}")),
        None => {
            options.extend(limits.most_threads().map(|it| format!("-Xptxas=-maxntid={it}")));
            let blocks = Some(limits.min_blocks).filter(|it| *it > 0);
            options.extend(blocks.map(|it| format!("-Xptxas=-minnctapersm={it}")));
        }
    }
    if !options.is_empty() {
        options.push("-Xptxas=-override-directive-values".to_owned());
    }
    options
}

/// PTX whose kernels have these bounds, in place of those in it.
pub(super) fn with_directives(ptx: &str, limits: &LaunchLimits) -> String {
    let mut said = Vec::new();
    if limits.block == [0; 3] {
        said.extend(limits.most_threads().map(|it| format!(".maxntid {it}")));
    } else {
        let [x, y, z] = limits.block;
        said.push(format!(".reqntid {x}, {y}, {z}"));
    }
    let blocks = Some(limits.min_blocks).filter(|it| *it > 0);
    said.extend(blocks.map(|it| format!(".minnctapersm {it}")));
    said.extend(limits.registers().map(|it| format!(".maxnreg {it}")));
    if said.is_empty() {
        return ptx.to_owned();
    }
    let word = |line: &str| line.split_whitespace().next().unwrap_or_default().to_owned();
    // One says the threads in the place of the other.
    let says_threads = |word: &str| [".maxntid", ".reqntid"].contains(&word);
    let is_replaced = |line: &str| {
        let old = word(line);
        let is_said = |new: &String| {
            let new = word(new);
            new == old || (says_threads(&new) && says_threads(&old))
        };
        DIRECTIVES.contains(&&*old) && said.iter().any(is_said)
    };
    let (mut text, mut is_in_head) = (String::with_capacity(ptx.len() + 256), false);
    for line in ptx.split_inclusive('\n') {
        is_in_head |= line.contains(".entry ");
        if is_in_head && line.trim() == "{" {
            text.extend(said.iter().map(|it| format!("{it}\n")));
            is_in_head = false;
        }
        if !(is_in_head && is_replaced(line)) {
            text.push_str(line);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const PTX: &str = ".version 8.0\n.visible .entry one(\n\t.param .u64 one_param_0\n)\n.maxntid 256, 1, 1\n.minnctapersm 2\n{\n\
                       \tret;\n}\n.func two()\n{\n{\n}\n}\n.visible .entry three()\n{\n\tret;\n}\n";

    #[test]
    fn kernels_have_the_directives_that_are_said_in_place_of_theirs() {
        let small = LaunchLimits { max_block_threads: 64, ..LaunchLimits::NONE };
        let expected =
            PTX.replace(".maxntid 256, 1, 1\n.minnctapersm 2\n", ".minnctapersm 2\n.maxntid 64\n");
        let expected = expected.replace("three()\n", "three()\n.maxntid 64\n");
        assert_eq!(with_directives(PTX, &small), expected);
        let exact = LaunchLimits { block: [8, 4, 1], min_blocks: 3, ..LaunchLimits::NONE };
        let expected = PTX.replace(
            ".maxntid 256, 1, 1\n.minnctapersm 2\n",
            ".reqntid 8, 4, 1\n.minnctapersm 3\n",
        );
        let expected =
            expected.replace("three()\n", "three()\n.reqntid 8, 4, 1\n.minnctapersm 3\n");
        assert_eq!(with_directives(PTX, &exact), expected);
        let few = LaunchLimits { max_registers: 32, ..LaunchLimits::NONE };
        assert_eq!(with_directives(PTX, &few).matches(".maxnreg 32\n{").count(), 2);
        assert_eq!(with_directives(PTX, &LaunchLimits::NONE), PTX);
    }

    #[test]
    fn ptxas_is_told_the_bounds_or_the_registers() {
        let limits = |threads, min_blocks, max_registers| LaunchLimits {
            max_block_threads: threads,
            min_blocks,
            max_registers,
            ..LaunchLimits::NONE
        };
        let own = "-Xptxas=-override-directive-values";
        assert_eq!(
            arguments(&limits(64, 2, 0)),
            ["-Xptxas=-maxntid=64", "-Xptxas=-minnctapersm=2", own]
        );
        assert_eq!(arguments(&limits(1024, 0, 0)), ["-maxrregcount=64", own]);
        assert_eq!(arguments(&limits(64, 0, 40)), ["-maxrregcount=40", own]);
        assert!(arguments(&LaunchLimits::NONE).is_empty());
    }
}

//! What kernels must not do, and what a user reads then.
//!
//! `docs/src/reference/validation.md` is written from here: it is a snapshot of what the compiler says.
#![cfg(target_arch = "x86_64")]

mod common;

use std::{fmt::Write as _, fs};

use common::refused;
use test_support::{root, snapshot};

/// A fault, with the sources that have it.
struct Case {
    title: &'static str,
    /// What a reader ought to know.
    text: &'static str,
    /// The file below `faults/`.
    file: &'static str,
    target: &'static str,
}

const CASES: &[Case] = &[
    Case {
        title: "Infinite recursion",
        text: "A function that calls itself on every path, directly or through others, is an error; \
               the cycle is named. Recursion that can end is not: processors have a stack for it.",
        file: "recursion.rs",
        target: "compute_75",
    },
    Case {
        title: "Undefined functions and variables",
        text: "All undefined names are reported together, each with the nearest defined name.",
        file: "unresolved.rs",
        target: "gfx1100",
    },
    Case {
        title: "Calls that need an operating system",
        text: "Whatever of `std` needs a host. The way goes through the functions it was inlined \
               from; of the library's own functions the one is shown that your code called.",
        file: "host_calls.rs",
        target: "compute_90",
    },
    Case { title: "The heap", text: "", file: "heap.rs", target: "gfx90a" },
    Case {
        title: "Stack on the CPU",
        text: "A kernel runs on the stack of a thread of the host, of 2 MiB by default. Local variables of more \
               than 1 MiB, with those of what the kernel calls, are an error.",
        file: "stack.rs",
        target: "cpu",
    },
    Case {
        title: "Features of the host processor",
        text: "The host's instructions, inline assembly and thread-local variables.",
        file: "processor.rs",
        target: "compute_75",
    },
    Case {
        title: "Thread-local variables",
        text: "On the CPU too: a thread of the host runs many threads of a launch, which would share one \
               variable.",
        file: "thread_locals.rs",
        target: "cpu",
    },
    Case {
        title: "Literal addresses",
        text: "Memory, or a function, at an address that is a number in the code. Such an address is of one process, \
               and the binary is loaded into others.",
        file: "addresses.rs",
        target: "sm_90",
    },
    Case {
        title: "Static assertions",
        text: "`static_assert!` is decided after optimisation: what is proven vanishes, as in \
               `proven`, and so does what is never reached. What does not hold and what cannot be \
               decided are errors.",
        file: "assertions.rs",
        target: "sm_90",
    },
    Case {
        title: "Static assertions on the CPU",
        text: "The same kernels, for another target.",
        file: "assertions.rs",
        target: "cpu",
    },
    Case {
        title: "Barriers in recursive functions",
        text: "On the CPU only, where such kernels become coroutines.",
        file: "barrier.rs",
        target: "cpu",
    },
    Case {
        title: "Markers that nothing replaced",
        text: "A marker is a function that the compiler or a plugin replaces; here none did.",
        file: "marker.rs",
        target: "compute_75",
    },
    Case {
        title: "Impossible launch bounds",
        text: "The arguments of `#[kernel]` are checked before anything is compiled.",
        file: "launches.rs",
        target: "compute_75",
    },
    Case {
        title: "Impossible launch bounds in CUDA C++",
        text: "",
        file: "launches_cpp.cu",
        target: "compute_75",
    },
    Case {
        title: "Functions that the host cannot pass to kernels",
        text: "See [Functions that the host passes to kernels](../guide/function-tables.md).",
        file: "functions.rs",
        target: "compute_75",
    },
    Case {
        title: "CUDA C++",
        text: "The same checks for kernels in C++ that kernelmill's own compiler makes, with \
               `kernelmill_static_assert`.",
        file: "cpp.cu",
        target: "gfx1100",
    },
    Case {
        title: "Undefined functions in CUDA C++",
        text: "",
        file: "cpp_unresolved.cu",
        target: "cpu",
    },
];

const START: &str = "\
# What kernels must not do

The compiler checks kernels before it calls an assembler or linker. It reports all faults of a source
together, each fault once, with the call chain from the kernel, including inlined functions. Targets with
the same message are listed together.

This page shows every message as it is printed. The test `tests/conformance/tests/validation.rs` writes it
from the files in `tests/conformance/faults`.

Indirect calls, `f16`, `bf16`, `f64` and `i128` are errors on a target that does not support them. All of
today's targets support them, or LLVM expands them.
";

/// The page with every case.
fn page() -> String {
    let mut page = START.to_owned();
    for Case { title, text, file, target } in CASES {
        let source = fs::read_to_string(common::folder().join("faults").join(file)).unwrap();
        let language = if file.ends_with(".cu") { "cpp" } else { "rust" };
        let _ = write!(page, "\n## {title}\n\n");
        if !text.is_empty() {
            let _ = write!(page, "{text}\n\n");
        }
        let _ = write!(page, "```{language}\n{source}```\n\n");
        let _ = write!(page, "For `{target}`:\n\n```text\n{}\n```\n", refused(file, target));
    }
    page
}

/// Names in symbols of Rust before 1.99, and what they are now.
const OLD_NAMES: [(&str, &str); 3] = [
    ("core::ptr::drop_in_place", "core::ptr::drop_glue"),
    ("core::ptr::mut_ptr::read_volatile", "<*mut u32>::read_volatile"),
    ("{{closure}}", "{closure#0}"),
];

/// Acceptance: S0.11, S1.5, S3.4.
#[test]
fn every_message_is_as_the_page_shows_it() {
    let page = OLD_NAMES.iter().fold(page(), |page, (old, new)| page.replace(old, new));
    snapshot::check(root().join("docs/src/reference/validation.md"), &page);
}

/// Check 5 of the seeds: what is proven vanishes, what is false or undecided is an error, what is
/// dead is ignored, two are both reported, each with the way through what was inlined.
/// Acceptance: S0.11, C5.
#[test]
fn check_05_static_assertions() {
    for target in ["sm_75", "gfx942", "cpu"] {
        let message = refused("assertions.rs", target);
        let count = |part: &str| message.matches(part).count();
        assert_eq!(
            count("does not hold: width % 2 == 0: rows are split in halves"),
            1,
            "{message}"
        );
        assert_eq!(
            count("cannot be decided before the kernel runs: width % 2 == 0"),
            1,
            "{message}"
        );
        assert_eq!(count("--> kernels/assertions.rs:4, in `assertions::halve`"), 2, "{message}");
        assert_eq!(count("from kernels/assertions.rs:24, in `assertions::wrong`"), 2, "{message}");
        assert!(!message.contains("never reached") && !message.contains("proven"), "{message}");
    }
    let text = fs::read_to_string(common::folder().join("faults/assertions.rs")).unwrap();
    let proven = text.split("\n#[kernel]\npub fn wrong").next().unwrap();
    for target in ["compute_75", "gfx942", "cpu"] {
        let assembly = common::assembly("proven", proven, target);
        assert!(!assembly.contains("kernelmill_static_assert"), "{assembly}");
    }
}

/// Check 4 of the seeds: what a kernel's file has for the host is compiled as ever, after kernels
/// were compiled for a GPU.
/// Acceptance: C4.
#[test]
fn check_04_compile_for_the_host_after_a_gpu() {
    let text = "use kernelmill_device::prelude::*;\n\nfn eleven() -> u32 {\n    11\n}\n\n#[kernel]\n\
                pub fn answers(mut y: DisjointSlice<u32>) {\n    if let Some(out) = \
                y.get_mut(thread::index_1d()) {\n        *out = eleven();\n    }\n}\n";
    let before = common::compiled("answers", text, "cpu");
    let gpu = common::compiled("answers", text, "sm_90");
    assert_ne!(before.bytes, gpu.bytes);
    assert_eq!(common::compiled("answers", text, "cpu"), before);
    let assembly = common::assembly("answers", text, "cpu");
    assert!(assembly.contains("$11"), "{assembly}");
}

//! Kernels that end with a fault, and where that is.

use ptx_emulator::{Fault, FaultKind, Options};

use super::{Argument, Bench};

/// A kernel with one buffer and these statements; the first of them is line 13.
pub(crate) fn kernel(declarations: &str, body: &str) -> String {
    let declarations = declarations.replace('\n', " ");
    let header = ".version 8.0\n.target sm_90\n.address_size 64\n".to_string();
    let registers = "\t.reg .pred %p<9>;\n\t.reg .b32 %r<9>;\n\t.reg .b64 %rd<9>;\n";
    header
        + &format!(".visible .entry k(.param .u64 data)\n{{\n{registers}\t{declarations}\n")
        + "\tld.param.u64 %rd1, [data];\n\tmov.u32 %r1, %tid.x;\n\tcvt.u64.u32 %rd2, %r1;\n"
        + body
        + "\tret;\n}\n"
}

/// The PTX line of the first statement.
pub(crate) const FIRST: u32 = 13;

/// Races are faults, and so is a loop without end.
pub(crate) fn checked() -> Options {
    Options { detect_races: true, step_budget: Some(100_000), ..Options::default() }
}

/// The fault of a kernel in a block of `threads`, on a buffer of 16 bytes.
pub(crate) fn fault_of(declarations: &str, body: &str, threads: u32) -> Fault {
    let bench = Bench::new(&kernel(declarations, body));
    let data = bench.buffer(&[0u32; 4]);
    bench.launch("k", 1, threads, &[Argument::Buffer(data)], &checked()).unwrap_err()
}

/// That a fault is of this kind, and at this line and thread.
#[track_caller]
pub(crate) fn expect(fault: &Fault, line: u32, thread: u32, is: impl Fn(&FaultKind) -> bool) {
    assert!(is(&fault.kind), "{fault}");
    assert_eq!(fault.ptx_line, line, "{fault}");
    assert_eq!(fault.thread, [thread, 0, 0], "{fault}");
    assert_eq!(fault.function, "k");
}

//! Every kind of fault, with its PTX line, block and thread.

#![allow(clippy::result_large_err, reason = "a launch fails once in a test")]

mod common;

use common::{
    Argument, Bench,
    faulty::{FIRST, checked, expect, fault_of, kernel},
};
use ptx_emulator::{Device, FaultKind, Launch, Module, Options, Order, Properties, Space};

#[test]
fn out_of_bounds_of_each_space() {
    let fault = fault_of("", "\tst.global.u32 [%rd1+16], %r1;\n", 1);
    expect(&fault, FIRST, 0, |kind| {
        matches!(kind, FaultKind::OutOfBounds { space: Space::Global, write: true, bytes: 4, .. })
    });
    assert!(fault.to_string().contains("0 bytes past the end of an allocation of 16 bytes"));
    let fault = fault_of("", "\tld.u32 %r2, [%rd1+-4];\n", 1);
    expect(&fault, FIRST, 0, |kind| {
        matches!(kind, FaultKind::OutOfBounds { space: Space::Generic, write: false, .. })
    });
    assert!(fault.to_string().contains("4 bytes before an allocation of 16 bytes"));
    let shared = ".shared .align 4 .b8 tile[64];";
    let body = "\tshl.b32 %r2, %r1, 2;\n\tst.shared.u32 [%r2], %r1;\n";
    expect(&fault_of(shared, body, 32), FIRST + 1, 16, |kind| {
        matches!(kind, FaultKind::OutOfBounds { space: Space::Shared, address: 64, .. })
    });
    let local = ".local .align 8 .b8 depot[8];";
    let body = "\tmov.u64 %rd3, depot;\n\tst.local.u64 [%rd3+8], %rd1;\n";
    expect(&fault_of(local, body, 1), FIRST + 1, 0, |kind| {
        matches!(kind, FaultKind::OutOfBounds { space: Space::Local, .. })
    });
    let body = "\tmov.u64 %rd3, data;\n\tld.param.u64 %rd4, [%rd3+8];\n";
    expect(&fault_of("", body, 1), FIRST + 1, 0, |kind| {
        matches!(kind, FaultKind::OutOfBounds { space: Space::Param, .. })
    });
    // Beyond a variable that is named: ptxas takes it.
    for (body, space) in [
        ("\tst.local.u32 [depot+8], %r1;\n", Space::Local),
        ("\tld.param.u64 %rd4, [data+8];\n", Space::Param),
        ("\tld.param.u32 %r2, [data+-4];\n", Space::Param),
    ] {
        expect(
            &fault_of(local, body, 1),
            FIRST,
            0,
            |kind| matches!(kind, FaultKind::OutOfBounds { space: found, .. } if *found == space),
        );
    }
    // One that is not executed is none.
    let body = "\tsetp.ne.u32 %p1, %r1, %r1;\n\t@%p1 st.local.u32 [depot+8], %r1;\n";
    let bench = Bench::new(&kernel(local, body));
    let data = [Argument::Buffer(bench.buffer(&[0u32; 4]))];
    assert!(bench.launch("k", 1, 1, &data, &checked()).is_ok());
}

#[test]
fn misaligned_addresses() {
    let fault = fault_of("", "\tld.global.u32 %r2, [%rd1+2];\n", 1);
    expect(&fault, FIRST, 0, |kind| matches!(kind, FaultKind::Misaligned { bytes: 4, .. }));
    let fault = fault_of("", "\tld.global.v2.u32 {%r2, %r3}, [%rd1+4];\n", 1);
    expect(&fault, FIRST, 0, |kind| matches!(kind, FaultKind::Misaligned { bytes: 8, .. }));
    let shared = ".shared .align 4 .b8 tile[64];";
    let fault = fault_of(shared, "\tst.shared.u16 [tile+1], 0;\n", 1);
    expect(&fault, FIRST, 0, |kind| matches!(kind, FaultKind::Misaligned { bytes: 2, .. }));
}

#[test]
fn freed_memory() {
    let bench = Bench::new(&kernel("", "\tld.global.u32 %r2, [%rd1+4];\n"));
    let data = bench.buffer(&[0u32; 4]);
    bench.device.free(data).unwrap();
    let fault = bench.launch("k", 1, 1, &[Argument::Buffer(data)], &checked()).unwrap_err();
    expect(&fault, FIRST, 0, |kind| matches!(kind, FaultKind::UseAfterFree { .. }));
    assert!(bench.device.free(data).is_err());
    assert!(bench.device.read(data, &mut [0; 4]).is_err());
}

#[test]
fn constants_cannot_be_written() {
    let text = kernel("", "\tmov.u64 %rd3, table;\n\tst.global.u32 [%rd3], 1;\n")
        .replace(".visible", ".const .align 4 .u32 table[2] = {1, 2};\n.visible");
    let bench = Bench::new(&text);
    let data = bench.buffer(&[0u32; 4]);
    let fault = bench.launch("k", 1, 1, &[Argument::Buffer(data)], &checked()).unwrap_err();
    expect(&fault, FIRST + 2, 0, |kind| matches!(kind, FaultKind::ReadOnly { .. }));
}

#[test]
fn reads_of_what_was_never_written() {
    let shared = ".shared .align 4 .b8 tile[256];";
    let body = "\tshl.b32 %r2, %r1, 2;\n\tst.shared.u16 [%r2], 7;\n\tld.shared.u32 %r3, [%r2];\n";
    expect(&fault_of(shared, body, 1), FIRST + 2, 0, |kind| {
        matches!(kind, FaultKind::UninitializedShared { address: 0, bytes: 4 })
    });
    let body = "\tadd.u32 %r2, %r1, %r5;\n\tst.global.u32 [%rd1], %r2;\n";
    expect(&fault_of("", body, 1), FIRST + 1, 0, |kind| {
        *kind == FaultKind::UninitializedRegister { register: "%r5".to_string() }
    });
    // Written on one path only: copying it and computing with it is no fault, showing the result is.
    let body = "\tsetp.lt.u32 %p1, %r1, 3;\n\t@%p1 mov.u32 %r5, 1;\n\tmov.u32 %r6, %r5;\n\t\
        add.u32 %r7, %r6, 1;\n\tst.local.u32 [depot], %r7;\n\tcvt.u64.u32 %rd3, %r7;\n\t\
        add.u64 %rd3, %rd1, %rd3;\n\tld.global.u8 %r8, [%rd3];\n";
    let fault = fault_of(".local .align 4 .b8 depot[4];", body, 8);
    expect(&fault, FIRST + 7, 3, |kind| {
        *kind == FaultKind::UninitializedRegister { register: "%r5".to_string() }
    });
}

#[test]
fn poison_can_be_switched_off() {
    let bench = Bench::new(&kernel("", "\tadd.u32 %r2, %r1, %r5;\n"));
    let data = bench.buffer(&[0u32; 4]);
    let options = Options { poison: false, ..Options::default() };
    bench.launch("k", 1, 1, &[Argument::Buffer(data)], &options).unwrap();
}

#[test]
fn barriers_that_never_open() {
    let body = "\tsetp.lt.u32 %p1, %r1, 32;\n\t@%p1 bar.sync 1, 96;\n";
    let fault = fault_of("", body, 64);
    expect(&fault, FIRST + 1, 0, |kind| matches!(kind, FaultKind::Deadlock { .. }));
    assert!(fault.to_string().contains("32 threads wait for barrier 1, which expects 96 threads"));
    let body = "\tbar.sync %r1;\n";
    expect(&fault_of("", body, 2), FIRST, 0, |kind| matches!(kind, FaultKind::Deadlock { .. }));
    let fault = fault_of("", "\tmov.u32 %r1, 16;\n\tbar.sync %r1;\n", 1);
    expect(&fault, FIRST + 1, 0, |kind| matches!(kind, FaultKind::InvalidOperand { .. }));
}

#[test]
fn barriers_that_a_warp_divides_at() {
    let body = "\tsetp.lt.u32 %p1, %r1, 16;\n\t@%p1 bra LOW;\n\tbar.sync 0;\n\tret;\nLOW:\n\tbar.sync 0;\n";
    expect(&fault_of("", body, 32), FIRST + 2, 16, |kind| {
        *kind == FaultKind::DivergentBarrier { barrier: 0, lines: [FIRST + 5, FIRST + 2] }
    });
    // Whole warps may do so, and `barrier.sync` lets lanes.
    let whole = body.replace("%r1, 16", "%r1, 32");
    let lanes = body.replace("bar.sync", "barrier.sync");
    for (body, threads) in [(whole, 64), (lanes, 32)] {
        let bench = Bench::new(&kernel("", &body));
        let data = bench.buffer(&[0u32; 4]);
        bench.launch("k", 1, threads, &[Argument::Buffer(data)], &checked()).unwrap();
    }
}

#[test]
fn lanes_that_never_come() {
    let body = "\tsetp.lt.u32 %p1, %r1, 16;\n\t@%p1 bra LOW;\n\tbar.sync 0;\nLOW:\n\t\
        shfl.sync.idx.b32 %r2, %r1, 0, 31, -1;\n";
    expect(&fault_of("", body, 32), FIRST + 4, 0, |kind| {
        *kind == FaultKind::MissingLanes { mask: u32::MAX, missing: 0xffff_0000 }
    });
    let body = "\tvote.sync.any.pred %p1, 1, 0xfffffffe;\n".replace(" 1,", " %p2,");
    let body = format!("\tsetp.eq.u32 %p2, %r1, 0;\n{body}");
    expect(&fault_of("", &body, 32), FIRST + 1, 0, |kind| {
        *kind == FaultKind::MissingLanes { mask: 0xffff_fffe, missing: 1 }
    });
}

#[test]
fn loops_without_end() {
    let fault = fault_of("", "LOOP:\n\tadd.u32 %r1, %r1, 1;\n\tbra LOOP;\n", 1);
    assert_eq!(fault.kind, FaultKind::StepBudget { budget: 100_000 });
    assert!(fault.to_string().contains("its budget of 100000 instructions: a loop may not end"));
    assert!((FIRST + 1..=FIRST + 2).contains(&fault.ptx_line));
}

#[test]
fn waiting_for_another_thread_is_no_endless_loop() {
    let shared = ".shared .align 4 .b8 flag[4];";
    let body = "\tsetp.eq.u32 %p1, %r1, 0;\n\t@%p1 st.volatile.shared.u32 [flag], 0;\n\tbar.sync 0;\n\
        \tsetp.eq.u32 %p2, %r1, 5;\n\t@%p2 st.volatile.shared.u32 [flag], 1;\nLOOP:\n\
        \tld.volatile.shared.u32 %r2, [flag];\n\tsetp.eq.u32 %p3, %r2, 0;\n\t@%p3 bra LOOP;\n";
    for order in [Order::Forward, Order::Reverse, Order::Random(1)] {
        let bench = Bench::new(&kernel(shared, body));
        let data = bench.buffer(&[0u32; 4]);
        let options = Options { order, detect_races: true, ..Options::default() };
        bench.launch("k", 1, 8, &[Argument::Buffer(data)], &options).unwrap();
    }
}

#[test]
fn races_in_shared_and_global_memory() {
    let body = "\tst.global.u32 [%rd1], %r1;\n";
    let fault = fault_of("", body, 2);
    let FaultKind::Race { space: Space::Global, write: true, ref other, .. } = fault.kind else {
        panic!("{fault}")
    };
    assert_eq!(
        (fault.ptx_line, other.line, other.write, other.thread),
        (FIRST, FIRST, true, [0; 3])
    );
    let shared = ".shared .align 4 .b8 tile[64];";
    let body = "\tshl.b32 %r2, %r1, 2;\n\tst.shared.u32 [%r2], %r1;\n\txor.b32 %r3, %r2, 4;\n\t\
        bar.warp.sync -1;\n\tld.shared.u32 %r4, [%r3];\n\tst.shared.u32 [%r2], %r4;\n";
    let fault = fault_of(shared, body, 2);
    expect(&fault, FIRST + 4, 1, |kind| {
        matches!(kind, FaultKind::Race { space: Space::Shared, .. })
    });
    assert!(fault.to_string().contains("the write at PTX line 18"), "{fault}");
}

/// Each thread writes the bytes of a word, of which the last two are those that the other writes first.
#[test]
fn races_of_bytes_of_a_word() {
    let body = "\tst.global.u8 [%rd1], %r1;\n\tst.global.u8 [%rd1+1], %r1;\n\tst.global.u8 [%rd1+2], %r1;\n";
    let fault = fault_of("", body, 2);
    assert!(matches!(fault.kind, FaultKind::Race { write: true, .. }), "{fault}");
    assert_eq!((fault.ptx_line, fault.thread), (FIRST, [1, 0, 0]));
    // A byte that was written before a barrier is not written again with the next.
    let body = "\tsetp.eq.u32 %p1, %r1, 0;\n\t@%p1 st.global.u8 [%rd1], %r1;\n\tbar.sync 0;\n\t\
        @%p1 st.global.u8 [%rd1+1], %r1;\n\t@!%p1 ld.global.u8 %r2, [%rd1];\n";
    let bench = Bench::new(&kernel("", body));
    let data = bench.buffer(&[0u32; 4]);
    bench.launch("k", 1, 2, &[Argument::Buffer(data)], &checked()).unwrap();
}

#[test]
fn what_orders_threads_is_no_race() {
    let shared = ".shared .align 4 .b8 tile[256];";
    let swap = |between: &str| {
        format!(
            "\tshl.b32 %r2, %r1, 2;\n\tst.shared.u32 [%r2], %r1;\n\txor.b32 %r3, %r2, 4;\n\
             \t{between}\n\tld.shared.u32 %r4, [%r3];\n\tred.global.add.u32 [%rd1], %r4;\n"
        )
    };
    for between in ["bar.sync 0;", "bar.warp.sync -1;", "bar.sync 2, 64;", "barrier.sync 3;"] {
        let bench = Bench::new(&kernel(shared, &swap(between)));
        let data = bench.buffer(&[0u32; 4]);
        let result = bench.launch("k", 1, 64, &[Argument::Buffer(data)], &checked());
        assert!(result.is_ok(), "{between}: {}", result.unwrap_err());
        assert_eq!(bench.values::<u32>(data, 1), [2016]);
    }
}

#[test]
fn races_between_blocks() {
    let body = "\tmov.u32 %r2, %ctaid.x;\n\tst.global.u32 [%rd1], %r2;\n";
    let bench = Bench::new(&kernel("", body));
    let data = bench.buffer(&[0u32; 4]);
    let fault = bench.launch("k", 2, 1, &[Argument::Buffer(data)], &checked()).unwrap_err();
    assert!(matches!(fault.kind, FaultKind::Race { .. }), "{fault}");
    assert_eq!((fault.ptx_line, fault.block), (FIRST + 1, [1, 0, 0]));
}

#[test]
fn traps_and_what_cannot_run() {
    expect(&fault_of("", "\tsetp.eq.u32 %p1, %r1, 2;\n\t@%p1 trap;\n", 4), FIRST + 1, 2, |kind| {
        *kind == FaultKind::Trap
    });
    expect(&fault_of("", "\tbrkpt;\n", 1), FIRST, 0, |kind| *kind == FaultKind::Breakpoint);
    let unknown = "\ttensormap.replace.tile.global_address.global.b1024.b64 [%rd1], %rd2;\n";
    expect(
        &fault_of("", unknown, 1),
        FIRST,
        0,
        |kind| matches!(kind, FaultKind::Unsupported { what } if what.starts_with("tensormap.replace")),
    );
    let module = Module::parse(&kernel("", unknown)).unwrap();
    assert_eq!(module.unsupported()[0].line, FIRST);
    // Not executed, it is no fault.
    let skipped = format!("\tbra DONE;\n{unknown}DONE:\n");
    let bench = Bench::new(&kernel("", &skipped));
    let data = bench.buffer(&[0u32; 4]);
    bench.launch("k", 1, 1, &[Argument::Buffer(data)], &checked()).unwrap();
}

#[test]
fn branches_and_calls_to_nowhere() {
    let body =
        "table: .branchtargets A, B;\n\tadd.u32 %r2, %r1, 1;\n\tbrx.idx %r2, table;\nA:\nB:\n";
    expect(&fault_of("", body, 4), FIRST + 2, 1, |kind| {
        *kind == FaultKind::BranchIndex { index: 2, targets: 2 }
    });
    let body =
        "prototype_0: .callprototype _ (.param .b32 _);\n\tcall %rd1, (value), prototype_0;\n";
    let fault = fault_of(".param .b32 value;", body, 1);
    expect(&fault, FIRST + 1, 0, |kind| matches!(kind, FaultKind::CallTarget { .. }));
}

#[test]
fn recursion_without_end() {
    let text = kernel("", "\tcall deeper;\n").replace(
        ".visible",
        ".func deeper();\n.func deeper()\n{\n\tcall deeper;\n\tret;\n}\n.visible",
    );
    let bench = Bench::new(&text);
    let data = bench.buffer(&[0u32; 4]);
    let fault = bench.launch("k", 1, 1, &[Argument::Buffer(data)], &checked()).unwrap_err();
    assert!(matches!(fault.kind, FaultKind::StackOverflow { .. }), "{fault}");
    assert_eq!((fault.function.as_str(), fault.ptx_line), ("deeper", 7));
}

#[test]
fn launches_that_do_not_fit() {
    let bench = Bench::new(&kernel("", "").replace("\n{\n", "\n.maxntid 64\n{\n"));
    let data = bench.buffer(&[0u32; 4]).to_le_bytes();
    let wrong = |launch: &Launch<'_>| {
        let fault =
            bench.device.launch(&bench.loaded, "k", launch, &Options::default()).unwrap_err();
        let FaultKind::Launch { reason } = fault.kind else { panic!("{fault}") };
        reason
    };
    let right = Launch { arguments: &[&data], ..Launch::default() };
    assert_eq!(wrong(&Launch::default()), "0 arguments for 1 parameters");
    assert_eq!(
        wrong(&Launch { arguments: &[&data[..4]], ..right }),
        "4 bytes for parameter `data` of 8 bytes"
    );
    assert_eq!(
        wrong(&Launch { block: [65, 1, 1], ..right }),
        "65 threads in a block, at most 64 are allowed"
    );
    assert!(wrong(&Launch { grid: [0, 1, 1], ..right }).contains("grid"));
    // Their products are more than a number of 64 bits holds.
    let largest = wrong(&Launch { grid: [u32::MAX; 3], block: [u32::MAX; 3], ..right });
    assert_eq!(largest.matches("exceeds the limits").count(), 2, "{largest}");
    // Everything that is wrong, in lines of their own.
    let all = wrong(&Launch {
        grid: [0, 1, 1],
        block: [65, 1, 1],
        dynamic_shared_bytes: 1 << 20,
        arguments: &[&data[..4]],
        ..right
    });
    let lines: Vec<_> = all.lines().collect();
    assert!(lines[0].starts_with("a grid of [0, 1, 1] is empty or exceeds the limits "), "{all}");
    assert_eq!(lines[1], "65 threads in a block, at most 64 are allowed");
    assert!(lines[2].starts_with("1048576 bytes of shared memory, but the device has "), "{all}");
    assert_eq!(lines[3..], ["4 bytes for parameter `data` of 8 bytes"], "{all}");
    assert!(wrong(&Launch { dynamic_shared_bytes: 1 << 20, ..right }).contains("shared memory"));
}

#[test]
fn blocks_have_the_shape_that_a_kernel_requires() {
    let bench = Bench::new(&kernel("", "").replace("\n{\n", "\n.reqntid 8, 4\n{\n"));
    let data = bench.buffer(&[0u32; 4]).to_le_bytes();
    let launched = |block| {
        let launch = Launch { block, arguments: &[&data], ..Launch::default() };
        let result = bench.device.launch(&bench.loaded, "k", &launch, &Options::default());
        result.map(drop).map_err(|fault| fault.to_string())
    };
    launched([8, 4, 1]).unwrap();
    for (block, reason) in [
        ([8, 3, 1], "a block of [8, 3, 1] threads, but the kernel requires [8, 4, 1]"),
        ([4, 8, 1], "a block of [4, 8, 1] threads, but the kernel requires [8, 4, 1]"),
        ([8, 5, 1], "40 threads in a block, at most 32 are allowed"),
    ] {
        assert_eq!(launched(block).unwrap_err(), format!("invalid launch: {reason}"));
    }
}

#[test]
fn what_a_launch_did_before_its_fault_is_told() {
    let bench = Bench::new(include_str!("ptx/messages.ptx"));
    for cooperative in [false, true] {
        let n = 4u32.to_le_bytes();
        let (block, arguments): (_, [&[u8]; 1]) = ([32, 1, 1], [&n]);
        let launch = Launch { block, cooperative, arguments: &arguments, ..Launch::default() };
        let options = Options::default();
        let fault = bench.device.launch(&bench.loaded, "messages", &launch, &options).unwrap_err();
        assert!(matches!(fault.kind, FaultKind::Assertion { .. }), "{fault}");
        assert_eq!(fault.report.printed, "thread 0:  6.00|7   |ff 34359738368 z%\n");
        let covered = fault.report.coverage.instructions();
        let last = covered.iter().find(|covered| covered.line == fault.ptx_line).unwrap();
        assert_eq!((last.count, last.mnemonic.starts_with("call")), (1, true), "{last:?}");
    }
}

#[test]
fn source_lines_are_told() {
    let body = "\t.loc 1 42 7\n\tst.global.u32 [%rd1+64], %r1;\n";
    let text = kernel("", body) + "\t.file 1 \"kernels/fill.rs\"\n";
    let bench = Bench::new(&text);
    let data = bench.buffer(&[0u32; 4]);
    let fault = bench.launch("k", 1, 1, &[Argument::Buffer(data)], &checked()).unwrap_err();
    assert_eq!(fault.source, Some(("kernels/fill.rs".into(), 42)));
    assert!(
        fault.to_string().contains("in k at PTX line 14 (kernels/fill.rs:42), block (0, 0, 0)")
    );
    // The line itself, where the source is there and has it.
    let folder = test_support::temporary_folder();
    assert_eq!(fault.frame(folder.path()), None);
    test_support::write_file(&folder, "kernels/fill.rs", "\n".repeat(40));
    assert_eq!(fault.frame(folder.path()), None);
    let source = "\n".repeat(41) + "    y[i] = 1;\n";
    test_support::write_file(&folder, "kernels/fill.rs", &source);
    let expected = "  --> kernels/fill.rs:42:5\n   |\n42 |     y[i] = 1;\n   |     ^^^^^^^^^";
    assert_eq!(fault.frame(folder.path()).as_deref(), Some(expected));
}

#[test]
fn all_errors_of_a_text_come_at_once() {
    let text = kernel(
        "",
        "\tadd.u32 %r1, %r99, 1;\n\tld.global.u32 %r1, [nowhere];\n\tadd.u32 %r1 1;\n\
        \tbra MISSING;\n\tadd.u32 %r1, %r1;\n",
    );
    let errors = Module::parse(&text).unwrap_err();
    assert_eq!(errors.to_string(), "PTX line 15: expected `,` or `;`, found `1`");
    let errors = Module::parse(&text.replace("%r1 1", "%r1, %r1, 1")).unwrap_err();
    assert_eq!(
        errors.to_string(),
        "PTX line 13: `%r99` is not declared\nPTX line 14: `nowhere` is not declared\n\
         PTX line 16: there is no label `MISSING`\nPTX line 17: `add.u32` has 2 operands, not 3"
    );
}

#[test]
fn memory_is_limited_and_counted() {
    let device = Device::new(Properties { memory_bytes: 1000, ..Properties::default() });
    let first = device.allocate(600, 1).unwrap();
    assert!(device.allocate(600, 1).is_err());
    assert_eq!(device.memory_usage(), (600, 1000));
    device.free(first).unwrap();
    assert_eq!(device.memory_usage(), (0, 1000));
    let second = device.allocate(600, 1).unwrap();
    assert_eq!(device.allocation(second + 599), Some((second, 600)));
    let mut bytes = [0; 600];
    device.read(second, &mut bytes).unwrap();
    assert_eq!(bytes, [0xcd; 600]);
    device.fill(second + 3, 10, 7).unwrap();
    device.read(second, &mut bytes).unwrap();
    assert_eq!(bytes[2..14], [0xcd, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 0xcd]);
}

/// Compilers load a vector where the word in its middle, or the last one, is not needed.
#[test]
fn words_of_vectors_that_nothing_uses_are_not_read() {
    let shared = ".shared .align 16 .b8 tile[32];";
    let body = |used: &str| {
        format!(
            "\tst.shared.u32 [tile+4], 7;\n\tst.shared.u32 [tile+12], 7;\n\t\
             ld.shared.v4.u32 {{%r2, %r3, %r4, %r5}}, [tile];\n\tadd.u32 %r6, %r3, %r5;\n\t\
             add.u32 %r6, %r6, {used};\n\tst.global.u32 [%rd1], %r6;\n"
        )
    };
    let launch = |used: &str| {
        let bench = Bench::new(&kernel(shared, &body(used)));
        let data = bench.buffer(&[0u32; 4]);
        bench.launch("k", 1, 1, &[Argument::Buffer(data)], &checked())
    };
    launch("%r3").unwrap();
    for (used, at) in [("%r2", 0), ("%r4", 8)] {
        let fault = launch(used).unwrap_err();
        expect(
            &fault,
            FIRST + 2,
            0,
            |kind| matches!(kind, FaultKind::UninitializedShared { address, bytes: 4 } if *address == at),
        );
    }
    // What another thread writes meanwhile is no race where it is not used.
    let body = |used: &str| {
        format!(
            "\tsetp.eq.u32 %p1, %r1, 0;\n\t@%p1 st.global.u32 [%rd1+8], 7;\n\t\
             @%p1 bra $end;\n\tld.global.v4.u32 {{%r2, %r3, %r4, %r5}}, [%rd1];\n\t\
             add.u32 %r6, %r3, {used};\n\tst.global.u32 [%rd1+16], %r6;\n$end:\n"
        )
    };
    let launch = |used: &str| {
        let bench = Bench::new(&kernel("", &body(used)));
        let data = bench.buffer(&[0u32; 8]);
        bench.launch("k", 1, 2, &[Argument::Buffer(data)], &checked())
    };
    launch("%r5").unwrap();
    let fault = launch("%r4").unwrap_err();
    assert!(matches!(fault.kind, FaultKind::Race { .. }), "{fault:?}");
}

//! Faults of what has to be waited for: copies, barriers of the grid, and memory that the host changes.

#![allow(clippy::result_large_err, reason = "a launch fails once in a test")]

mod common;

use common::{
    Argument, Bench,
    faulty::{FIRST, expect, fault_of, kernel},
};
use ptx_emulator::{Fault, FaultKind, Launch, Options, Order, Space};

#[test]
fn bulk_copies_are_of_multiples_of_16_bytes() {
    let shared = ".shared .align 16 .b8 tile[64]; .shared .align 8 .b8 bar[8];";
    let body = |from: &str, bytes: u32| {
        format!(
            "\tmov.u32 %r2, tile;\n\tmov.u32 %r3, bar;\n\tmbarrier.init.shared.b64 [%r3], 1;
\tadd.u64 %rd3, %rd1, {from};
\tcp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd3], {bytes}, [%r3];
"
        )
    };
    expect(&fault_of(shared, &body("8", 16), 1), FIRST + 4, 0, |kind| {
        matches!(kind, FaultKind::Misaligned { space: Space::Global, bytes: 16, .. })
    });
    expect(&fault_of(shared, &body("0", 8), 1), FIRST + 4, 0, |kind| {
        matches!(kind, FaultKind::InvalidOperand { .. })
    });
    expect(&fault_of(shared, &body("0", 32), 1), FIRST + 4, 0, |kind| {
        matches!(kind, FaultKind::OutOfBounds { space: Space::Global, write: false, .. })
    });
}

/// What nobody brings is waited for without end.
#[test]
fn bytes_that_never_come() {
    let shared = ".shared .align 8 .b8 bar[8];";
    let body = "\tmov.u32 %r3, bar;\n\tmbarrier.init.shared.b64 [%r3], 1;
\tmbarrier.arrive.expect_tx.shared.b64 _, [%r3], 16;
WAIT:\tmbarrier.try_wait.parity.shared.b64 %p1, [%r3], 0;\n\t@!%p1 bra WAIT;\n";
    let fault = fault_of(shared, body, 1);
    assert!(
        matches!(fault.kind, FaultKind::StepBudget { .. } | FaultKind::Deadlock { .. }),
        "{fault}"
    );
}

/// What is copied is there when its thread has waited for it, and not before.
#[test]
fn copies_that_are_not_waited_for() {
    let shared = ".shared .align 16 .b8 tile[64];";
    let body = |wait: &str| {
        format!(
            "\tmov.u32 %r2, tile;
\tcp.async.ca.shared.global [%r2], [%rd1], 4;\n\tcp.async.commit_group;
\tcp.async.ca.shared.global [%r2+4], [%rd1], 4;\n\tcp.async.commit_group;
\t{wait};\n\tld.shared.u32 %r3, [%r2];\n\tld.shared.u32 %r4, [%r2+4];
\tld.shared.u32 %r5, [%r2+8];\n"
        )
    };
    // The last word is copied by nobody, so that every body ends with a fault.
    let waits = [
        ("cp.async.wait_group 2", 6),
        ("cp.async.wait_group 1", 7),
        ("cp.async.wait_group 0", 8),
        ("cp.async.wait_all", 8),
    ];
    for (wait, line) in waits {
        expect(&fault_of(shared, &body(wait), 1), FIRST + line, 0, |kind| {
            matches!(kind, FaultKind::UninitializedShared { .. })
        });
    }
}

/// A kernel whose blocks count themselves and wait until all have come; those from `leaving` on return before.
fn meeting(leaving: &str) -> String {
    let body = format!(
        "\tmov.u32 %r7, %ctaid.x;\n\tsetp.ge.u32 %p1, %r7, {leaving};\n\t@%p1 ret;
\tmov.u32 %r1, %tid.x;\n\tsetp.ne.u32 %p1, %r1, 0;\n\t@%p1 bra MEET;
\tmov.u32 %r2, %nctaid.x;\n\tatom.add.release.gpu.u32 %r3, [%rd1], 1;
WAIT:\n\tld.acquire.gpu.u32 %r3, [%rd1];\n\tsetp.lt.u32 %p1, %r3, %r2;\n\t@%p1 bra WAIT;
MEET:\n\tbar.sync 0;\n"
    );
    kernel("", &body)
}

/// Launches four blocks of 64 threads that meet; the counter, or the fault.
fn meet(text: &str, cooperative: bool, options: &Options) -> Result<u32, Fault> {
    let bench = Bench::new(text);
    let data = bench.buffer(&[0u32]);
    let bytes = data.to_le_bytes();
    let (grid, block) = ([4, 1, 1], [64, 1, 1]);
    let launch = Launch { grid, block, cooperative, arguments: &[&bytes], ..Launch::default() };
    bench.device.launch(&bench.loaded, "k", &launch, options)?;
    Ok(bench.values::<u32>(data, 1)[0])
}

/// No races, so that blocks run on several cores, and more instructions than a loop takes that is found.
fn many() -> Options {
    Options { step_budget: Some(1 << 28), ..Options::default() }
}

const ORDERS: [Order; 3] = [Order::Forward, Order::Reverse, Order::Random(5)];

#[test]
fn a_barrier_of_the_grid_wants_all_blocks_at_once() {
    let text = meeting("4");
    for order in ORDERS {
        for detect_races in [false, true] {
            let options = Options { order, detect_races, threads: 1, ..many() };
            assert_eq!(meet(&text, true, &options).unwrap(), 4);
            let fault = meet(&text, false, &options).unwrap_err();
            let FaultKind::Deadlock { waiting } = &fault.kind else { panic!("{fault}") };
            assert_eq!(
                waiting,
                "1 threads wait for memory that no thread changes, 63 threads wait for barrier 0, 0 have exited; 3 of \
                 4 blocks have not begun, as the launch of `k` is not cooperative"
            );
            assert_eq!(fault.thread, [0; 3]);
            let line = text.lines().nth(fault.ptx_line as usize - 1).unwrap();
            assert!(line.contains("ld.acquire") || line.contains("setp") || line.contains("bra"));
        }
    }
}

/// Blocks that do run at once meet, also where they wait for one that has yet to begin.
#[test]
fn blocks_on_cores_of_their_own_meet() {
    let text = meeting("4");
    for _ in 0..20 {
        assert_eq!(meet(&text, false, &Options { threads: 4, ..many() }).unwrap(), 4);
    }
    for _ in 0..20 {
        let fault = meet(&text, false, &Options { threads: 3, ..many() }).unwrap_err();
        let FaultKind::Deadlock { waiting } = &fault.kind else { panic!("{fault}") };
        assert!(waiting.contains("; 1 of 4 blocks have not begun"), "{waiting}");
    }
}

#[test]
fn blocks_that_leave_before_a_barrier_of_the_grid_are_waited_for() {
    for order in ORDERS {
        for (cooperative, threads) in [(true, 1), (false, 4)] {
            let options = Options { order, threads, ..many() };
            let fault = meet(&meeting("3"), cooperative, &options).unwrap_err();
            let FaultKind::Deadlock { waiting } = &fault.kind else { panic!("{fault}") };
            let expected = "1 threads wait for memory that no thread changes, 63 threads wait for barrier 0, 0 have \
                            exited";
            assert_eq!(waiting, expected);
        }
    }
}

/// What the thread has not counted itself at may be changed by the host. The second thread tells it when the first has had
/// several turns.
#[test]
fn memory_that_the_host_changes_is_waited_for() {
    let body = "\tsetp.eq.u32 %p1, %r1, 0;\n\t@%p1 bra WAIT;\n\tmov.u32 %r2, 200000;
COUNT:\n\tsub.u32 %r2, %r2, 1;\n\tsetp.ne.u32 %p1, %r2, 0;\n\t@%p1 bra COUNT;
\tst.relaxed.gpu.u32 [%rd1+4], 1;\n\tret;
WAIT:\n\tld.relaxed.gpu.u32 %r2, [%rd1];\n\tsetp.eq.u32 %p1, %r2, 0;\n\t@%p1 bra WAIT;\n";
    let bench = Bench::new(&kernel("", body));
    let data = bench.buffer(&[0u32; 2]);
    std::thread::scope(|scope| {
        let launched =
            scope.spawn(|| bench.launch("k", 1, 2, &[Argument::Buffer(data)], &Options::default()));
        while bench.values::<u32>(data, 2)[1] == 0 && !launched.is_finished() {
            std::thread::yield_now();
        }
        (0..100).for_each(|_| std::thread::yield_now());
        bench.device.write(data, &1u32.to_le_bytes()).unwrap();
        launched.join().unwrap().unwrap();
    });
}

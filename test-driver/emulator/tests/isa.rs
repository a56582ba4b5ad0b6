//! Small programs over the chapters of the PTX ISA manual, each with the words that it must write.
//!
//! The expected words are computed here in Rust from the manual's text, not taken from a run. What the
//! manual leaves open is as devices do it: that was read off the code which `ptxas` makes.

#![allow(clippy::result_large_err, reason = "a launch fails once in a test")]

mod common;
#[path = "common/programs.rs"]
mod programs;

use programs::{Program, by_thread, check, program};
use ptx_emulator::{Fault, FaultKind, Options};

#[test]
fn addresses_of_32_bits_wrap() {
    check(&[
        program(
            "shared, register and offset",
            "st.shared.u32 [tile+8], 7; mov.u32 %r2, tile; sub.u32 %r2, %r2, 64;
             ld.shared.u32 %r3, [%r2+72]; cvt.u64.u32 %rd3, %r3; st.global.u64 [%rd1], %rd3;",
            &[7],
        ),
        program(
            "shared, vectors and atomics",
            "mov.u32 %r2, -16; st.shared.v2.u32 [%r2+24], {1, 2}; atom.shared.add.u32 %r3, [%r2+28], 5;
             mov.u32 %r4, -2; ld.shared.v2.u32 {%r5, %r6}, [%r4+10]; mov.b64 %rd3, {%r5, %r6};
             st.global.u64 [%rd1], %rd3;",
            &[7 << 32 | 1],
        ),
        program(
            "local",
            "mov.u32 %r2, depot; st.local.u32 [%r2+4], 9; sub.u32 %r2, %r2, 4;
             ld.local.u32 %r3, [%r2+8]; cvt.u64.u32 %rd3, %r3; st.global.u64 [%rd1], %rd3;",
            &[9],
        ),
        program(
            "local, offset that wraps backwards",
            "mov.u64 %rd3, depot; st.local.u32 [%rd3], 11; sub.u64 %rd3, %rd3, 100;
             ld.local.u32 %r3, [%rd3+100]; cvt.u64.u32 %rd3, %r3; st.global.u64 [%rd1], %rd3;",
            &[11],
        ),
    ]);
}

/// A `.loc` ends where its numbers do, not where its line does.
#[test]
fn instructions_may_follow_a_location_on_its_line() {
    check(&[
        program("plain", ".loc 1 2 3 mov.u64 %rd3, 7; .loc 1 2 4 st.global.u64 [%rd1], %rd3;", &[7]),
        program(
            "inlined",
            "mov.u64 %rd3, 5; L0: .loc 1 2 3, function_name L0 + 4, inlined_at 1 5 6 add.u64 %rd3, %rd3, 4;
             st.global.u64 [%rd1], %rd3;",
            &[9],
        ),
    ]);
}

#[test]
fn constants_are_added_to_operands() {
    check(&[
        program(
            "register and constant",
            "mov.u32 %r2, 40; mov.u32 %r3, %r2+5; add.u32 %r4, %r2+1, %r3+-2; mov.b64 %rd3, {%r3, %r4};
             st.global.u64 [%rd1], %rd3+1;",
            &[(84 << 32 | 45) + 1],
        ),
        program(
            "the sum has the register's width",
            "mov.u32 %r2, -1; cvt.u64.u32 %rd3, %r2+2; mov.b16 %h1, 0xffff; cvt.u64.u16 %rd4, %h1+3;
             shl.b64 %rd4, %rd4, 8; add.u64 %rd3, %rd3, %rd4; st.global.u64 [%rd1], %rd3;",
            &[0x201],
        ),
        program(
            "variables",
            "mov.u64 %rd3, table+4*2; ld.global.u32 %r2, [%rd3]; mov.u64 %rd4, table+4; add.u64 %rd4, %rd4, 8;
             ld.global.u32 %r3, [%rd4]; mov.b64 %rd5, {%r2, %r3}; st.global.u64 [%rd1], %rd5;",
            &[40 << 32 | 30],
        )
        .with(".global .align 8 .u32 table[4] = {10, 20, 30, 40};"),
    ]);
}

#[test]
fn differences_carry_as_on_devices() {
    // `IADD3 R7, P0, R0, -R5` sets the carry where nothing is borrowed, and `addc` adds it.
    let carry = |a: u32, b: u32| u64::from(a >= b);
    check(&[
        program(
            "sub.cc then addc",
            "sub.cc.u32 %r2, 5, 3; addc.u32 %r3, 0, 0; sub.cc.u32 %r4, 3, 5; addc.u32 %r5, 0, 0;
             mov.b64 %rd3, {%r3, %r5}; st.global.u64 [%rd1], %rd3;",
            &[carry(3, 5) << 32 | carry(5, 3)],
        ),
        program(
            "add.cc then subc",
            "add.cc.u32 %r2, -1, 1; subc.u32 %r3, 10, 4; add.cc.u32 %r2, 1, 1; subc.u32 %r4, 10, 4;
             mov.b64 %rd3, {%r3, %r4}; st.global.u64 [%rd1], %rd3;",
            &[5 << 32 | 6],
        ),
        program(
            "sub.cc then subc",
            "sub.cc.u64 %rd3, 0, 1; subc.u64 %rd4, 0, 0; sub.cc.u64 %rd5, 1, 1; subc.u64 %rd6, 0, 0;
             st.global.v2.u64 [%rd1], {%rd3, %rd4}; st.global.v2.u64 [%rd1+16], {%rd5, %rd6};",
            &[u64::MAX, u64::MAX, 0, 0],
        ),
        program(
            "subc.cc then madc",
            "sub.cc.u32 %r2, 7, 7; subc.cc.u32 %r3, 1, 1; madc.lo.u32 %r4, 3, 4, 5;
             cvt.u64.u32 %rd3, %r4; st.global.u64 [%rd1], %rd3;",
            &[18],
        ),
    ]);
}

fn fault(globals: &'static str, body: &'static str, threads: u32) -> Fault {
    let program = Program { globals, threads, ..program("", body, &[0; 64]) };
    program.launch(&Options::default()).unwrap_err()
}

#[test]
fn shuffles_from_lanes_that_take_no_part_are_undefined() {
    // Lanes 16 to 31 have ended; lane 3 takes what lane 19 has no more.
    let ended = "setp.ge.u32 %p1, %r1, 16; @%p1 exit;
        shfl.sync.down.b32 %r2, %r1, 16, 31, 0xffffffff;";
    let used = "mov.u32 %r3, %r2; add.u32 %r3, %r3, 1; setp.ne.u32 %p2, %r1, 3; @%p2 exit;
        st.global.u32 [%rd2], %r3;";
    let body: &'static str = Box::leak(format!("{ended}\n{used}").into_boxed_str());
    let found = fault("", body, 32);
    assert_eq!(found.thread, [3, 0, 0], "{found}");
    let text = found.to_string();
    assert!(text.contains("shfl.sync") && text.contains("`%r2`"), "{text}");
    // The same with a lane that is not in the mask.
    let found = fault(
        "",
        "setp.ge.u32 %p1, %r1, 8; @%p1 exit; shfl.sync.idx.b32 %r2, %r1, 9, 31, 0xff;
         setp.lt.u32 %p2, %r2, 4; @%p2 st.global.u32 [%rd2], 1;",
        16,
    );
    assert!(found.to_string().contains("shfl.sync"), "{found}");
    // What is not used does no harm.
    let unused = "setp.lt.u32 %p2, %r1, 4; add.u32 %r3, %r2, %r1; selp.u32 %r4, %r1, %r3, %p2;
        @!%p2 exit; st.global.u32 [%rd2], %r4;";
    let body: &'static str = Box::leak(format!("{ended}\n{unused}").into_boxed_str());
    let words =
        Program { threads: 32, ..program("", body, &[0; 32]) }.launch(&Options::default()).unwrap();
    assert_eq!(words[..6], [0, 1, 2, 3, 0, 0]);
}

#[test]
fn a_deadlock_counts_the_threads_of_each_barrier() {
    let body = "setp.lt.u32 %p1, %r1, 32; @%p1 bra L1; setp.lt.u32 %p1, %r1, 96; @%p1 bra L2; exit;
        L1: bar.sync 1, 64; bra L3; L2: bar.sync 2, 128; L3:";
    let FaultKind::Deadlock { waiting } = fault("", body, 128).kind else { panic!("no deadlock") };
    assert_eq!(
        waiting,
        "32 threads wait for barrier 1, which expects 64 threads, 64 threads wait for barrier 2, which expects 128 \
         threads, 32 have exited"
    );
}

#[test]
fn undefined_registers_may_be_carried_about() {
    check(&[
        by_thread(
            "an option of which only the full side is read",
            "setp.lt.u32 %p1, %r1, 16; @!%p1 bra L; mul.lo.u32 %r2, %r1, %r1;
             L: shl.b32 %r3, %r2, 1; add.u32 %r3, %r3, 1; setp.gt.u32 %p2, %r3, 50;
             and.pred %p3, %p1, %p2; selp.u32 %r4, %r3, 0, %p1; @%p3 add.u32 %r4, %r4, 1000;
             cvt.u64.u32 %rd3, %r4; st.global.u64 [%rd2], %rd3;",
            |t| {
                let value = t * t * 2 + 1;
                if t >= 16 { 0 } else { value + if value > 50 { 1000 } else { 0 } }
            },
        ),
        by_thread(
            "an option that a function returns",
            "{ .param .align 8 .b8 result[8]; .param .b32 given; st.param.b32 [given], %r1;
             call (result), find, (given); ld.param.v2.b32 {%r2, %r3}, [result]; }
             setp.ne.u32 %p1, %r2, 0; selp.u32 %r4, %r3, 99, %p1;
             cvt.u64.u32 %rd3, %r4; st.global.u64 [%rd2], %rd3;",
            |t| if t % 2 == 1 { t + 5 } else { 99 },
        )
        .with(
            ".func (.param .align 8 .b8 result[8]) find(.param .b32 given) { .reg .b32 %r<9>; .reg .pred %p;
             ld.param.b32 %r1, [given]; and.b32 %r2, %r1, 1; setp.eq.u32 %p, %r2, 0; @%p bra L;
             add.u32 %r3, %r1, 5; L: st.param.v2.b32 [result], {%r2, %r3}; ret; }",
        ),
        by_thread(
            "a vector of which a part is written",
            "setp.lt.u32 %p1, %r1, 4; selp.u32 %r2, 1, 0, %p1; @%p1 mov.u32 %r3, 6;
             st.global.v2.b32 [%rd2], {%r2, %r3}; setp.lt.u32 %p1, %r1, 4; @%p1 exit;
             st.global.u64 [%rd2], 0;",
            |t| if t < 4 { 6 << 32 | 1 } else { 0 },
        ),
        by_thread(
            "or, with a side that decides",
            "setp.lt.u32 %p1, %r1, 8; @!%p1 setp.lt.u32 %p2, %r1, 12; or.pred %p3, %p1, %p2;
             selp.u64 %rd3, 1, 2, %p3; st.global.u64 [%rd2], %rd3;",
            |t| if t < 12 { 1 } else { 2 },
        ),
    ]);
}

#[test]
fn undefined_registers_may_not_be_used() {
    for (body, register) in [
        ("st.global.u32 [%rd1], %r5;", "%r5"),
        ("add.u32 %r6, %r5, 1; mul.lo.u32 %r7, %r6, %r6; st.global.u32 [%rd1], %r7;", "%r5"),
        ("setp.lt.u32 %p2, %r5, 4; @%p2 bra L; L:", "%r5"),
        ("@%p3 st.global.u32 [%rd1], 1;", "%p3"),
        ("cvt.u64.u32 %rd5, %r5; add.u64 %rd5, %rd5, %rd1; ld.global.u32 %r6, [%rd5];", "%r5"),
        ("atom.global.add.u32 %r6, [%rd1], %r5;", "%r5"),
        ("setp.eq.u32 %p4, %r1, %r1; selp.u32 %r6, %r5, 1, %p4; st.shared.u32 [tile], %r6;", "%r5"),
        ("bar.sync %r5;", "%r5"),
        ("st.local.u32 [%r5], 1;", "%r5"),
    ] {
        let found = fault("", body, 1);
        let FaultKind::UninitializedRegister { register: named } = &found.kind else {
            panic!("{body}: {found}")
        };
        assert_eq!(named, register, "{body}");
    }
}

/// Functions that write a part of their results, or on some paths alone.
const PARTIAL: &str = "
    .func (.param .b32 r) none() { ret; }
    .func (.param .b32 r) odd(.param .b32 a) { .reg .b32 %a; .reg .pred %p; ld.param.b32 %a, [a]; and.b32 %a, %a, 1;
      setp.eq.u32 %p, %a, 1; @%p st.param.b32 [r], 7; ret; }
    .func (.param .align 8 .b8 r[8]) half() { st.param.b32 [r], 5; ret; }
    .func (.param .b32 r) carried() { .reg .b32 %a; st.param.b32 [r], %a; }
    .func (.reg .b32 r) register() { ret; }
    .func (.param .b32 r) again() { { .param .b32 q; call (q), none, (); .reg .b32 %a; ld.param.b32 %a, [q];
      st.param.b32 [r], %a; } ret; }
    .func (.param .align 4 .b8 r[4]) bytes() { st.param.b8 [r], 1; st.param.b8 [r+2], 3; ret; }
    .func (.param .b32 r) words() { .reg .b16 %h<2>; st.param.b16 [r], 1; st.param.b16 [r+2], %h1; ret; }";

#[test]
fn results_that_are_not_written_are_undefined() {
    for (body, thread, variable) in [
        ("{ .param .b32 v; call (v), none, (); ld.param.b32 %r2, [v]; st.global.u32 [%rd1], %r2; }", 0, "v"),
        ("{ .param .b32 v; .param .b32 a; st.param.b32 [a], %r1; call (v), odd, (a); ld.param.b32 %r2, [v];
          st.global.u32 [%rd2], %r2; }", 0, "v"),
        ("{ .param .align 8 .b8 v[8]; call (v), half, (); ld.param.v2.b32 {%r2, %r3}, [v]; add.u32 %r3, %r3, 1;
          setp.gt.u32 %p1, %r3, 4; @%p1 st.global.u32 [%rd1], %r2; }", 0, "v"),
        ("{ .param .b32 v; call (v), carried, (); ld.param.b32 %r2, [v]; st.global.u32 [%rd1], %r2; }", 0, "v"),
        ("call (%r2), register, (); st.global.u32 [%rd1], %r2;", 0, "%r2"),
        ("{ .param .b32 v; call (v), again, (); ld.param.b32 %r2, [v]; bar.sync %r2; }", 0, "v"),
        ("{ .param .align 4 .b8 v[4]; call (v), bytes, (); ld.param.u8 %r2, [v+1]; st.global.u32 [%rd1], %r2; }", 0, "v"),
        ("{ .param .b32 v; call (v), none, (); ld.param.b32 %r2, [v]; cvt.u64.u32 %rd3, %r2;
          ld.global.u32 %r3, [%rd3]; }", 0, "v"),
    ] {
        let body: &'static str = Box::leak(body.to_string().into_boxed_str());
        let found = fault(PARTIAL, body, 1);
        let FaultKind::UninitializedResult { variable: named } = &found.kind else {
            panic!("{body}: {found}")
        };
        assert_eq!((named.as_str(), found.thread[0]), (variable, thread), "{body}");
    }
}

#[test]
fn results_that_are_written_where_they_are_used_are_defined() {
    let each = |name, body, expected: fn(u64) -> u64| by_thread(name, body, expected).with(PARTIAL);
    check(&[
        each(
            "a result that is used where it was written",
            "{ .param .b32 v; .param .b32 a; st.param.b32 [a], %r1; call (v), odd, (a); ld.param.b32 %r2, [v]; }
             and.b32 %r3, %r1, 1; setp.eq.u32 %p1, %r3, 1; selp.u32 %r4, %r2, 9, %p1;
             cvt.u64.u32 %rd3, %r4; st.global.u64 [%rd2], %rd3;",
            |t| if t % 2 == 1 { 7 } else { 9 },
        ),
        each(
            "the part that was written, and a word with padding",
            "{ .param .align 8 .b8 v[8]; call (v), half, (); ld.param.b32 %r2, [v]; }
             { .param .align 4 .b8 v[4]; call (v), bytes, (); ld.param.b32 %r3, [v]; }
             and.b32 %r3, %r3, 0x00ff00ff; add.u32 %r2, %r2, %r3; cvt.u64.u32 %rd3, %r2; st.global.u64 [%rd2], %rd3;",
            |_| 0x0003_0006,
        ),
        each(
            "half of a word that is undefined is padding",
            "{ .param .b32 v; call (v), words, (); ld.param.b32 %r2, [v]; } and.b32 %r2, %r2, 0xffff;
             cvt.u64.u32 %rd3, %r2; st.global.u64 [%rd2], %rd3;",
            |_| 1,
        ),
        each(
            "a result after one that was undefined, in the same place",
            "{ .param .b32 v; .param .b32 a; mov.u32 %r5, 0; L: st.param.b32 [a], %r5; call (v), odd, (a);
             ld.param.b32 %r2, [v]; add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 2; @%p1 bra L; }
             cvt.u64.u32 %rd3, %r2; st.global.u64 [%rd2], %rd3;",
            |_| 7,
        ),
        each(
            "a result that nobody uses",
            "{ .param .b32 v; call (v), none, (); } call (_), none, (); st.global.u64 [%rd2], 3;",
            |_| 3,
        ),
    ]);
}

#[test]
fn vectors_in_registers() {
    check(&[
        program(
            "members of .v4",
            ".reg .v4 .u32 v; .reg .v4 .u32 w; mov.u32 v.x, 1; mov.u32 v.y, 2; mov.u32 v.z, 3; mov.u32 v.w, 4;
             mov.v4.u32 w, v; add.u32 w.b, w.r, w.g; st.global.v4.u32 [%rd1], w;",
            &[2 << 32 | 1, 4 << 32 | 3],
        ),
        program(
            "ranges of .v2",
            ".reg .v2 .b64 v<3>; mov.v2.b64 v1, {11, 12}; mov.v2.b64 v2, v1; mov.b64 v2.x, v1.y;
             st.global.v2.b64 [%rd1], v2; ld.global.v2.b64 v0, [%rd1]; add.u64 v0.x, v0.x, v0.y;
             st.global.v2.b64 [%rd1+16], {v0.y, v0.x};",
            &[12, 12, 12, 24],
        ),
        program(
            "mov.v4 of lists",
            "mov.v4.u32 {%r2, %r3, %r4, %r5}, {5, 6, 7, 8}; mov.v4.u32 {%r3, %r2, %r5, %r4}, {%r2, %r3, %r4, %r5};
             st.global.v4.u32 [%rd1], {%r2, %r3, %r4, %r5};",
            &[5 << 32 | 6, 7 << 32 | 8],
        ),
        program(
            "special registers as vectors",
            ".reg .v4 .u32 v; mov.v4.u32 v, %ntid; mov.v4.u32 {%r2, %r3, %r4, %r5}, %tid;
             mov.b64 %rd3, {v.x, v.z}; mov.b64 %rd4, {%r2, %r5}; st.global.v2.u64 [%rd1], {%rd3, %rd4};",
            &[1 << 32 | 1, 0],
        ),
        program(
            "packing a vector",
            ".reg .v2 .b16 v; .reg .v4 .b8 q; mov.b32 v, 0x00070009; mov.b16 v.y, v.x; mov.b32 %r2, v;
             mov.b32 q, 0x04030201; mov.b32 %r3, q; mov.b64 %rd3, {%r2, %r3}; st.global.u64 [%rd1], %rd3;",
            &[0x0403_0201 << 32 | 0x0009_0009],
        ),
    ]);
}

#[test]
fn parameters_in_registers() {
    let sum = ".func (.reg .u32 r) f(.reg .u32 a, .reg .u32 b) { sub.u32 r, a, b; ret; }";
    check(&[
        by_thread(
            "registers and constants as arguments",
            "call (%r2), f, (%r1, 5); cvt.u64.u32 %rd3, %r2; st.global.u64 [%rd2], %rd3;",
            |t| t.wrapping_sub(5) & 0xffff_ffff,
        )
        .with(sum),
        by_thread(
            "a variable as argument of a register parameter",
            "{ .param .b32 p; st.param.b32 [p], %r1; call (%r2), f, (7, p); }
             cvt.u64.u32 %rd3, %r2; st.global.u64 [%rd2], %rd3;",
            |t| 7u64.wrapping_sub(t) & 0xffff_ffff,
        )
        .with(sum),
        by_thread(
            "registers as arguments of variables",
            "call (%r2), g, (%r1); cvt.u64.u32 %rd3, %r2; st.global.u64 [%rd2], %rd3;",
            |t| t * 3,
        )
        .with(
            ".func (.param .u32 r) g(.param .u32 a) { .reg .b32 x; ld.param.u32 x, [a]; mul.lo.u32 x, x, 3;
             st.param.u32 [r], x; ret; }",
        ),
        by_thread(
            "recursion",
            "and.b32 %r2, %r1, 7; call (%rd3), factorial, (%r2); st.global.u64 [%rd2], %rd3;",
            |t| (1..=t & 7).product(),
        )
        .with(
            ".func (.reg .u64 r) factorial(.reg .u32 n) { .reg .pred p; .reg .u32 m; .reg .u64 q;
             mov.u64 r, 1; setp.eq.u32 p, n, 0; @p ret; sub.u32 m, n, 1; call (r), factorial, (m);
             cvt.u64.u32 q, n; mul.lo.u64 r, r, q; ret; }",
        ),
    ]);
}

#[test]
fn constant_expressions() {
    let words: [u64; 24] = [
        2 * 3,
        1 << 4,
        1 + 2 * 3,
        (1 + 2) * 3,
        (-7i64 / 2) as u64,
        (-7i64 as u64) % 3,
        u64::MAX / 2,
        (-1i64 as u64) / 2,
        (-1i64 >> 1) as u64,
        1,
        u64::from((-1i64 as u64) < 1),
        !0,
        0,
        1,
        9,
        4,
        1,
        3 & 5 | 8 ^ 1,
        1,
        (i64::MIN >> 63) as u64,
        (-1i64 as u64) / 2,
        (1 + 2) << 3,
        6 & u64::from(3 == 3),
        10u64.wrapping_sub(12),
    ];
    let body = "
        st.global.u64 [%rd1], 2*3;                          st.global.u64 [%rd1+8], 1<<4;
        st.global.u64 [%rd1+16], 1+2*3;                     st.global.u64 [%rd1+8*3], (1+2)*3;
        st.global.u64 [%rd1+32], -7 / 2;                    st.global.u64 [%rd1+40], -7 % 3;
        st.global.u64 [%rd1+48], 0xFFFFFFFFFFFFFFFF / 2;    st.global.u64 [%rd1+56], -1 / 2U;
        st.global.u64 [%rd1+64], -1 >> 1;                   st.global.u64 [%rd1+72], -1 < 1;
        st.global.u64 [%rd1+80], -1 < 1U;                   st.global.u64 [%rd1+88], ~0;
        st.global.u64 [%rd1+96], !5;                        st.global.u64 [%rd1+104], !0;
        st.global.u64 [%rd1+112], 0 ? 7 : 9;                st.global.u64 [%rd1+120], 0 ? 7 : 0 ? 3 : 4;
        st.global.u64 [%rd1+128], 1 || 0 && 0;              st.global.u64 [%rd1+136], 3 & 5 | 8 ^ 1;
        st.global.u64 [%rd1+144], 0x8000000000000000 >> 63; st.global.u64 [%rd1+152], (.s64)0x8000000000000000 >> 63;
        st.global.u64 [%rd1+160], (.u64)-1 / 2;             st.global.u64 [%rd1+168], 1 + 2 << 3;
        st.global.u64 [%rd1+176], 6 & 3 == 3;               st.global.u64 [%rd1+184], 10 - 12;";
    check(&[
        program("in operands", body, &words),
        program(
            "of floats",
            "mov.f64 %fd1, 1.5+1.5*2.0; st.global.f64 [%rd1], %fd1; mov.f32 %f1, -(0.5 - 2.0);
             st.global.f32 [%rd1+8], %f1;",
            &[4.5f64.to_bits(), 1.5f32.to_bits().into()],
        ),
        program(
            "in initialisers",
            "ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [table]; st.global.v4.u32 [%rd1], {%r2, %r3, %r4, %r5};",
            &[16 << 32 | 6, 7 << 32 | 0xffff_fffd],
        )
        .with(".global .align 16 .u32 table[4] = {2*3, 1<<4, -6/2, 1 ? 7 : 8};"),
    ]);
}

#[test]
fn cache_policies() {
    check(&[program(
        "createpolicy",
        "createpolicy.fractional.L2::evict_last.b64 %rd3, 1.0;
         createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 %rd4, 0.5;
         createpolicy.fractional.L2::evict_first.b64 %rd5;
         createpolicy.range.global.L2::evict_last.L2::evict_first.b64 %rd6, [%rd1], 0x100, 0x200;
         createpolicy.cvt.L2.b64 %rd7, 0x10000;
         st.global.L2::cache_hint.u64 [%rd1], 5, %rd3; ld.global.L2::cache_hint.u64 %rd8, [%rd1], %rd4;
         st.global.L2::cache_hint.u64 [%rd1+8], %rd8, %rd6; applypriority.global.L2::evict_normal [%rd1], 128;",
        &[5, 5],
    )]);
}

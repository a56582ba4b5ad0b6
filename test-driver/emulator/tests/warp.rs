//! Operations of the lanes of a warp, and matrices spread over them.

mod common;

use common::{Argument, Bench, Random};
use ptx_emulator::{Options, Order};

/// What two values become, with the name of the operation.
type Reduction = (&'static str, fn(u32, u32) -> u32);

/// Runs statements by a warp: `%r1` is the lane's input, `%r2` its result, `%r3` the lane.
fn warp(body: &str, input: &[u32], order: Order) -> Vec<u32> {
    let text = format!(
        ".version 8.0\n.target sm_90\n.address_size 64
.visible .entry k(.param .u64 from, .param .u64 to)\n{{
    .reg .pred %p<9>;\n    .reg .b32 %r<19>;\n    .reg .b64 %rd<9>;
    .shared .align 8 .b8 bar[8];\n    .shared .align 16 .b8 tile[256];
    ld.param.u64 %rd1, [from];\n    ld.param.u64 %rd2, [to];\n    mov.u32 %r3, %tid.x;
    mul.wide.u32 %rd3, %r3, 4;\n    add.u64 %rd1, %rd1, %rd3;\n    add.u64 %rd2, %rd2, %rd3;
    ld.global.u32 %r1, [%rd1];\n{body}\n    st.global.u32 [%rd2], %r2;\n    ret;\n}}\n"
    );
    let bench = Bench::new(&text);
    assert_eq!(bench.loaded.module().unsupported(), []);
    let to = bench.buffer(&vec![0u32; input.len()]);
    let arguments = [Argument::Buffer(bench.buffer(input)), Argument::Buffer(to)];
    let options = Options { order, detect_races: true, ..Options::default() };
    bench
        .launch("k", 1, input.len() as u32, &arguments, &options)
        .unwrap_or_else(|fault| panic!("{fault}\n{text}"));
    bench.values(to, input.len())
}

/// Checks statements against a function of all inputs and the lane, in several orders.
fn check(body: &str, expected: impl Fn(&[u32], usize) -> u32) {
    let mut random = Random::new(41);
    let input: Vec<u32> = (0..32).map(|_| random.next() as u32 % 100).collect();
    let expected: Vec<u32> = (0..32).map(|lane| expected(&input, lane)).collect();
    for order in [Order::Forward, Order::Reverse, Order::Random(1), Order::Random(2)] {
        assert_eq!(warp(body, &input, order), expected, "{body} {order:?}");
    }
}

#[test]
fn shuffles() {
    for width in [32usize, 16, 8] {
        let segment = (32 - width) << 8;
        for by in [0, 1, 3, 7, 16, 31] {
            let start = |lane: usize| lane / width * width;
            let inside = |lane: usize, from: usize| from / width == lane / width && from < 32;
            let read = |input: &[u32], lane: usize, from: usize| {
                if inside(lane, from) { input[from] + 1000 } else { input[lane] }
            };
            let text = |mode: &str, clamp: usize| {
                format!(
                    "    shfl.sync.{mode}.b32 %r4|%p1, %r1, {by}, {}, -1;
    selp.u32 %r5, 1000, 0, %p1;\n    add.u32 %r2, %r4, %r5;",
                    segment | clamp
                )
            };
            check(&text("idx", 31), |input, lane| read(input, lane, start(lane) + by % width));
            check(&text("down", 31), |input, lane| read(input, lane, lane + by));
            // A butterfly may read below its segment, but not above.
            check(&text("bfly", 31), |input, lane| {
                let below = (lane ^ by) < start(lane) + width;
                if below { input[lane ^ by] + 1000 } else { input[lane] }
            });
            check(&text("up", 0), |input, lane| read(input, lane, lane.wrapping_sub(by)));
        }
    }
}

#[test]
fn votes_and_matches() {
    let ballot = |input: &[u32], keep: &dyn Fn(u32) -> bool| -> u32 {
        input.iter().enumerate().map(|(lane, &value)| u32::from(keep(value)) << lane).sum()
    };
    check("    setp.gt.u32 %p1, %r1, 50;\n    vote.sync.ballot.b32 %r2, %p1, -1;", |input, _| {
        ballot(input, &|value| value > 50)
    });
    check("    setp.gt.u32 %p1, %r1, 50;\n    vote.sync.ballot.b32 %r2, !%p1, -1;", |input, _| {
        ballot(input, &|value| value <= 50)
    });
    check(
        "    setp.lt.u32 %p1, %r1, 200;\n    vote.sync.all.pred %p2, %p1, -1;
    vote.sync.uni.pred %p3, %p1, -1;\n    setp.gt.u32 %p4, %r1, 50;
    vote.sync.uni.pred %p5, %p4, -1;\n    selp.u32 %r4, 1, 0, %p2;\n    selp.u32 %r5, 2, 0, %p3;
    selp.u32 %r6, 4, 0, %p5;\n    add.u32 %r2, %r4, %r5;\n    add.u32 %r2, %r2, %r6;",
        |_, _| 3,
    );
    check("    and.b32 %r4, %r1, 3;\n    match.any.sync.b32 %r2, %r4, -1;", |input, lane| {
        ballot(input, &|value| value & 3 == input[lane] & 3)
    });
    check("    shr.u32 %r4, %r1, 20;\n    match.all.sync.b32 %r2|%p1, %r4, -1;", |_, _| u32::MAX);
}

#[test]
fn reductions() {
    let formulas: [Reduction; 6] = [
        ("add.u32", u32::wrapping_add),
        ("min.u32", u32::min),
        ("max.u32", u32::max),
        ("and.b32", |a, b| a & b),
        ("or.b32", |a, b| a | b),
        ("xor.b32", |a, b| a ^ b),
    ];
    for (name, formula) in formulas {
        check(&format!("    redux.sync.{name} %r2, %r1, -1;"), |input, _| {
            input.iter().copied().reduce(formula).unwrap()
        });
    }
    check("    sub.u32 %r4, %r1, 50;\n    redux.sync.min.s32 %r2, %r4, -1;", |input, _| {
        (input.iter().map(|&value| value as i32 - 50).min().unwrap()) as u32
    });
}

#[test]
fn parts_of_a_warp() {
    let body = "    and.b32 %r4, %r3, 1;\n    setp.eq.u32 %p1, %r4, 0;\n    @%p1 bra EVEN;
    redux.sync.add.u32 %r2, %r1, 0xaaaaaaaa;\n    bra DONE;
EVEN:\n    redux.sync.max.u32 %r2, %r1, 0x55555555;\nDONE:\n    bar.warp.sync -1;";
    check(body, |input, lane| {
        let mine = input.iter().skip(lane % 2).step_by(2).copied();
        if lane % 2 == 1 { mine.sum() } else { mine.max().unwrap() }
    });
    let body = "    setp.lt.u32 %p1, %r3, 20;\n    mov.u32 %r2, 0;\n    @!%p1 bra DONE;
    activemask.b32 %r2;\n    elect.sync %r4|%p2, 0xfffff;\n    @%p2 add.u32 %r2, %r2, 1;\nDONE:";
    check(body, |_, lane| match lane {
        0 => 0x10_0000,
        1..20 => 0xf_ffff,
        _ => 0,
    });
}

#[test]
fn memory_barriers() {
    let body = "    setp.eq.u32 %p1, %r3, 0;\n    @%p1 mbarrier.init.shared.b64 [bar], 32;
    bar.sync 0;\n    shl.b32 %r4, %r3, 2;\n    mov.u32 %r5, tile;\n    add.u32 %r5, %r5, %r4;
    st.shared.u32 [%r5], %r1;\n    mbarrier.arrive.shared.b64 %rd4, [bar];
WAIT:\n    mbarrier.try_wait.shared.b64 %p2, [bar], %rd4;\n    @!%p2 bra WAIT;
    xor.b32 %r6, %r4, 124;\n    mov.u32 %r5, tile;\n    add.u32 %r5, %r5, %r6;
    ld.shared.u32 %r2, [%r5];";
    check(body, |input, lane| input[31 - lane]);
    check(
        &body.replace(
            "try_wait.shared.b64 %p2, [bar], %rd4",
            "test_wait.parity.shared.b64 %p2, [bar], 0",
        ),
        |input, lane| input[31 - lane],
    );
}

/// One lane has memory copied, in two parts, and all wait; the barrier may learn what to expect before
/// the copies or after them.
#[test]
fn copies_in_bulk() {
    let copy = "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes";
    let copies =
        format!("    {copy} [%r5], [%rd5], 96, [%r6];\n    {copy} [%r7], [%rd6], 32, [%r6];\n");
    let at_once = "    @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r6], 128;\n";
    let in_parts = "    @%p1 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r6], 96;
    @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r6], 32;\n";
    for expected in [at_once, in_parts] {
        for order in [[expected, &*copies].concat(), [&*copies, expected].concat()] {
            let body = format!(
                "    setp.eq.u32 %p1, %r3, 5;\n    mov.u32 %r5, tile;\n    mov.u32 %r6, bar;
    add.u32 %r7, %r5, 96;\n    ld.param.u64 %rd5, [from];\n    add.u64 %rd6, %rd5, 96;
    @%p1 mbarrier.init.shared::cta.b64 [%r6], 1;\n    bar.sync 0;\n{order}
WAIT:\n    mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r6], 0;\n    @!%p2 bra WAIT;
    shl.b32 %r4, %r3, 2;\n    xor.b32 %r4, %r4, 124;\n    add.u32 %r5, %r5, %r4;
    ld.shared.u32 %r2, [%r5];"
            );
            check(&body, |input, lane| input[31 - lane]);
        }
    }
}

#[test]
fn products_of_bytes() {
    // Lane l holds A rows l/4 and l/4+8, four columns a register; B columns l/4; C pairs of columns.
    let body = "    mov.u32 %r9, 0;
    mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {%r4, %r5, %r6, %r7}, {%r1, %r1, %r1, %r1}, {%r3, %r1}, {%r3, %r9, %r9, %r9};
    add.u32 %r2, %r4, %r5;\n    shl.b32 %r6, %r6, 1;\n    add.u32 %r2, %r2, %r6;\n    sub.u32 %r2, %r2, %r7;";
    check(body, |input, lane| {
        let a = |row: usize, k: usize| {
            let register = input[row % 8 * 4 + k % 16 / 4];
            i64::from((register >> (8 * (k % 4))) as i8)
        };
        let b = |k: usize, column: usize| {
            let holder = column * 4 + k % 16 / 4;
            let register = if k < 16 { holder as u32 } else { input[holder] };
            i64::from((register >> (8 * (k % 4))) as u8)
        };
        let dot =
            |row: usize, column: usize| (0..32).map(|k| a(row, k) * b(k, column)).sum::<i64>();
        let (row, column) = (lane / 4, lane % 4 * 2);
        let c = [
            dot(row, column) + lane as i64,
            dot(row, column + 1),
            dot(row + 8, column),
            dot(row + 8, column + 1),
        ];
        (c[0] + c[1] + 2 * c[2] - c[3]) as u32
    });
}

#[test]
fn products_of_floats() {
    // A is 16 by 8, one column a register; B is 8 by 8; small integers are exact in `tf32`.
    let body = "    cvt.rn.f32.u32 %r10, %r1;\n    cvt.rn.f32.u32 %r11, %r3;\n    mov.b32 %r9, 0f00000000;
    mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%r4, %r5, %r6, %r7}, {%r10, %r11, %r11, %r10}, {%r11, %r10}, {%r9, %r9, %r9, %r11};
    add.f32 %r4, %r4, %r5;\n    sub.f32 %r6, %r6, %r7;\n    fma.rn.f32 %r4, %r6, 0f40000000, %r4;
    cvt.rni.s32.f32 %r2, %r4;";
    check(body, |input, lane| {
        let a = |row: usize, k: usize| {
            let holder = row % 8 * 4 + k % 4;
            let own = (row < 8) == (k < 4);
            if own { f64::from(input[holder]) } else { holder as f64 }
        };
        let b = |k: usize, column: usize| {
            let holder = column * 4 + k % 4;
            if k < 4 { holder as f64 } else { f64::from(input[holder]) }
        };
        let dot = |row: usize, column: usize| (0..8).map(|k| a(row, k) * b(k, column)).sum::<f64>();
        let (row, column) = (lane / 4, lane % 4 * 2);
        let low = dot(row, column) + dot(row, column + 1);
        let high = dot(row + 8, column) - dot(row + 8, column + 1) - lane as f64;
        (low + 2.0 * high) as i32 as u32
    });
    // Doubles: 8 by 4 times 4 by 8.
    let body = "    cvt.rn.f64.u32 %rd4, %r1;\n    cvt.rn.f64.u32 %rd5, %r3;
    mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%rd6, %rd7}, {%rd4}, {%rd5}, {%rd5, %rd4};
    sub.f64 %rd6, %rd6, %rd7;\n    cvt.rni.s32.f64 %r2, %rd6;";
    check(body, |input, lane| {
        let (row, column) = (lane / 4, lane % 4 * 2);
        let dot = |column: usize| {
            (0..4).map(|k| input[row * 4 + k] as usize * (column * 4 + k)).sum::<usize>() as i32
        };
        (dot(column) + lane as i32 - dot(column + 1) - input[lane] as i32) as u32
    });
}

//! Small programs for the instruction chapters of the PTX ISA manual, where no other test looks: the
//! expected words are computed here from the manual's text.

#![allow(clippy::result_large_err, reason = "a launch fails once in a test")]

mod common;
#[path = "common/programs.rs"]
mod programs;

use programs::{Program, by_thread, check, program};

/// Stores `%r10` as the thread's word.
macro_rules! word {
    ($body:literal) => {
        concat!($body, " cvt.u64.u32 %rd3, %r10; st.global.u64 [%rd2], %rd3;")
    };
}

/// Stores `%rd10` as the thread's word.
macro_rules! long {
    ($body:literal) => {
        concat!($body, " st.global.u64 [%rd2], %rd10;")
    };
}

fn low(value: i64) -> u64 {
    u64::from(value as u32)
}

#[test]
fn integer_arithmetic() {
    check(&[
        by_thread("sad", word!("sad.u32 %r10, %r1, 10, 100;"), |t| t.abs_diff(10) + 100),
        by_thread("sad, signed", word!("sub.s32 %r2, %r1, 16; sad.s32 %r10, %r2, -3, 1;"), |t| {
            (t as i64 - 16).abs_diff(-3) + 1
        }),
        by_thread("mul.wide.s16", word!("cvt.u16.u32 %h1, %r1; sub.s16 %h1, %h1, 7; mul.wide.s16 %r10, %h1, -300;"), |t| {
            low((t as i64 - 7) * -300)
        }),
        by_thread("mad.wide.s32", long!("sub.s32 %r2, %r1, 9; mad.wide.s32 %rd10, %r2, 0x40000000, -5;"), |t| {
            ((t as i64 - 9) * 0x4000_0000 - 5) as u64
        }),
        by_thread("mad.hi.u64", long!("cvt.u64.u32 %rd5, %r1; mad.hi.u64 %rd10, %rd5, -1, 3;"), |t| {
            ((u128::from(t) * u128::from(u64::MAX)) >> 64) as u64 + 3
        }),
        by_thread("mad24.hi.sat", word!("or.b32 %r2, %r1, 0x7ffff0; mad24.hi.sat.s32 %r10, %r2, %r2, 0x7fc00100;"), |t| {
            let factor = t | 0x7f_fff0;
            (((factor * factor) >> 16) + 0x7fc0_0100).min(0x7fff_ffff)
        }),
        program("numbers without digits on one side of the point", word!("mov.f32 %f1, .5; add.f32 %f2, %f1, 5.e+2; add.f32 %f2, %f2, -.5e1; mov.b32 %r10, %f2;"), &[495.5f32.to_bits().into()]),
        by_thread("mul24.lo and mul24.hi", word!("or.b32 %r2, %r1, 0xff000100; mul24.lo.u32 %r3, %r2, %r2; mul24.hi.u32 %r4, %r2, 0xffffff;
            xor.b32 %r10, %r3, %r4;"), |t| {
            let a = t | 0x100;
            low((a * a) as i64) ^ low(((a * 0xff_ffff) >> 16) as i64)
        }),
        program("add.sat and sub.sat", word!("mov.u32 %r2, 0x7fffffff; add.sat.s32 %r3, %r2, 5; mov.u32 %r4, 0x80000000; sub.sat.s32 %r5, %r4, 5;
            xor.b32 %r10, %r3, %r5;"), &[0xffff_ffff]),
        program("div and rem of the least number", word!("mov.u32 %r2, 0x80000000; div.s32 %r3, %r2, 2; rem.s32 %r4, %r2, 7; xor.b32 %r10, %r3, %r4;"), &[
            low(i64::from(i32::MIN / 2)) ^ low(i64::from(i32::MIN % 7)),
        ]),
        program("abs and neg of the least number", word!("mov.u32 %r2, 0x80000000; abs.s32 %r3, %r2; neg.s32 %r4, %r2; xor.b32 %r5, %r3, %r4; or.b32 %r10, %r5, %r3;"), &[0x8000_0000]),
        program("min.relu and max.relu", word!("min.relu.s32 %r2, -5, 3; max.relu.s32 %r3, -5, -3; add.u32 %r4, %r2, %r3; add.u32 %r10, %r4, 9;"), &[9]),
        program("halves", word!("mov.b32 %r2, 0xffff0001; mov.b32 %r3, 0x0001ffff; add.u16x2 %r4, %r2, %r3; max.s16x2 %r5, %r2, %r3; min.u16x2 %r6, %r2, %r3;
            xor.b32 %r7, %r4, %r5; xor.b32 %r10, %r7, %r6;"), &[0x0001_0001 ^ 0x0001_0001]),
        by_thread("dp2a", word!("mov.b32 %r2, 0xfffe0003; dp2a.lo.s32.u32 %r3, %r2, %r1, 4; dp2a.hi.s32.u32 %r10, %r2, 0x05060000, %r3;"), |t| {
            low(3 * t as i64 + 4 + 3 * 6 - 2 * 5)
        }),
        program("add.cc of three words", word!("add.cc.u32 %r2, -1, 1; addc.cc.u32 %r3, -1, 0; addc.u32 %r4, 5, 6; add.u32 %r5, %r2, %r3; add.u32 %r10, %r5, %r4;"), &[12]),
        program("mad.cc of 64 bits", word!("mad.lo.cc.u32 %r2, 0x10000, 0x10000, 7; madc.hi.u32 %r3, 0x10000, 0x10000, 0; add.u32 %r10, %r2, %r3;"), &[8]),
    ]);
}

#[test]
fn floating_point() {
    let f = |value: f32| u64::from(value.to_bits());
    check(&[
        program("fma rounds once", word!("mov.f32 %f1, 0f3F800001; fma.rn.f32 %f2, %f1, %f1, 0fBF800002; mov.b32 %r10, %f2;"), &[f({
            let a = f64::from(f32::from_bits(0x3f80_0001));
            (a * a + f64::from(f32::from_bits(0xbf80_0002))) as f32
        })]),
        program("copysign", word!("mov.f32 %f1, 0f80000000; mov.f32 %f2, 0f40400000; copysign.f32 %f3, %f1, %f2; mov.b32 %r10, %f3;"), &[f(-3.0)]),
        program("testp", word!("mov.u32 %r10, 0; mov.f32 %f1, 0f00000001; mov.f32 %f2, 0f7F800000; mov.f32 %f3, 0f7FC00000;
            testp.subnormal.f32 %p1, %f1; @%p1 or.b32 %r10, %r10, 1; testp.infinite.f32 %p1, %f2; @%p1 or.b32 %r10, %r10, 2;
            testp.notanumber.f32 %p1, %f3; @%p1 or.b32 %r10, %r10, 4; testp.finite.f32 %p1, %f2; @%p1 or.b32 %r10, %r10, 8;
            testp.number.f32 %p1, %f1; @%p1 or.b32 %r10, %r10, 16; testp.normal.f32 %p1, %f1; @%p1 or.b32 %r10, %r10, 32;"), &[1 | 2 | 4 | 16]),
        program("min and max of NaN", word!("mov.f32 %f1, 0f7FC00000; mov.f32 %f2, 0f40000000; min.f32 %f3, %f1, %f2; max.NaN.f32 %f4, %f1, %f2;
            mov.b32 %r2, %f3; mov.b32 %r3, %f4; xor.b32 %r10, %r2, %r3;"), &[f(2.0) ^ 0x7fff_ffff]),
        program("min of zeros", word!("mov.f32 %f1, 0f80000000; mov.f32 %f2, 0f00000000; min.f32 %f3, %f2, %f1; mov.b32 %r10, %f3;"), &[f(-0.0)]),
        program("sat of NaN and more", word!("mov.f32 %f1, 0f7FC00000; add.sat.f32 %f2, %f1, %f1; mov.f32 %f3, 0f40000000; mul.sat.f32 %f4, %f3, %f3;
            mov.b32 %r2, %f2; mov.b32 %r3, %f4; add.u32 %r10, %r2, %r3;"), &[f(1.0)]),
        program("ftz", word!("mov.f32 %f1, 0f00400000; add.ftz.f32 %f2, %f1, %f1; add.f32 %f3, %f1, %f1; mov.b32 %r2, %f2; mov.b32 %r3, %f3; sub.u32 %r10, %r3, %r2;"), &[0x0080_0000]),
        program("rcp and sqrt, rounded", word!("rcp.rn.f32 %f1, 0f40400000; sqrt.rz.f32 %f2, 0f40000000; mov.b32 %r2, %f1; mov.b32 %r3, %f2; xor.b32 %r10, %r2, %r3;"), &[
            f(1.0 / 3.0) ^ u64::from(2f32.sqrt().to_bits() - u32::from(f64::from(2f32.sqrt()) > 2f64.sqrt())),
        ]),
        program("special values of approximations", word!("rcp.approx.f32 %f1, 0f00000000; lg2.approx.f32 %f2, 0f00000000; ex2.approx.f32 %f3, 0fFF800000; rsqrt.approx.f32 %f4, 0f7F800000;
            mov.b32 %r2, %f1; mov.b32 %r3, %f2; mov.b32 %r4, %f3; mov.b32 %r5, %f4; xor.b32 %r6, %r2, %r3; or.b32 %r7, %r4, %r5; or.b32 %r10, %r6, %r7;"), &[0x8000_0000]),
        program("half: fma.relu and min.NaN", word!("mov.b32 %r2, 0xC0003C00; mov.b32 %r3, 0x3C003C00; mov.b32 %r4, 0; fma.rn.relu.f16x2 %r10, %r2, %r3, %r4;"), &[0x3c00]),
        program("half: comparison to a pair", word!("mov.b32 %r2, 0x40003C00; mov.b32 %r3, 0x3C004000; setp.lt.f16x2 %p1|%p2, %r2, %r3; selp.u32 %r4, 1, 0, %p1; selp.u32 %r5, 2, 0, %p2; or.b32 %r10, %r4, %r5;"), &[1]),
        program("bf16x2 sums", word!("mov.b32 %r2, 0x40003F80; mov.b32 %r3, 0x3F803F80; fma.rn.bf16x2 %r10, %r2, %r3, %r3;"), &[0x4040_4000]),
    ]);
}

#[test]
fn comparison_and_selection() {
    check(&[
        by_thread("set", word!("set.lt.u32.u32 %r2, %r1, 5; set.ge.f32.s32 %f1, %r1, 30; mov.b32 %r3, %f1; xor.b32 %r10, %r2, %r3;"), |t| {
            (if t < 5 { 0xffff_ffff } else { 0 }) ^ (if t >= 30 { 0x3f80_0000 } else { 0 })
        }),
        by_thread("set with a predicate", word!("setp.gt.u32 %p1, %r1, 20; set.lt.xor.u32.u32 %r10, %r1, 25, %p1;"), |t| {
            if (t < 25) != (t > 20) { 0xffff_ffff } else { 0 }
        }),
        by_thread("setp with two results and a predicate", word!("setp.gt.u32 %p1, %r1, 3; setp.lt.and.u32 %p2|%p3, %r1, 10, %p1; selp.u32 %r2, 1, 0, %p2; selp.u32 %r3, 2, 0, %p3; or.b32 %r10, %r2, %r3;"), |t| {
            u64::from(t > 3 && t < 10) | u64::from(t >= 10) << 1
        }),
        by_thread("setp with a negated predicate", word!("setp.gt.u32 %p1, %r1, 3; setp.eq.or.u32 %p2, %r1, 10, !%p1; selp.u32 %r10, 1, 0, %p2;"), |t| u64::from(t == 10 || t <= 3)),
        by_thread("unsigned names of comparisons", word!("sub.u32 %r2, %r1, 3; setp.lo.u32 %p1, %r2, 5; setp.hs.u32 %p2, %r2, 0xfffffffe; selp.u32 %r3, 1, 0, %p1; selp.u32 %r4, 2, 0, %p2; or.b32 %r10, %r3, %r4;"), |t| {
            let value = (t as u32).wrapping_sub(3);
            u64::from(value < 5) | u64::from(value >= 0xffff_fffe) << 1
        }),
        by_thread("slct", word!("sub.s32 %r2, %r1, 6; slct.u32.s32 %r3, 10, 20, %r2; mov.f32 %f1, 0f80000000; slct.u32.f32 %r4, 1, 2, %f1; add.u32 %r10, %r3, %r4;"), |t| {
            (if t >= 6 { 10 } else { 20 }) + 1
        }),
        program("unordered comparisons", word!("mov.f32 %f1, 0f7FC00000; setp.lt.f32 %p1, %f1, %f1; setp.ltu.f32 %p2, %f1, %f1; setp.nan.f32 %p3, %f1, %f1; setp.num.f32 %p4, %f1, %f1; setp.ne.f32 %p5, %f1, %f1; setp.neu.f32 %p6, %f1, %f1;
            selp.u32 %r2, 1, 0, %p1; selp.u32 %r3, 2, 0, %p2; selp.u32 %r4, 4, 0, %p3; selp.u32 %r5, 8, 0, %p4; selp.u32 %r6, 16, 0, %p5; selp.u32 %r7, 32, 0, %p6;
            or.b32 %r2, %r2, %r3; or.b32 %r2, %r2, %r4; or.b32 %r2, %r2, %r5; or.b32 %r2, %r2, %r6; or.b32 %r10, %r2, %r7;"), &[2 | 4 | 32]),
        program("selp of predicates' neighbours", long!("setp.eq.u32 %p1, 1, 1; selp.b64 %rd10, 0x123456789abcdef0, 0, %p1;"), &[0x1234_5678_9abc_def0]),
    ]);
}

#[test]
fn logic_and_shifts() {
    check(&[
        by_thread("lop3", word!("lop3.b32 %r10, %r1, 0xcc, 0xaa, 0xe8;"), |t| (t & 0xcc) | (t & 0xaa) | (0xcc & 0xaa)),
        by_thread("lop3 with a predicate", word!("setp.lt.u32 %p1, %r1, 20; lop3.and.b32 %r2|%p2, %r1, 12, 10, 0x80, %p1; lop3.or.b32 _|%p3, %r1, 0, 0, 0x00, !%p2; selp.u32 %r3, 100, 0, %p2; selp.u32 %r4, 1000, 0, %p3; add.u32 %r3, %r3, %r4; add.u32 %r10, %r2, %r3;"), |t| {
            let is_set = t & 8 != 0 && t < 20;
            (t & 8) + if is_set { 100 } else { 1000 }
        }),
        by_thread("cnot", word!("cnot.b32 %r10, %r1;"), |t| u64::from(t == 0)),
        by_thread("shifts past the width", word!("shl.b32 %r2, 1, %r1; add.u32 %r3, %r1, 20; shr.s32 %r4, -64, %r3; shr.u32 %r5, -1, %r3; xor.b32 %r6, %r2, %r4; xor.b32 %r10, %r6, %r5;"), |t| {
            let count = t as u32 + 20;
            low(1 << t) ^ low(-64i64 >> count.min(31)) ^ u64::from(u32::MAX.checked_shr(count).unwrap_or(0))
        }),
        by_thread("shf.l.wrap and shf.r.clamp", word!("add.u32 %r2, %r1, 16; shf.l.wrap.b32 %r3, 0x12345678, 0x9abcdef0, %r2; shf.r.clamp.b32 %r4, 0x12345678, 0x9abcdef0, %r2; xor.b32 %r10, %r3, %r4;"), |t| {
            let (pair, count) = (0x9abc_def0_1234_5678u64, t + 16);
            ((pair << (count % 32)) >> 32 ^ pair >> count.min(32)) & 0xffff_ffff
        }),
        by_thread("bfe and bfi", word!("bfe.s32 %r2, 0xfedcba98, %r1, 5; bfi.b32 %r3, %r1, 0xffffffff, 4, 6; xor.b32 %r10, %r2, %r3;"), |t| {
            let sign = i64::from(0xfedc_ba98u32 as i32);
            let field = (sign >> t) << 59 >> 59;
            low(field) ^ ((0xffff_ffff & !(0x3f << 4)) | (t & 0x3f) << 4)
        }),
        program("bfe and bfi of nothing", word!("bfe.u32 %r2, -1, 5, 0; bfe.s32 %r3, -1, 40, 8; bfi.b32 %r4, -1, 3, 32, 4; add.u32 %r5, %r2, %r3; add.u32 %r10, %r5, %r4;"), &[low(0 - 1 + 3)]),
        by_thread("prmt with signs", word!("prmt.b32 %r2, 0x00ff8001, %r1, 0x4a92; prmt.b32 %r3, 0x03020100, 0x07060504, 0x7531; xor.b32 %r10, %r2, %r3;"), |t| {
            // Bytes 2, then the signs of bytes 1 and 2, then byte 4.
            (0xff | 0xff << 8 | 0xff << 16 | (t & 0xff) << 24) ^ 0x0705_0301
        }),
        by_thread("bfind, clz, brev, popc", word!("sub.s32 %r2, 3, %r1; bfind.s32 %r3, %r2; bfind.shiftamt.u32 %r4, %r1; clz.b32 %r5, %r1; brev.b32 %r6, %r1; popc.b32 %r7, %r2;
            xor.b32 %r3, %r3, %r4; xor.b32 %r3, %r3, %r5; xor.b32 %r3, %r3, %r6; xor.b32 %r10, %r3, %r7;"), |t| {
            let (signed, t) = (3 - t as i32, t as u32);
            let bits = if signed < 0 { !signed } else { signed } as u32;
            let find = |value: u32| value.checked_ilog2().unwrap_or(u32::MAX);
            let shift = if t == 0 { u32::MAX } else { 31 - find(t) };
            u64::from(find(bits) ^ shift ^ t.leading_zeros() ^ t.reverse_bits() ^ signed.count_ones())
        }),
        by_thread("szext and bmsk", word!("szext.wrap.s32 %r2, %r1, 4; bmsk.clamp.b32 %r3, %r1, 10; xor.b32 %r10, %r2, %r3;"), |t| {
            low((t as i64) << 60 >> 60) ^ ((0x3ff << t) & 0xffff_ffff)
        }),
        program("logic of predicates", word!("setp.eq.u32 %p1, 1, 1; not.pred %p2, %p1; xor.pred %p3, %p1, %p2; and.pred %p4, %p3, !%p2; or.pred %p5, %p2, %p2; selp.u32 %r2, 1, 0, %p4; selp.u32 %r3, 2, 0, %p5; or.b32 %r10, %r2, %r3;"), &[1]),
    ]);
}

#[test]
fn data_movement() {
    check(&[
        program("cvt.pack", word!("cvt.pack.sat.u8.s32.b32 %r2, 300, -5, 0x1234; cvt.pack.sat.s16.s32 %r3, 70000, -70000; xor.b32 %r10, %r2, %r3;"), &[
            0x1234_ff00 ^ 0x7fff_8000,
        ]),
        program("cvt of floats that are too large", word!("cvt.rzi.s32.f32 %r2, 0f7F800000; cvt.rzi.u32.f32 %r3, 0fBF800000; cvt.rzi.s32.f32 %r4, 0f7FC00000; xor.b32 %r5, %r2, %r3; xor.b32 %r10, %r5, %r4;"), &[0x7fff_ffff]),
        program("cvt.rni and others", word!("cvt.rni.s32.f32 %r2, 0f40200000; cvt.rmi.s32.f32 %r3, 0fC0200000; cvt.rpi.s32.f32 %r4, 0fC0200000; mul.lo.s32 %r5, %r2, %r3; mul.lo.s32 %r10, %r5, %r4;"), &[2 * 3 * 2]),
        program("cvt.sat between integers", word!("cvt.sat.u8.s32 %r2, -7; cvt.sat.s8.u32 %r3, 200; cvt.sat.u16.s32 %r4, 70000; xor.b32 %r5, %r2, %r3; xor.b32 %r10, %r5, %r4;"), &[127 ^ 65535]),
        program("cvt.rn.f16x2.f32", word!("cvt.rn.f16x2.f32 %r2, 0f3F800000, 0f40000000; cvt.rn.bf16x2.f32 %r3, 0f3F800000, 0f40000000; xor.b32 %r10, %r2, %r3;"), &[
            0x3c00_4000 ^ 0x3f80_4000,
        ]),
        by_thread("vectors of bytes", word!("and.b32 %r2, %r1, 3; shl.b32 %r3, %r1, 4; cvt.u64.u32 %rd5, %r3; mov.u64 %rd6, tile; add.u64 %rd5, %rd5, %rd6;
            st.shared.v4.u8 [%rd5], {%r1, %r2, 7, 255}; ld.shared.s8 %r4, [%rd5+3]; ld.shared.v2.u16 {%h1, %h2}, [%rd5]; cvt.u32.u16 %r5, %h2; cvt.u32.u16 %r6, %h1;
            add.u32 %r7, %r4, %r5; add.u32 %r10, %r7, %r6;"), |t| low(-1 + 0xff07 + ((t & 3) << 8 | t) as i64)),
        program("isspacep and cvta", word!("mov.u64 %rd5, tile; cvta.shared.u64 %rd6, %rd5; isspacep.shared %p1, %rd6; isspacep.global %p2, %rd6; mov.u64 %rd7, depot; cvta.local.u64 %rd8, %rd7; isspacep.local %p3, %rd8; isspacep.global %p4, %rd1; isspacep.const %p5, %rd6;
            selp.u32 %r2, 1, 0, %p1; selp.u32 %r3, 2, 0, %p2; selp.u32 %r4, 4, 0, %p3; selp.u32 %r5, 8, 0, %p4; selp.u32 %r6, 16, 0, %p5; or.b32 %r2, %r2, %r3; or.b32 %r2, %r2, %r4; or.b32 %r2, %r2, %r5; or.b32 %r10, %r2, %r6;"), &[1 | 4 | 8]),
        program("rows of an initialiser", word!("ld.global.u32 %r2, [rows+8]; ld.global.u32 %r3, [rows+4]; ld.const.u8 %r4, [bytes+1]; ld.global.f32 %f1, [rows+20]; mov.b32 %r5, %f1; add.u32 %r6, %r2, %r3; add.u32 %r7, %r6, %r4; add.u32 %r10, %r7, %r5;"), &[3 + 200 + 6])
            .with(".global .u32 rows[3][2] = {{1}, {3, 4}, {5, 6}}; .const .u8 bytes[4] = {100, 200};"),
        program("addresses in an initialiser", long!("ld.global.u64 %rd5, [places+8]; ld.global.u32 %r2, [%rd5]; ld.global.u64 %rd6, [places]; ld.u32 %r3, [%rd6+4]; mov.b64 %rd10, {%r2, %r3};"), &[8 << 32 | 9])
            .with(".global .align 4 .u32 values[3] = {7, 8, 9}; .global .align 8 .u64 places[2] = {generic(values), values+8};"),
        by_thread("shfl in segments", word!("shfl.sync.up.b32 %r2|%p1, %r1, 1, 0x1800, -1; shfl.sync.bfly.b32 %r3, %r1, 3, 0x1f, -1; shfl.sync.idx.b32 %r4, %r1, 5, 0x181f, -1; selp.u32 %r5, 1000, 0, %p1; add.u32 %r6, %r2, %r3; add.u32 %r7, %r6, %r4; add.u32 %r10, %r7, %r5;"), |t| {
            let inside = t % 8 >= 1;
            (if inside { t - 1 + 1000 } else { t }) + (t ^ 3) + (t & 24 | 5)
        }),
        program("copies that are asynchronous", word!("mov.u32 %r2, 77; st.global.u32 [%rd1], %r2; mov.u32 %r3, tile; cp.async.ca.shared.global [%r3], [%rd1], 8, 4; cp.async.commit_group; cp.async.wait_all; ld.shared.v2.u32 {%r4, %r5}, [tile]; add.u32 %r10, %r4, %r5;"), &[77]),
        program("hints", word!("prefetch.global.L2 [%rd1]; prefetchu.L1 [%rd1]; st.global.cg.u32 [%rd1], 4; ld.global.lu.u32 %r2, [%rd1]; ldu.global.u32 %r3, [%rd1]; ld.relaxed.gpu.global.u32 %r4, [%rd1]; add.u32 %r5, %r2, %r3; add.u32 %r10, %r5, %r4;"), &[12]),
    ]);
}

#[test]
fn synchronisation_and_atomics() {
    check(&[
        by_thread("inc and dec wrap", word!("mov.u32 %r2, tile; setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.v2.u32 [tile], {6, 1}; bar.sync 0; setp.ne.u32 %p2, %r1, 0; @%p2 bra L;
            atom.shared.inc.u32 %r3, [%r2], 7; atom.shared.inc.u32 %r4, [%r2], 7; atom.shared.dec.u32 %r5, [%r2+4], 9; atom.shared.dec.u32 %r6, [%r2+4], 9;
            L: bar.sync 0; ld.shared.v2.u32 {%r7, %r8}, [tile]; shl.b32 %r7, %r7, 8; or.b32 %r10, %r7, %r8;"), |_| 9),
        by_thread("sums of all threads", word!("setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.v4.u32 [tile], {0, 0, 0xffffffff, 0}; bar.sync 0; red.shared.add.u32 [tile], %r1; red.shared.max.s32 [tile+4], %r1; red.shared.and.b32 [tile+8], %r1; shl.b32 %r2, 1, %r1; red.shared.xor.b32 [tile+12], %r2;
            bar.sync 0; ld.shared.v4.u32 {%r3, %r4, %r5, %r6}, [tile]; add.u32 %r7, %r3, %r4; add.u32 %r8, %r7, %r5; add.u32 %r10, %r8, %r6;"), |_| 496 + 31 - 1),
        program("cas and exch of 64 bits", long!("st.global.u64 [%rd1], 5; atom.global.cas.b64 %rd5, [%rd1], 5, 9; atom.global.cas.b64 %rd6, [%rd1], 5, 11; atom.global.exch.b64 %rd7, [%rd1], 1; shl.b64 %rd5, %rd5, 16; shl.b64 %rd6, %rd6, 8; or.b64 %rd8, %rd5, %rd6; or.b64 %rd10, %rd8, %rd7;"), &[0x05_09_09]),
        by_thread("barrier.red", word!("setp.lt.u32 %p1, %r1, 5; bar.red.popc.u32 %r2, 1, %p1; bar.red.and.pred %p2, 1, %p1; bar.red.or.pred %p3, 1, !%p1; selp.u32 %r3, 100, 0, %p2; selp.u32 %r4, 1000, 0, %p3; add.u32 %r5, %r2, %r3; add.u32 %r10, %r5, %r4;"), |_| 1005),
        by_thread("votes, matches and reductions", word!("and.b32 %r2, %r1, 3; setp.eq.u32 %p1, %r2, 1; vote.sync.ballot.b32 %r3, %p1, -1; match.any.sync.b32 %r4, %r2, -1; redux.sync.add.s32 %r5, %r2, -1; redux.sync.xor.b32 %r6, %r4, -1; vote.sync.any.pred %p2, !%p1, -1;
            selp.u32 %r7, 1, 0, %p2; xor.b32 %r8, %r3, %r4; xor.b32 %r8, %r8, %r5; xor.b32 %r8, %r8, %r6; xor.b32 %r10, %r8, %r7;"), |t| {
            (0x2222_2222 ^ 0x1111_1111 << (t & 3) ^ 48 ^ 1) & 0xffff_ffff
        }),
        by_thread("elect and activemask", word!("elect.sync %r2|%p1, 0xffffffff; selp.u32 %r3, 100, 0, %p1; setp.lt.u32 %p2, %r1, 8; mov.u32 %r4, 0; @!%p2 bra L; activemask.b32 %r4; L: bar.warp.sync -1; add.u32 %r5, %r2, %r3; add.u32 %r10, %r5, %r4;"), |t| {
            (if t == 0 { 100 } else { 0 }) + (if t < 8 { 0xff } else { 0 })
        }),
        by_thread("barriers of parts", word!("setp.lt.u32 %p1, %r1, 16; st.shared.u32 [tile], 0; bar.warp.sync -1; @!%p1 bra L; bar.warp.sync 0xffff; L: @%p1 bra M; bar.warp.sync 0xffff0000; M: mov.u32 %r10, %r1;"), |t| t)
            .racy(),
        by_thread("fences", word!("membar.cta; membar.gl; fence.acq_rel.gpu; fence.sc.sys; fence.proxy.async; nanosleep.u32 20; mov.u32 %r10, 3;"), |_| 3),
    ]);
}

#[test]
fn control_flow_and_calls() {
    check(&[
        by_thread("calls of one of two functions", word!("setp.lt.u32 %p1, %r1, 9; mov.u64 %rd5, twice; mov.u64 %rd6, square; selp.b64 %rd7, %rd5, %rd6, %p1;
            { .param .b32 a; .param .b32 r; st.param.b32 [a], %r1; prototype_0: .callprototype (.param .b32 _) _ (.param .b32 _); call (r), %rd7, (a), prototype_0; ld.param.b32 %r10, [r]; }"), |t| if t < 9 { 2 * t } else { t * t })
            .with(".func (.param .b32 r) twice(.param .b32 a) { .reg .b32 x; ld.param.b32 x, [a]; add.u32 x, x, x; st.param.b32 [r], x; ret; }
                .func (.param .b32 r) square(.param .b32 a) { .reg .b32 x; ld.param.b32 x, [a]; mul.lo.u32 x, x, x; st.param.b32 [r], x; ret; }"),
        by_thread("guards of calls and returns", word!("setp.gt.u32 %p1, %r1, 4; mov.u32 %r10, 1; @%p1 call (%r10), early, (%r1);"), |t| if t > 4 { if t % 2 == 0 { 50 } else { 60 } } else { 1 })
            .with(".func (.reg .b32 r) early(.reg .b32 a) { .reg .pred p; .reg .b32 x; and.b32 x, a, 1; setp.eq.u32 p, x, 0; mov.u32 r, 50; @p ret; mov.u32 r, 60; ret; }"),
        by_thread("labels of inner scopes", word!("mov.u32 %r10, 0; L: add.u32 %r10, %r10, 1; { .reg .b32 %r10; mov.u32 %r10, 0; L: add.u32 %r10, %r10, 1; setp.lt.u32 %p1, %r10, 3; @%p1 bra L; } setp.lt.u32 %p1, %r10, %r1; @%p1 bra L;"), |t| t.max(1)),
        by_thread("a table of branches", word!("and.b32 %r2, %r1, 3; T: .branchtargets A, B, C, A; brx.idx %r2, T; A: mov.u32 %r10, 10; bra D; B: mov.u32 %r10, 20; bra D; C: mov.u32 %r10, 30; D:"), |t| [10, 20, 30, 10][(t & 3) as usize]),
        by_thread("registers with numbers in their names", word!(".reg .b32 %x1_<5>, %x<5>, y; mov.u32 %x1_2, 7; mov.u32 %x2, 8; mov.u32 y, 9; add.u32 %r2, %x1_2, %x2; add.u32 %r10, %r2, y;"), |_| 24),
        by_thread("special registers", word!("mov.u32 %r2, %ntid.x; mov.u32 %r3, %laneid; mov.u32 %r4, %lanemask_lt; mov.u32 %r5, %nctaid.x; mov.u32 %r6, %warpid; mov.u32 %r7, WARP_SZ; add.u32 %r2, %r2, %r3; add.u32 %r2, %r2, %r4; add.u32 %r2, %r2, %r5; add.u32 %r2, %r2, %r6; add.u32 %r10, %r2, %r7;"), |t| {
            32 + t + ((1 << t) - 1) + 1 + 32
        }),
        Program { threads: 64, ..by_thread("exits before a barrier", word!("setp.ge.u32 %p1, %r1, 32; @%p1 exit; bar.sync 0; mov.u32 %r10, 6;"), |_| 6) },
        by_thread("a local array", word!("mov.u64 %rd5, depot; and.b32 %r2, %r1, 15; mad.wide.u32 %rd6, %r2, 4, %rd5; st.local.u32 [%rd6], %r1; cvta.local.u64 %rd7, %rd6; ld.u32 %r3, [%rd7]; add.u32 %r10, %r3, 1;"), |t| t + 1),
    ]);
}

//! Instructions a second in loops like those of saxpy and of a matrix product.
//!
//! `cargo bench -p ptx-emulator`

use ptx_emulator::{Device, Launch, Module, Options, Order, Properties};
use std::time::Instant;

/// Each thread runs `rounds` times over `y[i] = a * x[i] + y[i]`.
const SAXPY: &str = "
.version 7.0
.target sm_75
.address_size 64
.visible .entry saxpy(.param .u64 x, .param .u64 y, .param .u32 rounds)
{
    .reg .pred %p<2>;
    .reg .b32 %r<8>;
    .reg .f32 %f<5>;
    .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    ld.param.u32 %r1, [rounds];
    mov.u32 %r2, %tid.x;
    mov.u32 %r3, %ctaid.x;
    mov.u32 %r4, %ntid.x;
    mad.lo.s32 %r5, %r3, %r4, %r2;
    mul.wide.u32 %rd3, %r5, 4;
    add.s64 %rd4, %rd1, %rd3;
    add.s64 %rd5, %rd2, %rd3;
    mov.u32 %r6, 0;
    mov.f32 %f1, 0f3F000000;
LOOP:
    ld.global.f32 %f2, [%rd4];
    ld.global.f32 %f3, [%rd5];
    fma.rn.f32 %f4, %f1, %f2, %f3;
    st.global.f32 [%rd5], %f4;
    add.s32 %r6, %r6, 1;
    setp.lt.u32 %p1, %r6, %r1;
    @%p1 bra LOOP;
    ret;
}";

/// A 16 by 16 tile of a product through shared memory.
const MATMUL: &str = "
.version 7.0
.target sm_75
.address_size 64
.visible .entry matmul(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n)
{
    .reg .pred %p<3>;
    .reg .b32 %r<24>;
    .reg .f32 %f<6>;
    .reg .b64 %rd<12>;
    .shared .align 4 .b8 left[1024];
    .shared .align 4 .b8 right[1024];
    ld.param.u64 %rd1, [a];
    ld.param.u64 %rd2, [b];
    ld.param.u64 %rd3, [c];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %tid.x;
    mov.u32 %r3, %tid.y;
    mov.u32 %r4, %ctaid.x;
    mov.u32 %r5, %ctaid.y;
    shl.b32 %r6, %r5, 4;
    add.s32 %r7, %r6, %r3;
    shl.b32 %r8, %r4, 4;
    add.s32 %r9, %r8, %r2;
    mov.f32 %f1, 0f00000000;
    mov.u32 %r10, 0;
    mov.u32 %r11, left;
    mov.u32 %r12, right;
    shl.b32 %r13, %r3, 6;
    shl.b32 %r14, %r2, 2;
    add.s32 %r15, %r11, %r13;
    add.s32 %r16, %r15, %r14;
    add.s32 %r17, %r12, %r13;
    add.s32 %r18, %r17, %r14;
    add.s32 %r19, %r12, %r14;
TILE:
    add.s32 %r20, %r10, %r2;
    mad.lo.s32 %r21, %r7, %r1, %r20;
    mul.wide.u32 %rd4, %r21, 4;
    add.s64 %rd5, %rd1, %rd4;
    ld.global.f32 %f2, [%rd5];
    st.shared.f32 [%r16], %f2;
    add.s32 %r20, %r10, %r3;
    mad.lo.s32 %r21, %r20, %r1, %r9;
    mul.wide.u32 %rd4, %r21, 4;
    add.s64 %rd5, %rd2, %rd4;
    ld.global.f32 %f2, [%rd5];
    st.shared.f32 [%r18], %f2;
    bar.sync 0;
    mov.u32 %r22, 0;
    mov.u32 %r23, %r19;
    mov.u32 %r20, %r15;
INNER:
    ld.shared.f32 %f3, [%r20];
    ld.shared.f32 %f4, [%r23];
    fma.rn.f32 %f1, %f3, %f4, %f1;
    add.s32 %r20, %r20, 4;
    add.s32 %r23, %r23, 64;
    add.s32 %r22, %r22, 1;
    setp.lt.u32 %p1, %r22, 16;
    @%p1 bra INNER;
    bar.sync 0;
    add.s32 %r10, %r10, 16;
    setp.lt.u32 %p2, %r10, %r1;
    @%p2 bra TILE;
    mad.lo.s32 %r21, %r7, %r1, %r9;
    mul.wide.u32 %rd4, %r21, 4;
    add.s64 %rd5, %rd3, %rd4;
    st.global.f32 [%rd5], %f1;
    ret;
}";

fn report(
    name: &str,
    text: &str,
    arguments: &[&[u8]],
    shape: ([u32; 3], [u32; 3]),
    device: &Device,
) {
    let module = Module::parse(text).unwrap();
    let loaded = device.load(&module).unwrap();
    let launch = Launch { grid: shape.0, block: shape.1, arguments, ..Launch::default() };
    let plain = Options { poison: false, ..Options::default() };
    let modes = [
        ("bounds only", plain.clone()),
        ("with poison", Options::default()),
        ("all cores", Options { threads: 0, ..plain.clone() }),
        ("random order", Options { order: Order::Random(1), ..plain.clone() }),
        ("races", Options { detect_races: true, ..plain }),
    ];
    for (mode, options) in modes {
        let start = Instant::now();
        let report = device.launch(&loaded, name, &launch, &options).unwrap();
        let seconds = start.elapsed().as_secs_f64();
        let rate = report.instructions as f64 / seconds / 1e6;
        println!(
            "{name:8} {mode:14} {:12} instructions, {rate:6.0} million a second",
            report.instructions
        );
    }
}

fn main() {
    let device = Device::new(Properties::default());
    let n = 128u32;
    let buffer = || device.allocate((n * n * 4) as usize, 256).unwrap();
    let [a, b, c] = [buffer(), buffer(), buffer()];
    for address in [a, b, c] {
        device.fill(address, (n * n * 4) as usize, 0).unwrap();
    }
    let [a, b, c] = [a, b, c].map(u64::to_le_bytes);
    let rounds = 2000u32.to_le_bytes();
    report("saxpy", SAXPY, &[&a, &b, &rounds], ([8, 1, 1], [256, 1, 1]), &device);
    let n = n.to_le_bytes();
    report("matmul", MATMUL, &[&a, &b, &c, &n], ([8, 8, 1], [16, 16, 1]), &device);
}

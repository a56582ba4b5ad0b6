//! Loads, stores, address spaces, initialisers and calls.

mod common;

use common::{Argument, Bench};
use ptx_emulator::{Device, Launch, Module, Options, Properties};

const HEADER: &str = ".version 8.0\n.target sm_90\n.address_size 64\n";

/// Runs the statements of a kernel by some threads, and gives the 64-bit words they wrote.
fn run(globals: &str, body: &str, threads: u32, words: usize) -> Vec<u64> {
    let text = format!(
        "{HEADER}{globals}\n.visible .entry k(.param .u64 out)\n{{
    .reg .pred %p<9>;\n    .reg .b16 %h<9>;\n    .reg .b32 %r<19>;\n    .reg .b64 %rd<19>;
    .reg .b128 %q<3>;\n    .local .align 16 .b8 depot[64];\n    .shared .align 16 .b8 tile[256];
    ld.param.u64 %rd1, [out];\n{body}\n    ret;\n}}\n"
    );
    let bench = Bench::new(&text);
    assert_eq!(bench.loaded.module().unsupported(), []);
    let out = bench.buffer(&vec![0u64; words]);
    bench
        .launch("k", 1, threads, &[Argument::Buffer(out)], &Options::default())
        .unwrap_or_else(|fault| panic!("{fault}\n{text}"));
    bench.values(out, words)
}

#[test]
fn narrow_loads_extend_to_their_register() {
    let body = "
    st.global.u64 [%rd1], 0x80fe8001ff7f80;
    ld.global.s8 %rd2, [%rd1];      ld.global.u8 %rd3, [%rd1];
    ld.global.s8 %r1, [%rd1];       cvt.u64.u32 %rd4, %r1;
    ld.global.s16 %rd5, [%rd1+2];   ld.global.b16 %h1, [%rd1+2];
    cvt.u64.u16 %rd6, %h1;          ld.global.s32 %rd7, [%rd1];
    ld.global.s8 %h2, [%rd1];       cvt.u64.u16 %rd8, %h2;
    ld.global.b32 %rd9, [%rd1];
    st.global.u64 [%rd1], %rd2;     st.global.u64 [%rd1+8], %rd3;
    st.global.u64 [%rd1+16], %rd4;  st.global.u64 [%rd1+24], %rd5;
    st.global.u64 [%rd1+32], %rd6;  st.global.u64 [%rd1+40], %rd7;
    st.global.u64 [%rd1+48], %rd8;  st.global.u64 [%rd1+56], %rd9;";
    let expected =
        [0xffff_ffff_ffff_ff80, 0x80, 0xffff_ff80, 0x1ff, 0x01ff, 0x01ff_7f80, 0xff80, 0x01ff_7f80];
    assert_eq!(run("", body, 1, 8), expected);
}

#[test]
fn vectors_and_wide_registers() {
    let body = "
    mov.u32 %r1, 1; mov.u32 %r2, 2; mov.u32 %r3, 3; mov.u32 %r4, 4;
    st.shared.v4.b32 [tile+16], {%r4, %r3, %r2, %r1};
    ld.shared.v2.b64 {%rd2, %rd3}, [tile+16];
    mov.b128 %q1, {%rd3, %rd2};
    st.global.b128 [%rd1], %q1;
    ld.global.b128 %q2, [%rd1];
    mov.b128 {%rd4, %rd5}, %q2;
    mov.b64 {%r5, %r6}, %rd4;
    mov.b32 {%h1, %h2}, 0x00050006;
    mov.b64 %rd6, {%h2, %h1, %h1, %h2};
    mov.b64 %rd7, {%r6, %r5};
    st.v2.u64 [%rd1+16], {%rd6, %rd7};
    mov.b64 {_, %r7}, %rd5;
    st.u32 [%rd1+32], %r7;";
    let expected = [0x1_0000_0002, 0x3_0000_0004, 0x0005_0006_0006_0005, 0x2_0000_0001, 3];
    assert_eq!(run("", body, 1, 5), expected);
}

#[test]
fn generic_addresses_reach_every_space() {
    let body = "
    mov.u64 %rd2, depot; cvta.local.u64 %rd3, %rd2;
    mov.u64 %rd4, tile;  cvta.shared.u64 %rd5, %rd4;
    mov.u64 %rd6, out;   cvta.param.u64 %rd7, %rd6;
    st.u32 [%rd3+4], 11; ld.local.u32 %r1, [%rd2+4];
    st.u32 [%rd5+8], 22; ld.shared.u32 %r2, [%rd4+8];
    ld.u64 %rd8, [%rd7];
    cvta.to.shared.u64 %rd9, %rd5;
    sub.u64 %rd9, %rd9, %rd4;
    isspacep.local %p1, %rd3; isspacep.shared %p2, %rd5; isspacep.global %p3, %rd1;
    isspacep.global %p4, %rd3; isspacep.shared %p5, %rd1;
    selp.u32 %r3, 1, 0, %p1; selp.u32 %r4, 2, 0, %p2; selp.u32 %r5, 4, 0, %p3;
    selp.u32 %r6, 8, 0, %p4; selp.u32 %r7, 16, 0, %p5;
    or.b32 %r3, %r3, %r4; or.b32 %r3, %r3, %r5; or.b32 %r3, %r3, %r6; or.b32 %r3, %r3, %r7;
    cvt.u64.u32 %rd10, %r1; st.global.u64 [%rd1], %rd10;
    cvt.u64.u32 %rd10, %r2; st.global.u64 [%rd1+8], %rd10;
    sub.u64 %rd8, %rd8, %rd1; st.global.u64 [%rd1+16], %rd8;
    st.global.u64 [%rd1+24], %rd9;
    cvt.u64.u32 %rd10, %r3; st.global.u64 [%rd1+32], %rd10;";
    assert_eq!(run("", body, 1, 5), [11, 22, 0, 0, 7]);
}

#[test]
fn initialisers_of_all_kinds() {
    let globals = "
.global .align 4 .f32 numbers[3] = {1.5, -2.0, 0f40400000};
.global .align 2 .u16 shorts[4] = {1, -1, 0x10};
.global .align 8 .u64 pointers[2] = {generic(numbers)+4, shorts};
.global .align 1 .u8 packed[9] = {7, 0xFF(generic(numbers)), 0xFF00(generic(numbers)), 0xFF0000(generic(numbers)), 0xFF000000(generic(numbers)), 0xFF00000000(generic(numbers)), 0xFF0000000000(generic(numbers)), 0xFF000000000000(generic(numbers)), 0xFF00000000000000(generic(numbers))};
.const .align 4 .b32 table[2][2] = {{10, 20}, {30, 40}};";
    let body = "
    ld.global.u64 %rd2, [pointers]; ld.u32 %r1, [%rd2];
    ld.global.u64 %rd3, [pointers+8]; ld.u16 %h1, [%rd3+2];
    ld.const.u32 %r2, [table+12];
    mov.u64 %rd4, 0; mov.u32 %r3, 8;
LOOP:
    cvt.u64.u32 %rd5, %r3; mov.u64 %rd6, packed; add.u64 %rd6, %rd6, %rd5;
    ld.global.u8 %rd7, [%rd6]; shl.b64 %rd4, %rd4, 8; or.b64 %rd4, %rd4, %rd7;
    sub.u32 %r3, %r3, 1; setp.gt.u32 %p1, %r3, 0; @%p1 bra LOOP;
    mov.u64 %rd8, numbers; cvta.global.u64 %rd8, %rd8; sub.u64 %rd4, %rd4, %rd8;
    cvt.u64.u32 %rd9, %r1; st.global.u64 [%rd1], %rd9;
    cvt.u64.u16 %rd9, %h1; st.global.u64 [%rd1+8], %rd9;
    cvt.u64.u32 %rd9, %r2; st.global.u64 [%rd1+16], %rd9;
    st.global.u64 [%rd1+24], %rd4;";
    let expected = [u64::from((-2f32).to_bits()), 0xffff, 40, 0];
    assert_eq!(run(globals, body, 1, 4), expected);
}

#[test]
fn calls_pass_structures_and_return_vectors() {
    let globals = "
.func (.param .align 16 .b8 pair[16]) both(.param .align 4 .b8 input[12], .param .b64 third)
{
    .reg .b32 %r<4>; .reg .b64 %rd<5>;
    ld.param.u32 %r1, [input]; ld.param.s8 %r2, [input+5]; ld.param.u16 %r3, [input+8];
    ld.param.u64 %rd1, [third];
    add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3;
    cvt.u64.u32 %rd2, %r1;
    st.param.v2.b64 [pair], {%rd2, %rd1};
    ret;
}
.func (.param .align 16 .b8 pair[16]) also(.param .align 4 .b8 input[12], .param .b64 third);
.alias also, both;";
    let body = "
    { .param .align 4 .b8 p0[12]; .param .b64 p1; .param .align 16 .b8 r0[16];
      st.param.b32 [p0], 100; st.param.b8 [p0+5], 255; st.param.b16 [p0+8], 3;
      st.param.b64 [p1], %rd1;
      call.uni (r0), also, (p0, p1);
      ld.param.v2.b64 {%rd2, %rd3}, [r0]; }
    mov.u64 %rd4, both;
    { .param .align 4 .b8 p0[12]; .param .b64 p1; .param .align 16 .b8 r0[16];
      st.param.v2.b32 [p0], {1, 2}; st.param.b32 [p0+8], 65536; st.param.b64 [p1], 9;
      prototype_1: .callprototype (.param .align 16 .b8 _[16]) _ (.param .align 4 .b8 _[12], .param .b64 _);
      call (r0), %rd4, (p0, p1), prototype_1;
      ld.param.b64 %rd5, [r0]; ld.param.b64 %rd6, [r0+8]; }
    sub.u64 %rd3, %rd3, %rd1;
    st.global.u64 [%rd1], %rd2; st.global.u64 [%rd1+8], %rd3;
    st.global.u64 [%rd1+16], %rd5; st.global.u64 [%rd1+24], %rd6;";
    assert_eq!(run(globals, body, 1, 4), [102, 0, 1, 9]);
}

#[test]
fn special_registers() {
    let body = "
    mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %laneid; mov.u32 %r4, %warpid;
    mov.u32 %r5, %lanemask_lt; mov.u32 %r6, %ntid.y; mov.u32 %r7, %nctaid.x;
    mov.u32 %r8, %lanemask_ge; mov.u32 %r9, WARP_SZ; mov.u32 %r10, %dynamic_smem_size;
    mov.u32 %r11, %ntid.x; mad.lo.u32 %r11, %r2, %r11, %r1; mul.wide.u32 %rd2, %r11, 40; add.u64 %rd2, %rd2, %rd1;
    mov.b64 %rd3, {%r1, %r2}; st.global.u64 [%rd2], %rd3;
    mov.b64 %rd3, {%r3, %r4}; st.global.u64 [%rd2+8], %rd3;
    mov.b64 %rd3, {%r5, %r6}; st.global.u64 [%rd2+16], %rd3;
    mov.b64 %rd3, {%r7, %r8}; st.global.u64 [%rd2+24], %rd3;
    mov.b64 %rd3, {%r9, %r10}; st.global.u64 [%rd2+32], %rd3;
    mov.u64 %rd4, %clock64; mov.u64 %rd5, %clock64; setp.le.u64 %p1, %rd5, %rd4; @%p1 trap;";
    let text = format!(
        "{HEADER}.visible .entry k(.param .u64 out)\n{{\n.reg .pred %p<2>; .reg .b32 %r<12>; \
         .reg .b64 %rd<6>;\nld.param.u64 %rd1, [out];\n{body}\nret;\n}}\n"
    );
    let bench = Bench::new(&text);
    let out = bench.buffer(&[0u64; 5 * 48]);
    let arguments = [Argument::Buffer(out)];
    bench.launch_shaped("k", [1; 3], [24, 2, 1], 96, &arguments, &Options::default()).unwrap();
    let pair = |low: u64, high: u64| low | high << 32;
    for (thread, found) in bench.values::<u64>(out, 240).chunks(5).enumerate() {
        let thread = thread as u64;
        let lane = thread % 32;
        let expected = [
            pair(thread % 24, thread / 24),
            pair(lane, thread / 32),
            pair((1 << lane) - 1, 2),
            pair(1, 0xffff_ffff & !((1 << lane) - 1)),
            pair(32, 96),
        ];
        assert_eq!(found, expected, "thread {thread}");
    }
}

#[test]
fn globals_of_a_loaded_module() {
    let text =
        format!("{HEADER}.visible .global .align 4 .u32 counter = 5;\n.global .b8 blob[3];\n");
    let module = Module::parse(&text).unwrap();
    let device = Device::new(Properties::default());
    let loaded = device.load(&module).unwrap();
    let (address, bytes) = loaded.global("counter").unwrap();
    let mut value = [0; 4];
    device.read(address, &mut value).unwrap();
    assert_eq!((value, bytes), ([5, 0, 0, 0], 4));
    assert_eq!(loaded.global("blob").map(|(_, bytes)| bytes), Some(3));
    assert_eq!(loaded.global("missing"), None);
    let used = device.memory_usage().0;
    drop(loaded);
    assert_eq!((used, device.memory_usage().0), (7, 0));
    assert!(device.read(address, &mut value).is_err());
}

#[test]
fn memory_of_the_host_has_its_own_address() {
    let text = format!(
        "{HEADER}.visible .entry k(.param .u64 at)\n{{\n.reg .b32 %r1; .reg .b64 %rd1;\n\
         ld.param.u64 %rd1, [at];\nld.global.u32 %r1, [%rd1+4];\nst.global.u32 [%rd1], %r1;\nret;\n}}\n"
    );
    let bench = Bench::new(&text);
    let mut values = [1u32, 7];
    // SAFETY: the array outlives the mapping, and nothing borrows it while the kernel runs.
    let address = unsafe { bench.device.map_host(values.as_mut_ptr().cast(), 8) };
    let bytes = address.to_le_bytes();
    let launch = Launch { arguments: &[&bytes], ..Launch::default() };
    bench.device.launch(&bench.loaded, "k", &launch, &Options::default()).unwrap();
    bench.device.free(address).unwrap();
    assert_eq!(values, [7, 7]);
}

#[test]
fn tables_of_branches() {
    let body = "
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 8; add.u64 %rd2, %rd2, %rd1;
table: .branchtargets ZERO, ONE, TWO, ONE;
    brx.idx %r1, table;
ZERO: st.global.u64 [%rd2], 10; ret;
ONE: st.global.u64 [%rd2], 11; ret;
TWO: st.global.u64 [%rd2], 12;";
    assert_eq!(run("", body, 4, 4), [10, 11, 12, 11]);
}

#[test]
fn devices_and_modules_are_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Device>();
    shared::<Module>();
    shared::<ptx_emulator::Loaded>();
    shared::<ptx_emulator::Fault>();
    let text = format!(
        "{HEADER}.visible .entry k(.param .u64 at)\n{{\n.reg .b64 %rd1;\n\
         ld.param.u64 %rd1, [at];\nred.global.add.u32 [%rd1], 1;\nret;\n}}\n"
    );
    let bench = Bench::new(&text);
    let data = bench.buffer(&[0u32]);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let arguments = [Argument::Buffer(data)];
                bench.launch("k", 10, 64, &arguments, &Options::default()).unwrap();
            });
        }
    });
    assert_eq!(bench.values::<u32>(data, 1), [4 * 640]);
}

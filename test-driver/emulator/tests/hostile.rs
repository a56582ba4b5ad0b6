//! PTX that is wrong or means harm: refused with one line for each error, and run in bounded time and memory.

#![allow(clippy::result_large_err, reason = "a launch fails once in a test")]

mod common;

use common::{Argument, Bench};
use ptx_emulator::{Device, FaultKind, Launch, Module, Options, Order, Properties};

const HEADER: &str = ".version 8.0\n.target sm_90\n.address_size 64\n";

/// The errors of a text.
fn errors(text: &str) -> Vec<(u32, String)> {
    let Err(errors) = Module::parse(text) else { panic!("not refused: {text:.400}") };
    let lines = text.lines().count() as u32 + 1;
    for error in errors.errors() {
        assert!((1..=lines).contains(&error.line), "{error}");
        assert!(error.message.len() < 2000 && !error.message.contains('\n'), "{error}");
    }
    errors.errors().iter().map(|error| (error.line, error.message.clone())).collect()
}

/// A body in a kernel, whose first line is line 6.
fn kernel(body: &str) -> String {
    let registers = ".reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>;";
    format!("{HEADER}.visible .entry k(.param .u64 out) {{\n{registers}\n{body}\nret;\n}}\n")
}

/// Instructions of warps with types that they are not there for. A `match` of 128 bits once overflowed.
#[test]
fn warp_instructions_have_the_types_of_the_isa() {
    let found = errors(&kernel("redux.sync.add.u64 %rd1, %rd2, -1;"));
    assert!(found[0].1.contains("does not support the type `.u64`"), "{found:?}");
    for instruction in [
        "match.all.sync.b128 %r1|%p1, %rd1, -1;",
        "match.any.sync.b16 %r1, %r2, -1;",
        "shfl.sync.idx.b64 %rd1, %rd2, 0, 31, -1;",
    ] {
        let module = Module::parse(&kernel(instruction)).unwrap();
        let lines: Vec<_> = module.unsupported().iter().map(|it| it.line).collect();
        assert_eq!(lines, [6], "{instruction}");
    }
}

/// What `ptxas` refuses: the text after the header, the line of the error and a part of its message.
#[test]
fn what_ptxas_refuses_is_refused() {
    let globals = [
        (".global .b32 g;\n.global .b32 g;", 5, "`g` is declared twice"),
        (".shared .b32 s;\n.global .b32 s;", 5, "`s` is declared twice"),
        (".global .b32 g;\n.func g() { ret; }", 5, "`g` is declared twice"),
        (".func f() { ret; }\n.func f() { ret; }", 5, "`f` is defined twice"),
        (".entry f() { ret; }\n.entry f() { ret; }", 5, "`f` is defined twice"),
        (".func f(.param .b32 a,\n.param .b32 a) { ret; }", 5, "`a` is declared twice"),
        (".func f();\n.func f(.param .b32 a) { ret; }", 5, "`f` has other parameters"),
        (".global .align 0 .b32 g;", 4, "power of two"),
        (".global .align 3 .b32 g;", 4, "power of two"),
        (".global .align 4294967296 .b32 g;", 4, "power of two"),
        (".global .align -4 .b32 g;", 4, "an integer"),
        (".global .b32 g[-1];", 4, "an integer"),
        (".global .b32 g[0];", 4, "no length"),
        (".global .b32 g[];", 4, "no length"),
        (".global .b32 g[2] = {1, 2, 3};", 4, "too many values"),
        (".global .b32 g = 1 / 0;", 4, "zero"),
        (".global .b32 g = 1.5 + 1;", 4, "wrong types"),
        (".global .u64 g = nowhere;", 4, "not declared"),
        (".shared .b32 s = 5;", 4, "initial value"),
        (".visible .entry k(.reg .b32 a) { ret; }", 4, "register"),
        (".visible .entry k(.param .b8 a[100000]) { ret; }", 4, "parameters"),
        (".visible .entry k() .maxntid 0 { ret; }", 4, "maxntid"),
        (".visible .entry 5k() { ret; }", 4, "name"),
        (".visible .entry k() { ret;", 4, "the end of the text"),
        (".visible .entry k() { ret; }\n}", 5, "`}`"),
        (".file 1 \"abc", 4, "a string that does not end"),
        ("\n/* abc", 5, "a comment that does not end"),
        ("garbage", 4, "garbage"),
        (".foo", 4, "foo"),
        (".alias a, b;", 4, "alias"),
        (".version 8.0", 4, "`.version`"),
        (".target sm_80", 4, "`.target`"),
        (".address_size 64", 4, "`.address_size`"),
        (".entry a() { ret; }\n.address_size 64", 5, "`.address_size`"),
        ("\0.entry k() { ret; }", 4, "a directive"),
        (".const .b8 a[65535];\n.const .b32 b;", 5, "constant memory"),
        (".visible .entry k(.param .b8 a[4353]) { ret; }", 4, "4352"),
        (".loc 1 1 1", 4, "found `.loc`"),
        (".file 1 \"a.c\"\n.entry k() {\n.loc 1 1\nret; }", 7, "an integer"),
        (".entry k() {\n.loc 1 1 1, function_name L\nret; }", 6, "`,`"),
        (".entry k() { call j; ret; }\n.entry j() { ret; }", 4, "a kernel"),
        (
            ".func (.reg .u32 r) f() { ret; }\n.entry k() { call f; ret; }",
            5,
            "does not match its parameters",
        ),
        (".section .debug_info {\n.b8 256\n}", 5, "`256` is not a value of `.b8`"),
        (".section .debug_info {\n.b8 1, -129\n}", 5, "`-129` is not a value of `.b8`"),
        (".section .debug_info {\n.b16 65536\n}", 5, "`65536` is not a value of `.b16`"),
        (".section .debug_info {\n.b32 1.5\n}", 5, "`1.5` is not a value of `.b32`"),
        (".section .debug_info {\n.u32 1\n}", 5, "type `.u32`"),
        (".entry k() .blocksareclusters .reqntid 1 .reqnctapercluster 1 { ret; }", 4, "PTX 9.0"),
        (".entry k() { prefetch.global.L1 [0]; ret; }", 4, "a constant as its address"),
        (".entry k() { prefetchu.L1 [WARP_SZ]; ret; }", 4, "a constant as its address"),
        (
            ".func f(.reg .u32 r) { ret; }\n.entry k() { .reg .u64 d; call f, (d); ret; }",
            5,
            "does not match its parameters",
        ),
    ];
    for (text, line, message) in globals {
        let found = errors(&format!("{HEADER}{text}"));
        let is_found = found.iter().any(|(at, text)| *at == line && text.contains(message));
        assert!(is_found, "{text}: {found:?}");
    }
    for (text, line, message) in [
        ("", 1, "`.version`"),
        (".target sm_90\n", 1, "`.version`"),
        (".version 8\n.target sm_90\n", 1, "version"),
        (".version 8.0\n.entry k() { ret; }", 2, "`.target`"),
        (".version 8.0\n.target fermi\n", 2, "target"),
        (".version 7.7\n.target sm_90\n", 2, "PTX 7.7 does not support sm_90"),
        (".version 7.8\n.target sm_90a\n", 2, "PTX 7.8 does not support sm_90a"),
        (".version 8.7\n.target sm_120f\n", 2, "PTX 8.7 does not support sm_120f"),
        (".version 8.0\n.target sm_90\n.address_size 32\n", 3, "32 bits"),
        (".version 8.\n.target sm_90\n", 1, "version"),
    ] {
        let found = errors(text);
        assert!(found[0].0 == line && found[0].1.contains(message), "{text}: {found:?}");
    }
}

#[test]
fn bodies_that_ptxas_refuses_are_refused() {
    for (body, message) in [
        (".reg .b32 %r<5>;", "declared twice"),
        (".reg .b32 %r3;", "declared twice"),
        (".reg .b32 a; .reg .b64 a;", "declared twice"),
        (".reg .b32 out;", "declared twice"),
        (".local .b32 l; .shared .b32 l;", "declared twice"),
        ("L: L: bra L;", "label `L`"),
        (".reg .v3 .b32 v;", "`.v3`"),
        (".reg .v4 .f64 v;", "128 bits"),
        (".reg .v2 .pred v;", "predicates"),
        (".reg .b32 %q<-1>;", "an integer"),
        (".reg .b32 %q<5000000000>;", "32 bits"),
        ("mov.b32 %r1, 0f3F;", "a number"),
        ("mov.b32 %r1, 0f3F80000000;", "a number"),
        ("mov.b64 %rd1, 0d3FF;", "a number"),
        ("mov.b32 %r1, -0f3F800000;", "wrong types"),
        ("mov.b32 %r1, 09;", "a number"),
        ("mov.b32 %r1, 0b102;", "a number"),
        ("mov.b32 %r1, 0x;", "a number"),
        ("mov.b64 %rd1, 99999999999999999999;", "a number"),
        ("mov.b32 %r1, 1e400;", "a number"),
        ("mov.b32 %r1, 7 % 0;", "zero"),
        // Registers and literals of other types than the instruction has.
        ("add.u32 %r1, %rd1, 1;", "`.b64`"),
        ("add.u32 %r1, %f1, 1;", "`.f32`"),
        ("shl.b32 %r1, %r2, %rd1;", "`.b64`"),
        ("mul.wide.u32 %rd1, %rd2, %r1;", "`.b64`"),
        ("mov.u32 %f1, %rd1;", "`.f32`"),
        ("and.pred %p1, %p2, %r1;", "`.pred`"),
        ("selp.u32 %r1, %r2, %r3, %r4;", "`.pred`"),
        ("selp.u32 %r1, %p1, %r3, %p2;", "`.pred`"),
        ("@%r1 mov.u32 %r2, 1;", "`.pred`"),
        ("@!%rd1 bra L; L:", "`.pred`"),
        ("mov.f32 %f1, 0;", "`.f32`"),
        ("add.f32 %f1, %f2, 1;", "`.f32`"),
        ("setp.eq.f32 %p1, %f1, 0;", "`.f32`"),
        ("add.u32 %r1, %r2, 1.5;", "`.u32`"),
        ("mov.u32 %r1, 0f3F800000;", "`.u32`"),
        ("mov.b32 %r1, 1.5;", "`.b32`"),
        ("st.global.f32 [%rd1], 0;", "`.f32`"),
        ("st.global.u32 [%rd1], 1.0;", "`.u32`"),
        ("st.global.u64 [%rd1], %r1;", "`.b32`"),
        ("ld.global.u64 %r1, [%rd1];", "`.b32`"),
        ("ld.global.u32 %f1, [%rd1];", "`.f32`"),
        ("ld.global.v2.u64 {%rd1, %r1}, [%rd2];", "`.b32`"),
        ("bfe.u32 %r1, %r2, 256, 1;", "255"),
        ("bfi.b32 %r1, %r2, %r3, 1, 1000;", "255"),
        ("createpolicy.fractional.L2::evict_last.b64 %rd1, 2.0;", "fraction"),
        ("createpolicy.fractional.L2::evict_last.b64 %rd1, 0.0;", "fraction"),
        ("mov.b32 %r1, \"abc\";", "a constant"),
        ("mov.b32 %r1, \"abc;", "does not end"),
        ("mov.b32 %r1, %tid.x+5;", "cannot be added"),
        ("mov.f32 %f1, %f2+3;", "added to an integer"),
        ("mov.b32 %r1, 5+%r2;", "a constant"),
        ("ld.global.u32 %r1, [%rd1-8];", "`-`"),
        ("ld.global.u32 %r1, [%rd1+;", "`;`"),
        ("add.u32 %r1, %r1, %r77;", "not declared"),
        ("add.u32 %r1, %r1;", "operands"),
        ("bra nowhere;", "there is no label"),
        ("@%nothing ret;", "not declared"),
        ("L: .branchtargets M; brx.idx %r1, L;", "there is no label"),
        ("call nothing;", "not declared"),
        ("add.u32 %r1, %r1, 1", "`,` or `;`"),
        ("@%p1 .reg .b32 x;", "an instruction"),
        ("mov.u32 %laneid, %r1;", "not declared"),
        ("mov.u32 %r1, %laneid.y;", "not declared"),
    ] {
        let found = errors(&kernel(body));
        let is_found =
            found.iter().any(|(line, text)| matches!(line, 6 | 7) && text.contains(message));
        assert!(is_found, "{body}: {found:?}");
    }
}

/// Texts whose size says little about what they ask for.
#[test]
fn nesting_is_bounded() {
    let nested = |open: &str, middle: &str, close: &str| {
        format!("{}{middle}{}", open.repeat(100_000), close.repeat(100_000))
    };
    let deep = "nested more than";
    for body in [
        nested("{", "", "}"),
        format!("mov.b32 %r1, {};", nested("(", "1", ")")),
        format!("mov.b32 %r1, {};", nested("-", "1", "")),
        format!("mov.b32 %r1, {};", nested("1 ? ", "1", " : 1")),
        format!("mov.b32 %r1, {};", nested("(.s64)", "1", "")),
    ] {
        assert!(errors(&kernel(&body))[0].1.contains(deep));
    }
    let list = format!("{HEADER}.global .b32 g[1] = {};", nested("{", "1", "}"));
    assert!(errors(&list)[0].1.contains(deep));
    for body in [nested("{", "", ""), nested("[", "", ""), nested("(", "", ""), nested("@", "", "")]
    {
        errors(&kernel(&body));
        errors(&format!("{HEADER}{body}"));
        errors(&kernel(&format!("mov.b32 %r1, {body}")));
        errors(&kernel(&format!("call {body}")));
    }
    // Long is not deep.
    let sum = vec!["1"; 100_000].join("+");
    assert!(Module::parse(&kernel(&format!("mov.b32 %r1, {sum};"))).is_ok());
}

#[test]
fn errors_are_few_short_lines() {
    let many = kernel(&"mov.b32 %x, %y;\n".repeat(100_000));
    assert!(errors(&many).len() <= 100);
    let long = kernel(&format!("mov.b32 {}, 1;", "x".repeat(1_000_000)));
    assert!(errors(&long)[0].1.contains("..."));
    errors(&format!("{HEADER}.file \"a\nb\rc\u{1b}[2J\""));
}

fn launch(text: &str, threads: u32) -> Result<(String, Vec<u64>), FaultKind> {
    let options = Options { step_budget: Some(1_000_000), ..Options::default() };
    launch_with(text, threads, &options)
}

fn launch_with(
    text: &str,
    threads: u32,
    options: &Options,
) -> Result<(String, Vec<u64>), FaultKind> {
    let module = Module::parse(text).unwrap_or_else(|errors| panic!("{errors}"));
    let device =
        Device::new(Properties { memory_bytes: 64 << 20, ..Properties::of_capability(90) });
    let loaded =
        device.load(&module).map_err(|error| FaultKind::Launch { reason: error.to_string() })?;
    let out = device.allocate(64, 8).unwrap();
    let arguments: &[&[u8]] = &[&out.to_le_bytes()];
    let shape = Launch { block: [threads, 1, 1], arguments, ..Launch::default() };
    let report = device.launch(&loaded, "k", &shape, options).map_err(|fault| fault.kind)?;
    let mut bytes = [0; 64];
    device.read(out, &mut bytes).unwrap();
    let words = bytes.chunks(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect();
    Ok((report.printed, words))
}

#[track_caller]
fn refused(text: &str, threads: u32, message: &str) {
    let Err(kind) = launch(text, threads) else { panic!("not refused") };
    assert!(kind.to_string().contains(message), "{kind}");
}

#[test]
fn registers_and_variables_cost_what_is_used() {
    let body = ".reg .b32 %q<1000000000>; mov.b32 %q999999999, 7; add.u32 %q5, %q999999999, 1;
        ld.param.u64 %rd1, [out]; st.global.u32 [%rd1], %q5;";
    assert_eq!(launch(&kernel(body), 1).unwrap().1[0] as u32, 8);
    let global =
        |bytes: &str| kernel("").replace(".visible", &format!(".global .b8 g[{bytes}];\n.visible"));
    for bytes in ["99999999999", "18446744073709551615", "9223372036854775807"] {
        refused(&global(bytes), 1, "out of device memory");
    }
    refused(&kernel(".local .b8 l[1000000000];"), 1, "local memory");
    refused(&kernel(".local .b8 l[99999999999];"), 1, "local memory");
    refused(&kernel(".shared .b8 s[1000000000];"), 1, "shared memory");
    refused(
        &kernel(".shared .align 128 .b8 s[4294967295]; .shared .b8 t[4294967295];"),
        1,
        "shared",
    );
    let many: String = (0..100_000).map(|n| format!("mov.b64 %rx{n}, 1;\n")).collect();
    refused(&kernel(&format!(".reg .b64 %rx<100000>;\n{many}")), 1024, "registers");
}

#[test]
fn stacks_and_heaps_are_bounded() {
    let recursive = |registers: u32, local: u32| {
        let uses: String = (0..registers).map(|n| format!("mov.b64 %x{n}, 1;\n")).collect();
        let function = format!(
            ".func f() {{ .local .b8 l[{local}]; .reg .b64 %x<{}>; {uses} call f, (); ret; }}\n.visible",
            registers + 1
        );
        kernel("call f, ();").replace(".visible", &function)
    };
    refused(&recursive(0, 4), 1024, "stack overflow");
    refused(&recursive(2000, 4), 1, "");
    refused(&recursive(2000, 4), 1024, "");
    refused(&recursive(1, 100_000), 1024, "stack overflow");
    let heap = ".extern .func (.param .b64 r) malloc(.param .b64 n);\n.visible";
    let body = "ld.param.u64 %rd1, [out]; mov.b64 %rd4, 0; L: { .param .b64 n; .param .b64 r;
        st.param.b64 [n], 1000000; call (r), malloc, (n); ld.param.b64 %rd2, [r]; }
        setp.eq.u64 %p1, %rd2, 0; @%p1 bra M; add.u64 %rd4, %rd4, 1; bra L; M: st.global.u64 [%rd1], %rd4;";
    // The heap has 8 MiB, as on a device whose limit nobody has set.
    assert_eq!(launch(&kernel(body).replace(".visible", heap), 1).unwrap().1[0], 8);
}

#[test]
fn printing_is_bounded() {
    let print = |format: &str| {
        let bytes: Vec<String> = format.bytes().chain([0]).map(|byte| byte.to_string()).collect();
        let globals = format!(
            ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
             .global .align 8 .b8 text[{}] = {{{}}};\n.global .align 8 .u64 values[64] = {{999999999, 5}};\n.visible",
            bytes.len(),
            bytes.join(",")
        );
        let body = "{ .param .b32 r; .param .b64 f; .param .b64 a; mov.u64 %rd1, text; st.param.b64 [f], %rd1;
            mov.u64 %rd1, values; st.param.b64 [a], %rd1; call (r), vprintf, (f, a); }";
        launch(&kernel(body).replace(".visible", &globals), 1).unwrap().0
    };
    for format in [
        "%999999999d",
        "%.999999999d",
        "%*d",
        "%.*d",
        "%99999999999999999999d",
        "%.999999999f",
        "%.999999999e",
        "%.999999999g",
        "%-999999999x",
        "%0999999999o",
    ] {
        let printed = print(format);
        assert!(printed.len() < 100_000, "{format}: {} bytes", printed.len());
    }
    assert!(print(&"%1000d".repeat(60)).len() > 1000);
    let endless =
        "{ .param .b32 r; .param .b64 f; .param .b64 a; mov.u64 %rd1, text; st.param.b64 [f], %rd1;
        st.param.b64 [a], 0; L: call (r), vprintf, (f, a); bra L; }";
    let globals = ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
        .global .align 8 .b8 text[2001];\n.visible";
    refused(&kernel(endless).replace(".visible", globals), 1, "instructions");
}

#[test]
fn waiting_is_bounded() {
    // Arrivals that nobody waits for, and copies that nobody takes.
    refused(&kernel("L: bar.arrive 1, 64; bra L;"), 32, "instructions");
    refused(&kernel("L: cp.async.commit_group; bra L;"), 1, "instructions");
    let copies = ".shared .align 16 .b8 s[64]; ld.param.u64 %rd1, [out];
        L: cp.async.ca.shared.global [s], [%rd1], 16; bra L;";
    refused(&kernel(copies), 1, "instructions");
    let jumps = "mov.u32 %r1, 0; L: .branchtargets L0, L0; brx.idx %r1, L; L0: bra L0;";
    refused(&kernel(jumps), 1, "instructions");
}

/// Loops that change nothing are found without the budget; those that wait for memory, a clock or a count are not.
#[test]
fn loops_without_end_are_found() {
    let endless = [
        "L: bra L;",
        "L: bra M; M: bra L;",
        "mov.u32 %r1, 0; L: setp.eq.u32 %p1, %r1, 0; @%p1 bra L;",
        "mov.u32 %r1, 0; L: xor.b32 %r1, %r1, 1; membar.gl; bra L;",
        "mov.u32 %r1, 0; L: add.u32 %r1, %r1, 1; and.b32 %r1, %r1, 63; bra L;",
        "bar.sync 0; mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 3; L: @%p1 bra L; bar.sync 0;",
    ];
    for body in endless {
        for order in [Order::Forward, Order::Random(1)] {
            let options = Options { order, step_budget: None, ..Options::default() };
            let Err(kind) = launch_with(&kernel(body), 4, &options) else { panic!("{body}") };
            assert!(matches!(kind, FaultKind::EndlessLoop { .. }), "{body}: {kind}");
        }
    }
    let bounded = [
        "mov.u32 %r1, 0; L: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 300000; @%p1 bra L;",
        "mov.u64 %rd2, %clock64; L: mov.u64 %rd3, %clock64; sub.u64 %rd3, %rd3, %rd2;
         mov.u64 %rd3, 0; add.u32 %r2, %r2, 0; @%p1 bra L;",
    ];
    for body in bounded {
        let body = format!("mov.pred %p1, 0; mov.u32 %r2, 0; {body}");
        launch(&kernel(&body), 1).unwrap();
    }
    let waiting =
        "ld.param.u64 %rd1, [out]; L: ld.volatile.global.u32 %r1, [%rd1]; setp.ne.u32 %p1, %r1, 12345;
        @%p1 bra L;";
    refused(&kernel(waiting), 1, "the launch took more");
    let clock = "L: mov.u64 %rd3, %clock64; mov.u64 %rd3, 0; bra L;";
    refused(&kernel(clock), 1, "the launch took more");
}

/// Matrix instructions need all lanes of a warp: here the second warp has eight.
#[test]
fn matrices_of_a_part_of_a_warp_are_refused() {
    let tile = ".shared .align 16 .b8 s[1024]; mov.u32 %r1, s;";
    let registers = "{%r1, %r2, %r3, %r4}";
    refused(
        &kernel(&format!("{tile} ldmatrix.sync.aligned.m8n8.x4.shared.b16 {registers}, [%r1];")),
        8,
        "do not take part",
    );
    let mma = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r1, %r1, %r1},
        {%r1, %r1}, {%f5, %f5, %f5, %f5};";
    refused(&kernel(&format!("{tile} mov.f32 %f5, 0f00000000; {mma}")), 40, "do not take part");
}

/// Texts of which some pass of the decoder or the analysis could take quadratic time or memory.
#[test]
fn long_texts_take_little_time() {
    let lines = |count: u32, line: &dyn Fn(u32) -> String| (0..count).map(line).collect::<String>();
    let functions = lines(20_000, &|n| format!(".func f{n}() {{ ret; }}\n"));
    assert!(Module::parse(&format!("{HEADER}{functions}")).is_ok());
    let declared = lines(20_000, &|n| format!(".reg .b32 a{n}, b{n}_<9>; mov.b32 a{n}, b{n}_1;\n"));
    assert!(Module::parse(&kernel(&declared)).is_ok());
    // Many blocks, of which each names registers that are written in another.
    let blocks = lines(20_000, &|n| {
        format!(
            "L{n}: add.u32 %x{n}, %x{}, 1; setp.eq.u32 %p1, %x{n}, 0; @%p1 bra L{};\n",
            (n * 7919) % 20_000,
            (n * 104_729) % 20_000
        )
    });
    assert!(Module::parse(&kernel(&format!(".reg .b32 %x<20000>;\n{blocks}"))).is_ok());
    let targets: Vec<String> = (0..2000).map(|n| format!("L{n}")).collect();
    let branches = lines(2000, &|n| format!("L{n}: brx.idx %r1, T;\n"));
    let text = format!("T: .branchtargets {};\n{branches}", targets.join(", "));
    assert!(Module::parse(&kernel(&text)).is_ok());
    let scopes = "{".repeat(100) + &"mov.b32 %r1, 1;\n".repeat(20_000) + &"}".repeat(100);
    assert!(Module::parse(&kernel(&scopes)).is_ok());
}

#[test]
fn instructions_of_strange_types_are_refused_or_fault() {
    let bench = |body: &str| {
        let Ok(_) = Module::parse(&kernel(body)) else { return };
        let bench = Bench::new(&kernel(body));
        let out = bench.buffer(&[0u64; 64]);
        let _ = bench.launch("k", 1, 32, &[Argument::Buffer(out)], &Options::default());
    };
    for opcode in [
        "add",
        "mul.lo",
        "shl",
        "shr",
        "popc",
        "clz",
        "bfe",
        "mov",
        "abs",
        "neg",
        "min",
        "div",
        "rem",
        "setp.lt",
        "selp",
        "not",
        "and",
        "mad.lo",
        "sad",
        "slct",
        "ld.global",
        "st.global",
        "ld.local",
        "atom.global.add",
        "red.global.add",
        "match.any.sync",
        "match.all.sync",
        "redux.sync.add",
        "prmt",
        "cvt",
        "cvt.rn",
        "shf.l.wrap",
        "bfi",
        "brev",
        "fma.rn",
        "add.sat",
        "ex2.approx",
        "wmma.load.a.sync.aligned.row.m0n0k0",
        "wmma.load.a.sync.aligned.row.m16n16k16.shared",
        "mma.sync.aligned.m0n0k0.row.col",
        "ldmatrix.sync.aligned.m8n8.x4.shared",
        "set.lt",
        "testp.finite",
        "copysign",
        "dp4a",
        "lop3",
        "addc",
        "sub.cc",
        "shfl.sync.up",
        "vote.sync.any",
        "bar.red.popc",
        "cvta.shared",
        "isspacep.local",
    ] {
        for ty in [
            "pred", "b8", "b16", "b32", "b64", "b128", "u8", "s8", "s64", "f16", "f16x2", "bf16x2",
            "f32", "f32x2", "f64", "tf32", "e4m3x2", "s16x2", "texref",
        ] {
            for second in ["", ".b128"] {
                for operands in [
                    "%rd1, %rd2, %rd3, %rd4, %rd5",
                    "%r1, %r2",
                    "%r1, %r2, %r3",
                    "%p1, %p2, %p3, %p4",
                    "%r1, [%rd1]",
                    "{%r1, %r2}, [%rd1], %r3",
                    "%rd1, %r2, 99, -1",
                    "%p1|%p2, %r1, %r2",
                ] {
                    bench(&format!("mov.b64 %rd1, 0; {opcode}.{ty}{second} {operands};"));
                }
            }
        }
    }
}

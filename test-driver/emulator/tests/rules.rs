//! What `ptxas` takes is taken, and what it refuses is refused: instructions over all types, spaces, modifiers and
//! operands that they might have, and declarations. One of four programs is tried; `RULES_EVERY=1` tries all.

use ptx_emulator::Module;
use std::{
    io::Write,
    path::Path,
    process::Command,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};
use test_support::{temporary_folder, tool};

const HEADER: &str = ".version 8.7\n.target sm_90\n.address_size 64\n";
const REGISTERS: &str =
    ".reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>;
.reg .f64 %fd<9>; .reg .u32 %u<9>; .reg .s64 %sd<9>;";
const VARIABLES: &str = ".global .align 16 .b8 g[64]; .const .align 16 .b8 c[64]; .shared .align 16 .b8 s[64];
.func (.param .b32 r) f(.param .b32 a) { .reg .b32 x; ld.param.b32 x, [a]; st.param.b32 [r], x; ret; }";
/// Types, and the register that holds one.
const TYPES: [(&str, &str); 18] = [
    ("u8", "%h"),
    ("s8", "%h"),
    ("u16", "%h"),
    ("s16", "%h"),
    ("b16", "%h"),
    ("u32", "%r"),
    ("s32", "%r"),
    ("b32", "%r"),
    ("u64", "%rd"),
    ("s64", "%rd"),
    ("b64", "%rd"),
    ("f16", "%h"),
    ("f16x2", "%r"),
    ("bf16", "%h"),
    ("bf16x2", "%r"),
    ("f32", "%f"),
    ("f64", "%fd"),
    ("pred", "%p"),
];

fn kernel(body: &str) -> String {
    format!(
        "{HEADER}{VARIABLES}\n.visible .entry k(.param .u64 out, .param .b32 n)\n{{\n.local .align 8 .b8 l[16];\n\
         {REGISTERS}\n{body}\nret;\n}}\n"
    )
}

/// Programs in which `{}` stands for each of some texts.
fn fill(templates: &[&str], values: &[&str]) -> Vec<String> {
    let one = |template: &str| {
        values.iter().map(|value| kernel(&template.replace("{}", value))).collect()
    };
    templates.iter().flat_map(|template| -> Vec<String> { one(template) }).collect()
}

/// Whether the emulator reads a program; `None` where an instruction is not known to it.
fn emulator(text: &str) -> Option<bool> {
    match Module::parse(text) {
        Ok(module) if !module.unsupported().is_empty() => None,
        found => Some(found.is_ok()),
    }
}

fn ptxas(program: &Path, folder: &Path, number: usize, text: &str) -> bool {
    let (source, object) =
        (folder.join(format!("{number}.ptx")), folder.join(format!("{number}.o")));
    std::fs::File::create(&source).unwrap().write_all(text.as_bytes()).unwrap();
    let mut command = Command::new(program);
    command.args(["-arch", "sm_90", "-O0", "-o"]).arg(object).arg(source);
    command.output().unwrap().status.success()
}

/// Compares all programs, and says which differ. An instruction that the emulator lacks may be either.
fn compare(programs: &[String]) {
    let Some(program) = tool::nvidia("ptxas") else { return };
    let folder = temporary_folder();
    let every = std::env::var("RULES_EVERY").map_or(4, |number| number.parse().unwrap());
    let every = if programs.len() < 100 { 1 } else { every };
    let next = AtomicUsize::new(0);
    let check = || {
        let mut wrong = Vec::new();
        loop {
            let number = next.fetch_add(every, Ordering::Relaxed);
            let Some(text) = programs.get(number) else { return wrong };
            let Some(taken) = emulator(text) else { continue };
            if taken != ptxas(&program, folder.path(), number, text) {
                let what = if taken { "takes" } else { "refuses" };
                let body = text.lines().skip(8).collect::<Vec<_>>().join(" ");
                wrong.push(format!("the emulator {what} {body}"));
            }
        }
    };
    let wrong: Vec<String> = thread::scope(|scope| {
        let threads = [scope.spawn(check), scope.spawn(check)];
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), programs.len(), wrong.join("\n"));
}

#[test]
fn types_of_arithmetic() {
    let two = [
        "add",
        "sub",
        "mul.lo",
        "mul.wide",
        "div",
        "rem",
        "min",
        "and",
        "shl",
        "shr",
        "add.sat",
        "add.ftz",
        "add.cc",
        "mul.rn",
        "div.rn",
        "div.approx",
        "add.rz",
        "min.NaN",
        "max.relu",
    ];
    let one = [
        "abs",
        "neg",
        "popc",
        "bfind",
        "rcp.rn",
        "rcp.approx",
        "sqrt.approx",
        "sin.approx",
        "ex2.approx",
        "tanh.approx",
        "rsqrt.approx",
        "mov",
        "rcp",
    ];
    let three = ["mad.lo", "fma.rn", "fma", "sad", "mad.hi.sat", "fma.rn.relu", "fma.rn.sat"];
    let mut programs = Vec::new();
    for (ty, register) in TYPES {
        for (opcodes, sources) in [(&one[..], 1), (&two[..], 2), (&three[..], 3)] {
            for opcode in opcodes {
                let result = match *opcode {
                    "popc" | "bfind" => "%r1".to_string(),
                    "mul.wide" => match register {
                        "%h" => "%r1",
                        _ => "%rd1",
                    }
                    .to_string(),
                    _ => format!("{register}1"),
                };
                let shift = matches!(*opcode, "shl" | "shr");
                let mut operands = vec![result, format!("{register}2")];
                operands.extend(
                    (1..sources).map(|_| if shift { "%r3".into() } else { format!("{register}3") }),
                );
                programs.push(kernel(&format!("{opcode}.{ty} {};", operands.join(", "))));
            }
        }
    }
    compare(&programs);
}

#[test]
fn roundings_of_conversions() {
    let mut programs = Vec::new();
    for (to, target) in TYPES {
        for (from, source) in TYPES {
            if to.ends_with("x2") || from.ends_with("x2") || to.starts_with('b') && to != "bf16" {
                continue;
            }
            for rounding in ["", ".rn", ".rzi", ".rn.sat", ".sat", ".ftz"] {
                programs.push(kernel(&format!("cvt{rounding}.{to}.{from} {target}1, {source}2;")));
            }
        }
    }
    compare(&programs);
}

#[test]
fn types_of_atomic_operations_and_of_memory() {
    let mut programs = Vec::new();
    for (ty, register) in TYPES {
        for operation in ["add", "add.noftz", "inc", "min", "and", "exch", "cas"] {
            let last = if operation == "cas" { format!(", {register}3") } else { String::new() };
            let text =
                format!("atom.global.{operation}.{ty} {register}1, [%rd1], {register}2{last};");
            programs.push(kernel(&text));
            programs.push(kernel(&format!("red.global.{operation}.{ty} [%rd1], {register}2;")));
        }
        for other in ["%h1", "%r1", "%rd1", "%f1", "%fd1", "%p1", "%u1", "_"] {
            programs.push(kernel(&format!("ld.global.{ty} {other}, [%rd2];")));
            programs.push(kernel(&format!("st.global.{ty} [%rd2], {other};")));
        }
        for lanes in [2, 4] {
            let list: Vec<_> = (0..lanes).map(|lane| format!("{register}{lane}")).collect();
            programs
                .push(kernel(&format!("ld.shared.v{lanes}.{ty} {{{}}}, [%r1];", list.join(","))));
        }
    }
    compare(&programs);
}

#[test]
fn spaces_and_orders() {
    let spaces =
        ["", ".global", ".const", ".shared", ".local", ".param", ".shared::cta", ".param::entry"];
    let instructions = [
        "ld{}.u32 %r1, [%rd1];",
        "st{}.u32 [%rd1], %r1;",
        "ldu{}.u32 %r1, [%rd1];",
        "atom{}.add.u32 %r1, [%rd1], %r2;",
        "red{}.add.u32 [%rd1], %r2;",
        "ld.volatile{}.u32 %r1, [%rd1];",
        "st.volatile{}.u32 [%rd1], %r1;",
        "ld.relaxed.gpu{}.u32 %r1, [%rd1];",
        "ld.relaxed{}.u32 %r1, [%rd1];",
        "st.release.sys{}.u32 [%rd1], %r1;",
        "ld.release.gpu{}.u32 %r1, [%rd1];",
        "ld{}.nc.u32 %r1, [%rd1];",
        "st.acquire.gpu{}.u32 [%rd1], %r1;",
        "mbarrier.init{}.b64 [%rd1], 1;",
        "prefetch{}.L1 [%rd1];",
        "ldmatrix.sync.aligned.m8n8.x1{}.b16 {%r1}, [%rd1];",
        "cvta{}.u64 %rd1, %rd2;",
    ];
    let mut programs = fill(&instructions, &spaces);
    let addresses = ["g", "c", "s", "l", "out", "n", "5", "%r1", "%f1", "%p1", "%rd1+4"];
    let accesses = [
        "ld.u32 %r1, [{}];",
        "ld.global.u32 %r1, [{}];",
        "ld.const.u32 %r1, [{}];",
        "ld.shared.u32 %r1, [{}];",
        "ld.local.u32 %r1, [{}];",
        "ld.param.u32 %r1, [{}];",
        "st.u32 [{}], %r1;",
        "st.global.u32 [{}], %r1;",
        "st.const.u32 [{}], %r1;",
        "st.shared.u32 [{}], %r1;",
        "st.local.u32 [{}], %r1;",
        "st.param.u32 [{}], %r1;",
        "atom.shared.add.u32 %r1, [{}], %r2;",
        "red.global.add.u32 [{}], %r2;",
    ];
    programs.extend(fill(&accesses, &addresses));
    compare(&programs);
}

#[test]
fn numbers_of_barriers_and_copies() {
    let numbers = [
        "-1",
        "0",
        "1",
        "15",
        "16",
        "17",
        "32",
        "64",
        "255",
        "1048575",
        "1048576",
        "4294967295",
        "%r2",
    ];
    let instructions = [
        "bar.sync {};",
        "bar.sync 0, {};",
        "bar.arrive 1, {};",
        "barrier.sync {};",
        "bar.red.popc.u32 %r1, {}, %p1;",
        "bar.red.and.pred %p1, 0, {}, %p2;",
        "mbarrier.init.shared.b64 [s], {};",
        "bfe.u32 %r1, %r2, {}, 1;",
        "bfi.b32 %r1, %r2, %r3, {}, 1;",
        "shl.b32 %r1, %r2, {};",
        "pmevent {};",
        "cp.async.ca.shared.global [s], [g], {};",
        "cp.async.cg.shared.global [s], [g], {};",
        "cp.async.ca.shared.global [s], [g], 16, {};",
    ];
    let programs = fill(&instructions, &numbers);
    // Of an event only numbers are read.
    compare(&programs.into_iter().filter(|text| !text.contains("pmevent %r2")).collect::<Vec<_>>());
}

#[test]
fn operands() {
    let instructions = [
        "add.u32 %r1, %r2, {};",
        "add.u32 {}, %r2, %r3;",
        "mov.u32 %r1, {};",
        "mov.b32 {}, %r1;",
        "mul.wide.u16 {}, %h1, %h2;",
        "popc.b64 {}, %rd1;",
        "setp.eq.u32 {}, %r1, %r2;",
        "selp.b32 %r1, %r2, {}, %p1;",
        "fma.rn.f32 %f1, %f2, {}, %f3;",
        "add.f16 %h1, %h2, {};",
        "neg.s32 {}, %r1;",
        "shl.b32 %r1, %r2, {};",
        "shfl.sync.idx.b32 %r1, %r2, {}, 31, -1;",
        "shfl.sync.idx.b32 {}, %r2, 0, 31, -1;",
        "bar.sync {};",
        "vote.sync.any.pred %p1, {}, -1;",
        "st.global.u32 [%rd1], {};",
        "setp.lt.u32 %p1, %r1, {};",
        "match.any.sync.b32 {}, %r1, -1;",
        "isspacep.global {}, %rd1;",
    ];
    let operands = [
        "%h1", "%r1", "%rd1", "%f1", "%fd1", "%p1", "%u1", "%sd1", "5", "1.5", "%tid.x", "%laneid",
        "%clock64", "_", "g", "s", "n",
    ];
    compare(&fill(&instructions, &operands));
}

#[test]
fn modifiers() {
    let all = [
        "setp.lt.b32 %p1, %r1, %r2;",
        "setp.lo.u32 %p1, %r1, %r2;",
        "setp.lo.s32 %p1, %r1, %r2;",
        "setp.equ.f32 %p1, %f1, %f2;",
        "setp.equ.u32 %p1, %r1, %r2;",
        "setp.lt.ftz.f64 %p1, %fd1, %fd2;",
        "add.sat.u32 %r1, %r2, %r3;",
        "add.sat.s32 %r1, %r2, %r3;",
        "shf.l.b32 %r1, %r2, %r3, %r4;",
        "shf.l.wrap.b32 %r1, %r2, %r3, %r4;",
        "rcp.approx.f64 %fd1, %fd2;",
        "rcp.approx.ftz.f64 %fd1, %fd2;",
        "div.f32 %f1, %f2, %f3;",
        "ld.global.cs.cg.u32 %r1, [%rd1];",
        "ld.global.wb.u32 %r1, [%rd1];",
        "st.global.ca.u32 [%rd1], %r1;",
        "ld.volatile.gpu.u32 %r1, [%rd1];",
        "ld.relaxed.ca.gpu.u32 %r1, [%rd1];",
        "ld.gpu.u32 %r1, [%rd1];",
        "ld.global.L2::128B.u32 %r1, [%rd1];",
        "ld.global.L2::512B.u32 %r1, [%rd1];",
        "ld.global.L2::cache_hint.u32 %r1, [%rd1];",
        "ld.global.u32 %r1, [%rd1], %rd2;",
        "membar;",
        "membar.gl;",
        "fence.sc;",
        "fence.acq_rel.gpu;",
        "ret.uni;",
        "exit.uni;",
        "ret %r1;",
        "trap 5;",
        "nanosleep %r1;",
        "nanosleep.u32 %r1;",
        "prefetch.global [%rd1];",
        "prefetchu.L2 [%rd1];",
        "discard.global.L2 [%rd1], 64;",
        "redux.sync.add.b32 %r1, %r2, -1;",
        "redux.sync.and.b32 %r1, %r2, -1;",
        "redux.sync.and.u32 %r1, %r2, -1;",
        "vote.sync.ballot.pred %p1, %p2, -1;",
        "vote.sync.any.b32 %r1, %p2, -1;",
        "activemask.u32 %r1;",
        "match.any.sync.b32 %r1|%p1, %r2, -1;",
        "elect.sync %r1, -1;",
        "elect.sync %r1|%p1, -1;",
        "bar.arrive 0;",
        "bar.red.popc.pred %p1, 0, %p1;",
        "setmaxnreg.inc.sync.aligned.u32 24;",
        "cvta.global.b64 %rd1, %rd2;",
        "cvta.global.u64 %rd1, s;",
        "cvta.global.u64 %rd1, g;",
        "cvta.to.global.u64 %rd1, g;",
        "mov.u32 %r1,1;;",
        "mov.u32 %r1,1,;",
        "L: ; bra L;",
        "out: bra out;",
        "mov.u64 %rd1,{%r1,%r2};",
        "mov.b64 %rd1,{%r1,%r2};",
        "mov.u32 %r1,%tid;",
        "mov.u32 %r1,%envreg31;",
        "mov.u32 %r1,%envreg32;",
        "mov.pred %p1,%is_explicit_cluster;",
        "mov.u64 %rd1,%pm0_64;",
        "mov.f32 %f1,1.;",
        "ld.shared.v2.u32 {_,_}, [%r1];",
        "ld.shared.v2.u32 {%r1,_}, [%r1];",
        "st.shared.v2.u32 [%r1], {%r2,_};",
        "cvt.u32.u64 %r1,%r2;",
        "cvt.u64.u32 %r1,%r2;",
        "add.f32x2 %rd1,%rd2,%rd3;",
        "{ .param .b32 q; mov.u64 %rd1,q; }",
    ];
    compare(&all.map(kernel));
}

#[test]
fn declarations_that_are_repeated_and_their_attributes() {
    let all = [
        ".extern .func function(); .func function(){ret;}",
        ".visible .func function(); .func function(){ret;}",
        ".weak .func function(); .visible .func function(){ret;}",
        ".func function(); .visible .func function(){ret;}",
        ".extern .global .u32 variable; .global .u32 variable;",
        ".extern .global .u32 variable; .visible .global .u32 variable;",
        ".visible .global .u32 variable; .visible .global .u32 variable;",
        ".weak .global .u32 variable; .visible .global .u32 variable;",
        ".extern .func function(); .extern .func function();",
        ".common .global .u32 variable; .extern .global .u32 variable;",
        ".visible .func function(){ret;} .visible .func a(); .alias a, function;",
        ".visible .func function(.param .b32 x){ret;} .visible .func a(); .alias a, function;",
        ".func function(){ret;} .visible .func a(); .alias a, function;",
        ".visible .func a(); .alias a, nothing;",
        ".weak .func function(){ret;} .weak .func a(); .alias a, function;",
        ".visible .func function(){ret;} .visible .func a(){ret;} .alias a,function;",
        ".visible .func function(){ret;} .extern .func a(); .alias a,function;",
        ".pragma \"nonsense\"; .entry entry(){ret;}",
        ".entry entry(){.pragma \"nounroll\"; ret;}",
        ".entry entry(){.pragma \"x y z\"; ret;}",
        ".entry entry(){.reg .v8 .b8 v; ret;}",
        ".entry entry(){.reg .v4 .b16 v; ret;}",
        ".entry entry(){.reg .v2 .b64 v; ret;}",
        ".entry entry(){.reg .v4 .b64 v; ret;}",
        ".global .v4 .b64 variable;",
        ".global .v2 .b64 variable;",
        ".global .v4 .u8 variable;",
        ".global .v8 .u8 variable;",
        ".func (.param .b32 r) function(.param .b32 a){ret;} .entry entry(){ .param .f32 q; .param .b32 z; .reg .f32 %function; st.param.f32 [q],%function; call (z), function, (q); ret;}",
        ".func function(.param .b32 a); .func function(.param .f32 a){ret;}",
        ".func function(.param .b32 a); .func function(.param .u32 a){ret;}",
        ".func function(.param .b32 a); .func function(.param .b32 b){ret;}",
        ".func function(.param .b32 a); .func function(.param .b64 a){ret;}",
        ".func (.param .b32 r) function(); .func function(){ret;}",
        ".func function(.param .align 4 .b8 a[4]); .func function(.param .align 8 .b8 a[4]){ret;}",
        ".func function(.param .f32 a); .func function(.param .b32 a){ret;}",
        ".func function(.param .u32 a); .func function(.param .s32 a){ret;}",
        ".section .debug_info { .b8 1 }",
        ".section .nonsense { .b8 1 }",
        ".section .debug_str { .b32 1, 2 }",
        ".section .debug_info { .b32 nothing }",
        ".global .attribute(.managed) .u32 variable;",
        ".global .attribute(.nonsense) .u32 variable;",
        ".shared .attribute(.managed) .u32 variable;",
        ".global .u32 .attribute(.managed) variable;",
        ".const .attribute(.managed) .u32 variable;",
        ".global .attribute(.unified(1,2)) .u32 variable;",
        ".global .attribute(.unified(1)) .u32 variable;",
        ".global .u32 variable[2] = {1, nothing};",
        ".global .u64 variable = nothing;",
        ".entry entry(){ .reg .b64 %rd; mov.u64 %rd, nothing; ret;}",
        ".entry entry(){ bra L; ret;}",
        ".entry entry(){ call nothing; ret;}",
        ".entry entry(.param .v4 .f32 a){ret;}",
        ".entry entry(.param .pred a){ret;}",
        ".entry entry(.param .b8 a[]){ret;}",
        ".global .pred variable;",
        ".global .f16x2 variable;",
        ".global .b128 variable;",
        ".global .bf16 variable;",
        ".global .e4m3 variable;",
        ".global .u32 variable = 1.5;",
        ".global .f32 variable = 1;",
        ".global .u8 variable = 300;",
        ".global .s8 variable = -129;",
        ".entry entry() .maxntid 0 {ret;}",
        ".entry entry() .maxntid 2000 {ret;}",
        ".entry entry() .reqntid 32,32,32 {ret;}",
        ".entry entry() .minnctapersm 0 .maxntid 32 {ret;}",
        ".entry entry() .maxnreg 1 {ret;}",
        ".entry entry() .maxnreg 300 {ret;}",
        ".entry entry() .reqntid 32 .maxntid 64 {ret;}",
        ".entry entry() .maxclusterrank 3 {ret;}",
        ".entry entry() .reqnctapercluster 2 .explicitcluster {ret;}",
        ".entry entry() .noreturn {ret;}",
        ".func function() .noreturn {ret;}",
        ".func function() .maxntid 3 {ret;}",
    ];
    compare(&all.map(|declaration| format!("{HEADER}{declaration}\n")));
}

#[test]
fn places_beyond_their_variables() {
    let accesses = [
        "ld.param.u32 %r1, [n+4];",
        "ld.param.u64 %rd1, [out+8];",
        "ld.param.u32 %r1, [n+-8];",
        "ld.local.u32 %r1, [l+16];",
        "st.local.u32 [l+64], %r1;",
        "ld.u32 %r1, [l+400];",
        "{ .param .b32 q; st.param.b32 [q+4], %r1; call (_), f, (q); }",
        "{ .param .b32 q; .param .b32 a; st.param.b32 [a], 1; call (q), f, (a); ld.param.b32 %r1, [q+4]; }",
        "ld.local.v4.u32 {%r1, %r2, %r3, %r4}, [l+8];",
    ];
    compare(&accesses.map(kernel));
}

#[test]
fn declarations() {
    let all = [
        ".entry j() .maxntid 1,1,1,1 { ret; }",
        ".entry j() .maxntid { ret; }",
        ".entry j() .maxntid 8,8 { ret; }",
        ".entry j() .reqntid 32 .maxntid 32 { ret; }",
        ".entry j() .maxntid 32 .minnctapersm 0 { ret; }",
        ".entry j() .maxntid 32 .minnctapersm 2 { ret; }",
        ".entry j() .maxnreg 0 { ret; }",
        ".func j() .maxntid 32 { ret; }",
        ".func j() .noreturn { ret; }",
        ".entry j() .noreturn { ret; }",
        ".entry j() .foo { ret; }",
        ".pragma foo;",
        ".entry j() .pragma \"nounroll\"; { ret; }",
        ".visible .visible .entry j() { ret; }",
        ".extern .func j() { ret; }",
        ".common .entry j() { ret; }",
        ".extern .global .b32 v = 1;",
        ".common .shared .b32 v;",
        ".common .global .b32 v;",
        ".local .b32 v;",
        ".param .b32 v;",
        ".reg .b32 v;",
        ".global .pred v;",
        ".global .v4 .f64 v;",
        ".global .v4 .f32 v;",
        ".global .b32 v = {1};",
        ".global .b32 v[2] = 1;",
        ".global .b32 v[2] = {1, 2};",
        ".global .f32 v = 1;",
        ".global .f32 v = 1.0;",
        ".global .b32 v = 1.5;",
        ".global .b32 v = 0f3f800000;",
        ".global .u64 v = 0d3ff0000000000000;",
        ".global .s32 v[2] = {1, 2.0};",
        ".global .b32 v[2][2] = {{1,2},{3,4,5}};",
        ".global .b64 v = g;",
        ".global .u64 v = g;",
        ".global .u64 v = generic(g)+8;",
        ".global .u64 v = s;",
        ".global .u8 v[2] = {0xff(g), 0xff00(g)};",
        ".global .b32 .b64 v;",
        ".global .b32 _;",
        ".func (.param .b32 a, .param .b32 b) j() { ret; }",
        ".func (.reg .b32 a, .reg .b32 b) j() { ret; }",
        ".func j(.param .pred a) { ret; }",
        ".func j(.shared .b32 a) { ret; }",
        ".func j(.b32 a) { ret; }",
        ".func j(.param .b32 a,) { ret; }",
        ".entry j(.param .b32 a[]) { ret; }",
        ".entry (.param .b32 r) j() { ret; }",
        ".func j() { ret; };",
        ".func j() { ret; }\n.func j();",
        ".func j();\n.func j() { ret; }",
        ".func j();\n.entry j() { ret; }",
        ".func j(.param .b32 a);\n.func j(.param .b64 a) { ret; }",
        ".func j(.param .b32 a);\n.func j(.param .b32 b) { ret; }",
        ".alias j, f;",
        ".func j() { ret; }\n.alias i, j;",
        ".section { .b8 1 }",
        ".section .debug_info { .b8 1 }",
        ".file 1 \"a.c\"\n.file 1 \"b.c\"",
        ".file 1 \"a.c\"\n.file 2 \"b.c\"",
        ".loc 1 1 1",
        ".entry j() { .extern .shared .b8 v[]; ret; }",
        ".entry j() { .reg .bf16 v; ret; }",
        ".entry j() { .reg .f16x2 v; ret; }",
        ".entry j() { .pragma \"nounroll\" ret; }",
        ".entry j() { .pragma \"nounroll\"; ret; }",
        ".func (.param .b32 r) j(.param .b32 a) { .reg .b32 x; st.param.b32 [a], x; ret; }",
        ".func (.param .b32 r) j(.param .b32 a) { .reg .b32 x; ld.param.b32 x, [r]; ret; }",
        ".func (.param .b32 r) j(.param .b32 a) { .reg .b32 x; ld.param.b32 x, [a]; st.param.b32 [r], x; ret; }",
    ];
    let program = |text: &str| format!("{HEADER}{VARIABLES}\n{text}\n");
    compare(&all.map(program));
}

#[test]
fn debug_sections_clusters_and_prefetches() {
    let mut all = Vec::new();
    let types =
        ["b8", "b16", "b32", "b64", "b128", "u8", "u32", "s64", "f16", "f32", "f64", "pred"];
    let values = [
        "0",
        "1, 2",
        "-1",
        "127",
        "-128",
        "-129",
        "255",
        "256",
        "0xff",
        "0x100",
        "-32768",
        "-32769",
        "65535",
        "65536",
        "4294967296",
        "18446744073709551615",
        "18446744073709551616",
        "1.5",
        "0f3F800000",
    ];
    for (ty, value) in types.iter().flat_map(|ty| values.iter().map(move |value| (ty, value))) {
        let section = format!(".section .debug_info {{\n.b8 1\n.{ty} {value}\n}}");
        all.push(format!("{HEADER}{VARIABLES}\n{section}\n"));
    }
    for version in ["8.0", "8.8", "9.0"] {
        for bounds in [
            ".blocksareclusters",
            ".blocksareclusters .reqntid 32",
            ".blocksareclusters .reqnctapercluster 2",
            ".reqntid 32 .blocksareclusters .reqnctapercluster 2",
            ".reqntid 32 .reqnctapercluster 2,1,1 .blocksareclusters",
            ".maxntid 32 .reqnctapercluster 2 .blocksareclusters",
        ] {
            let kernel = format!(".entry entry() {bounds} {{ ret; }}");
            all.push(format!(".version {version}\n.target sm_90\n.address_size 64\n{kernel}\n"));
        }
    }
    let forms =
        ["prefetch.L1", "prefetch.L2", "prefetch.global.L1", "prefetch.local.L2", "prefetchu.L1"];
    let addresses = ["0", "16", "WARP_SZ", "address", "address+8", "variable", "variable+4"];
    for (form, address) in forms.iter().flat_map(|form| addresses.iter().map(move |it| (form, it)))
    {
        // Which space a variable is in is not looked at, for nothing is prefetched.
        if form.contains("local") && address.starts_with("variable") {
            continue;
        }
        let kernel = format!(
            ".global .b32 variable;\n.entry entry() {{ .reg .b64 address; \
             mov.b64 address, 0; {form} [{address}]; ret; }}"
        );
        all.push(format!("{HEADER}{kernel}\n"));
    }
    compare(&all);
}

/// `lop3` that writes a predicate, products of 24 bits, and numbers without digits before or behind the point.
#[test]
fn lookups_products_of_24_bits_and_points() {
    let mut bodies = fill(
        &["lop3{}.b32 %r1|%p1, %r2, %r3, %r4, 5, %p2;", "lop3{}.b32 %r1, %r2, %r3, %r4, 5;"],
        &["", ".and", ".or", ".xor"],
    );
    bodies.extend(fill(
        &["lop3.or.b32 {}, %r2, %r3, %r4, 5, !%p2;", "lop3.and.b32 {}, %r2, %r3, %r4, 5;"],
        &["_|%p1", "%r1|_", "%r1|%r5", "%r1", "_", "%rd1|%p1"],
    ));
    bodies.extend(fill(&["lop3.or.b32 %r1|%p1, %r2, %r3, %r4, 5, {};"], &["0", "1", "%r1", "%p1"]));
    bodies.extend(fill(
        &["mad24{}.s32 %r1, %r2, %r3, %r4;", "mad24{}.u32 %r1, %r2, %r3, %r4;"],
        &["", ".lo", ".hi", ".wide", ".hi.sat", ".lo.sat"],
    ));
    bodies.extend(fill(&["mul24{}.s32 %r1, %r2, %r3;"], &["", ".lo", ".hi", ".wide", ".hi.sat"]));
    bodies.extend(fill(
        &["mov.f32 %f1, {};", "add.f32 %f1, %f2,-{};"],
        &[".5", ".5e1", "5.", "5.e+2", "5.e2", ".e1", ".5f", "5.f", "5e2", "."],
    ));
    compare(&bodies);
}

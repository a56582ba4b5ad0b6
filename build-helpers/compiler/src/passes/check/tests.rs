//! The checks on small modules, and on a target that lacks what no target of today lacks.

use kernelmill_llvm::{
    inkwell::context::Context,
    ir::{TypeKind, parse_ir},
    machine::Machine,
};

use super::Checks;
use crate::{
    base::loaded::open_llvm,
    job::Config,
    target_info::{AddressSpaces, TargetInfo},
    toolchain::{ToolLimits, Toolchain},
};

const TRIPLE: &str = "nvptx64-nvidia-cuda";

/// A target without pointers to functions and without `f16` and `f64`.
struct Small(Machine);

impl TargetInfo for Small {
    fn machine(&self) -> &Machine {
        &self.0
    }

    fn is_gpu(&self) -> bool {
        true
    }

    fn operations(&self) -> String {
        String::new()
    }

    fn address_spaces(&self) -> Option<AddressSpaces> {
        None
    }

    fn lacks(&self, kind: TypeKind) -> bool {
        matches!(kind, TypeKind::Half | TypeKind::Double)
    }

    fn calls_pointers(&self) -> bool {
        false
    }

    fn processors(&self) -> &'static [&'static str] {
        &["nvvm"]
    }
}

/// A toolchain of which nothing is asked.
fn no_tools() -> Toolchain {
    Toolchain {
        rustc: "rustc".into(),
        rustc_version: String::new(),
        sysroot: "/".into(),
        host: String::new(),
        llvm: None,
        ptxas: None,
        ptxas_version: String::new(),
        libdevice: None,
        ocml: None,
        spirv: None,
        spirv_version: String::new(),
        limits: ToolLimits::of_machine(),
        scratch: "/".into(),
    }
}

/// What the checks say of a module in LLVM's notation; empty where nothing is wrong.
fn checked(text: &str) -> String {
    open_llvm();
    let backend = Small(Machine::new(TRIPLE, "sm_75", "+ptx63", false).unwrap());
    let config = Config::new("compute_75".parse().unwrap());
    let toolchain = no_tools();
    let context = Context::create();
    let module = parse_ir(&context, text, backend.0.data_layout(), TRIPLE).unwrap();
    let mut checks = Checks::before(&context, &module, &toolchain, &config, &backend, Vec::new());
    checks.settle(&context, &module);
    let checked = checks.output(&context, &module, "kernels/small.ll");
    checked.map_or_else(|error| error.to_string(), |_| String::new())
}

#[test]
fn initial_values_of_gigabytes_are_refused_where_they_are_used() {
    let bytes = (1_u64 << 30) + 1;
    let found = checked(&format!(
        "@table = internal addrspace(1) global {{ i8, [{rest} x i8] }} {{ i8 1, [{rest} x i8] zeroinitializer }}
         @zeros = internal addrspace(1) global [{bytes} x i8] zeroinitializer
         define void @k(i64 %i, ptr %p) {{
           %t = getelementptr i8, ptr addrspace(1) @table, i64 %i
           %a = load i8, ptr addrspace(1) %t
           %z = getelementptr i8, ptr addrspace(1) @zeros, i64 %i
           %b = load i8, ptr addrspace(1) %z
           %c = add i8 %a, %b
           store i8 %c, ptr %p
           ret void
         }}",
        rest = bytes - 1
    ));
    assert_eq!(
        found,
        "a kernel cannot be compiled for compute_75:\n  [KM0115] uses `table`, whose initial value has 1073741825 \
         bytes: the most that a variable may have is 1073741824\n     --> `k`\n    help: pass it as a buffer, \
         which the host fills"
    );
}

/// LLVM writes an empty file for a frame of 4 GB on AMD's GPUs.
#[test]
fn local_variables_of_gigabytes_are_refused() {
    let kernel = |bytes: u64| {
        checked(&format!(
            "define void @k(i64 %i, ptr %p) {{
               %a = alloca [{bytes} x i8]
               %e = getelementptr i8, ptr %a, i64 %i
               store volatile i8 1, ptr %e
               ret void
             }}"
        ))
    };
    assert_eq!(kernel(1 << 20), "");
    assert_eq!(
        kernel(4_294_967_290),
        "a kernel cannot be compiled for compute_75:\n  [KM0110] the local variables of a kernel, or of what it \
         calls, take more than 1 GiB of local memory\n     --> `k`\n    help: put large arrays into a slice that \
         the host passes: the local memory of a thread has less than 1 MiB"
    );
}

/// Acceptance: S0.11, S1.12.
#[test]
fn pointers_to_functions_are_refused_where_the_target_has_none() {
    let found = checked(
        "define void @k(ptr %f) { call void %f() ret void }
         define internal void @other() { ret void }
         define void @l() { call void @other() ret void }",
    );
    assert_eq!(
        found,
        "a kernel cannot be compiled for compute_75:\n  [KM0108] calls a function through a pointer, which the \
         target does not support\n     --> `k`\n    help: use generics instead of `dyn Trait` and `fn` pointers, \
         or `match` over an `enum`"
    );
}

/// Check 19 of the seeds: types that the target lacks, named with the operation that has them, in
/// vectors too; and 128-bit integers, which LLVM makes of narrower ones.
/// Acceptance: S0.11, C19.
#[test]
fn check_19_unsupported_type_detection() {
    let found = checked(
        "define void @k(ptr %p) {
           %a = load half, ptr %p
           %b = fadd half %a, %a
           store half %b, ptr %p
           ret void
         }
         define void @l(ptr %p) {
           %a = load <2 x double>, ptr %p
           store <2 x double> %a, ptr %p
           ret void
         }
         define void @wide(ptr %p) {
           %slot = alloca i128
           %a = load i128, ptr %p
           store i128 %a, ptr %slot
           ret void
         }",
    );
    let lines: Vec<_> = found.lines().skip(1).map(str::trim).collect();
    assert_eq!(
        lines,
        [
            "[KM0108] uses numbers of type `f16`, which the target lacks",
            "--> `k`",
            "help: compute with `f32`, and convert when you load and store",
            "[KM0108] uses numbers of type `f64`, which the target lacks",
            "--> `l`",
            "help: compute with `f32`",
        ],
        "{found}"
    );
}

#[test]
fn recursion_that_can_end_is_left_alone_and_a_cycle_that_cannot_is_told_once() {
    let found = checked(
        "define void @k(i32 %n) {
           call void @down(i32 %n)
           call void @ping(i32 %n)
           ret void
         }
         define internal void @down(i32 %n) {
           %end = icmp eq i32 %n, 0
           br i1 %end, label %done, label %more
         more:
           %m = sub i32 %n, 1
           call void @down(i32 %m)
           br label %done
         done:
           ret void
         }
         define internal void @ping(i32 %n) { call void @pong(i32 %n) ret void }
         define internal void @pong(i32 %n) {
           %odd = trunc i32 %n to i1
           br i1 %odd, label %a, label %b
         a:
           call void @ping(i32 %n)
           ret void
         b:
           call void @ping(i32 7)
           ret void
         }
         define internal void @unused() { call void @unused() ret void }",
    );
    assert_eq!(
        found,
        "a kernel cannot be compiled for compute_75:\n  [KM0104] `ping` calls `pong`, which calls `ping` again, \
         on every path, so they never end\n     --> `ping`\n    from `k`\n    help: end the recursion on some \
         path, or loop"
    );
}

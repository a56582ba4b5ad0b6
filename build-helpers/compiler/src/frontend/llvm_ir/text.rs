//! The text of a module in one form, whatever it was compiled for: one address space, one calling convention for
//! kernels and one for functions, and nothing that only one machine's code generator reads.

/// Calling conventions of kernels, and those of functions on GPUs.
const KERNELS: [&str; 2] = ["amdgpu_kernel", "spir_kernel"];
const FUNCTIONS: [&str; 2] = ["spir_func", "ptx_device"];

/// What stands before the name of a scope of synchronisation.
const SCOPE: &str = " syncscope(";

/// The text of a module in the one form. LLVM renames intrinsics for their new types when it reads it.
pub(super) fn settle(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.starts_with("target "));
    let mut settled = String::with_capacity(text.len());
    for line in lines {
        settled.push_str(&if line.starts_with("attributes #") {
            without_machine(line)
        } else {
            settle_line(line)
        });
        settled.push('\n');
    }
    settled
}

/// A group of attributes without those of AMD's code generator, some of which promise that a function does without
/// an operation which kernelmill's own then use, and without what keeps a function as it is written.
fn without_machine(line: &str) -> String {
    let is_kept_as_written = line.split(' ').any(|word| word == "optnone");
    let kept = line.split(' ').filter(|word| {
        let is_as_written = is_kept_as_written && matches!(*word, "optnone" | "noinline");
        !word.starts_with("\"amdgpu-") && !is_as_written
    });
    kept.collect::<Vec<_>>().join(" ")
}

/// What is quoted is data or a name: every second part. LLVM writes a quotation mark in it as `\22`.
fn settle_line(line: &str) -> String {
    let mut settled = String::with_capacity(line.len());
    let mut is_in_scope = false;
    for (index, part) in line.split('"').enumerate() {
        if index % 2 == 0 {
            let code = if is_in_scope { part.strip_prefix(')').unwrap_or(part) } else { part };
            settled.push_str(&settle_code(code));
            is_in_scope = false;
        } else if settled.ends_with(SCOPE) && part != "singlethread" {
            // Each vendor names its scopes; without one an operation is for the whole system.
            settled.truncate(settled.len() - SCOPE.len());
            is_in_scope = true;
        } else {
            settled.push('"');
            settled.push_str(part);
            settled.push('"');
        }
    }
    settled
}

fn settle_code(code: &str) -> String {
    let mut flat = String::with_capacity(code.len());
    let mut rest = code;
    while let Some((before, after)) = rest.split_once(" addrspace(") {
        // In `alloca i32, align 4, addrspace(5)` it stands in a list.
        flat.push_str(before.strip_suffix(',').unwrap_or(before));
        rest = after.split_once(')').map_or("", |(_, rest)| rest);
    }
    flat.push_str(rest);
    let mut flat = flat.replace("addrspacecast ", "bitcast ").replace(" byref(", " byval(");
    for convention in KERNELS {
        flat = flat.replace(&format!("{convention} "), "ptx_kernel ");
    }
    for convention in FUNCTIONS {
        flat = flat.replace(&format!("{convention} "), "");
    }
    without_invariance(&flat)
}

/// Loads that may change: where AMD's run time has arguments, memory stands that the kernel fills.
fn without_invariance(code: &str) -> String {
    const MARK: &str = ", !invariant.load !";
    let mut parts = code.split(MARK);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.trim_start_matches(|it: char| it.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_gets_one_form_and_what_is_quoted_stays() {
        for (line, expected) in [
            ("  %x = alloca i32, align 4, addrspace(5)", "  %x = alloca i32, align 4"),
            (
                "define amdgpu_kernel void @k(ptr addrspace(4) byref(%s) align 8 %0) #0 {",
                "define ptx_kernel void @k(ptr byval(%s) align 8 %0) #0 {",
            ),
            ("  fence syncscope(\"agent\") release", "  fence release"),
            (
                "  fence syncscope(\"singlethread\") release",
                "  fence syncscope(\"singlethread\") release",
            ),
            (
                "@s = addrspace(1) constant [9 x i8] c\"addrspace(3)\"",
                "@s = constant [9 x i8] c\"addrspace(3)\"",
            ),
            (
                "  %r = tail call spir_func i64 @f(i32 0), !dbg !3",
                "  %r = tail call i64 @f(i32 0), !dbg !3",
            ),
            ("  %g = addrspacecast ptr addrspace(1) %x to ptr", "  %g = bitcast ptr %x to ptr"),
            (
                "attributes #0 = { nounwind \"amdgpu-no-workgroup-id-x\" \"nvvm.maxntid\"=\"64\" }",
                "attributes #0 = { nounwind \"nvvm.maxntid\"=\"64\" }",
            ),
            (
                "  %8 = load i16, ptr %7, align 4, !range !9, !invariant.load !10, !noundef !10",
                "  %8 = load i16, ptr %7, align 4, !range !9, !noundef !10",
            ),
            ("attributes #1 = { noinline optnone }", "attributes #1 = { }"),
            ("attributes #1 = { noinline nounwind }", "attributes #1 = { noinline nounwind }"),
            ("target triple = \"amdgcn\"", ""),
        ] {
            assert_eq!(settle(line).trim_end(), expected.trim_end());
        }
    }
}

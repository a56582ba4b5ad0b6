//! Calls of functions in PTX: whether they leave open how much stack a thread needs.
//!
//! [PTX ISA, "Control Flow Instructions: call"](https://docs.nvidia.com/cuda/parallel-thread-execution/#control-flow-instructions-call).

use std::collections::{BTreeMap, BTreeSet};

use super::tokens::ptx_tokens;

/// Whether a module has functions that can come to call themselves, or calls by address: then neither ptxas nor the driver
/// knows how much stack a thread needs, and the driver gives it what the context's limit says.
///
/// ```
/// use kernelmill_artifact::ptx_has_open_stack;
/// let ptx = ".func f()\n{ call.uni f, (); ret; }\n.visible .entry k()\n{ call.uni f, (); ret; }\n";
/// assert!(ptx_has_open_stack(ptx));
/// assert!(!ptx_has_open_stack(&ptx.replacen("call.uni f, ();", "", 1)));
/// ```
#[must_use]
pub fn ptx_has_open_stack(text: &str) -> bool {
    let tokens: Vec<_> = ptx_tokens(text).into_iter().map(|token| token.text).collect();
    let mut calls: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut caller = "";
    for (at, token) in tokens.iter().enumerate() {
        let Some(name) = named(&tokens[at + 1..]) else { continue };
        match *token {
            ".func" | ".entry" => caller = name,
            "call" | "call.uni" if name.starts_with('%') => return true,
            "call" | "call.uni" => {
                calls.entry(caller).or_default().insert(name);
            }
            _ => {}
        }
    }
    has_cycle(&calls)
}

/// The first word, behind a list in parentheses where there is one: that is for the result.
fn named<'t>(tokens: &[&'t str]) -> Option<&'t str> {
    let rest = match tokens.first() {
        Some(&"(") => tokens.split_at(1 + tokens.iter().position(|it| *it == ")")?).1,
        _ => tokens,
    };
    rest.iter().copied().find(|it| *it != ",")
}

/// Whether some function can come to call itself: what calls nobody who is left is taken away until nothing changes.
fn has_cycle(calls: &BTreeMap<&str, BTreeSet<&str>>) -> bool {
    let mut left: BTreeSet<&str> = calls.keys().copied().collect();
    loop {
        let before = left.len();
        let ends = |caller: &&&str| !calls[**caller].iter().any(|callee| left.contains(callee));
        let ended: Vec<&str> = left.iter().filter(ends).copied().collect();
        for caller in ended {
            left.remove(caller);
        }
        if left.len() == before {
            return before > 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ptx_has_open_stack;

    /// As LLVM and nvcc write them.
    #[test]
    fn calls_by_address_and_cycles_leave_the_stack_open() {
        let direct = ".func  (.param .b32 func_retval0) even\n(\n\t.param .b32 even_param_0\n)\n{\n\
            \t{ // callseq 0, 0\n\tcall.uni (retval0), \n\todd, \n\t(\n\tparam0\n\t);\n\t} // callseq 0\n\tret;\n}\n\
            .func  (.param .b32 func_retval0) odd(\n\t.param .b32 odd_param_0\n)\n{\n\tret;\n}\n\
            .visible .entry kernel(\n\t.param .u64 kernel_param_0\n)\n{\n\t@%p1 call (retval0), even, (param0);\n\
            \tcall (retval0), vprintf, (param0, param1);\n\tret;\n}\n";
        assert!(!ptx_has_open_stack(direct));
        let cycle = direct.replace(
            "odd_param_0\n)\n{\n",
            "odd_param_0\n)\n{\n\tcall (retval0), even, (param0);\n",
        );
        assert!(ptx_has_open_stack(&cycle));
        let by_address = direct.replace("call (retval0), even,", "call (retval0), %rd8,");
        assert!(ptx_has_open_stack(&by_address));
        // Prototypes alone are no calls.
        let declared = direct.replace(
            "\tret;",
            "\tprototype_0 : .callprototype (.param .b32 _) _ (.param .b64 _);\n\tret;",
        );
        assert!(!ptx_has_open_stack(&declared));
        assert!(
            !ptx_has_open_stack("") && !ptx_has_open_stack("call (") && !ptx_has_open_stack("call")
        );
    }
}

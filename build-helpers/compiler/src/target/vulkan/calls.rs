//! Calls: LLVM's intrinsics, and the functions of OpenCL C that the operations of SPIR-V's target call.

use kernelmill_llvm::ir::{Opcode, Value};

use super::{
    kernel::{Kernel, Problem},
    memory::Memory,
    operations::{ATOMIC_LOAD, ATOMIC_STORE, align_of},
    scalars::Scalar,
};
use crate::frontend::wgsl::FENCE;

/// Writes a call.
pub(super) fn write<'c>(kernel: &mut Kernel<'_, 'c>, call: Value<'c>) -> Result<(), Problem> {
    let Some(callee) = call.called_function() else {
        return Err(Problem::new("calls a function through a pointer"));
    };
    let name = callee.name();
    if let Some(rest) = name.strip_prefix("llvm.") {
        return intrinsic(kernel, call, rest);
    }
    let built_in = match &*name {
        "_Z12get_local_idj" => Some("thread"),
        "_Z12get_group_idj" => Some("block"),
        "_Z14get_num_groupsj" => Some("blocks"),
        "_Z14get_local_sizej" => Some(""),
        _ => None,
    };
    if let Some(variable) = built_in {
        let axis = ["x", "y", "z"][call.operand(0).as_u64().unwrap_or(0).min(2) as usize];
        let of = if variable.is_empty() { kernel.launch() + "[0u]" } else { variable.to_owned() };
        kernel.define(call, &format!("u64({of}.{axis})"));
        return Ok(());
    }
    match &*name {
        "_Z7barrierj" => {
            if call.operand(0).as_u64() != Some(1) {
                kernel.line("storageBarrier();");
            }
            kernel.line("workgroupBarrier();");
            Ok(())
        }
        "_Z6mul_hill" => {
            let (a, b) = (kernel.operand(call.operand(0))?, kernel.operand(call.operand(1))?);
            kernel.define(call, &format!("signed_high64({a}, {b})"));
            Ok(())
        }
        _ if name.starts_with(ATOMIC_LOAD) => {
            let scalar = Scalar::of(call.ty()).unwrap_or(Scalar::Long);
            let word = kernel.atomic_word(call.operand(0), scalar)?;
            kernel.define(call, &scalar.of_bits(&format!("atomicLoad(&{word})")));
            Ok(())
        }
        _ if name.starts_with(ATOMIC_STORE) => {
            let value = call.operand(3);
            let scalar = Scalar::of(value.ty()).unwrap_or(Scalar::Long);
            let word = kernel.atomic_word(call.operand(0), scalar)?;
            let bits = scalar.to_bits(&kernel.operand(value)?);
            kernel.line(&format!("atomicStore(&{word}, {bits});"));
            Ok(())
        }
        _ if name.starts_with("_Z22atomic_work_item_fence") => {
            kernel.line(&format!("{FENCE}();"));
            Ok(())
        }
        _ => Err(Problem::new(format!("calls `{}`", crate::base::demangle::demangle(&name)))),
    }
}

/// Intrinsics with the same function in WGSL for `f32` and `f64`.
const OF_FLOATS: [(&str, &str); 8] = [
    ("fmuladd", "fma"),
    ("sqrt", "sqrt"),
    ("floor", "floor"),
    ("ceil", "ceil"),
    ("trunc", "trunc"),
    ("rint", "round"),
    ("roundeven", "round"),
    ("nearbyint", "round"),
];

fn intrinsic<'c>(kernel: &mut Kernel<'_, 'c>, call: Value<'c>, name: &str) -> Result<(), Problem> {
    if name.starts_with("memcpy.") || name.starts_with("memset.") {
        return transfer(kernel, call, name);
    }
    let unknown = || Problem::new(format!("uses LLVM's intrinsic `llvm.{name}`"));
    let (kind, _) = name.rsplit_once('.').ok_or_else(unknown)?;
    let first = call.arguments().first().copied().ok_or_else(unknown)?;
    let scalar = Scalar::of(first.ty()).ok_or_else(|| kernel.of_type(first.ty()))?;
    let mut arguments = Vec::new();
    for argument in call.arguments() {
        arguments.push(kernel.operand(argument)?);
    }
    let all = arguments.join(", ");
    let [a, b] = [0, 1].map(|at| arguments.get(at).cloned().unwrap_or_default());
    let bits = scalar.bits();
    let function = OF_FLOATS.iter().find(|(intrinsic, _)| *intrinsic == kind);
    if let Some((_, function)) = function {
        kernel.define(call, &format!("{function}({all})"));
        return Ok(());
    }
    let is_long = scalar == Scalar::Long;
    let expression = match kind {
        "fma" => format!("fma{bits}({all})"),
        "fabs" => format!("abs({a})"),
        "round" => format!("round_away{bits}({a})"),
        "copysign" => format!("sign_of{bits}({a}, {b})"),
        "minnum" | "minimumnum" => format!("min{bits}({a}, {b})"),
        "maxnum" | "maximumnum" => format!("max{bits}({a}, {b})"),
        "umin" => format!("min({a}, {b})"),
        "umax" => format!("max({a}, {b})"),
        "smin" => scalar.unsigned(&format!("min({}, {})", scalar.signed(&a), scalar.signed(&b))),
        "smax" => scalar.unsigned(&format!("max({}, {})", scalar.signed(&a), scalar.signed(&b))),
        "abs" => scalar.unsigned(&format!("abs({})", scalar.signed(&a))),
        "ctlz" if is_long => format!("leading64({a})"),
        "ctlz" => format!("(countLeadingZeros({a}) - {}u)", 32 - bits),
        "cttz" if is_long => format!("trailing64({a})"),
        "cttz" => format!("min(countTrailingZeros({a}), {bits}u)"),
        "ctpop" if is_long => format!("ones64({a})"),
        "ctpop" => format!("countOneBits({a})"),
        "bswap" if is_long => format!("swap64({a})"),
        "bswap" => format!("(swap32({a}) >> {}u)", 32 - bits),
        "uadd.sat" => {
            let sum = kernel.keep(&scalar.cut(&format!("{a} + {b}")));
            format!("select({sum}, {}, {sum} < {a})", scalar.number(scalar.mask()))
        }
        "usub.sat" => format!("select({a} - {b}, {}, {a} < {b})", scalar.number(0)),
        "sadd.sat" | "ssub.sat" => return Err(unknown()),
        "uadd.with.overflow" => {
            let sum = kernel.keep(&scalar.cut(&format!("{a} + {b}")));
            let overflows = format!("({sum} < {a})");
            kernel.define_fields(call, &[(scalar, sum), (Scalar::Bool, overflows)]);
            return Ok(());
        }
        "usub.with.overflow" => {
            let difference = scalar.cut(&format!("{a} - {b}"));
            let overflows = format!("({a} < {b})");
            kernel.define_fields(call, &[(scalar, difference), (Scalar::Bool, overflows)]);
            return Ok(());
        }
        "umul.with.overflow" => {
            let overflows = match bits {
                32 => format!("(high32({a}, {b}) != 0u)"),
                64 => format!("(high64({a}, {b}) != 0lu)"),
                _ => format!("(({a} * {b}) > {}u)", scalar.mask()),
            };
            let product = scalar.cut(&format!("{a} * {b}"));
            kernel.define_fields(call, &[(scalar, product), (Scalar::Bool, overflows)]);
            return Ok(());
        }
        _ => return Err(unknown()),
    };
    kernel.define(call, &expression);
    Ok(())
}

fn transfer<'c>(kernel: &mut Kernel<'_, 'c>, call: Value<'c>, name: &str) -> Result<(), Problem> {
    let Some(bytes) = call.operand(2).as_u64() else {
        return Err(Problem::new("copies or fills memory of a length that is not constant"));
    };
    debug_assert!(call.opcode() == Opcode::Call);
    let to = kernel.place(call.operand(0), align_of(call, 0))?;
    if name.starts_with("memset.") {
        let value = kernel.operand(call.operand(1))?;
        return kernel.fill(&to, &value, bytes);
    }
    let from = kernel.place(call.operand(1), align_of(call, 1))?;
    match from.memory {
        Memory::Nowhere => Ok(()),
        _ => kernel.copy(&to, &from, bytes),
    }
}

//! Names of mathematical functions in a module: LLVM's intrinsics, symbols and functions of
//! `kernelmill_device`, and functions of the C library.

use super::table::{FUNCTIONS, Rule};

/// The prefix of the functions of `kernelmill_device`'s math library.
pub(crate) const MATH_PREFIX: &str = "__kernelmill_math_";

/// The prefixes of operations whose bodies the compiler supplies for each target.
const OPERATION_PREFIX: &str = "__kernelmill_";

/// The function of a symbol, and the type it is for: `f32`, `f64`, or a vector as LLVM writes it.
pub(crate) fn canonical(symbol: &str) -> Option<(&'static Rule, String)> {
    if let Some(rest) = symbol.strip_prefix("llvm.") {
        let (name, ty) = rest.split_once('.')?;
        let ty = ty.strip_suffix(".i32").unwrap_or(ty);
        return Some((spelled(name)?, ty.to_owned()));
    }
    let of_device =
        symbol.strip_prefix(MATH_PREFIX).or_else(|| symbol.strip_prefix(OPERATION_PREFIX));
    if let Some((name, ty)) = of_device.and_then(|rest| rest.rsplit_once('_')) {
        let rule = named(name).or_else(|| spelled(name))?;
        return is_scalar(ty).then(|| (rule, ty.to_owned()));
    }
    match symbol {
        "__powisf2" => return Some((named("powi")?, "f32".to_owned())),
        "__powidf2" => return Some((named("powi")?, "f64".to_owned())),
        _ => {}
    }
    let path = path(symbol);
    if let Some(rest) = path.strip_prefix("kernelmill_device::math::") {
        let (ty, name) = rest.split_once("::")?;
        return is_scalar(ty).then_some(()).and_then(|()| Some((named(name)?, ty.to_owned())));
    }
    in_c(symbol)
}

fn is_scalar(ty: &str) -> bool {
    matches!(ty, "f32" | "f64")
}

/// A function of the C library.
fn in_c(symbol: &str) -> Option<(&'static Rule, String)> {
    let of = |name: &str| spelled(name).filter(|rule| rule.name != "powi" && rule.name != "rsqrt");
    let double = of(symbol).map(|rule| (rule, "f64".to_owned()));
    double.or_else(|| Some((of(symbol.strip_suffix('f')?)?, "f32".to_owned())))
}

fn named(name: &str) -> Option<&'static Rule> {
    FUNCTIONS.iter().find(|rule| rule.name == name)
}

fn spelled(name: &str) -> Option<&'static Rule> {
    FUNCTIONS.iter().find(|rule| rule.spellings.contains(&name))
}

/// A symbol as a path in Rust, without hash; the symbol itself where it is none.
pub(crate) fn path(symbol: &str) -> String {
    format!("{:#}", rustc_demangle::demangle(symbol))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_a_function_has_its_rule() {
        let device = "_ZN17kernelmill_device4math3f323sin17h0123456789abcdefE";
        for (symbol, name, ty) in [
            ("llvm.sin.f64", "sin", "f64"),
            ("llvm.powi.f32.i32", "powi", "f32"),
            ("llvm.sqrt.v4f32", "sqrt", "v4f32"),
            ("__kernelmill_math_exp_m1_f32", "exp_m1", "f32"),
            ("__kernelmill_fmuladd_f64", "fmuladd", "f64"),
            ("__kernelmill_rint_f64", "round_ties_even", "f64"),
            ("__powidf2", "powi", "f64"),
            ("log", "ln", "f64"),
            ("expm1f", "exp_m1", "f32"),
            (device, "sin", "f32"),
        ] {
            let (rule, found) = canonical(symbol).unwrap_or_else(|| panic!("{symbol}"));
            assert_eq!((rule.name, found.as_str()), (name, ty), "{symbol}");
        }
        for symbol in ["powi", "sine", "llvm.memcpy.p0.p0.i64", "__kernelmill_exit", "f", "rsqrtf"]
        {
            assert!(canonical(symbol).is_none(), "{symbol}");
        }
    }
}

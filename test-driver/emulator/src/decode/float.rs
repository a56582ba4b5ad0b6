//! Floating-point arithmetic.
//!
//! PTX ISA, "Floating-Point Instructions" and "Half Precision Floating-Point Instructions".

use super::modifiers::Modifiers;
use super::operands::Plain;
use super::problem::Problem;
use crate::arithmetic::half::{Binary16, Brain16};
use crate::arithmetic::{Flags, approximate, float, half, packed};
use crate::execute::Handler;
use crate::execute::instructions::register::{
    binary, binary_with, ternary, ternary_with, unary_with,
};
use crate::ptx::Type;

/// The handler of an operation with flags, by type: `f32`, `f64` from one function and the
/// 16-bit types from another.
macro_rules! by_float {
    ($ty:expr, 1, $wide:ident, $narrow:ident) => {
        match $ty {
            Type::F32 => unary_with!(float::$wide::<f32>),
            Type::F64 => unary_with!(float::$wide::<f64>),
            Type::F16 => unary_with!(half::$narrow::<Binary16>),
            Type::Bf16 => unary_with!(half::$narrow::<Brain16>),
            Type::F16x2 => {
                unary_with!(|a, f| packed::halves_1(a, |a| half::$narrow::<Binary16>(a, f)))
            }
            Type::Bf16x2 => {
                unary_with!(|a, f| packed::halves_1(a, |a| half::$narrow::<Brain16>(a, f)))
            }
            _ => return Ok(None),
        }
    };
    ($ty:expr, 2, $wide:ident, $narrow:ident) => {
        match $ty {
            Type::F32 => binary_with!(float::$wide::<f32>),
            Type::F64 => binary_with!(float::$wide::<f64>),
            Type::F16 => binary_with!(half::$narrow::<Binary16>),
            Type::Bf16 => binary_with!(half::$narrow::<Brain16>),
            Type::F16x2 => binary_with!(|a, b, f| {
                packed::halves_2(a, b, |a, b| half::$narrow::<Binary16>(a, b, f))
            }),
            Type::Bf16x2 => binary_with!(|a, b, f| {
                packed::halves_2(a, b, |a, b| half::$narrow::<Brain16>(a, b, f))
            }),
            Type::F32x2 => {
                binary_with!(|a, b, f| packed::words_2(a, b, f, float::$wide::<f32>))
            }
            _ => return Ok(None),
        }
    };
}

type Found = Result<Option<Plain>, Problem>;

/// Floating-point operations with one type; `None` when the opcode or type is not of this kind.
pub(crate) fn plain(opcode: &str, ty: Type, m: &mut Modifiers<'_>) -> Found {
    match opcode {
        "add" | "sub" | "mul" | "min" | "max" | "div" => two(opcode, ty, m),
        "fma" | "mad" => fused(ty, m),
        "abs" | "neg" | "rcp" | "sqrt" | "rsqrt" | "ex2" | "lg2" | "sin" | "cos" | "tanh" => {
            one(opcode, ty, m)
        }
        "copysign" => Ok(match ty {
            Type::F32 => Some(Plain::new(binary!(float::copy_sign::<32>), &[ty; 2])),
            Type::F64 => Some(Plain::new(binary!(float::copy_sign::<64>), &[ty; 2])),
            _ => None,
        }),
        "testp" => test(ty, m),
        _ => Ok(None),
    }
}

/// The operations that kernels spend their time in, without any modifier.
fn fast(opcode: &str, ty: Type) -> Option<Handler> {
    Some(match (opcode, ty) {
        ("add", Type::F32) => binary!(float::add::<f32>),
        ("add", Type::F64) => binary!(float::add::<f64>),
        ("sub", Type::F32) => binary!(float::subtract::<f32>),
        ("sub", Type::F64) => binary!(float::subtract::<f64>),
        ("mul", Type::F32) => binary!(float::multiply::<f32>),
        ("mul", Type::F64) => binary!(float::multiply::<f64>),
        ("div", Type::F32) => binary!(float::divide::<f32>),
        ("div", Type::F64) => binary!(float::divide::<f64>),
        ("fma", Type::F32) => ternary!(float::fused::<f32>),
        ("fma", Type::F64) => ternary!(float::fused::<f64>),
        _ => return None,
    })
}

fn two(opcode: &str, ty: Type, m: &mut Modifiers<'_>) -> Found {
    let mut flags = m.flags();
    m.ignore(&["approx", "full"]);
    if m.take("xorsign") && m.take("abs") {
        flags |= Flags::XOR_SIGN;
    }
    if flags == 0
        && let Some(run) = fast(opcode, ty)
    {
        return Ok(Some(Plain::new(run, &[ty; 2])));
    }
    let run = match opcode {
        "add" => by_float!(ty, 2, add_with, add),
        "sub" => by_float!(ty, 2, subtract_with, subtract),
        "mul" => by_float!(ty, 2, multiply_with, multiply),
        "min" => by_float!(ty, 2, minimum_with, minimum),
        "max" => by_float!(ty, 2, maximum_with, maximum),
        _ => match ty {
            Type::F32 => binary_with!(float::divide_with::<f32>),
            Type::F64 => binary_with!(float::divide_with::<f64>),
            _ => return Ok(None),
        },
    };
    Ok(Some(Plain::with(run, &[ty; 2], flags)))
}

fn fused(ty: Type, m: &mut Modifiers<'_>) -> Found {
    let flags = m.flags();
    if flags == 0
        && let Some(run) = fast("fma", ty)
    {
        return Ok(Some(Plain::new(run, &[ty; 3])));
    }
    let run = match ty {
        Type::F32 => ternary_with!(float::fused_with::<f32>),
        Type::F64 => ternary_with!(float::fused_with::<f64>),
        Type::F16 => ternary_with!(half::fused::<Binary16>),
        Type::Bf16 => ternary_with!(half::fused::<Brain16>),
        Type::F16x2 => ternary_with!(|a, b, c, f| {
            packed::halves_3(a, b, c, |a, b, c| half::fused::<Binary16>(a, b, c, f))
        }),
        Type::Bf16x2 => ternary_with!(|a, b, c, f| {
            packed::halves_3(a, b, c, |a, b, c| half::fused::<Brain16>(a, b, c, f))
        }),
        Type::F32x2 => {
            ternary_with!(|a, b, c, f| packed::words_3(a, b, c, f, float::fused_with::<f32>))
        }
        _ => return Ok(None),
    };
    Ok(Some(Plain::with(run, &[ty; 3], flags)))
}

fn one(opcode: &str, ty: Type, m: &mut Modifiers<'_>) -> Found {
    let flags = m.flags();
    let approximate = m.take("approx");
    let run = match (opcode, ty) {
        ("abs", _) => by_float!(ty, 1, absolute, absolute),
        ("neg", _) => by_float!(ty, 1, negate, negate),
        ("rcp", Type::F64) if approximate => unary_with!(approximate::reciprocal_64),
        ("rcp", Type::F32) => unary_with!(float::reciprocal_with::<f32>),
        ("rcp", Type::F64) => unary_with!(float::reciprocal_with::<f64>),
        ("sqrt", Type::F32) => unary_with!(float::root_with::<f32>),
        ("sqrt", Type::F64) => unary_with!(float::root_with::<f64>),
        ("rsqrt", Type::F32) => unary_with!(approximate::inverse_root),
        ("rsqrt", Type::F64) => unary_with!(approximate::inverse_root_64),
        ("ex2", Type::F32) => unary_with!(approximate::exponential),
        ("lg2", Type::F32) => unary_with!(approximate::logarithm),
        ("sin", Type::F32) => unary_with!(approximate::sine),
        ("cos", Type::F32) => unary_with!(approximate::cosine),
        ("tanh", Type::F32) => unary_with!(approximate::tangent),
        ("ex2" | "tanh", _) => return narrow(opcode, ty, flags),
        _ => return Ok(None),
    };
    Ok(Some(Plain::with(run, &[ty], flags)))
}

fn narrow(opcode: &str, ty: Type, flags: u32) -> Found {
    macro_rules! by_half {
        ($function:ident) => {
            match ty {
                Type::F16 => unary_with!(half::$function::<Binary16>),
                Type::Bf16 => unary_with!(half::$function::<Brain16>),
                Type::F16x2 => {
                    unary_with!(|a, f| packed::halves_1(a, |a| half::$function::<Binary16>(a, f)))
                }
                Type::Bf16x2 => {
                    unary_with!(|a, f| packed::halves_1(a, |a| half::$function::<Brain16>(a, f)))
                }
                _ => return Ok(None),
            }
        };
    }
    let run = if opcode == "ex2" { by_half!(exponential) } else { by_half!(tangent) };
    Ok(Some(Plain::with(run, &[ty], flags)))
}

fn test(ty: Type, m: &mut Modifiers<'_>) -> Found {
    use float::Test;
    let named = |word: &str| {
        Some(match word {
            "finite" => Test::Finite,
            "infinite" => Test::Infinite,
            "number" => Test::Number,
            "notanumber" => Test::NotANumber,
            "normal" => Test::Normal,
            "subnormal" => Test::Subnormal,
            _ => return None,
        })
    };
    let test = m.pick(named).ok_or(Problem::Unsupported)?;
    let run = match ty {
        Type::F32 => unary_with!(|a, f: Flags| float::test::<32>(a, f.0)),
        Type::F64 => unary_with!(|a, f: Flags| float::test::<64>(a, f.0)),
        _ => return Ok(None),
    };
    Ok(Some(Plain::with(run, &[ty], test as u32)))
}

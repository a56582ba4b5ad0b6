//! Integers that can be read without compiling: literals, constants and arithmetic on them.

use super::{
    scope::{Found, ModuleId, Scope},
    syntax::segments,
};
use syn::{BinOp, Expr, Lit, Stmt, UnOp};

/// More constants than this between an integer and its value are taken for a cycle.
const LONGEST_CHAIN: usize = 32;

/// The value of an array length; `None` where it takes the compiler to know.
pub(super) fn value(scope: &Scope<'_>, module: ModuleId, length: &Expr) -> Option<u64> {
    integer(scope, module, length)?.try_into().ok()
}

/// The value of an integer; `None` where it takes the compiler to know.
pub(super) fn integer(scope: &Scope<'_>, module: ModuleId, written: &Expr) -> Option<i128> {
    evaluate(scope, module, written, LONGEST_CHAIN)
}

fn evaluate(scope: &Scope<'_>, module: ModuleId, written: &Expr, chain: usize) -> Option<i128> {
    let chain = chain.checked_sub(1)?;
    match written {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(number) => number.base10_parse().ok(),
            Lit::Byte(byte) => Some(byte.value().into()),
            _ => None,
        },
        Expr::Paren(inner) => evaluate(scope, module, &inner.expr, chain),
        Expr::Group(inner) => evaluate(scope, module, &inner.expr, chain),
        Expr::Block(block) => match &block.block.stmts[..] {
            [Stmt::Expr(inner, None)] => evaluate(scope, module, inner, chain),
            _ => None,
        },
        Expr::Cast(cast) => evaluate(scope, module, &cast.expr, chain),
        Expr::Unary(negated) if matches!(negated.op, UnOp::Neg(_)) => {
            evaluate(scope, module, &negated.expr, chain)?.checked_neg()
        }
        Expr::Path(path) => match scope.find_constant(module, &segments(&path.path)) {
            Found::Here(module, constant) => evaluate(scope, module, &constant.expr, chain),
            Found::Elsewhere(_) | Found::Nothing => None,
        },
        Expr::Binary(binary) => {
            let left = evaluate(scope, module, &binary.left, chain)?;
            let right = evaluate(scope, module, &binary.right, chain)?;
            match binary.op {
                BinOp::Add(_) => left.checked_add(right),
                BinOp::Sub(_) => left.checked_sub(right),
                BinOp::Mul(_) => left.checked_mul(right),
                BinOp::Div(_) => left.checked_div(right),
                BinOp::Rem(_) => left.checked_rem(right),
                BinOp::Shl(_) => left.checked_mul(1_i128.checked_shl(right.try_into().ok()?)?),
                BinOp::Shr(_) => left.checked_shr(right.try_into().ok()?),
                _ => None,
            }
        }
        _ => None,
    }
}

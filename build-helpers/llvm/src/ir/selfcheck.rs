//! Self-check of an opened library: reads a module that has one of each enumerator, and compares
//! every number with [`codes`].
//!
//! LLVM does not guarantee that the numbers of its C interface are stable: LLVM 23 split the opcode of
//! branches and renumbered the kinds of values. A library with other numbers is refused when it is
//! opened, before anything is misread.

use std::fmt::Debug;

use inkwell::{context::Context, module::Module};
use llvm_sys::{
    core::LLVMGetFastMathFlags,
    debuginfo::{LLVMGetSubprogram, LLVMInstructionGetDebugLoc},
};

use super::{
    AtomicOperation, AtomicOrdering, FloatPredicate, IntPredicate, Linkage, ModuleExt, Opcode,
    TypeKind, UnnamedAddress, Value, Visibility, codes, parse_ir,
};

/// One of everything, in text that the oldest LLVM reads.
const EVERYTHING: &str = include_str!("selfcheck.ll");

/// The instructions of `@instructions`, in order.
#[rustfmt::skip]
const OPCODES: [Opcode; 58] = {
    use Opcode::*;
    [
        Alloca, Store, Load, GetElementPtr, Fence, AtomicCmpXchg, Add, Sub, Mul, UDiv, SDiv, URem,
        SRem, Shl, LShr, AShr, And, Or, Xor, FNeg, FAdd, FSub, FMul, FDiv, FRem, Trunc, ZExt, SExt,
        FPToUI, FPToSI, UIToFP, SIToFP, FPTrunc, FPExt, PtrToInt, IntToPtr, BitCast, AddrSpaceCast,
        ICmp, FCmp, Select, Freeze, ExtractElement, InsertElement, ShuffleVector, ExtractValue,
        InsertValue, Call, Call, CondBr, Switch, Br, Phi, Invoke, Ret, LandingPad, Resume,
        Unreachable,
    ]
};

/// The parameters of `@types`, in order.
#[rustfmt::skip]
const TYPES: [TypeKind; 11] = {
    use TypeKind::*;
    [
        Half, Float, Double, Fp128, Integer, Struct, Array, Pointer, Vector, ScalableVector, BFloat,
    ]
};

/// The globals, in order.
const LINKAGES: [Linkage; 8] = {
    use Linkage::*;
    [External, Internal, Private, LinkOnceOdr, WeakAny, Common, External, External]
};

/// The comparisons of `@comparisons`: first those of integers.
const INT_PREDICATES: [IntPredicate; 10] = {
    use IntPredicate::*;
    [Eq, Ne, Ugt, Uge, Ult, Ule, Sgt, Sge, Slt, Sle]
};

/// Then those of floating-point numbers.
const FLOAT_PREDICATES: [FloatPredicate; 16] = {
    use FloatPredicate::*;
    [False, Oeq, Ogt, Oge, Olt, Ole, One, Ord, Uno, Ueq, Ugt, Uge, Ult, Ule, Une, True]
};

/// The operations of `@atomics`, in order.
#[rustfmt::skip]
const OPERATIONS: [AtomicOperation; 17] = {
    use AtomicOperation::*;
    [
        Xchg, Add, Sub, And, Nand, Or, Xor, Max, Min, UMax, UMin, FAdd, FSub, FMax, FMin, UIncWrap,
        UDecWrap,
    ]
};

/// The loads of `@orderings`, in order.
const ORDERINGS: [AtomicOrdering; 5] = {
    use AtomicOrdering::*;
    [NotAtomic, Unordered, Monotonic, Acquire, SequentiallyConsistent]
};

/// Checks the library that has just been opened; the error names the first difference.
pub(crate) fn run() -> Result<(), String> {
    let context = Context::create();
    let module = parse_ir(&context, EVERYTHING, "", "").map_err(|error| error.to_string())?;
    let instructions = |name: &str| function(&module, name).instructions();

    let code = instructions("instructions");
    same("opcodes", code.iter().map(|it| it.opcode()), &OPCODES)?;
    let parameters = function(&module, "types").value_type().parameters();
    same("kinds of types", parameters.iter().map(|it| it.kind()), &TYPES)?;
    same("linkage", module.globals().into_iter().map(Value::linkage), &LINKAGES)?;
    let comparisons = instructions("comparisons");
    let (integers, floats) = comparisons.split_at(INT_PREDICATES.len());
    same("predicates", integers.iter().map(|it| it.int_predicate()), &INT_PREDICATES)?;
    let floats = &floats[..FLOAT_PREDICATES.len()];
    same("predicates", floats.iter().map(|it| it.float_predicate()), &FLOAT_PREDICATES)?;
    let atomics = instructions("atomics").into_iter().filter_map(Value::atomic_operation);
    same("atomic operations", atomics, &OPERATIONS)?;
    let loads = instructions("orderings");
    let orderings = loads[..ORDERINGS.len()].iter().map(|it| it.ordering());
    same("atomic orderings", orderings, &ORDERINGS)?;
    others(&module, &code)
}

fn function<'c>(module: &Module<'c>, name: &str) -> Value<'c> {
    ModuleExt::function(module, name).expect("selfcheck.ll has the function")
}

/// Compares the enumerations with too few cases for a list.
fn others<'c>(module: &Module<'c>, code: &[Value<'c>]) -> Result<(), String> {
    let global = |name: &str| ModuleExt::global(module, name).expect("selfcheck.ll has it").raw;
    // SAFETY: the values are globals and a function.
    let (visibility, addresses, metadata) = unsafe {
        (
            [global("hidden"), global("protected")]
                .map(|it| Visibility::from_code(codes::LLVMGetVisibility(it))),
            [global("hidden"), global("protected")]
                .map(|it| UnnamedAddress::from_code(codes::LLVMGetUnnamedAddress(it))),
            [
                codes::LLVMGetMetadataKind(LLVMGetSubprogram(function(module, "instructions").raw)),
                codes::LLVMGetMetadataKind(LLVMInstructionGetDebugLoc(code[0].raw)),
            ],
        )
    };
    same("visibility", visibility, &[Visibility::Hidden, Visibility::Protected])?;
    same("unnamed addresses", addresses, &[UnnamedAddress::Local, UnnamedAddress::Global])?;
    same("kinds of metadata", metadata, &[codes::SUBPROGRAM, codes::LOCATION])?;
    let conventions = ["ptx", "amdgpu"].map(|it| function(module, it).calling_convention());
    let wanted = [codes::calling_convention::PTX_KERNEL, codes::calling_convention::AMDGPU_KERNEL];
    same("calling conventions", conventions, &wanted)?;
    let dialects = code.iter().filter(|it| it.inline_assembly().is_some());
    same("dialects", dialects.map(|it| it.is_intel_assembly()), &[true, false])?;
    // SAFETY: the instructions are operations on floating-point numbers.
    let flags = [Opcode::FAdd, Opcode::FSub, Opcode::FMul].map(|opcode| unsafe {
        code.iter().find(|it| it.opcode() == opcode).map(|it| LLVMGetFastMathFlags(it.raw))
    });
    use codes::fast_math::{ALL, CONTRACT, NO_SIGNED_ZEROS};
    same("fast-math flags", flags, &[Some(CONTRACT), Some(NO_SIGNED_ZEROS), Some(ALL)])
}

/// Compares what was found with what was expected, one by one.
fn same<T: PartialEq + Debug>(
    what: &str,
    found: impl IntoIterator<Item = T>,
    expected: &[T],
) -> Result<(), String> {
    let found: Vec<T> = found.into_iter().collect();
    match found.iter().zip(expected).find(|(found, expected)| found != expected) {
        Some((found, expected)) => Err(format!("{what}: {expected:?} is read as {found:?}")),
        None if found.len() != expected.len() => {
            Err(format!("{what}: {} instead of {}", found.len(), expected.len()))
        }
        None => Ok(()),
    }
}

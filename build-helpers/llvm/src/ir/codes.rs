//! Enumerations of LLVM's C interface: opcodes, type kinds, predicates, linkage and the like.
//!
//! llvm-sys returns Rust enumerations from LLVM's functions, which is undefined behaviour where a
//! newer LLVM returns an enumerator that they do not have. So the functions that return or take one
//! are declared here again with plain integers, which are converted to enumerations with a variant
//! `Unknown`. The numbers are those of `llvm-c/Core.h`;
//! [`selfcheck`](super::selfcheck) compares them with an opened library, by a module that has every
//! enumerator.

use std::ffi::{c_char, c_int, c_uint};

use llvm_sys::prelude::{LLVMBuilderRef, LLVMMetadataRef, LLVMTypeRef, LLVMValueRef};

/// Defines an enumeration with the numbers of the C interface, and `Unknown` for all others.
macro_rules! codes {
    ($(#[$meta:meta])* $name:ident { $($variant:ident = $number:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[expect(missing_docs, reason = "the names of LLVM's language reference")]
        pub enum $name {
            $($variant,)*
            /// An enumerator that this crate does not know, by the library's number.
            Unknown(u32),
        }

        impl $name {
            /// The enumerator with this number in LLVM's C interface.
            #[allow(dead_code, reason = "some are only written")]
            pub(crate) fn from_code(code: c_int) -> Self {
                match code {
                    $($number => Self::$variant,)*
                    other => Self::Unknown(other as u32),
                }
            }

            /// Its number in LLVM's C interface.
            #[allow(dead_code, reason = "some are only read")]
            pub(crate) fn code(self) -> c_int {
                match self {
                    $(Self::$variant => $number,)*
                    Self::Unknown(code) => code as c_int,
                }
            }
        }
    };
}

codes! {
    /// The opcode of an instruction. `Br` is an unconditional branch and `CondBr` a conditional one,
    /// as from LLVM 23 on; older libraries have one number for both, which
    /// [`Value::opcode`](super::Value::opcode) tells apart.
    Opcode {
        Ret = 1, Br = 70, CondBr = 71, Switch = 3, IndirectBr = 4, Invoke = 5, Unreachable = 7,
        CallBr = 67, FNeg = 66, Add = 8, FAdd = 9, Sub = 10, FSub = 11, Mul = 12, FMul = 13,
        UDiv = 14, SDiv = 15, FDiv = 16, URem = 17, SRem = 18, FRem = 19, Shl = 20, LShr = 21,
        AShr = 22, And = 23, Or = 24, Xor = 25, Alloca = 26, Load = 27, Store = 28,
        GetElementPtr = 29, Trunc = 30, ZExt = 31, SExt = 32, FPToUI = 33, FPToSI = 34,
        UIToFP = 35, SIToFP = 36, FPTrunc = 37, FPExt = 38, PtrToInt = 39, PtrToAddr = 69,
        IntToPtr = 40, BitCast = 41, AddrSpaceCast = 60, ICmp = 42, FCmp = 43, Phi = 44,
        Call = 45, Select = 46, UserOp1 = 47, UserOp2 = 48, VAArg = 49, ExtractElement = 50,
        InsertElement = 51, ShuffleVector = 52, ExtractValue = 53, InsertValue = 54, Freeze = 68,
        Fence = 55, AtomicCmpXchg = 56, AtomicRmw = 57, Resume = 58, LandingPad = 59,
        CleanupRet = 61, CatchRet = 62, CatchPad = 63, CleanupPad = 64, CatchSwitch = 65,
    }
}

/// The number of every branch before LLVM 23.
pub(crate) const ANY_BRANCH: c_int = 2;

codes! {
    /// The kind of a type.
    TypeKind {
        Void = 0, Half = 1, Float = 2, Double = 3, X86Fp80 = 4, Fp128 = 5, PpcFp128 = 6,
        Label = 7, Integer = 8, Function = 9, Struct = 10, Array = 11, Pointer = 12, Vector = 13,
        Metadata = 14, Token = 16, ScalableVector = 17, BFloat = 18, X86Amx = 19, TargetExt = 20,
        Byte = 21,
    }
}

codes! {
    /// The linkage of a function or global: its visibility to other modules, and how a linker merges
    /// definitions of one name.
    Linkage {
        External = 0, AvailableExternally = 1, LinkOnceAny = 2, LinkOnceOdr = 3,
        LinkOnceOdrAutoHide = 4, WeakAny = 5, WeakOdr = 6, Appending = 7, Internal = 8,
        Private = 9, DllImport = 10, DllExport = 11, ExternalWeak = 12, Ghost = 13, Common = 14,
        LinkerPrivate = 15, LinkerPrivateWeak = 16,
    }
}

codes! {
    /// Whether other shared libraries see a symbol.
    Visibility { Default = 0, Hidden = 1, Protected = 2, }
}

codes! {
    /// Whether the address of a global matters.
    UnnamedAddress { None = 0, Local = 1, Global = 2, }
}

codes! {
    /// A comparison of integers or pointers.
    IntPredicate {
        Eq = 32, Ne = 33, Ugt = 34, Uge = 35, Ult = 36, Ule = 37, Sgt = 38, Sge = 39, Slt = 40,
        Sle = 41,
    }
}

codes! {
    /// A comparison of floating-point numbers: ordered ones are false of a NaN, unordered ones
    /// true.
    FloatPredicate {
        False = 0, Oeq = 1, Ogt = 2, Oge = 3, Olt = 4, Ole = 5, One = 6, Ord = 7, Uno = 8,
        Ueq = 9, Ugt = 10, Uge = 11, Ult = 12, Ule = 13, Une = 14, True = 15,
    }
}

codes! {
    /// The memory ordering of an atomic access.
    AtomicOrdering {
        NotAtomic = 0, Unordered = 1, Monotonic = 2, Acquire = 4, Release = 5,
        AcquireRelease = 6, SequentiallyConsistent = 7,
    }
}

codes! {
    /// The operation of an `atomicrmw`.
    AtomicOperation {
        Xchg = 0, Add = 1, Sub = 2, And = 3, Nand = 4, Or = 5, Xor = 6, Max = 7, Min = 8,
        UMax = 9, UMin = 10, FAdd = 11, FSub = 12, FMax = 13, FMin = 14, UIncWrap = 15,
        UDecWrap = 16, USubCond = 17, USubSat = 18, FMaximum = 19, FMinimum = 20,
        FMaximumNum = 21, FMinimumNum = 22,
    }
}

/// The metadata kind of a source location (`DILocation`).
pub(crate) const LOCATION: c_int = 5;
/// The metadata kind of a function in the source (`DISubprogram`).
pub(crate) const SUBPROGRAM: c_int = 17;
/// The dialect of inline assembly in Intel's syntax.
pub(crate) const INTEL_DIALECT: c_int = 1;

// The same functions as in llvm-sys, with integers in place of its enumerations.
unsafe extern "C" {
    pub(crate) fn LLVMGetInstructionOpcode(instruction: LLVMValueRef) -> c_int;
    pub(crate) fn LLVMGetConstOpcode(constant: LLVMValueRef) -> c_int;
    pub(crate) fn LLVMGetTypeKind(ty: LLVMTypeRef) -> c_int;
    pub(crate) fn LLVMGetLinkage(global: LLVMValueRef) -> c_int;
    pub(crate) fn LLVMSetLinkage(global: LLVMValueRef, linkage: c_int);
    pub(crate) fn LLVMGetVisibility(global: LLVMValueRef) -> c_int;
    pub(crate) fn LLVMGetUnnamedAddress(global: LLVMValueRef) -> c_int;
    pub(crate) fn LLVMSetVisibility(global: LLVMValueRef, visibility: c_int);
    pub(crate) fn LLVMSetUnnamedAddress(global: LLVMValueRef, address: c_int);
    pub(crate) fn LLVMGetICmpPredicate(comparison: LLVMValueRef) -> c_int;
    pub(crate) fn LLVMGetFCmpPredicate(comparison: LLVMValueRef) -> c_int;
    pub(crate) fn LLVMGetOrdering(access: LLVMValueRef) -> c_int;
    pub(crate) fn LLVMSetOrdering(access: LLVMValueRef, ordering: c_int);
    pub(crate) fn LLVMGetCmpXchgSuccessOrdering(instruction: LLVMValueRef) -> c_int;
    pub(crate) fn LLVMSetCmpXchgSuccessOrdering(instruction: LLVMValueRef, ordering: c_int);
    pub(crate) fn LLVMGetCmpXchgFailureOrdering(instruction: LLVMValueRef) -> c_int;
    pub(crate) fn LLVMSetCmpXchgFailureOrdering(instruction: LLVMValueRef, ordering: c_int);
    pub(crate) fn LLVMGetAtomicRMWBinOp(instruction: LLVMValueRef) -> c_int;
    pub(crate) fn LLVMGetMetadataKind(metadata: LLVMMetadataRef) -> c_int;
    pub(crate) fn LLVMGetInlineAsmDialect(assembly: LLVMValueRef) -> c_int;
    pub(crate) fn LLVMBuildBinOp(
        builder: LLVMBuilderRef,
        opcode: c_int,
        left: LLVMValueRef,
        right: LLVMValueRef,
        name: *const c_char,
    ) -> LLVMValueRef;
    pub(crate) fn LLVMBuildCast(
        builder: LLVMBuilderRef,
        opcode: c_int,
        value: LLVMValueRef,
        ty: LLVMTypeRef,
        name: *const c_char,
    ) -> LLVMValueRef;
    pub(crate) fn LLVMBuildICmp(
        builder: LLVMBuilderRef,
        predicate: c_int,
        left: LLVMValueRef,
        right: LLVMValueRef,
        name: *const c_char,
    ) -> LLVMValueRef;
    pub(crate) fn LLVMBuildFCmp(
        builder: LLVMBuilderRef,
        predicate: c_int,
        left: LLVMValueRef,
        right: LLVMValueRef,
        name: *const c_char,
    ) -> LLVMValueRef;
    pub(crate) fn LLVMBuildFence(
        builder: LLVMBuilderRef,
        ordering: c_int,
        single_thread: c_int,
        name: *const c_char,
    ) -> LLVMValueRef;
    pub(crate) fn LLVMBuildAtomicRMW(
        builder: LLVMBuilderRef,
        operation: c_int,
        pointer: LLVMValueRef,
        value: LLVMValueRef,
        ordering: c_int,
        single_thread: c_int,
    ) -> LLVMValueRef;
}

/// The calling conventions of kernels.
pub mod calling_convention {
    /// A kernel for NVIDIA's processors.
    pub const PTX_KERNEL: u32 = 71;
    /// A kernel for AMD's processors.
    pub const AMDGPU_KERNEL: u32 = 91;
    /// A kernel for OpenCL devices.
    pub const SPIR_KERNEL: u32 = 76;
}

/// The bits of fast-math flags in LLVM's C interface.
pub(crate) mod fast_math {
    use super::c_uint;
    /// Signs of zeros do not matter.
    pub(crate) const NO_SIGNED_ZEROS: c_uint = 1 << 3;
    /// Operations may be fused.
    pub(crate) const CONTRACT: c_uint = 1 << 5;
    /// No number is NaN, and none is infinite: a result that is one all the same is poison.
    pub(crate) const FINITE: c_uint = 1 << 1 | 1 << 2;
    /// All of them.
    pub(crate) const ALL: c_uint = 0x7f;
}

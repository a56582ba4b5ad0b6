//! Scopes of atomic operations, and calls of inline assembly.

use inkwell::context::Context;
use llvm_sys::{LLVMInlineAsmDialect, core::*};

use super::{Builder, Opcode, Type, Value, handle::raw};

/// Which threads see an atomic operation as one. Each processor names its scopes (`syncscope("device")`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyncScope(u32);

impl SyncScope {
    /// The scope of this name; the empty name is that of the whole system.
    #[must_use]
    pub fn named(context: &Context, name: &str) -> Self {
        // SAFETY: the context is alive, and the name is given with its length.
        Self(unsafe { LLVMGetSyncScopeID(raw(context), name.as_ptr().cast(), name.len()) })
    }
}

// As in `value`, every call passes handles that are alive.
impl Value<'_> {
    /// The scope of an `atomicrmw` or a `cmpxchg`.
    #[must_use]
    pub fn sync_scope(self) -> SyncScope {
        assert!(matches!(self.opcode(), Opcode::AtomicRmw | Opcode::AtomicCmpXchg));
        // SAFETY: the value is an atomic operation.
        SyncScope(unsafe { LLVMGetAtomicSyncScopeID(self.raw) })
    }

    /// Gives an `atomicrmw` or a `cmpxchg` a scope.
    pub fn set_sync_scope(self, scope: SyncScope) {
        assert!(matches!(self.opcode(), Opcode::AtomicRmw | Opcode::AtomicCmpXchg));
        // SAFETY: the value is an atomic operation.
        unsafe { LLVMSetAtomicSyncScopeID(self.raw, scope.0) }
    }
}

impl<'c> Builder<'c> {
    /// Calls inline assembly that has effects: the text, and the [constraints] of a result and the arguments.
    ///
    /// [constraints]: https://llvm.org/docs/LangRef.html#inline-asm-constraint-string
    pub fn call_assembly(
        &self,
        ty: Type<'c>,
        text: &str,
        constraints: &str,
        arguments: &[Value<'c>],
    ) -> Value<'c> {
        // SAFETY: the type is one of functions, and the texts are given with their lengths.
        let assembly = Value::wrap(unsafe {
            LLVMGetInlineAsm(
                ty.raw,
                text.as_ptr().cast(),
                text.len(),
                constraints.as_ptr().cast(),
                constraints.len(),
                1,
                0,
                LLVMInlineAsmDialect::LLVMInlineAsmDialectATT,
                0,
            )
        });
        self.call_pointer(ty, assembly, arguments)
    }
}

//! Masked accesses to memory: `llvm.masked.load`, `store`, `gather` and `scatter`
//! (<https://llvm.org/docs/LangRef.html#masked-vector-load-and-store-intrinsics>).
//!
//! The alignment is an argument after the address until LLVM 21, and an attribute of the address from
//! LLVM 22 on. This module hides the difference.

use inkwell::module::Module;
use llvm_sys::core::LLVMSetInstrParamAlignment;

use super::{Builder, ModuleExt, Type, Value};

/// A masked access: a read or a write, of consecutive elements or with one address for each lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of LLVM's intrinsics")]
pub enum MaskedKind {
    Load,
    Store,
    Gather,
    Scatter,
}

impl MaskedKind {
    const ALL: [(Self, &'static str); 4] = [
        (Self::Load, "llvm.masked.load"),
        (Self::Store, "llvm.masked.store"),
        (Self::Gather, "llvm.masked.gather"),
        (Self::Scatter, "llvm.masked.scatter"),
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Load => Self::ALL[0].1,
            Self::Store => Self::ALL[1].1,
            Self::Gather => Self::ALL[2].1,
            Self::Scatter => Self::ALL[3].1,
        }
    }

    /// Whether it writes.
    #[must_use]
    pub fn is_write(self) -> bool {
        matches!(self, Self::Store | Self::Scatter)
    }
}

/// A call of an intrinsic for masked access, taken apart.
#[derive(Clone, Copy, Debug)]
pub struct MaskedAccess<'c> {
    /// What it does.
    pub kind: MaskedKind,
    /// The index of the address, or vector of addresses, among the arguments.
    pub address_index: usize,
    /// The address, or a vector of them.
    pub address: Value<'c>,
    /// The lanes that take part.
    pub mask: Value<'c>,
    /// What is written; `None` for reads.
    pub written: Option<Value<'c>>,
    /// What the lanes that take no part get; `None` for writes.
    pub passed: Option<Value<'c>>,
}

impl<'c> Value<'c> {
    /// The masked access that a call is; `None` for anything else.
    #[must_use]
    pub fn masked_access(self) -> Option<MaskedAccess<'c>> {
        let name = self.called_function()?.name();
        let is_named = |(_, prefix): &&(MaskedKind, &str)| {
            name.strip_prefix(prefix).is_some_and(|rest| rest.starts_with('.'))
        };
        let (kind, _) = MaskedKind::ALL.iter().find(is_named)?;
        let arguments = self.arguments();
        let address_index = usize::from(kind.is_write());
        // An alignment stands where the mask is otherwise.
        let has_alignment = arguments[address_index + 1].ty().is_int(32);
        Some(MaskedAccess {
            kind: *kind,
            address_index,
            address: arguments[address_index],
            mask: arguments[address_index + 1 + usize::from(has_alignment)],
            written: kind.is_write().then(|| arguments[0]),
            passed: arguments.last().copied().filter(|_| !kind.is_write()),
        })
    }
}

impl<'c> Builder<'c> {
    /// Reads those lanes of a vector of type `ty` that the mask has, from consecutive elements at
    /// `address` or, if that is a vector, from one address a lane; poison in the others. Addresses are
    /// aligned to `align` bytes, at least 1.
    #[must_use]
    pub fn masked_read(
        &self,
        module: &Module<'c>,
        ty: Type<'c>,
        address: Value<'c>,
        align: u32,
        mask: Value<'c>,
    ) -> Value<'c> {
        let kind = if address.ty().is_pointer() { MaskedKind::Load } else { MaskedKind::Gather };
        let function = module.intrinsic(kind.name(), &[ty, address.ty()]);
        self.masked(function, &[address, mask, ty.poison()], 0, align)
    }

    /// Writes those lanes of a vector that the mask has, to consecutive elements at `address` or, if
    /// that is a vector, to one address a lane. Addresses are aligned to `align` bytes, at least 1.
    pub fn masked_write(
        &self,
        module: &Module<'c>,
        value: Value<'c>,
        address: Value<'c>,
        align: u32,
        mask: Value<'c>,
    ) -> Value<'c> {
        let kind = if address.ty().is_pointer() { MaskedKind::Store } else { MaskedKind::Scatter };
        let function = module.intrinsic(kind.name(), &[value.ty(), address.ty()]);
        self.masked(function, &[value, address, mask], 1, align)
    }

    fn masked(
        &self,
        function: Value<'c>,
        arguments: &[Value<'c>],
        address: usize,
        align: u32,
    ) -> Value<'c> {
        let align = align.max(1);
        let mut arguments = arguments.to_vec();
        let parameters = function.parameters();
        let takes_alignment = parameters.len() > arguments.len();
        if takes_alignment {
            let at = address + 1;
            arguments.insert(at, parameters[at].ty().constant(u64::from(align)));
        }
        let call = self.call(function, &arguments);
        if !takes_alignment {
            // SAFETY: the value is a call; parameters are counted from 1.
            unsafe { LLVMSetInstrParamAlignment(call.raw, address as u32 + 1, align) };
        }
        call
    }
}

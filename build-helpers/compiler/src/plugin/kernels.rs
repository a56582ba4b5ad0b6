//! What plugins are told of kernels and their memory.

use kernelmill_artifact::{Access, ParameterKind, Signature, TensorMapData};

use super::{
    Task,
    ir::{Linkage, ModuleExt, Type, Value},
};
use crate::{
    base::names::SHIM_PREFIX,
    ir::{SHARED_TAG, shared_globals},
    passes::lengths,
};

/// A kernel before it has become what the device starts: until [`Stage::Finalize`](super::Stage).
#[derive(Clone, Debug)]
pub struct Kernel<'c> {
    /// Its symbol in the signatures of the source.
    pub name: String,
    /// The function with the kernel's parameters.
    pub function: Value<'c>,
    /// The memory that it is given.
    pub buffers: Vec<Buffer<'c>>,
}

/// Memory that a kernel is given.
#[derive(Clone, Debug)]
pub struct Buffer<'c> {
    /// The name of the parameter.
    pub name: String,
    /// Its address, a parameter of [`Kernel::function`].
    pub address: Value<'c>,
    /// Its size; `None` where it is not known.
    pub length: Option<Length<'c>>,
    /// The size of an element in bytes.
    pub element: u64,
    /// Whether the kernel may write it.
    pub is_written: bool,
}

/// How much memory there is at an address.
#[derive(Clone, Copy, Debug)]
pub enum Length<'c> {
    /// A number of elements, of 64 bits.
    Elements(Value<'c>),
    /// A number of bytes, of 64 bits.
    Bytes(Value<'c>),
}

/// An array of known size that the threads of a block share.
#[derive(Clone, Copy, Debug)]
pub struct SharedArray<'c> {
    /// The static that stands for it.
    pub global: Value<'c>,
    /// Its size in bytes.
    pub bytes: u64,
}

impl<'c> Task<'_, 'c> {
    /// The kernels that are compiled, until [`Stage::Finalize`](super::Stage).
    #[must_use]
    pub fn kernels(&self) -> Vec<Kernel<'c>> {
        self.site.signatures.iter().filter_map(|signature| self.kernel(signature)).collect()
    }

    fn kernel(&self, signature: &Signature) -> Option<Kernel<'c>> {
        let function = self.module.function(&format!("{SHIM_PREFIX}{}", signature.symbol));
        let function = function.filter(|function| !function.is_declaration())?;
        let (mut buffers, mut own) = (Vec::new(), function.parameters().into_iter());
        for parameter in signature.parameters() {
            let value = own.next()?;
            let mut add = |length, element: u64, access| {
                let (name, is_written) = (parameter.name.to_string(), access == Access::Write);
                buffers.push(Buffer { name, address: value, length, element, is_written });
            };
            let word = Type::int(self.context, 64);
            match &parameter.kind {
                ParameterKind::Value(_) if parameter.name.ends_with(lengths::SUFFIX) => {
                    let of = |buffer: &&mut Buffer<'c>| parameter.name.starts_with(&buffer.name);
                    let is_new = |buffer: &&mut Buffer<'c>| buffer.length.is_none() && of(buffer);
                    if let Some(buffer) = buffers.iter_mut().find(is_new) {
                        buffer.length = Some(Length::Bytes(value));
                    }
                }
                ParameterKind::Value(ty) if value.ty().is_pointer() => {
                    let bytes = Length::Bytes(word.constant(ty.size()));
                    add(Some(bytes), ty.size().max(1), Access::Write);
                }
                ParameterKind::Value(_) | ParameterKind::Shared { .. } => {}
                ParameterKind::Slice { element, access } => {
                    add(Some(Length::Elements(own.next()?)), element.size(), *access);
                }
                ParameterKind::Pointer { element, access } => add(None, element.size(), *access),
                ParameterKind::TensorMap { .. } => {
                    let bytes = Length::Bytes(word.constant(TensorMapData::BYTES));
                    add(Some(bytes), TensorMapData::BYTES, Access::Read);
                }
            }
        }
        Some(Kernel { name: signature.symbol.to_string(), function, buffers })
    }

    /// The arrays of known size that threads share, until [`Stage::FrontEnd`](super::Stage) is over.
    #[must_use]
    pub fn shared_arrays(&self) -> Vec<SharedArray<'c>> {
        let found = shared_globals(self.module).into_iter();
        found.map(|it| SharedArray { global: it.global, bytes: it.bytes }).collect()
    }

    /// A new array that the threads of a block share, not initialised, at a multiple of 16 bytes;
    /// at [`Stage::FrontEnd`](super::Stage).
    #[must_use]
    pub fn new_shared_array(&self, name: &str, bytes: u64) -> Value<'c> {
        let byte = Type::int(self.context, 8);
        let tag: Vec<_> = SHARED_TAG.iter().map(|it| byte.constant(u64::from(*it))).collect();
        let fields = [byte.array(bytes).poison(), byte.constant_array(&tag)];
        let value = Value::constant_structure(self.context, &fields);
        let global = self.module.new_global(name, value.ty(), 0);
        global.set_initializer(value);
        global.set_alignment(16);
        global.set_linkage(Linkage::Internal);
        global
    }
}

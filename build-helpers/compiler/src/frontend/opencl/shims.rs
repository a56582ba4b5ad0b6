//! Shims of kernels: functions that take what crosses from the host, and call what clang wrote.
//!
//! A `__local` parameter is a part of the launch's dynamic shared memory: the shim takes the number of
//! its elements, and the parts follow each other, aligned as [`ParameterKind::shared_align`] says. A
//! vector is an array on the host: the shim takes the address of its components.

use kernelmill_artifact::{Access, Parameter, ParameterKind, Signature};
use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{Block, Builder, Linkage, ModuleExt, Place, Type, TypeKind, Value},
};

use crate::base::names::{PREFIX, SHIM_PREFIX};

/// The address spaces of `__local` and `__constant` on NVIDIA's virtual machine.
const LOCAL: u32 = 3;
const CONSTANT: u32 = 4;

/// Makes the signature's parameters that are `__local` pointers shared memory, and `__constant` ones
/// memory that is only read, which debug information does not say. `kernel` is the function as clang
/// wrote it.
pub(super) fn mark(signature: &mut Signature, kernel: Value<'_>) {
    let types = kernel.value_type().parameters();
    for (parameter, ty) in signature.parameters.to_mut().iter_mut().zip(types) {
        let ParameterKind::Pointer { element, .. } = &parameter.kind else { continue };
        let element = element.clone();
        match ty.address_space() {
            LOCAL => parameter.kind = ParameterKind::Shared { element },
            CONSTANT => parameter.kind = ParameterKind::Pointer { element, access: Access::Read },
            _ => {}
        }
    }
}

/// How a parameter gets from the shim to the kernel.
enum Passing {
    /// As it is.
    Same,
    /// The shim takes a number of elements of this size, the kernel the address of a part of shared
    /// memory.
    Part(u64),
    /// The shim takes the address of a vector with this alignment, the kernel the vector.
    Vector(u64),
}

impl Passing {
    fn of(parameter: &Parameter, ty: Type<'_>) -> Self {
        match &parameter.kind {
            ParameterKind::Shared { element } => Self::Part(element.size()),
            ParameterKind::Value(value) if ty.kind() == TypeKind::Vector => {
                Self::Vector(value.align())
            }
            _ => Self::Same,
        }
    }
}

/// Gives a kernel a shim, where one of its parameters crosses in another form. The module has one address
/// space.
pub(crate) fn add<'c>(context: &'c Context, module: &Module<'c>, signature: &Signature) {
    let name = format!("{SHIM_PREFIX}{}", signature.symbol);
    let Some(kernel) = module.function(&name) else { return };
    let inner = kernel.value_type().parameters();
    let passed = signature.parameters.iter().zip(&inner);
    let passed: Vec<_> = passed.map(|(parameter, ty)| Passing::of(parameter, *ty)).collect();
    if passed.iter().all(|it| matches!(it, Passing::Same)) {
        return;
    }
    let (word, pointer) = (Type::int(context, 64), Type::pointer(context, 0));
    let types = passed.iter().zip(&inner).map(|(passing, ty)| match passing {
        Passing::Same => *ty,
        Passing::Part(_) => word,
        Passing::Vector(_) => pointer,
    });
    let types: Vec<_> = types.collect();
    kernel.set_name(&format!("{}.body", signature.symbol));
    let shim = module.new_function(&name, Type::void(context).function(&types));
    shim.take_source_lines(kernel);
    for index in 0..types.len() as u32 {
        let place = Place::Parameter(index);
        if kernel.has_attribute(place, "noalias") && types[index as usize] == pointer {
            shim.add_attribute(context, place, "noalias", 0);
        }
    }
    kernel.set_linkage(Linkage::Internal);
    kernel.remove_attribute(Place::Function, "noinline");
    kernel.add_attribute(context, Place::Function, "alwaysinline", 0);
    let builder = Builder::new(context);
    builder.at_end(Block::append(context, shim, ""));
    let parts =
        Parts { context, module, align: ParameterKind::shared_align(&signature.parameters) };
    let arguments = parts.arguments(&builder, shim, (&passed, &inner));
    builder.call(kernel, &arguments);
    builder.ret(None);
}

/// What the body of a shim is written with.
struct Parts<'a, 'c> {
    context: &'c Context,
    module: &'a Module<'c>,
    /// Of each part of shared memory.
    align: u64,
}

impl<'c> Parts<'_, 'c> {
    /// The kernel's arguments, from the shim's.
    fn arguments(
        &self,
        builder: &Builder<'c>,
        shim: Value<'c>,
        (passed, types): (&[Passing], &[Type<'c>]),
    ) -> Vec<Value<'c>> {
        let (word, byte) = (Type::int(self.context, 64), Type::int(self.context, 8));
        let mut arguments = shim.parameters();
        let mut memory = None;
        let mut offset = word.constant(0);
        for ((argument, passing), ty) in arguments.iter_mut().zip(passed).zip(types) {
            match passing {
                Passing::Same => {}
                Passing::Vector(align) => {
                    *argument = builder.load(*ty, *argument);
                    argument.set_alignment(*align as u32);
                }
                Passing::Part(size) => {
                    let base = *memory.get_or_insert_with(|| self.memory(builder));
                    let bytes = builder.multiply(*argument, word.constant(*size));
                    let padded = builder.add(bytes, word.constant(self.align - 1));
                    let part = builder.and(padded, word.constant(!(self.align - 1)));
                    *argument = builder.element(byte, base, offset);
                    offset = builder.add(offset, part);
                }
            }
        }
        arguments
    }

    /// The start of the launch's dynamic shared memory.
    fn memory(&self, builder: &Builder<'c>) -> Value<'c> {
        let pointer = Type::pointer(self.context, 0).function(&[]);
        builder.call(self.module.declare(&format!("{PREFIX}dynamic_shared"), pointer), &[])
    }
}

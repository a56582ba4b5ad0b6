//! `__local` parameters: each is a part of the launch's dynamic shared memory. The kernel takes the number
//! of its elements; the parts follow each other, aligned as [`ParameterKind::shared_align`] says.

use kernelmill_artifact::{ParameterKind, Signature};
use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{Builder, Linkage, ModuleExt, Type, Value},
};

use crate::base::names::{PREFIX, SHIM_PREFIX};

/// LLVM's number of the address space of `__local` on NVIDIA's virtual machine.
const LOCAL: u32 = 3;

/// Makes the signature's parameters that are `__local` pointers shared memory. `kernel` is the function
/// as clang wrote it.
pub(super) fn mark(signature: &mut Signature, kernel: Value<'_>) {
    let types = kernel.value_type().parameters();
    for (parameter, ty) in signature.parameters.to_mut().iter_mut().zip(types) {
        if let ParameterKind::Pointer { element, .. } = &parameter.kind
            && ty.is_pointer()
            && ty.address_space() == LOCAL
        {
            parameter.kind = ParameterKind::Shared { element: element.clone() };
        }
    }
}

/// Gives a kernel with shared memory among its parameters a shim that takes numbers of elements. The
/// module has one address space.
pub(super) fn lower<'c>(context: &'c Context, module: &Module<'c>, signature: &Signature) {
    let is_shared = |kind: &ParameterKind| -> bool { matches!(kind, ParameterKind::Shared { .. }) };
    if !signature.parameters.iter().any(|parameter| is_shared(&parameter.kind)) {
        return;
    }
    let name = format!("{SHIM_PREFIX}{}", signature.symbol);
    let Some(kernel) = module.function(&name) else { return };
    kernel.set_name(&format!("{}.body", signature.symbol));
    kernel.set_linkage(Linkage::Internal);
    let (word, byte) = (Type::int(context, 64), Type::int(context, 8));
    let mut types = kernel.value_type().parameters();
    for (ty, parameter) in types.iter_mut().zip(signature.parameters.iter()) {
        if is_shared(&parameter.kind) {
            *ty = word;
        }
    }
    let shim = module.new_function(&name, Type::void(context).function(&types));
    let builder = Builder::new(context);
    builder.at_end(kernelmill_llvm::ir::Block::append(context, shim, ""));
    let pointer = Type::pointer(context, 0).function(&[]);
    let memory = module.declare(&format!("{PREFIX}dynamic_shared"), pointer);
    let memory = builder.call(memory, &[]);
    let align = ParameterKind::shared_align(&signature.parameters);
    let mut offset = word.constant(0);
    let mut arguments = shim.parameters();
    for (argument, parameter) in arguments.iter_mut().zip(signature.parameters.iter()) {
        let ParameterKind::Shared { element } = &parameter.kind else { continue };
        let bytes = builder.multiply(*argument, word.constant(element.size()));
        let padded = builder.add(bytes, word.constant(align - 1));
        let part = builder.and(padded, word.constant(!(align - 1)));
        *argument = builder.element(byte, memory, offset);
        offset = builder.add(offset, part);
    }
    builder.call(kernel, &arguments);
    builder.ret(None);
}

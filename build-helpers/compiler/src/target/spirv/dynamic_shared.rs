//! Dynamic shared memory: a `__local` argument of the kernel, whose size the launch sets, and the number of its bytes.
//!
//! [`entry::gpu`](crate::passes::entry::gpu) adds both behind the other parameters of a kernel that uses it; the calls
//! that ask for them become these once they are part of the kernel. Launches set them in `src/backend/opencl/launch.rs`.

use kernelmill_llvm::{
    inkwell::context::Context,
    ir::{Builder, Value},
};

use crate::base::names::{DYNAMIC_SHARED, DYNAMIC_SHARED_PARAMETERS};

/// Gives a kernel the address and the size of its dynamic shared memory.
pub(super) fn pass<'c>(context: &'c Context, kernel: Value<'c>) {
    let first = kernel.text_attribute(DYNAMIC_SHARED_PARAMETERS);
    let Some(first) = first.and_then(|it| it.parse::<usize>().ok()) else { return };
    let parameters = kernel.parameters();
    let builder = Builder::new(context);
    for (name, parameter) in DYNAMIC_SHARED.iter().zip(&parameters[first..]) {
        let asks = |it: &Value<'_>| it.called_function().is_some_and(|it| it.name() == *name);
        for call in kernel.instructions().into_iter().filter(asks) {
            builder.before(call);
            call.replace_with(match call.ty().is_pointer() {
                true => builder.address_space_cast(*parameter, call.ty()),
                false => *parameter,
            });
            call.erase();
        }
    }
}

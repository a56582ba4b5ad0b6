//! Entries of GPUs: for each kernel a function with the target's calling convention that calls the
//! kernel's shim inline.

use kernelmill_artifact::{LaunchLimits, Signature, TensorMapData};
use kernelmill_llvm::{
    inkwell::context::Context,
    ir::{Block, Builder, Linkage, ModuleExt, Place, Type, UnnamedAddress, Value},
    machine::Machine,
};

use super::{
    sharing::Sharing,
    shim::{Argument, address_attributes, arguments, shim},
    unit::{Entry, Unit},
};
use crate::{
    Error,
    base::names::{
        COOPERATIVE, DYNAMIC_SHARED, DYNAMIC_SHARED_PARAMETERS, GRID_WORKSPACE, PANIC_RECORD,
        PANIC_RECORD_PARAMETER, PRINT_MEMORY, PRINTS, PROGRAM_MEMORY_PARAMETER, is_panic,
    },
    ir::{always_inline, reachable, shared_globals, variables},
    passes::{index_width, lengths},
};

/// How a GPU passes arguments.
pub(crate) struct GpuAbi<'a, 'c> {
    /// LLVM's number of the calling convention of kernels.
    pub(crate) convention: u32,
    /// The attribute of a parameter that is passed as bytes.
    pub(crate) by_value: &'static str,
    /// Whether such bytes are a struct, which is what the device takes by value.
    pub(crate) in_struct: bool,
    /// The attribute that keeps the device from copying such bytes, where it might.
    pub(crate) constant: Option<&'static str>,
    /// The address space of such bytes.
    pub(crate) parameter_space: u32,
    /// The address space of pointers that are parameters; 0: any.
    pub(crate) pointer_space: u32,
    /// The address space of dynamic shared memory, where that is an argument of the launch.
    pub(crate) shared_argument: Option<u32>,
    /// The address space of variables, where the address of their memory is an argument of the launch.
    pub(crate) memory_argument: Option<u32>,
    /// Whose layout the device has.
    pub(crate) machine: &'a Machine,
    /// What else a kernel needs, by what is said of its launches.
    pub(crate) decorate: &'a dyn Fn(&'c Context, Value<'c>, &LaunchLimits),
}

impl GpuAbi<'_, '_> {
    /// Whether a scalar is aligned otherwise on the device than on the host, where its alignment is
    /// its size: `i128` on AMD. It is passed as bytes of the host's alignment.
    fn is_misaligned(&self, scalar: Type<'_>) -> bool {
        self.machine.align_of(scalar) != self.machine.size_of(scalar)
    }
}

/// Builds the kernels of a GPU, each named as in the source and calling its shim inline.
pub(crate) fn gpu<'c>(unit: &Unit<'_, 'c>, abi: &GpuAbi<'_, 'c>) -> Result<Vec<Entry>, Error> {
    let shared: Vec<_> = shared_globals_after_move(unit);
    unit.signatures
        .iter()
        .map(|signature| {
            let shim = shim(unit, signature)?;
            let used = reachable(shim);
            let bytes: u64 = shared
                .iter()
                .filter(|(global, ..)| used.contains(global))
                .map(|(_, bytes)| *bytes)
                .sum();
            let can_panic = used.iter().any(|value| value.is_function() && is_panic(&value.name()));
            let cooperative = used.iter().any(|value| value.name() == GRID_WORKSPACE);
            let asks = |it: &Value<'_>| DYNAMIC_SHARED.contains(&&*it.name());
            let shared = abi.shared_argument.filter(|_| used.iter().any(asks));
            let memory = abi
                .memory_argument
                .filter(|space| used.iter().any(|value| variables::is_in_memory(value, *space)));
            let asks_for_record = used.iter().any(|value| value.name() == PANIC_RECORD);
            let record = can_panic || cooperative || asks_for_record;
            let needs = Needs { record, memory, shared };
            let kernel = gpu_kernel(unit, abi, signature, shim, &needs)?;
            if used.iter().any(|value| value.name() == PRINT_MEMORY) {
                kernel.add_text_attribute(unit.context, PRINTS, "");
            }
            if cooperative {
                kernel.add_text_attribute(unit.context, COOPERATIVE, "");
            }
            Ok(Entry {
                symbol: kernel.name(),
                static_shared_bytes: u32::try_from(bytes).unwrap_or(u32::MAX),
                cooperative,
                cpu_symbol: None,
                strategy: None,
            })
        })
        .collect()
}

/// Shared memory, with its size, once it is in its own address space.
fn shared_globals_after_move<'c>(unit: &Unit<'_, 'c>) -> Vec<(Value<'c>, u64)> {
    debug_assert!(shared_globals(unit.module).is_empty(), "shared memory was moved before");
    let globals = unit.module.globals().into_iter();
    globals
        .filter(|global| global.ty().address_space() == 3 && !global.is_declaration())
        .map(|global| (global, global.value_type().array_length()))
        .collect()
}

/// What launches pass to a kernel behind what its signature has.
struct Needs {
    /// The address of a record.
    record: bool,
    /// The address of the memory of its variables, in this address space.
    memory: Option<u32>,
    /// Dynamic shared memory, in this address space, and its bytes.
    shared: Option<u32>,
}

fn gpu_kernel<'c>(
    unit: &Unit<'_, 'c>,
    abi: &GpuAbi<'_, 'c>,
    signature: &Signature,
    shim: Value<'c>,
    needs: &Needs,
) -> Result<Value<'c>, Error> {
    let context = unit.context;
    let arguments = arguments(signature, shim)?;
    let mut types: Vec<_> =
        arguments.iter().map(|argument| parameter_type(context, abi, argument)).collect();
    // Lengths come behind the record, so kernels with lengths have both.
    let lengths = lengths::lengths_of(signature);
    let has_record = needs.record || lengths > 0;
    let record = has_record.then(|| types.len() - lengths);
    if let Some(index) = record {
        types.insert(index, Type::int(context, 64));
    }
    let memory = needs.memory.map(|space| {
        types.push(Type::pointer(context, space));
        types.len() - 1
    });
    let first_of_shared = needs.shared.map(|space| {
        types.extend([Type::pointer(context, space), Type::int(context, 32)]);
        types.len() - 2
    });
    let taken = unit.module.function(&signature.symbol);
    if let Some(taken) = taken {
        taken.set_name(&format!("{}_of_the_source", signature.symbol));
    }
    let kernel = unit.module.new_function(&signature.symbol, Type::void(context).function(&types));
    copy_promises(context, shim, kernel);
    let sharing = unit.sharing(signature).sharing;
    let builder = Builder::new(context);
    builder.at_end(Block::append(context, kernel, "start"));
    let is_narrow = signature.limits.has_narrow_indices();
    let forwarder = Forwarder { context, builder: &builder, abi, kernel, sharing, is_narrow };
    let mut values = Vec::new();
    let parameters = kernel.parameters().into_iter().enumerate();
    let passed_on = parameters.filter(|(index, _)| Some(*index) != record);
    for (argument, (index, value)) in arguments.iter().zip(passed_on) {
        let place = Place::Parameter(index as u32);
        values.push(forwarder.pass(place, *argument, value));
    }
    builder.call(shim, &values);
    builder.ret(None);

    kernel.set_calling_convention(abi.convention);
    kernel.set_unnamed_address(UnnamedAddress::None);
    for name in ["nounwind", "convergent"] {
        kernel.add_attribute(context, Place::Function, name, 0);
    }
    if let Some(index) = record {
        kernel.add_text_attribute(context, PANIC_RECORD_PARAMETER, &index.to_string());
    }
    if let Some(index) = memory {
        kernel.add_text_attribute(context, PROGRAM_MEMORY_PARAMETER, &index.to_string());
    }
    if let Some(index) = first_of_shared {
        kernel.add_text_attribute(context, DYNAMIC_SHARED_PARAMETERS, &index.to_string());
    }
    (abi.decorate)(context, kernel, &signature.limits);
    kernel.take_source_lines(shim);
    always_inline(context, shim);
    shim.set_linkage(Linkage::Internal);
    Ok(kernel)
}

/// What clang says of a kernel's blocks on its shim. The signature says it too.
const LAUNCH_BOUNDS: [&str; 2] = ["nvvm.maxntid", "nvvm.minctasm"];
/// The most blocks of a cluster, which no signature has.
const MOST_BLOCKS: &str = "nvvm.maxclusterrank";

/// Copies what a shim promises to the kernel that calls it: that nothing else in the kernel names
/// what is behind a parameter.
fn copy_promises<'c>(context: &'c Context, shim: Value<'c>, kernel: Value<'c>) {
    for key in LAUNCH_BOUNDS {
        shim.remove_text_attribute(key);
    }
    if let Some(value) = shim.text_attribute(MOST_BLOCKS) {
        kernel.add_text_attribute(context, MOST_BLOCKS, &value);
        shim.remove_text_attribute(MOST_BLOCKS);
    }
    for index in 0..shim.parameters().len() as u32 {
        let place = Place::Parameter(index);
        if shim.has_attribute(place, "noalias") {
            kernel.add_attribute(context, place, "noalias", 0);
        }
    }
}

/// The type of a kernel's parameter.
fn parameter_type<'c>(
    context: &'c Context,
    abi: &GpuAbi<'_, 'c>,
    argument: &Argument<'_, 'c>,
) -> Type<'c> {
    match argument {
        // A `bool` is a byte in memory.
        Argument::Scalar(ty) if ty.is_int(1) => Type::int(context, 8),
        Argument::Scalar(ty) if abi.is_misaligned(*ty) => {
            Type::pointer(context, abi.parameter_space)
        }
        Argument::Scalar(ty) | Argument::Length(ty) | Argument::Size(ty) => *ty,
        Argument::Bytes(..) | Argument::TensorMap => Type::pointer(context, abi.parameter_space),
        Argument::Address(_) => Type::pointer(context, abi.pointer_space),
    }
}

/// A kernel that passes its parameters on to its shim.
struct Forwarder<'a, 'c> {
    context: &'c Context,
    builder: &'a Builder<'c>,
    abi: &'a GpuAbi<'a, 'c>,
    kernel: Value<'c>,
    sharing: Sharing,
    /// Whether indices have 32 bits.
    is_narrow: bool,
}

impl<'c> Forwarder<'_, 'c> {
    /// Adds the attributes of a parameter, and gives its value as the shim takes it.
    fn pass(&self, place: Place, argument: Argument<'_, 'c>, value: Value<'c>) -> Value<'c> {
        let Self { context, builder, abi, kernel, sharing, is_narrow } = *self;
        match argument {
            Argument::Scalar(ty) if ty.is_int(1) => builder.truncate(value, ty),
            Argument::Scalar(ty) if abi.is_misaligned(ty) => {
                let size = abi.machine.size_of(ty);
                builder.load(ty, self.bytes(place, size, size, value))
            }
            Argument::Length(_) | Argument::Size(_) if is_narrow => {
                index_width::narrow(context, builder, value)
            }
            Argument::Scalar(_) | Argument::Length(_) | Argument::Size(_) => value,
            Argument::Bytes(size, align) => self.bytes(place, size, align, value),
            Argument::TensorMap => {
                let value = self.bytes(place, TensorMapData::BYTES, TensorMapData::ALIGN, value);
                if let Some(name) = abi.constant {
                    kernel.add_text_attribute_at(context, place, name, "");
                }
                value
            }
            Argument::Address(kind) => {
                address_attributes(context, kernel, place, kind, sharing);
                match abi.pointer_space {
                    0 => value,
                    _ => builder.address_space_cast(value, Type::pointer(context, 0)),
                }
            }
        }
    }

    /// The address of a parameter that is passed as bytes.
    fn bytes(&self, place: Place, size: u64, align: u64, value: Value<'c>) -> Value<'c> {
        let Self { context, builder, abi, kernel, .. } = *self;
        let bytes = Type::int(context, 8).array(size);
        let ty = if abi.in_struct { Type::structure(context, &[bytes]) } else { bytes };
        kernel.add_type_attribute(context, place, abi.by_value, ty);
        kernel.add_attribute(context, place, "align", align);
        // Shims only read what they are given so; a kernel that changes it has a copy.
        for name in ["noalias", "readonly"] {
            kernel.add_attribute(context, place, name, 0);
        }
        if abi.parameter_space == 0 {
            value
        } else {
            builder.address_space_cast(value, Type::pointer(context, 0))
        }
    }
}

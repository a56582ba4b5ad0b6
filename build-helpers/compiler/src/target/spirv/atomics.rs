//! Atomic operations: relaxed ones, with fences of OpenCL's around those that order other memory.
//!
//! An atomic operation of SPIR-V orders the memory of its own storage class, and a fence of LLVM's becomes one that
//! names no memory at all; C++ and Rust order all memory. So fences are calls of `atomic_work_item_fence` for local and
//! global memory. LLVM, up to version 22 at least, writes plain loads and stores for atomic ones; they become the
//! instructions `OpAtomicLoad` and `OpAtomicStore` by their names.

use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{AtomicOrdering, Builder, ModuleExt, Opcode, Type, Value},
};

use crate::{base::names::PANIC_RECORD_PARAMETER, target::nvidia::surround};

/// The fence, declared with the target's operations.
const FENCE: &str = "_Z22atomic_work_item_fencej12memory_order12memory_scope";

/// Local and global memory; sequentially consistent; on the device.
const OF_FENCE: [u64; 3] = [3, 5, 2];

const LOAD: &str = "_Z18__spirv_AtomicLoadP";
const STORE: &str = "_Z19__spirv_AtomicStoreP";

/// The scope of the device and relaxed semantics, as SPIR-V has them.
const DEVICE: u64 = 1;
const RELAXED: u64 = 0;

/// Whether a name is of a function that this declares.
pub(super) fn is_built_in(name: &str) -> bool {
    name == FENCE || name.starts_with(LOAD) || name.starts_with(STORE)
}

/// The letter of a type in mangled names, where an atomic operation can have it.
fn letter(ty: Type<'_>) -> Option<char> {
    match ty.int_width() {
        Some(32) => Some('i'),
        Some(64) => Some('l'),
        _ => None,
    }
}

/// Makes atomic operations relaxed, and fences and accesses calls of functions. Those of other types than words, and
/// those whose memory is not known to be local or global, stay, and are refused.
pub(super) fn make_relaxed<'c>(context: &'c Context, module: &Module<'c>) {
    let builder = Builder::new(context);
    let is_atomic = |it: &Value<'c>| match it.opcode() {
        Opcode::AtomicRmw | Opcode::AtomicCmpXchg => true,
        Opcode::Load | Opcode::Store => it.ordering() != AtomicOrdering::NotAtomic,
        _ => false,
    };
    for function in module.definitions() {
        for atomic in function.instructions().into_iter().filter(is_atomic) {
            surround(&builder, atomic);
        }
        for access in function.instructions().into_iter().filter(is_atomic) {
            builder.before(access);
            match access.opcode() {
                Opcode::Load => load(context, module, &builder, access),
                Opcode::Store => store(context, module, &builder, access),
                _ => {}
            }
        }
        for fence in function.instructions() {
            if fence.opcode() == Opcode::Fence {
                builder.before(fence);
                let word = Type::int(context, 32);
                let called = module.declare(FENCE, Type::void(context).function(&[word; 3]));
                builder.call(called, &OF_FENCE.map(|number| word.constant(number)));
                fence.erase();
            }
        }
    }
}

/// Whether memory is that of the launch's panic record. Its fields of 64 bits need no atomic operation, which not every
/// device has: who uses one has changed a field of 32 bits before.
fn is_of_record(pointer: Value<'_>) -> bool {
    let mut value = pointer;
    while value.is_instruction() {
        match value.opcode() {
            Opcode::GetElementPtr | Opcode::AddrSpaceCast | Opcode::BitCast => {
                value = value.operand(0);
            }
            Opcode::IntToPtr => {
                let function = value.block().function();
                let index = function.text_attribute(PANIC_RECORD_PARAMETER);
                let index = index.and_then(|it| it.parse::<usize>().ok());
                let record = index.and_then(|index| function.parameters().get(index).copied());
                return record == Some(value.operand(0));
            }
            _ => return false,
        }
    }
    false
}

/// Takes the order from atomic operations on panic records, which the host reads once the launch is over.
pub(in crate::target) fn make_record_relaxed(module: &Module<'_>) {
    for instruction in module.definitions().into_iter().flat_map(Value::instructions) {
        let pointer = match instruction.opcode() {
            Opcode::AtomicRmw | Opcode::AtomicCmpXchg | Opcode::Load => instruction.operand(0),
            Opcode::Store => instruction.operand(1),
            _ => continue,
        };
        if instruction.ordering() != AtomicOrdering::NotAtomic && is_of_record(pointer) {
            instruction.make_monotonic();
        }
    }
}

/// The end of a mangled name: a pointer in a space to a type.
fn pointee(pointer: Value<'_>, ty: Type<'_>) -> Option<String> {
    let space = pointer.ty().address_space();
    let letter = letter(ty).filter(|_| space != 0)?;
    Some(format!("U3AS{space}{letter}"))
}

fn load<'c>(context: &'c Context, module: &Module<'c>, builder: &Builder<'c>, access: Value<'c>) {
    let (pointer, ty, word) = (access.operand(0), access.ty(), Type::int(context, 32));
    if ty.is_int(64) && is_of_record(pointer) {
        let plain = builder.load(ty, pointer);
        plain.make_volatile();
        plain.set_alignment(8);
        access.replace_with(plain);
        return access.erase();
    }
    let Some(end) = pointee(pointer, ty) else { return };
    let name = format!("{LOAD}{end}ii");
    let function = module.declare(&name, ty.function(&[pointer.ty(), word, word]));
    let value = builder.call(function, &[pointer, word.constant(DEVICE), word.constant(RELAXED)]);
    access.replace_with(value);
    access.erase();
}

fn store<'c>(context: &'c Context, module: &Module<'c>, builder: &Builder<'c>, access: Value<'c>) {
    let (value, pointer, word) = (access.operand(0), access.operand(1), Type::int(context, 32));
    if value.ty().is_int(64) && is_of_record(pointer) {
        let plain = builder.store(value, pointer);
        plain.make_volatile();
        plain.set_alignment(8);
        return access.erase();
    }
    let Some(end) = pointee(pointer, value.ty()) else { return };
    let name = format!("{STORE}{end}ii{}", letter(value.ty()).unwrap_or('i'));
    let types = [pointer.ty(), word, word, value.ty()];
    let function = module.declare(&name, Type::void(context).function(&types));
    builder.call(function, &[pointer, word.constant(DEVICE), word.constant(RELAXED), value]);
    access.erase();
}

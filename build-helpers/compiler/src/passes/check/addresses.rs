//! Literal addresses: memory that code finds by a number that stands in it.
//!
//! A binary is loaded into other processes and onto other devices than the one that such a number comes from, so
//! the access is a fault of every target. GPUCompiler.jl's validation reports the same. Addresses of shared and
//! private memory are offsets and mean the same everywhere; they are not looked at.
//!
//! Needs: an optimised module, in which addresses that are known are constants.

use crate::diagnostic::Code;
use kernelmill_llvm::{
    inkwell::module::Module,
    ir::{ModuleExt, Opcode, Value},
};

use crate::passes::call_chains::CallChains;
use crate::{diagnostic::Fault, target_info::TargetInfo};

/// Below are no addresses of memory but those of empty slices, which are their alignment.
const FIRST: u64 = 1 << 16;

const HELP: &str =
    "pass the memory as a slice or a pointer: an address of one process means nothing in another";

/// A fault for each access to a literal address.
pub(super) fn find<'c>(
    module: &Module<'c>,
    backend: &dyn TargetInfo,
    call_chains: &CallChains<'c>,
) -> Vec<Fault> {
    let global = backend.address_spaces().map(|spaces| spaces.global);
    let is_memory = |pointer: &Value<'c>| {
        let space = pointer.ty().address_space();
        space == 0 || Some(space) == global
    };
    let mut faults = Vec::new();
    for instruction in module.definitions().into_iter().flat_map(Value::instructions) {
        let pointers = pointers(instruction).into_iter().filter(is_memory);
        let mut addresses = pointers.filter_map(literal).filter(|address| *address >= FIRST);
        if let Some(address) = addresses.next() {
            let message = format!("uses memory at the literal address {address:#x}");
            faults.push(
                Fault::new(Code::LiteralAddress, message, call_chains.to(instruction)).help(HELP),
            );
        }
    }
    faults
}

/// The addresses that an instruction reads, writes or calls.
fn pointers(instruction: Value<'_>) -> Vec<Value<'_>> {
    match instruction.opcode() {
        Opcode::Load | Opcode::AtomicRmw | Opcode::AtomicCmpXchg => vec![instruction.operand(0)],
        Opcode::Store => vec![instruction.operand(1)],
        Opcode::Call => match instruction.called_function() {
            Some(function) if is_transfer(&function.name()) => {
                let arguments = instruction.arguments().into_iter();
                arguments.filter(|argument| argument.ty().is_pointer()).collect()
            }
            Some(_) => Vec::new(),
            None => instruction.callee().into_iter().collect(),
        },
        _ => Vec::new(),
    }
}

/// Whether this intrinsic copies or fills memory.
fn is_transfer(name: &str) -> bool {
    ["llvm.memcpy.", "llvm.memmove.", "llvm.memset."].iter().any(|it| name.starts_with(it))
}

/// The number that a pointer is made of, but for what is added to it.
fn literal(pointer: Value<'_>) -> Option<u64> {
    let mut value = pointer;
    loop {
        let opcode = match value {
            _ if value.is_constant_expression() => value.constant_opcode(),
            _ if value.is_instruction() => value.opcode(),
            _ => return None,
        };
        match opcode {
            Opcode::GetElementPtr | Opcode::AddrSpaceCast | Opcode::BitCast => {
                value = value.operand(0);
            }
            Opcode::IntToPtr => return value.operand(0).as_u64(),
            _ => return None,
        }
    }
}

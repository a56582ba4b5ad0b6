//! Constants in memory, as words.

use kernelmill_llvm::{
    ir::{Type, TypeKind, Value},
    machine::Machine,
};

/// The words of a constant; `None` where it has addresses.
pub(super) fn words(machine: &Machine, table: Value<'_>) -> Option<Vec<u32>> {
    let mut bytes = vec![0; machine.size_of(table.value_type()) as usize];
    write(machine, table.initializer()?, table.value_type(), &mut bytes)?;
    bytes.resize(bytes.len().next_multiple_of(4).max(4), 0);
    let (words, _) = bytes.as_chunks();
    Some(words.iter().map(|word| u32::from_le_bytes(*word)).collect())
}

/// Writes the bytes of a constant of a type.
fn write(machine: &Machine, value: Value<'_>, ty: Type<'_>, bytes: &mut [u8]) -> Option<()> {
    if value.is_undefined() || value.is_zero() {
        return Some(());
    }
    let number = |number: u64, bytes: &mut [u8]| {
        let size = bytes.len().min(8);
        bytes[..size].copy_from_slice(&number.to_le_bytes()[..size]);
    };
    match ty.kind() {
        TypeKind::Integer => number(value.as_u64()?, &mut bytes[..machine.size_of(ty) as usize]),
        TypeKind::Float => number(u64::from((value.as_f64()? as f32).to_bits()), &mut bytes[..4]),
        TypeKind::Double => number(value.as_f64()?.to_bits(), &mut bytes[..8]),
        TypeKind::Array | TypeKind::Vector => {
            let element = ty.element();
            let size = machine.size_of(element) as usize;
            for (index, part) in bytes.chunks_mut(size.max(1)).enumerate() {
                let Some(value) = value.constant_element(index as u32) else { break };
                write(machine, value, element, part)?;
            }
        }
        TypeKind::Struct => {
            for (index, field) in (0..).zip(ty.fields()) {
                let offset = machine.offset_of(ty, index) as usize;
                write(machine, value.constant_element(index)?, field, &mut bytes[offset..])?;
            }
        }
        _ => return None,
    }
    Some(())
}

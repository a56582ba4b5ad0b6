//! Source locations in compiled code: constants of the type `core::panic::Location`.

use kernelmill_llvm::ir::{TypeKind, Value};

use crate::artifact::Location;

/// Whether a global is a location.
pub(super) fn is_location(global: Value<'_>) -> bool {
    read(global).is_some()
}

/// What a global says, if it is a location.
pub(super) fn read(global: Value<'_>) -> Option<Location> {
    if global.is_declaration() || !global.is_global_constant() {
        return None;
    }
    let ty = global.value_type();
    // One of zeros alone has no operands.
    let initializer = global.initializer().filter(|value| !value.is_zero())?;
    if ty.kind() != TypeKind::Struct || ty.fields().len() != 2 || initializer.is_undefined() {
        return None;
    }
    let (name, numbers) = (initializer.operand(0), initializer.operand(1).as_bytes()?);
    // On GPUs the name is in another address space, behind a cast.
    let name = if name.is_constant_expression() { name.operand(0) } else { name };
    if numbers.len() != 16 || !name.is_global() {
        return None;
    }
    let length = u64::from_le_bytes(numbers[..8].try_into().ok()?);
    let line = u32::from_le_bytes(numbers[8..12].try_into().ok()?);
    let column = u32::from_le_bytes(numbers[12..].try_into().ok()?);
    let text = name.initializer()?.as_bytes()?;
    let file = text.get(..usize::try_from(length).ok()?)?;
    Some(Location {
        file: String::from_utf8_lossy(file).into_owned(),
        line,
        column,
        frames: Vec::new(),
    })
}

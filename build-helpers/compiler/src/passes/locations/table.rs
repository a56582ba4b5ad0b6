//! The table of a module's source locations.

use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{Block, Builder, Linkage, ModuleExt, Type, UnnamedAddress, Value},
};

use super::{
    backtraces::Backtraces,
    location::read,
    numbers::{is_numbered, number},
};
use crate::{
    artifact::Location,
    base::names::{LOCATION_BASE, PREFIX},
    ir::always_inline,
};

/// The bytes of a location in the table.
const ENTRY_BYTES: u64 = 24;

/// Collects the constants of type `core::panic::Location` in one table, so that the difference of
/// an address and the table's is an index, and gives what they say.
///
/// A location is `{ ptr to the file's name, length: u64, line: u32, column: u32 }`, which rustc
/// writes as a pointer and 16 bytes. With `backtraces` there is one for each place that names it.
///
/// On GPUs, where mostly nothing but the indices is asked for, the table is not there then: it begins at 0, and addresses are
/// numbers. LLVM does not know the distance of two addresses behind casts from global memory.
pub(crate) fn collect<'c>(
    context: &'c Context,
    module: &Module<'c>,
    backtraces: &Backtraces,
) -> Vec<Location> {
    backtraces.find(context, module);
    let mut found: Vec<(Value<'c>, Location)> = Vec::new();
    for global in module.globals().into_iter().filter(|global| is_named(*global)) {
        let Some(location) = read(global) else { continue };
        let frames = backtraces.of(global);
        found.push((global, Location { frames, ..location }));
    }
    let base = module.function(LOCATION_BASE);
    let globals: Vec<_> = found.iter().map(|(global, _)| *global).collect();
    let table = match globals.first() {
        Some(first) if is_numbered(&globals, base) => {
            let null = first.ty().null();
            for (index, global) in globals.iter().enumerate() {
                number(*global, ENTRY_BYTES * index as u64);
                global.replace_with(null);
                global.delete_global();
            }
            None
        }
        Some(_) => Some(gather(context, module, &globals)),
        None => None,
    };
    define_base(context, base, table);
    found.into_iter().map(|(_, location)| location).collect()
}

/// Puts locations into a table, each in the place of its own address.
fn gather<'c>(context: &'c Context, module: &Module<'c>, globals: &[Value<'c>]) -> Value<'c> {
    // One type for all, whichever compiler has written them.
    let entry = |value: Value<'c>| {
        Value::constant_structure(context, &[value.operand(0), value.operand(1)])
    };
    let entries: Vec<_> = globals.iter().filter_map(|it| it.initializer()).map(entry).collect();
    let element = entries[0].ty();
    let space = globals[0].ty().address_space();
    let ty = element.array(entries.len() as u64);
    let table = module.new_global(&format!("{PREFIX}locations"), ty, space);
    table.set_initializer(element.constant_array(&entries));
    table.set_global_constant(true);
    table.set_alignment(8);
    table.set_linkage(Linkage::Internal);
    table.set_unnamed_address(UnnamedAddress::None);
    for (index, global) in globals.iter().enumerate() {
        global.replace_with(table.constant_offset(context, ENTRY_BYTES * index as u64));
        global.delete_global();
    }
    table
}

/// Whether code or another global names a value; constants that nothing uses do not count.
fn is_named(value: Value<'_>) -> bool {
    let constant = |user: Value<'_>| user.is_constant() && !user.is_global();
    value.users().into_iter().any(|user| !constant(user) || is_named(user))
}

/// Gives the function that the device crate calls a body that returns the table's address.
fn define_base<'c>(context: &'c Context, base: Option<Value<'c>>, table: Option<Value<'c>>) {
    let Some(base) = base.filter(|base| base.is_declaration()) else { return };
    let flat = |table: Value<'c>| match table.ty().address_space() {
        0 => table,
        _ => table.cast_address_space(Type::pointer(context, 0)),
    };
    let builder = Builder::new(context);
    builder.at_end(Block::append(context, base, "start"));
    let address = Type::int(context, 64);
    let value =
        table.map_or(address.constant(0), |table| builder.pointer_to_int(flat(table), address));
    builder.ret(Some(value));
    base.set_linkage(Linkage::Internal);
    always_inline(context, base);
}

//! Runs functions of a module in this process: each gets an entry of one type, the module becomes a
//! shared library.

use std::process::Command;

use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{Block, Builder, ModuleExt, Opcode, Type, TypeKind, Value},
    machine::Machine,
};
use test_support::{temporary_folder, write_file};

/// An entry: arguments and results as cells of 8 bytes.
pub(crate) type Entry = unsafe extern "C" fn(*const u64, *mut u64);

/// Adds `entry_NAME(arguments, results)` for a function.
pub(crate) fn add_entry<'c>(context: &'c Context, module: &Module<'c>, symbol: &str) {
    let function = module.function(symbol).unwrap_or_else(|| panic!("no {symbol}"));
    let pointer = Type::pointer(context, 0);
    let ty = Type::void(context).function(&[pointer, pointer]);
    let entry = module.new_function(&format!("entry_{symbol}"), ty);
    let builder = Builder::new(context);
    builder.at_end(Block::append(context, entry, "start"));
    let cells = entry.parameters();
    let mut next = 0;
    let arguments: Vec<_> = function
        .parameters()
        .into_iter()
        .map(|parameter| gather(context, &builder, parameter.ty(), cells[0], &mut next))
        .collect();
    let result = builder.call(function, &arguments);
    let mut next = 0;
    if result.ty() != Type::void(context) {
        scatter(context, &builder, result, cells[1], &mut next);
    }
    builder.ret(None);
}

fn gather<'c>(
    context: &'c Context,
    builder: &Builder<'c>,
    ty: Type<'c>,
    cells: Value<'c>,
    next: &mut u64,
) -> Value<'c> {
    let fields = match ty.kind() {
        TypeKind::Struct => ty.fields(),
        TypeKind::Array => vec![ty.element(); ty.array_length() as usize],
        _ => {
            *next += 1;
            return builder.load(ty, builder.offset(context, cells, 8 * (*next - 1)));
        }
    };
    fields.into_iter().enumerate().fold(ty.poison(), |all, (index, field)| {
        let field = gather(context, builder, field, cells, next);
        builder.insert(all, field, index as u32)
    })
}

fn scatter<'c>(
    context: &'c Context,
    builder: &Builder<'c>,
    value: Value<'c>,
    cells: Value<'c>,
    next: &mut u64,
) {
    let fields = match value.ty().kind() {
        TypeKind::Struct => value.ty().fields().len() as u64,
        TypeKind::Array => value.ty().array_length(),
        _ => {
            // Results are 64-bit floating-point numbers or integers, whatever their type.
            let wide = if value.ty().is_floating() && value.ty() != Type::double(context) {
                builder.cast(Opcode::FPExt, value, Type::double(context))
            } else {
                value
            };
            builder.store(wide, builder.offset(context, cells, 8 * *next));
            *next += 1;
            return;
        }
    };
    for index in 0..fields {
        let field = builder.extract(value, index as u32);
        scatter(context, builder, field, cells, next);
    }
}

/// A module as a library that this process has loaded.
pub(crate) struct Native {
    library: libloading::Library,
}

impl Native {
    /// Optimises and loads a module.
    pub(crate) fn load<'c>(
        context: &'c Context,
        machine: &Machine,
        module: &Module<'c>,
        name: &str,
    ) -> Self {
        super::complete(context, module);
        machine.run(module, "default<O3>").unwrap();
        let folder = temporary_folder();
        let object = machine.object(module).unwrap();
        let object = write_file(&folder, format!("{name}.o"), object);
        let path = folder.path().join(format!("lib{name}.so"));
        let output = Command::new("cc")
            .arg("-shared")
            .arg("-o")
            .args([&path, &object])
            .arg("-lm")
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        // SAFETY: the library has no initialisers.
        Self { library: unsafe { libloading::Library::new(path).unwrap() } }
    }

    /// The entry of a function.
    pub(crate) fn entry(&self, symbol: &str) -> Entry {
        // SAFETY: `add_entry` gave it this type.
        unsafe { *self.library.get(format!("entry_{symbol}").as_bytes()).unwrap() }
    }
}

//! Errors of the device that plugins put into kernels.

use kernelmill_artifact::PanicKind;

use super::{
    Task,
    ir::{Builder, Linkage, ModuleExt, Place, Type, Value},
};
use crate::{
    base::{
        names::{PANIC, PANIC_SILENT, PREFIX},
        standard::is_standard,
    },
    job::PanicLevel,
};

/// An error that ends a thread, and is an error for the host.
#[derive(Clone, Copy, Debug)]
pub struct Failure<'c> {
    /// What kind of error it is.
    pub kind: PanicKind,
    /// Its text, from [`Task::message`].
    pub message: Value<'c>,
    /// What stands in the text, of 64 bits each; zeros where it has fewer.
    pub values: [Value<'c>; 2],
    /// Where it is, from [`Task::place`].
    pub place: Value<'c>,
}

impl<'c> Task<'_, 'c> {
    /// The number of a text for device errors, of 32 bits, before libraries are linked. In the text
    /// stand the types of its values, `element {i64} of {u64}`, and `{place}` for one of
    /// [`Task::place_number`]; braces are written twice.
    #[must_use]
    pub fn message(&self, text: impl Into<String>) -> Value<'c> {
        let number = self.site.messages.borrow_mut().number(text.into());
        Type::int(self.context, 32).constant(number << 8)
    }

    /// The place of an instruction in the source, as an address of 64 bits: where the user's own
    /// code is that it stems from.
    #[must_use]
    pub fn place(&self, at: Value<'c>) -> Value<'c> {
        let of_library = |file: &str| {
            is_standard(file)
                || file.starts_with("kernelmill-cuda/")
                || file.contains("kernelmill_device")
        };
        let mut frames = at.debug_locations().into_iter();
        let frame = frames.find(|it| it.line > 0 && !of_library(&it.file));
        let (file, line, column) = frame.map_or_else(
            || (self.first_file(), 0, 0),
            |frame| (frame.file, frame.line, frame.column),
        );
        let byte = Type::int(self.context, 8);
        let bytes = |bytes: &[u8]| {
            let values: Vec<_> = bytes.iter().map(|it| byte.constant(u64::from(*it))).collect();
            byte.constant_array(&values)
        };
        let name = self.constant(&format!("{PREFIX}file.{file}"), bytes(file.as_bytes()));
        let mut numbers = (file.len() as u64).to_le_bytes().to_vec();
        numbers.extend(line.to_le_bytes());
        numbers.extend(column.to_le_bytes());
        let location = Value::constant_structure(self.context, &[name, bytes(&numbers)]);
        let global = format!("{PREFIX}place.{file}.{line}.{column}");
        self.constant(&global, location).constant_address(Type::int(self.context, 64))
    }

    /// The file that the kernels are in.
    fn first_file(&self) -> String {
        self.site.signatures.first().map_or_else(String::new, |kernel| kernel.file.to_string())
    }

    /// A constant of this name.
    fn constant(&self, name: &str, value: Value<'c>) -> Value<'c> {
        if let Some(known) = self.module.global(name) {
            return known;
        }
        let global = self.module.new_global(name, value.ty(), 0);
        global.set_initializer(value);
        global.set_global_constant(true);
        global.set_alignment(8);
        global.set_linkage(Linkage::Internal);
        global
    }

    /// One more than the number of a place, of 64 bits: what stands for `{place}` in a text. 0
    /// stands for none.
    #[must_use]
    pub fn place_number(&self, builder: &Builder<'c>, place: Value<'c>) -> Value<'c> {
        let word = Type::int(self.context, 64);
        let base = self.module.declare(crate::base::names::LOCATION_BASE, word.function(&[]));
        let base = builder.call(base, &[]);
        let offset = builder.binary(super::ir::Opcode::Sub, place, base);
        let number = builder.binary(super::ir::Opcode::UDiv, offset, word.constant(LOCATION_BYTES));
        builder.add(number, word.constant(1))
    }

    /// Ends the thread, and with it the block of instructions.
    pub fn fail(&self, builder: &Builder<'c>, failure: &Failure<'c>) {
        let void = Type::void(self.context);
        let (word, wide) = (Type::int(self.context, 32), Type::int(self.context, 64));
        let is_silent = self.site.config.params.panics == PanicLevel::None;
        let function = if is_silent {
            self.module.declare(PANIC_SILENT, void.function(&[]))
        } else {
            self.module.declare(PANIC, void.function(&[word, wide, wide, wide]))
        };
        function.add_attribute(self.context, Place::Function, "noreturn", 0);
        let kind = builder.add(failure.message, word.constant(failure.kind as u64));
        let [a, b] = failure.values;
        let arguments: &[_] = if is_silent { &[] } else { &[kind, a, b, failure.place] };
        let call = builder.call(function, arguments);
        call.add_attribute(self.context, Place::Function, "noreturn", 0);
        builder.unreachable();
    }
}

/// The size of a place as it lies in the table of them.
const LOCATION_BYTES: u64 = 24;

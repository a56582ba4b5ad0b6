//! Messages of panics for targets whose panics do not format: the text goes to the artifact, the
//! values that stand in it are recorded as they are, and the host puts both together.
//!
//! A call of `panic_fmt` passes a template and arguments, each an address and the function that
//! formats what is there. What is recognised is replaced; a message that is not stays a panic
//! without a text, and a value of another type than a number, truth value, character or text is not
//! sent. Lines that kernels print are the same where the host formats those too.

mod template;
mod values;

use std::collections::HashSet;

use kernelmill_artifact::PanicKind;
use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{Builder, ModuleExt, Opcode, Place, Type, Value},
};

use super::panics::ASSERT_FAILED;
use crate::{
    base::names::{PANIC, PANIC_PARTS, PANIC_VALUES, PRINT_VALUES},
    ir::{always_inline, calls_of, path},
};
use values::{Item, Items, Values};

/// The function that prints a line: `fn(text: fmt::Arguments)`.
const LINE: &str = "kernelmill_device::print::line";

/// The texts of a module's panics, and of what its kernels print.
#[derive(Debug, Default)]
pub(crate) struct Messages {
    texts: Vec<String>,
    /// The numbers of those that kernels print.
    printed: HashSet<u64>,
}

impl Messages {
    /// The texts, by index; empty where no panic of an optimised module has it.
    pub(crate) fn of(mut self, module: &Module<'_>) -> Vec<String> {
        let calls = [PANIC, PANIC_VALUES, PANIC_PARTS].into_iter();
        let calls = calls.filter_map(|name| module.function(name)).flat_map(calls_of);
        let mut used = std::mem::take(&mut self.printed);
        if calls.into_iter().all(|call| numbers(call.operand(0), &mut used, 0)) {
            for (index, text) in self.texts.iter_mut().enumerate() {
                if !used.contains(&(index as u64 + 1)) {
                    text.clear();
                }
            }
            while self.texts.last().is_some_and(String::is_empty) {
                self.texts.pop();
            }
        }
        self.texts
    }

    /// 1 more than the index of a text.
    pub(crate) fn number(&mut self, text: String) -> u64 {
        let found = self.texts.iter().position(|known| *known == text);
        let index = found.unwrap_or_else(|| {
            self.texts.push(text);
            self.texts.len() - 1
        });
        index as u64 + 1
    }
}

/// Collects the numbers of the texts that a kind can name; whether that is all of them.
fn numbers(kind: Value<'_>, found: &mut HashSet<u64>, depth: u32) -> bool {
    if let Some(kind) = kind.as_u64() {
        found.insert(kind >> 8);
        return true;
    }
    let chosen = match kind.is_instruction().then(|| kind.opcode()) {
        Some(Opcode::Phi) => kind.operands(),
        Some(Opcode::Select) => kind.operands().split_off(1),
        _ => return false,
    };
    depth < 8 && chosen.into_iter().all(|value| numbers(value, found, depth + 1))
}

/// A text with the values in it.
struct Message<'c> {
    text: String,
    values: Vec<Item<'c>>,
    /// Whether every value can be sent.
    is_whole: bool,
}

impl Default for Message<'_> {
    fn default() -> Self {
        Self { text: String::new(), values: Vec::new(), is_whole: true }
    }
}

impl<'c> Message<'c> {
    fn literal(&mut self, text: &str) {
        self.text.push_str(&text.replace('{', "{{").replace('}', "}}"));
    }

    /// A value, with what stands after the colon in Rust.
    fn value(&mut self, item: Option<Item<'c>>, specification: &str) {
        let Some(item) = item else {
            self.text.push_str("{?}");
            self.is_whole = false;
            return;
        };
        let form = item.form;
        if let Some(text) = item.constant().filter(|_| specification.is_empty() && form.is_empty())
        {
            self.literal(&text);
            return;
        }
        self.text.push('{');
        self.text.push_str(item.ty);
        if !specification.is_empty() || !form.is_empty() {
            self.text.push(':');
            self.text.push_str(specification);
            self.text.push_str(form);
        }
        self.text.push('}');
        self.values.push(item);
    }
}

/// Inlines what hides a message: the functions of `core` that make arguments,
/// and those that only pass a message on.
pub(super) fn expose<'c>(context: &'c Context, module: &Module<'c>) {
    const MAKERS: [&str; 3] =
        ["core::fmt::rt::Argument", "core::fmt::Arguments", "core::panicking::"];
    const PASSING: [&str; 2] = ["core::option::Option", "core::result::Result"];
    for function in module.definitions() {
        let path = path(function);
        let starts = |start: &&str| path.trim_start_matches('<').starts_with(*start);
        let passes = PASSING.iter().any(starts)
            && ["::expect", "::unwrap"].iter().any(|method| path.contains(method));
        if MAKERS.iter().any(starts) || passes {
            always_inline(context, function);
        }
    }
}

/// Replaces the calls whose message is known by ones that record its number and values.
pub(super) fn attach<'c>(context: &'c Context, module: &Module<'c>, messages: &mut Messages) {
    for function in module.functions() {
        if !function.is_declaration() || !function.is_used() {
            continue;
        }
        let path = path(function);
        let Some((reader, kind)) = reader(&function.name(), &path) else { continue };
        for call in calls_of(function) {
            if let Some(message) = reader(call, &path) {
                record(context, module, call, kind, message, messages);
            }
        }
    }
}

/// Replaces the calls that print a line whose text is known by ones that send its number and values; with `whole` only
/// those of which every value can be sent.
pub(super) fn attach_lines<'c>(
    context: &'c Context,
    module: &Module<'c>,
    messages: &mut Messages,
    whole: bool,
) {
    let is_line = |it: &Value<'c>| it.is_declaration() && it.is_used() && path(*it) == LINE;
    for function in module.functions().into_iter().filter(is_line) {
        for call in calls_of(function) {
            if let Some(message) = formatted(call, LINE).filter(|it| !whole || it.is_whole) {
                send(context, module, call, message, messages);
            }
        }
    }
}

/// Replaces a call that prints by one that sends.
fn send<'c>(
    context: &'c Context,
    module: &Module<'c>,
    call: Value<'c>,
    message: Message<'c>,
    messages: &mut Messages,
) {
    let (word, wide) = (Type::int(context, 32), Type::int(context, 64));
    let number = messages.number(message.text);
    messages.printed.insert(number);
    let builder = Builder::new(context);
    builder.before(call);
    let mut values = Values::default();
    message.values.iter().for_each(|item| item.load(context, &builder, &mut values));
    let Values { words, texts } = values;
    let slot = match &*words {
        [] => Type::pointer(context, 0).null(),
        words => in_memory(context, &builder, call, words),
    };
    let count = wide.constant(words.len() as u64);
    let arguments = [word.constant(number), slot, count, wide.constant(texts)];
    let types = arguments.map(|argument| argument.ty());
    let target = module.declare(PRINT_VALUES, Type::void(context).function(&types));
    builder.call(target, &arguments);
    call.erase();
}

type Reader = for<'c> fn(Value<'c>, &str) -> Option<Message<'c>>;

/// How the message of a call of this function is read, and the kind of its panic.
fn reader(name: &str, path: &str) -> Option<(Reader, PanicKind)> {
    let plain = path.split("::<").next().unwrap_or(path);
    Some(match plain {
        _ if name == ASSERT_FAILED => (literal, PanicKind::Explicit),
        "core::panicking::panic_fmt" => (formatted, PanicKind::Explicit),
        "core::panicking::panic" => (literal, PanicKind::Explicit),
        "core::option::expect_failed" => (literal, PanicKind::NoneUnwrapped),
        "core::result::unwrap_failed" => (unwrapped, PanicKind::ErrUnwrapped),
        "core::panicking::assert_failed_inner" => (compared_objects, PanicKind::Explicit),
        "core::panicking::assert_failed" => (compared, PanicKind::Explicit),
        _ => return None,
    })
}

/// `fn(text: &str)`.
fn literal<'c>(call: Value<'c>, _: &str) -> Option<Message<'c>> {
    let arguments = call.arguments();
    let mut message = Message::default();
    message.value(Some(Item::text(arguments[0], arguments[1])), "");
    Some(message)
}

/// `fn(text: fmt::Arguments)`.
fn formatted<'c>(call: Value<'c>, _: &str) -> Option<Message<'c>> {
    let arguments = call.arguments();
    let mut message = Message::default();
    append(&mut message, call, arguments[0], arguments[1])?;
    Some(message)
}

/// `fn(text: &str, error: &dyn Debug)`.
fn unwrapped<'c>(call: Value<'c>, path: &str) -> Option<Message<'c>> {
    let arguments = call.arguments();
    let mut message = literal(call, path)?;
    message.literal(": ");
    message.value(values::object(arguments[2], arguments[3]), "");
    Some(message)
}

/// `fn(kind, left: &dyn Debug, right: &dyn Debug, text: Option<fmt::Arguments>)`.
fn compared_objects<'c>(call: Value<'c>, _: &str) -> Option<Message<'c>> {
    let arguments = call.arguments();
    let left = values::object(arguments[1], arguments[2]);
    let right = values::object(arguments[3], arguments[4]);
    comparison(call, left, right, arguments[5], arguments[6])
}

/// `fn::<T, U>(kind, left: &T, right: &U, text: Option<fmt::Arguments>)`.
fn compared<'c>(call: Value<'c>, path: &str) -> Option<Message<'c>> {
    let arguments = call.arguments();
    let types = path.split_once("::<")?.1.trim_end_matches('>');
    let (left, right) = types.split_once(", ")?;
    // What has no size of its own is passed with its length, which moves the arguments.
    if [left, right].iter().any(|ty| *ty == "str" || ty.starts_with(['[', 'd'])) {
        return None;
    }
    let left = Item::debug(arguments[1], left);
    let right = Item::debug(arguments[2], right);
    comparison(call, left, right, arguments[3], arguments[4])
}

fn comparison<'c>(
    call: Value<'c>,
    left: Option<Item<'c>>,
    right: Option<Item<'c>>,
    template: Value<'c>,
    items: Value<'c>,
) -> Option<Message<'c>> {
    let operator = match call.arguments()[0].as_u64()? {
        0 => "==",
        1 => "!=",
        _ => "matches",
    };
    let mut message = Message::default();
    message.literal(&format!("assertion `left {operator} right` failed"));
    if template != template.ty().null() {
        message.literal(": ");
        append(&mut message, call, template, items)?;
    }
    message.literal("\n  left: ");
    message.value(left, "");
    message.literal("\n right: ");
    message.value(right, "");
    Some(message)
}

/// Appends what `fmt::Arguments` of these two pointers say.
fn append<'c>(
    message: &mut Message<'c>,
    call: Value<'c>,
    template: Value<'c>,
    items: Value<'c>,
) -> Option<()> {
    // A text without values has its length in place of the arguments, twice and 1.
    if let Some(number) = values::constant_address(items) {
        message.literal(&values::text(template, number >> 1)?);
        return Some(());
    }
    let items = Items::of(items, call);
    for piece in template::read(values::bytes(template)?)? {
        match piece {
            template::Piece::Text(text) => message.literal(&text),
            template::Piece::Value { index, specification } => {
                message.value(items.get(index), &specification);
            }
        }
    }
    Some(())
}

/// Replaces a call by one that records.
fn record<'c>(
    context: &'c Context,
    module: &Module<'c>,
    call: Value<'c>,
    kind: PanicKind,
    message: Message<'c>,
    messages: &mut Messages,
) {
    let (word, wide) = (Type::int(context, 32), Type::int(context, 64));
    let number = messages.number(message.text);
    let kind = word.constant(kind as u64 | number << 8);
    let builder = Builder::new(context);
    builder.before(call);
    let mut values = Values::default();
    message.values.iter().for_each(|item| item.load(context, &builder, &mut values));
    let Values { words, texts } = values;
    let location = *call.arguments().last().expect("a location");
    let location = builder.pointer_to_int(location, wide);
    let (function, arguments) = if words.len() > 2 || texts != 0 {
        let slot = in_memory(context, &builder, call, &words);
        let count = wide.constant(words.len() as u64);
        match texts {
            0 => (PANIC_VALUES, vec![kind, slot, count, location]),
            _ => (PANIC_PARTS, vec![kind, slot, count, wide.constant(texts), location]),
        }
    } else {
        let value = |index: usize| words.get(index).copied().unwrap_or(wide.constant(0));
        (PANIC, vec![kind, value(0), value(1), location])
    };
    let types: Vec<_> = arguments.iter().map(|argument| argument.ty()).collect();
    let target = module.declare(function, Type::void(context).function(&types));
    target.add_attribute(context, Place::Function, "noreturn", 0);
    let replaced = builder.call(target, &arguments);
    replaced.add_attribute(context, Place::Function, "noreturn", 0);
    call.erase();
}

/// The address of words that are stored just before a call.
fn in_memory<'c>(
    context: &'c Context,
    builder: &Builder<'c>,
    call: Value<'c>,
    words: &[Value<'c>],
) -> Value<'c> {
    // At the start of the function: elsewhere its size would count as unknown.
    let start = call.block().function().blocks()[0];
    let entry = Builder::new(context);
    entry.before(start.first_after_phis().expect("a block has an end"));
    let slot = entry.alloca(Type::int(context, 64).array(words.len() as u64));
    let slot = match slot.ty().address_space() {
        0 => slot,
        _ => entry.address_space_cast(slot, Type::pointer(context, 0)),
    };
    for (index, word) in words.iter().enumerate() {
        builder.store(*word, builder.offset(context, slot, 8 * index as u64));
    }
    slot
}

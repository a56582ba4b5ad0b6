//! The values that stand in a message: where they lie, and of what type they are.

use kernelmill_llvm::{
    inkwell::context::Context,
    ir::{Builder, Opcode, Type, Value},
};

use crate::ir::path;

/// A value that can be recorded.
#[derive(Clone, Copy)]
pub(super) struct Item<'c> {
    place: Place<'c>,
    /// The type's name in Rust.
    pub(super) ty: &'static str,
    /// The letter of the trait that formats it.
    pub(super) form: &'static str,
}

/// Where a value is.
#[derive(Clone, Copy)]
enum Place<'c> {
    /// At an address, or at the one that is there, and so on: so many addresses before the value.
    Memory { pointer: Value<'c>, references: u32 },
    /// A text of this length at an address.
    Text { address: Value<'c>, length: Value<'c> },
}

/// What is recorded of the values of a message.
#[derive(Default)]
pub(super) struct Values<'c> {
    /// The values, of 64 bits each; a text has two, its address and its length.
    pub(super) words: Vec<Value<'c>>,
    /// A bit for the index of each text's address.
    pub(super) texts: u64,
}

/// The types, and the bits that are read of them.
const TYPES: [(&str, u32); 16] = [
    ("u8", 8),
    ("u16", 16),
    ("u32", 32),
    ("u64", 64),
    ("usize", 64),
    ("i8", 8),
    ("i16", 16),
    ("i32", 32),
    ("i64", 64),
    ("isize", 64),
    ("f32", 32),
    ("f64", 64),
    ("bool", 8),
    ("char", 32),
    (TEXT, 0),
    ("&", 0),
];

/// The type of a text. There is always a reference before it, which has its length.
const TEXT: &str = "str";

/// The traits, and their letters.
const TRAITS: [(&str, &str); 8] = [
    ("Display", ""),
    ("Debug", "?"),
    ("LowerHex", "x"),
    ("UpperHex", "X"),
    ("Octal", "o"),
    ("Binary", "b"),
    ("LowerExp", "e"),
    ("UpperExp", "E"),
];

impl<'c> Item<'c> {
    /// A value of this type that is formatted by `Debug`.
    pub(super) fn debug(pointer: Value<'c>, ty: &str) -> Option<Self> {
        let (references, ty) = referred(ty)?;
        Self::in_memory(pointer, references, ty, "?")
    }

    /// A text.
    pub(super) fn text(address: Value<'c>, length: Value<'c>) -> Self {
        Self { place: Place::Text { address, length }, ty: TEXT, form: "" }
    }

    fn in_memory(
        pointer: Value<'c>,
        references: u32,
        ty: &'static str,
        form: &'static str,
    ) -> Option<Self> {
        let is_sized = ty != "&" && (ty != TEXT || references > 0);
        is_sized.then_some(Self { place: Place::Memory { pointer, references }, ty, form })
    }

    /// A value that `function` formats.
    fn formatted_by(pointer: Value<'c>, function: Value<'c>) -> Option<Self> {
        let (mut function, mut references) = (function, 0);
        loop {
            let (more, ty, form) = formatter(&path(function))?;
            references += more;
            if ty != "&" {
                return Self::in_memory(pointer, references, ty, form);
            }
            // A reference is formatted as what it refers to.
            if function.is_declaration() || references > 4 {
                return None;
            }
            let mut callees = function.calls().into_iter().filter_map(Value::called_function);
            function = callees.find(|callee| formatter(&path(*callee)).is_some())?;
        }
    }

    /// The text that it is, where that is known.
    pub(super) fn constant(&self) -> Option<String> {
        let (address, length) = match self.place {
            Place::Text { address, length } => (address, length.as_u64()?),
            Place::Memory { mut pointer, references } => {
                if self.ty != TEXT {
                    return None;
                }
                for _ in 1..references {
                    pointer = *constant(pointer)?.operands().first()?;
                }
                let parts = constant(pointer)?.operands();
                let length = parts.get(1)?.as_bytes()?.try_into().ok()?;
                (parts[0], u64::from_le_bytes(length))
            }
        };
        text(address, length)
    }

    /// Reads its bits; where there are more than a record can tell apart, none.
    pub(super) fn load(
        &self,
        context: &'c Context,
        builder: &Builder<'c>,
        values: &mut Values<'c>,
    ) {
        const MOST: usize = 64;
        let (address, wide) = (Type::pointer(context, 0), Type::int(context, 64));
        let index = values.words.len();
        if index + 2 > MOST {
            return;
        }
        let follow = |pointer, references| {
            (0..references).fold(pointer, |pointer, _| builder.load(address, pointer))
        };
        let (text, length) = match self.place {
            Place::Text { address, length } => (address, length),
            Place::Memory { pointer, references } if self.ty == TEXT => {
                let pointer = follow(pointer, references - 1);
                let length = builder.load(wide, builder.offset(context, pointer, 8));
                (builder.load(address, pointer), length)
            }
            Place::Memory { pointer, references } => {
                let (_, bits) =
                    TYPES.iter().find(|(name, _)| *name == self.ty).expect("of the table");
                let value = builder.load(Type::int(context, *bits), follow(pointer, references));
                let value = if *bits == 64 { value } else { builder.zero_extend(value, wide) };
                values.words.push(value);
                return;
            }
        };
        values.texts |= 1 << index;
        values.words.extend([builder.pointer_to_int(text, wide), length]);
    }
}

/// What a function formats, with the references before it, and how:
/// `<u32 as core::fmt::Display>::fmt` and `core::fmt::num::<impl core::fmt::Display for u32>::fmt`.
fn formatter(path: &str) -> Option<(u32, &'static str, &'static str)> {
    let path = path.strip_suffix("::fmt")?.strip_suffix('>')?;
    let (ty, name) = if let Some((before, name)) = path.rsplit_once(" as core::fmt::") {
        (before.rsplit_once('<')?.1, name)
    } else {
        let (_, implementation) = path.rsplit_once("<impl core::fmt::")?;
        let (name, ty) = implementation.split_once(" for ")?;
        (ty, name)
    };
    let (_, form) = TRAITS.iter().find(|(known, _)| *known == name)?;
    let (references, ty) = referred(ty)?;
    Some((references, ty, form))
}

/// The references before a type, and it; `&` where it is one that is not known.
fn referred(ty: &str) -> Option<(u32, &'static str)> {
    let plain = ty.trim_start_matches('&');
    let references = (ty.len() - plain.len()) as u32;
    let known = TYPES.iter().find(|(known, _)| *known == plain);
    match known {
        Some((ty, _)) => Some((references, ty)),
        None if references == 1 => Some((1, "&")),
        None => None,
    }
}

/// What the pointer to an object and its table of functions stand for, by `Debug`.
pub(super) fn object<'c>(pointer: Value<'c>, table: Value<'c>) -> Option<Item<'c>> {
    if !table.is_global() {
        return None;
    }
    // Its last entry is the one function of the trait.
    let function = table.initializer()?.operands().into_iter().last()?;
    function.is_function().then(|| Item::formatted_by(pointer, function))?
}

/// The arguments of a message: in memory an address and a function for each.
pub(super) struct Items<'c>(Vec<(u64, Value<'c>)>);

impl<'c> Items<'c> {
    /// Those at an address that are stored there just before `call` is made.
    pub(super) fn of(address: Value<'c>, call: Value<'c>) -> Self {
        if !address.is_instruction() || address.opcode() != Opcode::Alloca {
            return Self(Vec::new());
        }
        let mut places = vec![(0, address)];
        for user in address.users().into_iter().filter(|user| user.is_instruction()) {
            if user.opcode() == Opcode::GetElementPtr
                && user.operands().len() == 2
                && user.element_type().is_int(8)
                && let Some(offset) = user.operand(1).as_u64()
            {
                places.push((offset, user));
            }
        }
        let stores = places.into_iter().flat_map(|(offset, place)| {
            let into = move |user: &Value<'c>| {
                user.is_instruction()
                    && user.opcode() == Opcode::Store
                    && user.operand(1) == place
                    && user.block() == call.block()
            };
            let users = place.users().into_iter().filter(into);
            users.map(move |store| (offset, store.operand(0)))
        });
        Self(stores.collect())
    }

    /// The argument of this index.
    pub(super) fn get(&self, index: usize) -> Option<Item<'c>> {
        let pointer = self.stored(16 * index as u64)?;
        let function = self.stored(16 * index as u64 + 8)?;
        function.is_function().then(|| Item::formatted_by(pointer, function))?
    }

    /// What is stored there, if it is stored once.
    fn stored(&self, offset: u64) -> Option<Value<'c>> {
        let mut found = self.0.iter().filter(|(at, _)| *at == offset);
        let (_, value) = found.next()?;
        found.next().is_none().then_some(*value)
    }
}

/// The number that a constant pointer was made of.
pub(super) fn constant_address(pointer: Value<'_>) -> Option<u64> {
    let made = pointer.is_constant_expression() && pointer.constant_opcode() == Opcode::IntToPtr;
    if made { pointer.operand(0).as_u64() } else { None }
}

/// The constant at an address.
fn constant(pointer: Value<'_>) -> Option<Value<'_>> {
    let known = pointer.is_global() && pointer.is_global_constant();
    known.then(|| pointer.initializer())?
}

/// The bytes of the constant at an address.
pub(super) fn bytes(pointer: Value<'_>) -> Option<&[u8]> {
    constant(pointer)?.as_bytes()
}

/// The text of this length at an address.
pub(super) fn text(pointer: Value<'_>, length: u64) -> Option<String> {
    let text =
        if length == 0 { &[] } else { bytes(pointer)?.get(..usize::try_from(length).ok()?)? };
    String::from_utf8(text.to_vec()).ok()
}

#[cfg(test)]
mod tests {
    use super::formatter;

    #[test]
    fn formatters_are_known_by_their_names() {
        for (path, expected) in [
            ("<u32 as core::fmt::Display>::fmt", Some((0, "u32", ""))),
            ("<u8 as core::fmt::LowerHex>::fmt", Some((0, "u8", "x"))),
            ("core::fmt::num::<impl core::fmt::Debug for u32>::fmt", Some((0, "u32", "?"))),
            ("core::fmt::float::<impl core::fmt::Display for f64>::fmt", Some((0, "f64", ""))),
            ("<&T as core::fmt::Debug>::fmt", Some((1, "&", "?"))),
            ("<str as core::fmt::Display>::fmt", Some((0, "str", ""))),
            ("<&&str as core::fmt::Debug>::fmt", Some((2, "str", "?"))),
            ("<&mut u8 as core::fmt::Debug>::fmt", Some((1, "&", "?"))),
            ("<alloc::string::String as core::fmt::Debug>::fmt", None),
            ("<u32 as core::clone::Clone>::clone", None),
        ] {
            assert_eq!(formatter(path), expected, "{path}");
        }
    }
}

//! Unsupported types: why a type cannot cross between host and device.

use crate::diagnostic::Place;

/// Why a type cannot cross.
pub(super) struct UnsupportedType {
    /// The type that is refused, as it is written; empty until somebody who knows fills it in.
    pub(super) written: String,
    /// What about it, to follow its name.
    pub(super) why: &'static str,
    /// What to write instead.
    pub(super) help: String,
    /// The fields that lead to it, innermost first.
    pub(super) fields: Vec<String>,
    /// Where it is, if that is not in the parameter itself.
    pub(super) at: Option<Box<Place>>,
}

impl UnsupportedType {
    /// A refusal of a type, with what to write instead.
    pub(super) fn new(written: String, why: &'static str, help: impl Into<String>) -> Self {
        Self { written, why, help: help.into(), fields: Vec::new(), at: None }
    }

    /// The same about a field, or an array's element, of this name.
    pub(super) fn within(mut self, field: &str) -> Self {
        self.fields.push(field.to_owned());
        self
    }

    /// Fills in where it is, unless that is known more exactly.
    pub(super) fn or_at(mut self, place: Place) -> Self {
        self.at.get_or_insert_with(|| Box::new(place));
        self
    }

    /// Fills in how the type is written, unless that is known.
    pub(super) fn or_written(mut self, written: String) -> Self {
        if self.written.is_empty() {
            self.written = written;
        }
        self
    }

    /// The fields from the outermost in: `inner.data[_]`.
    pub(super) fn path(&self) -> String {
        let mut path = String::new();
        for field in self.fields.iter().rev() {
            if !path.is_empty() && !field.starts_with('[') {
                path.push('.');
            }
            path.push_str(field);
        }
        path
    }
}

/// What is said of a struct whose fields rustc may order.
pub(super) const NOT_REPR_C: &str = "a struct without `#[repr(C)]`";

pub(super) fn not_repr_c(name: &str, is_copy: bool, place: Place) -> UnsupportedType {
    // What rustc would say once the layout is known is said with it.
    let copy = if is_copy { "" } else { " and `#[derive(Clone, Copy)]`" };
    let help = format!("write `#[repr(C)]`{copy} above `struct {name}`");
    UnsupportedType::new(String::new(), NOT_REPR_C, help).or_at(place)
}

pub(super) fn packed(name: &str, place: Place) -> UnsupportedType {
    let help = format!("remove `packed` from `struct {name}`, or pass its fields one by one");
    UnsupportedType::new(String::new(), "a packed struct", help).or_at(place)
}

pub(super) fn no_fields(name: &str, place: Place) -> UnsupportedType {
    let help = format!("leave it out, or give `{name}` a field");
    UnsupportedType::new(String::new(), "a struct without fields", help).or_at(place)
}

pub(super) fn sealed(written: String) -> UnsupportedType {
    let why = "which has size zero and a private field, so that only its own module can make values of it";
    let help = "leave the parameter out and make the value in the kernel, or make the fields `pub`";
    UnsupportedType::new(written, why, help)
}

pub(super) fn enum_without_repr(name: &str, place: Place) -> UnsupportedType {
    let help =
        format!("write `#[repr(u32)]`, or another integer of 8 to 64 bits, above `enum {name}`");
    let why = "an enum without `#[repr(..)]` of an integer whose size is the same on every device";
    UnsupportedType::new(String::new(), why, help).or_at(place)
}

pub(super) fn enum_with_data(name: &str, variant: &str, place: Place) -> UnsupportedType {
    let help = format!("pass what `{name}::{variant}` holds as a parameter of its own");
    UnsupportedType::new(String::new(), "an enum with data", help).or_at(place)
}

pub(super) fn empty_enum(name: &str, place: Place) -> UnsupportedType {
    let help = format!("leave it out, or give `{name}` a variant");
    UnsupportedType::new(String::new(), "an enum without variants", help).or_at(place)
}

pub(super) fn unknown_discriminant(name: &str, variant: &str, place: Place) -> UnsupportedType {
    let help =
        format!("write the value of `{name}::{variant}` as a number, or as a `const` that is one");
    UnsupportedType::new(
        String::new(),
        "an enum with a discriminant that cannot be read from the source",
        help,
    )
    .or_at(place)
}

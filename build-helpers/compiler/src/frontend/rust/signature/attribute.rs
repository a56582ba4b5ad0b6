//! What stands in the parentheses of `#[kernel(..)]`.

use super::{instances::Listed, text::Text};
use crate::{
    diagnostic::{Code, Place},
    frontend::limits,
};
use kernelmill_artifact::{Dimension, LaunchLimits, target::nearest_within};
use syn::{
    Attribute, Expr, Lit, Meta, MetaNameValue, Token,
    parse::{Parse, ParseStream},
    spanned::Spanned,
};

/// The arguments of the attribute, and everything that is wrong with them.
pub(super) struct Arguments {
    pub(super) dimension: Dimension,
    /// The parameter that is the width of the rows, with the place where it is named.
    pub(super) width: Option<(String, Place)>,
    pub(super) limits: LaunchLimits,
    /// The instances of a generic kernel, as they are listed.
    pub(super) instances: Vec<Listed>,
    /// What each variant says of its launches, with its place.
    pub(super) variants: Vec<(LaunchLimits, Place)>,
    pub(super) reports: Vec<Report>,
}

/// Something that is wrong, without the kernel's name.
pub(super) struct Report {
    pub(super) code: Code,
    pub(super) place: Place,
    pub(super) message: String,
    pub(super) help: String,
}

impl Arguments {
    pub(super) fn read(attribute: &Attribute, text: &Text<'_>) -> Self {
        let (dimension, limits) = (Dimension::One, LaunchLimits::NONE);
        let (instances, variants, reports) = (Vec::new(), Vec::new(), Vec::new());
        let mut arguments = Self { dimension, width: None, limits, instances, variants, reports };
        if !matches!(attribute.meta, Meta::Path(_)) {
            arguments.fill(attribute, text);
        }
        arguments
    }

    fn fill(&mut self, attribute: &Attribute, text: &Text<'_>) {
        let mut places: Vec<(String, Place)> = Vec::new();
        let mut seen: Vec<String> = Vec::new();
        let parsed = attribute.parse_nested_meta(|meta| {
            let name = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
            let place = text.place(&meta.path);
            let has_value = meta.input.peek(Token![=]);
            if seen.contains(&name) {
                self.refuse(place.clone(), format!("is given `{name}` twice"), "write it once");
            }
            seen.push(name.clone());
            if !NAMES.contains(&name.as_str()) {
                self.refuse_name(&text.written(&meta.path), place);
                return skip(meta.input);
            }
            if has_value == (name == "fast_math") {
                self.refuse_form(&name, place);
                return skip(meta.input);
            }
            match name.as_str() {
                "fast_math" => Ok(()),
                "variants" => {
                    let listed = meta.value().and_then(|input| self.list_variants(input, text));
                    if listed.is_err() {
                        let help = "write `variants = [{ launch_bounds = 64 }]`";
                        let message =
                            "has the argument `variants`, whose value is not a list of tables"
                                .to_owned();
                        self.refuse_variant(place, message, help);
                        return skip(meta.input);
                    }
                    Ok(())
                }
                _ => {
                    let value: Expr = meta.value()?.parse()?;
                    self.take(&name, &value, text);
                    places.push((name, text.place_of(value.span())));
                    Ok(())
                }
            }
        });
        if let Err(error) = parsed {
            self.refuse_syntax(&error, attribute, text);
        }
        if let Some((_, place)) = self.width.as_ref().filter(|_| self.dimension != Dimension::Two) {
            let message =
                "has the argument `width`, and is not a kernel of two dimensions".to_owned();
            self.refuse(place.clone(), message, "add `dim = 2`");
        }
        self.check_limits(&places, &text.place(attribute));
    }

    /// Takes an argument with a value.
    fn take(&mut self, name: &str, value: &Expr, text: &Text<'_>) {
        let (written, place) = (text.written(value), text.place(value));
        match (name, number(value)) {
            ("instances", _) => self.list_instances(value, text),
            ("width", _) => match value {
                Expr::Path(it) if it.path.get_ident().is_some() => {
                    self.width = Some((written, place));
                }
                _ => {
                    let message = format!(
                        "has the argument `width = {written}`, which does not name a parameter"
                    );
                    self.refuse(place, message, WIDTH);
                }
            },
            ("dim", Some(1)) => self.dimension = Dimension::One,
            ("dim", Some(2)) => self.dimension = Dimension::Two,
            ("dim", Some(3)) => self.dimension = Dimension::Three,
            ("dim", _) => {
                let message = format!("has `{written}` dimensions");
                self.refuse(place, message, "write `dim = 1`, `dim = 2` or `dim = 3`");
            }
            _ => {
                if limit(&mut self.limits, name, value) != Some(true) {
                    self.refuse_size(name, value, &written, place);
                }
            }
        }
    }

    fn refuse(&mut self, place: Place, message: String, help: impl Into<String>) {
        let code = Code::KernelAttribute;
        self.reports.push(Report { code, place, message, help: help.into() });
    }

    /// Reports an argument that does not exist.
    fn refuse_name(&mut self, written: &str, place: Place) {
        let help = match nearest_within(written, NAMES.map(str::to_owned), 2) {
            Some(name) => format!("write `{}`", example(&name)),
            None => format!("remove it, or write one of `{}`", NAMES.join("`, `")),
        };
        self.refuse(
            place,
            format!("is given `{written}`, which is not an argument of `#[kernel]`"),
            help,
        );
    }

    /// Reports an argument without its value, or with one that it has not.
    fn refuse_form(&mut self, name: &str, place: Place) {
        let help = match name {
            "width" => WIDTH.to_owned(),
            name => format!("write `{}`", example(name)),
        };
        let message = match name {
            "fast_math" => "is given `fast_math` with a value".to_owned(),
            name => format!("is given `{name}` without a value"),
        };
        self.refuse(place, message, help);
    }

    /// Reports arguments that are no list of names and values.
    fn refuse_syntax(&mut self, error: &syn::Error, attribute: &Attribute, text: &Text<'_>) {
        let written = text.written(attribute);
        let message = format!("is marked `{written}`, which cannot be read: {error}");
        let place = match &attribute.meta {
            Meta::List(_) => text.place_of(error.span()),
            Meta::Path(_) | Meta::NameValue(_) => text.place(attribute),
        };
        let help = "write names with their values, `#[kernel(dim = 2, block_size = [16, 16, 1])]`";
        self.refuse(place, message, help);
    }

    /// Takes the instances, a list of texts.
    fn list_instances(&mut self, value: &Expr, text: &Text<'_>) {
        let items: Vec<&Expr> = match value {
            Expr::Array(list) => list.elems.iter().collect(),
            value => vec![value],
        };
        for item in items {
            match item {
                Expr::Lit(literal) if matches!(value, Expr::Array(_)) => {
                    if let Lit::Str(written) = &literal.lit {
                        self.instances.push(Listed::of_attribute(written, text.place(item)));
                        continue;
                    }
                    self.refuse_instance(item, text);
                }
                item => self.refuse_instance(item, text),
            }
        }
    }

    /// Takes the variants, a list of what each says of its launches.
    fn list_variants(&mut self, input: ParseStream<'_>, text: &Text<'_>) -> syn::Result<()> {
        let list;
        syn::bracketed!(list in input);
        while !list.is_empty() {
            let (place, inside);
            let brace = syn::braced!(inside in list);
            place = text.place_of(brace.span.join());
            let mut limits = LaunchLimits::NONE;
            let said = inside.parse_terminated(MetaNameValue::parse, Token![,])?;
            for MetaNameValue { path, value, .. } in &said {
                let name = path.get_ident().map(ToString::to_string).unwrap_or_default();
                let is_known = VARIANT_LIMITS.contains(&name.as_str());
                match limit(&mut limits, &name, value).filter(|_| is_known) {
                    Some(true) => {}
                    Some(false) => {
                        self.refuse_size(&name, value, &text.written(value), text.place(value));
                    }
                    None => {
                        let message = format!(
                            "has a variant with `{}`, which is not an argument of a variant",
                            text.written(path)
                        );
                        let help = "a variant in the attribute has `launch_bounds`, `block_size`, `min_blocks`, \
                                    `max_registers` and `index_width`; `name` and `targets` are for the settings";
                        self.refuse_variant(text.place(path), message, help);
                    }
                }
            }
            if said.is_empty() {
                let help = "write `launch_bounds`, `block_size`, `min_blocks`, `max_registers` or `index_width`, or \
                            remove it";
                let message = "has a variant without launch bounds".to_owned();
                self.refuse_variant(place.clone(), message, help);
            }
            for fault in limits::check_variant(&limits) {
                let message = format!(
                    "has a variant with launch bounds that are not valid: {}",
                    fault.message
                );
                let (code, help) = (Code::Launches, fault.help.to_owned());
                self.reports.push(Report { code, place: place.clone(), message, help });
            }
            self.variants.push((limits, place));
            if !list.is_empty() {
                list.parse::<Token![,]>()?;
            }
        }
        Ok(())
    }

    fn refuse_variant(&mut self, place: Place, message: String, help: &str) {
        self.reports.push(Report { code: Code::Variants, place, message, help: help.to_owned() });
    }

    fn refuse_instance(&mut self, item: &Expr, text: &Text<'_>) {
        let message = format!(
            "lists `{}` as an instance, which is not a string in a list",
            text.written(item)
        );
        let help = "write a list of strings, `instances = [\"f32, 16\"]`".to_owned();
        self.reports.push(Report { code: Code::Instances, place: text.place(item), message, help });
    }

    fn refuse_size(&mut self, name: &str, value: &Expr, written: &str, place: Place) {
        let message = format!("has the argument `{name} = {written}`, whose value is not valid");
        let help = match number(value).filter(|number| *number > 0 && SIZES.contains(&name)) {
            Some(number) => format!("write `{name} = [{number}, 1, 1]`"),
            None => format!("write `{}`", example(name)),
        };
        self.refuse(place, message, help);
    }

    /// Reports limits that cannot be, each at its own place, or else at that of the attribute.
    fn check_limits(&mut self, places: &[(String, Place)], attribute: &Place) {
        for fault in limits::check(&self.limits) {
            let place = places.iter().find(|(name, _)| name == fault.name);
            let place = place.map_or_else(|| attribute.clone(), |(_, place)| place.clone());
            let message = format!("has launch bounds that are not valid: {}", fault.message);
            self.reports.push(Report {
                code: Code::Launches,
                place,
                message,
                help: fault.help.to_owned(),
            });
        }
    }
}

/// The arguments that there are.
const NAMES: [&str; 11] = [
    "dim",
    "width",
    "fast_math",
    "instances",
    "variants",
    "launch_bounds",
    "block_size",
    "min_blocks",
    "max_registers",
    "index_width",
    "cluster",
];
/// Those with a number for each axis.
const SIZES: [&str; 2] = ["block_size", "cluster"];
/// What to write for the width of rows.
const WIDTH: &str =
    "write `width = w`, where `w` is the parameter of the kernel that is the width of the rows";
/// What a variant in the attribute can say.
const VARIANT_LIMITS: [&str; 5] =
    ["launch_bounds", "block_size", "min_blocks", "max_registers", "index_width"];

/// Takes a limit; `None`: there is none of this name, `Some(false)`: the value is none.
fn limit(limits: &mut LaunchLimits, name: &str, value: &Expr) -> Option<bool> {
    let one = |slot: &mut u32| match number(value).filter(|number| *number > 0) {
        Some(number) => {
            *slot = number;
            true
        }
        None => false,
    };
    match name {
        "launch_bounds" => Some(one(&mut limits.max_block_threads)),
        "min_blocks" => Some(one(&mut limits.min_blocks)),
        "max_registers" => Some(one(&mut limits.max_registers)),
        "index_width" => Some(one(&mut limits.index_width)),
        "block_size" => Some(three(value, &mut limits.block)),
        "cluster" => Some(three(value, &mut limits.cluster)),
        _ => None,
    }
}

/// An argument as it is written.
fn example(name: &str) -> &'static str {
    match name {
        "dim" => "dim = 2",
        "width" => "width = w",
        "fast_math" => "fast_math",
        "instances" => "instances = [\"f32\"]",
        "variants" => "variants = [{ launch_bounds = 64 }]",
        "block_size" => "block_size = [16, 16, 1]",
        "cluster" => "cluster = [2, 1, 1]",
        "min_blocks" => "min_blocks = 2",
        "max_registers" => "max_registers = 64",
        "index_width" => "index_width = 32",
        _ => "launch_bounds = 256",
    }
}

/// Moves to the next argument.
fn skip(input: ParseStream<'_>) -> syn::Result<()> {
    while !input.is_empty() && !input.peek(Token![,]) {
        input.parse::<proc_macro2::TokenTree>()?;
    }
    Ok(())
}

/// A literal number.
fn number(value: &Expr) -> Option<u32> {
    let Expr::Lit(literal) = value else { return None };
    let Lit::Int(number) = &literal.lit else { return None };
    number.base10_parse().ok()
}

/// Three literal numbers, of which none is zero.
fn three(value: &Expr, slot: &mut [u32; 3]) -> bool {
    let Expr::Array(array) = value else { return false };
    let numbers: Option<Vec<u32>> = array.elems.iter().map(number).collect();
    match numbers.as_deref() {
        Some(&[x, y, z]) if x > 0 && y > 0 && z > 0 => {
            *slot = [x, y, z];
            true
        }
        _ => false,
    }
}

//! What stands in the parentheses of `#[kernel(..)]`.

use super::{instances::Listed, text::Text};
use crate::{
    diagnostic::{Code, Place},
    frontend::limits,
};
use kernelmill_artifact::{Dimension, LaunchLimits};
use syn::{
    Attribute, Expr, Lit, Meta, MetaNameValue,
    parse::{Parse, ParseStream},
    spanned::Spanned,
};

/// The arguments of the attribute, and everything that is wrong with them.
pub(super) struct Arguments {
    pub(super) dimension: Dimension,
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
        let mut arguments = Self { dimension, limits, instances, variants, reports };
        if !matches!(attribute.meta, Meta::Path(_)) {
            arguments.fill(attribute, text);
        }
        arguments
    }

    fn fill(&mut self, attribute: &Attribute, text: &Text<'_>) {
        let mut places: Vec<(String, Place)> = Vec::new();
        let (mut says_no_dimension, mut lists_no_variants) = (false, false);
        let parsed = attribute.parse_nested_meta(|meta| {
            // The attribute itself checks which parameter `width` names.
            if meta.path.is_ident("width") {
                return meta.value()?.parse::<syn::Ident>().map(drop);
            }
            if meta.path.is_ident("fast_math") && !meta.input.peek(syn::Token![=]) {
                return Ok(());
            }
            let name = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
            if name == "variants" {
                let listed = meta.value().and_then(|input| self.list_variants(input, text));
                return listed.inspect_err(|_| lists_no_variants = true);
            }
            let value: Expr = meta.value()?.parse()?;
            let place = text.place_of(value.span());
            if name == "instances" {
                self.list_instances(&value, text);
                return Ok(());
            }
            let number = number(&value);
            match (name.as_str(), number) {
                ("dim", Some(1)) => self.dimension = Dimension::One,
                ("dim", Some(2)) => self.dimension = Dimension::Two,
                ("dim", Some(3)) => self.dimension = Dimension::Three,
                ("dim", _) => says_no_dimension = true,
                _ => match limit(&mut self.limits, &name, &value) {
                    Some(true) => places.push((name, place)),
                    Some(false) => self.refuse_size(&name, &text.written(&value), place),
                    None => return Err(meta.error("unknown argument")),
                },
            }
            Ok(())
        });
        let written = text.written(attribute);
        if lists_no_variants {
            let message = format!("is marked `{written}`, whose variants are no list");
            let help = "write `variants = [{ launch_bounds = 64 }]`";
            self.refuse_variant(text.place(attribute), message, help);
        } else if parsed.is_err() || says_no_dimension {
            let message = format!("is marked `{written}`, which says no dimension");
            let help = "write `#[kernel]`, `#[kernel(dim = 2)]` or `#[kernel(dim = 3)]`";
            let place = text.place(attribute);
            self.reports.push(Report {
                code: Code::KernelAttribute,
                place,
                message,
                help: help.to_owned(),
            });
        }
        self.check_limits(&places, &text.place(attribute));
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
            let said = inside.parse_terminated(MetaNameValue::parse, syn::Token![,])?;
            for MetaNameValue { path, value, .. } in &said {
                let name = path.get_ident().map(ToString::to_string).unwrap_or_default();
                let is_known = VARIANT_LIMITS.contains(&name.as_str());
                match limit(&mut limits, &name, value).filter(|_| is_known) {
                    Some(true) => {}
                    Some(false) => self.refuse_size(&name, &text.written(value), text.place(value)),
                    None => {
                        let message = format!("has a variant with `{}`", text.written(path));
                        let help = "a variant in the attribute has `launch_bounds`, `max_registers` and `index_width`; \
                                    `name` and `targets` are for the settings";
                        self.refuse_variant(text.place(path), message, help);
                    }
                }
            }
            if said.is_empty() {
                let help = "write `launch_bounds`, `max_registers` or `index_width`, or remove it";
                let message = "has a variant that says nothing of its launches".to_owned();
                self.refuse_variant(place.clone(), message, help);
            }
            for fault in limits::check(&limits) {
                let message = format!("has a variant whose launches cannot be: {}", fault.message);
                let (code, help) = (Code::Launches, fault.help.to_owned());
                self.reports.push(Report { code, place: place.clone(), message, help });
            }
            self.variants.push((limits, place));
            if !list.is_empty() {
                list.parse::<syn::Token![,]>()?;
            }
        }
        Ok(())
    }

    fn refuse_variant(&mut self, place: Place, message: String, help: &str) {
        self.reports.push(Report { code: Code::Variants, place, message, help: help.to_owned() });
    }

    fn refuse_instance(&mut self, item: &Expr, text: &Text<'_>) {
        let message = format!("lists `{}` as an instance", text.written(item));
        let help = "write a list of texts, `instances = [\"f32, 16\"]`".to_owned();
        self.reports.push(Report { code: Code::Instances, place: text.place(item), message, help });
    }

    fn refuse_size(&mut self, name: &str, written: &str, place: Place) {
        let message = format!("has the attribute `{name} = {written}`, which is no size");
        let help = format!("write `{name} = {}`", example(name));
        self.reports.push(Report { code: Code::KernelAttribute, place, message, help });
    }

    /// Reports limits that cannot be, each at its own place, or else at that of the attribute.
    fn check_limits(&mut self, places: &[(String, Place)], attribute: &Place) {
        for fault in limits::check(&self.limits) {
            let place = places.iter().find(|(name, _)| name == fault.name);
            let place = place.map_or_else(|| attribute.clone(), |(_, place)| place.clone());
            let message = format!("has launches that cannot be: {}", fault.message);
            self.reports.push(Report {
                code: Code::Launches,
                place,
                message,
                help: fault.help.to_owned(),
            });
        }
    }
}

/// What a variant in the attribute can say.
const VARIANT_LIMITS: [&str; 3] = ["launch_bounds", "max_registers", "index_width"];

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

fn example(name: &str) -> &'static str {
    match name {
        "block_size" => "[16, 16, 1]",
        "cluster" => "[2, 1, 1]",
        "min_blocks" => "2",
        "max_registers" => "64",
        "index_width" => "32",
        _ => "256",
    }
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

//! The entry point of a kernel: a function with the C calling convention, which the compiler turns
//! into the kernel, and a table of the sizes of its parameters.

use crate::{
    arguments::Arguments,
    error::{Errors, compile_error},
    function::{Function, ascii},
    instances::{self, Instance},
    parameter::Kind,
    template::expand,
    tokens::is_punct,
};
use proc_macro::{Ident, Span, TokenStream, TokenTree};

// The device crate's macro drops its argument except in the build for devices, so that the
// user's own crate needs to know nothing of `cfg(kernelmill)`.
const ENTRY: &str = r#"
::kernelmill_device::__entry! {
    #[allow(warnings, clippy::all, clippy::pedantic, clippy::restriction)]
    const _: () = {
        ITEMS
        CHECKS
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn ENTRY_NAME LIFETIMES (PARAMETERS) BOUNDS {
            STATICS
            // SAFETY: the launch passes what the parameters say, over the kernel's dimensions.
            unsafe {
                ::kernelmill_device::__shim::launched_over::<DIMENSION>();
                let __kernelmill_launch = ::kernelmill_device::__shim::LaunchScope::new();
                let __kernelmill_lifetime = __kernelmill_launch.lifetime();
                MARKS
                BRANDS
                CALL
            }
        }
        #[unsafe(no_mangle)]
        pub static LAYOUT_NAME: [u64; COUNT] = [LAYOUT];
    };
}"#;

/// The items of one instance around its entry, whose names are in another block than the kernel's parameters.
const INSTANCE: &str = r#"
#[allow(warnings, clippy::all, clippy::pedantic, clippy::restriction)]
const _: () = {
    ITEMS
    ENTRY
};"#;

/// The entries and the layouts of `function`: one of each, or of a generic kernel one for each instance.
pub(crate) fn entries(
    arguments: &Arguments,
    function: &Function,
    errors: &mut Errors,
) -> TokenStream {
    if function.generics.is_empty() {
        if !arguments.instances.is_empty() {
            errors.push(
                function.name.span(),
                "`instances` is for a kernel with type or constant parameters: remove it",
            );
        }
        return entry(arguments, function, None, errors);
    }
    let instances = instances::of(&arguments.instances, function, errors);
    if instances.is_empty() {
        let message = "a kernel with type or constant parameters needs instances: write \
                       `#[kernel(instances = [..])]`";
        // In a build for the host the settings are not known, which may list instances.
        let error = compile_error(function.name.span(), message).into_iter().collect();
        return expand("::kernelmill_device::__entry! { ERROR }", &[("ERROR", error)]);
    }
    let mut output = TokenStream::new();
    for instance in &instances {
        let entry = entry(arguments, function, Some(instance), errors);
        output.extend(expand(INSTANCE, &[("ITEMS", instance.items.clone()), ("ENTRY", entry)]));
    }
    expand("::kernelmill_device::__entry! { ENTRIES }", &[("ENTRIES", output)])
}

/// The entry and the layout of a kernel, or of one instance of it.
fn entry(
    arguments: &Arguments,
    function: &Function,
    instance: Option<&Instance>,
    errors: &mut Errors,
) -> TokenStream {
    let width = width(arguments, function, errors);
    let mut parameters = TokenStream::new();
    let mut call = TokenStream::new();
    let mut layout = TokenStream::new();
    let mut checks = TokenStream::new();
    let mut crossing = 0;
    let mut arrays = BlockArrays::default();
    for (index, parameter) in function.parameters.iter().enumerate() {
        let kind = instance.and_then(|it| parameter.kind.with(&it.written));
        let kind = kind.as_ref().unwrap_or(&parameter.kind);
        let entry_parameter = EntryParameter::new(index, kind);
        arrays.add(&entry_parameter);
        crossing += usize::from(!matches!(kind, Kind::BlockArray { .. }));
        parameters.extend(entry_parameter.parameters());
        call.extend(entry_parameter.argument(width.as_ref()));
        layout.extend(entry_parameter.layout());
        checks.extend(entry_parameter.check());
    }
    let name = match instance {
        None => function.symbol(),
        Some(instance) => ascii(&format!("{}{}", function.plain_name(), instance.suffix)),
    };
    let count = 2 * crossing;
    let called = [
        ("KERNEL", TokenTree::from(function.name.clone()).into()),
        ("GENERICS", instance.map_or_else(TokenStream::new, |it| it.arguments.clone())),
        ("ARGUMENTS", call),
    ];
    let call = match instance {
        None => expand("KERNEL(ARGUMENTS)", &called),
        Some(_) => expand("KERNEL::<GENERICS>(ARGUMENTS)", &called),
    };
    let items = instance.map_or_else(TokenStream::new, |_| instances::aliases(&function.generics));
    expand(
        ENTRY,
        &[
            ("ENTRY_NAME", identifier(&format!("__kernelmill_entry_{name}"))),
            ("LAYOUT_NAME", identifier(&format!("__kernelmill_layout_{name}"))),
            ("ITEMS", items),
            ("CHECKS", checks),
            ("LIFETIMES", function.lifetimes.iter().cloned().collect()),
            ("BOUNDS", function.bounds.iter().cloned().collect()),
            ("DIMENSION", expand(&arguments.dimension.to_string(), &[])),
            ("MARKS", marks(arguments)),
            ("CALL", call),
            ("BRANDS", arrays.brands),
            ("STATICS", arrays.statics),
            ("COUNT", expand(&count.to_string(), &[])),
            ("PARAMETERS", parameters),
            ("LAYOUT", layout),
        ],
    )
}

/// Calls of marker functions, by which the compiler reads further arguments of the attribute.
fn marks(arguments: &Arguments) -> TokenStream {
    let fast_math = if arguments.fast_math { "::kernelmill_device::fast::mark();" } else { "" };
    expand(fast_math, &[])
}

/// The entry's parameter that holds the width of the rows.
fn width(arguments: &Arguments, function: &Function, errors: &mut Errors) -> Option<TokenStream> {
    let wanted = arguments.width.as_ref()?;
    let found = function
        .parameters
        .iter()
        .position(|parameter| parameter.name.as_deref() == Some(&wanted.to_string()));
    let integer = found.is_some_and(|index| match &function.parameters[index].kind {
        Kind::Scalar(ty) => matches!(ty.to_string().as_str(), "u8" | "u16" | "u32" | "usize"),
        _ => false,
    });
    if integer {
        return found.map(|index| identifier(&format!("__kernelmill_p{index}")));
    }
    errors.push(
        wanted.span(),
        format!("`width` names `{wanted}`, which is not a parameter of the kernel: add the parameter `{wanted}: u32`"),
    );
    None
}

fn identifier(name: &str) -> TokenStream {
    TokenTree::from(Ident::new(name, Span::call_site())).into()
}

/// A parameter of the entry point, with the slots of its templates.
struct EntryParameter<'a> {
    kind: &'a Kind,
    slots: [(&'static str, TokenStream); 4],
}

impl<'a> EntryParameter<'a> {
    fn new(index: usize, kind: &'a Kind) -> Self {
        let ty = match kind {
            Kind::Scalar(ty)
            | Kind::Value(ty)
            | Kind::Slice(ty)
            | Kind::TensorMap(ty)
            | Kind::Disjoint(ty)
            | Kind::BlockArray { element: ty, .. } => ty,
        };
        let count = match kind {
            Kind::BlockArray { length, .. } => length.clone(),
            _ => TokenStream::new(),
        };
        let name = format!("__kernelmill_p{index}");
        let slots = [
            ("NAME", identifier(&name)),
            ("LENGTH", identifier(&format!("{name}_len"))),
            ("TYPE", ty.clone()),
            ("ELEMENTS", count),
        ];
        Self { kind, slots }
    }

    /// The entry's parameters.
    fn parameters(&self) -> TokenStream {
        let text = match self.kind {
            Kind::Scalar(_) => "NAME: TYPE,",
            Kind::Value(_) | Kind::TensorMap(_) => "NAME: *const TYPE,",
            Kind::Slice(_) => "NAME: *const TYPE, LENGTH: usize,",
            Kind::Disjoint(_) => "NAME: *mut TYPE, LENGTH: usize,",
            Kind::BlockArray { .. } => "",
        };
        expand(text, &self.slots)
    }

    /// The argument that the kernel is called with.
    fn argument(&self, width: Option<&TokenStream>) -> TokenStream {
        let slice = "__kernelmill_lifetime.disjoint(NAME, LENGTH)";
        match (self.kind, width) {
            (Kind::Scalar(_), _) => expand("NAME,", &self.slots),
            (Kind::BlockArray { .. }, _) => {
                expand("NAME.block_array(&raw mut LENGTH),", &self.slots)
            }
            (Kind::Value(_), _) => expand("::core::ptr::read(NAME),", &self.slots),
            (Kind::TensorMap(_), _) => {
                expand("__kernelmill_lifetime.reference(NAME),", &self.slots)
            }
            (Kind::Slice(_), _) => {
                expand("__kernelmill_lifetime.slice(NAME, LENGTH),", &self.slots)
            }
            (Kind::Disjoint(_), Some(width)) => {
                let mut slots = self.slots.to_vec();
                slots.push(("WIDTH", width.clone()));
                let text =
                    format!("::kernelmill_device::__shim::with_rows({slice}, WIDTH as usize),");
                expand(&text, &slots)
            }
            (Kind::Disjoint(_), None) => expand(&format!("{slice},"), &self.slots),
        }
    }

    /// What compiles only where values of its type are copied as the host likes. One without bytes does not cross.
    fn check(&self) -> TokenStream {
        if !matches!(self.kind, Kind::Value(_) | Kind::Slice(_) | Kind::Disjoint(_)) {
            return TokenStream::new();
        }
        let mut slots = self.slots.to_vec();
        slots[2].1 = make_static(slots[2].1.clone());
        expand(
            "const _: () = {
                use ::kernelmill_device::__shim::{NotAtomic as _, NotPlain as _};
                ::core::assert!(
                    ::core::mem::size_of::<TYPE>() == 0
                        || <::kernelmill_device::__shim::Crossing<TYPE>>::IS_PLAIN
                        || <::kernelmill_device::__shim::Atomics<TYPE>>::IS_ATOMIC,
                    \"{}\",
                    ::core::concat!(
                        \"`\", ::core::stringify!(TYPE), \"` crosses between host and device, is copied, and shared by \\
                         threads: it must be `Copy`, `Send` and `Sync`; write `#[derive(Clone, Copy)]` above it\"
                    )
                );
            };",
            &slots,
        )
    }

    /// The size and the alignment of its type.
    fn layout(&self) -> TokenStream {
        let mut slots = self.slots.to_vec();
        slots[2].1 = make_static(slots[2].1.clone());
        if matches!(self.kind, Kind::BlockArray { .. }) {
            return TokenStream::new();
        }
        expand(
            "::core::mem::size_of::<TYPE>() as u64, ::core::mem::align_of::<TYPE>() as u64,",
            &slots,
        )
    }
}

/// The block arrays of a kernel: the entry has their memory, and a brand for each.
#[derive(Default)]
struct BlockArrays {
    statics: TokenStream,
    brands: TokenStream,
}

impl BlockArrays {
    fn add(&mut self, parameter: &EntryParameter<'_>) {
        if !matches!(parameter.kind, Kind::BlockArray { .. }) {
            return;
        }
        let mut slots = parameter.slots.clone();
        slots[2].1 = make_static(slots[2].1.clone());
        self.statics.extend(expand(
            "static mut LENGTH: ::kernelmill_device::shared::SharedArray<TYPE, ELEMENTS> =
                ::kernelmill_device::shared::SharedArray::UNINIT;",
            &slots,
        ));
        self.brands.extend(expand(
            "let NAME = ::kernelmill_device::__shim::LaunchScope::new();
            let NAME = ::kernelmill_device::block_array::Brand::new(&NAME);",
            &slots,
        ));
    }
}

/// `ty` with every lifetime `'static`, as a static needs it.
fn make_static(ty: TokenStream) -> TokenStream {
    let mut output: Vec<TokenTree> = Vec::new();
    for token in ty {
        let token = match token {
            TokenTree::Group(group) => {
                let mut inner =
                    proc_macro::Group::new(group.delimiter(), make_static(group.stream()));
                inner.set_span(group.span());
                inner.into()
            }
            TokenTree::Ident(name) if is_punct(output.last(), '\'') => {
                Ident::new("static", name.span()).into()
            }
            token => token,
        };
        output.push(token);
    }
    output.into_iter().collect()
}

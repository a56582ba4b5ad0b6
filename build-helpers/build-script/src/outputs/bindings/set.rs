//! The static that describes everything embedded, as an expression.

use super::{
    embedded::{Build, Embedded},
    expr::{Expr, Field, hexadecimal},
    model::{Interface, Variable},
    tuned::Tuned,
    variables,
};
use crate::{compile::binary::Binary, tuning::Choice};
use kernelmill_artifact::{
    Access, ArtifactKind, Dimension, EnumLayout, FORMAT_VERSION, FunctionType, LaunchLimits,
    Parameter, ParameterKind, Resources, Safety, Signature, StructLayout, ValueType,
};
use kernelmill_compiler::{CompiledKernel, SourceFrame};
use std::{collections::HashMap, hash::Hash};

/// What the static's initializer stands in: a block inside the static.
const INDENT: usize = 4;

/// The initializer, in terms of `cg`, the run time's module for generated code.
pub(super) fn expression(
    package: &str,
    interface: &Interface,
    embedded: &[Embedded<'_>],
    tuned: &[Tuned<'_>],
) -> String {
    let lists = Shared::of(interface).lists;
    let lists = lists.into_iter().enumerate().map(|(number, list)| (list, number)).collect();
    let signatures = interface.kernels.iter().map(|kernel| signature(&kernel.signature, &lists));
    let functions = interface.functions.iter().map(|(_, it)| Expr::atom(hexadecimal(it.id())));
    let fields = vec![
        Field::new("format_version", Expr::atom(FORMAT_VERSION.to_string())),
        Field::new("package", Expr::text(package)),
        Field::new("signatures", Expr::Slice(signatures.collect())),
        Field::new("functions", Expr::Slice(functions.collect())),
        Field::new("variables", variables::list(interface)),
        Field::new("tuned", Expr::Slice(tuned.iter().map(tuned_launch).collect())),
        Field::new(
            "artifacts",
            Expr::Slice(embedded.iter().map(|it| artifact(interface, it)).collect()),
        ),
    ];
    Expr::Struct("cg::KernelSet", fields).print(INDENT, usize::MAX / 2)
}

fn tuned_launch(tuned: &Tuned<'_>) -> Expr {
    let Choice { group, device, size_class, block, max_registers, .. } = tuned.choice;
    let number = |number: u32| Expr::atom(number.to_string());
    let numbers = |numbers: &[u32]| Expr::Slice(numbers.iter().copied().map(number).collect());
    let fields = vec![
        Field::new("group", Expr::text(group.as_deref().unwrap_or_default())),
        Field::new("signature", Expr::atom(tuned.kernel.to_string())),
        Field::new("device", Expr::text(device)),
        Field::new("size_class", numbers(size_class)),
        Field::new("block", numbers(block)),
        Field::new("max_registers", number(max_registers.unwrap_or(0).into())),
    ];
    Expr::Struct("cg::TunedLaunch", fields)
}

/// The symbols of the CPU kernels that have a wrapper.
pub(super) fn symbols<'a>(
    interface: &'a Interface,
    embedded: &'a [Embedded<'_>],
) -> impl Iterator<Item = &'a str> {
    embedded.iter().flat_map(move |it| {
        let source = it.binary.source;
        let kernels = it.binary.artifact.kernels.iter();
        let kernels = kernels.filter(move |it| interface.index_of(source, &it.name).is_some());
        kernels.filter_map(|kernel| kernel.cpu_symbol.as_deref())
    })
}

/// The variables of a binary for the CPU that have a method: the bytes of each, its symbol in the source, and in the binary.
pub(super) fn variables<'a>(
    interface: &'a Interface,
    embedded: &'a Embedded<'_>,
) -> impl Iterator<Item = (u64, &'a str, &'a str)> {
    let Binary { source, artifact, .. } = embedded.binary;
    artifact.variables.iter().filter_map(move |(symbol, name)| {
        let is_it = |it: &&Variable| it.sources.contains(source) && it.variable.symbol == *symbol;
        let known = interface.variables.iter().find(is_it)?;
        Some((known.variable.ty.size(), &**symbol, &**name))
    })
}

fn borrowed(value: Expr) -> Expr {
    Expr::call("cg::Cow::Borrowed", [value])
}

/// What signatures have alike, often because kernels are instantiations of one template. Each has an
/// item of its own: rustc is slow with the large expression that they would be in.
struct Shared<'a> {
    /// Each list of parameters once.
    lists: Vec<&'a [Parameter]>,
    /// The parameters that are in several of these lists.
    parameters: Vec<&'a Parameter>,
}

impl<'a> Shared<'a> {
    fn of(interface: &'a Interface) -> Self {
        let lists = interface.kernels.iter().map(|kernel| kernel.signature.parameters());
        let lists: Vec<_> = in_order(lists).into_iter().map(|(list, _)| list).collect();
        let parameters = in_order(lists.iter().flat_map(|list| list.iter()));
        let several = parameters.into_iter().filter(|(_, times)| *times > 1);
        let parameters = several.map(|(parameter, _)| parameter).collect();
        Self { lists, parameters }
    }

    /// The items that declare them.
    fn items(&self) -> impl Iterator<Item = String> {
        let item = |start: String, value: Expr| {
            format!("{start}{};", value.print(INDENT, INDENT + start.len() + 1))
        };
        let parameters = self.parameters.iter().enumerate().map(move |(number, it)| {
            item(format!("const PARAMETER_{number}: cg::Parameter = "), parameter(it))
        });
        let numbers = self.numbers();
        let lists = self.lists.iter().enumerate().map(move |(number, list)| {
            let start = format!("static PARAMETERS_{number}: [cg::Parameter; {}] = ", list.len());
            let named = |it| match numbers.get(it) {
                Some(number) => Expr::atom(format!("PARAMETER_{number}")),
                None => parameter(it),
            };
            item(start, Expr::Array(list.iter().map(named).collect()))
        });
        parameters.chain(lists)
    }

    /// The numbers of the parameters that have an item.
    fn numbers(&self) -> HashMap<&'a Parameter, usize> {
        self.parameters.iter().enumerate().map(|(number, it)| (*it, number)).collect()
    }
}

/// Each of some things once, in the order in which they come first, and how often it comes.
fn in_order<T: Copy + Eq + Hash>(things: impl Iterator<Item = T>) -> Vec<(T, usize)> {
    let (mut places, mut order) = (HashMap::new(), Vec::new());
    for thing in things {
        let place = *places.entry(thing).or_insert_with(|| {
            order.push((thing, 0));
            order.len() - 1
        });
        order[place].1 += 1;
    }
    order
}

/// The items that signatures name, in terms of `cg`.
pub(super) fn shared_parameters(interface: &Interface) -> Vec<String> {
    Shared::of(interface).items().collect()
}

fn signature(signature: &Signature, lists: &HashMap<&[Parameter], usize>) -> Expr {
    let dimension = match signature.dimension {
        Dimension::One => "cg::Dimension::One",
        Dimension::Two => "cg::Dimension::Two",
        Dimension::Three => "cg::Dimension::Three",
        Dimension::Any => "cg::Dimension::Any",
    };
    let safety = match signature.safety {
        Safety::Safe => "cg::Safety::Safe",
        Safety::Unsafe => "cg::Safety::Unsafe",
    };
    let list = lists[signature.parameters()];
    Expr::call(
        "cg::signature",
        [
            Expr::text(&signature.name),
            Expr::text(&signature.symbol),
            Expr::atom(dimension),
            Expr::atom(safety),
            limits(signature.limits),
            Expr::atom(format!("&PARAMETERS_{list}")),
            Expr::atom(format!("({:?}, {})", signature.file, signature.line)),
        ],
    )
}

fn limits(limits: LaunchLimits) -> Expr {
    if limits == LaunchLimits::NONE {
        return Expr::atom("cg::LaunchLimits::NONE");
    }
    Expr::Struct(
        "cg::LaunchLimits",
        vec![
            Field::new("max_block_threads", Expr::atom(limits.max_block_threads.to_string())),
            Field::new("block", Expr::atom(format!("{:?}", limits.block))),
            Field::new("min_blocks", Expr::atom(limits.min_blocks.to_string())),
            Field::new("max_registers", Expr::atom(limits.max_registers.to_string())),
            Field::new("cluster", Expr::atom(format!("{:?}", limits.cluster))),
            Field::new("index_width", Expr::atom(limits.index_width.to_string())),
        ],
    )
}

fn parameter(parameter: &Parameter) -> Expr {
    let memory = |name: &'static str, element: &ValueType, rank: Option<u32>, access: Access| {
        let access = match access {
            Access::Read => "cg::Access::Read",
            Access::Write => "cg::Access::Write",
        };
        let rank = rank.map(|rank| Field::new("rank", Expr::atom(rank.to_string())));
        let element = [Field::new("element", value(element))];
        let access = [Field::new("access", Expr::atom(access))];
        Expr::Struct(name, element.into_iter().chain(rank).chain(access).collect())
    };
    let kind = match &parameter.kind {
        ParameterKind::Value(ty) => Expr::call("cg::ParameterKind::Value", [value(ty)]),
        ParameterKind::Slice { element, access } => {
            memory("cg::ParameterKind::Slice", element, None, *access)
        }
        ParameterKind::Pointer { element, access } => {
            memory("cg::ParameterKind::Pointer", element, None, *access)
        }
        ParameterKind::TensorMap { element, rank, access } => {
            memory("cg::ParameterKind::TensorMap", element, Some(*rank), *access)
        }
        ParameterKind::Shared { element } => {
            let field = Field::new("element", value(element));
            Expr::Struct("cg::ParameterKind::Shared", vec![field])
        }
    };
    Expr::call("cg::Parameter::borrowed", [Expr::text(&parameter.name), kind])
}

fn value(ty: &ValueType) -> Expr {
    let nested =
        |inner: Expr| Expr::call("cg::Nested::Borrowed", [Expr::Reference(Box::new(inner))]);
    match ty {
        ValueType::Scalar(scalar) => {
            let scalar = Expr::atom(format!("cg::Scalar::{scalar:?}"));
            Expr::call("cg::ValueType::Scalar", [scalar])
        }
        ValueType::Array(element, length) => Expr::call(
            "cg::ValueType::Array",
            [nested(value(element)), Expr::atom(length.to_string())],
        ),
        ValueType::Struct(layout) => {
            Expr::call("cg::ValueType::Struct", [nested(structure(layout))])
        }
        ValueType::Enum(layout) => Expr::call("cg::ValueType::Enum", [nested(enumeration(layout))]),
        ValueType::Function(ty) => {
            Expr::call("cg::ValueType::Function", [nested(function_type(ty))])
        }
    }
}

fn function_type(ty: &FunctionType) -> Expr {
    let result = match &ty.result {
        Some(result) => Expr::call("Some", [value(result)]),
        None => Expr::atom("None"),
    };
    let parameters = Expr::Slice(ty.parameters.iter().map(value).collect());
    Expr::Struct(
        "cg::FunctionType",
        vec![
            Field::new("safety", Expr::atom(format!("cg::Safety::{:?}", ty.safety))),
            Field::new("parameters", borrowed(parameters)),
            Field::new("result", result),
        ],
    )
}

fn structure(layout: &StructLayout) -> Expr {
    let fields = layout.fields.iter().map(|field| {
        Expr::Struct(
            "cg::Field",
            vec![
                Field::new("name", borrowed(Expr::text(&field.name))),
                Field::new("ty", value(&field.ty)),
                Field::new("offset", Expr::atom(field.offset.to_string())),
                Field::new("public", Expr::atom(field.public.to_string())),
            ],
        )
    });
    Expr::Struct(
        "cg::StructLayout",
        vec![
            Field::new("name", borrowed(Expr::text(&layout.name))),
            Field::new("size", Expr::atom(layout.size.to_string())),
            Field::new("align", Expr::atom(layout.align.to_string())),
            Field::new("fields", borrowed(Expr::Slice(fields.collect()))),
        ],
    )
}

fn enumeration(layout: &EnumLayout) -> Expr {
    let variants = layout.variants.iter().map(|variant| {
        Expr::Struct(
            "cg::Variant",
            vec![
                Field::new("name", borrowed(Expr::text(&variant.name))),
                Field::new("value", Expr::atom(variant.value.to_string())),
            ],
        )
    });
    Expr::Struct(
        "cg::EnumLayout",
        vec![
            Field::new("name", borrowed(Expr::text(&layout.name))),
            Field::new("scalar", Expr::atom(format!("cg::Scalar::{:?}", layout.scalar))),
            Field::new("variants", borrowed(Expr::Slice(variants.collect()))),
            Field::new("exhaustive", Expr::atom(layout.exhaustive.to_string())),
        ],
    )
}

fn artifact(interface: &Interface, embedded: &Embedded<'_>) -> Expr {
    let artifact = &embedded.binary.artifact;
    let bytes = match artifact.kind {
        ArtifactKind::Object => Expr::Slice(Vec::new()),
        _ => Expr::call("include_bytes!", [Expr::text(&embedded.file)]),
    };
    let locations = artifact.locations.iter().map(|location| {
        Expr::Struct(
            "cg::SourceLocation",
            vec![
                Field::new("file", Expr::text(&location.file)),
                Field::new("line", Expr::atom(location.line.to_string())),
                Field::new("column", Expr::atom(location.column.to_string())),
            ],
        )
    });
    let backtraces = artifact
        .locations
        .iter()
        .map(|location| Expr::Slice(location.frames.iter().map(frame).collect()));
    let has_backtraces = artifact.locations.iter().any(|location| !location.frames.is_empty());
    let relocations = artifact.relocations.iter().map(|(symbol, bytes)| {
        let fields = vec![
            Field::new("symbol", Expr::text(symbol)),
            Field::new("bytes", Expr::atom(bytes.to_string())),
        ];
        Expr::Struct("cg::Relocation", fields)
    });
    let variables = variables(interface, embedded).map(|(_, symbol, name)| {
        let memory = Expr::atom(format!("&raw const {name}"));
        let variable = Expr::call("cg::CpuVariable::new", [Expr::text(symbol), memory]);
        Expr::Unsafe(Box::new(variable))
    });
    let variables = Expr::Slice(variables.collect());
    // What has no wrapper is not named.
    let kernels = embedded.builds.iter().filter_map(|it| {
        let index = interface.index_of(embedded.binary.source, &it.kernel.name)?;
        Some(build(index, it))
    });
    Expr::Struct(
        "cg::EmbeddedArtifact",
        vec![
            Field::new("fingerprint", Expr::text(&embedded.binary.fingerprint.to_string())),
            Field::new("target", Expr::text(&embedded.target)),
            Field::new("kind", Expr::atom(format!("cg::ArtifactKind::{:?}", artifact.kind))),
            Field::new("source", Expr::text(embedded.source)),
            Field::new("bytes", bytes),
            Field::new("kernels", Expr::Slice(kernels.collect())),
            Field::new("locations", Expr::Slice(locations.collect())),
            Field::new(
                "backtraces",
                Expr::Slice(if has_backtraces { backtraces.collect() } else { Vec::new() }),
            ),
            Field::new(
                "messages",
                Expr::Slice(artifact.messages.iter().map(|text| Expr::text(text)).collect()),
            ),
            Field::new("relocations", Expr::Slice(relocations.collect())),
            match embedded.binary.artifact.variables.is_empty() {
                true => Field::new("variables", variables),
                false => Field::new("variables", variables)
                    .with_comment("SAFETY: the object that is linked in exports them."),
            },
        ],
    )
}

fn frame(frame: &SourceFrame) -> Expr {
    Expr::Struct(
        "cg::SourceFrame",
        vec![
            Field::new("function", Expr::text(&frame.function)),
            Field::new("file", Expr::text(&frame.file)),
            Field::new("line", Expr::atom(frame.line.to_string())),
        ],
    )
}

fn build(index: usize, build: &Build<'_>) -> Expr {
    let kernel = kernel(index, build.kernel, build.resources());
    let Some(variant) = &build.variant else { return kernel };
    let variant = Expr::Struct(
        "cg::EmbeddedVariant",
        vec![
            Field::new("name", Expr::text(&variant.name)),
            Field::new("limits", limits(variant.limits)),
            Field::new(
                "defines",
                Expr::Slice(variant.defines.iter().map(|it| Expr::text(it)).collect()),
            ),
        ],
    );
    Expr::call("cg::EmbeddedKernel::as_variant", [kernel, variant])
}

fn kernel(index: usize, kernel: &CompiledKernel, taken: Resources) -> Expr {
    let Some(symbol) = &kernel.cpu_symbol else {
        let loaded = Expr::call(
            "cg::EmbeddedKernel::loaded",
            [
                Expr::atom(index.to_string()),
                Expr::text(&kernel.entry),
                Expr::atom(kernel.static_shared_bytes.to_string()),
                Expr::atom(kernel.panics.to_string()),
                resources(&taken),
            ],
        );
        return match kernel.cooperative {
            true => Expr::call("cg::EmbeddedKernel::as_cooperative", [loaded]),
            false => loaded,
        };
    };
    let entry = Expr::call("cg::CpuEntry::new", [Expr::atom(format!("&raw const {symbol}"))]);
    let entry = match &kernel.strategy {
        Some(strategy) => {
            Expr::call("cg::CpuEntry::with_strategy", [entry, Expr::text(&strategy.to_string())])
        }
        None => entry,
    };
    let entry = Expr::call("Some", [Expr::Unsafe(Box::new(entry))]);
    let why = "SAFETY: the object that is linked in exports it, and nothing writes it.";
    Expr::Struct(
        "cg::EmbeddedKernel",
        vec![
            Field::new("signature", Expr::atom(index.to_string())),
            Field::new("entry", Expr::text(&kernel.entry)),
            Field::new("static_shared_bytes", Expr::atom(kernel.static_shared_bytes.to_string())),
            Field::new("panics", Expr::atom(kernel.panics.to_string())),
            Field::new("cooperative", Expr::atom(kernel.cooperative.to_string())),
            Field::new("resources", resources(&taken)),
            Field::new("variant", Expr::atom("None")),
            Field::new("cpu", entry).with_comment(why),
        ],
    )
}

/// What a kernel takes: the numbers that are known.
fn resources(resources: &Resources) -> Expr {
    let Resources {
        registers,
        scalar_registers,
        spill_stores,
        spill_loads,
        spilled_registers,
        stack_bytes,
        static_shared_bytes,
        constant_bytes,
        max_threads,
    } = *resources;
    let known = [
        ("registers", registers),
        ("scalar_registers", scalar_registers),
        ("spill_stores", spill_stores),
        ("spill_loads", spill_loads),
        ("spilled_registers", spilled_registers),
        ("stack_bytes", stack_bytes),
        ("static_shared_bytes", static_shared_bytes),
        ("constant_bytes", constant_bytes),
        ("max_threads", max_threads),
    ];
    let known = known.into_iter().filter_map(|(name, number)| Some((name, number?)));
    let fields: Vec<_> = known
        .map(|(name, number)| Field::new(name, Expr::atom(format!("Some({number})"))))
        .collect();
    if fields.is_empty() {
        return Expr::atom("cg::Resources::UNKNOWN");
    }
    Expr::Update("cg::Resources", fields, "cg::Resources::UNKNOWN")
}

//! Translations: what naga makes of a kernel in MSL for Metal and in HLSL for D3D12, to look at, and what it cannot.
//!
//! A program's wgpu translates the module again when it is loaded, from SPIR-V and with the places that its pipeline's layout
//! gives to buffers (`docs/src/adr/0021-translation-at-load.md`). Here they have the places that wgpu gives them where a group
//! has no other buffers, so that the text is what devices get but for names.

use naga::{
    AddressSpace, EntryPoint, Expression, Function, MathFunction, ResourceBinding, ShaderStage,
    StorageAccess,
    back::{hlsl, msl},
    proc::{BoundsCheckPolicies, BoundsCheckPolicy},
};

use super::{WgslSource, kernels::used, module::ValidModule};
use crate::{
    Error,
    code::{CodeStage, KernelCode},
};

/// The oldest version of MSL that devices which wgpu opens have.
const MSL: (u8, u8) = (2, 0);

/// The version of HLSL that the compiler of Windows takes; `dxcompiler.dll` takes newer ones.
const HLSL: hlsl::ShaderModel = hlsl::ShaderModel::V5_1;

/// A buffer of an entry point.
struct Buffer {
    binding: ResourceBinding,
    is_uniform: bool,
    is_written: bool,
}

/// The code of kernels in the languages that are wanted, of [`CodeStage::OF_WGSL`]. `kernels` are their names. In WGSL it is
/// that of the whole file.
///
/// # Errors
///
/// [`Error::Wgsl`] for a source that is not valid, [`Error::Tool`] where naga cannot write a kernel in a language.
pub fn translate(
    source: &WgslSource,
    kernels: &[String],
    wanted: &[CodeStage],
) -> Result<Vec<KernelCode>, Error> {
    let wanted: Vec<_> = CodeStage::OF_WGSL.into_iter().filter(|it| wanted.contains(it)).collect();
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let valid = ValidModule::read(source)?;
    let mut codes = Vec::new();
    for kernel in kernels {
        for stage in &wanted {
            let text =
                in_language(source, &valid, kernel, *stage).map_err(|reason| Error::Tool {
                    tool: "naga",
                    subject: format!("`{kernel}` of {} in {}", source.display, language(*stage)),
                    stderr: reason,
                    kept: None,
                })?;
            codes.push(KernelCode { kernel: kernel.clone(), stage: *stage, text });
        }
    }
    Ok(codes)
}

/// What devices of Metal and D3D12 would not load of a source, a line each with file, line and column. Those of Vulkan do.
///
/// ```
/// use kernelmill_compiler::frontend::wgsl::{WgslSource, untranslatable};
/// let text = "
///     @group(0) @binding(0) var<storage, read_write> x: array<f32>;
///     @compute @workgroup_size(1) fn parts() { x[0] = modf(x[1]).fract; }";
/// let display = "kernels/parts.wgsl".to_owned();
/// let source = WgslSource { display, text: text.to_owned(), constants: Vec::new() };
/// let found = untranslatable(&source, &["parts".to_owned()])?;
/// assert!(found[0].starts_with("kernels/parts.wgsl:3:53: devices of Metal and D3D12 cannot load"));
/// # Ok::<(), kernelmill_compiler::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::Wgsl`] for a source that is not valid.
pub fn untranslatable(source: &WgslSource, kernels: &[String]) -> Result<Vec<String>, Error> {
    let valid = ValidModule::read(source)?;
    let module = &valid.module;
    let functions = module.functions.iter().map(|(_, function)| function);
    let functions = functions.chain(module.entry_points.iter().map(|entry| &entry.function));
    let mut faults: Vec<_> = functions.flat_map(|function| unread(source, function)).collect();
    faults.sort_unstable();
    faults.dedup();
    for kernel in kernels {
        for stage in CodeStage::TRANSLATIONS {
            if let Err(reason) = written(&valid, kernel, stage) {
                let (file, language) = (&source.display, language(stage));
                let fault =
                    format!("{file}: `{kernel}` cannot be translated to {language}: {reason}");
                faults.push(fault);
            }
        }
    }
    Ok(faults)
}

/// Calls of functions that naga writes as SPIR-V and does not read.
fn unread(source: &WgslSource, function: &Function) -> Vec<String> {
    let name = |fun: &MathFunction| match fun {
        MathFunction::Modf => Some("modf"),
        MathFunction::Frexp => Some("frexp"),
        MathFunction::Pack4xI8Clamp => Some("pack4xI8Clamp"),
        _ => None,
    };
    let fault = |(handle, expression): (_, &Expression)| {
        let Expression::Math { fun, .. } = expression else { return None };
        let name = name(fun)?;
        let place = function.expressions.get_span(handle).location(&source.text);
        Some(format!(
            "{}:{}:{}: devices of Metal and D3D12 cannot load kernels that call `{name}`, which naga cannot read \
             from SPIR-V",
            source.display, place.line_number, place.line_position
        ))
    };
    function.expressions.iter().filter_map(fault).collect()
}

/// What a language is called.
fn language(stage: CodeStage) -> &'static str {
    match stage {
        CodeStage::Msl => "MSL, for devices of Metal",
        _ => "HLSL, for devices of D3D12",
    }
}

/// A kernel in a language, WGSL too; the error is naga's reason.
fn in_language(
    source: &WgslSource,
    valid: &ValidModule,
    kernel: &str,
    stage: CodeStage,
) -> Result<String, String> {
    match stage {
        CodeStage::Wgsl => Ok(source.text.clone()),
        _ => written(valid, kernel, stage),
    }
}

/// An entry point in a language; the error is naga's reason.
fn written(valid: &ValidModule, kernel: &str, stage: CodeStage) -> Result<String, String> {
    let mut entries = valid.module.entry_points.iter().enumerate();
    let found = entries.find(|(_, entry)| entry.name == kernel);
    let (index, entry) = found.ok_or_else(|| format!("there is no kernel `{kernel}`"))?;
    let variables = used(valid, valid.info.get_entry_point(index)).into_iter();
    let buffers: Vec<_> = variables
        .filter_map(|(_, variable)| {
            let is_written = matches!(variable.space, AddressSpace::Storage { access }
                if access.intersects(StorageAccess::STORE | StorageAccess::ATOMIC));
            let is_uniform = variable.space == AddressSpace::Uniform;
            Some(Buffer { binding: variable.binding?, is_uniform, is_written })
        })
        .collect();
    match stage {
        CodeStage::Msl => in_msl(valid, entry, &buffers),
        _ => in_hlsl(valid, entry, &buffers),
    }
}

/// Buffers are numbered in the order of their groups and bindings; behind them is one with their sizes.
fn in_msl(valid: &ValidModule, entry: &EntryPoint, buffers: &[Buffer]) -> Result<String, String> {
    let target = |(slot, buffer): (usize, &Buffer)| {
        let slot = Some(slot as msl::Slot);
        let target =
            msl::BindTarget { buffer: slot, mutable: buffer.is_written, ..Default::default() };
        (buffer.binding, target)
    };
    let resources = msl::EntryPointResources {
        resources: buffers.iter().enumerate().map(target).collect(),
        sizes_buffer: Some(buffers.len() as msl::Slot),
        ..Default::default()
    };
    let policy = BoundsCheckPolicy::Restrict;
    let options = msl::Options {
        lang_version: MSL,
        per_entry_point_map: [(entry.name.clone(), resources)].into_iter().collect(),
        fake_missing_bindings: false,
        bounds_check_policies: BoundsCheckPolicies {
            index: policy,
            buffer: policy,
            image_load: policy,
            binding_array: policy,
        },
        ..msl::Options::default()
    };
    let entry_point = Some((ShaderStage::Compute, entry.name.clone()));
    let of_entry = msl::PipelineOptions { entry_point, ..Default::default() };
    let (text, info) = msl::write_string(&valid.module, &valid.info, &options, &of_entry)
        .map_err(|error| error.to_string())?;
    for name in info.entry_point_names {
        name.map_err(|error| error.to_string())?;
    }
    Ok(text)
}

/// Uniform buffers, those that are read and those that are written have registers of their own kinds.
fn in_hlsl(valid: &ValidModule, entry: &EntryPoint, buffers: &[Buffer]) -> Result<String, String> {
    let mut next = [0; 3];
    let target = |buffer: &Buffer| {
        let kind = if buffer.is_uniform { 0 } else { 1 + usize::from(buffer.is_written) };
        let register = next[kind];
        next[kind] += 1;
        (
            buffer.binding,
            hlsl::BindTarget { register, restrict_indexing: true, ..Default::default() },
        )
    };
    let options = hlsl::Options {
        shader_model: HLSL,
        binding_map: buffers.iter().map(target).collect(),
        fake_missing_bindings: false,
        ..hlsl::Options::default()
    };
    let entry_point = Some((ShaderStage::Compute, entry.name.clone()));
    let (mut text, of_entry) = (String::new(), hlsl::PipelineOptions { entry_point });
    let info = hlsl::Writer::new(&mut text, &options, &of_entry)
        .write(&valid.module, &valid.info, None)
        .map_err(|error| error.to_string())?;
    for name in info.entry_point_names {
        name.map_err(|error| error.to_string())?;
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "
        @group(0) @binding(1) var<uniform> factor: f32;
        @group(0) @binding(4) var<storage> x: array<f32>;
        @group(1) @binding(0) var<storage, read_write> y: array<f32>;
        @group(2) @binding(0) var<storage, read_write> other: array<f32>;
        var<workgroup> tile: array<f32, 64>;
        @compute @workgroup_size(64)
        fn scale(@builtin(local_invocation_index) i: u32) {
            tile[i] = x[i];
            workgroupBarrier();
            if i < arrayLength(&y) { y[i] = factor * tile[63 - i]; }
        }
        @compute @workgroup_size(1) fn clear() { other[0] = 0.0; }
        ";

    fn source(text: &str) -> WgslSource {
        let display = "kernels/k.wgsl".to_owned();
        WgslSource { display, text: text.to_owned(), constants: Vec::new() }
    }

    fn text_of(kernel: &str, stage: CodeStage) -> String {
        let mut codes = translate(&source(TEXT), &[kernel.to_owned()], &[stage]).unwrap();
        let code = codes.pop().unwrap();
        assert!(codes.is_empty() && (&*code.kernel, code.stage) == (kernel, stage));
        code.text
    }

    #[test]
    fn buffers_of_msl_are_numbered_and_their_sizes_come_last() {
        let text = text_of("scale", CodeStage::Msl);
        for part in
            ["kernel void scale(", "factor [[buffer(0)]]", "x [[buffer(1)]]", "y [[buffer(2)]]"]
        {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(text.contains("_buffer_sizes [[buffer(3)]]"), "{text}");
        // The other kernel's buffer is none of this one.
        assert!(!text.contains("kernel void clear"), "{text}");
        assert!(text_of("clear", CodeStage::Msl).contains("other [[buffer(0)]]"));
    }

    #[test]
    fn buffers_of_hlsl_have_registers_by_their_kind() {
        let text = text_of("scale", CodeStage::Hlsl);
        for part in [
            "[numthreads(64, 1, 1)]",
            "void scale(",
            "register(b0)",
            "register(t0)",
            "register(u0)",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn stages_of_other_languages_are_none_of_it() {
        let kernels = ["scale".to_owned()];
        assert_eq!(translate(&source(TEXT), &kernels, &CodeStage::ALL).unwrap(), []);
        let both = translate(&source(TEXT), &kernels, &CodeStage::OF_WGSL).unwrap();
        assert_eq!(both.iter().map(|it| it.stage).collect::<Vec<_>>(), CodeStage::OF_WGSL);
        assert_eq!(both[0].text, TEXT);
        assert_eq!(untranslatable(&source(TEXT), &kernels).unwrap(), Vec::<String>::new());
    }

    /// Once each, whatever the number of kernels that reach it.
    #[test]
    fn calls_that_the_reader_does_not_take_are_named_with_their_places() {
        let text = "@group(0) @binding(0) var<storage, read_write> x: array<f32>;\n\
                    fn part(v: f32) -> f32 { return modf(v).fract; }\n\
                    @compute @workgroup_size(1) fn a() { x[0] = part(x[1]) + frexp(x[2]).fract; }\n\
                    @compute @workgroup_size(1) fn b() { x[0] = part(x[1]); }\n";
        let kernels = ["a", "b"].map(str::to_owned);
        let found = untranslatable(&source(text), &kernels).unwrap();
        let places: Vec<_> = found.iter().map(|it| it.split(' ').next().unwrap()).collect();
        assert_eq!(places, ["kernels/k.wgsl:2:33:", "kernels/k.wgsl:3:58:"], "{found:?}");
        assert!(found[0].contains("`modf`") && found[1].contains("`frexp`"), "{found:?}");
    }

    #[test]
    fn a_kernel_that_is_not_there_is_an_error_that_names_the_file() {
        let error =
            translate(&source(TEXT), &["none".to_owned()], &CodeStage::OF_WGSL).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("`none` of kernels/k.wgsl in MSL"), "{text}");
        let found = untranslatable(&source(TEXT), &["none".to_owned()]).unwrap();
        assert!(found.len() == 2 && found[1].contains("cannot be translated to HLSL"), "{found:?}");
    }
}

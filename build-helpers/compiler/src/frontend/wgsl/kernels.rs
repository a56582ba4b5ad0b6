//! Kernels of a file in WGSL: its compute entry points, with the buffers that they use as parameters.

use kernelmill_artifact::{
    Access, Dimension, LaunchLimits, MAX_ARGUMENTS, Parameter, ParameterKind, Safety, Signature,
};
use naga::{AddressSpace, EntryPoint, GlobalVariable, Handle, StorageAccess, valid::FunctionInfo};

use super::{
    WgslSource,
    module::{Fault, ValidModule, place, refuse},
    types::Types,
};
use crate::{
    Error,
    frontend::cuda::{CudaKernel, clang::lower::check_limits},
};

/// Reads the kernels of a file.
///
/// ```
/// use kernelmill_compiler::frontend::wgsl::{WgslSource, kernels};
/// let text = "
///     @group(0) @binding(0) var<uniform> factor: f32;
///     @group(0) @binding(1) var<storage, read_write> x: array<f32>;
///     @compute @workgroup_size(64)
///     fn scale(@builtin(global_invocation_id) id: vec3<u32>) {
///         if id.x < arrayLength(&x) { x[id.x] *= factor; }
///     }";
/// let source = WgslSource {
///     display: "kernels/scale.wgsl".to_owned(),
///     text: text.to_owned(),
///     constants: Vec::new(),
/// };
/// let kernels = kernels(&source)?;
/// assert_eq!(kernels[0].signature.to_string(), "fn scale(factor: f32, x: DisjointSlice<f32>)");
/// assert_eq!(kernels[0].signature.limits.block, [64, 1, 1]);
/// # Ok::<(), kernelmill_compiler::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::Wgsl`] with every fault, each with file, line, column and the place: a text that is not valid WGSL, no
/// compute entry point, textures and samplers, and buffers of what cannot be passed. [`Error::Limits`] where launches
/// cannot be.
pub fn kernels(source: &WgslSource) -> Result<Vec<CudaKernel>, Error> {
    let valid = ValidModule::read(source)?;
    let ValidModule { module, info } = &valid;
    if module.entry_points.is_empty() {
        let message = "it has no kernel: no entry point with `@compute`";
        let help = "write one, or leave the file out with `exclude`";
        let text = format!("{}: error: {message}\n  help: {help}", source.display);
        return Err(Error::Wgsl { text });
    }
    let types = Types::new(module).map_err(Error::Internal)?;
    let (mut kernels, mut faults) = (Vec::new(), Vec::<Fault>::new());
    for (index, entry) in module.entry_points.iter().enumerate() {
        let used = used(&valid, info.get_entry_point(index));
        let mut parameters = Vec::new();
        for (handle, variable) in used {
            match parameter(&types, variable) {
                Ok(parameter) => parameters.extend(parameter),
                Err((label, message)) => {
                    let span = module.global_variables.get_span(handle);
                    let message = format!("the kernel `{}` {message}", entry.name);
                    faults.push(Fault::new(span, label, message));
                }
            }
        }
        let arguments = parameters.iter().map(|it: &Parameter| it.kind.arguments()).sum::<usize>();
        if arguments > MAX_ARGUMENTS {
            let message = format!(
                "the kernel `{}` uses {} buffers, which is more than a launch can pass: put several of them into \
                 one buffer",
                entry.name,
                parameters.len()
            );
            faults.push(Fault::new(place(&source.text, &entry.name), "this kernel", message));
        }
        kernels.push(kernel(source, entry, parameters));
    }
    if !faults.is_empty() {
        return Err(refuse(source, faults));
    }
    check_limits(&kernels)?;
    Ok(kernels)
}

/// The variables that an entry point uses, in the order of their groups and bindings.
pub(super) fn used<'m>(
    valid: &'m ValidModule,
    info: &FunctionInfo,
) -> Vec<(Handle<GlobalVariable>, &'m GlobalVariable)> {
    let all = valid.module.global_variables.iter();
    let mut used: Vec<_> = all.filter(|(handle, _)| !info[*handle].is_empty()).collect();
    used.sort_by_key(|(_, variable)| variable.binding.map(|it| (it.group, it.binding)));
    used
}

/// The parameter that a variable is; `None` for memory of the kernel's own. The error is a word at its place, and a
/// sentence without a subject.
fn parameter(
    types: &Types<'_>,
    variable: &GlobalVariable,
) -> Result<Option<Parameter>, (&'static str, String)> {
    let name = variable.name.clone().unwrap_or_default();
    let cannot = |why| ("this buffer", format!("uses the buffer `{name}`: {why}"));
    let kind = match variable.space {
        AddressSpace::Private | AddressSpace::WorkGroup | AddressSpace::Function => {
            return Ok(None);
        }
        AddressSpace::Storage { access } => {
            let element = types.content(variable.ty).map_err(cannot)?;
            let writes = access.intersects(StorageAccess::STORE | StorageAccess::ATOMIC);
            let access = if writes { Access::Write } else { Access::Read };
            ParameterKind::Slice { element, access }
        }
        AddressSpace::Uniform => ParameterKind::Value(types.content(variable.ty).map_err(cannot)?),
        AddressSpace::Handle => {
            return Err((
                "a texture or a sampler",
                format!(
                    "uses `{name}`, which is a texture or a sampler: a launch passes buffers only, so use an \
                     array, `var<storage>`"
                ),
            ));
        }
        _ => {
            return Err((
                "not a buffer",
                format!("uses `{name}`, which a launch cannot pass: declare it as `var<uniform>`"),
            ));
        }
    };
    Ok(Some(Parameter { name: name.into(), kind }))
}

fn kernel(source: &WgslSource, entry: &EntryPoint, parameters: Vec<Parameter>) -> CudaKernel {
    CudaKernel {
        signature: Signature {
            name: entry.name.clone().into(),
            symbol: entry.name.clone().into(),
            dimension: Dimension::Any,
            // What is written is borrowed for writing, indices are checked, and every value of every type is one.
            safety: Safety::Safe,
            limits: LaunchLimits { block: entry.workgroup_size, ..LaunchLimits::NONE },
            parameters: parameters.into(),
            file: source.display.clone().into(),
            line: place(&source.text, &entry.name).location(&source.text).line_number,
        },
        full_name: entry.name.clone(),
        unsupported: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> WgslSource {
        let display = "kernels/k.wgsl".to_owned();
        WgslSource { display, text: text.to_owned(), constants: Vec::new() }
    }

    fn signatures(text: &str) -> Vec<String> {
        let kernels = kernels(&source(text)).unwrap();
        kernels.iter().map(|it| format!("{}: {}", it.signature.line, it.signature)).collect()
    }

    #[test]
    fn buffers_are_parameters_in_the_order_of_their_bindings() {
        let text = "
            struct Particle { position: vec3<f32>, mass: f32, velocity: vec3<f32> }
            @group(1) @binding(0) var<storage> late: array<vec3<f32>>;
            @group(0) @binding(7) var<storage, read_write> particles: array<Particle>;
            @group(0) @binding(1) var<uniform> step: f32;
            @group(0) @binding(2) var<storage, read_write> count: atomic<u32>;
            @group(0) @binding(3) var<storage> table: array<vec2<i32>, 8>;
            @group(0) @binding(4) var<uniform> turn: mat3x3<f32>;
            var<workgroup> tile: array<f32, 64>;
            // fn move_all( is not here
            @compute @workgroup_size(8, 4)
            fn move_all(@builtin(global_invocation_id) id: vec3<u32>) {
                tile[0] = late[id.x].x;
                particles[id.x].position += step * particles[id.x].velocity + turn[0];
                atomicAdd(&count, u32(table[3].x));
            }
            @compute @workgroup_size(1) fn nothing() {}
            @fragment fn color() -> @location(0) vec4<f32> { return vec4<f32>(); }
            ";
        let expected = [
            "12: fn move_all(step: f32, count: DisjointSlice<u32>, table: &[[[i32; 2]; 8]], turn: [[f32; 4]; 3], \
             particles: DisjointSlice<Particle>, late: &[[f32; 4]])",
            "17: fn nothing()",
        ];
        assert_eq!(signatures(text), expected);
    }

    #[test]
    fn structs_have_their_padding_as_fields() {
        let text = "
            struct Inner { a: f32, b: vec3<f32>, c: f32 }
            struct Outer { inner: Inner, @size(32) wide: u32, padding_0: i32, @align(16) last: u32 }
            @group(0) @binding(0) var<storage, read_write> x: array<Outer>;
            @compute @workgroup_size(1) fn k() { x[0].wide = 1u; }
            ";
        let kernels = kernels(&source(text)).unwrap();
        let ParameterKind::Slice { element: ValueType::Struct(outer), .. } =
            &kernels[0].signature.parameters[0].kind
        else {
            panic!("a slice of structs")
        };
        let fields = |layout: &kernelmill_artifact::StructLayout| {
            let text =
                |it: &kernelmill_artifact::Field| format!("{} {}: {}", it.offset, it.name, it.ty);
            layout.fields.iter().map(text).collect::<Vec<_>>()
        };
        let expected = [
            "0 inner: Inner",
            "32 wide: u32",
            "36 padding_1: [u32; 7]",
            "64 padding_0: i32",
            "68 padding_2: [u32; 3]",
            "80 last: u32",
        ];
        assert_eq!(
            (fields(outer), outer.size, outer.align),
            (expected.map(str::to_owned).to_vec(), 96, 16)
        );
        let ValueType::Struct(inner) = &outer.fields[0].ty else { panic!("a struct") };
        let expected = ["0 a: f32", "4 padding_0: [u32; 3]", "16 b: [f32; 3]", "28 c: f32"];
        assert_eq!(
            (fields(inner), inner.size, inner.align),
            (expected.map(str::to_owned).to_vec(), 32, 16)
        );
    }

    #[test]
    fn overrides_have_values_of_the_settings() {
        let text = "
            override WIDTH: u32 = 8;
            @id(3) override HEIGHT: u32;
            @compute @workgroup_size(WIDTH, HEIGHT) fn k() {}
            ";
        let missing = kernels(&source(text)).unwrap_err().to_string();
        assert!(
            missing.contains("the constant `HEIGHT` has no value when it is compiled"),
            "{missing}"
        );
        assert!(missing.contains("kernels/k.wgsl:3:"), "{missing}");
        let constants =
            vec![("HEIGHT".to_owned(), "4".to_owned()), ("N".to_owned(), "x".to_owned())];
        let kernels = kernels(&WgslSource { constants, ..source(text) }).unwrap();
        assert_eq!(kernels[0].signature.limits.block, [8, 4, 1]);
    }

    use kernelmill_artifact::ValueType;
}

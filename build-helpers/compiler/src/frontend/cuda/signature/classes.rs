//! What nvcc's debug information does not say: which structs are classes that are not copied as their bytes are.
//!
//! A second, short compilation asks the compiler itself. The text of [`probe`] goes behind
//! the source; for each kernel with structs it defines a variable, whose bits say which parameters
//! are of such classes themselves, and not pointers to them, and [`apply`] reads those variables in the PTX that
//! comes out.

use super::{
    found::Found,
    layout::{CLASS, PLAIN, is_of_cuda},
    reader::cannot_cross,
    types::UnsupportedType,
    written,
};
use crate::frontend::cuda::source::CudaKernel;
use kernelmill_artifact::{ParameterKind, ValueType};
use std::fmt::Write as _;

/// The start of the variables' names.
const PREFIX: &str = "__kernelmill_classes_";

/// The templates that the probe needs, in C++11.
const TEMPLATES: &str = "
namespace __kernelmill {
template <class T> struct bare { typedef T type; };
template <class T> struct bare<const T> : bare<T> {};
template <class T> struct bare<volatile T> : bare<T> {};
template <class T> struct bare<const volatile T> : bare<T> {};
template <class T, bool is_class> struct more { static const bool value = false; };
template <class T> struct more<T, true> {
    static const bool value = !__has_trivial_copy(T) || !__has_trivial_destructor(T);
};
template <class... T> struct bits { static const unsigned long long value = 0; };
template <class T, class... Rest> struct bits<T, Rest...> {
    typedef typename bare<T>::type type;
    static const unsigned long long value =
        (more<type, __is_class(type)>::value ? 1 : 0) | bits<Rest...>::value << 1;
};
template <class... T> bits<T...> of(void (*)(T...));
}
";

/// C++ to compile behind a source, best as the source was (`-ptx -G`: with optimisation the kernels
/// would be compiled in full once more), which says what classes its kernels' parameters are of; `None`
/// where no kernel has a struct that it would matter for.
pub(super) fn probe(kernels: &[Found]) -> Option<String> {
    let mut text = String::new();
    for (index, Found { kernel, .. }) in kernels.iter().enumerate() {
        let has_structs = kernel.signature.parameters().iter().any(|it| is_struct(&it.kind));
        if has_structs
            && kernel.unsupported.is_empty()
            && let Some(function) = written::expression(&kernel.signature.symbol)
        {
            let _ = writeln!(
                text,
                "extern \"C\" __attribute__((device)) unsigned long long {PREFIX}{index} = \
                 decltype(__kernelmill::of({function}))::value;"
            );
        }
    }
    (!text.is_empty()).then(|| format!("{TEMPLATES}{text}"))
}

/// Adds to the unsupported types of the kernels what the PTX of their [`probe`] says, and takes the
/// parameters that they are about out of the signatures.
pub(super) fn apply(kernels: &mut [Found], ptx: &str) {
    for (index, Found { kernel, types }) in kernels.iter_mut().enumerate() {
        let Some(bits) = value(ptx, &format!("{PREFIX}{index}")) else { continue };
        let CudaKernel { signature, full_name, unsupported } = kernel;
        let mut good = Vec::new();
        for (at, parameter) in signature.parameters.iter().enumerate() {
            if at >= 64 || bits >> at & 1 == 0 || !is_struct(&parameter.kind) {
                good.push(parameter.clone());
                continue;
            }
            let refusal = UnsupportedType { reason: CLASS.to_owned(), help: PLAIN };
            let ty = types.get(at).map_or("", String::as_str);
            unsupported.push(cannot_cross(full_name, (&parameter.name, ty), &refusal));
        }
        signature.parameters = good.into();
    }
}

/// The number that a variable is initialised with: `.visible .global .align 8 .u64 name = 5;`.
fn value(ptx: &str, name: &str) -> Option<u64> {
    let starts = ptx.match_indices(name).map(|(at, _)| &ptx[at + name.len()..]);
    let mut rest = starts.filter(|rest| rest.starts_with([' ', ';', '=']));
    let rest = rest.next()?.lines().next()?;
    match rest.split_once('=') {
        Some((_, number)) => number.trim().trim_end_matches(';').parse().ok(),
        None => Some(0),
    }
}

fn is_struct(kind: &ParameterKind) -> bool {
    matches!(element(kind), ValueType::Struct(layout) if !is_of_cuda(&layout.name))
}

/// The type that counts, without arrays around it.
fn element(kind: &ParameterKind) -> &ValueType {
    let mut ty = kind.crossing();
    while let ValueType::Array(element, _) = ty {
        ty = element;
    }
    ty
}

//! Symbols of kernels in Rust by the [Itanium ABI], which debuggers and profilers show as a path with types.
//!
//! `saxpy::saxpy(float, Slice<float const>, DisjointSlice<float>)` is the kernel `saxpy` of `kernels/saxpy.rs`. Scalars
//! have the names that C++ has for them. Rust's own mangling has letters for none of what crosses to a device but the
//! path, and NVIDIA's tools do not read it.
//!
//! [Itanium ABI]: https://itanium-cxx-abi.github.io/cxx-abi/abi.html#mangling

use kernelmill_artifact::{
    Access, FunctionType, ParameterKind, Scalar, Signature, ValueType, symbol,
};

/// The symbol of a kernel with this path, of which the last part is its name.
pub(crate) fn mangle(path: &[&str], signature: &Signature) -> String {
    let mut mangler = Mangler { output: "_Z".to_owned(), candidates: Vec::new() };
    mangler.path(path);
    let parameters = signature.parameters();
    parameters.iter().for_each(|parameter| mangler.ty(&Type::of_parameter(&parameter.kind)));
    if parameters.is_empty() {
        mangler.output.push('v');
    }
    mangler.output
}

/// A type, or an argument of a template.
#[derive(Clone, Debug, PartialEq)]
enum Type {
    Builtin(&'static str),
    Named(String),
    Template(&'static str, Vec<Self>),
    Const(Box<Self>),
    Pointer(Box<Self>),
    /// The result, then the parameters.
    Function(Vec<Self>),
    Number(u64),
}

impl Type {
    fn of_parameter(kind: &ParameterKind) -> Self {
        let element = |ty: &ValueType, access: Access| match access {
            Access::Read => Self::Const(Box::new(Self::of(ty))),
            Access::Write => Self::of(ty),
        };
        match kind {
            ParameterKind::Value(ty) => Self::of(ty),
            ParameterKind::Slice { element: ty, access } => {
                let name = if *access == Access::Read { "Slice" } else { "DisjointSlice" };
                Self::Template(name, vec![element(ty, *access)])
            }
            ParameterKind::Pointer { element: ty, access } => {
                Self::Pointer(Box::new(element(ty, *access)))
            }
            ParameterKind::Shared { element } => Self::Template("Shared", vec![Self::of(element)]),
            ParameterKind::TensorMap { element: ty, rank, access } => {
                let rank = Self::Number(u64::from(*rank));
                Self::Template("TensorMap", vec![element(ty, *access), rank])
            }
        }
    }

    fn of(ty: &ValueType) -> Self {
        match ty {
            ValueType::Scalar(scalar) => Self::Builtin(builtin(*scalar)),
            ValueType::Struct(layout) => Self::Named(symbol(&layout.name)),
            ValueType::Enum(layout) => Self::Named(symbol(&layout.name)),
            ValueType::Array(element, length) => {
                Self::Template("Array", vec![Self::of(element), Self::Number(*length)])
            }
            ValueType::Function(ty) => Self::Template("DeviceFn", vec![Self::of_function(ty)]),
        }
    }

    fn of_function(ty: &FunctionType) -> Self {
        let result = ty.result.as_ref().map_or(Self::Builtin("v"), Self::of);
        let mut types = vec![result];
        types.extend(ty.parameters.iter().map(Self::of));
        if types.len() == 1 {
            types.push(Self::Builtin("v"));
        }
        Self::Function(types)
    }
}

/// The code of the type of C++ that has the values of a scalar, on a system with a `long` of 64 bits.
fn builtin(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Bool => "b",
        Scalar::Char => "Di",
        Scalar::I8 => "a",
        Scalar::I16 => "s",
        Scalar::I32 => "i",
        Scalar::I64 | Scalar::Isize => "l",
        Scalar::I128 => "n",
        Scalar::U8 => "h",
        Scalar::U16 => "t",
        Scalar::U32 => "j",
        Scalar::U64 | Scalar::Usize => "m",
        Scalar::U128 => "o",
        Scalar::F16 => "DF16_",
        Scalar::Bf16 => "DF16b",
        Scalar::F32 => "f",
        Scalar::F64 => "d",
    }
}

/// What can stand for a part again: `S_`, `S0_` and so on, in the order in which parts are complete.
#[derive(PartialEq)]
enum Candidate {
    /// A part of the path, which no type is.
    Prefix,
    TemplateName(&'static str),
    Type(Type),
}

struct Mangler {
    output: String,
    candidates: Vec<Candidate>,
}

impl Mangler {
    fn path(&mut self, path: &[&str]) {
        let [prefix @ .., name] = path else { return };
        if !prefix.is_empty() {
            self.output.push('N');
        }
        for part in prefix {
            self.name(part);
            self.candidates.push(Candidate::Prefix);
        }
        self.name(name);
        if !prefix.is_empty() {
            self.output.push('E');
        }
    }

    fn name(&mut self, name: &str) {
        let name = symbol(name);
        self.output.push_str(&format!("{}{name}", name.len()));
    }

    /// Writes a candidate that stood before; whether there is one.
    fn again(&mut self, candidate: &Candidate) -> bool {
        let Some(index) = self.candidates.iter().position(|it| it == candidate) else {
            return false;
        };
        let number = index.checked_sub(1).map_or_else(String::new, base_36);
        self.output.push_str(&format!("S{number}_"));
        true
    }

    fn ty(&mut self, ty: &Type) {
        match ty {
            Type::Builtin(code) => return self.output.push_str(code),
            Type::Number(number) => return self.output.push_str(&format!("Lm{number}E")),
            _ => {}
        }
        let candidate = Candidate::Type(ty.clone());
        if self.again(&candidate) {
            return;
        }
        match ty {
            Type::Builtin(_) | Type::Number(_) => {}
            Type::Named(name) => self.name(name),
            Type::Const(inner) => self.wrapped('K', inner),
            Type::Pointer(inner) => self.wrapped('P', inner),
            Type::Function(types) => self.list('F', types),
            Type::Template(name, arguments) => {
                let template = Candidate::TemplateName(name);
                if !self.again(&template) {
                    self.name(name);
                    self.candidates.push(template);
                }
                self.list('I', arguments);
            }
        }
        self.candidates.push(candidate);
    }

    fn wrapped(&mut self, code: char, inner: &Type) {
        self.output.push(code);
        self.ty(inner);
    }

    fn list(&mut self, code: char, types: &[Type]) {
        self.output.push(code);
        types.iter().for_each(|ty| self.ty(ty));
        self.output.push('E');
    }
}

/// A number in digits and capital letters.
fn base_36(mut number: usize) -> String {
    let mut digits = Vec::new();
    loop {
        digits.push(char::from_digit((number % 36) as u32, 36).unwrap_or('0').to_ascii_uppercase());
        number /= 36;
        if number == 0 {
            return digits.into_iter().rev().collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernelmill_artifact::{Parameter, Safety};

    fn mangled(path: &[&str], kinds: Vec<ParameterKind>) -> String {
        let parameters = kinds.into_iter().map(|kind| Parameter { name: "p".into(), kind });
        let parameters = parameters.collect::<Vec<_>>().into();
        mangle(path, &Signature { parameters, ..Signature::borrowed("k", &[]) })
    }

    /// Acceptance: S0.5, C20.
    #[test]
    fn parts_that_repeat_are_substituted() {
        let float = || ValueType::Scalar(Scalar::F32);
        let read = |element| ParameterKind::Slice { element, access: Access::Read };
        let write = |element| ParameterKind::Slice { element, access: Access::Write };
        let pointer = |element, access| ParameterKind::Pointer { element, access };
        let row = |ty: ValueType| ValueType::Array(ty.into(), 4);
        let function = FunctionType {
            safety: Safety::Safe,
            parameters: vec![row(float())].into(),
            result: Some(float()),
        };
        let kinds = vec![
            ParameterKind::Value(float()),
            read(float()),
            read(row(float())),
            write(row(row(float()))),
            read(float()),
            pointer(float(), Access::Read),
            pointer(float(), Access::Read),
            ParameterKind::Value(ValueType::Function(function.into())),
        ];
        let symbol = mangled(&["saxpy", "inner", "größe"], kinds);
        assert_eq!(
            symbol,
            "_ZN5saxpy5inner5gr__eEf5SliceIKfES1_IK5ArrayIfLm4EEE13DisjointSliceIS4_IS5_Lm4EEES3_PS2_SB_\
             8DeviceFnIFfS5_EE"
        );
        let shown = crate::base::demangle::demangle(&symbol);
        let expected = "saxpy::inner::gr__e(float, Slice<float const>, Slice<Array<float, 4ul> const>, \
            DisjointSlice<Array<Array<float, 4ul>, 4ul> >, Slice<float const>, float const*, float const*, \
            DeviceFn<float (Array<float, 4ul>)>)";
        assert_eq!(shown.replace("(unsigned long)4", "4ul"), expected);
        assert_eq!(mangled(&["k"], Vec::new()), "_Z1kv");
    }

    #[test]
    fn numbers_of_substitutions_have_digits_and_capitals() {
        assert_eq!([0, 9, 10, 35, 36, 71].map(base_36), ["0", "9", "A", "Z", "10", "1Z"]);
    }
}

//! Launch state: a value or an address that a plugin asks each launch for.

use kernelmill_artifact::{Access, Parameter, ParameterKind, Scalar, ValueType};

/// What a plugin asks each launch for, and how code asks for it: by a *getter*, a function without parameters that is
/// declared and nowhere defined.
///
/// The wrapper of every kernel that reaches the getter, or the plugin's marker, takes the state as one more argument
/// after the kernel's own. Other kernels stay as they are.
///
/// ```
/// use kernelmill_artifact::{Access, Scalar, ValueType};
/// use kernelmill_compiler::plugin::State;
///
/// // `safe fn __kernelmill_seed() -> u64;`, and `seed: u64` of the wrapper.
/// let seed = State::value("seed", "__kernelmill_seed", ValueType::Scalar(Scalar::U64));
/// // `safe fn __kernelmill_counters() -> *mut u32;`, and `counters: impl WriteSlice<u32>`.
/// let element = ValueType::Scalar(Scalar::U32);
/// let counters = State::memory("counters", "__kernelmill_counters", element, Access::Write);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// The name of the wrapper's argument.
    pub(crate) name: String,
    /// The symbol of the getter.
    pub(crate) getter: String,
    /// What crosses from host to device: a value, or the address of memory.
    pub(crate) kind: ParameterKind,
}

impl State {
    /// A scalar, or a `#[repr(C)]` struct, by value. The getter returns it.
    #[must_use]
    pub fn value(name: &str, getter: &str, ty: ValueType) -> Self {
        Self { name: name.to_owned(), getter: getter.to_owned(), kind: ParameterKind::Value(ty) }
    }

    /// A buffer of the device. The getter returns its address, a `*const T` or `*mut T`.
    #[must_use]
    pub fn memory(name: &str, getter: &str, element: ValueType, access: Access) -> Self {
        let kind = ParameterKind::Pointer { element, access };
        Self { name: name.to_owned(), getter: getter.to_owned(), kind }
    }

    /// The parameter of kernels that have it.
    #[must_use]
    pub fn parameter(&self) -> Parameter {
        Parameter::state(&self.name, self.kind.clone())
    }

    /// What is wrong with it.
    pub(crate) fn fault(&self) -> Option<String> {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let is_name = |name: &str| {
            name.chars().all(is_part)
                && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        };
        let Self { name, getter, kind } = self;
        if !is_name(name) || name.starts_with("__") {
            return Some(format!(
                "the state `{name}`, which cannot name an argument of a wrapper; use letters, digits and underscores"
            ));
        }
        if !is_name(getter) {
            return Some(format!(
                "the getter `{getter}` for its state `{name}`, which cannot be declared; use letters, digits and \
                 underscores, with no digit first: `__kernelmill_{name}`"
            ));
        }
        let ParameterKind::Value(ty) = kind else { return None };
        let mut has_functions = false;
        ty.functions(&mut |_| has_functions = true);
        let is_half = matches!(ty, ValueType::Scalar(Scalar::F16 | Scalar::Bf16));
        (has_functions || is_half).then(|| {
            format!("state `{name}` of the type `{ty}`, which a launch cannot give; put its bits into an integer")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_that_no_launch_can_give_are_told() {
        let fault = |name: &str, getter: &str, scalar| {
            State::value(name, getter, ValueType::Scalar(scalar)).fault().unwrap_or_default()
        };
        assert_eq!(fault("seed", "__kernelmill_seed", Scalar::U64), "");
        assert!(fault("1st", "get", Scalar::U64).contains("the state `1st`, which cannot name"));
        assert!(fault("__launch", "get", Scalar::U64).contains("the state `__launch`"));
        assert!(fault("seed", "get.it", Scalar::U64).contains("`get.it` for its state `seed`"));
        assert!(fault("half", "get", Scalar::F16).contains("put its bits into an integer"));
    }
}

//! Generic kernels: what their instances have in common, for a launch wrapper that is generic too.

use kernelmill_artifact::{Parameter, ParameterKind, Signature, ValueType};

/// A generic kernel with the instances that are compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GenericKernel {
    /// The function's name in the source.
    pub name: String,
    /// The file that defines it, relative to its package.
    pub file: String,
    /// The line of its name in that file, from 1.
    pub line: u32,
    /// Its type and constant parameters.
    pub generics: Vec<GenericParameter>,
    /// The type of each parameter of its instances, in their order.
    pub forms: Vec<Form>,
    /// Its instances; never empty.
    pub instances: Vec<Instance>,
}

/// A type parameter or a constant parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GenericParameter {
    /// Its name in the source.
    pub name: String,
    /// The type of a constant, `usize` for example.
    pub constant: Option<String>,
}

/// One instance of a generic kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    /// The name of its kernel.
    pub kernel: String,
    /// Its arguments, one for each parameter.
    pub arguments: Vec<GenericArgument>,
}

/// An argument of an instance, as the host has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GenericArgument {
    /// A type whose values cross from host to device.
    Type(ValueType),
    /// A type that only has a name for the host.
    Marker(String),
    /// A constant, as Rust writes it.
    Constant(String),
}

/// The type of a parameter, or of its elements, in terms of the kernel's own parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// The same in all instances.
    Same,
    /// The type parameter of this place.
    Parameter(usize),
    /// An array.
    Array(Box<Form>, Length),
    /// Another type in each instance, which cannot be written with the parameters.
    PerInstance,
}

/// The length of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// The same in all instances.
    Same(u64),
    /// The constant parameter of this place.
    Parameter(usize),
}

impl GenericKernel {
    /// The name of an instance's kernel: the generic kernel's, and the letters and digits of the arguments as they
    /// are written, with an underscore for all that is between them and `minus` for a minus sign.
    ///
    /// ```
    /// use kernelmill_compiler::frontend::generic::GenericKernel;
    /// assert_eq!(GenericKernel::kernel_name("scale", "f32, 16"), "scale_f32_16");
    /// assert_eq!(GenericKernel::kernel_name("shift", "[u8; 4], -1"), "shift_u8_4_minus_1");
    /// ```
    #[must_use]
    pub fn kernel_name(name: &str, instance: &str) -> String {
        let mut full = name.to_owned();
        let mut is_apart = true;
        for character in instance.chars() {
            if character.is_alphanumeric() {
                if is_apart {
                    full.push('_');
                }
                full.push(character);
                is_apart = false;
            } else {
                if character == '-' {
                    full.push_str("_minus");
                }
                is_apart = true;
            }
        }
        full
    }

    /// Whether a kernel is one of its instances.
    #[must_use]
    pub fn has(&self, kernel: &Signature) -> bool {
        self.file == kernel.file && self.instances.iter().any(|it| it.kernel == *kernel.name)
    }
}

impl Form {
    /// Whether the form with the arguments of an instance is this type.
    pub(crate) fn fits(&self, arguments: &[GenericArgument], ty: &ValueType) -> bool {
        match (self, ty) {
            (Self::Parameter(index), ty) => {
                matches!(arguments.get(*index), Some(GenericArgument::Type(it)) if it == ty)
            }
            (Self::Array(form, length), ValueType::Array(element, count)) => {
                let is_length = match length {
                    Length::Same(length) => length == count,
                    Length::Parameter(index) => {
                        let count = count.to_string();
                        matches!(arguments.get(*index), Some(GenericArgument::Constant(it)) if *it == count)
                    }
                };
                is_length && form.fits(arguments, element)
            }
            (Self::Same | Self::PerInstance, _) => true,
            (Self::Array(..), _) => false,
        }
    }
}

/// Whether one wrapper can have the parameters of two instances.
pub(crate) fn is_alike(one: &Signature, other: &Signature) -> bool {
    let form = |it: &Parameter| match &it.kind {
        ParameterKind::Value(_) => (it.name.clone(), 0, None, 0),
        ParameterKind::Slice { access, .. } => (it.name.clone(), 1, Some(*access), 0),
        ParameterKind::Pointer { access, .. } => (it.name.clone(), 2, Some(*access), 0),
        ParameterKind::Shared { .. } => (it.name.clone(), 3, None, 0),
        ParameterKind::TensorMap { rank, access, .. } => (it.name.clone(), 4, Some(*access), *rank),
    };
    one.parameters.iter().map(form).eq(other.parameters.iter().map(form))
}

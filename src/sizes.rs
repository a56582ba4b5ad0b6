//! Sizes of a launch, for kernels whose indices have 32 bits: the number of its threads, of the elements of its slices,
//! and its arguments of type `usize` and `isize`.

use kernelmill_artifact::{Parameter, ParameterKind};

use crate::{
    argument::{Argument, Kind},
    launch::Launch,
};

/// The largest size that kernels with indices of 32 bits can be launched with.
pub(crate) const MOST_NARROW: u64 = (1 << 31) - 1;

/// The first size of a launch that needs indices of 64 bits: what it is, and how large.
pub(crate) fn first_wide(
    launch: &Launch<3>,
    parameters: &[Parameter],
    arguments: &[Argument<'_>],
) -> Option<(&'static str, u64)> {
    let threads = u64::try_from(launch.threads()).unwrap_or(u64::MAX);
    let of_arguments = arguments.iter().enumerate().filter_map(|(index, argument)| {
        match argument.kind() {
            Kind::Slice { len, .. } => Some(("elements in a slice", *len)),
            Kind::Value { address, bytes: 8 } if is_size(parameters.get(index)) => {
                // SAFETY: an argument borrows the value that it points at, and all bytes of this one are a number's.
                let size = unsafe { address.cast::<u64>().read_unaligned() };
                Some(("as the value of an argument", size))
            }
            Kind::Pointer { bytes, .. } => {
                let element = parameters.get(index).and_then(element_size)?;
                Some(("elements in a slice", bytes / element.max(1)))
            }
            Kind::Value { .. } => None,
        }
    });
    let all = std::iter::once(("threads in the launch", threads)).chain(of_arguments);
    // A negative number is a large one.
    all.into_iter().find(|(_, size)| *size > MOST_NARROW)
}

/// The bytes of an element that a parameter in C++ or OpenCL C points at.
fn element_size(parameter: &Parameter) -> Option<u64> {
    match &parameter.kind {
        ParameterKind::Pointer { element, .. } => Some(element.size()),
        _ => None,
    }
}

/// Whether the compiler takes an argument of 8 bytes for a size. Of one that the signature does not have nothing is
/// known.
fn is_size(parameter: Option<&Parameter>) -> bool {
    parameter.is_none_or(|it| matches!(&it.kind, ParameterKind::Value(ty) if ty.is_size()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::argument::Held;
    use kernelmill_artifact::{Access, Scalar, ValueType};

    /// Of a parameter in C++ or OpenCL C a launch knows the bytes, and the signature what an element takes.
    #[test]
    fn slices_behind_pointers_count_as_elements() {
        fn first_of<T>(len: usize, element: ValueType) -> Option<(&'static str, u64)> {
            let mut held = Held::<T>::nothing();
            held.set(Some(128), len);
            let kind = ParameterKind::Pointer { element, access: Access::Read };
            let arguments = [Argument::value(&1_u64), Argument::pointer(&held)];
            let width = ParameterKind::Value(ValueType::Scalar(Scalar::U64));
            let parameters = [Parameter::borrowed("width", width), Parameter::borrowed("x", kind)];
            first_wide(&Launch::<1>::grid([1], [1]).into(), &parameters, &arguments)
        }
        const MOST: usize = MOST_NARROW as usize;
        let byte = || ValueType::Scalar(Scalar::U8);
        assert_eq!(first_of::<u8>(MOST, byte()), None);
        let found = first_of::<u8>(MOST + 1, byte());
        assert_eq!(found, Some(("elements in a slice", 1 << 31)));
        // Elements count, not bytes.
        let double = || ValueType::Scalar(Scalar::F64);
        assert_eq!(first_of::<f64>(MOST, double()), None);
        let found = first_of::<f64>(MOST + 1, double());
        assert_eq!(found, Some(("elements in a slice", 1 << 31)));
    }
}

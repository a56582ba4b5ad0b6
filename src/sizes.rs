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

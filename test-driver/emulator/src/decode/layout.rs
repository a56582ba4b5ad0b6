//! Layout of parameters and local variables.
//!
//! PTX ISA, "Parameter State Space".

use crate::program::{Parameter, Slice};
use crate::ptx::{StateSpace, Variable};

/// Lays variables out one after another, as the parameters of a kernel are.
pub(crate) fn lay_out<'v, 'a: 'v>(
    variables: impl IntoIterator<Item = &'v Variable<'a>>,
    start: u32,
) -> Vec<Parameter> {
    let mut end = start;
    let place = |variable: &Variable<'a>| {
        let size = u32::try_from(variable.bytes.unwrap_or(0)).unwrap_or(u32::MAX);
        let offset = end.checked_next_multiple_of(variable.align).unwrap_or(u32::MAX);
        end = offset.saturating_add(size);
        Parameter { name: variable.name.to_string(), size, align: variable.align, offset }
    };
    variables.into_iter().map(place).collect()
}

/// Whether a variable lies in a function's frame.
pub(crate) fn is_framed(home: StateSpace) -> bool {
    matches!(home, StateSpace::Local | StateSpace::Param)
}

/// The places of parameters.
pub(crate) fn slices(parameters: &[Parameter]) -> Vec<Slice> {
    parameters.iter().map(|p| Slice { offset: p.offset, bytes: p.size }).collect()
}

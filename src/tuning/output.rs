//! Outputs of launches that are compared: all choices for a kernel have to compute the same.

use crate::copy::Pod;

/// What a launch has computed.
#[derive(Clone, Debug, PartialEq)]
pub struct Output(Kind);

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Bytes { bytes: Vec<u8>, element: usize },
    Numbers { numbers: Vec<f64>, tolerance: f64 },
}

impl Output {
    /// Elements that are the same, bit by bit, whichever launch computes them.
    #[must_use]
    pub fn exact<T: Pod>(elements: &[T]) -> Self {
        let size = size_of_val(elements);
        // SAFETY: a `Pod` has no padding, so that all its bytes are initialised.
        let bytes = unsafe { std::slice::from_raw_parts(elements.as_ptr().cast::<u8>(), size) };
        Self(Kind::Bytes { bytes: bytes.to_vec(), element: size_of::<T>() })
    }

    /// Numbers that differ by at most `tolerance` times the larger of both, as sums do that are taken in another order.
    ///
    /// ```
    /// use kernelmill::tuning::Output;
    /// let output = Output::within(1e-5, [1.0_f32, 2.5]);
    /// assert_eq!(output.difference(&Output::within(1e-5, [1.0_f32, 2.500_001])), None);
    /// let other = Output::within(1e-5, [1.0_f32, 2.6]);
    /// assert_eq!(output.difference(&other).unwrap(), "element 1 is 2.5999999046325684 in place of 2.5");
    /// ```
    #[must_use]
    pub fn within(tolerance: f64, numbers: impl IntoIterator<Item = impl Into<f64>>) -> Self {
        let numbers = numbers.into_iter().map(Into::into).collect();
        Self(Kind::Numbers { numbers, tolerance })
    }

    /// The first difference of another output from this one; `None` where they are the same.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Option<String> {
        match (&self.0, &other.0) {
            (
                Kind::Bytes { bytes: expected, element },
                Kind::Bytes { bytes: found, element: size },
            ) => {
                if (expected.len(), element) != (found.len(), size) {
                    return Some(format!("{} bytes in place of {}", found.len(), expected.len()));
                }
                let place = expected.iter().zip(found).position(|(a, b)| a != b)?;
                let at = place / element;
                let bytes = at * element..(at + 1) * element;
                let (found, expected) = (&found[bytes.clone()], &expected[bytes]);
                Some(format!("element {at} has the bytes {found:x?} in place of {expected:x?}"))
            }
            (
                Kind::Numbers { numbers: expected, tolerance },
                Kind::Numbers { numbers: found, .. },
            ) => {
                if expected.len() != found.len() {
                    let (found, expected) = (found.len(), expected.len());
                    return Some(format!("{found} numbers in place of {expected}"));
                }
                let is_near = |a: f64, b: f64| {
                    a == b
                        || (a.is_nan() && b.is_nan())
                        || (a - b).abs() <= tolerance * a.abs().max(b.abs()) && (a - b).is_finite()
                };
                let mut pairs = expected.iter().zip(found);
                let at = pairs.position(|(a, b)| !is_near(*a, *b))?;
                Some(format!("element {at} is {} in place of {}", found[at], expected[at]))
            }
            _ => Some("one is exact, and the other has a tolerance".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_outputs_differ_by_a_bit_and_others_by_more_than_their_tolerance() {
        let exact = Output::exact(&[1_u16, 2, 3]);
        assert_eq!(exact.difference(&Output::exact(&[1_u16, 2, 3])), None);
        let text = exact.difference(&Output::exact(&[1_u16, 0x302, 3])).unwrap();
        assert_eq!(text, "element 1 has the bytes [2, 3] in place of [2, 0]");
        assert!(exact.difference(&Output::exact(&[1_u16, 2])).is_some());
        // Zeros of two signs are equal and not the same.
        assert!(Output::exact(&[0.0_f32]).difference(&Output::exact(&[-0.0_f32])).is_some());
        let near = |numbers: [f64; 2]| Output::within(0.01, numbers);
        assert_eq!(near([100.0, f64::NAN]).difference(&near([100.9, f64::NAN])), None);
        assert_eq!(near([f64::INFINITY, 0.0]).difference(&near([f64::INFINITY, -0.0])), None);
        for other in [[102.0, 0.0], [f64::NAN, 0.0], [f64::INFINITY, 0.0], [100.0, 1e-9]] {
            assert!(near([100.0, 0.0]).difference(&near(other)).is_some(), "{other:?}");
        }
        assert!(exact.difference(&near([1.0, 2.0])).is_some());
    }
}

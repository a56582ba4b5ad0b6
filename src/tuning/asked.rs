//! What is to be tuned: the variables by which `cargo kernelmill tune` says it.

use std::{collections::BTreeMap, env};

use super::error::TuneError;
use crate::size_class;

const KERNELS: &str = "KERNELMILL_TUNE";
const SIZES: &str = "KERNELMILL_TUNE_SIZES";
const ROUNDS: &str = "KERNELMILL_TUNE_ROUNDS";

/// What is to be tuned.
#[derive(Debug)]
pub(super) struct Asked {
    /// Kernels and groups.
    pub(super) names: Vec<String>,
    /// Elements along each axis, x first; `None` where the tuner chooses.
    pub(super) sizes: Option<Vec<Vec<usize>>>,
    pub(super) rounds: usize,
}

impl Asked {
    /// What the environment says; `None` where nothing is to be tuned.
    pub(super) fn from_environment() -> Result<Option<Self>, TuneError> {
        let text = |name| env::var(name).ok().filter(|text| !text.is_empty());
        let Some(names) = text(KERNELS) else { return Ok(None) };
        Self::read(&names, text(SIZES), text(ROUNDS)).map(Some)
    }

    /// What variables say.
    pub(super) fn read(
        names: &str,
        sizes: Option<String>,
        rounds: Option<String>,
    ) -> Result<Self, TuneError> {
        let mut faults = Vec::new();
        let sizes = sizes.map(|text| read_sizes(&text, &mut faults));
        let text = rounds.unwrap_or_else(|| "15".to_owned());
        let rounds = text.parse().ok().filter(|rounds| (3..=1000).contains(rounds));
        if rounds.is_none() {
            faults.push(format!("{ROUNDS} is `{text}`: write a number from 3 to 1000"));
        }
        match rounds {
            Some(rounds) if faults.is_empty() => {
                let names = names.split(',').map(|name| name.trim().to_owned()).collect();
                Ok(Self { names, sizes, rounds })
            }
            _ => Err(TuneError::Variables { faults }),
        }
    }

    /// Whether a kernel or a group is to be tuned.
    pub(super) fn has(&self, name: &str) -> bool {
        self.names.iter().any(|it| it == name)
    }

    /// The sizes of `D` dimensions for a kernel or a group.
    pub(super) fn sizes<const D: usize>(&self, name: &str) -> Result<Vec<[usize; D]>, TuneError> {
        let Some(sizes) = &self.sizes else { return Ok(usual_sizes()) };
        let (mut found, mut faults) = (Vec::new(), Vec::new());
        for own in sizes {
            match own.as_slice().try_into() {
                Ok(own) => found.push(own),
                Err(_) => faults.push(format!(
                    "{SIZES} has `{}`: the sizes of `{name}` have {D} {}, but this one has {}",
                    written(own),
                    if D == 1 { "dimension" } else { "dimensions" },
                    own.len()
                )),
            }
        }
        if faults.is_empty() { Ok(found) } else { Err(TuneError::Variables { faults }) }
    }
}

/// Numbers as they are written in sizes and shapes: `1920x1080`.
pub(super) fn written<T: ToString>(numbers: &[T]) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join("x")
}

/// The sizes that are tuned where none are asked for: a small problem, one of some size, and a large one.
fn usual_sizes<const D: usize>() -> Vec<[usize; D]> {
    let each = match D {
        1 => [1 << 10, 1 << 16, 1 << 20],
        2 => [64, 256, 1024],
        _ => [16, 64, 128],
    };
    each.map(|size| [size; D]).to_vec()
}

/// Reads sizes; what cannot be meant is a fault of its own for each size.
fn read_sizes(text: &str, faults: &mut Vec<String>) -> Vec<Vec<usize>> {
    let (mut sizes, mut classes) = (Vec::new(), BTreeMap::new());
    for part in text.split(',').map(str::trim) {
        let mut fault = |what: &str| faults.push(format!("{SIZES} has `{part}`: {what}"));
        let numbers = part.split('x').map(|it| it.parse().ok().filter(|n: &usize| *n > 0));
        let Some(numbers) = numbers.collect::<Option<Vec<_>>>() else {
            fault("write numbers of elements, as `1024`, or `1920x1080` in two dimensions");
            continue;
        };
        if numbers.len() > 3 {
            fault("launches have at most 3 dimensions");
            continue;
        }
        if numbers.iter().try_fold(1_usize, |all, n| all.checked_mul(*n)).is_none() {
            fault("the number of elements does not fit into 64 bits");
            continue;
        }
        let class: Vec<_> = numbers.iter().map(|n| size_class::of(*n)).collect();
        if let Some(first) = classes.insert(class, part) {
            fault(&format!(
                "this size is between the same powers of two as `{first}`; leave one of the two out"
            ));
        }
        sizes.push(numbers);
    }
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(sizes: &str, rounds: &str) -> Result<Asked, Vec<String>> {
        let asked = Asked::read("blur", Some(sizes.to_owned()), Some(rounds.to_owned()));
        asked.map_err(faults)
    }

    fn faults(error: TuneError) -> Vec<String> {
        let TuneError::Variables { faults } = error else { panic!("{error}") };
        faults
    }

    #[test]
    fn sizes_are_read_for_each_dimension() {
        let asked = read("1024, 2048", "3").unwrap();
        assert_eq!((asked.sizes::<1>("blur").unwrap(), asked.rounds), (vec![[1024], [2048]], 3));
        // The same numbers along other axes are another class.
        let asked = read("64x16,16x64", "15").unwrap();
        assert_eq!(asked.sizes::<2>("blur").unwrap(), [[64, 16], [16, 64]]);
        let asked = Asked::read("blur, edges", None, None).unwrap();
        assert_eq!(
            ["blur", "edges", "blur, edges", ""].map(|it| asked.has(it)),
            [true, true, false, false]
        );
        assert_eq!(asked.sizes::<1>("blur").unwrap(), [[1024], [65536], [1_048_576]]);
        assert_eq!(asked.sizes::<3>("blur").unwrap(), [[16; 3], [64; 3], [128; 3]]);
    }

    #[test]
    fn all_faults_of_the_variables_are_told_at_once() {
        let text = "8,0,1x,1x2x3x4,9,18446744073709551615x2,,16x3,16x2";
        let found = read(text, "2").unwrap_err();
        let what = "write numbers of elements, as `1024`, or `1920x1080` in two dimensions";
        let expected = [
            format!("KERNELMILL_TUNE_SIZES has `0`: {what}"),
            format!("KERNELMILL_TUNE_SIZES has `1x`: {what}"),
            "KERNELMILL_TUNE_SIZES has `1x2x3x4`: launches have at most 3 dimensions".to_owned(),
            "KERNELMILL_TUNE_SIZES has `9`: this size is between the same powers of two as `8`; leave one of the two \
             out"
                .to_owned(),
            "KERNELMILL_TUNE_SIZES has `18446744073709551615x2`: the number of elements does not fit into 64 bits"
                .to_owned(),
            format!("KERNELMILL_TUNE_SIZES has ``: {what}"),
            "KERNELMILL_TUNE_SIZES has `16x2`: this size is between the same powers of two as `16x3`; leave one of \
             the two out"
                .to_owned(),
            "KERNELMILL_TUNE_ROUNDS is `2`: write a number from 3 to 1000".to_owned(),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn sizes_of_other_dimensions_than_the_kernel_s_are_told_at_once() {
        let asked = read("8,4x4,2x2x2", "3").unwrap();
        let found = faults(asked.sizes::<2>("blur").unwrap_err());
        let of = |size: &str, n: u32| {
            format!(
                "KERNELMILL_TUNE_SIZES has `{size}`: the sizes of `blur` have 2 dimensions, but this one has {n}"
            )
        };
        assert_eq!(found, [of("8", 1), of("2x2x2", 3)]);
    }
}

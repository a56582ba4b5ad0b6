//! Failures that the environment asks for.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::base::error::{self, Error};

/// The failures asked for: `cuMemAlloc at call 3 with CUDA_ERROR_OUT_OF_MEMORY; cuInit at call 1`.
#[derive(Default)]
pub(crate) struct Failures {
    rules: Vec<Rule>,
}

struct Rule {
    /// Without `_v2` and the like; [`ANY`] for the calls of all functions together.
    function: String,
    /// The first call that fails, from 1.
    from: u64,
    /// Whether all later calls fail too.
    onwards: bool,
    /// `None`: the usual one of the function.
    error: Option<Error>,
    calls: AtomicU64,
}

/// What stands for all functions in a rule.
const ANY: &str = "any";

/// Functions that programs call to understand a failure, and that no rule for all functions counts.
const UNCOUNTED: [&str; 3] = ["cuGetErrorName", "cuGetErrorString", "cuGetProcAddress"];

impl Failures {
    /// Reads a list of rules; the error names the variable and each rule that is wrong, in a line of its own.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let rules = text.split(';').map(str::trim).filter(|rule| !rule.is_empty());
        let (mut read, mut faults) = (Vec::new(), Vec::new());
        for rule in rules {
            match Rule::parse(rule) {
                Some(rule) => read.push(rule),
                None => faults.push(format!(
                    "FAKE_CUDA_FAIL: `{rule}` is not `FUNCTION at call NUMBER [onwards] [with ERROR]`"
                )),
            }
        }
        if faults.is_empty() { Ok(Self { rules: read }) } else { Err(faults.join("\n")) }
    }

    /// Counts a call of a function, and says whether it is to fail.
    pub(crate) fn next(&self, function: &str) -> Option<Error> {
        let function = unversioned(function);
        let mut error = None;
        for rule in self.rules.iter().filter(|rule| rule.is_about(function)) {
            let call = rule.calls.fetch_add(1, Ordering::Relaxed) + 1;
            if call == rule.from || (rule.onwards && call > rule.from) {
                rule.say(function, call);
                error = error.or(Some(rule.error.unwrap_or_else(|| usual_error(function))));
            }
        }
        error
    }
}

impl Rule {
    fn is_about(&self, function: &str) -> bool {
        self.function == function || (self.function == ANY && !UNCOUNTED.contains(&function))
    }

    /// Says which function it is that fails, where the rule does not.
    fn say(&self, function: &str, call: u64) {
        if self.function == ANY {
            eprintln!("fake-cuda: call {call} fails, of {function}");
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace();
        let function = words.next().filter(|name| name.starts_with("cu") || *name == ANY)?;
        let at_call = words.next() == Some("at") && words.next() == Some("call");
        let from = words.next()?.parse().ok().filter(|from| at_call && *from > 0)?;
        let mut word = words.next();
        let onwards = word == Some("onwards");
        if onwards {
            word = words.next();
        }
        let error = match word {
            None => None,
            Some("with") => Some(error::from_name(words.next()?)?),
            Some(_) => return None,
        };
        let function = unversioned(function).to_owned();
        let rule = Self { function, from, onwards, error, calls: AtomicU64::new(0) };
        words.next().is_none().then_some(rule)
    }
}

/// The name without its version.
fn unversioned(function: &str) -> &str {
    match function.rsplit_once("_v") {
        Some((name, version)) if version.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => function,
    }
}

/// The error that a function is most likely to fail with.
fn usual_error(function: &str) -> Error {
    if function.starts_with("cuMem") && function.contains("Alloc") {
        Error::CUDA_ERROR_OUT_OF_MEMORY
    } else if function.starts_with("cuModuleLoad") {
        Error::CUDA_ERROR_INVALID_PTX
    } else if function.starts_with("cuLaunch") {
        Error::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES
    } else if function.starts_with("cuModuleGet") {
        Error::CUDA_ERROR_NOT_FOUND
    } else {
        Error::CUDA_ERROR_UNKNOWN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_call_fails() {
        let failures = Failures::parse("cuMemAlloc at call 3").unwrap();
        let results: Vec<_> = (0..4).map(|_| failures.next("cuMemAlloc_v2")).collect();
        assert_eq!(results, [None, None, Some(Error::CUDA_ERROR_OUT_OF_MEMORY), None]);
        assert_eq!(failures.next("cuMemAllocAsync"), None);
    }

    #[test]
    fn rules_are_counted_apart_and_name_their_error() {
        let text =
            "cuInit at call 1 with NO_DEVICE; cuStreamSynchronize at call 2 onwards with 719";
        let failures = Failures::parse(text).unwrap();
        assert_eq!(failures.next("cuInit"), Some(Error::CUDA_ERROR_NO_DEVICE));
        let results: Vec<_> = (0..3).map(|_| failures.next("cuStreamSynchronize")).collect();
        assert_eq!(
            results,
            [None, Some(Error::CUDA_ERROR_LAUNCH_FAILED), Some(Error::CUDA_ERROR_LAUNCH_FAILED)]
        );
    }

    #[test]
    fn the_calls_of_all_functions_are_counted_together() {
        let failures = Failures::parse("any at call 3").unwrap();
        assert_eq!(failures.next("cuInit"), None);
        assert_eq!(failures.next("cuGetErrorName"), None);
        assert_eq!(failures.next("cuDeviceGet"), None);
        let error = failures.next("cuMemAllocAsync");
        assert_eq!(error, Some(Error::CUDA_ERROR_OUT_OF_MEMORY));
        assert_eq!(failures.next("cuMemAllocAsync"), None);
    }

    #[test]
    fn what_is_not_a_rule_is_refused() {
        for text in [
            "cuMemAlloc",
            "cuMemAlloc at call 0",
            "cuMemAlloc at call 1 with NOTHING",
            "cuMemAlloc at call 1 with UNKNOWN twice",
            "malloc at call 1",
            "cuMemAlloc call 1",
        ] {
            assert!(Failures::parse(text).is_err(), "{text}");
        }
    }
}

//! Failures that the environment asks for.

use crate::code::{self, Code};

/// The failures asked for: `hipMalloc at call 3 with OutOfMemory; hipInit at call 1`.
#[derive(Debug, Default)]
pub(crate) struct Failures {
    rules: Vec<Rule>,
}

#[derive(Debug)]
struct Rule {
    /// A function, or [`ANY`] for the calls of all functions together.
    function: String,
    /// The first call that fails, from 1.
    from: u64,
    /// Whether all later calls fail too.
    onwards: bool,
    /// `None`: the usual one of the function.
    code: Option<Code>,
    calls: u64,
}

/// What stands for all functions in a rule.
const ANY: &str = "any";

impl Failures {
    /// Reads a list of rules; the error has all that are wrong.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let rules = text.split(';').map(str::trim).filter(|rule| !rule.is_empty());
        let (mut read, mut faults) = (Vec::new(), Vec::new());
        for rule in rules {
            match Rule::parse(rule) {
                Some(rule) => read.push(rule),
                None => faults.push(format!(
                    "`{rule}` is not `FUNCTION at call NUMBER [onwards] [with CODE]`"
                )),
            }
        }
        if faults.is_empty() { Ok(Self { rules: read }) } else { Err(faults.join("; ")) }
    }

    /// Counts a call of a function, and says whether it is to fail.
    pub(crate) fn next(&mut self, function: &str) -> Option<Code> {
        let mut found = None;
        for rule in &mut self.rules {
            if rule.function != function && rule.function != ANY {
                continue;
            }
            rule.calls += 1;
            if rule.calls == rule.from || (rule.onwards && rule.calls > rule.from) {
                if rule.function == ANY {
                    eprintln!("fake-hip: call {} fails, of {function}", rule.calls);
                }
                found = found.or(Some(rule.code.unwrap_or_else(|| usual(function))));
            }
        }
        found
    }
}

impl Rule {
    fn parse(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace();
        let function = words.next().filter(|name| name.starts_with("hip") || *name == ANY)?;
        let at_call = words.next() == Some("at") && words.next() == Some("call");
        let from = words.next()?.parse().ok().filter(|from| at_call && *from > 0)?;
        let mut word = words.next();
        let onwards = word == Some("onwards");
        if onwards {
            word = words.next();
        }
        let code = match word {
            None => None,
            Some("with") => Some(code::from_name(words.next()?)?),
            Some(_) => return None,
        };
        let function = function.to_owned();
        words.next().is_none().then_some(Self { function, from, onwards, code, calls: 0 })
    }
}

/// The code that a function is most likely to fail with.
fn usual(function: &str) -> Code {
    match function {
        "hipMalloc" | "hipMallocAsync" | "hipHostMalloc" => code::OUT_OF_MEMORY,
        "hipModuleLoadData" => code::INVALID_IMAGE,
        "hipModuleLaunchKernel" => code::LAUNCH_OUT_OF_RESOURCES,
        _ => code::UNKNOWN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_counted_by_function_or_all_together() {
        let mut failures = Failures::parse("hipMalloc at call 2; any at call 4 with 719").unwrap();
        let calls = ["hipInit", "hipMalloc", "hipMalloc", "hipFree", "hipMalloc"];
        let found: Vec<_> = calls.iter().map(|name| failures.next(name)).collect();
        let expected = [None, None, Some(code::OUT_OF_MEMORY), Some(code::LAUNCH_FAILURE), None];
        assert_eq!(found, expected);
        let mut failures = Failures::parse("hipFree at call 1 onwards with Unknown").unwrap();
        assert_eq!([(); 2].map(|()| failures.next("hipFree")), [Some(code::UNKNOWN); 2]);
    }

    #[test]
    fn what_is_no_rule_is_refused() {
        for text in ["hipFree", "hipFree at call 0", "free at call 1", "hipFree at call 1 with X"] {
            assert!(Failures::parse(text).is_err(), "{text}");
        }
    }
}

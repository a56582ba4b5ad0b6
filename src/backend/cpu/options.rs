//! Options of the CPU back end: debugging aids that environment variables turn on.
//!
//! Read when a device of the processor is opened first. Guaranteed: a variable whose value cannot be read is an
//! error, so that nobody takes a program for watched that is not.

use std::time::Duration;

use super::guard_pages::Placement;
use crate::error::{Error, Result};

/// What the variables say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Options {
    /// The longest that a launch may take.
    pub(super) watchdog: Option<Duration>,
    /// On which side of its memory a buffer has a page that cannot be touched.
    pub(super) guard_pages: Option<Placement>,
}

impl Options {
    /// The options of this process.
    pub(super) fn of_process() -> Result<Self> {
        Self::read(|name| std::env::var(name).ok())
    }

    fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Self> {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let mut faults = Vec::new();
        let watchdog = set(WATCHDOG).and_then(|value| {
            let limit = duration(&value);
            if limit.is_none() {
                faults.push(fault(WATCHDOG, &value, "a time such as `10s` or `500ms`"));
            }
            limit
        });
        let guard_pages = set(GUARD_PAGES).and_then(|value| {
            let placement = Placement::from_name(&value);
            if placement.is_none() {
                faults.push(fault(GUARD_PAGES, &value, Placement::EXPECTED));
            }
            placement
        });
        Error::all(faults)?;
        Ok(Self { watchdog, guard_pages })
    }
}

/// The variable with the longest that a launch may take.
const WATCHDOG: &str = "KERNELMILL_WATCHDOG";

/// The variable that puts pages that cannot be touched beside buffers.
const GUARD_PAGES: &str = "KERNELMILL_GUARD_PAGES";

fn fault(variable: &'static str, value: &str, expected: &'static str) -> Error {
    Error::Variable { variable, value: value.to_owned(), expected }
}

/// A time with its unit: `ms`, `s` or `min`; more than none.
fn duration(text: &str) -> Option<Duration> {
    let digits = text.find(|letter: char| !letter.is_ascii_digit())?;
    let (number, unit) = text.split_at(digits);
    let number: u64 = number.parse().ok().filter(|number| *number > 0)?;
    match unit.trim_start() {
        "ms" => Some(Duration::from_millis(number)),
        "s" => Some(Duration::from_secs(number)),
        "min" => number.checked_mul(60).map(Duration::from_secs),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &'static str, value: &'static str) -> std::result::Result<Options, String> {
        let variable = |asked: &str| (asked == name).then(|| value.to_owned());
        Options::read(variable).map_err(|error| error.to_string())
    }

    #[test]
    fn times_have_a_unit() {
        let watchdog = |value| read(WATCHDOG, value).map(|options| options.watchdog);
        assert_eq!(watchdog("10s"), Ok(Some(Duration::from_secs(10))));
        assert_eq!(watchdog("500 ms"), Ok(Some(Duration::from_millis(500))));
        assert_eq!(watchdog("2min"), Ok(Some(Duration::from_secs(120))));
        assert_eq!(watchdog(""), Ok(None));
        for wrong in ["10", "s", "-1s", "0s", "1h", "1.5s", "99999999999999999999s"] {
            let text = format!(
                "the environment variable KERNELMILL_WATCHDOG is `{wrong}`, which is not a time \
                 such as `10s` or `500ms`"
            );
            assert_eq!(watchdog(wrong), Err(text));
        }
    }

    #[test]
    fn every_variable_that_cannot_be_read_is_told() {
        let error = Options::read(|name| Some(format!("wrong {name}"))).unwrap_err();
        let Error::Several(errors) = &error else { panic!("{error}") };
        let lines: Vec<_> = errors.iter().map(ToString::to_string).collect();
        assert_eq!(lines.len(), 2, "{error}");
        for (line, name) in lines.iter().zip([WATCHDOG, GUARD_PAGES]) {
            let start = format!("the environment variable {name} is `wrong {name}`, which is not ");
            assert!(line.starts_with(&start), "{line}");
        }
        let whole = error.to_string();
        assert!(whole.starts_with("2 errors in one call:\n  the environment variable"), "{whole}");
    }

    #[test]
    fn guard_pages_are_before_or_after() {
        let guard_pages = |value| read(GUARD_PAGES, value).map(|options| options.guard_pages);
        assert_eq!(guard_pages(""), Ok(None));
        assert!(guard_pages("both").unwrap_err().contains("KERNELMILL_GUARD_PAGES is `both`"));
        if cfg!(any(target_os = "linux", target_os = "macos")) {
            assert_eq!(guard_pages("before"), Ok(Some(Placement::Before)));
            assert_eq!(guard_pages("after"), Ok(Some(Placement::After)));
        } else {
            assert!(guard_pages("after").is_err());
        }
    }
}

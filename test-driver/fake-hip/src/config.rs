//! The environment variables.

use std::cell::RefCell;

use crate::failures::Failures;

/// When streams do their work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Streams {
    /// As soon as it is queued.
    Eager,
    /// When something waits for it, and no more than that.
    Lazy,
    /// Some of it at every call.
    Random(u64),
}

#[derive(Debug)]
pub(crate) struct Config {
    pub(crate) devices: i32,
    /// `gcnArchName` of each device.
    pub(crate) architecture: String,
    /// Bytes of each device.
    pub(crate) memory: usize,
    pub(crate) streams: Streams,
    pub(crate) failures: Failures,
    pub(crate) checks_leaks: bool,
    /// Whether devices have cooperative launches.
    pub(crate) cooperative: bool,
    /// Whether devices have stream-ordered allocation.
    pub(crate) pools: bool,
}

impl Config {
    /// Reads the environment; the error names each variable that is wrong, in a line of its own.
    pub(crate) fn from_environment() -> Result<Self, String> {
        Self::read(|name| std::env::var(name).ok())
    }

    fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        let get = |name: &str| variable(name).filter(|value| !value.is_empty());
        let faults = RefCell::new(Vec::new());
        let fault = |text: String| faults.borrow_mut().push(text);
        let number = |name: &str, otherwise: usize| match get(name) {
            None => otherwise,
            Some(value) => value.parse().unwrap_or_else(|_| {
                fault(format!("{name}: `{value}` is not a number"));
                otherwise
            }),
        };
        let streams = get("FAKE_HIP_STREAMS").unwrap_or_else(|| "eager".to_owned());
        let failures = get("FAKE_HIP_FAIL").unwrap_or_default();
        let config = Self {
            devices: number("FAKE_HIP_DEVICES", 1) as i32,
            architecture: get("FAKE_HIP_ARCH").unwrap_or_else(|| "gfx1100".to_owned()),
            memory: number("FAKE_HIP_MEMORY", 8 << 30),
            streams: Streams::parse(&streams).unwrap_or_else(|| {
                fault(format!("FAKE_HIP_STREAMS: `{streams}` is not eager, lazy or random:SEED"));
                Streams::Eager
            }),
            failures: Failures::parse(&failures).unwrap_or_else(|error| {
                fault(format!("FAKE_HIP_FAIL: {error}"));
                Failures::default()
            }),
            checks_leaks: get("FAKE_HIP_LEAK_CHECK").is_some(),
            cooperative: number("FAKE_HIP_COOPERATIVE", 1) != 0,
            pools: number("FAKE_HIP_POOLS", 1) != 0,
        };
        let faults = faults.into_inner();
        if faults.is_empty() { Ok(config) } else { Err(faults.join("\n")) }
    }
}

impl Streams {
    fn parse(text: &str) -> Option<Self> {
        match text {
            "eager" => Some(Self::Eager),
            "lazy" => Some(Self::Lazy),
            _ => text.strip_prefix("random:")?.parse().ok().map(Self::Random),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variable_that_is_wrong_is_named_in_a_line_of_its_own() {
        let value = |name: &str| match name {
            "FAKE_HIP_DEVICES" => Some("two".to_owned()),
            "FAKE_HIP_STREAMS" => Some("late".to_owned()),
            "FAKE_HIP_FAIL" => Some("hipMalloc sometimes".to_owned()),
            _ => None,
        };
        let error = Config::read(value).unwrap_err();
        let lines: Vec<_> = error.lines().collect();
        assert_eq!(lines[0], "FAKE_HIP_DEVICES: `two` is not a number");
        assert_eq!(lines[1], "FAKE_HIP_STREAMS: `late` is not eager, lazy or random:SEED");
        assert!(lines[2].starts_with("FAKE_HIP_FAIL: "), "{error}");
        assert_eq!(lines.len(), 3, "{error}");
        assert_eq!(Config::read(|_| None).map(|config| config.devices), Ok(1));
    }
}

//! The environment variables.

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
    /// Reads the environment; the error names the variable.
    pub(crate) fn read() -> Result<Self, String> {
        let get = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let number = |name: &str, otherwise: usize| match get(name) {
            None => Ok(otherwise),
            Some(value) => value.parse().map_err(|_| format!("{name}: `{value}` is not a number")),
        };
        let streams = get("FAKE_HIP_STREAMS").unwrap_or_else(|| "eager".to_owned());
        let failures = get("FAKE_HIP_FAIL").unwrap_or_default();
        Ok(Self {
            devices: number("FAKE_HIP_DEVICES", 1)? as i32,
            architecture: get("FAKE_HIP_ARCH").unwrap_or_else(|| "gfx1100".to_owned()),
            memory: number("FAKE_HIP_MEMORY", 8 << 30)?,
            streams: Streams::parse(&streams).ok_or_else(|| {
                format!("FAKE_HIP_STREAMS: `{streams}` is not eager, lazy or random:SEED")
            })?,
            failures: Failures::parse(&failures)
                .map_err(|error| format!("FAKE_HIP_FAIL: {error}"))?,
            checks_leaks: get("FAKE_HIP_LEAK_CHECK").is_some(),
            cooperative: number("FAKE_HIP_COOPERATIVE", 1)? != 0,
            pools: number("FAKE_HIP_POOLS", 1)? != 0,
        })
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

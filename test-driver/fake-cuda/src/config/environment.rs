//! The configuration as the environment variables say it. Nothing else reads them.

use std::{cell::RefCell, env, path::PathBuf};

use ptx_emulator::Order;

use super::change::Change;
use super::failures::Failures;
use crate::device::Profile;

/// Device memory where `FAKE_CUDA_MEMORY` says nothing.
const DEFAULT_MEMORY: u64 = 8 << 30;

/// The addresses of more devices would reach those that the host uses.
pub(crate) const MAX_DEVICES: usize = 32;

/// When streams do their work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Streams {
    /// As soon as they can.
    Eager,
    /// When something waits for it.
    Lazy,
}

/// What the environment says.
pub(crate) struct Config {
    /// One profile a device.
    pub(crate) devices: Vec<Profile>,
    /// Memory of each device, in bytes.
    pub(crate) memory: u64,
    pub(crate) order: Order,
    pub(crate) streams: Streams,
    pub(crate) races: bool,
    /// Whether reads of what was never written are let be.
    pub(crate) unwritten: bool,
    pub(crate) steps: Option<u64>,
    /// Cores that run the blocks of a launch, 0 for all there are.
    pub(crate) threads: usize,
    pub(crate) failures: Failures,
    pub(crate) coverage: Option<PathBuf>,
    pub(crate) leak_check: bool,
    /// Whether the devices have cooperative launches.
    pub(crate) cooperative: bool,
    pub(crate) change: Option<Change>,
    /// The version that the driver says it has.
    pub(crate) version: Option<i32>,
}

impl Config {
    /// Reads the environment. The error says of each variable that is wrong how it is, in a line of its own.
    pub(crate) fn from_environment() -> Result<Self, String> {
        Self::read(|name| match env::var(name) {
            Ok(value) => Ok(Some(value).filter(|value| !value.is_empty())),
            Err(env::VarError::NotPresent) => Ok(None),
            Err(env::VarError::NotUnicode(_)) => Err(format!("{name} is not UTF-8")),
        })
    }

    fn read(get: impl Fn(&str) -> Result<Option<String>, String>) -> Result<Self, String> {
        let faults = Faults::default();
        let get = |name: &str| faults.or(get(name), None);
        let parsed = |name: &str, what: &str| faults.or(number(name, get(name), what), None);
        let switched = |name: &str, otherwise| faults.or(switch(name, get(name), otherwise), false);
        let flag = |name: &str| switched(name, false);
        let count = parsed("FAKE_CUDA_DEVICES", "a number of devices").unwrap_or(1);
        let architectures = get("FAKE_CUDA_ARCH").unwrap_or_else(|| "80".to_owned());
        let order = get("FAKE_CUDA_ORDER").map_or(Ok(Order::Forward), |order| parse_order(&order));
        let failures = Failures::parse(&get("FAKE_CUDA_FAIL").unwrap_or_default());
        let change = get("FAKE_CUDA_MUTATE").map(|text| Change::parse(&text)).transpose();
        let streams = parse_streams(get("FAKE_CUDA_STREAMS").as_deref());
        let config = Self {
            devices: faults.or(profiles(&architectures, count), Vec::new()),
            memory: parsed("FAKE_CUDA_MEMORY", "a number of bytes").unwrap_or(DEFAULT_MEMORY),
            order: faults.or(order, Order::Forward),
            streams: faults.or(streams, Streams::Eager),
            races: flag("FAKE_CUDA_RACES"),
            unwritten: flag("FAKE_CUDA_UNWRITTEN"),
            steps: parsed("FAKE_CUDA_STEPS", "a number of instructions"),
            threads: parsed("FAKE_CUDA_THREADS", "a number of cores").unwrap_or(1) as usize,
            failures: faults.or(failures, Failures::default()),
            coverage: get("FAKE_CUDA_COVERAGE").map(PathBuf::from),
            leak_check: flag("FAKE_CUDA_LEAK_CHECK"),
            cooperative: switched("FAKE_CUDA_COOPERATIVE", true),
            change: faults.or(change, None),
            version: parsed("FAKE_CUDA_VERSION", "a version of the driver")
                .and_then(|version| i32::try_from(version).ok()),
        };
        faults.into_result(config)
    }
}

/// What is wrong with the variables that were read so far.
#[derive(Default)]
struct Faults(RefCell<Vec<String>>);

impl Faults {
    /// The value; another where there is a fault, which is kept: that configuration is not used.
    fn or<T>(&self, value: Result<T, String>, otherwise: T) -> T {
        value.unwrap_or_else(|fault| {
            self.0.borrow_mut().push(fault);
            otherwise
        })
    }

    fn into_result<T>(self, value: T) -> Result<T, String> {
        let faults = self.0.into_inner();
        if faults.is_empty() { Ok(value) } else { Err(faults.join("\n")) }
    }
}

fn number(name: &str, value: Option<String>, what: &str) -> Result<Option<u64>, String> {
    let parse = |value: String| value.parse().map_err(|_| format!("{name}={value} is not {what}"));
    value.map(parse).transpose()
}

fn switch(name: &str, value: Option<String>, otherwise: bool) -> Result<bool, String> {
    match value.as_deref() {
        None => Ok(otherwise),
        Some("0") => Ok(false),
        Some("1") => Ok(true),
        Some(other) => Err(format!("{name}={other} is neither 0 nor 1")),
    }
}

/// The profiles of `count` devices; the last architecture named is that of all further ones.
fn profiles(architectures: &str, count: u64) -> Result<Vec<Profile>, String> {
    let named: Vec<&str> = architectures.split(',').map(str::trim).collect();
    let count = usize::try_from(count).ok().filter(|count| *count <= MAX_DEVICES);
    let count = count.ok_or_else(|| format!("FAKE_CUDA_DEVICES is more than {MAX_DEVICES}"))?;
    let profile = |index: usize| {
        let name = named[index.min(named.len() - 1)];
        Profile::named(name).ok_or_else(|| {
            let known = Profile::names().collect::<Vec<_>>().join(", ");
            format!("FAKE_CUDA_ARCH={architectures}: `{name}` is not one of {known}")
        })
    };
    (0..count).map(profile).collect()
}

fn parse_order(text: &str) -> Result<Order, String> {
    let seed = text.strip_prefix("random:").and_then(|seed| seed.parse().ok());
    match (text, seed) {
        ("forward", _) => Ok(Order::Forward),
        ("reverse", _) => Ok(Order::Reverse),
        (_, Some(seed)) => Ok(Order::Random(seed)),
        _ => Err(format!("FAKE_CUDA_ORDER={text} is not forward, reverse or random:SEED")),
    }
}

fn parse_streams(text: Option<&str>) -> Result<Streams, String> {
    match text {
        None | Some("eager") => Ok(Streams::Eager),
        Some("lazy") => Ok(Streams::Lazy),
        Some(other) => Err(format!("FAKE_CUDA_STREAMS={other} is neither eager nor lazy")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, &str)]) -> Result<Config, String> {
        Config::read(|name| {
            let found = pairs.iter().find(|(key, _)| *key == name);
            Ok(found.map(|(_, value)| (*value).to_owned()))
        })
    }

    #[test]
    fn nothing_set_is_one_device() {
        let config = read(&[]).unwrap();
        assert_eq!((config.devices.len(), config.memory), (1, DEFAULT_MEMORY));
        assert!(matches!(config.order, Order::Forward));
        assert!(!config.races && !config.leak_check && config.steps.is_none());
    }

    #[test]
    fn the_last_architecture_repeats() {
        let config = read(&[("FAKE_CUDA_DEVICES", "3"), ("FAKE_CUDA_ARCH", "75,90a")]).unwrap();
        let found: Vec<_> = config.devices.iter().map(|profile| profile.name).collect();
        assert_eq!(found, ["75", "90a", "90a"]);
    }

    #[test]
    fn seeds_are_read() {
        let config = read(&[("FAKE_CUDA_ORDER", "random:42")]).unwrap();
        assert!(matches!(config.order, Order::Random(42)));
    }

    #[test]
    fn every_variable_that_is_wrong_is_named_in_a_line_of_its_own() {
        let pairs =
            [("FAKE_CUDA_RACES", "yes"), ("FAKE_CUDA_DEVICES", "two"), ("FAKE_CUDA_ARCH", "12")];
        let rules =
            read(&[("FAKE_CUDA_FAIL", "cuInit sometimes; cuInit at call 1; cuCtxCreate never")]);
        assert_eq!(rules.err().unwrap().matches("FAKE_CUDA_FAIL: `cu").count(), 2);
        let error = read(&pairs).err().unwrap();
        let lines: Vec<_> = error.lines().collect();
        assert_eq!(lines[0], "FAKE_CUDA_DEVICES=two is not a number of devices");
        assert!(lines[1].starts_with("FAKE_CUDA_ARCH=12: `12` is not one of "), "{error}");
        assert_eq!(lines[2..], ["FAKE_CUDA_RACES=yes is neither 0 nor 1"], "{error}");
    }

    #[test]
    fn wrong_values_name_their_variable() {
        for (name, value) in [
            ("FAKE_CUDA_DEVICES", "two"),
            ("FAKE_CUDA_ARCH", "12"),
            ("FAKE_CUDA_ORDER", "random"),
            ("FAKE_CUDA_STREAMS", "late"),
            ("FAKE_CUDA_RACES", "yes"),
            ("FAKE_CUDA_STEPS", "-1"),
            ("FAKE_CUDA_VERSION", "11.2"),
            ("FAKE_CUDA_FAIL", "cuMemAlloc sometimes"),
            ("FAKE_CUDA_MUTATE", "barrier of reduce"),
        ] {
            let error = read(&[(name, value)]).err().unwrap();
            assert!(error.contains(name), "{error}");
        }
    }
}

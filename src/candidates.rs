//! Candidates: the devices of the machine with the binaries that a program has for each, and the best of them.
//!
//! [`Device::best`] knows no binaries. The device chosen here runs the kernels that the program has.

use std::fmt;

use crate::{
    choice::Choice,
    device::Device,
    discovery,
    embedded::KernelSet,
    error::{Error, NoBinary, Result},
    loaded::{Loaded, Plan},
};

/// The devices of the machine with the binaries that a program has for each: `Kernels::candidates`.
///
/// `Display` gives a line for each device with its verdict, and below it a line for each binary.
#[derive(Debug)]
#[non_exhaustive]
pub struct Candidates {
    /// The package of the kernels.
    pub package: &'static str,
    /// Every device that can be opened, in the order in which they are tried.
    pub devices: Vec<Candidate>,
    /// Why other devices cannot be opened, as [`Device::unavailable`] has it.
    pub unavailable: Vec<Error>,
}

/// A device that kernels could run on.
#[derive(Debug)]
#[non_exhaustive]
pub struct Candidate {
    /// The device.
    pub device: Device,
    /// What became of it.
    pub verdict: DeviceVerdict,
    /// The binary that is chosen for each source, with the reason for each other one.
    pub choices: Vec<Choice>,
    /// Why kernels have no binary for the device.
    pub missing: Vec<NoBinary>,
}

/// What became of a [`Candidate`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DeviceVerdict {
    /// It is the best.
    Chosen,
    /// It runs the kernels, and an earlier device does too.
    Outranked,
    /// It runs some of the kernels, and another device runs all of them, or an earlier one some.
    Incomplete,
    /// `Kernels::load` fails on it: kernels have no binary for it.
    NoBinary,
    /// The environment variable `KERNELMILL_DEVICE` names another one.
    NotNamed,
}

/// How many of the kernels a device has binaries for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Coverage {
    None,
    Some,
    All,
}

impl Loaded {
    /// Loads the kernels on the best device that has binaries for all of them; where none has, on the best one that has
    /// binaries for some of them. That is the first in the order of [`Device::all`], or the one that the environment variable
    /// `KERNELMILL_DEVICE` names.
    ///
    /// # Errors
    ///
    /// [`Error::NoCandidate`] where no device has a binary, as for [`Device::best`] where the variable names one,
    /// and what loading reports.
    pub fn best(set: &'static KernelSet) -> Result<Self> {
        if let Some(named) = discovery::named() {
            return Self::new(&named?, set);
        }
        let (mut best, mut passed_over) = (None, Vec::new());
        for device in discovery::each() {
            let device = match device {
                Ok(device) => device,
                Err(error) => {
                    passed_over.push(error);
                    continue;
                }
            };
            match Plan::make(&device, set) {
                Ok(plan) if plan.missing.is_empty() => {
                    best = Some(device);
                    break;
                }
                Ok(_) => best = best.or(Some(device)),
                Err(error) => passed_over.push(error),
            }
        }
        let Some(best) = best else {
            let devices = Candidates::of(set)?.lines();
            return Err(Error::NoCandidate { package: set.package, devices });
        };
        discovery::say_passed_over(&passed_over, &best);
        Self::new(&best, set)
    }
}

impl Candidates {
    /// Every device of the machine, each opened, with the binaries that a set has for it.
    ///
    /// # Errors
    ///
    /// As for [`Device::best`] where `KERNELMILL_DEVICE` is set.
    pub fn of(set: &'static KernelSet) -> Result<Self> {
        let named = discovery::named().transpose()?;
        let (mut devices, mut unavailable) = (Vec::new(), Vec::new());
        for device in discovery::each() {
            match device {
                Ok(device) => devices.push(Candidate::of(device, set)?),
                Err(error) => unavailable.push(error),
            }
        }
        if let Some(named) = &named {
            // One that is not enumerated: the asynchronous processor.
            if devices.iter().all(|(_, it)| it.device != *named) {
                devices.push(Candidate::of(named.clone(), set)?);
            }
        }
        let most = devices.iter().map(|(coverage, _)| *coverage).max();
        let is_chosen = |(coverage, it): &(Coverage, Candidate)| match &named {
            Some(named) => it.device == *named,
            None => Some(*coverage) == most,
        };
        let chosen = devices.iter().position(is_chosen);
        let devices = devices.into_iter().enumerate().map(|(index, (coverage, mut it))| {
            it.verdict = match coverage {
                _ if named.is_some() && chosen != Some(index) => DeviceVerdict::NotNamed,
                Coverage::None => DeviceVerdict::NoBinary,
                _ if chosen == Some(index) => DeviceVerdict::Chosen,
                Coverage::All => DeviceVerdict::Outranked,
                Coverage::Some => DeviceVerdict::Incomplete,
            };
            it
        });
        Ok(Self { package: set.package, devices: devices.collect(), unavailable })
    }

    /// The device that `Kernels::best` takes; `None` where there is none.
    #[must_use]
    pub fn chosen(&self) -> Option<&Device> {
        let chosen = self.devices.iter().find(|it| it.verdict == DeviceVerdict::Chosen);
        chosen.map(|it| &it.device)
    }

    /// A line for each device, with those of its binaries below it.
    fn lines(&self) -> String {
        let devices = self.devices.iter().map(|it| format!("  {}", indented(it)));
        let unavailable = self.unavailable.iter().map(|it| format!("  {}", indented(it)));
        devices.chain(unavailable).collect::<Vec<_>>().join("\n")
    }
}

impl Candidate {
    /// A device, whose verdict is not known yet.
    fn of(device: Device, set: &'static KernelSet) -> Result<(Coverage, Self)> {
        let (choices, missing) = match Plan::make(&device, set) {
            Ok(plan) => (plan.choices, plan.missing.into_values().collect()),
            Err(Error::NoBinary(error)) => (Vec::new(), vec![*error]),
            Err(error) => return Err(error),
        };
        let coverage = match (choices.is_empty(), missing.is_empty()) {
            (_, true) => Coverage::All,
            (false, false) => Coverage::Some,
            (true, false) => Coverage::None,
        };
        Ok((coverage, Self { device, verdict: DeviceVerdict::NoBinary, choices, missing }))
    }
}

impl fmt::Display for Candidates {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "devices for the kernels of package `{}`:\n{}",
            self.package,
            self.lines()
        )
    }
}

impl fmt::Display for Candidate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { device, verdict, choices, missing } = self;
        write!(formatter, "{}: {device}: {verdict}", device.selector())?;
        for choice in choices {
            write!(formatter, "\n  {}", indented(choice))?;
        }
        for error in missing {
            write!(formatter, "\n  {}", indented(error))?;
        }
        Ok(())
    }
}

impl fmt::Display for DeviceVerdict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Chosen => "chosen",
            Self::Outranked => "runs the kernels, but an earlier device is chosen",
            Self::Incomplete => "lacks binaries of some kernels",
            Self::NoBinary => "lacks binaries",
            Self::NotNamed => "KERNELMILL_DEVICE names another device",
        })
    }
}

/// A text whose lines but the first are two columns further to the right.
fn indented(text: &impl fmt::Display) -> String {
    text.to_string().replace('\n', "\n  ")
}

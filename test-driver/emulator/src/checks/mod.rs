//! Checks of a running launch.

mod race;

pub(crate) use race::{Clock, Detector, Party};

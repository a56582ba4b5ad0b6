//! Synchronisation: the types of `std` that modules with a model use.
//!
//! `tests/models` compiles these modules with the types of [loom](https://docs.rs/loom) in this module's place,
//! and runs them in every order of their threads.

pub(crate) use std::sync::{
    Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

//! Models of the run time's synchronisation, which [loom](https://docs.rs/loom) runs in every order of their
//! threads that the memory model of C++11 allows.
//!
//! The modules are those of `kernelmill` itself, compiled with loom's types in the place of `std`'s: the table and
//! the slots of the module cache, the progress of a watched launch on the CPU, the gate of one whose blocks are shared, and waits on other threads. loom has no time, so no wait here ends
//! before its condition holds.

#![cfg(test)]

mod sync;

#[path = "../../../src/cache/slot.rs"]
#[allow(dead_code, unreachable_pub, reason = "models use a part of what the run time exports")]
mod slot;

#[path = "../../../src/cache/table.rs"]
#[allow(dead_code, unreachable_pub, reason = "models use a part of what the run time exports")]
mod table;

#[path = "../../../src/backend/cpu/watchdog/progress.rs"]
mod progress;

#[path = "../../../src/backend/cpu/gate.rs"]
mod gate;

#[path = "../../../src/waiter/completion.rs"]
mod completion;

#[path = "../../../src/waiter/pool.rs"]
mod pool;

mod launches;
mod modules;
mod waits;

//! The leak check: what a program has not given back, and what it did wrong.

use crate::state::{Object, state};

/// The code that a process exits with that leaks.
const EXIT_CODE: i32 = 97;

/// Looks at what is left when the process exits.
pub(crate) fn watch() {
    // SAFETY: the function lives as long as this library, which is not closed.
    unsafe { libc::atexit(check) };
}

extern "C" fn check() {
    let state = state();
    let objects = state.objects.values().filter(|it| !matches!(it, Object::Function(_))).count();
    let left = objects + state.memory.live().count();
    let (created, released) = (state.created, state.released);
    if created != released + left {
        eprintln!("fake-hip: {created} objects created, {released} released, {left} not released");
    }
    for object in state.objects.values() {
        match object {
            Object::Stream { .. } => eprintln!("fake-hip: not released: a stream"),
            Object::Event(_) => eprintln!("fake-hip: not released: an event"),
            Object::Module(_) => eprintln!("fake-hip: not released: a module"),
            Object::Graph(_) => eprintln!("fake-hip: not released: a graph"),
            Object::Executable(_) => eprintln!("fake-hip: not released: an executable graph"),
            Object::Function(_) => {}
        }
    }
    for block in state.memory.live() {
        eprintln!("fake-hip: not released: {:?} of {} bytes", block.kind, block.bytes);
    }
    if left > state.excused || state.misuses > 0 {
        eprintln!("fake-hip: {left} left, {} excused, {} misuses", state.excused, state.misuses);
        // SAFETY: ends the process, whose exit this is.
        unsafe { libc::_exit(EXIT_CODE) };
    }
}

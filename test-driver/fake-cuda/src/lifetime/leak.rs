//! The leak check: what a program has not given back.

use std::sync::Mutex;

use super::fork::is_forked;
use crate::base::handle::lock;
use crate::config::Config;
use crate::context::{CONTEXTS, Context, primary};
use crate::event::EVENTS;
use crate::graph::{EXECUTABLES, GRAPHS};
use crate::memory::{self, Allocation, Kind, external::IMPORTED, pool::POOLS};
use crate::module::MODULES;
use crate::stream::STREAMS;

/// The code that a process exits with that leaks.
const EXIT_CODE: i32 = 97;

/// What was left in a context when it was destroyed.
#[derive(Default)]
pub(crate) struct Left {
    context: String,
    pub(crate) streams: usize,
    pub(crate) events: usize,
    pub(crate) modules: usize,
    allocations: Vec<String>,
}

static LEFT: Mutex<Vec<Left>> = Mutex::new(Vec::new());

impl Left {
    pub(crate) fn new(context: &Context) -> Self {
        Self { context: describe(context), ..Self::default() }
    }

    pub(crate) fn add_allocations(&mut self, allocations: Vec<Allocation>) {
        self.allocations.extend(allocations.iter().map(describe_allocation));
    }

    fn lines(&self) -> impl Iterator<Item = String> {
        let counted = [
            counted(self.streams, "stream"),
            counted(self.events, "event"),
            counted(self.modules, "module"),
        ];
        let all = counted.into_iter().flatten().chain(self.allocations.iter().cloned());
        all.map(|what| format!("{what}, freed only with {}", self.context))
    }
}

/// Notes what a context took with it.
pub(crate) fn note(left: Left) {
    if left.lines().next().is_some() {
        lock(&LEFT).push(left);
    }
}

fn counted(count: usize, what: &str) -> Option<String> {
    match count {
        0 => None,
        1 => Some(format!("1 {what}")),
        _ => Some(format!("{count} {what}s")),
    }
}

fn describe(context: &Context) -> String {
    let kind = if context.primary { "the primary context" } else { "a context" };
    format!("{kind} of device {}", context.ordinal)
}

fn describe_allocation(allocation: &Allocation) -> String {
    let kind = match allocation.kind {
        Kind::Device => "device memory",
        Kind::Pool(_) => "memory of a pool",
        Kind::Graph | Kind::Global => "memory of a graph or a module",
        Kind::Managed => "managed memory",
        Kind::Pinned(_) => "pinned memory",
        Kind::Registered => "registered memory",
        Kind::External => "imported memory",
    };
    format!(
        "{} bytes of {kind} at {:#x}, device {}",
        allocation.bytes, allocation.address, allocation.owner.ordinal
    )
}

/// Everything that leaks now, a line each.
pub(crate) fn report() -> Vec<String> {
    let mut lines: Vec<String> = lock(&LEFT).iter().flat_map(Left::lines).collect();
    for context in CONTEXTS.all() {
        let users = match primary::users(context.ordinal) {
            _ if !context.primary => String::new(),
            1 => ", retained once".to_owned(),
            count => format!(", retained {count} times"),
        };
        lines.push(describe(&context) + &users);
    }
    lines.extend(memory::owned().iter().map(describe_allocation));
    let own_pools = POOLS.all().iter().filter(|pool| !pool.is_default).count();
    let counts = [
        (MODULES.all().len(), "module"),
        (STREAMS.all().len(), "stream"),
        (EVENTS.all().len(), "event"),
        (GRAPHS.all().len(), "graph"),
        (EXECUTABLES.all().len(), "instantiated graph"),
        (own_pools, "memory pool"),
        (IMPORTED.all().len(), "imported memory"),
    ];
    lines.extend(counts.into_iter().filter_map(|(count, what)| counted(count, what)));
    lines
}

/// Lets the process end with [`EXIT_CODE`] if it leaks then, where that is asked for.
pub(crate) fn check_at_exit(config: &Config) {
    extern "C" fn check() {
        // What a process has at its fork is its own to give back.
        let lines = if is_forked() { Vec::new() } else { report() };
        if lines.is_empty() {
            return;
        }
        eprintln!("fake-cuda: the program has not released");
        lines.iter().for_each(|line| eprintln!("fake-cuda:   {line}"));
        // SAFETY: writes what C has not written so far, and ends the process without the handlers
        // that are running already.
        unsafe {
            libc::fflush(std::ptr::null_mut());
            libc::_exit(EXIT_CODE);
        }
    }
    if config.leak_check {
        // SAFETY: `check` stays loaded until the process exits: a library whose function is
        // registered here is run before it is unloaded.
        unsafe { libc::atexit(check) };
    }
}

//! What is counted, and which call is to fail.

use std::{
    collections::BTreeMap,
    env,
    sync::{Mutex, MutexGuard, OnceLock, PoisonError},
};

/// The code that a process exits with that leaks.
const EXIT_CODE: i32 = 97;

/// What stands for all functions in a rule.
const ANY: &str = "any";

#[derive(Debug, Default)]
pub(crate) struct State {
    /// How many there are of each kind.
    live: BTreeMap<&'static str, i64>,
    fails: Option<Rule>,
    calls: u64,
}

/// A call that fails.
#[derive(Debug)]
struct Rule {
    function: String,
    /// Its number, from 1.
    call: u64,
    code: i32,
}

/// The state of the process.
pub(crate) fn state() -> MutexGuard<'static, State> {
    static STATE: OnceLock<Mutex<State>> = OnceLock::new();
    let state = STATE.get_or_init(|| {
        if env::var_os("VULKAN_LAYER_LEAK_CHECK").is_some() {
            // SAFETY: the function lives as long as this library, which is not closed.
            unsafe { libc::atexit(check) };
        }
        let text = env::var("VULKAN_LAYER_FAIL").unwrap_or_default();
        let fails = Rule::read(&text);
        assert!(
            fails.is_some() || text.is_empty(),
            "VULKAN_LAYER_FAIL: `{text}` is not `FUNCTION at call NUMBER with CODE`"
        );
        Mutex::new(State { fails, ..State::default() })
    });
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Rule {
    fn read(text: &str) -> Option<Self> {
        let (function, rest) = text.split_once(" at call ")?;
        let (call, code) = rest.split_once(" with ")?;
        Some(Self {
            function: function.to_owned(),
            call: call.parse().ok()?,
            code: code.parse().ok()?,
        })
    }
}

impl State {
    /// Counts a call; the code where it is to fail.
    pub(crate) fn failure(&mut self, function: &str) -> Option<i32> {
        let Rule { function: named, call, code } = self.fails.as_ref()?;
        if named != function && named != ANY {
            return None;
        }
        self.calls += 1;
        if self.calls != *call {
            return None;
        }
        eprintln!("vulkan-layer: call {call} fails, of {function}");
        Some(*code)
    }

    /// Counts a further object.
    pub(crate) fn made(&mut self, kind: &'static str) {
        *self.live.entry(kind).or_default() += 1;
    }

    /// Counts an object that is destroyed.
    pub(crate) fn gone(&mut self, kind: &'static str) {
        *self.live.entry(kind).or_default() -= 1;
    }

    /// How many there are of a kind.
    pub(crate) fn count(&self, kind: &str) -> i64 {
        self.live.get(kind).copied().unwrap_or_default()
    }
}

/// Looks at what is left when the process exits.
extern "C" fn check() {
    let state = state();
    let left: Vec<_> = state.live.iter().filter(|(_, count)| **count != 0).collect();
    for (kind, count) in &left {
        eprintln!("vulkan-layer: left: {count} of {kind}");
    }
    if !left.is_empty() {
        // SAFETY: ends the process, whose exit this is.
        unsafe { libc::_exit(EXIT_CODE) };
    }
}

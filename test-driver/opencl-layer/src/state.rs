//! What is counted, and which call is to fail.

use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    ffi::{CStr, CString, c_void},
    sync::{Mutex, MutexGuard, OnceLock, PoisonError},
};

use libloading::Library;

/// The code that a process exits with that leaks.
const EXIT_CODE: i32 = 97;

/// `CL_OUT_OF_RESOURCES`.
const OUT_OF_RESOURCES: i32 = -5;

/// Functions that give something back.
const RELEASES: &str = "clRelease";

/// What stands for all functions in a rule.
const ANY: &str = "any";

#[derive(Debug, Default)]
pub(crate) struct State {
    /// How many there are of each kind.
    live: BTreeMap<&'static str, i64>,
    /// How many were not given back because that was made to fail.
    excused: i64,
    /// A function, and its call that fails, from 1.
    fails: Option<(String, u64)>,
    /// Whether the device is lost by that.
    loses: bool,
    /// Whether it is lost, which it is until a context is made.
    is_lost: bool,
    /// The code that it fails with; 0: `CL_OUT_OF_RESOURCES`.
    code: i32,
    /// The function whose call has failed.
    failed: Option<CString>,
    /// The function that was called next.
    next: Option<CString>,
    calls: u64,
    /// The addresses of programs that were translated.
    translated: BTreeSet<usize>,
}

/// The state of the process.
pub(crate) fn state() -> MutexGuard<'static, State> {
    static STATE: OnceLock<Mutex<State>> = OnceLock::new();
    let state = STATE.get_or_init(|| {
        if env::var_os("OPENCL_LAYER_LEAK_CHECK").is_some() {
            // SAFETY: the function lives as long as this library, which is not closed.
            unsafe { libc::atexit(check) };
        }
        let rule = env::var("OPENCL_LAYER_FAIL").unwrap_or_default();
        let (rule, loses) = match rule.strip_suffix(" onwards") {
            Some(rule) => (rule, true),
            None => (&*rule, false),
        };
        let fails = rule.split_once(" at call ").map(|(function, call)| {
            (
                function.to_owned(),
                call.parse().expect("OPENCL_LAYER_FAIL names a call by its number"),
            )
        });
        assert!(
            fails.is_some() || rule.is_empty(),
            "OPENCL_LAYER_FAIL: `{rule}` is not `FUNCTION at call NUMBER`, with ` onwards` for a lost device"
        );
        Mutex::new(State { fails, loses, ..State::default() })
    });
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    /// Counts a call; the code where it is to fail.
    pub(crate) fn failure(&mut self, function: &str) -> Option<i32> {
        if self.is_lost {
            self.is_lost = function != "clCreateContext";
            return waits_for_device(function).then_some(OUT_OF_RESOURCES);
        }
        let (named, call) = self.fails.as_ref()?;
        if named != function && named != ANY {
            return None;
        }
        self.calls += 1;
        if self.calls != *call {
            if self.failed.is_some() && self.next.is_none() {
                self.next = CString::new(function).ok();
            }
            return None;
        }
        eprintln!("opencl-layer: call {call} fails, of {function}");
        self.excused += i64::from(function.starts_with(RELEASES) || function == "clEnqueueSVMFree");
        self.failed = CString::new(function).ok();
        self.is_lost = self.loses;
        Some(if self.code == 0 { OUT_OF_RESOURCES } else { self.code })
    }

    /// Makes a call of any function fail with a code, calls counted from now on; none with call 0.
    pub(crate) fn fail(&mut self, call: u64, code: i32) {
        (self.fails, self.calls) = (Some((ANY.to_owned(), call)), 0);
        (self.code, self.failed, self.next) = (code, None, None);
    }

    /// The function that was called after that one.
    pub(crate) fn next(&self) -> Option<&CStr> {
        self.next.as_deref()
    }

    /// The function whose call has failed since [`Self::fail`].
    pub(crate) fn failed(&self) -> Option<&CStr> {
        self.failed.as_deref()
    }

    /// How many objects there are, but for those that are left because giving them back failed.
    pub(crate) fn left(&self) -> i64 {
        self.live.values().map(|count| count.abs()).sum::<i64>() - self.excused
    }

    /// Notes a program that a module of SPIR-V was translated to.
    pub(crate) fn note_translated(&mut self, program: *mut c_void) {
        self.translated.insert(program.addr());
    }

    /// Whether a program was made so. The address of one that is released may be that of a later one.
    pub(crate) fn is_translated(&mut self, program: *mut c_void) -> bool {
        self.translated.remove(&program.addr())
    }

    /// Counts a further object.
    pub(crate) fn made(&mut self, kind: &'static str) {
        *self.live.entry(kind).or_default() += 1;
    }

    /// Counts an object that is given back.
    pub(crate) fn gone(&mut self, kind: &'static str) {
        *self.live.entry(kind).or_default() -= 1;
    }
}

/// Whether a function puts work on a queue, or waits for some.
fn waits_for_device(function: &str) -> bool {
    function.starts_with("clEnqueue")
        || ["clFlush", "clFinish", "clWaitForEvents"].contains(&function)
}

/// A function of the real library.
///
/// # Safety
///
/// `F` is its type.
pub(crate) unsafe fn real<F: Copy>(name: &str) -> F {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    let library = LIBRARY.get_or_init(|| {
        // SAFETY: opening the library runs its initialisers, which have no preconditions.
        unsafe { Library::new("libOpenCL.so.1") }.expect("the OpenCL library is installed")
    });
    // SAFETY: promised.
    *unsafe { library.get::<F>(name) }.unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Looks at what is left when the process exits.
extern "C" fn check() {
    let state = state();
    let left: i64 = state.live.values().map(|count| count.abs()).sum();
    for (kind, count) in state.live.iter().filter(|(_, count)| **count != 0) {
        eprintln!("opencl-layer: left: {count} of {kind}");
    }
    if left > state.excused {
        eprintln!("opencl-layer: {left} left, {} excused", state.excused);
        // SAFETY: ends the process, whose exit this is.
        unsafe { libc::_exit(EXIT_CODE) };
    }
}

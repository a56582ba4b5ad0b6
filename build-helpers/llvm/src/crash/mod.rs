//! Crash reports: what the process says where LLVM ends it.
//!
//! LLVM ends a process by a signal, or through
//! [`report_fatal_error`](https://llvm.org/docs/ProgrammersManual.html#programmatic-errors), and names no
//! source. So a thread says what it works on ([`during`]) before it calls LLVM. A signal handler prints
//! that and writes a reproducer, and then the handlers that were there before have their turn: LLVM's prints
//! the [pass that runs](https://llvm.org/doxygen/PrettyStackTrace_8h.html).
//!
//! Everything that the handler needs is there before: it calls only functions that are
//! [async-signal-safe](https://man7.org/linux/man-pages/man7/signal-safety.7.html), and a job that goes well
//! costs a few short texts. Other systems than Unix have no such handlers, and only fatal errors are
//! reported there.

#[cfg(unix)]
mod signals;

use std::{
    cell::Cell,
    ffi::{CStr, CString, c_char},
    path::Path,
    sync::{Once, OnceLock},
};

use llvm_sys::error_handling::{LLVMEnablePrettyStackTrace, LLVMInstallFatalErrorHandler};

/// What is said of the memory that the process may have.
static MEMORY_NOTE: OnceLock<String> = OnceLock::new();

/// What a thread works on, and the files by which it can be done again.
pub struct Report<'a> {
    /// What is said after the kind of the crash.
    text: Vec<u8>,
    folder: CString,
    files: Vec<(CString, &'a [u8])>,
    /// What it is doing now.
    step: Cell<&'static str>,
}

thread_local! {
    /// What this thread works on; null for nothing.
    static CURRENT: Cell<*const Report<'static>> = const { Cell::new(std::ptr::null()) };
}

impl<'a> Report<'a> {
    /// A report that says `text`, and a folder that files are written to.
    ///
    /// Paths with a zero byte, which no file has, become empty: such files are not written.
    #[must_use]
    pub fn new(text: &str, folder: &Path, files: &[(String, &'a [u8])]) -> Self {
        let path =
            |path: &Path| CString::new(path.to_string_lossy().as_bytes()).unwrap_or_default();
        let files = files.iter().map(|(name, bytes)| (path(&folder.join(name)), *bytes));
        let files = files.collect();
        Self { text: text.as_bytes().to_vec(), folder: path(folder), files, step: Cell::new("") }
    }
}

/// Runs `work`; where LLVM ends the process meanwhile, on this thread, the report is given.
pub fn during<T>(report: &Report<'_>, work: impl FnOnce() -> T) -> T {
    /// Puts back what was worked on before, on every way out.
    struct Restore(*const Report<'static>);
    impl Drop for Restore {
        fn drop(&mut self) {
            CURRENT.set(self.0);
        }
    }
    // The pointer is read on this thread alone and only until this function returns.
    let _restore = Restore(CURRENT.replace(std::ptr::from_ref(report).cast()));
    work()
}

/// Says what this thread does now, as part of what it works on.
pub fn step(name: &'static str) {
    // SAFETY: the pointer is null or that of a report which `during` borrows on this thread.
    if let Some(report) = unsafe { CURRENT.get().as_ref() } {
        report.step.set(name);
    }
}

/// Installs the handlers, once in a process. LLVM must be open.
pub(crate) fn install() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        // SAFETY: it only registers a handler, which has the type that is asked for.
        unsafe { LLVMInstallFatalErrorHandler(Some(fatal_error)) };
        // SAFETY: it only registers handlers. Before our own ones, which come first then.
        let print_stacks = || unsafe { LLVMEnablePrettyStackTrace() };
        #[cfg(not(unix))]
        print_stacks();
        #[cfg(unix)]
        {
            signals::keep_those_of_limits(print_stacks);
            _ = MEMORY_NOTE.set(signals::memory_note());
            signals::install(report);
        }
    });
}

/// What LLVM calls before it ends the process with an error of its own.
extern "C" fn fatal_error(reason: *const c_char) {
    // SAFETY: LLVM gives a string that ends with a zero.
    let reason = unsafe { CStr::from_ptr(reason) };
    report(&[b"a fatal error: ", reason.to_bytes()]);
}

/// Gives the report of this thread, once.
fn report(what: &[&[u8]]) {
    // SAFETY: as in `step`; where this is a signal handler, the thread is still inside `during`.
    let Some(report) = (unsafe { CURRENT.replace(std::ptr::null()).as_ref() }) else { return };
    // The number of `Code::LlvmEnded`, which the compiler's tests compare with this.
    print(b"\nerror[KM0124]: LLVM terminated the compiler, with ");
    what.iter().for_each(|part| print(part));
    print(b"\n");
    print(&report.text);
    if !report.step.get().is_empty() {
        print(b"  while: ");
        print(report.step.get().as_bytes());
        print(b"\n");
    }
    print(MEMORY_NOTE.get().map_or(b"", |note| note.as_bytes()));
    if write_files(&report.folder, &report.files) {
        print(b"  the input is kept in ");
        print(report.folder.to_bytes());
        print(b"\n");
    }
    print(b"  help: this is a fault of kernelmill or of LLVM: please report it with these files; until it is \
            fixed, leave this target out for the kernel, or use another Rust toolchain\n");
}

#[cfg(unix)]
use signals::{print, write_files};

#[cfg(not(unix))]
fn print(bytes: &[u8]) {
    use std::io::Write as _;
    // Nothing can be done about an error here.
    _ = std::io::stderr().write_all(bytes);
}

#[cfg(not(unix))]
fn write_files(folder: &CStr, files: &[(CString, &[u8])]) -> bool {
    let path = |path: &CStr| path.to_string_lossy().into_owned();
    std::fs::create_dir_all(path(folder)).is_ok()
        && files.iter().all(|(name, bytes)| std::fs::write(path(name), bytes).is_ok())
}

//! Signal handlers for crashes, and what they may call.

use std::{
    ffi::{CStr, CString, c_int, c_void},
    mem::MaybeUninit,
    ptr,
    sync::OnceLock,
};

/// The signals of a crash, with what they are called.
const SIGNALS: [(c_int, &str); 5] = [
    (libc::SIGSEGV, "signal SIGSEGV: an invalid memory access"),
    (libc::SIGBUS, "signal SIGBUS: a bus error"),
    (
        libc::SIGILL,
        "signal SIGILL: an illegal instruction, which LLVM has where code must not be reached",
    ),
    (libc::SIGFPE, "signal SIGFPE: an arithmetic error"),
    (libc::SIGABRT, "signal SIGABRT: a failed assertion in LLVM, or a lack of memory"),
];

/// So many seconds the handlers that come after ours have to print what they know. They allocate memory,
/// and wait for ever where the crash was inside the allocator.
const SECONDS_FOR_OTHERS: u32 = 20;

/// What handled the signals before.
static BEFORE: OnceLock<[libc::sigaction; SIGNALS.len()]> = OnceLock::new();
/// What reports a crash, given its kind.
static REPORT: OnceLock<fn(&[&[u8]])> = OnceLock::new();

/// Installs the handlers, which call `report`: only what is async-signal-safe may be in it. They run on the alternate stack of the thread, where it has one: threads of Rust's
/// standard library do.
pub(super) fn install(report: fn(&[&[u8]])) {
    let before = SIGNALS.map(|(signal, _)| action(signal, None));
    // `install` runs once.
    _ = (BEFORE.set(before), REPORT.set(report));
    // SAFETY: all zeroes is a value of the type, a handler without flags and with an empty mask.
    let mut ours: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
    let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) = handle;
    ours.sa_sigaction = handler as usize;
    ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
    for (signal, _) in SIGNALS {
        action(signal, Some(&ours));
    }
}

/// Has LLVM install its handlers, and gives the signals of resource limits back to whoever had them: at the end of its
/// processor time a process has none left for LLVM's stack trace, and a file that gets too large is an error of its writer.
pub(super) fn keep_those_of_limits(install: impl FnOnce()) {
    let before = [libc::SIGXCPU, libc::SIGXFSZ].map(|signal| (signal, action(signal, None)));
    install();
    for (signal, before) in before {
        action(signal, Some(&before));
    }
}

/// Sets what handles a signal, where something is given; what did before.
fn action(signal: c_int, new: Option<&libc::sigaction>) -> libc::sigaction {
    let mut old = MaybeUninit::zeroed();
    // SAFETY: both are null or live actions; a handler of ours has the type that `SA_SIGINFO` asks for. All
    // zeroes is a value of the type where the call fails.
    unsafe {
        libc::sigaction(signal, new.map_or(ptr::null(), ptr::from_ref), old.as_mut_ptr());
        old.assume_init()
    }
}

/// Reports a crash, and gives the signal to whoever handled it before.
extern "C" fn handle(signal: c_int, info: *mut libc::siginfo_t, _context: *mut c_void) {
    let index = SIGNALS.iter().position(|(known, _)| *known == signal);
    let name = index.map_or("a signal", |index| SIGNALS[index].1);
    if let Some(report) = REPORT.get() {
        report(&[name.as_bytes()]);
    }
    if let Some((before, index)) = BEFORE.get().zip(index) {
        action(signal, Some(&before[index]));
    }
    // SAFETY: `alarm` and `raise` are async-signal-safe; `info` is that of this signal.
    unsafe {
        libc::alarm(SECONDS_FOR_OTHERS);
        // The processor's own come again when the instruction is run again; others would not.
        let is_of_processor = (*info).si_code > 0 && signal != libc::SIGABRT;
        if !is_of_processor {
            libc::raise(signal);
        }
    }
}

/// The bytes of address space that the process may have; `None` for no limit.
fn address_space() -> Option<u64> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the pointer is to a local variable.
    let is_known = unsafe { libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) } == 0;
    (is_known && limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur)
}

/// The line on the memory that the process may have; empty without a limit. It is made before it is needed, as a signal
/// handler cannot.
pub(super) fn memory_note() -> String {
    address_space().map_or_else(String::new, |bytes| {
        format!(
            "  note: the process is limited to {} MiB of address space (RLIMIT_AS, `ulimit -v`): LLVM may have \
             run out of it\n",
            bytes >> 20
        )
    })
}

/// Writes to the standard error output.
pub(super) fn print(bytes: &[u8]) {
    write(libc::STDERR_FILENO, bytes);
}

/// Writes files, by their paths, of which the folder may not be there yet; whether that went well.
pub(super) fn write_files(folder: &CStr, files: &[(CString, &[u8])]) -> bool {
    // SAFETY: the paths end with a zero; the functions are async-signal-safe.
    unsafe {
        // A folder that is there already is as good; one that cannot be made, opening files tells.
        libc::mkdir(folder.as_ptr(), 0o777);
        files.iter().all(|(path, bytes)| {
            let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC;
            let file = libc::open(path.as_ptr(), flags, 0o666);
            file >= 0 && write(file, bytes) && libc::close(file) == 0
        })
    }
}

/// Writes all of some bytes; whether that went well.
fn write(file: c_int, mut bytes: &[u8]) -> bool {
    while !bytes.is_empty() {
        // SAFETY: the bytes are there; the function is async-signal-safe.
        let written = unsafe { libc::write(file, bytes.as_ptr().cast(), bytes.len()) };
        match usize::try_from(written) {
            Ok(count) if count > 0 => bytes = bytes.get(count..).unwrap_or_default(),
            _ => return false,
        }
    }
    true
}

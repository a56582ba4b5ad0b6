//! Resource limits of processes: which one was reached, by an error of the system or by what a tool printed.
//!
//! Whoever starts a build may have bounded its processes
//! ([`getrlimit`](https://man7.org/linux/man-pages/man2/getrlimit.2.html), `ulimit` in a shell). The system's errors say
//! little of that: "Resource temporarily unavailable" where no thread can be started. So messages name the limit too.

use std::io;

/// What a process ran out of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Resource {
    /// Bytes of one file.
    FileSize,
    /// File descriptors.
    OpenFiles,
    /// Threads and processes of the user.
    Threads,
    /// Address space, or memory of the machine.
    Memory,
    /// Stack of the first thread.
    Stack,
}

/// The texts by which tools, the C library and Rust's standard library tell what ran out. They contain a number or words
/// that diagnostics of sources do not have.
const TEXTS: [(&str, Resource); 16] = [
    ("(os error 27)", Resource::FileSize),
    ("File too large", Resource::FileSize),
    ("File size limit exceeded", Resource::FileSize),
    ("(os error 24)", Resource::OpenFiles),
    ("Too many open files", Resource::OpenFiles),
    ("(os error 11)", Resource::Threads),
    ("Resource temporarily unavailable", Resource::Threads),
    ("pthread_create failed", Resource::Threads),
    ("(os error 12)", Resource::Memory),
    ("Cannot allocate memory", Resource::Memory),
    ("failed to map segment from shared object", Resource::Memory),
    (" bytes failed", Resource::Memory),
    ("LLVM ERROR: out of memory", Resource::Memory),
    ("std::bad_alloc", Resource::Memory),
    ("has overflowed its stack", Resource::Stack),
    ("stack overflow, aborting", Resource::Stack),
];

impl Resource {
    /// What an error of the system is about.
    pub(crate) fn of_error(error: &io::Error) -> Option<Self> {
        #[cfg(unix)]
        return Some(match error.raw_os_error()? {
            libc::EFBIG => Self::FileSize,
            libc::EMFILE => Self::OpenFiles,
            libc::EAGAIN => Self::Threads,
            libc::ENOMEM => Self::Memory,
            _ => return None,
        });
        #[cfg(not(unix))]
        {
            let _ = error;
            None
        }
    }

    /// What a tool that failed says it ran out of, and the line that says so. Lines of sources, which diagnostics quote,
    /// do not count.
    pub(crate) fn of_output(printed: &str) -> Option<(Self, &str)> {
        let is_quoted = |line: &str| line.starts_with(|it: char| it.is_ascii_digit() || it == '|');
        printed.lines().map(str::trim).filter(|line| !is_quoted(line)).find_map(|line| {
            let text = TEXTS.iter().find(|(text, _)| line.contains(text));
            // The allocator's message has a number between its words.
            let is_whole =
                |text: &str| text != " bytes failed" || line.contains("memory allocation of");
            text.filter(|(text, _)| is_whole(text)).map(|(_, resource)| (*resource, line))
        })
    }

    /// The limit, for the end of a message.
    pub(crate) fn limit(self) -> &'static str {
        match self {
            Self::FileSize => {
                "a file has reached the size limit of the process (RLIMIT_FSIZE, `ulimit -f`)"
            }
            Self::OpenFiles => {
                "the process has reached its limit of open files (RLIMIT_NOFILE, `ulimit -n`)"
            }
            // The system's error is the same for both.
            Self::Threads => {
                "the limit of processes and threads is reached (RLIMIT_NPROC, `ulimit -u`), or there is no memory \
                 for the stack of a thread (RLIMIT_AS, `ulimit -v`)"
            }
            Self::Memory => {
                "the process is out of memory (RLIMIT_AS, `ulimit -v`, or the memory of the machine)"
            }
            Self::Stack => "the stack has reached its size limit (RLIMIT_STACK, `ulimit -s`)",
        }
    }
}

/// The resource limit behind an error of the system, to follow its text: `: no file may get larger (..)`. Empty where
/// the error is about something else.
///
/// ```
/// let error = std::io::Error::from_raw_os_error(2);
/// assert_eq!(kernelmill_compiler::limit_behind(&error), "");
/// ```
#[must_use]
pub fn limit_behind(error: &io::Error) -> String {
    Resource::of_error(error).map_or_else(String::new, |it| format!(": {}", it.limit()))
}

/// The resource limit that a tool which failed has reached, by what it printed, in the same form.
///
/// ```
/// let printed = "error: cannot open a.rs: Too many open files";
/// let limit = kernelmill_compiler::limit_told(printed);
/// assert_eq!(limit, ": the process has reached its limit of open files (RLIMIT_NOFILE, `ulimit -n`)");
/// ```
#[must_use]
pub fn limit_told(printed: &str) -> String {
    Resource::of_output(printed).map_or_else(String::new, |(it, _)| format!(": {}", it.limit()))
}

/// Has the limits of this process end in messages: a file that may not get larger is an error of its writer in place
/// of a signal, for the tools that the process starts too. The end of the processor time is told, and so is an abort
/// where the address space is limited. For the rest of the process.
///
/// On other systems than Unix it does nothing.
pub fn tell_limits() {
    #[cfg(unix)]
    unix::tell();
}

#[cfg(unix)]
pub(crate) mod unix {
    use std::{ffi::c_int, mem::MaybeUninit, ptr};

    /// What is printed where the processor time is used up.
    const NO_TIME: &[u8] =
        b"error: the build has reached its limit of processor time (RLIMIT_CPU, `ulimit -t`): \
          raise the limit, or build for fewer targets at once\n";

    /// What is printed where the process is aborted.
    const ABORTED: &[u8] =
        b"error: the build was aborted; if it ran out of memory, raise the limit of its address \
          space (RLIMIT_AS, `ulimit -v`)\n";

    /// The soft limit of a resource of this process; `None` where there is none.
    pub(crate) fn current(resource: Number) -> Option<u64> {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: the pointer is to a local variable.
        let is_known = unsafe { libc::getrlimit(resource, &raw mut limit) } == 0;
        (is_known && limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur)
    }

    /// How the C library numbers resources.
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    pub(crate) type Number = libc::__rlimit_resource_t;
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    pub(crate) type Number = c_int;

    /// Where the processor time ends by SIGKILL at once, has it end by SIGXCPU a second before. It calls only functions that
    /// a child may call between fork and exec.
    pub(crate) fn leave_a_second() {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: the pointers are to a local variable.
        unsafe {
            let is_known = libc::getrlimit(libc::RLIMIT_CPU, &raw mut limit) == 0;
            let is_bound = is_known && limit.rlim_cur != libc::RLIM_INFINITY;
            if is_bound && limit.rlim_cur == limit.rlim_max && limit.rlim_cur > 1 {
                limit.rlim_cur -= 1;
                libc::setrlimit(libc::RLIMIT_CPU, &raw const limit);
            }
        }
    }

    pub(super) fn tell() {
        set_default(libc::SIGXFSZ, libc::SIG_IGN);
        if current(libc::RLIMIT_AS).is_some() {
            let handler: extern "C" fn(c_int) = aborted;
            set_default(libc::SIGABRT, handler as libc::sighandler_t);
        }
        let Some(seconds) = current(libc::RLIMIT_CPU) else { return };
        let handler: extern "C" fn(c_int) = no_time;
        set_default(libc::SIGXCPU, handler as libc::sighandler_t);
        if seconds > 1 {
            leave_a_second();
        } else if set_default(libc::SIGPROF, handler as libc::sighandler_t) {
            let (none, soon) = ((0, 0), (0, 900_000));
            let [it_interval, it_value] =
                [none, soon].map(|(tv_sec, tv_usec)| libc::timeval { tv_sec, tv_usec });
            let timer = libc::itimerval { it_interval, it_value };
            // SAFETY: the pointers are null or to a local variable.
            unsafe { libc::setitimer(libc::ITIMER_PROF, &raw const timer, ptr::null_mut()) };
        }
    }

    /// Sets what handles a signal, unless something does already; whether it did.
    fn set_default(signal: c_int, handler: libc::sighandler_t) -> bool {
        // SAFETY: all zeroes is a value of the type, no flags and an empty mask. The pointers are null or to local
        // variables. The handler calls what is async-signal-safe only.
        unsafe {
            let mut old: libc::sigaction = MaybeUninit::zeroed().assume_init();
            let is_known = libc::sigaction(signal, ptr::null(), &raw mut old) == 0;
            if !is_known || old.sa_sigaction != libc::SIG_DFL {
                return false;
            }
            let mut new: libc::sigaction = MaybeUninit::zeroed().assume_init();
            new.sa_sigaction = handler;
            new.sa_flags = libc::SA_ONSTACK;
            libc::sigaction(signal, &raw const new, ptr::null_mut()) == 0
        }
    }

    extern "C" fn no_time(_: c_int) {
        fail(NO_TIME);
    }

    /// Allocators of Rust and of LLVM abort where there is no memory.
    extern "C" fn aborted(_: c_int) {
        fail(ABORTED);
    }

    /// Ends the process with an error, in a signal handler.
    fn fail(text: &[u8]) {
        // SAFETY: the bytes are there; both functions are async-signal-safe.
        unsafe {
            libc::write(libc::STDERR_FILENO, text.as_ptr().cast(), text.len());
            libc::_exit(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ran_out_is_read_from_what_tools_print() {
        let of = |text| Resource::of_output(text).map(|(resource, _)| resource);
        let rustc = "error: failed to write to `/x/full.rmeta`: File too large (os error 27)\n";
        assert_eq!(of(rustc), Some(Resource::FileSize));
        let abort = "\nmemory allocation of 268435456 bytes failed\nstack backtrace:\n";
        assert_eq!(
            Resource::of_output(abort),
            Some((Resource::Memory, "memory allocation of 268435456 bytes failed"))
        );
        let thread = "thread 'main' panicked at a.rs:1:1:\nfailed to spawn thread: Os { code: 11, kind: WouldBlock, \
                      message: \"Resource temporarily unavailable\" }\n";
        assert_eq!(of(thread), Some(Resource::Threads));
        assert_eq!(of("thread 'main' (7) has overflowed its stack\n"), Some(Resource::Stack));
        assert_eq!(of("clang: Too many open files\n"), Some(Resource::OpenFiles));
        let gcc = "gcc: internal compiler error: File size limit exceeded signal terminated program cc1plus";
        assert_eq!(of(gcc), Some(Resource::FileSize));
        // Comments in a source that is quoted, and other failures.
        let quoted = "error[E0308]: mismatched types\n 7 |     x // File too large\n   | Too many open files\n";
        assert_eq!(of(quoted), None);
        assert_eq!(of("error: reading 16 bytes failed\n"), None);
    }

    #[cfg(unix)]
    #[test]
    fn errors_of_the_system_name_their_limit() {
        let of = |code| limit_behind(&io::Error::from_raw_os_error(code));
        assert_eq!(
            of(libc::EFBIG),
            ": a file has reached the size limit of the process (RLIMIT_FSIZE, `ulimit -f`)"
        );
        assert!(of(libc::EMFILE).contains("RLIMIT_NOFILE"));
        let threads = of(libc::EAGAIN);
        assert!(threads.contains("RLIMIT_NPROC") && threads.contains("RLIMIT_AS"), "{threads}");
        assert!(of(libc::ENOMEM).contains("RLIMIT_AS"));
        assert_eq!(of(libc::ENOENT), "");
    }
}

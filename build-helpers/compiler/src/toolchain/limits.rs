//! Bounds on the memory, the processor time and the waits of the tools that the compiler runs.
//!
//! A macro that expands without end, or an array of many gigabytes, makes rustc, clang or ptxas take all that the
//! machine has. Each tool gets limits of its own, which the processes that it starts inherit
//! ([`setrlimit`](https://man7.org/linux/man-pages/man2/setrlimit.2.html): `RLIMIT_AS` and `RLIMIT_CPU`). One that
//! goes beyond them ends, and the build reports which tool, on which input. One that waits without end is ended
//! too ([`IdleWatch`]).
//!
//! macOS bounds the time only; Windows has none of them.

use std::{
    path::PathBuf,
    process::{Child, Command, ExitStatus, Output, Stdio},
};

use super::idle::IdleWatch;
#[cfg(unix)]
use crate::base::resource_limits::unix;
use crate::{Error, base::resource_limits::Resource};

/// What bounds the processor time that whoever started the build allows.
#[cfg(unix)]
const INHERITED_TIME: &str = "the limit of the process (RLIMIT_CPU, `ulimit -t`)";

/// The most memory that a tool may have where nothing else is said: a macro whose expansion doubles takes rustc a minute
/// to use it up.
const MOST_MEMORY: u64 = 32 << 30;

/// What one process of a tool may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolLimits {
    /// Bytes of address space; `None` for no limit.
    pub memory: Option<u64>,
    /// Seconds of processor time, of all threads together; `None` for no limit.
    pub seconds: Option<u64>,
    /// Seconds for which it and all that it has started may sleep; `None` for no limit.
    pub idle_seconds: Option<u64>,
}

impl ToolLimits {
    /// Three quarters of the memory of the machine and no more than 32 GiB, an hour, and ten minutes without doing
    /// anything. Arrays of a gigabyte take rustc more than 12 GiB of address space.
    #[must_use]
    pub fn of_machine() -> Self {
        let memory = physical_memory().map(|bytes| MOST_MEMORY.min(bytes / 4 * 3));
        Self { memory, seconds: Some(3600), idle_seconds: Some(600) }
    }

    /// Has a command run within these limits.
    pub fn apply(self, command: &mut Command) {
        #[cfg(unix)]
        {
            use std::os::unix::process::CommandExt as _;
            // SAFETY: between fork and exec it calls `setrlimit` alone, which a child of a program with threads
            // may call there: it allocates nothing and takes no lock.
            unsafe {
                command.pre_exec(move || {
                    self.set();
                    Ok(())
                });
            }
        }
        #[cfg(not(unix))]
        let _ = (self, command);
    }

    /// Sets the limits of this process. One that cannot be set leaves the tool as it would be without.
    #[cfg(unix)]
    fn set(self) {
        let resources = [(libc::RLIMIT_AS, self.memory), (libc::RLIMIT_CPU, self.seconds)];
        for (resource, limit) in resources {
            let Some(limit) = limit else { continue };
            let mut now = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
            // SAFETY: the pointers are to a local variable.
            unsafe {
                if libc::getrlimit(resource, &raw mut now) == 0 && limit < now.rlim_cur {
                    now.rlim_cur = limit;
                    libc::setrlimit(resource, &raw const now);
                }
            }
        }
        unix::leave_a_second();
    }

    /// Watches a tool that runs; one that does nothing for too long is ended.
    #[must_use]
    pub fn watch(self, child: &Child) -> IdleWatch {
        IdleWatch::over(child, self.idle_seconds)
    }

    /// Runs a tool on `subject` and gives what it printed, whether it succeeded or not.
    ///
    /// # Errors
    ///
    /// [`Error::Start`] where it cannot be run, [`Error::Ended`] where a signal ended it, or it did nothing for
    /// too long.
    pub(crate) fn output(self, command: &mut Command, subject: &str) -> Result<Output, Error> {
        self.output_from(command, Stdio::null(), subject)
    }

    /// As [`ToolLimits::output`], with something to read.
    ///
    /// # Errors
    ///
    /// Those of [`ToolLimits::output`].
    pub(crate) fn output_from(
        self,
        command: &mut Command,
        input: Stdio,
        subject: &str,
    ) -> Result<Output, Error> {
        let program = PathBuf::from(command.get_program());
        let failed = |source| Error::Start { program: program.clone(), source };
        self.apply(command);
        command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().map_err(failed)?;
        let watch = self.watch(&child);
        let output = child.wait_with_output();
        let was_idle = watch.finish();
        let output = output.map_err(failed)?;
        let stderr = String::from_utf8_lossy(&output.stderr);
        let Some(reason) = self.reason(output.status, was_idle, &stderr) else {
            return Ok(output);
        };
        let has_crashed = signal(output.status).is_some() || output.status.code() == Some(101);
        let stderr = match Resource::of_output(&stderr) {
            // What else a panic prints says where in the tool it was.
            Some((_, line)) if has_crashed => line.to_owned(),
            _ => stderr.into_owned(),
        };
        Err(Error::Ended { program, subject: subject.to_owned(), reason, stderr, kept: None })
    }

    /// Why a tool did not finish, and what to do; `None` where it did, or failed for another reason than a limit.
    /// `was_idle` says whether its watch has ended it, `printed` what it said.
    #[must_use]
    pub fn reason(self, status: ExitStatus, was_idle: bool, printed: &str) -> Option<String> {
        if let (true, Some(seconds)) = (was_idle, self.idle_seconds) {
            return Some(format!(
                "it did nothing for {seconds} s, more than KERNELMILL_TOOL_IDLE allows; it may wait for a named \
                 pipe or a device that the source includes"
            ));
        }
        if status.success() {
            return None;
        }
        match (Resource::of_output(printed), signal(status)) {
            (Some((Resource::Memory, _)), _) => {
                Some(format!("it ran out of memory; {}", self.memory_limit()))
            }
            (Some((resource, _)), _) => Some(resource.limit().to_owned()),
            (None, signal) => signal.map(|signal| self.reason_of_signal(signal)),
        }
    }

    fn reason_of_signal(self, signal: i32) -> String {
        #[cfg(unix)]
        match signal {
            libc::SIGXCPU => return self.time_limit(),
            libc::SIGXFSZ => return Resource::FileSize.limit().to_owned(),
            // Where there is no second between the end of the time and that of the process.
            libc::SIGKILL if unix::current(libc::RLIMIT_CPU).is_some() => {
                return format!("signal {signal} ended it, perhaps because {}", self.time_limit());
            }
            _ => {}
        }
        let limit = self.memory_limit();
        format!("signal {signal} ended it, perhaps because it ran out of memory; {limit}")
    }

    /// What bounds the processor time.
    #[cfg(unix)]
    fn time_limit(self) -> String {
        let inherited = unix::current(libc::RLIMIT_CPU);
        let (seconds, limit) = match (self.seconds, inherited) {
            (Some(own), Some(inherited)) if inherited <= own => (inherited, INHERITED_TIME),
            (Some(own), _) => (own, "the limit that KERNELMILL_TOOL_TIME sets"),
            (None, inherited) => (inherited.unwrap_or_default(), INHERITED_TIME),
        };
        format!("it took more than {seconds} s of processor time, {limit}")
    }

    /// What bounds the memory, and how to allow more.
    fn memory_limit(self) -> String {
        #[cfg(unix)]
        let inherited = unix::current(libc::RLIMIT_AS);
        #[cfg(not(unix))]
        let inherited: Option<u64> = None;
        match (self.memory, inherited) {
            (own, Some(inherited)) if own.is_none_or(|own| inherited <= own) => {
                format!(
                    "the limit of the process is {} MiB (RLIMIT_AS, `ulimit -v`)",
                    inherited >> 20
                )
            }
            (Some(own), _) => {
                format!("the limit is {} MiB, which KERNELMILL_TOOL_MEMORY sets", own >> 20)
            }
            (None, _) => "the machine has no more memory".to_owned(),
        }
    }
}

/// The signal that ended a process.
fn signal(status: ExitStatus) -> Option<i32> {
    #[cfg(unix)]
    return std::os::unix::process::ExitStatusExt::signal(&status);
    #[cfg(not(unix))]
    {
        let _ = status;
        None
    }
}

/// The bytes of memory of the machine, where the system says.
fn physical_memory() -> Option<u64> {
    #[cfg(unix)]
    {
        // SAFETY: `sysconf` takes a number and gives one.
        let (pages, size) =
            unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
        u64::try_from(pages).ok()?.checked_mul(u64::try_from(size).ok()?)
    }
    #[cfg(not(unix))]
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    const NONE: ToolLimits = ToolLimits { memory: None, seconds: None, idle_seconds: None };

    fn run(limits: ToolLimits, script: &str) -> Result<Output, Error> {
        limits.output(Command::new("bash").args(["-c", script]), "kernels/a.rs")
    }

    #[test]
    fn a_tool_without_end_is_ended_and_named() {
        let limits = ToolLimits { seconds: Some(1), ..NONE };
        let error = run(limits, "while :; do :; done").unwrap_err().to_string();
        let expected = "bash did not finish on kernels/a.rs: it took more than 1 s of processor time, the limit \
                        that KERNELMILL_TOOL_TIME sets";
        assert_eq!(error, expected);
    }

    #[test]
    fn what_a_tool_starts_has_its_limits() {
        let limits = ToolLimits { memory: Some(1 << 30), seconds: Some(7), ..NONE };
        let output = run(limits, "bash -c 'ulimit -Sv; ulimit -St'").unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "1048576\n7\n");
    }

    #[test]
    fn a_signal_is_told_with_what_the_tool_printed() {
        let limits = ToolLimits { memory: Some(1 << 30), ..NONE };
        let error = run(limits, "echo out of memory >&2; kill -ABRT $$").unwrap_err().to_string();
        let expected = "bash did not finish on kernels/a.rs: signal 6 ended it, perhaps because it ran out of \
                        memory; the limit is 1024 MiB, which KERNELMILL_TOOL_MEMORY sets\nout of memory";
        assert_eq!(error, expected);
        let all = ToolLimits::of_machine();
        let memory = all.memory.unwrap();
        assert!(memory > 1 << 29 && memory <= MOST_MEMORY);
        assert!(memory <= physical_memory().unwrap() / 4 * 3);
        assert!(run(all, "true").unwrap().status.success());
    }

    #[test]
    fn a_tool_that_reaches_a_limit_of_the_system_names_it() {
        let folder = test_support::temporary_folder();
        let file = folder.path().join("file").display().to_string();
        let large = format!("ulimit -f 1; exec head -c 9999 /dev/zero >{file}");
        let thread =
            "failed to spawn helper thread: Resource temporarily unavailable (os error 11)";
        let aborts = "echo 'memory allocation of 7 bytes failed' >&2; kill -ABRT $$".to_owned();
        for (script, reason) in [
            (large, "a file has reached the size limit of the process (RLIMIT_FSIZE, `ulimit -f`)"),
            (
                format!("echo '{thread}' >&2; exit 101"),
                "the limit of processes and threads is reached (RLIMIT_NPROC, `ulimit -u`), or there is no memory \
                 for the stack of a thread (RLIMIT_AS, `ulimit -v`)",
            ),
            (
                aborts,
                "it ran out of memory; the limit is 1024 MiB, which KERNELMILL_TOOL_MEMORY sets",
            ),
        ] {
            let limits = ToolLimits { memory: Some(1 << 30), ..NONE };
            let error = run(limits, &script).unwrap_err().to_string();
            let expected = format!("bash did not finish on kernels/a.rs: {reason}");
            assert_eq!(error.lines().next(), Some(&*expected));
        }
        // An error of a source that quotes such words is one of the source.
        let quoted = "echo '7 | // Too many open files' >&2; exit 1";
        assert_eq!(run(NONE, quoted).unwrap().status.code(), Some(1));
    }

    /// The pipe has no writer, and its reader is the child of a child.
    #[test]
    fn a_tool_that_waits_without_end_is_ended_with_what_it_started_and_named() {
        let folder = test_support::temporary_folder();
        let pipe = folder.path().join("pipe").display().to_string();
        let limits = ToolLimits { idle_seconds: Some(1), ..NONE };
        let script = format!("mkfifo {pipe}; (cat {pipe}; true); true");
        let start = Instant::now();
        let error = run(limits, &script).unwrap_err().to_string();
        let expected = "bash did not finish on kernels/a.rs: it did nothing for 1 s, more than KERNELMILL_TOOL_IDLE \
                        allows; it may wait for a named pipe or a device that the source includes";
        assert_eq!(error, expected);
        assert!(start.elapsed() < Duration::from_secs(60));
    }

    #[test]
    fn a_tool_that_works_longer_than_it_may_wait_is_left_alone() {
        let limits = ToolLimits { idle_seconds: Some(1), ..NONE };
        let script = "end=$((SECONDS + 3)); (while [ $SECONDS -lt $end ]; do :; done); echo done";
        assert_eq!(run(limits, script).unwrap().stdout, b"done\n");
    }
}

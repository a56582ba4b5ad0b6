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
use crate::Error;

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
    /// The memory of the machine, an hour, and ten minutes without doing anything.
    #[must_use]
    pub fn of_machine() -> Self {
        Self { memory: physical_memory(), seconds: Some(3600), idle_seconds: Some(600) }
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
        let program = PathBuf::from(command.get_program());
        let failed = |source| Error::Start { program: program.clone(), source };
        self.apply(command);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().map_err(failed)?;
        let watch = self.watch(&child);
        let output = child.wait_with_output();
        let was_idle = watch.finish();
        let output = output.map_err(failed)?;
        let Some(reason) = self.reason(output.status, was_idle) else { return Ok(output) };
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        Err(Error::Ended { program, subject: subject.to_owned(), reason, stderr, kept: None })
    }

    /// Why a tool did not finish, and what to do; `None` where it did. `was_idle` says whether its watch has ended
    /// it.
    #[must_use]
    pub fn reason(self, status: ExitStatus, was_idle: bool) -> Option<String> {
        if let (true, Some(seconds)) = (was_idle, self.idle_seconds) {
            return Some(format!(
                "it did nothing for {seconds} s, more than KERNELMILL_TOOL_IDLE allows; it may wait for a named \
                 pipe or a device that the source includes"
            ));
        }
        let signal = signal(status)?;
        #[cfg(unix)]
        if let (libc::SIGXCPU, Some(seconds)) = (signal, self.seconds) {
            return Some(format!(
                "it took more than {seconds} s of processor time, which \
                 KERNELMILL_TOOL_TIME sets"
            ));
        }
        let memory = self.memory.map_or_else(String::new, |bytes| {
            format!(
                "; if its memory was used up, KERNELMILL_TOOL_MEMORY sets how much it may have, {} MiB now",
                bytes >> 20
            )
        });
        Some(format!("signal {signal} ended it{memory}"))
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
        let expected = "bash did not finish on kernels/a.rs: it took more than 1 s of processor \
                        time, which KERNELMILL_TOOL_TIME sets";
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
        let expected = "bash did not finish on kernels/a.rs: signal 6 ended it; if its memory was used up, \
                        KERNELMILL_TOOL_MEMORY sets how much it may have, 1024 MiB now\nout of memory";
        assert_eq!(error, expected);
        let all = ToolLimits::of_machine();
        assert!(all.memory.unwrap() > 1 << 30 && run(all, "true").unwrap().status.success());
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

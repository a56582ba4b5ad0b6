//! Watch over a tool that waits without end, for example for whoever writes to a named pipe that a source includes.
//!
//! Time on the clock says little: a large source on a machine with other work takes long. So what is watched is
//! whether a tool does anything: it is idle while every thread of it, and of all processes that it has started,
//! sleeps, and they take next to no processor time. A tool that waits for a disk or for its turn on a processor
//! is not idle, and one that is stopped, by a debugger say, is not either.
//!
//! Linux only: it takes `/proc` and
//! [file descriptors of processes](https://man7.org/linux/man-pages/man2/pidfd_open.2.html).

use std::process::Child;

/// A watch over a process, which ends it where it is idle for too long.
pub struct IdleWatch {
    #[cfg(target_os = "linux")]
    running: Option<linux::Running>,
}

impl IdleWatch {
    /// Watches a child; where that cannot be done, or there is no limit, nothing is watched.
    pub(super) fn over(child: &Child, seconds: Option<u64>) -> Self {
        #[cfg(target_os = "linux")]
        return Self { running: seconds.and_then(|seconds| linux::Running::over(child, seconds)) };
        #[cfg(not(target_os = "linux"))]
        {
            let _ = (child, seconds);
            Self {}
        }
    }

    /// Ends the watch; whether it has ended the process.
    #[must_use]
    pub fn finish(self) -> bool {
        #[cfg(target_os = "linux")]
        return self.running.is_some_and(linux::Running::finish);
        #[cfg(not(target_os = "linux"))]
        false
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::{
        fs,
        os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd},
        process::Child,
        sync::mpsc::{self, RecvTimeoutError, Sender},
        thread::{self, JoinHandle},
        time::Duration,
    };

    /// The longest time between two looks at a tool.
    const LOOK_EVERY: Duration = Duration::from_secs(1);
    /// How many looks at least are between the start of a wait and its end.
    const LOOKS: u32 = 20;
    /// A tool that takes a greater part of the time than one in this many is not idle. cargo wakes twice a second
    /// to look at nothing.
    const IDLE_PART: u32 = 1000;

    pub(super) struct Running {
        stop: Sender<()>,
        thread: JoinHandle<bool>,
    }

    impl Running {
        pub(super) fn over(child: &Child, seconds: u64) -> Option<Self> {
            let process = Process::of(child)?;
            let limit = Duration::from_secs(seconds);
            let (stop, stopped) = mpsc::channel();
            let thread = thread::Builder::new().name("idle watch".to_owned());
            let watch = move || {
                let every = LOOK_EVERY.min(limit / LOOKS).max(Duration::from_millis(1));
                let mut waiting = Waiting { clock: clock_tick(), ..Waiting::default() };
                // What counts is the looks and not the clock, which goes on while the machine is suspended.
                while stopped.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
                    let Some(tree) = process.tree() else { return false };
                    if waiting.look(&tree, every) >= limit {
                        return process.end(&tree);
                    }
                }
                false
            };
            Some(Self { stop, thread: thread.spawn(watch).ok()? })
        }

        pub(super) fn finish(self) -> bool {
            drop(self.stop);
            self.thread.join().unwrap_or(false)
        }
    }

    /// How long a tool has been idle.
    #[derive(Default)]
    struct Waiting {
        time: Duration,
        /// The processor time that it had taken when that began.
        ticks: u64,
        /// What one tick is.
        clock: Duration,
    }

    impl Waiting {
        /// Looks at a tool, some time after the last look; how long it has been idle.
        fn look(&mut self, tree: &Tree, since: Duration) -> Duration {
            let taken = self.clock.saturating_mul(
                u32::try_from(tree.ticks.saturating_sub(self.ticks)).unwrap_or(u32::MAX),
            );
            self.time += since;
            if !tree.sleeps || taken > self.time / IDLE_PART {
                (self.time, self.ticks) = (Duration::ZERO, tree.ticks);
            }
            self.time
        }
    }

    /// A process and all that it has started, at one moment.
    #[derive(Default)]
    struct Tree {
        /// Their numbers, parents first.
        processes: Vec<u32>,
        /// Whether every thread of them waits for something that may never come.
        sleeps: bool,
        /// The processor time that they have taken, in ticks of the clock.
        ticks: u64,
    }

    /// A process by a descriptor: its number may be another's once it has ended.
    struct Process {
        number: u32,
        descriptor: OwnedFd,
    }

    impl Process {
        fn of(child: &Child) -> Option<Self> {
            let number = child.id();
            // Without its list of children, a tool that waits for another one would look idle.
            fs::metadata(format!("/proc/{number}/task/{number}/children")).ok()?;
            // SAFETY: the call takes two numbers. The child has not been waited for, so the number is its own.
            let descriptor = unsafe { libc::syscall(libc::SYS_pidfd_open, number, 0) };
            let descriptor = i32::try_from(descriptor).ok().filter(|it| *it >= 0)?;
            // SAFETY: the system has just made it, and nobody else has it.
            Some(Self { number, descriptor: unsafe { OwnedFd::from_raw_fd(descriptor) } })
        }

        /// Sends a signal; 0 only asks. Whether the process is there.
        fn signal(&self, signal: i32) -> bool {
            let (descriptor, nothing) = (self.descriptor.as_raw_fd(), std::ptr::null::<u8>());
            // SAFETY: the descriptor is open, and no information goes with the signal.
            unsafe {
                libc::syscall(libc::SYS_pidfd_send_signal, descriptor, signal, nothing, 0) == 0
            }
        }

        /// The process and what it has started; `None` where it has ended.
        fn tree(&self) -> Option<Tree> {
            let mut tree = Tree { processes: vec![self.number], sleeps: true, ticks: 0 };
            let mut next = 0;
            while let Some(&process) = tree.processes.get(next) {
                tree.add(process);
                next += 1;
            }
            // What was read was of this process if it is still there.
            self.signal(0).then_some(tree)
        }

        /// Ends the process and what it has started.
        fn end(&self, tree: &Tree) -> bool {
            let has_ended = self.signal(libc::SIGKILL);
            for process in tree.processes.iter().skip(1).filter_map(|it| i32::try_from(*it).ok()) {
                // SAFETY: the call takes two numbers.
                let _ = unsafe { libc::kill(process, libc::SIGKILL) };
            }
            has_ended
        }
    }

    impl Tree {
        /// Adds the threads of a process, and notes its children. One that ends meanwhile is not idle.
        fn add(&mut self, process: u32) {
            let Ok(threads) = fs::read_dir(format!("/proc/{process}/task")) else {
                self.sleeps = false;
                return;
            };
            for thread in threads.filter_map(Result::ok) {
                let stat = fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
                let (sleeps, ticks) = state(&stat).unwrap_or_default();
                self.sleeps &= sleeps;
                self.ticks += ticks;
                let children =
                    fs::read_to_string(thread.path().join("children")).unwrap_or_default();
                let children = children.split_whitespace().filter_map(|it| it.parse().ok());
                let new: Vec<u32> = children.filter(|it| !self.processes.contains(it)).collect();
                self.processes.extend(new);
            }
        }
    }

    /// Whether a thread sleeps or has ended, and its processor time, by its
    /// [`stat`](https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html).
    fn state(stat: &str) -> Option<(bool, u64)> {
        // The name before it may have any character.
        let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
        let sleeps = matches!(fields.next()?, "S" | "Z" | "X");
        let mut times = fields.skip(10);
        let mut time = || times.next()?.parse::<u64>().ok();
        Some((sleeps, time()? + time()?))
    }

    /// The unit of processor times.
    fn clock_tick() -> Duration {
        // SAFETY: `sysconf` takes a number and gives one.
        let a_second = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
        Duration::from_secs(1) / u32::try_from(a_second).unwrap_or_default().max(1)
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn states_are_read_after_any_name() {
            let stat = "7 (a) R (b) S 1 7 7 0 -1 4194304 90 0 0 0 12 30 0 0 20 0 1 0 99 0 0";
            assert_eq!(state(stat), Some((true, 42)));
            assert_eq!(state(&stat.replace(") S", ") D")), Some((false, 42)));
            assert_eq!(state("7 (a) S"), None);
        }

        #[test]
        fn what_wakes_seldom_is_idle_and_what_works_is_not() {
            let second = Duration::from_secs(1);
            let tree = |sleeps, ticks| Tree { sleeps, ticks, ..Tree::default() };
            let mut waiting = Waiting { clock: Duration::from_millis(10), ..Waiting::default() };
            waiting.look(&tree(true, 500), second);
            for look in 0..100 {
                // A tick in twenty seconds.
                let ticks = 500 + look / 20;
                waiting.look(&tree(true, ticks), second);
            }
            assert!(waiting.time > 60 * second, "{:?}", waiting.time);
            assert_eq!(waiting.look(&tree(false, 505), second), Duration::ZERO);
            assert_eq!(waiting.look(&tree(true, 505), second), second);
            assert_eq!(waiting.look(&tree(true, 507), second), Duration::ZERO);
        }
    }
}

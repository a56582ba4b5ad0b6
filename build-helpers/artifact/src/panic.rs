//! The record of a kernel's panic: what a device writes and the host reads.

use crate::{SourceLocation, render_message};

/// Bytes of message text that a device can hand to the host with a panic.
pub const PANIC_MESSAGE_BYTES: usize = 200;

/// The record that a device writes when a kernel panics. The first panic of a launch wins.
///
/// The layout is the same on every target; `kernelmill_device` declares the same structure and
/// fills it in. The fields are ordered so that a GPU writes related ones with one vector store.
/// A new record is all zero. Several launches can use it, one after the other, while the host reads it:
/// the host copies the `state` of the panic that it has read to `acknowledged`, which makes room for the
/// next one.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct PanicRecord {
    /// The number of panics that it has had, twice; odd while one is being written.
    pub state: u32,
    /// Bytes used in `message`; 0 where the device sent no text.
    pub message_len: u32,
    /// The [`PanicKind`] in the low 8 bits. Above them the message's index in the artifact's table
    /// plus 1, or 0 for none.
    pub kind: u32,
    /// Index into the artifact's table of source locations; `u32::MAX`: unknown.
    pub location: u32,
    /// First number of the message, by kind: for an index out of bounds, the index. With a message
    /// of the artifact's table, its first value.
    pub a: u64,
    /// Second number of the message, by kind: for an index out of bounds, the length. With a
    /// message of the artifact's table, its second value.
    pub b: u64,
    /// Block index of the thread that panicked, x, y, z.
    pub block: [u32; 3],
    /// Index of that thread in its block, x, y, z.
    pub thread: [u32; 3],
    /// The formatted message in UTF-8, cut at [`PANIC_MESSAGE_BYTES`]. With a message of the
    /// artifact's table, its values from the third on, 8 bytes each; a text is its length, then as
    /// many of its bytes as fit.
    pub message: [u8; PANIC_MESSAGE_BYTES],
    /// The state of the last panic that the host has read; the record is free while the two are equal.
    pub acknowledged: u32,
    /// 0.
    pub reserved: u32,
    /// The number of the last launch that panicked, where launches share the record.
    pub launch: u64,
    /// The address of the [`GridWorkspace`] of cooperative launches; 0 where there have been none. The host
    /// writes it, and a panic ends the barriers of the grid by it.
    pub workspace: u64,
    /// The address of the memory for what kernels print ([`render_lines`](crate::render_lines)), where the host prints that; 0
    /// where they print nothing. The host writes it.
    pub printed: u64,
}

const _: () = assert!(size_of::<PanicRecord>() == 288);

/// What the blocks of a cooperative launch on a GPU synchronise by, in the memory of the device. The launch is given its
/// address in the place of that of its panic record.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct GridWorkspace {
    /// The blocks that have come to the barrier. The last one turns the highest bit over and leaves the others 0.
    pub arrived: u32,
    /// Not 0 once a thread of the launch has panicked: nobody waits any more.
    pub abandoned: u32,
    /// The address of the launch's panic record.
    pub record: u64,
}

const _: () = assert!(size_of::<GridWorkspace>() == 16);

impl PanicRecord {
    /// A record that no thread has claimed.
    pub const EMPTY: Self = Self {
        state: 0,
        kind: 0,
        a: 0,
        b: 0,
        location: u32::MAX,
        message_len: 0,
        block: [0; 3],
        thread: [0; 3],
        message: [0; PANIC_MESSAGE_BYTES],
        acknowledged: 0,
        reserved: 0,
        launch: 0,
        workspace: 0,
        printed: 0,
    };

    /// Whether a thread has panicked.
    #[must_use]
    pub const fn is_set(&self) -> bool {
        self.state != 0
    }

    /// Why the kernel panicked.
    #[must_use]
    pub const fn kind(&self) -> PanicKind {
        PanicKind::from_code(self.kind & 0xff)
    }

    /// The message as `std` would print it, for example `index out of bounds: the len is 4 but
    /// the index is 7`. `messages` and `places` are those of the artifact that ran.
    #[must_use]
    pub fn message(&self, messages: &[&str], places: &[SourceLocation<'_>]) -> String {
        if self.kind() == PanicKind::Silent {
            return PanicKind::Silent.describe(0, 0);
        }
        let length = (self.message_len as usize).min(PANIC_MESSAGE_BYTES);
        let index = (self.kind >> 8) as usize;
        if let Some(text) = index.checked_sub(1).and_then(|index| messages.get(index)) {
            let (more, _) = self.message[..length].as_chunks();
            let more = more.iter().map(|bytes| u64::from_le_bytes(*bytes));
            let values: Vec<u64> = [self.a, self.b].into_iter().chain(more).collect();
            return render_message(text, &values, places);
        }
        if length > 0 {
            return String::from_utf8_lossy(&self.message[..length]).into_owned();
        }
        self.kind().describe(self.a, self.b)
    }
}

/// Why a kernel panicked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u32)]
pub enum PanicKind {
    /// `panic!`, `assert!` and other panics with a message of their own.
    Explicit = 1,
    /// `slice[a]` with `a >= b`, `b` the length.
    IndexOutOfBounds = 2,
    /// Division by zero.
    DivisionByZero = 3,
    /// Remainder by zero.
    RemainderByZero = 4,
    /// Signed division or remainder that overflows.
    DivisionOverflow = 5,
    /// Arithmetic that overflows.
    ArithmeticOverflow = 6,
    /// `Option::unwrap` or `Option::expect` on `None`.
    NoneUnwrapped = 7,
    /// `Result::unwrap` or `Result::expect` on `Err`.
    ErrUnwrapped = 8,
    /// A slice range whose start `a` or end `b` does not fit.
    SliceRange = 9,
    /// `copy_from_slice` between slices of lengths `a` and `b`.
    LengthMismatch = 10,
    /// A deadlock: the threads of a block wait at barriers or warp-level primitives that others do not reach.
    Deadlock = 11,
    /// Anything else that does not return.
    Other = 12,
    /// A panic of a kernel that was compiled without messages: neither its cause nor its location is
    /// known.
    Silent = 13,
    /// An allocation of `a` bytes on the device heap that failed; `u64::MAX` stands for more than an address names.
    OutOfMemory = 14,
    /// A data race in shared memory: threads of a block access one location without a barrier
    /// between, and at least one of them writes.
    Race = 15,
    /// A recursion that is deeper than the stack has room for. Known on the CPU only.
    StackOverflow = 16,
}

impl PanicKind {
    /// The kind with this code; an unknown code is [`PanicKind::Other`].
    #[must_use]
    pub const fn from_code(code: u32) -> Self {
        match code {
            1 => Self::Explicit,
            2 => Self::IndexOutOfBounds,
            3 => Self::DivisionByZero,
            4 => Self::RemainderByZero,
            5 => Self::DivisionOverflow,
            6 => Self::ArithmeticOverflow,
            7 => Self::NoneUnwrapped,
            8 => Self::ErrUnwrapped,
            9 => Self::SliceRange,
            10 => Self::LengthMismatch,
            11 => Self::Deadlock,
            13 => Self::Silent,
            14 => Self::OutOfMemory,
            15 => Self::Race,
            16 => Self::StackOverflow,
            _ => Self::Other,
        }
    }

    /// The message of a panic of this kind with the two numbers of its record.
    #[must_use]
    pub fn describe(self, a: u64, b: u64) -> String {
        let fixed = match self {
            Self::IndexOutOfBounds => {
                return format!("index out of bounds: the len is {b} but the index is {a}");
            }
            Self::SliceRange => return format!("slice range out of bounds ({a}, {b})"),
            Self::LengthMismatch => return format!("slices of different lengths ({a} and {b})"),
            // More than an address names, in the words of `alloc`.
            Self::OutOfMemory if a == u64::MAX => "capacity overflow",
            Self::OutOfMemory => return format!("memory allocation of {a} bytes failed"),
            Self::Explicit => "explicit panic",
            Self::DivisionByZero => "attempt to divide by zero",
            Self::RemainderByZero => "attempt to calculate the remainder with a divisor of zero",
            Self::DivisionOverflow => "attempt to divide with overflow",
            Self::ArithmeticOverflow => "arithmetic operation overflowed",
            Self::NoneUnwrapped => "called `Option::unwrap()` on a `None` value",
            Self::ErrUnwrapped => "called `Result::unwrap()` on an `Err` value",
            Self::Deadlock => {
                "deadlock in a block: its threads wait at barriers or warp-level primitives that others do not reach"
            }
            Self::Race => {
                "data race: threads of a block access the same shared memory without a barrier"
            }
            Self::StackOverflow => "stack overflow",
            Self::Other => "the kernel panicked",
            Self::Silent => {
                "its message and location are not known, because it was compiled with `panics = \"none\"`"
            }
        };
        String::from(fixed)
    }
}

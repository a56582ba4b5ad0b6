use std::fmt;

use crate::render_message;

/// Bytes of message text that a device can hand to the host with a panic.
pub const PANIC_MESSAGE_BYTES: usize = 200;

/// What a device writes when a kernel panics: the first panic of a launch wins.
///
/// The layout is the same on every target; `kernelmill_device` has the same structure and fills
/// it in. The order of the fields lets a GPU write those that belong together in one instruction.
/// The host clears it (all bytes zero) before a launch or after having read it.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct PanicRecord {
    /// 0: free, 1: being written, 2: complete.
    pub state: u32,
    /// Bytes used in `message`; 0 where the device sent no text.
    pub message_len: u32,
    /// What happened: in the low 8 bits a [`PanicKind`], above them 1 more than the index of the
    /// message among the artifact's, or 0 for none.
    pub kind: u32,
    /// Index into the artifact's table of source locations; `u32::MAX`: unknown.
    pub location: u32,
    /// First number of the message, by kind: for an index out of bounds, the index. With one of the
    /// artifact's messages, its first value.
    pub a: u64,
    /// Second number of the message, by kind: for an index out of bounds, the length. With one of
    /// the artifact's messages, its second value.
    pub b: u64,
    /// Block index of the thread that panicked, x, y, z.
    pub block: [u32; 3],
    /// Index of that thread in its block, x, y, z.
    pub thread: [u32; 3],
    /// The formatted message in UTF-8, cut at [`PANIC_MESSAGE_BYTES`]; with one of the artifact's
    /// messages, its values from the third on, 8 bytes each. A text is the value of its length and
    /// as many of its bytes as there is room for.
    pub message: [u8; PANIC_MESSAGE_BYTES],
}

const _: () = assert!(size_of::<PanicRecord>() == 256);

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
    /// `panic!`, `assert!` and whatever else has a message of its own.
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
    /// A launch whose threads wait for each other for ever.
    Deadlock = 11,
    /// Anything else that does not return.
    Other = 12,
    /// Something of a kernel that was compiled without messages: neither what nor where is known.
    Silent = 13,
    /// Memory on the heap could not be allocated, `a` bytes.
    OutOfMemory = 14,
    /// Threads of a block that use a place of shared memory without a barrier between.
    Race = 15,
}

impl PanicKind {
    /// The kind with this code; codes that are not known are [`PanicKind::Other`].
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
            Self::OutOfMemory => return format!("memory allocation of {a} bytes failed"),
            Self::Explicit => "explicit panic",
            Self::DivisionByZero => "attempt to divide by zero",
            Self::RemainderByZero => "attempt to calculate the remainder with a divisor of zero",
            Self::DivisionOverflow => "attempt to divide with overflow",
            Self::ArithmeticOverflow => "arithmetic operation overflowed",
            Self::NoneUnwrapped => "called `Option::unwrap()` on a `None` value",
            Self::ErrUnwrapped => "called `Result::unwrap()` on an `Err` value",
            Self::Deadlock => "the threads of a block wait for each other for ever",
            Self::Race => {
                "threads of a block use a place of shared memory without a barrier between"
            }
            Self::Other => "the kernel panicked",
            Self::Silent => {
                "compiled with `panics = \"none\"`, which keeps no message and no place"
            }
        };
        String::from(fixed)
    }
}

/// A place in a kernel's source, as a panic names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SourceLocation<'a> {
    /// The file, relative to its package.
    pub file: &'a str,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

impl fmt::Display for SourceLocation<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// A call on the way to a panic: the function, and the place in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SourceFrame<'a> {
    /// The function's name.
    pub function: &'a str,
    /// The file, relative to its package.
    pub file: &'a str,
    /// The line, from 1.
    pub line: u32,
}

impl fmt::Display for SourceFrame<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} ({}:{})", self.function, self.file, self.line)
    }
}

/// Which derivative.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// The change of the result by given changes of the parameters: one direction at a time.
    Forward,
    /// The changes of the result by each parameter: all at once, the function run backwards.
    Reverse,
}

/// What a parameter is to a derivative.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Activity {
    /// It does not change. Integers are always constant.
    Constant,
    /// A number. Forward, its tangent follows it among the parameters; in reverse, its gradient is
    /// returned.
    Active,
    /// A pointer to memory of which there is a shadow: memory of the same shape with tangents or
    /// gradients. The shadow's pointer follows it among the parameters. In reverse, gradients are
    /// added to the shadow, and what the function overwrites is set to 0 there.
    Duplicated,
    /// As [`Activity::Duplicated`], where several threads add to one shadow: reverse mode adds
    /// atomically.
    Shared,
}

/// Where reverse mode may keep what loops forget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TapeLimit {
    /// In local memory of up to so many bytes, where the number of iterations is known; otherwise in
    /// a buffer of the caller's.
    Local(u64),
    /// Always in a buffer of the caller's.
    Buffer,
}

/// A derivative that is wanted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Request {
    /// The function, by its symbol.
    pub function: String,
    /// Which derivative.
    pub mode: Mode,
    /// An activity for each parameter.
    pub activities: Vec<Activity>,
    /// Whether the function's own result is returned too, before the derivatives.
    pub keep_result: bool,
    /// Whether pointers in different parameters lead to different memory and are never null, as
    /// references in Rust do. Then what is not written can be read again instead of being
    /// kept.
    pub distinct_pointers: bool,
    /// Where to keep what loops forget.
    pub tape: TapeLimit,
}

impl Request {
    /// A request with the settings that are right for any function: the result is kept, pointers may
    /// lead to the same memory, and up to 4096 bytes of local memory are used.
    ///
    /// ```
    /// use kernelmill_autodiff::{Activity, Mode, Request};
    /// let request = Request::new("f", Mode::Reverse, &[Activity::Active, Activity::Constant]);
    /// assert!(request.keep_result);
    /// ```
    #[must_use]
    pub fn new(function: &str, mode: Mode, activities: &[Activity]) -> Self {
        Self {
            function: function.to_owned(),
            mode,
            activities: activities.to_vec(),
            keep_result: true,
            distinct_pointers: false,
            tape: TapeLimit::Local(4096),
        }
    }
}

/// Where reverse mode keeps what it needs of the function's run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tape {
    /// In registers: the function has no loop that forgets what is needed.
    Registers,
    /// In local memory of this many bytes, beside registers.
    Local {
        /// The size.
        bytes: u64,
    },
    /// In a buffer that the caller gives: a pointer, aligned to 8, and its size in bytes as a 64-bit
    /// integer, after all other parameters. The derivative writes the number of bytes it needs to
    /// the buffer's first 8. Where they are more than the buffer has, all returned gradients are NaN
    /// and no shadow is touched.
    Buffer {
        /// The bytes it needs at most, where that is known.
        bytes: Option<u64>,
    },
}

/// A derivative that has been written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Derivative {
    /// The symbol of the new function. Its parameters are those of the function, each followed by
    /// its tangent or shadow if it has one; then in reverse, where the function returns numbers, the
    /// gradient of the result; then the tape, where that is [`Tape::Buffer`]. Its result is a struct
    /// of the function's result if that is kept, and of tangent or gradients, or the only one of
    /// them alone.
    pub symbol: String,
    /// The tape; [`Tape::Registers`] in forward mode.
    pub tape: Tape,
    /// The functions that are called and have not been in the module before.
    pub declared: Vec<String>,
}

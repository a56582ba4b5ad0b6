//! Requests for derivatives, and the derivatives that were written for them.

/// The mode of differentiation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Tangents: the derivative of the result in one direction of the parameters.
    Forward,
    /// Gradients: the derivatives of the result with respect to all parameters at once.
    Reverse,
}

/// The activity of a parameter, with [Enzyme's] meanings.
///
/// [Enzyme's]: https://enzyme.mit.edu/getting_started/CallingConvention/
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Activity {
    /// It is not differentiated. Integers are always constant.
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

/// The memory that reverse mode may use for the tape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TapeLimit {
    /// Local memory of up to so many bytes where the trip counts are known; otherwise a buffer of the
    /// caller.
    Local(u64),
    /// Always a buffer of the caller.
    Buffer,
}

/// A request for a derivative.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Request {
    /// The function, by its symbol.
    pub function: String,
    /// The mode.
    pub mode: Mode,
    /// An activity for each parameter.
    pub activities: Vec<Activity>,
    /// Whether the function's own result is returned too, before the derivatives.
    pub keep_result: bool,
    /// Whether pointers of different parameters do not alias and are never null, as references in Rust.
    /// Then memory that is not written can be read again instead of being cached.
    pub distinct_pointers: bool,
    /// Whether pointers in memory that has a shadow are refused. Otherwise those in the shadow must lead to
    /// shadows, which is for the caller to uphold.
    pub plain_shadows: bool,
    /// The memory for the tape.
    pub tape: TapeLimit,
}

impl Request {
    /// A request with settings that are correct for any function: the result is returned, pointers may
    /// alias, and the tape may use 4096 bytes of local memory.
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
            plain_shadows: false,
            tape: TapeLimit::Local(4096),
        }
    }
}

/// The memory in which reverse mode caches values of the function's run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tape {
    /// Registers: no loop needs a tape.
    Registers,
    /// Local memory of this many bytes, beside registers.
    Local {
        /// The size.
        bytes: u64,
    },
    /// A buffer that the caller passes: a pointer, aligned to 8, and its size in bytes as a 64-bit
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
    /// The functions that were declared in the module for it.
    pub declared: Vec<String>,
}

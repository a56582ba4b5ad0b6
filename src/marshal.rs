//! Marshalling: from the arguments of a launch to pointers to the words that a kernel is given.
//!
//! Guaranteed: it allocates nothing, save for a launch that may outlive its call.

use kernelmill_artifact::MAX_ARGUMENTS;

use crate::{
    argument::{Argument, Kind},
    hal::OwnedArguments,
};

/// Calls `word` with the address and the bytes of each device-level argument. Behind the kernel's own
/// arguments come the sizes of what is passed as an address: kernels that do not ask for them do not look
/// there. None where there is no room for all.
fn words(arguments: &[Argument<'_>], mut word: impl FnMut(*const u8, usize)) {
    let (mut count, mut addresses) = (0, 0);
    for argument in arguments {
        count += 1;
        match argument.kind() {
            Kind::Value { address, bytes } => word(*address, *bytes),
            Kind::Pointer { address, .. } => {
                word(std::ptr::from_ref(address).cast(), size_of::<u64>());
                addresses += 1;
            }
            Kind::Slice { address, len } => {
                word(std::ptr::from_ref(address).cast(), size_of::<u64>());
                word(std::ptr::from_ref(len).cast(), size_of::<u64>());
                count += 1;
            }
        }
    }
    if count + addresses > MAX_ARGUMENTS {
        return;
    }
    for argument in arguments {
        if let Kind::Pointer { bytes, .. } = argument.kind() {
            word(std::ptr::from_ref(bytes).cast(), size_of::<u64>());
        }
    }
}

/// Copies of the words for `arguments`.
pub(crate) fn owned(arguments: &[Argument<'_>]) -> OwnedArguments {
    let mut values = Vec::new();
    words(arguments, |address, bytes| values.push((address, bytes)));
    // SAFETY: arguments borrow the values that they point at.
    unsafe { OwnedArguments::copy(&values) }
}

/// Pointers to device-level arguments, on the stack: a launch allocates nothing.
pub(crate) struct Marshalled {
    pointers: [*const u8; MAX_ARGUMENTS],
    len: usize,
}

impl Marshalled {
    /// The pointers for `arguments`, which they point into: valid as long as those are.
    ///
    /// # Panics
    ///
    /// With more than [`MAX_ARGUMENTS`]: the build refuses such kernels.
    pub(crate) fn new(arguments: &[Argument<'_>]) -> Self {
        let mut marshalled = Self { pointers: [std::ptr::null(); MAX_ARGUMENTS], len: 0 };
        words(arguments, |address, _| marshalled.push(address));
        marshalled
    }

    fn push(&mut self, pointer: *const u8) {
        assert!(self.len < MAX_ARGUMENTS, "a kernel has at most {MAX_ARGUMENTS} arguments");
        self.pointers[self.len] = pointer;
        self.len += 1;
    }

    pub(crate) fn pointers(&mut self) -> &mut [*const u8] {
        &mut self.pointers[..self.len]
    }
}

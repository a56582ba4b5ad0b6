//! Marshalling: from the arguments of a launch to pointers to the words that a kernel is given.
//!
//! Guaranteed: it allocates nothing, save for a launch that may outlive its call.

use kernelmill_artifact::MAX_ARGUMENTS;

use crate::{
    argument::{Argument, Kind},
    hal::{OwnedArguments, Pointers},
};

/// The most device-level arguments that an argument is: an address and its length, or its size.
const MOST_WORDS: usize = 2;

/// Calls `word` with the address and the bytes of each device-level argument; how many are the kernel's
/// own. Behind these come the sizes of what is passed as an address: kernels that do not ask for them do
/// not look there. None where there is no room for all.
fn words(arguments: &[Argument<'_>], mut word: impl FnMut(Word)) -> usize {
    let (mut count, mut addresses) = (0, 0);
    let own = |pointer, bytes| Word { pointer, bytes, is_size: false };
    for argument in arguments {
        count += 1;
        match argument.kind() {
            Kind::Value { address, bytes } => word(own(*address, *bytes)),
            Kind::Pointer { address, .. } => {
                word(own(std::ptr::from_ref(address).cast(), size_of::<u64>()));
                addresses += 1;
            }
            Kind::Slice { address, len } => {
                word(own(std::ptr::from_ref(address).cast(), size_of::<u64>()));
                word(own(std::ptr::from_ref(len).cast(), size_of::<u64>()));
                count += 1;
            }
        }
    }
    if count + addresses > MAX_ARGUMENTS {
        return count;
    }
    for argument in arguments {
        if let Kind::Pointer { bytes, .. } = argument.kind() {
            let pointer = std::ptr::from_ref(bytes).cast();
            word(Word { pointer, bytes: size_of::<u64>(), is_size: true });
        }
    }
    count
}

/// One device-level argument.
struct Word {
    pointer: *const u8,
    bytes: usize,
    /// Whether it is the size of another.
    is_size: bool,
}

/// Copies of the words for `arguments`.
pub(crate) fn owned(arguments: &[Argument<'_>]) -> OwnedArguments {
    let mut values = Vec::new();
    let own = words(arguments, |word| values.push((word.pointer, word.bytes)));
    // SAFETY: arguments borrow the values that they point at.
    unsafe { OwnedArguments::copy(&values, own) }
}

/// Writes the words for `arguments` over copies of words for the same kernel.
pub(crate) fn overwrite(copies: &mut OwnedArguments, arguments: &[Argument<'_>]) {
    let (mut index, mut fits) = (0, true);
    words(arguments, |word| {
        // SAFETY: arguments borrow the values that they point at.
        fits &= unsafe { copies.overwrite(index, word.pointer, word.bytes) };
        index += 1;
    });
    if !fits {
        *copies = owned(arguments);
    }
}

/// Gives `work` the pointers for `arguments`, which they point into.
///
/// # Panics
///
/// With more than [`MAX_ARGUMENTS`]: the build refuses such kernels.
pub(crate) fn with_pointers<R>(
    arguments: &[Argument<'_>],
    work: impl FnOnce(&mut Pointers<'_>) -> R,
) -> R {
    Pointers::with_room(MOST_WORDS * arguments.len(), |pointers| {
        words(arguments, |word| {
            if word.is_size {
                pointers.push_size(word.pointer);
            } else {
                pointers.push(word.pointer);
            }
        });
        work(pointers)
    })
}

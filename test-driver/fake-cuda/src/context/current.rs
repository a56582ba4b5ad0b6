//! The contexts that are current to a thread.

use std::{cell::RefCell, sync::Arc};

use super::context::{CONTEXTS, Context};
use crate::base::error::{Error, Result};
use crate::base::handle::Handle;
use crate::driver;

thread_local! {
    static STACK: RefCell<Vec<Handle>> = const { RefCell::new(Vec::new()) };
}

/// The handle on top of the stack, whether its context still exists or not.
pub(crate) fn stack_top() -> Option<Handle> {
    STACK.with_borrow(|stack| stack.last().copied())
}

/// The context that is current to the calling thread.
pub(crate) fn current() -> Result<Arc<Context>> {
    driver::driver()?;
    let handle = stack_top().ok_or(Error::CUDA_ERROR_INVALID_CONTEXT)?;
    CONTEXTS.get(handle).map_err(|_| Error::CUDA_ERROR_CONTEXT_IS_DESTROYED)
}

/// The current context, which has reported no fault so far.
pub(crate) fn usable() -> Result<Arc<Context>> {
    let context = current()?;
    context.usable()?;
    Ok(context)
}

/// Puts a context on the stack.
pub(crate) fn push(handle: Handle) -> Result<()> {
    CONTEXTS.get(handle).map_err(|_| Error::CUDA_ERROR_INVALID_CONTEXT)?;
    STACK.with_borrow_mut(|stack| stack.push(handle));
    Ok(())
}

/// Takes the current context off the stack.
pub(crate) fn pop() -> Result<Handle> {
    STACK.with_borrow_mut(Vec::pop).ok_or(Error::CUDA_ERROR_INVALID_CONTEXT)
}

/// Replaces the current context; null takes it off the stack.
pub(crate) fn set_current(handle: Handle) -> Result<()> {
    if handle != Handle::NULL {
        CONTEXTS.get(handle).map_err(|_| Error::CUDA_ERROR_INVALID_CONTEXT)?;
    }
    STACK.with_borrow_mut(|stack| {
        stack.pop();
        stack.extend((handle != Handle::NULL).then_some(handle));
    });
    Ok(())
}

//! The layer before the OpenCL library, as this process has it: which call fails, and what is left.

use std::{
    env,
    ffi::{CStr, c_char},
};

use libloading::Library;

/// The layer.
#[derive(Debug)]
pub struct Layer(Library);

impl Layer {
    /// The layer of a [child process](crate::Child).
    ///
    /// # Panics
    ///
    /// Where there is none.
    #[must_use]
    pub fn of_process() -> Self {
        let path = env::var("OPENCL_DYLIB_PATH").expect("a child process has it");
        // SAFETY: the library is loaded already, or its initialisers have no preconditions.
        Self(unsafe { Library::new(path) }.expect("the layer"))
    }

    /// Makes a call fail with a code, calls of all functions counted from now on; none with call 0.
    ///
    /// # Panics
    ///
    /// Where the library is another one.
    pub fn fail(&self, call: u64, code: i32) {
        // SAFETY: the function has this type.
        let fail = unsafe { self.0.get::<extern "C" fn(u64, i32)>("opencl_layer_fail") };
        fail.expect("the layer")(call, code);
    }

    /// The function whose call has failed since then.
    ///
    /// # Panics
    ///
    /// Where the library is another one.
    #[must_use]
    pub fn failed(&self) -> Option<String> {
        self.text("opencl_layer_failed")
    }

    /// The function that was called after it.
    ///
    /// # Panics
    ///
    /// Where the library is another one.
    #[must_use]
    pub fn next(&self) -> Option<String> {
        self.text("opencl_layer_next")
    }

    /// What a function gives that says a function's name.
    fn text(&self, name: &str) -> Option<String> {
        // SAFETY: the functions with these names have this type.
        let get = unsafe { self.0.get::<extern "C" fn() -> *const c_char>(name) };
        let text = get.expect("the layer")();
        // SAFETY: the text ends with a zero, and is there until the next call is to fail.
        (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
    }

    /// How many objects there are that nobody has failed to give back.
    ///
    /// # Panics
    ///
    /// Where the library is another one.
    #[must_use]
    pub fn left(&self) -> i64 {
        // SAFETY: the function has this type.
        let left = unsafe { self.0.get::<extern "C" fn() -> i64>("opencl_layer_left") };
        left.expect("the layer")()
    }
}

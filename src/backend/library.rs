//! Vendors' libraries: their functions, found by name when the program runs.

/// Declares the functions of a library, each under its own name, as a struct that is found in an open library.
///
/// A function that the library lacks is an error that names it. `also` adds fields of another form.
macro_rules! library_functions {
    (
        $what:expr, $vis:vis struct $Functions:ident $(also $($field:ident: $Field:ty = $find:path),+)?;
        $($name:ident($($parameter:ty),* $(,)?) -> $result:ty;)*
    ) => {
        /// The functions of the library: as many as are called.
        #[allow(non_snake_case, reason = "the names are those of the library")]
        $vis struct $Functions {
            $($vis $name: unsafe extern "C" fn($($parameter),*) -> $result,)*
            $($($vis $field: $Field,)+)?
            _library: ::libloading::Library,
        }

        impl $Functions {
            /// Finds every function.
            fn find(library: ::libloading::Library) -> Result<Self, String> {
                Ok(Self {
                    $(
                        // SAFETY: the type is that of the function with this name.
                        $name: unsafe {
                            $crate::backend::library::find(&library, $what, stringify!($name))?
                        },
                    )*
                    $($($field: $find(&library)?,)+)?
                    _library: library,
                })
            }
        }
    };
}

pub(super) use library_functions;

/// A function of the library that is called `what`.
///
/// # Safety
///
/// `F` is the type of the function with this name.
pub(super) unsafe fn find<F: Copy>(
    library: &libloading::Library,
    what: &str,
    name: &str,
) -> Result<F, String> {
    // SAFETY: promised.
    let found = unsafe { library.get::<F>(name) };
    found.map(|function| *function).map_err(|_| format!("{what} has no function `{name}`"))
}

//! Symbols: values of the program that binaries are given when they are loaded.
//!
//! A plugin of the compiler names them ([`Relocation`]). They are those of the process, as the symbols of a dynamic linker
//! are: whoever loads a module first decides its values.

use std::{
    collections::HashMap,
    sync::{LazyLock, PoisonError, RwLock},
};

use kernelmill_artifact::Relocation;

use crate::error::{Error, Result};

static SYMBOLS: LazyLock<RwLock<HashMap<String, Vec<u8>>>> = LazyLock::new(RwLock::default);

/// Gives a symbol its value: the bytes that modules which are loaded from now on have for it. Modules that are loaded
/// keep what they have; [`ModuleCache::clear`](crate::ModuleCache::clear) forgets them.
///
/// Kernels have such symbols where a plugin of the compiler asks for them (`Task::relocation`). On the CPU there are none:
/// there the program's linker resolves what a plugin imports.
///
/// ```
/// // Two modules that are loaded after this read 2.5 as the `f32` that a plugin calls `scale`.
/// kernelmill::define_symbol("scale", &2.5_f32.to_ne_bytes());
/// ```
pub fn define_symbol(symbol: &str, value: &[u8]) {
    let mut symbols = SYMBOLS.write().unwrap_or_else(PoisonError::into_inner);
    symbols.insert(symbol.to_owned(), value.to_owned());
}

/// The value of a symbol for a binary.
///
/// # Errors
///
/// [`Error::UndefinedSymbol`] where the program has given none, and [`Error::SymbolSize`] where it has another size.
pub(crate) fn value(relocation: Relocation, binary: &dyn std::fmt::Display) -> Result<Vec<u8>> {
    let symbols = SYMBOLS.read().unwrap_or_else(PoisonError::into_inner);
    let Relocation { symbol, bytes: expected } = relocation;
    let Some(value) = symbols.get(symbol) else {
        return Err(Error::UndefinedSymbol { symbol, bytes: expected, binary: binary.to_string() });
    };
    let found = value.len() as u64;
    if found != expected {
        return Err(Error::SymbolSize { symbol, found, expected, binary: binary.to_string() });
    }
    Ok(value.clone())
}

//! Copies of libraries that lack a function, as older versions do.
//!
//! [System V ABI, "Symbol Table"](https://refspecs.linuxfoundation.org/elf/gabi4+/ch4.symtab.html).

use std::{fs, path::Path};

/// `SHT_DYNSYM`.
const DYNAMIC_SYMBOLS: u64 = 11;

/// Bytes of a symbol, `Elf64_Sym`.
const SYMBOL_BYTES: usize = 24;

/// The bytes of a shared library of 64-bit Linux that does not export a function, which it goes on to have itself: the symbol
/// is local.
///
/// # Panics
///
/// Where there is no such library, or it exports no function of that name.
#[must_use]
pub fn without_function(library: &Path, function: &str) -> Vec<u8> {
    let mut bytes = fs::read(library).expect("the library can be read");
    let place = symbol(&bytes, function).expect("the library exports the function");
    // `st_info`: the binding is in the upper four bits, where 0 is `STB_LOCAL`.
    bytes[place + 4] &= 0xf;
    bytes
}

/// Where the symbol of a function is.
fn symbol(bytes: &[u8], function: &str) -> Option<usize> {
    let number = |at: usize, width: usize| {
        let digits = bytes[at..at + width].iter().rev();
        digits.fold(0, |number, byte| number << 8 | u64::from(*byte))
    };
    let place = |at: usize| number(at, 8) as usize;
    // Of the file `e_shoff`, `e_shentsize`, `e_shnum`; of a section `sh_type`, `sh_offset`, `sh_size`, `sh_link`.
    let (first, size, count) = (place(40), number(58, 2) as usize, number(60, 2) as usize);
    let header = |index: usize| first + index * size;
    let table = (0..count).map(header).find(|at| number(at + 4, 4) == DYNAMIC_SYMBOLS)?;
    let names = place(header(number(table + 40, 4) as usize) + 24);
    let (start, length) = (place(table + 24), place(table + 32));
    (start..start + length).step_by(SYMBOL_BYTES).find(|at| {
        let name = &bytes[names + number(*at, 4) as usize..];
        name.strip_prefix(function.as_bytes()).is_some_and(|rest| rest.first() == Some(&0))
    })
}

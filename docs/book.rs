//! Builds this book with mdBook into the folder that is given: `book target/book`.
//!
//! `cargo xtask test --only book` calls it after it has checked all links. mdBook itself has no check of
//! links.

use mdbook_driver::{
    MDBook,
    errors::{Error, Result},
};
use std::env;

fn main() -> Result<()> {
    let folder = env::args_os().nth(1).ok_or_else(|| Error::msg("usage: book FOLDER"))?;
    let mut book = MDBook::load(env!("CARGO_MANIFEST_DIR"))?;
    book.config.build.build_dir = folder.into();
    book.build()
}

//! The file in make's notation that says what the compiler read.

use std::path::{Path, PathBuf};

use crate::{Error, frontend::rust};

/// The files that the rule in a dependency file names, absolute and sorted.
pub(super) fn read(path: &Path, base: &Path) -> Result<Vec<PathBuf>, Error> {
    let text = String::from_utf8_lossy(&rust::read(path)?).into_owned();
    let mut inputs: Vec<PathBuf> =
        prerequisites(&text).into_iter().map(|name| base.join(name)).collect();
    inputs.sort();
    inputs.dedup();
    Ok(inputs)
}

/// The names after the first colon that ends a word, with make's escapes undone.
fn prerequisites(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match (character, characters.peek()) {
            ('\\', Some('\n')) => {
                characters.next();
                words.push(std::mem::take(&mut word));
            }
            ('\\', Some(' ' | '#' | '\\')) | ('$', Some('$')) => {
                word.extend(characters.next());
            }
            (' ' | '\n' | '\r' | '\t', _) => words.push(std::mem::take(&mut word)),
            _ => word.push(character),
        }
    }
    words.push(word);
    let mut words = words.into_iter();
    let _ = words.find(|word| word.ends_with(':'));
    words.filter(|word| !word.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_and_lines_that_go_on_are_read() {
        let text =
            "k.o: kernels/a.cu \\\n  kernels/my\\ header.h /usr/include/c++/12/cmath \\\n x$$y.h\n";
        let expected =
            ["kernels/a.cu", "kernels/my header.h", "/usr/include/c++/12/cmath", "x$y.h"];
        assert_eq!(prerequisites(text), expected);
    }
}

//! Words and signs of texts in Rust, without a parser: of any text, nested as deeply as it may be.

/// A word or a sign.
pub(super) struct Token<'t> {
    pub(super) text: &'t str,
    /// Where it begins, in bytes.
    pub(super) start: usize,
}

/// The words and signs of a text in Rust, without its comments. A literal is one word.
pub(super) struct Tokens<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Tokens<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// Moves behind the first of these texts, or to the end.
    fn skip_past(&mut self, end: &str) {
        self.at = self.rest().find(end).map_or(self.text.len(), |at| self.at + at + end.len());
    }

    fn skip_block_comment(&mut self) {
        let mut open = 0;
        while let Some(next) = self.rest().find(['*', '/']) {
            self.at += next;
            if self.rest().starts_with("/*") {
                open += 1;
                self.at += 2;
            } else if self.rest().starts_with("*/") {
                open -= 1;
                self.at += 2;
                if open == 0 {
                    return;
                }
            } else {
                self.at += 1;
            }
        }
        self.at = self.text.len();
    }

    /// Moves behind a literal in quotation marks, at the first of which the text stands.
    fn skip_quoted(&mut self) {
        self.at += 1;
        while let Some(next) = self.rest().find(['"', '\\']) {
            let is_end = self.rest()[next..].starts_with('"');
            self.at += next + 1;
            if is_end {
                return;
            }
            self.at += self.rest().chars().next().map_or(0, char::len_utf8);
        }
        self.at = self.text.len();
    }

    /// Moves behind a character literal, a lifetime or a label.
    fn skip_apostrophe(&mut self) {
        let mut letters = self.rest().char_indices().skip(1);
        match (letters.next(), letters.next()) {
            (Some((_, '\\')), Some((escaped, _))) => {
                self.at += escaped + 1;
                self.skip_past("'");
            }
            (Some(_), Some((end, '\''))) => self.at += end + 1,
            _ => self.at += 1,
        }
    }

    /// Moves behind a word; behind the literal too where it is the prefix of a raw or other string.
    fn skip_word(&mut self) {
        let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
        let length = self.rest().find(|letter| !is_part(letter)).unwrap_or(self.rest().len());
        let word = &self.rest()[..length];
        self.at += length;
        let hashes = self.rest().len() - self.rest().trim_start_matches('#').len();
        let is_string = self.rest()[hashes..].starts_with('"');
        if is_string && matches!(word, "r" | "br" | "cr") {
            self.at += hashes + 1;
            self.skip_past(&format!("\"{}", "#".repeat(hashes)));
        } else if is_string && hashes == 0 && matches!(word, "b" | "c") {
            self.skip_quoted();
        }
    }
}

impl<'t> Iterator for Tokens<'t> {
    type Item = Token<'t>;

    fn next(&mut self) -> Option<Token<'t>> {
        loop {
            let blank = self.rest().len() - self.rest().trim_start().len();
            self.at += blank;
            let (start, rest) = (self.at, self.rest());
            let first = rest.chars().next()?;
            match first {
                _ if rest.starts_with("//") => self.skip_past("\n"),
                _ if rest.starts_with("/*") => self.skip_block_comment(),
                '"' => self.skip_quoted(),
                '\'' => self.skip_apostrophe(),
                _ if first.is_alphanumeric() || first == '_' => self.skip_word(),
                _ => self.at += first.len_utf8(),
            }
            let is_comment = rest.starts_with("//") || rest.starts_with("/*");
            if !is_comment {
                return Some(Token { text: &self.text[start..self.at], start });
            }
        }
    }
}

//! The directives between a function's parameters and its body.
//!
//! PTX ISA, "Performance-Tuning Directives" and "Cluster Dimension Directives".

use super::lexer::TokenKind;
use super::parser::{Parsed, Parser};

/// What the directives of a function say.
#[derive(Default)]
pub(super) struct Bounds {
    /// `.maxntid`
    pub(super) max_block: Option<[u32; 3]>,
    /// `.reqntid`
    pub(super) required_block: Option<[u32; 3]>,
}

impl Parser<'_> {
    pub(super) fn bounds(&mut self, entry: bool) -> Parsed<Bounds> {
        let mut bounds = Bounds::default();
        let (mut whole_clusters, mut has_cluster) = (None, false);
        while let TokenKind::Dot(word) = self.peek() {
            let line = self.line();
            has_cluster |= word == "reqnctapercluster";
            if word == "blocksareclusters" {
                whole_clusters = Some(line);
            }
            match word {
                "pragma" => self.pragma()?,
                "attribute" => {
                    self.next();
                    self.attribute()?;
                }
                "noreturn" if !entry => {
                    self.next();
                }
                _ if !entry => return self.unexpected("the body of a function"),
                _ => self.bound(word, &mut bounds)?,
            }
            if bounds.max_block.is_some() && bounds.required_block.is_some() {
                return self.error(line, "a kernel cannot have both `.maxntid` and `.reqntid`");
            }
        }
        let Some(line) = whole_clusters else { return Ok(bounds) };
        if self.version < (9, 0) {
            return self.error(line, "`.blocksareclusters` needs PTX 9.0 or later");
        }
        if bounds.required_block.is_none() || !has_cluster {
            let message = "`.blocksareclusters` needs `.reqntid` and `.reqnctapercluster`";
            return self.error(line, message);
        }
        Ok(bounds)
    }

    fn bound(&mut self, word: &str, bounds: &mut Bounds) -> Parsed<()> {
        let line = self.line();
        let counts = match word {
            "maxntid" | "reqntid" | "reqnctapercluster" => 1..=3,
            "minnctapersm" | "maxnreg" | "maxclusterrank" => 1..=1,
            "explicitcluster" | "blocksareclusters" => 0..=0,
            _ => return self.unexpected("a directive of kernels, or `{`"),
        };
        self.next();
        let values = self.integers()?;
        if !counts.contains(&values.len()) {
            return self.error(line, format!("`.{word}` cannot have {} numbers", values.len()));
        }
        if values.contains(&0) && word != "reqnctapercluster" {
            return self.error(line, format!("the numbers of `.{word}` must be above 0"));
        }
        let value = |index: usize| values.get(index).map_or(1, |&n| n);
        let block = [value(0), value(1), value(2)];
        match word {
            "maxntid" => bounds.max_block = Some(block),
            "reqntid" => bounds.required_block = Some(block),
            _ => {}
        }
        Ok(())
    }

    fn integers(&mut self) -> Parsed<Vec<u32>> {
        let mut values = Vec::new();
        while let TokenKind::Number(_) = self.peek() {
            values.push(self.integer_32()?);
            if !self.eat(',') {
                break;
            }
        }
        Ok(values)
    }

    /// `.pragma "a", "b";`
    pub(super) fn pragma(&mut self) -> Parsed<()> {
        self.next();
        loop {
            match self.peek() {
                TokenKind::Text(_) => self.next(),
                _ => return self.unexpected("a pragma in quotes"),
            };
            if !self.eat(',') {
                return self.expect(';');
            }
        }
    }
}

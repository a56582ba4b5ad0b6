//! Loads and stores: of words of an array, or of parts of them.
//!
//! A part of a word that others may write is written by two atomic operations, one that clears it and one that sets it:
//! nobody else writes these bits, and who writes the others of the word changes none of them.

use super::{
    kernel::{Kernel, Problem},
    memory::Memory,
    scalars::{Scalar, high_word, low_word},
};

/// A place in a memory: the offset in bytes as an expression, and what divides it.
pub(super) struct Place<'c> {
    pub(super) memory: Memory<'c>,
    pub(super) offset: String,
    pub(super) align: u64,
}

/// A sum of a word's number and a constant.
fn plus(index: &str, more: u64) -> String {
    match (more, index.strip_suffix('u').and_then(|it| it.parse::<u64>().ok())) {
        (0, _) => index.to_owned(),
        (_, Some(number)) => format!("{}u", number + more),
        _ => format!("{index} + {more}u"),
    }
}

/// The number of the word that an offset is in.
fn word_of(offset: &str) -> String {
    match offset.strip_suffix('u').and_then(|it| it.parse::<u64>().ok()) {
        Some(number) => format!("{}u", number / 4),
        None => format!("({offset} >> 2u)"),
    }
}

impl<'c> Kernel<'_, 'c> {
    /// A word of an array, to read or write.
    pub(super) fn word(&mut self, memory: Memory<'c>, index: &str) -> String {
        let name = self.array(memory);
        match memory {
            Memory::Bytes(_) => match index.strip_suffix('u').and_then(|it| it.parse::<u32>().ok())
            {
                Some(number) => format!("{name}[{}u][{}u]", number / 4, number % 4),
                None => format!("{name}[({index}) >> 2u][({index}) & 3u]"),
            },
            _ => format!("{name}[{index}]"),
        }
    }

    fn read_word(&mut self, memory: Memory<'c>, index: &str) -> String {
        if self.is_wide(memory) {
            let (word, shift) = self.half(memory, index);
            return format!("u32(atomicLoad(&{word}) >> {shift})");
        }
        let word = self.word(memory, index);
        match self.is_atomic(memory) {
            true => format!("atomicLoad(&{word})"),
            false => word,
        }
    }

    /// The word of 64 bits that a word is one half of, and by how many bits it is moved there.
    fn half(&mut self, memory: Memory<'c>, index: &str) -> (String, String) {
        let index = self.keep(index);
        (self.word(memory, &format!("({index} >> 1u)")), format!("(({index} & 1u) * 32u)"))
    }

    fn write_word(&mut self, memory: Memory<'c>, index: &str, value: &str) {
        if self.is_wide(memory) {
            let (word, shift) = self.half(memory, index);
            self.line(&format!("atomicAnd(&{word}, ~(0xfffffffflu << {shift}));"));
            return self.line(&format!("atomicOr(&{word}, u64({value}) << {shift});"));
        }
        let word = self.word(memory, index);
        match self.is_atomic(memory) {
            true => self.line(&format!("atomicStore(&{word}, {value});")),
            false => self.line(&format!("{word} = {value};")),
        }
    }

    /// The bits of a value in memory.
    pub(super) fn read(&mut self, place: &Place<'c>, scalar: Scalar) -> Result<String, Problem> {
        if place.memory == Memory::Nowhere {
            return Ok(scalar.zero());
        }
        let bytes = scalar.bytes();
        let bits = match (bytes, place.align) {
            (8, 8..) if self.is_wide(place.memory) => {
                let word = self.word(place.memory, &format!("({} >> 3u)", place.offset));
                format!("atomicLoad(&{word})")
            }
            (4, 4..) => self.read_word(place.memory, &word_of(&place.offset)),
            (8, 4..) => {
                let index = self.keep(&word_of(&place.offset));
                let low = self.read_word(place.memory, &index);
                let low = self.keep(&low);
                let high = self.read_word(place.memory, &plus(&index, 1));
                format!("long_of({low}, {high})")
            }
            (1, _) | (2, 2..) => self.read_part(place, &place.offset, bytes),
            _ => return self.read_bytes(place, scalar),
        };
        Ok(scalar.of_bits(&bits))
    }

    /// A part of a word.
    fn read_part(&mut self, place: &Place<'c>, offset: &str, bytes: u64) -> String {
        let offset = self.keep(offset);
        let word = self.read_word(place.memory, &word_of(&offset));
        let mask = (1_u64 << (8 * bytes)) - 1;
        format!("(({word} >> (({offset} & 3u) * 8u)) & {mask}u)")
    }

    /// A value that is not aligned, byte by byte.
    fn read_bytes(&mut self, place: &Place<'c>, scalar: Scalar) -> Result<String, Problem> {
        let offset = self.keep(&place.offset);
        let mut parts = Vec::new();
        for byte in 0..scalar.bytes() {
            let part = self.read_part(place, &plus(&offset, byte), 1);
            let part = self.keep(&part);
            parts.push(match scalar.bits() {
                64 => format!("(u64({part}) << {}u)", 8 * byte),
                _ => format!("({part} << {}u)", 8 * byte),
            });
        }
        Ok(scalar.of_bits(&format!("({})", parts.join(" | "))))
    }

    /// Writes a value.
    pub(super) fn write(
        &mut self,
        place: &Place<'c>,
        scalar: Scalar,
        value: &str,
    ) -> Result<(), Problem> {
        match place.memory {
            Memory::Nowhere => return Ok(()),
            Memory::Bytes(_) => {
                return Err(Problem::new("writes to a parameter that is passed by value"));
            }
            _ => {}
        }
        let bits = scalar.to_bits(value);
        match (scalar.bytes(), place.align) {
            (8, 8..) if self.is_wide(place.memory) => {
                let word = self.word(place.memory, &format!("({} >> 3u)", place.offset));
                self.line(&format!("atomicStore(&{word}, {bits});"));
            }
            (4, 4..) => self.write_word(place.memory, &word_of(&place.offset), &bits),
            (8, 4..) => {
                let (index, bits) = (self.keep(&word_of(&place.offset)), self.keep(&bits));
                self.write_word(place.memory, &index, &low_word(&bits));
                self.write_word(place.memory, &plus(&index, 1), &high_word(&bits));
            }
            (1, _) | (2, 2..) => {
                self.write_part(place.memory, &place.offset, scalar.bytes(), &bits);
            }
            (bytes, _) => {
                let (offset, bits) = (self.keep(&place.offset), self.keep(&bits));
                for byte in 0..bytes {
                    let part = match bytes {
                        8 => format!("u32(({bits} >> {}u) & 255lu)", 8 * byte),
                        _ => format!("(({bits} >> {}u) & 255u)", 8 * byte),
                    };
                    self.write_part(place.memory, &plus(&offset, byte), 1, &part);
                }
            }
        }
        Ok(())
    }

    /// Writes a part of a word.
    fn write_part(&mut self, memory: Memory<'c>, offset: &str, bytes: u64, bits: &str) {
        let offset = self.keep(offset);
        let shift = self.keep(&format!("({offset} & 3u) * 8u"));
        let mask = (1_u64 << (8 * bytes)) - 1;
        if self.is_wide(memory) {
            let (word, half) = self.half(memory, &word_of(&offset));
            let shift = self.keep(&format!("{shift} + {half}"));
            self.line(&format!("atomicAnd(&{word}, ~({mask}lu << {shift}));"));
            return self.line(&format!("atomicOr(&{word}, u64({bits}) << {shift});"));
        }
        let word = self.word(memory, &word_of(&offset));
        match self.is_atomic(memory) {
            true => {
                self.line(&format!("atomicAnd(&{word}, ~({mask}u << {shift}));"));
                self.line(&format!("atomicOr(&{word}, {bits} << {shift});"));
            }
            false => {
                self.line(&format!(
                    "{word} = ({word} & ~({mask}u << {shift})) | ({bits} << {shift});"
                ));
            }
        }
    }

    /// Copies bytes, of which there is a known number.
    pub(super) fn copy(
        &mut self,
        to: &Place<'c>,
        from: &Place<'c>,
        bytes: u64,
    ) -> Result<(), Problem> {
        self.repeat(
            to,
            bytes,
            |kernel, offset, step, scalar| {
                let from_offset = format!("{} + {offset}", from.offset);
                let place =
                    Place { memory: from.memory, offset: from_offset, align: from.align.min(step) };
                kernel.read(&place, scalar)
            },
            from.align,
        )
    }

    /// Fills bytes, of which there is a known number, with a value of eight bits.
    pub(super) fn fill(&mut self, to: &Place<'c>, value: &str, bytes: u64) -> Result<(), Problem> {
        let value = self.keep(value);
        self.repeat(
            to,
            bytes,
            |_, _, step, _| {
                Ok(match step {
                    4 => format!("({value} * 0x1010101u)"),
                    _ => value.clone(),
                })
            },
            4,
        )
    }

    /// Writes words, or bytes where the places are not those of words, in a loop.
    fn repeat(
        &mut self,
        to: &Place<'c>,
        bytes: u64,
        mut value: impl FnMut(&mut Self, &str, u64, Scalar) -> Result<String, Problem>,
        align: u64,
    ) -> Result<(), Problem> {
        if to.memory == Memory::Nowhere || bytes == 0 {
            return Ok(());
        }
        let words = to.align >= 4 && align >= 4;
        let start = self.keep(&to.offset);
        let whole = if words { bytes / 4 * 4 } else { 0 };
        for (step, scalar, range) in
            [(4, Scalar::Word(32), 0..whole), (1, Scalar::Word(8), whole..bytes)]
        {
            if range.is_empty() {
                continue;
            }
            let counter = self.new_name("c");
            let (first, end) = (range.start, range.end);
            self.line(&format!(
                "for (var {counter} = {first}u; {counter} < {end}u; {counter} += {step}u) {{"
            ));
            let value = value(self, &counter, step, scalar)?;
            let place =
                Place { memory: to.memory, offset: format!("({start} + {counter})"), align: step };
            self.write(&place, scalar, &value)?;
            self.line("}");
        }
        Ok(())
    }
}

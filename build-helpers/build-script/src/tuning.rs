//! The file of tuned launches, `kernelmill-tuning.toml` beside the package's `Cargo.toml`: which block size, and which
//! limit of registers, is fastest for a kernel, a device and a size class. `cargo kernelmill tune` writes it, a build embeds
//! it, and `CompiledKernel::tuned_launch` of the run time uses it.

use std::{collections::BTreeMap, fmt::Write as _};

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

/// The file's name.
pub const FILE: &str = "kernelmill-tuning.toml";

/// The launch that was found to be fastest.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The name of the kernel's wrapper.
    pub kernel: String,
    /// The device's name, as the run time has it.
    pub device: String,
    /// The logarithm to base 2, rounded down, of the number of elements.
    pub size_class: u32,
    /// Threads in a block, 1 to 1024.
    pub block: u32,
    /// The most registers of the build that is launched; any build where there is none.
    pub max_registers: Option<u8>,
    /// The line of its table; 0 where it was not read.
    pub line: usize,
}

impl Choice {
    fn key(&self) -> (&str, &str, u32) {
        (&self.kernel, &self.device, self.size_class)
    }
}

/// Reads the text of the file.
///
/// # Errors
///
/// Every fault of the text, each with the file's name and the line.
///
/// ```
/// use kernelmill_build::tuning;
/// let text = "[[choice]]\nkernel = \"saxpy\"\ndevice = \"cpu\"\nsize-class = 20\nblock = 128\n";
/// let choices = tuning::read(text).unwrap();
/// assert_eq!((&*choices[0].kernel, choices[0].block, choices[0].max_registers), ("saxpy", 128, None));
/// assert_eq!(tuning::read("[[choice]]\nkernel = 1").unwrap_err().len(), 4);
/// ```
pub fn read(text: &str) -> Result<Vec<Choice>, Vec<String>> {
    let at = |offset: usize, what: &str| {
        let line = text[..offset].matches('\n').count() + 1;
        format!("{FILE}:{line}: {what}")
    };
    let table = DeTable::parse(text).map_err(|error| {
        vec![at(error.span().map_or(0, |it| it.start), error.message().trim_end())]
    })?;
    let (mut choices, mut faults) = (Vec::new(), Vec::new());
    for (key, value) in table.get_ref() {
        match value.get_ref() {
            DeValue::Array(array) if key.get_ref() == "choice" => {
                for value in array.iter() {
                    read_choice(value, &mut choices, &mut |offset, what| {
                        faults.push(at(offset, what));
                    });
                }
            }
            _ => faults.push(at(key.span().start, "only tables `[[choice]]` are known here")),
        }
    }
    let mut lines: BTreeMap<_, usize> = BTreeMap::new();
    for choice in &mut choices {
        choice.line = text[..choice.line].matches('\n').count() + 1;
    }
    for choice in &choices {
        if let Some(first) = lines.insert(choice.key(), choice.line) {
            let line = choice.line;
            faults.push(format!(
                "{FILE}:{line}: the kernel, device and size class of line {first}; remove one of the two"
            ));
        }
    }
    if faults.is_empty() { Ok(choices) } else { Err(faults) }
}

/// Reads one table. Its line is the offset of the table for now.
fn read_choice(
    value: &Spanned<DeValue<'_>>,
    choices: &mut Vec<Choice>,
    fault: &mut impl FnMut(usize, &str),
) {
    let start = value.span().start;
    let DeValue::Table(table) = value.get_ref() else {
        return fault(start, "`choice` is a list of tables: write `[[choice]]`");
    };
    let (mut kernel, mut device) = (None, None);
    let (mut size_class, mut block, mut max_registers) = (None, None, None);
    for (key, value) in table {
        let at = value.span().start;
        let mut number = |range: std::ops::RangeInclusive<u32>| {
            let found = match value.get_ref() {
                DeValue::Integer(it) => u32::from_str_radix(it.as_str(), it.radix()).ok(),
                _ => None,
            };
            let found = found.filter(|it| range.contains(it));
            if found.is_none() {
                let (key, from, to) = (key.get_ref(), range.start(), range.end());
                fault(at, &format!("`{key}` is a number from {from} to {to}"));
            }
            // A fault is told once.
            Some(found.unwrap_or(*range.start()))
        };
        match &**key.get_ref() {
            "size-class" => size_class = number(0..=63),
            "block" => block = number(1..=1024),
            "max-registers" => max_registers = number(1..=255).and_then(|it| u8::try_from(it).ok()),
            name @ ("kernel" | "device") => {
                let text = value.get_ref().as_str();
                if text.is_none() {
                    fault(at, &format!("`{name}` is a text"));
                }
                let place = if name == "kernel" { &mut kernel } else { &mut device };
                *place = Some(text.unwrap_or_default().to_owned());
            }
            name => fault(
                key.span().start,
                &format!(
                    "`{name}` is not known; known are `kernel`, `device`, `size-class`, `block`, `max-registers`"
                ),
            ),
        }
    }
    let missing = [
        ("kernel", kernel.is_none()),
        ("device", device.is_none()),
        ("size-class", size_class.is_none()),
        ("block", block.is_none()),
    ];
    for (name, _) in missing.iter().filter(|(_, is_missing)| *is_missing) {
        fault(start, &format!("`{name}` is missing; `cargo kernelmill tune` writes it"));
    }
    if let (Some(kernel), Some(device), Some(size_class), Some(block)) =
        (kernel, device, size_class, block)
    {
        choices.push(Choice { kernel, device, size_class, block, max_registers, line: start });
    }
}

/// The file's text with these choices, in the order of kernels, devices and size classes. Of two with the same kernel,
/// device and size class the later one is kept.
///
/// ```
/// use kernelmill_build::tuning;
/// let text = "[[choice]]\nkernel = \"saxpy\"\ndevice = \"cpu\"\nsize-class = 20\nblock = 128\n";
/// let old = tuning::read(text).unwrap();
/// let new = tuning::read(&text.replace("128", "64")).unwrap();
/// let merged = tuning::read(&tuning::write(old.into_iter().chain(new))).unwrap();
/// assert_eq!(merged.iter().map(|choice| choice.block).collect::<Vec<_>>(), [64]);
/// ```
pub fn write(choices: impl IntoIterator<Item = Choice>) -> String {
    let mut sorted = BTreeMap::new();
    for choice in choices {
        let key = (choice.kernel.clone(), choice.device.clone(), choice.size_class);
        sorted.insert(key, choice);
    }
    let mut text = "# Written by `cargo kernelmill tune`. Commit it: builds embed it.\n".to_owned();
    for Choice { kernel, device, size_class, block, max_registers, .. } in sorted.values() {
        let (kernel, device) = (quoted(kernel), quoted(device));
        let _ = write!(
            text,
            "\n[[choice]]\nkernel = {kernel}\ndevice = {device}\nsize-class = {size_class}\nblock = {block}\n"
        );
        if let Some(registers) = max_registers {
            let _ = writeln!(text, "max-registers = {registers}");
        }
    }
    text
}

/// A basic string of TOML.
fn quoted(text: &str) -> String {
    let mut quoted = "\"".to_owned();
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            control if control.is_control() => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(control));
            }
            other => quoted.push(other),
        }
    }
    quoted + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choice(kernel: &str, device: &str, size_class: u32, block: u32) -> Choice {
        let (kernel, device) = (kernel.to_owned(), device.to_owned());
        Choice { kernel, device, size_class, block, max_registers: None, line: 0 }
    }

    #[test]
    fn what_is_written_is_read_in_its_order_with_the_later_of_equals() {
        let odd = "a \"name\" \\ with\ttabs \u{1}";
        let few = Choice { max_registers: Some(32), ..choice("b", "cpu", 20, 64) };
        let all = [
            few.clone(),
            choice("b", odd, 3, 32),
            choice("a", "z", 10, 512),
            choice("b", "cpu", 4, 1),
        ];
        let replaced = choice("b", "cpu", 4, 96);
        let text = write(all.into_iter().chain([replaced.clone()]));
        let read = read(&text).unwrap();
        let lines: Vec<_> = read.iter().map(|it| it.line).collect();
        assert_eq!(lines, [3, 9, 15, 21]);
        let read: Vec<_> = read.into_iter().map(|it| Choice { line: 0, ..it }).collect();
        assert_eq!(read, [choice("a", "z", 10, 512), choice("b", odd, 3, 32), replaced, few]);
    }

    #[test]
    fn all_faults_are_told_each_with_its_line() {
        let text = "other = 1\n[[choice]]\nkernel = 1\ndevice = \"d\"\nsize-class = 64\nblock = 0\ncolour = 3\n\
                    [[choice]]\n[[choice]]\nkernel = \"k\"\ndevice = \"d\"\nsize-class = 1\nblock = 1\n\
                    [[choice]]\nkernel = \"k\"\ndevice = \"d\"\nsize-class = 1\nblock = 2\nmax-registers = 256\n";
        let faults = read(text).unwrap_err();
        let expected = [
            "1: only tables `[[choice]]` are known here",
            "3: `kernel` is a text",
            "5: `size-class` is a number from 0 to 63",
            "6: `block` is a number from 1 to 1024",
            "7: `colour` is not known; known are `kernel`, `device`, `size-class`, `block`, `max-registers`",
            "8: `kernel` is missing; `cargo kernelmill tune` writes it",
            "8: `device` is missing; `cargo kernelmill tune` writes it",
            "8: `size-class` is missing; `cargo kernelmill tune` writes it",
            "8: `block` is missing; `cargo kernelmill tune` writes it",
            "19: `max-registers` is a number from 1 to 255",
            "14: the kernel, device and size class of line 9; remove one of the two",
        ];
        let mut faults: Vec<_> =
            faults.iter().map(|it| it.strip_prefix("kernelmill-tuning.toml:").unwrap()).collect();
        let mut expected = expected.to_vec();
        faults.sort_unstable();
        expected.sort_unstable();
        assert_eq!(faults, expected);
        let faults = read("[[choice]\n").unwrap_err();
        assert!(
            faults.len() == 1 && faults[0].starts_with("kernelmill-tuning.toml:1: "),
            "{faults:?}"
        );
    }
}

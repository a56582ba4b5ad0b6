//! The file of tuned launches, `kernelmill-tuning.toml` beside the package's `Cargo.toml`: which block shape, and which
//! limit of registers, is fastest for a kernel, a device and a size class. `cargo kernelmill tune` writes it, a build embeds
//! it, and `CompiledKernel::tuned_launch` and `tuned_cover` of the run time use it.

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
    /// What `cargo kernelmill tune` was asked for, where the kernel was chosen among several that each have launches of their
    /// own; `None` where the launch of one kernel was.
    pub group: Option<String>,
    /// The name of the kernel's wrapper.
    pub kernel: String,
    /// The device's name, as the run time has it.
    pub device: String,
    /// For each dimension of the launch, x first, the logarithm to base 2, rounded down, of the number of elements.
    pub size_class: Vec<u32>,
    /// Threads in a block along each axis, as many numbers as the class has; 1 to 1024 threads altogether. None in a group.
    pub block: Vec<u32>,
    /// The most registers of the build that is launched; any build where there is none.
    pub max_registers: Option<u8>,
    /// The line of its table; 0 where it was not read.
    pub line: usize,
}

impl Choice {
    /// What there is one choice for: whether for a group, its name or the kernel's, the device, and the size class.
    fn key(&self) -> (bool, &str, &str, &[u32]) {
        let name = self.group.as_ref().unwrap_or(&self.kernel);
        (self.group.is_some(), name, &self.device, &self.size_class)
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
/// assert_eq!((&*choices[0].kernel, &*choices[0].block, choices[0].max_registers), ("saxpy", &[128][..], None));
/// let text = "[[choice]]\nkernel = \"blur\"\ndevice = \"cpu\"\nsize-class = [10, 9]\nblock = [32, 8]\n";
/// assert_eq!(tuning::read(text).unwrap()[0].block, [32, 8]);
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
            _ => faults.push(at(
                key.span().start,
                &format!("unknown key `{}`: the file has only tables `[[choice]]`", key.get_ref()),
            )),
        }
    }
    let mut lines: BTreeMap<_, usize> = BTreeMap::new();
    for choice in &mut choices {
        choice.line = text[..choice.line].matches('\n').count() + 1;
    }
    // A class that cannot be read is the same as none.
    for choice in choices.iter().filter(|it| !it.size_class.is_empty()) {
        if let Some(first) = lines.insert(choice.key(), choice.line) {
            let line = choice.line;
            faults.push(format!(
                "{FILE}:{line}: this choice has the kernel, device and size class of the one in line {first}: remove one of the two"
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
        return fault(start, "`choice` must be a list of tables: write `[[choice]]`");
    };
    let (mut kernel, mut device, mut group) = (None, None, None);
    let (mut size_class, mut block, mut max_registers) = (None, None, None);
    for (key, value) in table {
        let at = value.span().start;
        let mut numbers = |range, most_axes| {
            let found = read_numbers(value.get_ref(), &range, most_axes);
            if found.is_none() {
                let (key, from, to) = (key.get_ref(), range.start(), range.end());
                let or = if most_axes > 1 { ", or a list of 2 or 3 of them" } else { "" };
                fault(at, &format!("`{key}` must be a number from {from} to {to}{or}"));
            }
            // A fault is told once: no numbers are compared with nothing.
            Some(found.unwrap_or_default())
        };
        match &**key.get_ref() {
            "size-class" => size_class = numbers(0..=63, 3),
            "block" => block = numbers(1..=1024, 3),
            "max-registers" => max_registers = numbers(1..=255, 1),
            name @ ("kernel" | "device" | "group") => {
                let text = value.get_ref().as_str();
                if text.is_none() {
                    fault(at, &format!("`{name}` must be a string"));
                }
                let place = match name {
                    "kernel" => &mut kernel,
                    "device" => &mut device,
                    _ => &mut group,
                };
                *place = Some(text.unwrap_or_default().to_owned());
            }
            name => fault(
                key.span().start,
                &format!(
                    "unknown key `{name}`: the keys are `group`, `kernel`, `device`, `size-class`, `block` and `max-registers`"
                ),
            ),
        }
    }
    let missing = [
        ("kernel", kernel.is_none()),
        ("device", device.is_none()),
        ("size-class", size_class.is_none()),
        ("block", block.is_none() && group.is_none()),
    ];
    for (name, _) in missing.iter().filter(|(_, is_missing)| *is_missing) {
        fault(start, &format!("`{name}` is missing; `cargo kernelmill tune` writes it"));
    }
    if group.is_some() && (block.is_some() || max_registers.is_some()) {
        fault(
            start,
            "`block` and `max-registers` cannot be set beside `group`: remove them, since each kernel of a group has its own launch",
        );
    }
    // A group has no block, and one that it is given was reported.
    let block = if group.is_some() { Some(Vec::new()) } else { block };
    if let (Some(kernel), Some(device), Some(size_class), Some(block)) =
        (kernel, device, size_class, block)
    {
        check_shape(&size_class, &block, &mut |what| fault(start, what));
        let registers = max_registers.and_then(|it| it.first().copied());
        let max_registers = registers.and_then(|it| u8::try_from(it).ok());
        let line = start;
        choices.push(Choice { group, kernel, device, size_class, block, max_registers, line });
    }
}

/// A number, or where there may be several a list of two or three; `None` where the value is something else, or one
/// of them is not in the range.
fn read_numbers(
    value: &DeValue<'_>,
    range: &std::ops::RangeInclusive<u32>,
    most: usize,
) -> Option<Vec<u32>> {
    let number = |value: &DeValue<'_>| match value {
        DeValue::Integer(it) => {
            u32::from_str_radix(it.as_str(), it.radix()).ok().filter(|it| range.contains(it))
        }
        _ => None,
    };
    match value {
        DeValue::Array(list) if (2..=most).contains(&list.len()) => {
            list.iter().map(|it| number(it.get_ref())).collect()
        }
        other => number(other).map(|number| vec![number]),
    }
}

/// Reports what is wrong with a class and a block that are numbers each.
fn check_shape(size_class: &[u32], block: &[u32], fault: &mut impl FnMut(&str)) {
    let threads: u32 = block.iter().product();
    if threads > 1024 {
        fault(&format!("`block` has {threads} threads, more than the limit of 1024"));
    }
    let (classes, axes) = (size_class.len(), block.len());
    if classes != axes && classes > 0 && axes > 0 {
        fault(&format!(
            "`size-class` has {classes} dimensions and `block` has {axes}: write a number for each dimension in both"
        ));
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
/// assert_eq!(merged.iter().map(|choice| choice.block.clone()).collect::<Vec<_>>(), [[64]]);
/// ```
pub fn write(choices: impl IntoIterator<Item = Choice>) -> String {
    let mut all: Vec<_> = choices.into_iter().collect();
    // A stable sort: of equals the later stays behind, and is the one that is kept.
    all.sort_by(|one, other| one.key().cmp(&other.key()));
    let mut text = "# Written by `cargo kernelmill tune`. Commit it: builds embed it.\n".to_owned();
    for equals in all.chunk_by(|one, other| one.key() == other.key()) {
        let Some(Choice { group, kernel, device, size_class, block, max_registers, .. }) =
            equals.last()
        else {
            continue;
        };
        text += "\n[[choice]]\n";
        if let Some(group) = group {
            let _ = writeln!(text, "group = {}", quoted(group));
        }
        let (kernel, device) = (quoted(kernel), quoted(device));
        let size_class = numbers(size_class);
        let _ = write!(text, "kernel = {kernel}\ndevice = {device}\nsize-class = {size_class}\n");
        if !block.is_empty() {
            let _ = writeln!(text, "block = {}", numbers(block));
        }
        if let Some(registers) = max_registers {
            let _ = writeln!(text, "max-registers = {registers}");
        }
    }
    text
}

/// A number, or a list of several.
fn numbers(numbers: &[u32]) -> String {
    match numbers {
        [number] => number.to_string(),
        several => format!("{several:?}"),
    }
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
        let (size_class, block) = (vec![size_class], vec![block]);
        Choice { group: None, kernel, device, size_class, block, max_registers: None, line: 0 }
    }

    #[test]
    fn shapes_are_written_as_lists_and_read_back_with_their_order_along_the_axes() {
        let shaped = |size_class: &[u32], block: &[u32]| Choice {
            size_class: size_class.to_vec(),
            block: block.to_vec(),
            ..choice("blur", "cpu", 0, 0)
        };
        let all = [
            choice("blur", "cpu", 10, 64),
            shaped(&[9, 10], &[32, 8]),
            shaped(&[10, 9], &[64, 4]),
            shaped(&[10, 9, 0], &[8, 4, 2]),
        ];
        let text = write(all.clone());
        assert!(text.contains("size-class = [9, 10]\nblock = [32, 8]\n"), "{text}");
        let read = read(&text).unwrap();
        let mut read: Vec<_> = read.into_iter().map(|it| Choice { line: 0, ..it }).collect();
        read.sort_by_key(|it| (it.block.len(), it.block.clone()));
        assert_eq!(read, all);
    }

    #[test]
    fn a_group_has_one_kernel_for_a_device_and_class_and_no_block() {
        let of = |kernel: &str, class: &[u32]| Choice {
            group: Some("gemm".to_owned()),
            size_class: class.to_vec(),
            block: Vec::new(),
            ..choice(kernel, "cpu", 0, 0)
        };
        // A kernel may be called as a group.
        let own = choice("gemm", "cpu", 10, 64);
        let all = [of("gemm_8", &[6, 6, 6]), own.clone(), of("gemm_16", &[6, 6, 6])];
        let text = write(all.clone());
        let expected = "[[choice]]\ngroup = \"gemm\"\nkernel = \"gemm_16\"\ndevice = \"cpu\"\nsize-class = [6, 6, 6]\n";
        assert!(text.ends_with(expected), "{text}");
        let read_back = read(&text).unwrap().into_iter().map(|it| Choice { line: 0, ..it });
        assert_eq!(read_back.collect::<Vec<_>>(), [own, all[2].clone()]);
        let faults = read(&format!("{expected}block = 8\n{expected}")).unwrap_err();
        let expected = [
            "kernelmill-tuning.toml:1: `block` and `max-registers` cannot be set beside `group`: remove them, since each kernel of a group has its own launch",
            "kernelmill-tuning.toml:7: this choice has the kernel, device and size class of the one in line 1: remove one of the two",
        ];
        assert_eq!(faults, expected);
    }

    #[test]
    fn faults_of_shapes_are_told_at_once() {
        let table = |class: &str, block: &str| {
            format!(
                "[[choice]]\nkernel = \"k\"\ndevice = \"d\"\nsize-class = {class}\nblock = {block}\n"
            )
        };
        let text = [
            table("[1, 2]", "8"),
            table("[1, 3]", "[64, 32]"),
            table("[1, 64]", "[8, 0]"),
            table("[1]", "[1, 2, 3, 4]"),
            table("[1, 2, 3]", "[32, \"8\"]"),
            // Not a fault: another kernel, device or class than all above.
            table("[4, 4]", "[32, 32]"),
        ];
        let faults = read(&text.concat()).unwrap_err();
        let faults: Vec<_> =
            faults.iter().map(|it| it.strip_prefix("kernelmill-tuning.toml:").unwrap()).collect();
        let expected = [
            "1: `size-class` has 2 dimensions and `block` has 1: write a number for each dimension in both",
            "6: `block` has 2048 threads, more than the limit of 1024",
            "15: `block` must be a number from 1 to 1024, or a list of 2 or 3 of them",
            "14: `size-class` must be a number from 0 to 63, or a list of 2 or 3 of them",
            "20: `block` must be a number from 1 to 1024, or a list of 2 or 3 of them",
            "19: `size-class` must be a number from 0 to 63, or a list of 2 or 3 of them",
            "25: `block` must be a number from 1 to 1024, or a list of 2 or 3 of them",
        ];
        let sorted = |mut faults: Vec<&str>| {
            faults.sort_unstable();
            faults.join("\n")
        };
        assert_eq!(sorted(faults), sorted(expected.to_vec()));
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
            "1: unknown key `other`: the file has only tables `[[choice]]`",
            "3: `kernel` must be a string",
            "5: `size-class` must be a number from 0 to 63, or a list of 2 or 3 of them",
            "6: `block` must be a number from 1 to 1024, or a list of 2 or 3 of them",
            "7: unknown key `colour`: the keys are `group`, `kernel`, `device`, `size-class`, `block` and `max-registers`",
            "8: `kernel` is missing; `cargo kernelmill tune` writes it",
            "8: `device` is missing; `cargo kernelmill tune` writes it",
            "8: `size-class` is missing; `cargo kernelmill tune` writes it",
            "8: `block` is missing; `cargo kernelmill tune` writes it",
            "19: `max-registers` must be a number from 1 to 255",
            "14: this choice has the kernel, device and size class of the one in line 9: remove one of the two",
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

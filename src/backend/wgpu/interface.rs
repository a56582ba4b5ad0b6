//! Interfaces of SPIR-V modules: the buffers that each entry point uses
//! ([SPIR-V, "OpEntryPoint"](https://registry.khronos.org/SPIR-V/specs/unified1/SPIRV.html#OpEntryPoint)), which are
//! listed from version 1.4 on, and their numbers.
//!
//! wgpu gives the bindings of a group the numbers 0, 1, 2 in their order, and changes those of a module that it compiles
//! itself, but not of one that is passed on. Guaranteed: [`Interface::numbered`] does, so that a layout of these bindings is
//! that of the module.

use std::{collections::BTreeMap, ops::Range};

/// A buffer of an entry point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Binding {
    pub(super) group: u32,
    pub(super) binding: u32,
}

/// The entry points of a module, by their names.
#[derive(Debug)]
pub(super) struct Interface(BTreeMap<String, Vec<Variable>>);

/// A buffer of an entry point, in the order of groups and bindings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Variable {
    source: Binding,
    /// The variable's number in the module.
    id: u32,
}

impl Interface {
    /// The entry points, each with the buffers that a module of its own has, as [`Interface::numbered`] makes it.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&str, Vec<Binding>)> {
        self.0.iter().map(|(name, variables)| (&**name, in_order(variables)))
    }

    /// The entry points, each with the buffers that it has in the module of all.
    pub(super) fn in_source(&self) -> impl Iterator<Item = (&str, Vec<Binding>)> {
        let bindings = |variables: &[Variable]| variables.iter().map(|it| it.source).collect();
        self.0.iter().map(move |(name, variables)| (&**name, bindings(variables)))
    }

    /// The buffers of an entry point: in the module of all, and in one of its own.
    pub(super) fn pairs(&self, entry: &str) -> Vec<(Binding, Binding)> {
        let variables = self.0.get(entry).map_or(&[][..], |variables| variables);
        variables.iter().map(|it| it.source).zip(in_order(variables)).collect()
    }

    /// The module for one entry point: the bindings of its buffers are 0, 1, 2 in each group. Unchanged where there
    /// is no such entry point.
    pub(super) fn numbered(&self, entry: &str, module: &[u32]) -> Vec<u32> {
        let mut module = module.to_vec();
        let Some(variables) = self.0.get(entry) else { return module };
        let bindings = in_order(variables);
        let numbers: BTreeMap<_, _> =
            variables.iter().map(|it| it.id).zip(bindings.iter().map(|it| it.binding)).collect();
        let mut at = HEADER;
        while let Some(length) = module.get(at).map(|first| (first >> 16) as usize) {
            if let Some([first, id, DECORATION_BINDING, binding]) = module.get_mut(at..at + length)
                && *first & 0xffff == OP_DECORATE
                && let Some(number) = numbers.get(id)
            {
                *binding = *number;
            }
            at += length.max(1);
        }
        module
    }
}

/// The buffers with the numbers 0, 1, 2 in each group.
fn in_order(variables: &[Variable]) -> Vec<Binding> {
    let mut next = BTreeMap::new();
    let mut number = |group| {
        let next = next.entry(group).or_insert(0);
        *next += 1;
        Binding { group, binding: *next - 1 }
    };
    variables.iter().map(|it| number(it.source.group)).collect()
}

/// The first word of every module.
const MAGIC: u32 = 0x0723_0203;

/// The words before the first instruction.
pub(super) const HEADER: usize = 5;

const OP_ENTRY_POINT: u32 = 15;
const OP_EXECUTION_MODE: u32 = 16;
const OP_CONSTANT: u32 = 43;
const OP_CAPABILITY: u32 = 17;
const LOCAL_SIZE: u32 = 17;
const OP_DECORATE: u32 = 71;
const DECORATION_BINDING: u32 = 33;
const DECORATION_DESCRIPTOR_SET: u32 = 34;

/// The words of a binary; `None` where it is no SPIR-V.
pub(super) fn words(binary: &[u8]) -> Option<Vec<u32>> {
    let (words, rest) = binary.as_chunks::<4>();
    let words: Vec<_> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
    (rest.is_empty() && words.len() >= HEADER && words[0] == MAGIC).then_some(words)
}

/// The instructions of a module that is not damaged: where each is, its number, and its operands.
pub(super) fn instructions(module: &[u32]) -> impl Iterator<Item = (Range<usize>, u32, &[u32])> {
    let mut at = HEADER;
    std::iter::from_fn(move || {
        let first = module.get(at)?;
        let place = at..at + (first >> 16) as usize;
        let operands = module.get(at + 1..place.end)?;
        at = place.end;
        Some((place, first & 0xffff, operands))
    })
}

/// The capabilities that a module needs, by their numbers
/// ([SPIR-V, "Capability"](https://registry.khronos.org/SPIR-V/specs/unified1/SPIRV.html#Capability)).
pub(super) fn capabilities(module: &[u32]) -> impl Iterator<Item = u32> {
    let needed = instructions(module).take_while(|(_, code, _)| *code == OP_CAPABILITY);
    needed.filter_map(|(_, _, operands)| operands.first().copied())
}

/// A module whose entry points have workgroups of this size, with other numbers in the place of some.
pub(super) fn adapted(module: &[u32], block: [u32; 3], numbers: &[(u32, u32)]) -> Vec<u32> {
    let mut changed = module.to_vec();
    for (place, code, operands) in instructions(module) {
        match (code, operands) {
            (OP_EXECUTION_MODE, [_, LOCAL_SIZE, _, _, _]) => {
                changed[place.start + 3..place.end].copy_from_slice(&block);
            }
            (OP_CONSTANT, [_, _, number]) => {
                if let Some((_, own)) = numbers.iter().find(|(known, _)| known == number) {
                    changed[place.start + 3] = *own;
                }
            }
            _ => {}
        }
    }
    changed
}

/// The interface of a module; `None` where it is damaged.
pub(super) fn of_module(module: &[u32]) -> Option<Interface> {
    let (mut entries, mut groups, mut bindings) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
    let mut rest = module.get(HEADER..)?;
    while let Some(first) = rest.first() {
        let length = (first >> 16) as usize;
        let operands = rest.get(1..length)?;
        match (first & 0xffff, operands) {
            (OP_ENTRY_POINT, [_, _, names @ ..]) => {
                let (name, used) = name(names)?;
                entries.push((name, used.to_vec()));
            }
            (OP_DECORATE, [variable, DECORATION_DESCRIPTOR_SET, group]) => {
                groups.insert(*variable, *group);
            }
            (OP_DECORATE, [variable, DECORATION_BINDING, binding]) => {
                bindings.insert(*variable, *binding);
            }
            _ => {}
        }
        rest = &rest[length..];
    }
    let of = |id: &u32| {
        let source = Binding { group: *groups.get(id)?, binding: *bindings.get(id)? };
        Some(Variable { source, id: *id })
    };
    let entry = |(name, used): (String, Vec<u32>)| {
        let mut variables: Vec<_> = used.iter().filter_map(of).collect();
        variables.sort_unstable();
        (name, variables)
    };
    Some(Interface(entries.into_iter().map(entry).collect()))
}

/// A text that ends with a zero, and what follows it.
fn name(words: &[u32]) -> Option<(String, &[u32])> {
    let last = words.iter().position(|word| word.to_le_bytes().contains(&0))?;
    let bytes: Vec<u8> = words[..=last].iter().flat_map(|word| word.to_le_bytes()).collect();
    let text = bytes.split(|byte| *byte == 0).next()?;
    Some((String::from_utf8(text.to_vec()).ok()?, &words[last + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An instruction.
    fn instruction(code: u32, operands: &[u32]) -> Vec<u32> {
        let first = ((operands.len() as u32 + 1) << 16) | code;
        [&[first], operands].concat()
    }

    /// `saxpy` uses the variables 7, 8, 9 and 10, `next` uses 10, and `nothing` none.
    fn module() -> Vec<u32> {
        let text = |text: &[u8; 8]| {
            text.as_chunks().0.iter().map(|it| u32::from_le_bytes(*it)).collect::<Vec<_>>()
        };
        [
            vec![MAGIC, 0x0001_0400, 0, 10, 0],
            instruction(
                OP_ENTRY_POINT,
                &[&[5, 1], &*text(b"saxpy\0\0\0"), &[7, 8, 9, 10]].concat(),
            ),
            instruction(OP_ENTRY_POINT, &[&[5, 3], &*text(b"next\0\0\0\0"), &[10]].concat()),
            instruction(OP_ENTRY_POINT, &[&[5, 2], &*text(b"nothing\0")].concat()),
            instruction(OP_DECORATE, &[7, DECORATION_DESCRIPTOR_SET, 1]),
            instruction(OP_DECORATE, &[7, DECORATION_BINDING, 0]),
            instruction(OP_DECORATE, &[8, DECORATION_DESCRIPTOR_SET, 0]),
            instruction(OP_DECORATE, &[8, DECORATION_BINDING, 3]),
            instruction(OP_DECORATE, &[10, DECORATION_DESCRIPTOR_SET, 0]),
            instruction(OP_DECORATE, &[10, DECORATION_BINDING, 7]),
            // A built-in variable.
            instruction(OP_DECORATE, &[9, 11, 28]),
        ]
        .concat()
    }

    #[test]
    fn each_entry_point_has_numbers_of_its_own() {
        let module = module();
        let interface = of_module(&module).unwrap();
        let entries: Vec<_> = interface.entries().collect();
        let [first, second] = [0, 1].map(|binding| Binding { group: 0, binding });
        let saxpy = vec![first, second, Binding { group: 1, binding: 0 }];
        assert_eq!(entries, [("next", vec![first]), ("nothing", vec![]), ("saxpy", saxpy)]);

        // The source's numbers are 3 and 7.
        let source = |entry: &str, module: &[u32]| {
            let interface = of_module(module).unwrap();
            interface.0[entry].iter().map(|it| it.source).collect::<Vec<_>>()
        };
        let numbered = interface.numbered("saxpy", &module);
        assert_eq!(source("saxpy", &numbered), entries[2].1);
        let numbered = interface.numbered("next", &module);
        assert_eq!(source("next", &numbered), entries[0].1);
        // A module of all entry points keeps the source's.
        let [third, seventh] = [3, 7].map(|binding| Binding { group: 0, binding });
        let saxpy = vec![third, seventh, Binding { group: 1, binding: 0 }];
        let in_source: Vec<_> = interface.in_source().collect();
        assert_eq!(in_source, [("next", vec![seventh]), ("nothing", vec![]), ("saxpy", saxpy)]);
        assert_eq!(numbered.len(), module.len());
        assert_eq!(interface.numbered("other", &module), module);
    }

    #[test]
    fn a_module_is_adapted_to_blocks_and_numbers() {
        let constant = |id: u32, number: u32| instruction(OP_CONSTANT, &[6, id, number]);
        let before = [
            module(),
            instruction(OP_EXECUTION_MODE, &[1, LOCAL_SIZE, 1, 1, 1]),
            constant(20, 77),
            constant(21, 78),
        ];
        let after = [
            module(),
            instruction(OP_EXECUTION_MODE, &[1, LOCAL_SIZE, 8, 4, 2]),
            constant(20, 5),
            constant(21, 78),
        ];
        assert_eq!(adapted(&before.concat(), [8, 4, 2], &[(77, 5)]), after.concat());
        let capabilities_of = [
            vec![MAGIC, 0x0001_0400, 0, 10, 0],
            instruction(OP_CAPABILITY, &[1]),
            instruction(OP_CAPABILITY, &[11]),
        ];
        let needed: Vec<_> = capabilities(&capabilities_of.concat()).collect();
        assert_eq!(needed, [1, 11]);
    }

    #[test]
    fn what_is_damaged_is_no_module() {
        let module = module();
        let bytes: Vec<u8> = module.iter().flat_map(|word| word.to_le_bytes()).collect();
        assert_eq!(words(&bytes), Some(module.clone()));
        assert_eq!(words(&bytes[..bytes.len() - 1]), None);
        assert_eq!(words(&bytes[4..]), None);
        assert_eq!(words(b"\x03\x02\x23\x07"), None);
        assert!(of_module(&module[..module.len() - 1]).is_none());
        let endless = [&module[..], &[0]].concat();
        assert!(of_module(&endless).is_none());
    }
}

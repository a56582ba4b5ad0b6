//! Variables of a kernel in WGSL: its buffers, its shared and its own memory, and tables.

use std::fmt::Write as _;

use kernelmill_artifact::DYNAMIC_SHARED_WORDS;
use kernelmill_llvm::ir::Type;

use super::{
    kernel::{Binding, Kernel, Role},
    memory::Memory,
    scalars::Scalar,
    tables,
};

impl<'c> Kernel<'_, 'c> {
    /// A value that is passed by itself: the first of the bytes that the binding has.
    pub(super) fn value(&mut self, number: usize, ty: Type<'c>) -> String {
        let name = self.bytes(number);
        let scalar = Scalar::of(ty).unwrap_or(Scalar::Word(32));
        let bits = match scalar.bytes() {
            8 => format!("long_of({name}[0u][0u], {name}[0u][1u])"),
            4 => format!("{name}[0u][0u]"),
            _ => format!("({name}[0u][0u] & {}u)", scalar.mask()),
        };
        scalar.of_bits(&bits)
    }

    /// The variable with what the launch says of blocks and buffers.
    pub(super) fn launch(&mut self) -> String {
        let (name, count) = (format!("launch{}", self.number), self.bindings.len());
        let ty = format!("array<vec4<u32>, {}>", count + 1);
        self.global(&name, &format!("@group(0) @binding({count}) var<uniform> {name}: {ty};"));
        name
    }

    pub(super) fn bytes(&mut self, number: usize) -> String {
        let name = format!("value{}_{number}", self.number);
        let bytes = match self.bindings[number] {
            Binding::Value(bytes) => bytes,
            Binding::Buffer => 0,
        };
        let vectors = bytes.div_ceil(16).max(1);
        let ty = format!("array<vec4<u32>, {vectors}>");
        self.global(&name, &format!("@group(0) @binding({number}) var<uniform> {name}: {ty};"));
        name
    }

    /// The array of a memory.
    pub(super) fn array(&mut self, memory: Memory<'c>) -> String {
        if let Some(name) = self.arrays.get(&memory) {
            return name.clone();
        }
        let word = match (self.is_atomic(memory), self.is_wide(memory)) {
            (_, true) => "atomic<u64>",
            (true, _) => "atomic<u32>",
            _ => "u32",
        };
        let bytes = if self.is_wide(memory) { 8 } else { 4 };
        let name = match memory {
            Memory::Buffer(parameter) => {
                let number = match self.roles[parameter] {
                    Role::Address(number) => number,
                    _ => parameter,
                };
                let name = format!("buffer{}_{number}", self.number);
                let variable = format!("var<storage, read_write> {name}: array<{word}>;");
                self.global(&name, &format!("@group(0) @binding({number}) {variable}"));
                name
            }
            Memory::Bytes(parameter) => match self.roles[parameter] {
                Role::Value(number) => self.bytes(number),
                _ => "0u".to_owned(),
            },
            Memory::Record | Memory::Program => {
                let (name, place) = match memory {
                    Memory::Record => ("record", 1),
                    _ => ("program", 2),
                };
                let (name, number) =
                    (format!("{name}{}", self.number), self.bindings.len() + place);
                let variable = format!("var<storage, read_write> {name}: array<{word}>;");
                self.global(&name, &format!("@group(0) @binding({number}) {variable}"));
                name
            }
            Memory::Dynamic => {
                let name = format!("dynamic{}", self.number);
                let ty = format!("array<{word}, {DYNAMIC_SHARED_WORDS}>");
                self.global(&name, &format!("var<workgroup> {name}: {ty};"));
                name
            }
            Memory::Slot(slot) => {
                let name = self.new_name("slot");
                let words = self.machine.size_of(slot.allocated_type()).div_ceil(4).max(1);
                self.local(&name, &format!("array<u32, {words}>"));
                name
            }
            Memory::Shared(shared) => {
                let name = self.new_name(&format!("shared{}_", self.number));
                let words = self.machine.size_of(shared.value_type()).div_ceil(bytes).max(1);
                let ty = format!("array<{word}, {words}>");
                self.global(&name, &format!("var<workgroup> {name}: {ty};"));
                name
            }
            Memory::Table(table) => {
                let name = self.new_name(&format!("table{}_", self.number));
                let words = tables::words(self.machine, table).unwrap_or_default();
                let ty = format!("array<u32, {}>", words.len());
                let words: Vec<_> = words.iter().map(|word| format!("{word}u")).collect();
                let value = format!("{ty}({})", words.join(", "));
                self.global(&name, &format!("var<private> {name}: {ty} = {value};"));
                name
            }
            Memory::Several(_) | Memory::Nowhere => "nowhere".to_owned(),
        };
        self.arrays.insert(memory, name.clone());
        name
    }

    /// A number of a memory, from 1 on.
    pub(super) fn number_of(&mut self, memory: Memory<'c>) -> usize {
        let next = self.numbers.len() + 1;
        *self.numbers.entry(memory).or_insert(next)
    }

    pub(super) fn global(&mut self, name: &str, line: &str) {
        self.globals.entry(name.to_owned()).or_insert_with(|| line.to_owned());
    }

    pub(super) fn local(&mut self, name: &str, ty: &str) {
        let _ = writeln!(self.locals, "    var {name}: {ty};");
    }
}

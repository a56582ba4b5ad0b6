//! Selections between vectors in SPIR-V: LLVM's back end, up to version 22 at least, writes `OpSelect` of two vectors with one
//! truth value, which takes a vector of them [before SPIR-V 1.4][select]. So the value becomes a vector first: not by
//! `OpCompositeConstruct`, which translators for LLVM 15 read of constants only.
//!
//! [select]: https://registry.khronos.org/SPIR-V/specs/unified1/SPIRV.html#OpSelect

use std::collections::{BTreeMap, BTreeSet};

/// `OpName` and `OpDecorate`, whose first two words may look like a type and a result.
const NAMES: [u32; 2] = [5, 71];
/// `OpTypeBool`, `OpTypeVector`.
const TYPE_BOOL: u32 = 20;
const TYPE_VECTOR: u32 = 23;
/// `OpUndef`, `OpVectorShuffle`, `OpCompositeInsert`.
const UNDEFINED: u32 = 1;
const SHUFFLE: u32 = 79;
const INSERT: u32 = 82;
/// `OpSelect`.
const SELECT: u32 = 169;

/// What is known of a module's truth values.
pub(super) struct Selects {
    /// One more than the largest id.
    pub(super) bound: u32,
    /// The components of each type of vectors.
    vectors: BTreeMap<u32, u32>,
    /// The type of vectors of so many truth values.
    types: BTreeMap<u32, u32>,
    /// Those of them that the module does not have yet.
    new: Vec<[u32; 4]>,
    /// The truth values.
    values: BTreeSet<u32>,
}

/// The operation of an instruction.
fn operation(instruction: &[u32]) -> u32 {
    instruction[0] & 0xffff
}

impl Selects {
    /// Those of a module with these instructions, and this bound of its ids.
    pub(super) fn of(instructions: &[&[u32]], bound: u32) -> Self {
        let of_bool = |it: &&&[u32]| operation(it) == TYPE_BOOL;
        let scalar = instructions.iter().find(of_bool).and_then(|it| it.get(1).copied());
        let (new, values) = (Vec::new(), BTreeSet::new());
        let mut selects =
            Self { bound, vectors: BTreeMap::new(), types: BTreeMap::new(), new, values };
        let Some(scalar) = scalar else { return selects };
        for instruction in instructions {
            match **instruction {
                [_, ty, component, count] if operation(instruction) == TYPE_VECTOR => {
                    selects.vectors.insert(ty, count);
                    if component == scalar {
                        selects.types.insert(count, ty);
                    }
                }
                [_, ty, value, ..] if ty == scalar && !NAMES.contains(&operation(instruction)) => {
                    selects.values.insert(value);
                }
                _ => {}
            }
        }
        let counts = instructions.iter().filter_map(|it| selects.is_mixed(it));
        for count in counts.collect::<BTreeSet<_>>() {
            if !selects.types.contains_key(&count) {
                let ty = selects.id();
                selects.types.insert(count, ty);
                selects.new.push([4 << 16 | TYPE_VECTOR, ty, scalar, count]);
            }
        }
        selects
    }

    /// A new id.
    fn id(&mut self) -> u32 {
        self.bound += 1;
        self.bound - 1
    }

    /// The components of what an instruction selects by one truth value; `None` for any other instruction.
    fn is_mixed(&self, instruction: &[u32]) -> Option<u32> {
        match *instruction {
            [head, ty, _, condition, ..]
                if head & 0xffff == SELECT && self.values.contains(&condition) =>
            {
                self.vectors.get(&ty).copied()
            }
            _ => None,
        }
    }

    /// Adds an instruction to a module, as readers take it.
    pub(super) fn add(&mut self, instruction: &[u32], module: &mut Vec<u32>) {
        let Some(count) = self.is_mixed(instruction) else {
            module.extend(instruction);
            if operation(instruction) == TYPE_BOOL {
                module.extend(self.new.iter().flatten());
            }
            return;
        };
        let (condition, ty) = (instruction[3], self.types[&count]);
        let [undefined, first, vector] = [(); 3].map(|()| self.id());
        module.extend([3 << 16 | UNDEFINED, ty, undefined]);
        module.extend([6 << 16 | INSERT, ty, first, condition, undefined, 0]);
        module.extend([(5 + count) << 16 | SHUFFLE, ty, vector, first, first]);
        module.extend((0..count).map(|_| 0));
        module.extend(&instruction[..3]);
        module.push(vector);
        module.extend(&instruction[4..]);
    }
}

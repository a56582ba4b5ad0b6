//! Indices of 32 bits: the arithmetic of kernels whose launches have less than 2^31 threads, and no number of elements
//! or argument of type `usize` that is larger.
//!
//! The run time gives such a kernel no other launch. So a length, a size and the position of a thread in its launch are
//! what is left of them in 32 bits, and saying so (`zext (trunc x)`) lets LLVM's [InstCombine] do the arithmetic on them,
//! divisions above all, in 32 bits. Where a kernel computes with other numbers it does so in 64 bits, as before.
//!
//! [InstCombine]: https://llvm.org/docs/Passes.html#instcombine-combine-redundant-instructions

use std::collections::{HashMap, HashSet};

use kernelmill_artifact::Signature;
use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{Builder, Linkage, ModuleExt, Opcode, Type, Value},
    machine::Machine,
};

use super::entry::Entry;
use crate::{Error, ir::reachable};

/// Brings the positions of threads to where they are used, in registers.
const EXPOSE: &str = "always-inline,function(sroa<modify-cfg>,early-cse)";

/// A number of 64 bits as what its lower 32 bits are.
pub(crate) fn narrow<'c>(
    context: &'c Context,
    builder: &Builder<'c>,
    value: Value<'c>,
) -> Value<'c> {
    let ty = value.ty();
    if !ty.is_int(64) {
        return value;
    }
    builder.zero_extend(builder.truncate(value, Type::int(context, 32)), ty)
}

/// Narrows what kernels with indices of 32 bits compute of the position of a thread, on NVIDIA's processors, in functions
/// that nothing but such kernels reaches.
///
/// Needs: entries in the order of the signatures, and what nothing else may call is internal.
pub(crate) fn narrow_positions<'c>(
    context: &'c Context,
    module: &Module<'c>,
    (machine, signatures): (&Machine, &[Signature]),
    entries: &[Entry],
) -> Result<(), Error> {
    let is_narrow = |(signature, _): &(&Signature, _)| signature.limits.has_narrow_indices();
    let narrow = signatures.iter().zip(entries).filter(is_narrow);
    let narrow: HashSet<_> = narrow.map(|(_, entry)| entry.symbol.clone()).collect();
    if narrow.is_empty() {
        return Ok(());
    }
    machine.run(module, EXPOSE)?;
    let mut functions: HashMap<Value<'c>, bool> = HashMap::new();
    let is_root = |it: &Value<'_>| it.linkage() != Linkage::Internal;
    for root in module.definitions().into_iter().filter(is_root) {
        let is_narrow = narrow.contains(&root.name());
        for function in reachable(root).into_iter().filter(|it| it.is_function()) {
            *functions.entry(function).or_insert(true) &= is_narrow;
        }
    }
    // In the order of the module: builds are the same each time.
    let is_narrow = |it: &Value<'c>| functions.get(it).copied().unwrap_or(false);
    for function in module.definitions().into_iter().filter(is_narrow) {
        narrow_function(context, function);
    }
    Ok(())
}

fn narrow_function<'c>(context: &'c Context, function: Value<'c>) {
    let mut positions = Positions::default();
    let is_sum =
        |it: &Value<'c>| matches!(it.opcode(), Opcode::Add | Opcode::Mul) && it.ty().is_int(64);
    let sums = function.instructions().into_iter().filter(is_sum);
    let sums: Vec<_> = sums.filter(|sum| positions.of(*sum).is_some()).collect();
    let builder = Builder::new(context);
    for sum in sums {
        let Some(next) = sum.next_instruction() else { continue };
        builder.before(next);
        builder.take_line(sum);
        let low = builder.truncate(sum, Type::int(context, 32));
        let narrow = builder.zero_extend(low, sum.ty());
        sum.replace_with(narrow);
        low.set_operand(0, sum);
    }
}

/// A set of the six extents of a launch: those of the grid, then those of a block, x first. The product of different
/// ones is at most the number of threads of the launch.
type Extents = u8;

/// What is known of a number, whatever the launch: it is at most the number of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    /// The product of these extents.
    Extent(Extents),
    /// Below the product of these extents.
    Position(Extents),
    /// A number below the product of the first extents, times the product of the second.
    Row(Extents, Extents),
}

impl Known {
    /// What the product of two numbers is known to be.
    fn times(self, other: Self) -> Option<Self> {
        match (self, other) {
            (Self::Extent(one), Self::Extent(two)) if one & two == 0 => {
                Some(Self::Extent(one | two))
            }
            (Self::Position(place), Self::Extent(size))
            | (Self::Extent(size), Self::Position(place))
                if place & size == 0 =>
            {
                Some(Self::Row(place, size))
            }
            _ => None,
        }
    }

    /// What the sum of two numbers is known to be.
    fn plus(self, other: Self) -> Option<Self> {
        match (self, other) {
            (Self::Row(rows, size), Self::Position(place))
            | (Self::Position(place), Self::Row(rows, size))
                if place == size =>
            {
                Some(Self::Position(rows | size))
            }
            _ => None,
        }
    }

    /// What a special register of NVIDIA's is known to be.
    fn register(name: &str) -> Option<Self> {
        let (register, axis) = name.strip_prefix("llvm.nvvm.read.ptx.sreg.")?.split_once('.')?;
        let axis = ["x", "y", "z"].iter().position(|it| *it == axis)?;
        let (of_grid, of_block) = (1 << axis, 8 << axis);
        match register {
            "tid" => Some(Self::Position(of_block)),
            "ctaid" => Some(Self::Position(of_grid)),
            "ntid" => Some(Self::Extent(of_block)),
            "nctaid" => Some(Self::Extent(of_grid)),
            _ => None,
        }
    }
}

/// What is known of the values of a function, as far as somebody has asked.
#[derive(Default)]
struct Positions<'c>(HashMap<Value<'c>, Option<Known>>);

impl<'c> Positions<'c> {
    fn of(&mut self, value: Value<'c>) -> Option<Known> {
        if !value.is_instruction() {
            return None;
        }
        if let Some(known) = self.0.get(&value) {
            return *known;
        }
        let known = match value.opcode() {
            Opcode::Call => Known::register(&value.called_function()?.name()),
            Opcode::ZExt => self.of(value.operand(0)),
            // In 32 bits they could wrap.
            Opcode::Add if value.ty().is_int(64) => {
                self.of(value.operand(0))?.plus(self.of(value.operand(1))?)
            }
            Opcode::Mul if value.ty().is_int(64) => {
                self.of(value.operand(0))?.times(self.of(value.operand(1))?)
            }
            _ => None,
        };
        self.0.insert(value, known);
        known
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn register(name: &str) -> Known {
        Known::register(&format!("llvm.nvvm.read.ptx.sreg.{name}")).unwrap()
    }

    /// Each sum and product that is known is at most the number of threads: a product that has an extent twice is not.
    #[test]
    fn only_what_no_launch_makes_larger_than_its_threads_is_known() {
        let row = register("ctaid.x").times(register("ntid.x")).unwrap();
        let column = row.plus(register("tid.x")).unwrap();
        assert_eq!(column, Known::Position(0b1001));
        let width = register("nctaid.x").times(register("ntid.x")).unwrap();
        let y = register("ntid.y").times(register("ctaid.y")).unwrap();
        let y = register("tid.y").plus(y).unwrap();
        assert_eq!(y.times(width).unwrap().plus(column), Some(Known::Position(0b01_1011)));
        assert_eq!(width.times(register("ntid.x")), None, "an extent twice");
        assert_eq!(column.times(width), None, "a position by its own extents");
        assert_eq!(column.times(column), None);
        assert_eq!(row.plus(register("ctaid.x")), None, "not below the size of a row");
        assert_eq!(width.plus(column), None);
        assert_eq!(Known::register("llvm.nvvm.read.ptx.sreg.laneid"), None);
        assert_eq!(Known::register("llvm.nvvm.read.ptx.sreg.clock.x"), None);
    }
}

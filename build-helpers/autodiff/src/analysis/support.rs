//! Unsupported operations of a function, found before anything is written.

use std::collections::HashSet;

use kernelmill_llvm::ir::{Opcode, Type, TypeKind, Value};

use super::{
    activity::Activities,
    cfg::Cfg,
    elements::{Elements, is_loaded_integer, parameters_of},
    floats::holds_floats,
    memory::{Memory, Root, Transfer, is_foreign, transfer},
};
use crate::{
    Mode, Unsupported,
    rules::{Rules, flows, rule_of},
};

/// The analyses that the search uses.
pub(crate) struct Facts<'a, 'c> {
    pub(crate) cfg: &'a Cfg<'c>,
    pub(crate) memory: &'a Memory<'c>,
    pub(crate) activities: &'a Activities<'c>,
    pub(crate) elements: &'a Elements<'c>,
    pub(crate) rules: &'a Rules,
    pub(crate) mode: Mode,
    pub(crate) plain_shadows: bool,
}

/// All unsupported operations of a function.
pub(crate) fn unsupported<'c>(facts: &Facts<'_, 'c>) -> Vec<Unsupported> {
    let mut found: Vec<_> = facts
        .cfg
        .instructions()
        .filter_map(|instruction| {
            facts.reason(instruction).map(|message| Unsupported::at(instruction, message))
        })
        .collect();
    found.sort();
    found.dedup();
    found
}

impl<'c> Facts<'_, 'c> {
    fn reason(&self, instruction: Value<'c>) -> Option<String> {
        self.pointer_in_shadow(instruction).or_else(|| self.derivative(instruction))
    }

    /// A pointer in memory of the caller that has a shadow, where such are refused.
    fn pointer_in_shadow(&self, instruction: Value<'c>) -> Option<String> {
        let memory: &[u32] = match instruction.opcode() {
            _ if !self.plain_shadows => &[],
            Opcode::Load if instruction.ty().is_pointer() => &[0],
            Opcode::Store if instruction.operand(0).ty().is_pointer() => &[1],
            Opcode::Call if matches!(transfer(instruction), Some(Transfer::Fill)) => &[0],
            Opcode::Call if transfer(instruction).is_some() => &[0, 1],
            _ => &[],
        };
        let is_call = instruction.opcode() == Opcode::Call;
        let holds_one = |index: &u32| {
            let pointer = instruction.operand(*index);
            let roots = self.memory.roots(pointer);
            self.activities.is_shadowed(self.memory, pointer)
                && roots.iter().any(|root| !matches!(root, Root::Slot(_)))
                && (!is_call
                    || self.elements.at(self.memory, pointer).is_some_and(Type::is_pointer))
        };
        memory.iter().any(holds_one).then(|| {
            "memory that has a shadow holds references, and those in the shadow cannot be checked; declare \
             the derivative as `unsafe fn`, or pass what they lead to as parameters"
                .to_owned()
        })
    }

    fn derivative(&self, instruction: Value<'c>) -> Option<String> {
        match instruction.opcode() {
            Opcode::Load => self.load(instruction),
            Opcode::Store => self.store(instruction),
            Opcode::Call => self.call(instruction),
            Opcode::BitCast => self.bits(instruction),
            Opcode::AtomicRmw | Opcode::AtomicCmpXchg => {
                let shadowed = self.activities.is_shadowed(self.memory, instruction.operand(0));
                let varied = self.varies(instruction);
                (shadowed || varied).then(|| {
                    "an atomic operation on active memory has no derivative here; add up in the \
                     kernel, outside of the function"
                        .to_owned()
                })
            }
            _ if self.activities.is_active(instruction) => self.operation(instruction),
            _ => None,
        }
    }

    fn varies(&self, instruction: Value<'c>) -> bool {
        instruction.operands().iter().any(|operand| self.activities.is_varied(*operand))
    }

    fn operation(&self, instruction: Value<'c>) -> Option<String> {
        let known = flows(self.rules, instruction).is_some()
            || matches!(
                instruction.opcode(),
                Opcode::Phi
                    | Opcode::Select
                    | Opcode::FPExt
                    | Opcode::FPTrunc
                    | Opcode::ExtractValue
                    | Opcode::InsertValue
                    | Opcode::ExtractElement
                    | Opcode::InsertElement
                    | Opcode::ShuffleVector
            );
        (!known).then(|| {
            let name = format!("{:?}", instruction.opcode());
            let name = name.trim_start_matches("LLVM").to_lowercase();
            format!("the operation `{name}` on active numbers has no derivative here")
        })
    }

    fn load(&self, load: Value<'c>) -> Option<String> {
        let pointer = load.operand(0);
        let roots = self.memory.roots(pointer);
        let matters = holds_floats(load.ty()) || load.ty().is_pointer();
        if holds_floats(load.ty()) && roots.contains(&Root::Unknown) {
            return Some(
                "a number is read through a pointer to unknown memory; use references and slices that are \
                 parameters"
                    .to_owned(),
            );
        }
        if !self.activities.is_shadowed(self.memory, pointer) || !matters {
            return None;
        }
        if load.is_exact_access() {
            return Some("a volatile or atomic read of active memory has no derivative; use an ordinary read".to_owned());
        }
        self.mixed(&roots)
    }

    /// A pointer to memory that has a shadow on one path, and none on another.
    fn mixed(&self, roots: &[Root<'c>]) -> Option<String> {
        let without: Vec<_> = roots
            .iter()
            .copied()
            .filter(|root| !self.activities.is_shadowed_root(self.memory, *root))
            .collect();
        if without.is_empty() || without.len() == roots.len() {
            return None;
        }
        Some(format!(
            "depending on a branch, a pointer leads to memory that has a derivative or to {} that has none; \
             access each of the two in its own branch",
            self.describe(&without)
        ))
    }

    fn describe(&self, roots: &[Root<'c>]) -> String {
        let parameters = parameters_of(roots);
        if let Some(index) = parameters.first() {
            return format!("the constant parameter {index}");
        }
        match roots.first() {
            Some(Root::Global(global)) => {
                format!("the static `{}`", crate::rules::path(&global.name()))
            }
            _ => "memory".to_owned(),
        }
    }

    fn store(&self, store: Value<'c>) -> Option<String> {
        let (value, pointer) = (store.operand(0), store.operand(1));
        let roots = self.memory.roots(pointer);
        let shadowed = self.activities.is_shadowed(self.memory, pointer);
        let carries = self.activities.is_varied(value)
            || value.ty().is_pointer() && self.activities.is_shadowed(self.memory, value);
        if carries && !shadowed {
            return Some(format!(
                "an active number is written to {}, where its derivative would be lost; write it to memory that \
                 is duplicated",
                self.describe(&roots)
            ));
        }
        if !shadowed {
            return None;
        }
        if store.is_exact_access() && carries {
            return Some(
                "a volatile or atomic write to active memory has no derivative; use an ordinary write".to_owned(),
            );
        }
        let is_loaded =
            is_loaded_integer(value) && self.activities.is_shadowed(self.memory, value.operand(0));
        if is_loaded || self.is_number_as_integer(value) {
            return Some(
                "memory is copied as integers, which may be parts of numbers with a derivative; copy field by \
                 field"
                    .to_owned(),
            );
        }
        self.mixed(&roots)
    }

    /// Whether an integer is one of several numbers that were read from active memory.
    fn is_number_as_integer(&self, value: Value<'c>) -> bool {
        let (mut seen, mut stack) = (HashSet::new(), vec![value]);
        while let Some(value) = stack.pop() {
            if value.ty().int_width().is_none() || !value.is_instruction() || !seen.insert(value) {
                continue;
            }
            match value.opcode() {
                Opcode::Phi => stack.extend(value.operands()),
                Opcode::Select => stack.extend([value.operand(1), value.operand(2)]),
                Opcode::Load => {
                    let pointer = value.operand(0);
                    let element = self.elements.at(self.memory, pointer);
                    let is_number = element.is_some_and(Type::is_floating);
                    if is_number && self.activities.is_shadowed(self.memory, pointer) {
                        return true;
                    }
                }
                _ => {}
            }
        }
        false
    }

    fn call(&self, call: Value<'c>) -> Option<String> {
        if let Some(kind) = transfer(call) {
            return self.transfer(call, kind);
        }
        if flows(self.rules, call).is_some() {
            return self.math_function(call);
        }
        if let Some(what) = exchange(call) {
            return Some(format!(
                "{what} has no derivative; keep it out of the function, and exchange values and \
                 gradients around it"
            ));
        }
        if !is_foreign(self.rules, call) && !self.activities.is_active(call) {
            return None;
        }
        let carries = |value: &Value<'c>| {
            self.activities.is_varied(*value)
                || value.ty().is_pointer() && self.activities.is_shadowed(self.memory, *value)
        };
        if !call.arguments().iter().any(carries) {
            return None;
        }
        let callee = call.called_function();
        let defined = callee.is_some_and(|callee| !callee.is_declaration());
        if defined && self.mode == Mode::Forward {
            return None;
        }
        let Some(callee) = callee else {
            return Some(if call.inline_assembly().is_some() {
                "inline assembly has no derivative; move it to a function, and give that a rule of your own".to_owned()
            } else {
                "a call through a pointer to a function has no derivative here; call the function by its name".to_owned()
            });
        };
        let path = crate::rules::path(&callee.name());
        Some(if defined {
            format!("`{path}` calls itself, which reverse mode does not support; write a loop")
        } else {
            format!("`{path}` has no rule and no body here; give it a rule of your own")
        })
    }

    /// A function with a rule, for a type that the math library does not have.
    fn math_function(&self, call: Value<'c>) -> Option<String> {
        let (rule, _) = rule_of(call.called_function()?)?;
        let scalar = matches!(call.ty().kind(), TypeKind::Float | TypeKind::Double);
        let needs_scalar = rule.intrinsic.is_none() || rule.name == "powi";
        (self.activities.is_active(call) && needs_scalar && !scalar).then(|| {
            let (name, ty) = (rule.name, call.ty());
            format!("`{name}` of `{ty:?}` has no derivative, only that of `f32` and `f64`")
        })
    }

    fn transfer(&self, call: Value<'c>, kind: Transfer) -> Option<String> {
        let (to, from) = (call.operand(0), call.operand(1));
        let to_shadowed = self.activities.is_shadowed(self.memory, to);
        if kind == Transfer::Fill {
            return (to_shadowed && !from.is_zero() && self.elements.at(self.memory, to).is_some())
                .then(|| "active numbers are filled with bytes other than 0; assign the numbers one by one".to_owned());
        }
        let from_shadowed = self.activities.is_shadowed(self.memory, from);
        if from_shadowed && !to_shadowed {
            let roots = self.memory.roots(to);
            return Some(format!(
                "active memory is copied to {}, where its derivative would be lost; copy it to memory that is \
                 duplicated",
                self.describe(&roots)
            ));
        }
        if !to_shadowed {
            return None;
        }
        let both = [self.memory.roots(to), self.memory.roots(from)];
        if let Some(message) = both.iter().find_map(|roots| self.mixed(roots)) {
            return Some(message);
        }
        if self.mode == Mode::Forward {
            return None;
        }
        self.elements.at(self.memory, to).is_none().then(|| {
            "memory is copied as bytes of unknown types; copy element by element".to_owned()
        })
    }

    /// Bit casts between numbers and integers.
    fn bits(&self, cast: Value<'c>) -> Option<String> {
        let (from, to) = (cast.operand(0), cast.ty());
        let is_integer = |kind: TypeKind| kind == TypeKind::Integer;
        if self.activities.is_varied(from) && !holds_floats(to) && !is_only_compared(cast) {
            return Some(
                "the bits of an active number are used as an integer; use a function of the table of \
                 rules instead"
                    .to_owned(),
            );
        }
        if holds_floats(to) && is_integer(from.ty().kind()) && self.may_hold_numbers(from, 8) {
            return Some(
                "an integer from active memory is used as a number: LLVM passes and returns arrays of a few \
                 numbers as integers; pass such arrays by reference, or as structs"
                    .to_owned(),
            );
        }
        (self.activities.is_active(cast) && from.ty().lanes() != to.lanes()).then(|| {
            "active numbers are reinterpreted as numbers of another width; convert each of them"
                .to_owned()
        })
    }

    /// Whether an integer is computed from one in active memory.
    fn may_hold_numbers(&self, value: Value<'c>, depth: u32) -> bool {
        if !value.is_instruction() || depth == 0 {
            return depth == 0;
        }
        match value.opcode() {
            Opcode::Load => self.activities.is_shadowed(self.memory, value.operand(0)),
            Opcode::FPToSI | Opcode::FPToUI | Opcode::Call => false,
            _ => value
                .operands()
                .into_iter()
                .filter(|operand| operand.ty().int_width().is_some())
                .any(|operand| self.may_hold_numbers(operand, depth - 1)),
        }
    }
}

/// The communication with other threads that a call performs, if any.
fn exchange(call: Value<'_>) -> Option<&'static str> {
    let name = call.called_function()?.name();
    match name.strip_prefix("__kernelmill_")? {
        "barrier" => Some("a barrier"),
        "grid_barrier" => Some("a grid barrier"),
        "active_mask" => Some("a warp-level primitive"),
        name if name.starts_with("warp_") => Some("a warp-level primitive"),
        _ => None,
    }
}

/// Whether integers are compared, after integer arithmetic or without, and nothing else: as `total_cmp` does with the bits of
/// numbers.
fn is_only_compared(bits: Value<'_>) -> bool {
    let (mut seen, mut work) = (HashSet::from([bits]), vec![bits]);
    while let Some(value) = work.pop() {
        for user in value.users() {
            let is_comparison = |function: Value<'_>| {
                let name = function.name();
                name.starts_with("llvm.scmp.") || name.starts_with("llvm.ucmp.")
            };
            match user.opcode() {
                Opcode::ICmp => {}
                Opcode::Call if user.called_function().is_some_and(is_comparison) => {}
                Opcode::Xor
                | Opcode::And
                | Opcode::Or
                | Opcode::Shl
                | Opcode::LShr
                | Opcode::AShr
                | Opcode::Phi
                | Opcode::Select
                | Opcode::Freeze => {
                    if seen.insert(user) {
                        work.push(user);
                    }
                }
                _ => return false,
            }
        }
    }
    true
}

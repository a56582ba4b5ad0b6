//! Branches, calls, fences and what ends a thread.
//!
//! PTX ISA, "Control Flow Instructions".

use super::build::{Build, Flow};
use super::function::Decoder;
use super::memory::ignore_hints;
use super::modifiers::Modifiers;
use super::names::Entity;
use super::problem::Problem;
use crate::execute::Handler;
use crate::execute::instructions::{call_direct, call_indirect, control_flow, leave};
use crate::program::{CallSite, Slice};
use crate::ptx::{Instruction, Operand, Type};

impl<'a> Decoder<'_, 'a> {
    /// `bra`, with its guard.
    pub(crate) fn branch(
        &mut self,
        i: &Instruction<'a>,
        m: &mut Modifiers<'_>,
    ) -> Result<(), Problem> {
        m.ignore(&["uni"]);
        m.finish()?;
        self.count(i, 1)?;
        let Operand::Name(name, 0) = i.operands[0] else {
            return Problem::error("the operand of a branch must be a label");
        };
        let label = self.label(name)?;
        let build = match i.guard {
            None => Build::new(control_flow::jump).flow(Flow::Jump),
            Some(guard) => {
                let slot = self.predicate(&Operand::Name(guard.name, 0))?;
                let run: Handler =
                    if guard.negated { control_flow::jump_unless } else { control_flow::jump_if };
                Build::new(run).a(slot).flow(Flow::Branch)
            }
        };
        self.jumps.push((self.builds.len(), label));
        self.push(build);
        Ok(())
    }

    fn label(&self, name: &str) -> Result<usize, Problem> {
        match self.names.label(name) {
            Some(label) => Ok(label),
            None => Problem::error(format!("there is no label `{name}`")),
        }
    }

    /// `brx.idx index, table;`
    pub(crate) fn decode_indexed_branch(
        &mut self,
        i: &Instruction<'a>,
        m: &mut Modifiers<'_>,
    ) -> Result<(), Problem> {
        m.ignore(&["idx", "uni"]);
        self.count(i, 2)?;
        let index = self.read(&i.operands[0], Type::U32)?;
        let Operand::Name(name, 0) = i.operands[1] else {
            return Problem::error("brx.idx needs a table of labels");
        };
        let Some(table) = self.names.table(name).cloned() else {
            return Problem::error(format!("there is no `.branchtargets` called `{name}`"));
        };
        let pool = match table.pool {
            Some(pool) => pool,
            None => self.branch_table(name, &table.targets)?,
        };
        let build = Build::new(control_flow::jump_indexed).a(index).flow(Flow::Table);
        self.push(build.with(|i| (i.e, i.c) = (pool, table.targets.len() as u32)));
        Ok(())
    }

    /// The place of a table's targets in the pool, which all branches by the table share.
    fn branch_table(&mut self, name: &str, targets: &[&'a str]) -> Result<u32, Problem> {
        let pool = self.pool(&vec![0; targets.len()]);
        for (place, target) in targets.iter().enumerate() {
            let label = self.label(target)?;
            self.pool_jumps.push((pool as usize + place, label));
        }
        if let Some(table) = self.names.table(name) {
            table.pool = Some(pool);
        }
        Ok(pool)
    }

    /// Instructions without a result; `None` when it is something else.
    pub(crate) fn control(
        &mut self,
        i: &Instruction<'a>,
        m: &mut Modifiers<'_>,
    ) -> Result<Option<()>, Problem> {
        let run: Handler = match i.opcode {
            "ret" => {
                self.give_back();
                m.ignore(&["uni", "u32"]);
                ignore_hints(m);
                self.push_return(leave);
                return Ok(Some(()));
            }
            "exit" => control_flow::exit,
            "trap" => control_flow::trap,
            "brkpt" => control_flow::breakpoint,
            "nanosleep" => control_flow::pause,
            "membar" | "fence" => {
                m.ignore(&["sc", "acq_rel", "cta", "gl", "sys", "gpu", "cluster", "acquire"]);
                m.ignore(&["release", "proxy", "async", "alias", "mbarrier_init", "relaxed"]);
                m.ignore(&["global", "shared::cta", "shared::cluster"]);
                m.ignore_prefixed(&["async::", "sync_restrict::", "op_restrict", "tensormap"]);
                control_flow::fence
            }
            "prefetch" | "prefetchu" | "discard" | "applypriority" => {
                m.ignore(&["global", "local", "L1", "L2", "tensormap", "param", "const"]);
                m.ignore_prefixed(&["L2::"]);
                control_flow::nothing
            }
            "pmevent" | "setmaxnreg" | "griddepcontrol" => {
                m.ignore(&["mask", "inc", "dec", "sync", "aligned", "u32", "wait"]);
                m.ignore(&["launch_dependents"]);
                control_flow::nothing
            }
            _ => return Ok(None),
        };
        m.ignore(&["uni", "u32"]);
        ignore_hints(m);
        let ends = matches!(i.opcode, "ret" | "exit" | "trap" | "brkpt");
        self.push(Build::new(run).flow(if ends { Flow::End } else { Flow::Next }));
        Ok(Some(()))
    }

    /// `call (results), function, (arguments), prototype;`
    pub(crate) fn decode_call(
        &mut self,
        i: &Instruction<'a>,
        m: &mut Modifiers<'_>,
    ) -> Result<(), Problem> {
        m.ignore(&["uni"]);
        let call = Call::of(i)?;
        let register = match self.names.find(call.callee) {
            Some(Entity::Register { slot, .. }) => Some(slot),
            _ => None,
        };
        let direct = self.context.symbols.functions.get(call.callee).copied();
        let direct = direct.filter(|_| register.is_none());
        let (parameters, returns) = direct.map(|index| self.signature(index)).unwrap_or_default();
        let arguments = self.pass(call.arguments, &parameters, false)?;
        let results = self.pass(call.results, &returns, true)?;
        let parts = self.parts_of_call(call.results, &results.slices);
        let passed = CallSite { returns: results.slices, arguments: arguments.slices, parts };
        if direct.is_some() {
            check_call(call.callee, &passed, &parameters, &returns)?;
        }
        let site = self.function.tables.calls.len() as u32;
        self.function.tables.calls.push(passed);
        match (register, direct) {
            (Some(slot), _) => self.indirect_call(slot, site, call.prototype)?,
            (None, Some(index)) if self.is_entry(index) => {
                let callee = call.callee;
                return Problem::error(format!("`{callee}` is a kernel, which cannot be called"));
            }
            (None, Some(index)) => {
                self.function.callees.push(index);
                let build = Build::new(call_direct).with(|i| (i.a, i.e) = (index as u32, site));
                self.push_call(build);
            }
            (None, None) => {
                return Problem::error(format!("`{}` is not declared", call.callee));
            }
        }
        for placed in results.results {
            self.copy_frame(placed, false);
        }
        Ok(())
    }

    /// The parameters and results of a function, which may be the one that is decoded.
    fn signature(&self, index: usize) -> (Vec<Slice>, Vec<Slice>) {
        let own = self.context.symbols.functions.get(self.function.name.as_str()) == Some(&index);
        let function = if own { &self.function } else { &self.context.program.functions[index] };
        (function.parameters.clone(), function.returns.clone())
    }

    fn is_entry(&self, index: usize) -> bool {
        let own = self.context.symbols.functions.get(self.function.name.as_str()) == Some(&index);
        if own { self.function.entry } else { self.context.program.functions[index].entry }
    }

    fn indirect_call(
        &mut self,
        slot: u32,
        site: u32,
        prototype: Option<&Operand<'a>>,
    ) -> Result<(), Problem> {
        if let Some(Operand::Name(name, 0)) = prototype
            && name.starts_with("prototype")
            && !self.names.is_prototype(name)
        {
            return Problem::error(format!("`{name}` is not declared"));
        }
        self.function.calls_indirectly = true;
        self.push_call(Build::new(call_indirect).a(slot).with(|i| i.e = site));
        Ok(())
    }
}

/// The operands of a call.
struct Call<'i, 'a> {
    results: &'i [Operand<'a>],
    callee: &'a str,
    arguments: &'i [Operand<'a>],
    prototype: Option<&'i Operand<'a>>,
}

impl<'i, 'a> Call<'i, 'a> {
    fn of(i: &'i Instruction<'a>) -> Result<Call<'i, 'a>, Problem> {
        let mut operands = i.operands.iter().peekable();
        let group =
            |operands: &mut std::iter::Peekable<std::slice::Iter<'i, Operand<'a>>>| match operands
                .peek()
            {
                Some(Operand::Group(list)) => {
                    operands.next();
                    list.as_slice()
                }
                _ => &[],
            };
        let results = group(&mut operands);
        let Some(&Operand::Name(callee, 0)) = operands.next() else {
            return Problem::error("the operand of a call must be a function");
        };
        let arguments = group(&mut operands);
        Ok(Call { results, callee, arguments, prototype: operands.next() })
    }
}

/// What a call passes and takes is as many values as the function has, each as long.
fn check_call(
    name: &str,
    call: &CallSite,
    parameters: &[Slice],
    returns: &[Slice],
) -> Result<(), Problem> {
    let same = |ours: &[Slice], theirs: &[Slice]| {
        let mut pairs = ours.iter().zip(theirs);
        ours.len() == theirs.len() && pairs.all(|(ours, theirs)| ours.bytes == theirs.bytes)
    };
    let fits = same(&call.arguments, parameters) && same(&call.returns, returns);
    if fits {
        Ok(())
    } else {
        Problem::error(format!("the call of `{name}` does not match its parameters and results"))
    }
}

//! Operations of warps, and barriers.
//!
//! PTX ISA, "Parallel Synchronization and Communication Instructions".

use super::build::Build;
use super::function::Decoder;
use super::modifiers::Modifiers;
use super::problem::Problem;
use crate::arithmetic::{bits, integer};
use crate::execute::instructions::{arrive, synchronise, wait};
use crate::execute::{Reduction, Transfer};
use crate::program::{Collective, Shuffle, ShuffleMode, Vote};
use crate::ptx::{Instruction, Operand, Type};

/// An operand that is not there, for barriers.
const NONE: u32 = u32::MAX;

impl<'a> Decoder<'_, 'a> {
    /// Adds a warp operation of the lanes in slot `mask`.
    pub(crate) fn push_warp(
        &mut self,
        operation: Collective,
        mask: u32,
        reads: &[u32],
        writes: &[u32],
    ) {
        let shuffles = matches!(operation, Collective::Shuffle(_));
        let number = self.function.tables.collectives.len() as u32;
        self.function.tables.collectives.push(operation);
        let mut build = Build::new(wait).a(mask).x(number);
        for &slot in reads {
            build = build.reads(slot);
        }
        for &slot in writes {
            build = build.writes(slot);
        }
        if shuffles {
            build = build.transfer(Transfer::Shuffle);
        }
        self.push(build);
    }

    pub(crate) fn decode_warp(
        &mut self,
        i: &Instruction<'a>,
        m: &mut Modifiers<'_>,
    ) -> Result<(), Problem> {
        if i.opcode == "activemask" {
            m.ty()?;
            self.count(i, 1)?;
            let d = self.write(&i.operands[0])?;
            let all = self.constant(0xffff_ffff);
            self.push_warp(Collective::ActiveMask { d }, all, &[], &[d]);
            return Ok(());
        }
        if !m.take("sync") {
            return Err(Problem::Unsupported);
        }
        match i.opcode {
            "shfl" => self.shuffle(i, m),
            "vote" => self.vote(i, m),
            "match" => self.matching(i, m),
            "redux" => self.reduce(i, m),
            _ => self.elect(i),
        }
    }

    fn shuffle(&mut self, i: &Instruction<'a>, m: &mut Modifiers<'_>) -> Result<(), Problem> {
        let mode = m.pick(|word| {
            Some(match word {
                "up" => ShuffleMode::Up,
                "down" => ShuffleMode::Down,
                "bfly" => ShuffleMode::Butterfly,
                "idx" => ShuffleMode::Index,
                _ => return None,
            })
        });
        let mode = mode.ok_or(Problem::Unsupported)?;
        one_of(m.ty()?, &[Type::B32])?;
        self.count(i, 5)?;
        let a = self.read(&i.operands[1], Type::B32)?;
        let b = self.read(&i.operands[2], Type::B32)?;
        let c = self.read(&i.operands[3], Type::B32)?;
        let mask = self.read(&i.operands[4], Type::B32)?;
        let (d, p) = self.write_pair(&i.operands[0])?;
        let operation = Collective::Shuffle(Shuffle { mode, d, p, a, b, c });
        // What is shuffled comes last: it may be undefined.
        self.push_warp(operation, mask, &[b, c, a], &[d, p]);
        Ok(())
    }

    fn vote(&mut self, i: &Instruction<'a>, m: &mut Modifiers<'_>) -> Result<(), Problem> {
        let mode = m.pick(|word| {
            Some(match word {
                "all" => Vote::All,
                "any" => Vote::Any,
                "uni" => Vote::Uniform,
                "ballot" => Vote::Ballot,
                _ => return None,
            })
        });
        let mode = mode.ok_or(Problem::Unsupported)?;
        m.ty()?;
        self.count(i, 3)?;
        let a = self.predicate(&i.operands[1])?;
        let mask = self.read(&i.operands[2], Type::B32)?;
        let d = self.write(&i.operands[0])?;
        self.push_warp(Collective::Vote { mode, d, a }, mask, &[a], &[d]);
        Ok(())
    }

    fn matching(&mut self, i: &Instruction<'a>, m: &mut Modifiers<'_>) -> Result<(), Problem> {
        let any = m.take("any");
        m.ignore(&["all"]);
        let ty = one_of(m.ty()?, &[Type::B32, Type::B64])?;
        self.count(i, 3)?;
        let width = ty.bits();
        let a = self.read(&i.operands[1], ty)?;
        let mask = self.read(&i.operands[2], Type::B32)?;
        let (d, p) = self.write_pair(&i.operands[0])?;
        let operation = if any {
            Collective::MatchAny { d, a, width }
        } else {
            Collective::MatchAll { d, p, a, width }
        };
        self.push_warp(operation, mask, &[a], &[d, p]);
        Ok(())
    }

    fn reduce(&mut self, i: &Instruction<'a>, m: &mut Modifiers<'_>) -> Result<(), Problem> {
        let operation = m.pick(|word| {
            ["add", "min", "max", "and", "or", "xor"].into_iter().find(|known| *known == word)
        });
        let ty = one_of(m.ty()?, &[Type::B32, Type::U32, Type::S32])?;
        let combine: fn(u64, u64) -> u64 = match (operation, ty) {
            (Some("add"), _) => integer::add::<u32>,
            (Some("min"), Type::S32) => integer::minimum::<i32>,
            (Some("min"), Type::U32) => integer::minimum::<u32>,
            (Some("max"), Type::S32) => integer::maximum::<i32>,
            (Some("max"), Type::U32) => integer::maximum::<u32>,
            (Some("and"), _) => bits::and,
            (Some("or"), _) => bits::or,
            (Some("xor"), _) => bits::xor,
            _ => return Err(Problem::Unsupported),
        };
        self.count(i, 3)?;
        let a = self.read(&i.operands[1], ty)?;
        let mask = self.read(&i.operands[2], Type::B32)?;
        let d = self.write(&i.operands[0])?;
        self.push_warp(Collective::Reduce { d, a, combine }, mask, &[a], &[d]);
        Ok(())
    }

    fn elect(&mut self, i: &Instruction<'a>) -> Result<(), Problem> {
        self.count(i, 2)?;
        let (d, p) = self.write_pair(&i.operands[0])?;
        let mask = self.read(&i.operands[1], Type::B32)?;
        self.push_warp(Collective::Elect { d, p }, mask, &[], &[d, p]);
        Ok(())
    }

    /// `bar`, `barrier`
    pub(crate) fn decode_barrier(
        &mut self,
        i: &Instruction<'a>,
        m: &mut Modifiers<'_>,
    ) -> Result<(), Problem> {
        m.ignore(&["cta"]);
        if m.take("warp") {
            m.ignore(&["sync"]);
            self.count(i, 1)?;
            let mask = self.read(&i.operands[0], Type::B32)?;
            self.push_warp(Collective::Barrier, mask, &[], &[]);
            return Ok(());
        }
        if m.take("cluster") {
            return Err(Problem::Unsupported);
        }
        let aligned = m.take("aligned") || i.opcode == "bar";
        if m.take("red") {
            return self.reducing_barrier(i, m, aligned);
        }
        let arriving = m.take("arrive");
        m.ignore(&["sync"]);
        let a = self.read(self.operand(i, 0)?, Type::U32)?;
        let mut build = Build::new(if arriving { arrive } else { synchronise }).a(a);
        build = self.thread_count(build, i.operands.get(1))?;
        self.push(build.x(u32::from(aligned)).with(|i| i.c = NONE));
        Ok(())
    }

    fn thread_count(
        &mut self,
        build: Build,
        operand: Option<&Operand<'a>>,
    ) -> Result<Build, Problem> {
        Ok(match operand {
            Some(operand) => {
                let slot = self.read(operand, Type::U32)?;
                build.b(slot)
            }
            None => build.with(|i| i.b = NONE),
        })
    }

    /// `barrier.red.popc.u32 d, a, b, p`, of which the count `b` may be missing.
    fn reducing_barrier(
        &mut self,
        i: &Instruction<'a>,
        m: &mut Modifiers<'_>,
        aligned: bool,
    ) -> Result<(), Problem> {
        let reduction = m.pick(|word| {
            Some(match word {
                "popc" => Reduction::Count,
                "and" => Reduction::All,
                "or" => Reduction::Any,
                _ => return None,
            })
        });
        let reduction = reduction.ok_or(Problem::Unsupported)?;
        m.ty()?;
        let last = i.operands.len().saturating_sub(1);
        if !(2..=3).contains(&last) {
            self.count(i, 4)?;
        }
        let d = self.write(&i.operands[0])?;
        let a = self.read(&i.operands[1], Type::U32)?;
        let c = self.predicate(&i.operands[last])?;
        let count = if last == 3 { Some(&i.operands[2]) } else { None };
        let mut build = Build::new(synchronise).d(d).a(a).c(c);
        build = self.thread_count(build, count)?;
        let number = match reduction {
            Reduction::Count => 1,
            Reduction::All => 2,
            Reduction::Any => 3,
        };
        self.push(build.x(u32::from(aligned) | number << 1));
        Ok(())
    }
}

/// The type, where the instruction is there for it.
fn one_of(ty: Type, types: &[Type]) -> Result<Type, Problem> {
    types.contains(&ty).then_some(ty).ok_or(Problem::Unsupported)
}

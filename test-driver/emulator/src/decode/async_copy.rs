//! `cp.async` and `mbarrier`.
//!
//! PTX ISA, "Data Movement and Conversion Instructions: Asynchronous copy" and "mbarrier".

use super::build::Build;
use super::function::Decoder;
use super::modifiers::Modifiers;
use super::moves::space_named;
use super::problem::Problem;
use crate::execute::Handler;
use crate::execute::instructions::{async_copy, control_flow, mbarrier, tma};
use crate::launch::Space;
use crate::ptx::{Instruction, Operand, Type};

impl<'a> Decoder<'_, 'a> {
    pub(crate) fn decode_asynchronous(
        &mut self,
        i: &Instruction<'a>,
        m: &mut Modifiers<'_>,
    ) -> Result<(), Problem> {
        if i.opcode == "mbarrier" {
            return self.memory_barrier(i, m);
        }
        if !m.take("async") {
            return Err(Problem::Unsupported);
        }
        if m.take("mbarrier") {
            return self.copies_arrive(i, m);
        }
        if i.modifiers.contains(&"bulk") && (m.take("commit_group") || m.take("wait_group")) {
            // Tiles are copied when the copy is issued.
            m.ignore(&["bulk", "read"]);
            self.push(Build::new(control_flow::nothing));
            return Ok(());
        }
        if m.take("commit_group") {
            self.push(Build::new(async_copy::commit));
            return Ok(());
        }
        if m.take("wait_all") {
            self.push(Build::new(async_copy::wait_for_all));
            return Ok(());
        }
        if m.take("wait_group") {
            let Operand::Integer(left) = self.operand(i, 0)? else {
                return Problem::error("the operand of cp.async.wait_group must be a number");
            };
            let left = u32::try_from(*left).unwrap_or(u32::MAX);
            self.push(Build::new(async_copy::wait).x(left));
            return Ok(());
        }
        if m.take("bulk") {
            return if m.take("tensor") { self.copy_tile(i, m) } else { self.bulk_copy(i, m) };
        }
        self.copy(i, m)
    }

    /// `cp.async.mbarrier.arrive`
    fn copies_arrive(&mut self, i: &Instruction<'a>, m: &mut Modifiers<'_>) -> Result<(), Problem> {
        if !m.take("arrive") {
            return Err(Problem::Unsupported);
        }
        let run: Handler = match m.take("noinc") {
            true => async_copy::copies_arrive,
            false => async_copy::uncounted_copies_arrive,
        };
        self.arrival(i, m, 0, run)
    }

    /// `cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [to], [from], bytes, [barrier];`
    fn bulk_copy(&mut self, i: &Instruction<'a>, m: &mut Modifiers<'_>) -> Result<(), Problem> {
        let to_shared = m.take("shared::cluster") || m.take("shared::cta");
        if !to_shared || !m.take("global") || !m.take("mbarrier::complete_tx::bytes") {
            return Err(Problem::Unsupported);
        }
        m.finish()?;
        self.count(i, 4)?;
        let to = self.location(self.operand(i, 0)?, Some(Space::Shared))?;
        let from = self.location(self.operand(i, 1)?, Some(Space::Global))?;
        let bytes = self.read(self.operand(i, 2)?, Type::U32)?;
        let barrier = self.location(self.operand(i, 3)?, Some(Space::Shared))?;
        if [&to, &from, &barrier].iter().any(|location| location.offset != 0) {
            return Err(Problem::Unsupported);
        }
        let build = Build::new(async_copy::bulk_copy).a(to.slot).b(from.slot).c(bytes);
        self.push(build.e(barrier.slot));
        Ok(())
    }

    /// `cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [to], [map, {x, y}],
    /// [barrier];` and `cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [map, {x, y}], [from];`
    fn copy_tile(&mut self, i: &Instruction<'a>, m: &mut Modifiers<'_>) -> Result<(), Problem> {
        let rank = m.pick(|word| word.strip_suffix('d')?.parse::<u32>().ok());
        let rank = rank.filter(|rank| (1..=5).contains(rank)).ok_or(Problem::Unsupported)?;
        m.ignore(&["tile"]);
        let loads = m.take("mbarrier::complete_tx::bytes");
        let spaces = m.take("global") && (m.take("shared::cluster") || m.take("shared::cta"));
        if !spaces || !(loads || m.take("bulk_group")) {
            return Err(Problem::Unsupported);
        }
        m.finish()?;
        self.count(i, if loads { 3 } else { 2 })?;
        let (place, tile) = if loads { (1, 0) } else { (0, 1) };
        let Operand::Place { base, coordinates } = self.operand(i, place)? else {
            return Problem::error("the operand must be a tensor map with coordinates");
        };
        if coordinates.len() != rank as usize {
            return Problem::error(format!(
                "{} coordinates are given for a tensor of {rank} dimensions",
                coordinates.len()
            ));
        }
        let map = self.location(&Operand::Address { base: base.clone(), offset: 0 }, None)?;
        let tile = self.location(self.operand(i, tile)?, Some(Space::Shared))?;
        let last =
            self.location(self.operand(i, if loads { 2 } else { 1 })?, Some(Space::Shared))?;
        if map.offset != 0 || tile.offset != 0 || last.offset != 0 {
            return Err(Problem::Unsupported);
        }
        let slots = coordinates.iter().map(|coordinate| self.read(coordinate, Type::S32));
        let slots = slots.collect::<Result<Vec<_>, _>>()?;
        let run: Handler = if loads { tma::load } else { tma::store };
        let mut build = Build::new(run).a(map.slot).b(tile.slot).x(rank);
        if loads {
            build = build.e(last.slot);
        }
        for slot in &slots {
            build = build.reads(*slot);
        }
        let pool = self.pool(&slots);
        self.push(build.with(|i| i.c = pool));
        Ok(())
    }

    /// `cp.async.ca.shared.global [to], [from], bytes, from_bytes;`
    fn copy(&mut self, i: &Instruction<'a>, m: &mut Modifiers<'_>) -> Result<(), Problem> {
        m.ignore(&["ca", "cg", "shared", "shared::cta", "global"]);
        m.ignore_prefixed(&["L2::"]);
        m.finish()?;
        let to = self.location(self.operand(i, 0)?, Some(Space::Shared))?;
        let from = self.location(self.operand(i, 1)?, Some(Space::Global))?;
        let bytes = match self.operand(i, 2)? {
            Operand::Integer(bytes @ (4 | 8 | 16)) => *bytes as u32,
            _ => return Problem::error("cp.async copies 4, 8 or 16 bytes"),
        };
        let limit = match i.operands.get(3) {
            Some(operand) => self.read(operand, Type::U32)?,
            None => self.constant(u64::from(bytes)),
        };
        let (to_offset, from_offset) = (self.constant(to.offset as i64 as u64), from.offset);
        let from_offset = self.constant(from_offset as i64 as u64);
        let build = Build::new(async_copy::copy).a(to.slot).b(from.slot).c(limit).x(bytes);
        self.push(build.e(to_offset).with(|i| i.d = from_offset));
        Ok(())
    }

    fn memory_barrier(
        &mut self,
        i: &Instruction<'a>,
        m: &mut Modifiers<'_>,
    ) -> Result<(), Problem> {
        m.ignore(&["release", "acquire", "relaxed", "cta", "cluster", "noComplete"]);
        let (run, place): (Handler, usize) = if m.take("init") {
            (mbarrier::initialise, 0)
        } else if m.take("inval") {
            (mbarrier::invalidate, 0)
        } else if m.take("arrive") {
            let expects = m.take("expect_tx");
            (if expects { mbarrier::arrive_expecting } else { mbarrier::arrive }, 1)
        } else if m.take("arrive_drop") {
            (mbarrier::arrive_and_drop, 1)
        } else if m.take("expect_tx") {
            (mbarrier::expect, 0)
        } else if m.take("test_wait") || m.take("try_wait") {
            return self.test(i, m);
        } else {
            return Err(Problem::Unsupported);
        };
        if m.take("expect_tx") {
            return Err(Problem::Unsupported);
        }
        self.arrival(i, m, place, run)
    }

    /// An operation on a memory barrier whose address is operand `place`, and a count after it.
    fn arrival(
        &mut self,
        i: &Instruction<'a>,
        m: &mut Modifiers<'_>,
        place: usize,
        run: Handler,
    ) -> Result<(), Problem> {
        let space = m.pick(space_named);
        m.ignore(&["b64"]);
        let location = self.location(self.operand(i, place)?, space)?;
        let count = match i.operands.get(place + 1) {
            Some(operand) => self.read(operand, Type::U32)?,
            None => self.constant(1),
        };
        let d = if place == 1 { self.write(&i.operands[0])? } else { self.scratch() };
        let (offset, generic) = (location.offset as u32, u32::from(space.is_none()));
        let build = Build::new(run).d(d).a(location.slot).b(count).x(generic);
        self.push(build.with(|i| i.e = offset));
        Ok(())
    }

    fn test(&mut self, i: &Instruction<'a>, m: &mut Modifiers<'_>) -> Result<(), Problem> {
        let parity = m.take("parity");
        let space = m.pick(space_named);
        m.ignore(&["b64"]);
        let location = self.location(self.operand(i, 1)?, space)?;
        let state = self.read(self.operand(i, 2)?, if parity { Type::U32 } else { Type::B64 })?;
        let d = self.write(&i.operands[0])?;
        let run: Handler = if parity { mbarrier::test_parity } else { mbarrier::test_state };
        let (offset, generic) = (location.offset as u32, u32::from(space.is_none()));
        let build = Build::new(run).d(d).a(location.slot).b(state).x(generic);
        self.push(build.with(|i| i.e = offset));
        Ok(())
    }
}

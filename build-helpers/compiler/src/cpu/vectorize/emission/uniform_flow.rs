//! Uniform control flow of a vector body: branches and loops that all threads of the mask take together stay as
//! they are.

use kernelmill_llvm::ir::{Block, Opcode, Type, Value};

use super::{super::layout::region_function::ENDED, code::Mask, emitter::Emitter};
use crate::ScalarReason;

impl<'c> Emitter<'_, 'c> {
    pub(in crate::cpu::vectorize) fn region(&mut self, mask: Mask<'c>) -> Result<(), ScalarReason> {
        let region = &self.values.plan.regions[self.values.region];
        let within: Vec<usize> =
            (0..self.values.plan.flow.blocks.len()).filter(|&block| region.blocks[block]).collect();
        self.uniform_blocks(&within, region.entry, mask, None)?;
        self.exits.panics.build_panics(&mut self.values)
    }

    /// Builds blocks that all threads of the mask pass together, save for the divergent regions among them.
    /// Control that leaves the blocks goes to `outside`.
    pub(in crate::cpu::vectorize) fn uniform_blocks(
        &mut self,
        within: &[usize],
        entry: usize,
        mask: Mask<'c>,
        outside: Option<Block<'c>>,
    ) -> Result<(), ScalarReason> {
        let mut member = vec![false; self.values.plan.flow.graph.len()];
        within.iter().for_each(|&block| member[block] = true);
        let divergent_regions = self.values.plan.divergent_regions(&member)?;
        let mut hidden = vec![false; member.len()];
        for divergent_region in &divergent_regions {
            if !member[divergent_region.exit] {
                return Err(ScalarReason::ReconvergenceOutsideLoop);
            }
            divergent_region
                .blocks
                .iter()
                .filter(|&&b| b != divergent_region.root)
                .for_each(|&b| hidden[b] = true);
        }
        let divergent_regions = divergent_regions
            .into_iter()
            .map(|divergent_region| (divergent_region.root, divergent_region))
            .collect();
        let outer = (
            std::mem::take(&mut self.blocks),
            std::mem::replace(&mut self.divergent_regions, divergent_regions),
        );
        let order = self.values.plan.flow.graph.reverse_post_order(entry);
        let order: Vec<_> =
            order.into_iter().filter(|&block| member[block] && !hidden[block]).collect();
        for &block in &order {
            let built = Block::append(self.values.code.unit.context, self.values.code.function, "");
            self.blocks.insert(block, built);
        }
        self.values.code.builder.branch(self.blocks[&entry]);
        for block in order {
            self.values.code.builder.at_end(self.blocks[&block]);
            if let Some(divergent_region) = self.divergent_regions.get(&block).cloned() {
                self.divergent_region(&divergent_region, mask)?;
                let exit = self.blocks[&divergent_region.exit];
                self.values.code.builder.branch(exit);
            } else {
                self.versions(block, mask)?;
                self.leave_uniform(block, mask, outside)?;
            }
        }
        (self.blocks, self.divergent_regions) = outer;
        Ok(())
    }

    /// Builds the end of a block whose threads stay together.
    pub(in crate::cpu::vectorize) fn leave_uniform(
        &mut self,
        block: usize,
        mask: Mask<'c>,
        outside: Option<Block<'c>>,
    ) -> Result<(), ScalarReason> {
        let word = Type::int(self.values.code.unit.context, 32);
        if let Some(next) = self.values.plan.barriers.get(&block) {
            self.values.code.builder.ret(Some(word.constant(*next as u64)));
            return Ok(());
        }
        let end = self.values.plan.flow.blocks[block]
            .terminator()
            .ok_or(ScalarReason::UnterminatedBlock)?;
        match end.opcode() {
            Opcode::Ret => {
                self.values.code.builder.ret(Some(word.constant(ENDED)));
            }
            Opcode::Unreachable => {
                self.values.code.builder.unreachable();
            }
            Opcode::Br => {
                let next = self.values.plan.flow.blocks[block].successors()[0];
                self.go(block, self.values.plan.flow.number(next), mask, outside)?;
            }
            Opcode::Switch => self.uniform_switch(block, end, mask, outside)?,
            _ => {
                let condition =
                    end.branch_condition().ok_or(ScalarReason::UnstructuredControlFlow)?;
                self.uniform_branch(block, condition, mask, outside)?;
            }
        }
        Ok(())
    }

    pub(in crate::cpu::vectorize) fn uniform_branch(
        &mut self,
        block: usize,
        condition: Value<'c>,
        mask: Mask<'c>,
        outside: Option<Block<'c>>,
    ) -> Result<(), ScalarReason> {
        let flow = &self.values.plan.flow;
        let condition = self.values.read(condition, block);
        let next: Vec<_> =
            flow.blocks[block].successors().iter().map(|next| flow.number(*next)).collect();
        if let Some(bad) = next.iter().position(|&next| flow.panics[next]) {
            let good = next[1 - bad];
            if flow.panics[good] {
                return Err(ScalarReason::PanicOnBothPaths);
            }
            self.exits.check(&mut self.values, block, condition, bad == 0, next[bad], mask);
            return self.go(block, good, mask, outside);
        }
        if next[0] == next[1] {
            return self.go(block, next[0], mask, outside);
        }
        let condition = condition.once();
        let (yes, no) = (self.values.code.edge_block(), self.values.code.edge_block());
        self.values.code.builder.branch_if(condition, yes, no);
        for (edge, next) in [(yes, next[0]), (no, next[1])] {
            self.values.code.builder.at_end(edge);
            // What is read on one edge is not at hand on the other.
            let cached = self.values.cached.clone();
            self.go(block, next, mask, outside)?;
            self.values.cached = cached;
        }
        Ok(())
    }

    pub(in crate::cpu::vectorize) fn uniform_switch(
        &mut self,
        block: usize,
        end: Value<'c>,
        mask: Mask<'c>,
        outside: Option<Block<'c>>,
    ) -> Result<(), ScalarReason> {
        let flow = &self.values.plan.flow;
        let value = self.values.read(end.operand(0), block).once();
        let targets = flow.blocks[block].successors();
        let edges: Vec<_> = targets.iter().map(|_| self.values.code.edge_block()).collect();
        let switch = self.values.code.builder.switch(value, edges[0], targets.len() as u32 - 1);
        for (value, edge) in end.switch_cases().into_iter().zip(&edges[1..]) {
            switch.add_case(value, *edge);
        }
        for (edge, target) in edges.into_iter().zip(targets) {
            self.values.code.builder.at_end(edge);
            let target = flow.number(target);
            let cached = self.values.cached.clone();
            if flow.panics[target] {
                self.exits.panics.panic_now(&mut self.values, block, target, mask);
            } else {
                self.go(block, target, mask, outside)?;
            }
            self.values.cached = cached;
        }
        Ok(())
    }

    /// Goes from one block to another with all threads of the mask.
    pub(in crate::cpu::vectorize) fn go(
        &mut self,
        from: usize,
        to: usize,
        mask: Mask<'c>,
        outside: Option<Block<'c>>,
    ) -> Result<(), ScalarReason> {
        if let Some(block) = self.blocks.get(&to).copied() {
            self.values.set_phis(from, to, None, None);
            self.values.code.builder.branch(block);
            return Ok(());
        }
        let outside = outside.ok_or(ScalarReason::EdgeOutOfRegion)?;
        self.values.set_phis(from, to, mask, None);
        self.arrive(to, mask);
        self.values.code.builder.branch(outside);
        Ok(())
    }

    /// Adds threads to those that come to a block of a divergent region.
    pub(in crate::cpu::vectorize) fn arrive(&mut self, to: usize, mask: Mask<'c>) {
        if let Some(slot) = self.masks.get(&to) {
            let old = self.values.code.builder.load(self.values.code.vectors.mask(), *slot);
            let new = mask.unwrap_or_else(|| self.values.code.vectors.every());
            let both = self.values.code.builder.binary(Opcode::Or, old, new);
            self.values.code.builder.store(both, *slot);
        }
    }
}

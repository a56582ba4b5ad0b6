//! Launch state of plugins: the kernels that have more parameters than their sources say.
//!
//! Which they are is known from compiled code, so the front ends run before the interface of the bindings is made, in
//! builds without binaries too. Builds without a plugin that asks for state do none of this.

use super::{
    compilation::{Compilation, Fronts, has_front},
    front_end::Front,
};
use crate::{
    base::{error::Error, jobs, report::Report},
    discovery::{device_functions, source::Source},
    plan::units::{Unit, UnitCompiler},
};
use kernelmill_artifact::{Parameter, Signature};
use kernelmill_compiler::diagnostic::Code;
use kernelmill_compiler::{
    Symbols,
    frontend::cuda::{CudaKernel, is_same_symbol},
};

impl Compilation<'_> {
    /// Finds the state of every kernel.
    ///
    /// # Errors
    ///
    /// [`Error::Sources`] with every kernel that has state and a target whose compiler runs no plugins.
    pub(crate) fn find_states(
        &self,
        sources: &mut [Source],
        units: &[Unit],
        fronts: &mut Fronts,
    ) -> Result<(), Error> {
        if !self.settings.plugins_ask_for_state {
            return Ok(());
        }
        let front_end = self.front_end()?;
        let is_missing = |index: &usize| {
            let source = &sources[*index];
            let is_read = self.is_skipped && !source.kind.is_read_by_compiler() && source.is_any();
            let is_wanted = has_front(units, *index) || is_read || source.is_for_others();
            fronts[*index].is_none() && is_wanted
        };
        let missing: Vec<_> = (0..sources.len()).filter(is_missing).collect();
        let made = jobs::run(&missing, |index| front_end.run(&sources[*index]));
        for (index, front) in missing.into_iter().zip(made) {
            if let (true, Err(error)) = (self.is_skipped, &front) {
                self.environment.cargo.warn(&format_args!(
                    "{}: its kernels have no launch state in this build without binaries: {error}",
                    sources[index].display
                ));
            }
            fronts[index] = Some(front);
        }
        let states: Vec<_> =
            (0..sources.len()).map(|index| self.states_of(sources, fronts, index)).collect();
        let mut report = Report::default();
        for (index, states) in states.into_iter().enumerate() {
            let states: Vec<_> = states?;
            self.check_compilers(&sources[index], (index, units), &states, &mut report);
            sources[index].states = states;
        }
        report.into_result(Error::Sources)
    }

    /// The kernels of a source with state, by their symbols.
    fn states_of(
        &self,
        sources: &[Source],
        fronts: &Fronts,
        index: usize,
    ) -> Result<Vec<(String, Vec<Parameter>)>, Error> {
        let compiler = self.front_end()?.compiler;
        let Some(Ok(front)) = &fronts[index] else { return Ok(Vec::new()) };
        let front_of = |front: &'_ Option<Result<Front, _>>| match front {
            Some(Ok(front)) => Some(front.symbols.clone()),
            _ => None,
        };
        let others: Vec<_> = fronts.iter().map(front_of).collect();
        let mut found = Vec::new();
        for kernel in sources[index].kernels() {
            let table = [kernel.clone()];
            let table = device_functions::table(sources, &table, &self.package.name);
            let table: Vec<_> = table.iter().map(|function| &*function.symbol).collect();
            let mut states = Vec::new();
            for front in front.all() {
                let mut all: Vec<_> = others.iter().map(Option::as_ref).collect();
                all[index] = Some(&front.symbols);
                let reached = Symbols::of_kernel(&all, index, symbol_in(front, kernel), &table);
                let new = compiler.states(&reached).into_iter();
                states.extend(new.filter(|it| !states.contains(it)).collect::<Vec<_>>());
            }
            if !states.is_empty() {
                found.push((kernel.symbol.to_string(), states));
            }
        }
        Ok(found)
    }

    /// Reports kernels with state that a compiler makes which runs no plugins.
    fn check_compilers(
        &self,
        source: &Source,
        (index, units): (usize, &[Unit]),
        states: &[(String, Vec<Parameter>)],
        report: &mut Report,
    ) {
        let is_foreign =
            |unit: &&Unit| unit.source == index && unit.compiler != UnitCompiler::LlvmPipeline;
        for unit in units.iter().filter(is_foreign) {
            let target = &unit.config.target;
            for kernel in source.kernels().iter().filter(|it| self.settings.wants(it, target)) {
                let of_kernel = states.iter().find(|(symbol, _)| *symbol == kernel.symbol);
                for state in of_kernel.iter().flat_map(|(_, states)| states) {
                    report.plain(
                        Code::LaunchState, format!(
                            "{}:{}: kernel `{}` asks for the launch state `{}`, and for the target {target} its compiler runs \
                             no plugin that provides it",
                            kernel.file,
                            kernel.line,
                            kernel.name,
                            state.state_name().unwrap_or_default(),
                        ),
                        match unit.compiler {
                            UnitCompiler::Nvcc => "write `cuda-compiler = \"clang\"` in the settings",
                            _ => "remove the target for this kernel: `kernels.NAME.targets`",
                        },
                    );
                }
            }
        }
    }
}

/// The symbol of a kernel in what came of its source.
fn symbol_in<'a>(front: &'a Front, kernel: &'a Signature) -> &'a str {
    let is_same = |it: &&CudaKernel| is_same_symbol(&kernel.symbol, &it.signature.symbol);
    let found = front.kernels.iter().find(is_same);
    found.map_or(&kernel.symbol, |found| &found.signature.symbol)
}

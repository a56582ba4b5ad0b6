//! Artifacts of all units of a build, and those that it exports to other packages.

use super::{
    binary::Binary,
    compilation::{Compilation, Fronts, has_front},
    compiler::Failure,
    dependencies::{Dependencies, Exported},
    diagnostics::{
        InvalidKernels, check_front, report_arguments, report_error, report_parameter_space,
    },
    front_end::FrontEnd,
    opencl, ptx,
    unit::{binary, children, known},
    wgsl,
};
use crate::{
    base::{error::Error, jobs, report::Report},
    discovery::{
        device_functions,
        source::{Source, SourceKind},
    },
    plan::units::{Unit, UnitCompiler},
};
use kernelmill_compiler::{
    Error as CompileError,
    frontend::{Architecture, cuda::is_same_symbol},
};
use std::{collections::BTreeSet, time::Instant};

impl Compilation<'_> {
    /// Makes every unit.
    pub(crate) fn make(
        &self,
        sources: &[Source],
        units: &[Unit],
        early: Vec<Option<Result<Binary, Failure>>>,
        (fronts, dependencies): (&mut Fronts, &Dependencies),
    ) -> Result<Vec<Binary>, Error> {
        let mut report = Report::default();
        let compiled = self.compile(sources, units, (fronts, dependencies), &mut report)?;
        let is_complete = fronts.iter().all(|front| !matches!(front, Some(Err(_))));
        let compiled = early.into_iter().zip(compiled).map(|(early, compiled)| early.or(compiled));
        let (mut made, mut invalid) = (Vec::new(), InvalidKernels::default());
        // ptxas says of a file the same for every target.
        let mut said_by_ptxas = BTreeSet::new();
        for (unit, result) in units.iter().zip(compiled) {
            let subject =
                || format!("{}, for {}", sources[unit.source].display, unit.config.target);
            match result {
                None => {}
                Some(Ok(binary)) => {
                    binary.inputs.iter().for_each(|it| self.package.watch(self.environment, it));
                    let name = match unit.compiler {
                        UnitCompiler::Nvcc => "nvcc",
                        UnitCompiler::Ptxas => "ptxas",
                        UnitCompiler::Naga => "naga",
                        UnitCompiler::LlvmPipeline | UnitCompiler::Clang => "kernelmill",
                    };
                    self.environment.cargo.warn_of(name, &binary.warnings);
                    made.push(binary);
                }
                Some(Err(error)) => {
                    let is_said = unit.compiler == UnitCompiler::Ptxas
                        && !said_by_ptxas.insert((unit.source, error.to_string()));
                    if is_said {
                        continue;
                    }
                    let error = if is_complete { Some(error) } else { without_missing(error) };
                    if let Some(error) = error.and_then(|error| invalid.add(unit.source, error)) {
                        let (source, with) = (&sources[unit.source], (self.package, self.settings));
                        if !report_parameter_space(&error, source, &mut report) {
                            report_error(&error, &subject(), &mut report);
                        }
                        report_arguments(&error, source, with, true, &mut report);
                    }
                }
            }
        }
        invalid.report(sources, &mut report);
        report.into_result(Error::Kernels)?;
        Ok(made)
    }

    /// What the front end finds in kernel files, of which nothing is made.
    pub(crate) fn check_files(
        &self,
        front_end: &FrontEnd<'_>,
        files: &[&Source],
    ) -> Result<(), Error> {
        let mut report = Report::default();
        for (source, front) in files.iter().zip(jobs::run(files, |source| front_end.run(source))) {
            let with = (self.package, self.settings);
            check_front(self.environment, with, source, &front, &mut report);
        }
        report.into_result(Error::Kernels)
    }

    /// What the sources have for kernels of other packages.
    pub(crate) fn exported(
        &self,
        sources: &[Source],
        fronts: &mut Fronts,
    ) -> Result<Exported, Error> {
        let front_end = self.front_end()?;
        let is_missing =
            |index: &usize| fronts[*index].is_none() && sources[*index].has_functions();
        let missing: Vec<_> = (0..sources.len()).filter(is_missing).collect();
        let made = jobs::run(&missing, |index| front_end.run(&sources[*index]));
        let mut report = Report::default();
        for (index, front) in missing.into_iter().zip(made) {
            check_front(
                self.environment,
                (self.package, self.settings),
                &sources[index],
                &front,
                &mut report,
            );
            fronts[index] = Some(front);
        }
        report.into_result(Error::Kernels)?;
        let fronts = fronts.iter().map(|front| front.as_ref()?.as_ref().ok());
        let own = sources.iter().zip(fronts);
        let own = own.filter_map(|(source, front)| Some((source, front?)));
        Exported::new(&front_end, self.package, own)
    }

    /// Makes every unit of kernelmill's compiler whose front end succeeds; the errors of the others are
    /// reported.
    fn compile(
        &self,
        sources: &[Source],
        units: &[Unit],
        (fronts, dependencies): (&mut Fronts, &Dependencies),
        report: &mut Report,
    ) -> Result<Vec<Option<Result<Binary, Failure>>>, Error> {
        let weight = |unit: &Unit| sources[unit.source].weight;
        let with = (self.environment, self.settings);
        let file = |unit: &Unit| {
            let overrides = &sources[unit.source].overrides;
            unit.override_index.and_then(|place| overrides.get(place))
        };
        // What nvcc makes without such a file is made already.
        let (cuda, settings) = (self.cuda.as_ref(), self.settings);
        let alone = |unit: &Unit| {
            let source = &sources[unit.source];
            match (unit.compiler, file(unit)) {
                (UnitCompiler::Naga, None) => Some(wgsl::binary(with, source, unit)),
                (UnitCompiler::Naga, Some(it)) => {
                    Some(wgsl::of_override(settings, source, it, unit))
                }
                (UnitCompiler::Nvcc, _) => {
                    if unit.variant.is_none() {
                        unit.overrides(source, settings).next()?;
                    }
                    let mut made = cuda?.binary(source.with_defines(unit.defines()), unit);
                    if let (Ok(binary), true) = (&mut made, unit.variant.is_some()) {
                        let has = |symbol: &str| {
                            unit.kernels(source, settings)
                                .any(|it| is_same_symbol(&it.symbol, symbol))
                        };
                        binary.artifact.kernels.retain(|kernel| has(&kernel.name));
                    }
                    Some(made)
                }
                _ => None,
            }
        };
        let told = |unit: &Unit, make: &dyn Fn(&Unit) -> Option<Result<Binary, Failure>>| {
            let start = Instant::now();
            let made = make(unit);
            if let Some(Ok(binary)) = &made {
                let (source, target) = (&sources[unit.source].display, &unit.config.target);
                self.environment.unit_done(source, target, (binary.is_cached, start));
            }
            made
        };
        let is_alone =
            |unit: &Unit| matches!(unit.compiler, UnitCompiler::Nvcc | UnitCompiler::Naga);
        if units.iter().all(is_alone) {
            // No compiler of this crate's is opened, and none need be there.
            return Ok(jobs::run_heaviest_first(units, weight, |unit| told(unit, &alone)));
        }
        let front_end = self.front_end()?;
        dependencies.check_version(&front_end.version)?;
        let is_missing = |index: &usize| {
            let source = &sources[*index];
            // Of a file that nvcc has read clang may know functions for others, where it is there.
            let is_readable = !source.kind.is_for_clang() || front_end.clang.is_some();
            let is_wanted = has_front(units, *index) || source.is_for_others() && is_readable;
            fronts[*index].is_none() && is_wanted
        };
        let missing: Vec<_> = (0..sources.len()).filter(is_missing).collect();
        let made = jobs::run(&missing, |index| front_end.run(&sources[*index]));
        for (index, front) in missing.into_iter().zip(made) {
            fronts[index] = Some(front);
        }
        let fronts = &*fronts;
        let make = |unit: &Unit| match unit.compiler {
            UnitCompiler::Nvcc | UnitCompiler::Naga => alone(unit),
            UnitCompiler::Ptxas => Some(ptx::binary(&front_end, &sources[unit.source], unit)),
            UnitCompiler::Clang => {
                let front = fronts[unit.source].as_ref()?.as_ref().ok()?;
                let source = &sources[unit.source];
                Some(match file(unit) {
                    Some(it) => opencl::of_override(&front_end, source, it, unit),
                    None => {
                        let front = front.with_defines(source, unit.defines());
                        let source = source.with_defines(unit.defines());
                        opencl::binary(&front_end, source, front, unit)
                    }
                })
            }
            UnitCompiler::LlvmPipeline => {
                let front = fronts[unit.source].as_ref()?.as_ref().ok()?;
                let target = &unit.config.target;
                let source = &sources[unit.source];
                let has_failed = |giver: &usize| matches!(fronts[*giver], Some(Err(_)));
                if device_functions::givers(sources, source.kernels()).iter().any(has_failed) {
                    // What is wrong with that source is reported, and nothing is with this one.
                    return None;
                }
                let table = device_functions::table(sources, source.kernels(), &self.package.name);
                let front = front.with_defines(source, unit.defines()).of(target);
                let children =
                    children(sources, fronts, (unit.source, Some(front), &table), target);
                let known = || known(sources, fronts, target);
                let others = (&*children, &*table, &known as &dyn Fn() -> _);
                let source = source.with_defines(unit.defines());
                Some(binary(&front_end, source, (front, others), unit))
            }
        };
        let made = match self.lacking.is_some() {
            true => units.iter().map(|_| None).collect(),
            false => jobs::run_heaviest_first(units, weight, |unit| told(unit, &make)),
        };
        for (front, source) in fronts.iter().zip(sources) {
            if let Some(front) = front {
                check_front(self.environment, (self.package, self.settings), source, front, report);
            }
        }
        Ok(made)
    }
}

/// An error without functions that no source has: one whose front end has failed, and was reported, may have
/// them. `None` where there is nothing else.
fn without_missing(mut error: Failure) -> Option<Failure> {
    if let CompileError::Deferred(faults) = &mut *error {
        faults.retain(|fault| !fault.is_missing);
        return (!faults.is_empty()).then_some(error);
    }
    Some(error)
}

/// The architectures that sources in CUDA C++ and HIP are compiled for by kernelmill's compiler.
pub(crate) fn architectures(sources: &[Source], units: &[Unit]) -> Vec<Architecture> {
    let by_clang = |unit: &&Unit| {
        let kind = sources[unit.source].kind;
        unit.compiler == UnitCompiler::LlvmPipeline
            && matches!(kind, SourceKind::Cuda | SourceKind::Hip)
    };
    let arch = |unit: &Unit| Architecture::of(&unit.config.target);
    let all: BTreeSet<_> = units.iter().filter(by_clang).filter_map(arch).collect();
    all.into_iter().collect()
}

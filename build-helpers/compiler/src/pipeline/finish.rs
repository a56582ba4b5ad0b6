//! The end of the pipeline: checks, and the goal that was asked for.

use kernelmill_artifact::{ArtifactKind, LaunchLimits, Resources};
use kernelmill_llvm::ir::{ModuleExt, Type, Value, Visibility};

use super::{overrides, session::Session};
use crate::{
    Error,
    artifact::{Artifact, CompiledKernel},
    base::names::{PANIC_RECORD_PARAMETER, PRINTS},
    ir::{Frames, variables},
    passes::{
        check::ValidModule,
        entry::{self, Entry},
        relocations,
    },
    strategy::ScalarReason,
    target::Emitted,
};

/// Tells the host by a variable that kernels print, where the target's binaries say it in no other way.
pub(super) fn mark_printing(session: &mut Session<'_, '_>) -> Result<(), Error> {
    let Session { context, module, backend, .. } = *session;
    let prints = |it: Value<'_>| it.text_attribute(PRINTS).is_some();
    if backend.marks_printing() && module.definitions().into_iter().any(prints) {
        let space = backend.address_spaces().map_or(0, |spaces| spaces.global);
        let word = Type::int(context, 32);
        let mark = module.new_global(kernelmill_artifact::PRINTS, word, space);
        mark.set_initializer(word.constant(1));
        mark.set_alignment(4);
        mark.set_visibility(Visibility::Protected);
    }
    Ok(())
}

/// Gives the variables of the host names in the program that they are linked into.
pub(super) fn name_variables(session: &mut Session<'_, '_>) -> Result<(), Error> {
    if !session.backend.is_gpu() {
        session.variables = variables::finish(session.module, session.job.source.unit);
    }
    Ok(())
}

/// Guarantees that tools show the functions of kernels on the CPU as the kernel's path.
pub(super) fn name_functions(session: &mut Session<'_, '_>) -> Result<(), Error> {
    let Session { module, ref job, ref shown_names, .. } = *session;
    entry::name_functions(module, (job.source.unit, job.source.signatures), shown_names);
    Ok(())
}

/// Guarantees a module that the target can take: code is emitted from no other.
pub(super) fn validate(session: &mut Session<'_, '_>) -> Result<(), Error> {
    let Session { context, module, ref job, .. } = *session;
    if let Some(checks) = session.checks.take() {
        session.valid = Some(checks.output(context, module, job.file())?);
    }
    Ok(())
}

/// Takes debug information out of a module that has been checked.
pub(super) fn strip(session: &mut Session<'_, '_>) -> Result<(), Error> {
    session.module.strip_debug_info();
    Ok(())
}

/// Makes declarations of everything but the entries.
pub(super) fn drop_callees(session: &mut Session<'_, '_>) -> Result<(), Error> {
    entry::drop_bodies(session.module, &session.entries);
    Ok(())
}

/// The artifact of a session that has come to its end.
pub(super) fn artifact(session: Session<'_, '_>) -> Result<Artifact, Error> {
    let Emitted { kind, bytes, warnings, mut resources } =
        session.backend.emit(session.tools.toolchain, valid(&session)?, &|ptx| {
            overrides::edit_ptx(&session, ptx, None)
        })?;
    session.warnings.borrow_mut().extend(warnings);
    let relocations = relocations::of(session.module, session.backend.machine());
    let notes = session.site.notes.take();
    let notes_of = |symbol: &str| {
        let of_kernel = notes.iter().filter(|(kernel, _)| kernel == symbol);
        of_kernel.map(|(_, text)| text.clone()).collect()
    };
    let has_record = || {
        let kernels = session.entries.iter().filter_map(|it| session.module.function(&it.symbol));
        { kernels }.any(|kernel| kernel.text_attribute(PANIC_RECORD_PARAMETER).is_some())
    };
    let panics = session.can_panic || session.backend.counts_arguments() && has_record();
    let signatures = session.job.source.signatures.iter();
    let kernels = signatures.zip(&session.entries).map(|(signature, entry)| {
        let said = resources.remove(&entry.symbol).unwrap_or_default();
        (signature, entry.clone(), said.or(of_entry(&session, entry, &signature.limits)))
    });
    let kernels: Vec<_> = kernels.collect();
    let kernels = kernels.into_iter().map(|(signature, entry, resources)| CompiledKernel {
        name: signature.symbol.to_string(),
        resources,
        entry: entry.symbol,
        static_shared_bytes: entry.static_shared_bytes,
        panics,
        cooperative: entry.cooperative,
        // What is in bitcode is no part of the program.
        cpu_symbol: entry.cpu_symbol.filter(|_| kind != ArtifactKind::Bitcode),
        strategy: entry.strategy,
        notes: notes_of(&signature.symbol),
    });
    Ok(Artifact {
        target: session.job.config.target.clone(),
        kind,
        bytes,
        kernels: kernels.collect(),
        locations: session.locations,
        messages: session.messages,
        relocations,
        variables: session.variables,
        warnings: session.warnings.take(),
        passes: session.passes.take(),
    })
}

/// What a kernel takes, as far as it is known without the tools that make its binary.
fn of_entry(session: &Session<'_, '_>, entry: &Entry, limits: &LaunchLimits) -> Resources {
    let stack_bytes = entry.cpu_symbol.as_ref().and_then(|symbol| {
        let described = session.module.global(symbol)?.initializer()?.operands();
        let functions: Vec<_> = described.into_iter().filter(|it| it.is_function()).collect();
        Frames::bound(session.backend.machine(), &functions)
    });
    Resources {
        stack_bytes: stack_bytes.map(|bytes| u32::try_from(bytes).unwrap_or(u32::MAX)),
        static_shared_bytes: Some(entry.static_shared_bytes),
        max_threads: limits.most_threads(),
        ..Resources::UNKNOWN
    }
}

/// The assembly text of a session that has come to its end.
pub(super) fn assembly(session: Session<'_, '_>) -> Result<String, Error> {
    let text = session.backend.machine().assembly(valid(&session)?.module())?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// The proof that the module was checked.
fn valid<'s, 'a, 'c>(session: &'s Session<'a, 'c>) -> Result<&'s ValidModule<'a, 'c>, Error> {
    let missing = || Error::Internal("the module was not checked".to_owned());
    session.valid.as_ref().ok_or_else(missing)
}

/// Says in an artifact that its source was compiled again because the vectoriser failed on a kernel.
pub(super) fn note_failed_vectorization(
    artifact: &mut Artifact,
    file: &str,
    kernel: &str,
    message: &str,
) {
    let message = message.lines().next().unwrap_or_default();
    artifact.warnings.push(format!(
        "{file}: kernelmill could not vectorise kernel `{kernel}`, so all kernels of this file run \
         slower on the CPU; please report it, with this: {message}"
    ));
    for strategy in artifact.kernels.iter_mut().filter_map(|kernel| kernel.strategy.as_mut()) {
        let (kernel, message) = (kernel.to_owned(), message.to_owned());
        strategy.scalar = Some(ScalarReason::VectorizationFailed { kernel, message });
    }
}

#[cfg(test)]
mod tests {
    use kernelmill_artifact::Target;

    use super::*;
    use crate::{CoroutineReason, Lowering, ScalarReason, Strategy};

    fn kernel(name: &str, lowering: Lowering) -> CompiledKernel {
        let scalar = Some(ScalarReason::VectorizationOff);
        let (widths, block, interchanged_loops) = (Vec::new(), None, 0);
        CompiledKernel {
            name: name.to_owned(),
            entry: name.to_owned(),
            static_shared_bytes: 0,
            panics: true,
            cooperative: false,
            cpu_symbol: None,
            strategy: Some(Strategy {
                lowering,
                widths,
                along_y: false,
                narrow_along_y: false,
                narrow_width: 0,
                scalar,
                block,
                interchanged_loops,
                jammed_rows: 0,
            }),
            resources: Resources::UNKNOWN,
            notes: Vec::new(),
        }
    }

    #[test]
    fn a_failed_vectorization_is_a_warning_and_in_every_strategy() {
        let waits = Lowering::Coroutine(CoroutineReason::VectorizationOff);
        let kernels = vec![kernel("scale", Lowering::ThreadLoop), kernel("sum", waits)];
        let (bytes, locations, messages) = (Vec::new(), Vec::new(), Vec::new());
        let (target, kind, warnings) = (Target::Cpu, ArtifactKind::Object, Vec::new());
        let (passes, relocations, variables) = (Vec::new(), Vec::new(), Vec::new());
        let mut artifact = Artifact {
            target,
            kind,
            bytes,
            kernels,
            locations,
            messages,
            relocations,
            variables,
            warnings,
            passes,
        };
        note_failed_vectorization(&mut artifact, "kernels/a.rs", "sum", "bad\n  %1");
        assert_eq!(
            artifact.warnings,
            [
                "kernels/a.rs: kernelmill could not vectorise kernel `sum`, so all kernels of this file \
              run slower on the CPU; please report it, with this: bad"
            ]
        );
        let (kernel, message) = ("sum".to_owned(), "bad".to_owned());
        let failed = Some(ScalarReason::VectorizationFailed { kernel, message });
        let strategies = artifact.kernels.iter().filter_map(|kernel| kernel.strategy.as_ref());
        assert!(strategies.clone().all(|strategy| strategy.scalar == failed));
        assert_eq!(strategies.count(), 2);
    }
}

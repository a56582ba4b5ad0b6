//! Source lines of the functions of the CPU back end.
//!
//! Needs: all functions are built. Guarantees: LLVM's verifier accepts the debug information, or there is none.
//!
//! Bodies, regions, vectorised code and coroutines consist of instructions of other functions. A
//! debugger wants to know one place for each function, and LLVM that all lines in it are of that or
//! inlined into it: so each is given a name of its own, the kernel's, at the kernel's line.

use kernelmill_artifact::Signature;
use kernelmill_llvm::{
    inkwell::module::Module,
    ir::{Lines, ModuleExt},
};

use crate::passes::entry::Unit;

/// Gives every function of a module with source lines such of its own.
pub(super) fn settle(unit: &Unit<'_, '_>) {
    let Some(first) = unit.signatures.first() else { return };
    let lines = Lines::new(unit.context, unit.module, &first.file);
    for function in unit.module.definitions() {
        function.drop_loop_locations(unit.context);
        if function.has_source_lines() {
            lines.complete(function);
            continue;
        }
        let symbol = function.name();
        let own = unit.signatures.iter().filter(|kernel| is_of(&symbol, unit.name, kernel));
        // `scale_2` is one of `scale`, unless there is a kernel of that name.
        let kernel = own.max_by_key(|kernel| kernel.symbol.len());
        let (name, line) = kernel.map_or((&*symbol, 0), |kernel| (kernel.name(), kernel.line));
        lines.own(function, name, line);
    }
}

/// Takes the source lines out of a module if LLVM refuses it with them: better a kernel without lines
/// than none. What is said of it then is for the user, in one line.
pub(super) fn drop_refused(module: &Module<'_>, file: &str) -> Option<String> {
    let refused = module.verify().err()?.to_string();
    module.strip_debug_info();
    module.verify().ok()?;
    let said: Vec<_> = refused.lines().map(str::trim).take(LINES_OF_A_FAULT).collect();
    Some(format!(
        "{file}: on the CPU the kernels have no source lines, because LLVM rejected the debug information that \
         kernelmill wrote; the results of the kernels are not affected; this is a fault of kernelmill: please \
         report it with this text: {}",
        said.join(" | ")
    ))
}

/// What LLVM prints of one fault: what is wrong, and the instruction, function and line it is about.
const LINES_OF_A_FAULT: usize = 4;

/// Whether a function is one of those of a kernel, by its symbol: `kernelmill_cpu_UNIT_KERNEL_run8`,
/// `KERNEL.body.region0x8`.
fn is_of(symbol: &str, unit: &str, kernel: &Signature) -> bool {
    let own = symbol.strip_prefix(&format!("kernelmill_cpu_{unit}_")).unwrap_or(symbol);
    let rest = own.strip_prefix(&*kernel.symbol);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['_', '.']))
}

#[cfg(test)]
mod tests {
    use kernelmill_llvm::{
        inkwell::context::Context,
        ir::{Builder, parse_ir},
        machine::Machine,
    };

    use super::*;
    use crate::base::loaded::open_llvm;

    const TRIPLE: &str = "x86_64-unknown-linux-gnu";

    /// Two functions with a line each.
    const LINES: &str = "
@x = global i32 0
define void @f() !dbg !5 {
  store i32 1, ptr @x, align 4, !dbg !DILocation(line: 3, column: 5, scope: !5)
  ret void
}
define void @g() !dbg !8 {
  store i32 2, ptr @x, align 4, !dbg !DILocation(line: 9, column: 5, scope: !8)
  ret void
}
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C, file: !1, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: \"kernels/scale.rs\", directory: \"\")
!2 = !{i32 2, !\"Debug Info Version\", i32 3}
!4 = !DISubroutineType(types: !{null})
!5 = distinct !DISubprogram(name: \"f\", file: !1, line: 1, type: !4, spFlags: DISPFlagDefinition, unit: !0)
!8 = distinct !DISubprogram(name: \"g\", file: !1, line: 7, type: !4, spFlags: DISPFlagDefinition, unit: !0)
";

    /// What is said of these lines, and whether they are there afterwards. Where they are broken, an
    /// instruction of `f` has a line of `g`, which is not inlined there.
    fn said(is_broken: bool) -> (Option<String>, bool) {
        open_llvm();
        let context = Context::create();
        let machine = Machine::new(TRIPLE, "x86-64", "", true).unwrap();
        let module = parse_ir(&context, LINES, machine.data_layout(), TRIPLE).unwrap();
        if is_broken {
            let [f, g] = ["f", "g"].map(|name| module.function(name).unwrap().instructions()[0]);
            let builder = Builder::new(&context);
            builder.before(f);
            builder.take_line(g);
            builder.store(g.operand(0), g.operand(1));
        }
        let said = drop_refused(&module, "kernels/scale.rs");
        assert!(module.verify().is_ok());
        (said, module.definitions().iter().any(|it| it.has_source_lines()))
    }

    #[test]
    fn lines_that_llvm_refuses_are_dropped_and_the_user_is_told() {
        assert_eq!(said(false), (None, true));
        let (said, has_lines) = said(true);
        let said = said.unwrap();
        let expected = "kernels/scale.rs: on the CPU the kernels have no source lines, because LLVM rejected the \
                        debug information that kernelmill wrote; the results of the kernels are not affected; \
                        this is a fault of kernelmill: please report it with this text: !dbg attachment points at \
                        wrong subprogram for function";
        assert!(said.starts_with(expected) && said.contains("ptr @f") && !has_lines, "{said}");
        assert_eq!(said.lines().count(), 1, "it is a warning of one line: {said}");
    }
}

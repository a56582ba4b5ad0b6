use kernelmill_compiler::plugin::{Plugin, Stage, Task, ir::ModuleExt};

/// Gives kernels a clock, as `__kernelmill_cycles`.
#[derive(Debug)]
pub struct Cycles;

#[rustfmt::skip]
impl Plugin for Cycles {
    fn name(&self) -> &str { "cycles" }
    fn version(&self) -> &str { "1" }
    fn marker(&self) -> &str { "__kernelmill_cycles" }
    fn stages(&self) -> &[Stage] { &[Stage::Finalize] }

    fn run(&self, task: &Task<'_, '_>) -> Result<bool, String> {
        let clock = task.module().intrinsic("llvm.readcyclecounter", &[]);
        for call in task.calls() {
            let cycles = task.before(call).call(clock, &[]);
            task.replace(call, cycles);
        }
        Ok(true)
    }
}

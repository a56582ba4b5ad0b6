use kernelmill_compiler::plugin::{Plugin, Stage, Task, ir::Type};

/// `__kernelmill_scale()` is the program's `scale`: a symbol on GPUs, a function of the program on the CPU.
#[derive(Debug)]
pub struct Scale;

#[rustfmt::skip]
impl Plugin for Scale {
    fn name(&self) -> &str { "scale" }
    fn version(&self) -> &str { "1" }
    fn marker(&self) -> &str { "__kernelmill_scale" }
    fn stages(&self) -> &[Stage] { &[Stage::Finalize] }

    fn run(&self, task: &Task<'_, '_>) -> Result<bool, String> {
        let float = Type::float(task.context());
        for call in task.calls() {
            let scale = match task.import("scale", float.function(&[])) {
                Some(function) => task.before(call).call(function, &[]),
                None => task.relocation(call, "scale", float).ok_or("the stage is too late")?,
            };
            task.replace(call, scale);
        }
        Ok(true)
    }
}

use kernelmill_compiler::plugin::{Plugin, Scalar, Stage, State, Task, ValueType};

/// Gives each launch a number that random numbers start from, as `__kernelmill_seed`.
#[derive(Debug)]
pub struct Seed;

#[rustfmt::skip]
impl Plugin for Seed {
    fn name(&self) -> &str { "seed" }
    fn version(&self) -> &str { "1" }
    fn marker(&self) -> &str { "__kernelmill_mixed_seed" }
    fn stages(&self) -> &[Stage] { &[Stage::FrontEnd] }

    fn state(&self) -> Option<State> {
        Some(State::value("seed", "__kernelmill_seed", ValueType::Scalar(Scalar::U64)))
    }

    /// `__kernelmill_mixed_seed(x)` is the seed times `x`.
    fn run(&self, task: &Task<'_, '_>) -> Result<bool, String> {
        for call in task.calls() {
            let seed = task.state(call).ok_or("the stage is too late for state")?;
            let mixed = task.before(call).multiply(seed, call.arguments()[0]);
            task.replace(call, mixed);
        }
        Ok(true)
    }
}

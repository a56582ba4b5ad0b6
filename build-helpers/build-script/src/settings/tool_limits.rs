//! What the tools of a build may take, as the environment says: rustc, cargo, clang, nvcc, ptxas, linkers.

use kernelmill_compiler::{ToolLimits, diagnostic::Code};

use crate::base::{
    environment::BuildEnvironment,
    error::Error,
    quantities::{bytes, seconds},
    report::Report,
};

const MEMORY: &str = "KERNELMILL_TOOL_MEMORY";
const TIME: &str = "KERNELMILL_TOOL_TIME";
const IDLE: &str = "KERNELMILL_TOOL_IDLE";
/// What times look like.
const TIMES: &str = "a time: write, for example, `90s`, `30min`, `2h` or `off`";

/// The limits of each process of a tool: [`ToolLimits::of_machine`], unless `KERNELMILL_TOOL_MEMORY`,
/// `KERNELMILL_TOOL_TIME` and `KERNELMILL_TOOL_IDLE` say otherwise.
///
/// # Errors
///
/// [`Error::Settings`] with every variable that says nothing sensible.
pub(super) fn read(environment: &BuildEnvironment) -> Result<ToolLimits, Error> {
    let default = ToolLimits::of_machine();
    let memory = limit(
        environment,
        MEMORY,
        default.memory,
        bytes,
        "a size: write, for example, `8GiB`, `500MB` or `off`",
    );
    let time = limit(environment, TIME, default.seconds, seconds, TIMES);
    let idle = limit(environment, IDLE, default.idle_seconds, seconds, TIMES);
    match (memory, time, idle) {
        (Ok(memory), Ok(seconds), Ok(idle_seconds)) => {
            Ok(ToolLimits { memory, seconds, idle_seconds })
        }
        (memory, time, idle) => {
            let mut report = Report::default();
            for error in [memory.err(), time.err(), idle.err()].into_iter().flatten() {
                report.message(Code::Variable, error);
            }
            Err(Error::Settings(report))
        }
    }
}

/// One limit: `off` is none.
fn limit(
    environment: &BuildEnvironment,
    name: &str,
    default: Option<u64>,
    read: impl Fn(&str) -> Option<u64>,
    expected: &str,
) -> Result<Option<u64>, String> {
    match environment.unwatched(name) {
        None => Ok(default),
        Some(text) if text == "off" => Ok(None),
        Some(text) => match read(&text) {
            Some(limit) => Ok(Some(limit)),
            None => {
                Err(format!("the environment variable {name} is `{text}`, which is not {expected}"))
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::{Project, Shared};

    #[test]
    fn limits_are_read_and_all_that_is_wrong_is_told() {
        let mut project = Project::new("", &[]);
        let read = |project: &Project| read(&project.environment(&Shared::default()));
        assert_eq!(read(&project).unwrap(), ToolLimits::of_machine());
        project.set(MEMORY, "8GiB");
        project.set(TIME, "30min");
        project.set(IDLE, "90s");
        let expected =
            ToolLimits { memory: Some(8 << 30), seconds: Some(1800), idle_seconds: Some(90) };
        assert_eq!(read(&project).unwrap(), expected);
        project.set(MEMORY, "off");
        project.set(TIME, "off");
        project.set(IDLE, "off");
        let none = ToolLimits { memory: None, seconds: None, idle_seconds: None };
        assert_eq!(read(&project).unwrap(), none);
        project.set(MEMORY, "much");
        project.set(TIME, "5");
        project.set(IDLE, "-1s");
        let error = read(&project).unwrap_err().to_string();
        assert!(error.starts_with("error[KM0008]: "), "{error}");
        assert!(error.contains("KERNELMILL_TOOL_MEMORY is `much`, which is not a size"), "{error}");
        assert!(error.contains("KERNELMILL_TOOL_TIME is `5`, which is not a time"), "{error}");
        assert!(error.contains("KERNELMILL_TOOL_IDLE is `-1s`, which is not a time"), "{error}");
    }
}

//! Arguments of OpenCL's compilers as clang takes them.

/// The arguments for clang. Those of debug information and of optimisation are the pipeline's. What is
/// written for OpenCL C 1.0 and 1.1 is read as 1.2, which has all of it.
pub(super) fn translate(arguments: &[String]) -> Vec<String> {
    let translated = arguments.iter().filter_map(|argument| match argument.as_str() {
        "-G" | "-g" | "-cl-opt-disable" | "-cl-kernel-arg-info" => None,
        "-cl-std=CL" | "-cl-std=CL1.0" | "-cl-std=CL1.1" => Some("-cl-std=CL1.2".to_owned()),
        _ => Some(argument.clone()),
    });
    translated.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_versions_are_read_as_the_next_and_levels_are_dropped() {
        let arguments = ["-cl-std=CL1.1", "-cl-opt-disable", "-DN=3", "-cl-mad-enable", "-g"];
        let arguments = arguments.map(str::to_owned);
        assert_eq!(translate(&arguments), ["-cl-std=CL1.2", "-DN=3", "-cl-mad-enable"]);
    }
}

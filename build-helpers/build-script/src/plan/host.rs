//! The host: the system that the application runs on, by its triple.

use crate::base::{error::Error, report::Report};
use kernelmill_compiler::diagnostic::Code;

/// The beginnings of triples that name no processor of a host: LLVM can make no object there that a program
/// could call, and ends the process when it tries.
const NO_HOSTS: [&str; 7] = ["wasm", "nvptx", "amdgcn", "spirv", "bpf", "avr", "msp430"];

/// Refuses a host that kernels cannot be built for.
///
/// # Errors
///
/// [`Error::Sources`] with the triple and what to do.
pub(crate) fn check(triple: &str) -> Result<(), Error> {
    let mut report = Report::default();
    if NO_HOSTS.iter().any(|start| triple.starts_with(start)) {
        report.plain(
            Code::HostProcessor, format!("kernels cannot be built for an application that runs on `{triple}`"),
            "build it for a processor, for example x86_64 or aarch64, or set KERNELMILL_SKIP_BUILD=1 \
             for wrappers without binaries",
        );
    }
    report.into_result(Error::Sources)
}

#[cfg(test)]
mod tests {
    use crate::test_support::{Project, SAXPY};

    #[test]
    fn an_application_for_wasm_is_refused_by_name_and_its_wrappers_can_be_made() {
        let mut project = Project::new("", &[("kernels/saxpy.rs", SAXPY)]);
        for host in ["wasm32-unknown-unknown", "wasm32-wasip1", "nvptx64-nvidia-cuda"] {
            project.set("TARGET", host);
            let text = project.error();
            let expected = format!(
                "error[KM0064]: kernels cannot be built for an application that runs on `{host}`\n  help: "
            );
            assert!(text.starts_with(&expected), "{text}");
        }
        project.set("KERNELMILL_SKIP_BUILD", "1");
        assert_eq!(project.counts(), (0, 0));
        project.variables.remove("KERNELMILL_SKIP_BUILD");
        project.set("TARGET", "aarch64-unknown-linux-musl");
        assert_eq!(project.counts(), (2, 0));
    }
}

//! Applications for several hosts from one store.

use end_to_end::{Project, Run};
use std::{fs, path::PathBuf};
use test_support::tool::clang;

const FILL: &str = "extern \"C\" __global__ void fill(float *x, float value) { *x = value; }\n";

/// ELF's number of the processor that an object is for.
fn processor(project: &Project, run: &Run) -> u16 {
    let line = run
        .stdout
        .lines()
        .find(|line| line.contains("\"build-script-executed\"") && line.contains("two-hosts"));
    let (_, rest) = line.and_then(|line| line.split_once("\"out_dir\":\"")).expect("a folder");
    let out = rest.split('"').next().expect("a folder");
    let out = out.replace("[target]", &project.target().display().to_string());
    let object = fs::read(PathBuf::from(out).join("fill.cpu.o")).expect("an object");
    u16::from_le_bytes([object[18], object[19]])
}

/// clang's bitcode of CUDA C++ is the same for every host, and the object that is made of it is not.
#[test]
fn an_object_of_one_host_is_not_taken_for_another() {
    let Some(_) = clang() else { return };
    const X86_64: u16 = 62;
    const AARCH64: u16 = 183;
    let hosts = [("x86_64-unknown-linux-gnu", X86_64), ("aarch64-unknown-linux-musl", AARCH64)];
    let project = Project::new("two-hosts")
        .manifest("2024", "targets = [\"cpu\"]")
        .file("kernels/fill.cu", FILL)
        .file("src/lib.rs", "kernelmill::include_kernels!();\n");
    for round in 0..2 {
        for (host, expected) in hosts {
            if round > 0 {
                let _ = project.cargo(&["clean", "-p", "two-hosts", "--target", host]).succeeds();
            }
            let arguments = ["check", "--target", host, "--message-format=json"];
            let run = project.cargo(&arguments).succeeds();
            assert_eq!(processor(&project, &run), expected, "round {round}: {host}");
        }
    }
}

//! `KERNELMILL_TRACE`: a build and the program that it made, in one file.

use end_to_end::{Project, SAXPY};
use serde_json::Value;
use std::fs;

/// Launches on a device of each kind, and ends without an end.
const MAIN: &str = "mod kernels {
    kernelmill::include_kernels!();
}
use kernelmill::{Device, Launch};

fn main() -> kernelmill::Result<()> {
    for device in [Device::cpu()?, Device::cpu_async()?] {
        let kernels = kernels::Kernels::load(&device)?;
        let stream = device.stream();
        let x = device.upload(&[1.0f32; 1000])?;
        let mut y = device.upload(&[2.0f32; 1000])?;
        let launch = Launch::linear(1000);
        kernels.saxpy(&stream, launch, 3.0, &x, &mut y)?;
        let mut prepared = kernels.prepare().saxpy(launch, 1.0, &x, &mut y)?;
        let ((), took) = stream.time(|| prepared.launch(&stream))?;
        assert!(!took.is_zero(), \"the device has a clock\");
        drop(prepared);
        let mut z = device.zeros::<f32>(1000)?;
        z.copy_from_buffer(&stream, &y.slice(..))?;
        z.copy_from(&[7.0; 1000])?;
        let mut pinned = device.pinned_zeros::<f32>(1000)?;
        y.copy_to_async(&stream, &mut pinned)?;
        z.copy_from_async(&stream, &pinned)?;
        assert_eq!(z.download()?[999], 6.0);
    }
    std::process::abort()
}
";

/// The names of the events of a category, in their order.
fn names<'a>(events: &'a [Value], category: &str) -> Vec<&'a str> {
    let found = events.iter().filter(|event| event["cat"] == category);
    found.map(|event| event["name"].as_str().unwrap()).collect()
}

#[test]
fn a_build_and_its_program_are_traced_to_the_end() {
    let project = Project::new("traces").file("kernels/saxpy.rs", SAXPY).file("src/main.rs", MAIN);
    let path = project.package().join("trace.json");
    let project = project.environment("KERNELMILL_TRACE", &path.display().to_string());
    let run = project.cargo(&["run", "-q"]);
    assert!(!run.success, "it ends by `abort`");
    let is_wrong = run.stderr.contains("panicked") || run.stderr.contains("error");
    assert!(!is_wrong, "{}", run.stderr);
    let text = fs::read_to_string(&path).unwrap();
    let events: Vec<Value> = serde_json::from_str(&text).unwrap();
    let processes = events.iter().filter(|event| event["name"] == "process_name");
    let processes: Vec<_> =
        processes.map(|event| event["args"]["name"].as_str().unwrap()).collect();
    assert_eq!(processes, ["build of traces", "traces"]);
    assert_eq!(names(&events, "compile"), ["kernels/saxpy.rs"; 2]);
    assert_eq!(names(&events, "build").last(), Some(&"whole build"));
    assert_eq!(names(&events, "load"), ["kernels/saxpy.rs"; 2]);
    assert_eq!(names(&events, "launch"), ["saxpy"; 4]);
    let copies = [
        "upload",
        "upload",
        "copy_from_buffer",
        "copy_from",
        "copy_to_async",
        "copy_from_async",
        "download",
    ];
    assert_eq!(names(&events, "copy"), [copies, copies].concat());
    for event in events.iter().filter(|event| event["ph"] == "X") {
        let (start, took) = (event["ts"].as_f64().unwrap(), event["dur"].as_f64().unwrap());
        assert!(start > 1e15 && took >= 0.0 && event["tid"].as_u64().unwrap() > 0, "{event}");
    }
    // The asynchronous device has times of its own, and its streams have tracks.
    let tracks = events.iter().filter(|event| event["name"] == "thread_name");
    let [track] = tracks.collect::<Vec<_>>()[..] else { panic!("{text}") };
    let name = track["args"]["name"].as_str().unwrap();
    assert!(name.ends_with(", default stream"), "{name}");
    assert_eq!(names(&events, "device launch"), ["saxpy"; 2]);
    assert_eq!(names(&events, "device copy"), copies);
    for category in ["launch", "copy"] {
        let of = |category: &str| -> Vec<&Value> {
            events.iter().filter(|event| event["cat"] == *category).collect()
        };
        let on_device = of(&format!("device {category}"));
        let hosts = of(category).into_iter().skip(on_device.len());
        for (host, device) in hosts.zip(&on_device) {
            assert_eq!((&device["tid"], &device["args"]), (&track["tid"], &host["args"]));
            let begun = device["ts"].as_f64().unwrap();
            assert!(begun >= host["ts"].as_f64().unwrap(), "{host} {device}");
        }
    }
    let launch = events.iter().find(|event| event["cat"] == "launch").unwrap();
    let arguments = &launch["args"];
    let expected = ["cpu", "[4, 1, 1]", "[256, 1, 1]"].map(Value::from);
    assert_eq!(["target", "grid", "block"].map(|key| arguments[key].clone()), expected);
    let copy = events.iter().find(|event| event["cat"] == "copy").unwrap();
    assert_eq!(copy["args"]["bytes"], "4000");
}

//! What kernels print, as SPIR-V on pocl: lines come to the standard output when the host waits, whole and in the order of each
//! thread's.

use kernelmill::{Device, Launch, Stream};
use opencl_backend::{Child, Kernels, run_child};
use test_support::tool;

/// What a process printed between two marks.
fn between<'a>(text: &'a str, start: &str, end: &str) -> Vec<&'a str> {
    let behind = text.split_once(&format!("{start}\n")).unwrap_or_else(|| panic!("{text}")).1;
    behind.split_once(&format!("{end}\n")).unwrap_or_else(|| panic!("{text}")).0.lines().collect()
}

/// Runs `body` on pocl behind the layer that translates SPIR-V; `None` where one of them is not there.
fn on_pocl(name: &str, body: impl FnOnce(&Device, &Kernels, &Stream)) -> Option<Child> {
    let translator = tool::llvm_spirv()?;
    let translator = translator.to_str().expect("text");
    let variables = [("OPENCL_LAYER_SPIRV", translator), ("OPENCL_LAYER_LEAK_CHECK", "1")];
    let child = run_child(name, &variables, || {
        let device = Device::opencl(0).unwrap();
        let kernels = Kernels::load(&device).unwrap();
        body(&device, &kernels, &device.stream());
        println!("end");
        drop((kernels, device));
        kernelmill::module_cache().release_unused();
    })?;
    child.expect_success();
    Some(child)
}

const NUMBERS: [f32; 3] = [0.1, -2.5, 1e-7];

#[test]
fn lines_of_rust_are_those_of_the_host() {
    let child = on_pocl("lines_of_rust_are_those_of_the_host", |device, kernels, stream| {
        let x = device.upload(&NUMBERS).unwrap();
        kernels.says(stream, Launch::grid([2], [2]), &x).unwrap();
        println!("launched");
        stream.synchronize().unwrap();
        println!("waited");
        device.synchronize().unwrap();
    });
    let Some(Child { stdout, .. }) = child else { return };
    let mut found = between(&stdout, "launched", "waited");
    let first: Vec<_> = found.iter().filter(|line| line.starts_with('0')).copied().collect();
    let mut expected = Vec::new();
    for (i, x) in NUMBERS.into_iter().enumerate() {
        expected.extend([
            format!(
                "{i} integers {} {:>5} {:#x} {:08b}",
                i as i32 - 2,
                i as i8,
                i as u16 * 77,
                5 + i
            ),
            format!("{i} floats {} {:.3} {:e}", x, f64::from(x) / 3.0, x * 1e10),
            // What has no number or text of its own is a line.
            format!("{i} others {} {:?} {} {:?} _", i == 1, 'ü', "text", "quoted"),
            format!("{{{i}}}"),
        ]);
    }
    assert_eq!(first, expected[..3]);
    found.sort_unstable();
    expected.sort();
    assert_eq!(found, expected);
    assert!(between(&stdout, "waited", "end").is_empty());
}

#[test]
fn printf_of_cuda_formats_as_in_c() {
    let child = on_pocl("printf_of_cuda_formats_as_in_c", |device, kernels, stream| {
        let x = device.upload(&NUMBERS).unwrap();
        println!("launched");
        // SAFETY: there is an element for each thread.
        unsafe { kernels.tells(stream, Launch::grid([1], [1]), &x).unwrap() };
        device.synchronize().unwrap();
    });
    let Some(Child { stdout, .. }) = child else { return };
    let expected = ["thread 0 of prints has 0.10, 1099511627776", "thread 0 told 43 bytes, even."];
    assert_eq!(between(&stdout, "launched", "end"), expected);
}

#[test]
fn the_last_lines_are_lost_where_the_buffer_is_full() {
    let child =
        on_pocl("the_last_lines_are_lost_where_the_buffer_is_full", |_, kernels, stream| {
            println!("first");
            kernels.fills(stream, Launch::grid([1], [1]), 5000).unwrap();
            stream.synchronize().unwrap();
            println!("second");
            kernels.fills(stream, Launch::grid([1], [1]), 3).unwrap();
            stream.synchronize().unwrap();
        });
    let Some(Child { stdout, stderr, .. }) = child else { return };
    let line = |index: &usize| format!("line {index}");
    // 8191 words, of which a line has two.
    assert_eq!(
        between(&stdout, "first", "second"),
        (0..4095).map(|it| line(&it)).collect::<Vec<_>>()
    );
    assert_eq!(between(&stdout, "second", "end"), ["line 0", "line 1", "line 2"]);
    let note = "kernelmill: 905 lines printed by kernels of kernels/printing.rs are lost: they did not fit into the \
                print buffer of 65536 bytes";
    assert_eq!(stderr.lines().filter(|line| *line == note).count(), 1, "{stderr}");
}

/// Each stream has a buffer of its own, and what is printed comes before the error of a launch.
#[test]
fn lines_come_with_the_wait_for_their_stream_and_before_its_panic() {
    let name = "lines_come_with_the_wait_for_their_stream_and_before_its_panic";
    let child = on_pocl(name, |device, kernels, stream| {
        let x = device.upload(&[1_u32, 7]).unwrap();
        let other = device.new_stream().unwrap();
        kernels.fills(&other, Launch::grid([1], [1]), 1).unwrap();
        kernels.fails(stream, Launch::grid([1], [2]), &x).unwrap();
        println!("launched");
        let error = stream.synchronize().unwrap_err().to_string();
        println!("reported: {}", error.lines().next().unwrap_or_default());
        other.synchronize().unwrap();
    });
    let Some(Child { stdout, .. }) = child else { return };
    let found = between(&stdout, "launched", "end");
    let place = found.iter().position(|line| line.starts_with("reported: ")).unwrap();
    let mut before = found[..place].to_vec();
    before.sort_unstable();
    assert_eq!(before, ["before 0", "before 1", "behind 0"]);
    assert!(found[place].ends_with("element 1 is 7"), "{found:?}");
    assert_eq!(found[place + 1..], ["line 0"]);
}

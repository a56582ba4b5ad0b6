//! What kernels print, on the fake HIP run time: lines come to the standard output when the host waits, whole and in the order
//! of each thread's, and nothing is left.

use hip_backend::{Child, Kernels, LEAKS, register_own, run_child};
use kernelmill::{Backend, Capability, Device, Launch, Stream, Support};

/// What a process printed between two marks.
fn between<'a>(text: &'a str, start: &str, end: &str) -> Vec<&'a str> {
    let behind = text.split_once(&format!("{start}\n")).unwrap_or_else(|| panic!("{text}")).1;
    behind.split_once(&format!("{end}\n")).unwrap_or_else(|| panic!("{text}")).0.lines().collect()
}

/// Runs `body` in a process of its own, whose work is done when something waits for it, and which leaks nothing.
fn on_hip(name: &str, body: impl FnOnce(&Device, &Kernels, &Stream)) -> Child {
    let variables = [("FAKE_HIP_STREAMS", "lazy"), ("FAKE_HIP_LEAK_CHECK", "1")];
    let child = run_child(name, &variables, || {
        register_own();
        let device = Device::hip(0).unwrap();
        let kernels = Kernels::load(&device).unwrap();
        body(&device, &kernels, &device.stream());
        println!("end");
        drop((kernels, device));
        kernelmill::module_cache().release_unused();
    });
    assert_ne!(child.code, Some(LEAKS), "{}", child.stderr);
    child.expect_success();
    child
}

const NUMBERS: [f32; 3] = [0.1, -2.5, 1e-7];

#[test]
fn lines_of_rust_are_those_of_the_host() {
    let child = on_hip("lines_of_rust_are_those_of_the_host", |device, kernels, stream| {
        assert_eq!(device.support(Capability::Printing), Support::Full);
        assert_eq!(device.backend(), Backend::Hip);
        let x = device.upload(&NUMBERS).unwrap();
        kernels.says(stream, Launch::grid([1], [4]), &x).unwrap();
        println!("launched");
        stream.synchronize().unwrap();
        println!("waited");
        device.synchronize().unwrap();
    });
    let mut found = between(&child.stdout, "launched", "waited");
    let first: Vec<_> = found.iter().filter(|line| line.starts_with('0')).copied().collect();
    let mut expected = Vec::new();
    for (i, x) in NUMBERS.into_iter().enumerate() {
        let (signed, bits) = (i as i32 - 2, 5 + i);
        expected.extend([
            format!("{i} integers {signed} {:>5} {:#x} {bits:08b}", i as i8, i as u16 * 77),
            format!("{i} floats {} {:.3} {:e}", x, f64::from(x) / 3.0, x * 1e10),
            format!("{i} others {} {:?} {} {:?} {:?}", i == 1, 'ü', "text", "quoted", Some(i)),
            format!("{{{i}}}"),
        ]);
    }
    assert_eq!(first, expected[..3]);
    found.sort_unstable();
    expected.sort();
    assert_eq!(found, expected);
    assert!(between(&child.stdout, "waited", "end").is_empty());
}

#[test]
fn printf_of_cuda_formats_as_in_c() {
    let child = on_hip("printf_of_cuda_formats_as_in_c", |device, kernels, stream| {
        let x = device.upload(&NUMBERS).unwrap();
        // SAFETY: there is an element for each thread.
        unsafe { kernels.tells(stream, Launch::grid([1], [1]), &x).unwrap() };
        println!("launched");
        device.synchronize().unwrap();
    });
    let expected = ["thread 0 of prints has 0.10, 1099511627776", "thread 0 told 43 bytes, even."];
    assert_eq!(between(&child.stdout, "launched", "end"), expected);
}

/// In the order of the launches, with a wait between them and without one.
#[test]
fn lines_of_a_stream_are_in_the_order_of_its_launches() {
    let name = "lines_of_a_stream_are_in_the_order_of_its_launches";
    let child = on_hip(name, |_, kernels, stream| {
        println!("start");
        for lines in [2, 1, 3] {
            kernels.fills(stream, Launch::grid([1], [1]), lines).unwrap();
        }
        stream.synchronize().unwrap();
        kernels.fills(stream, Launch::grid([1], [1]), 2).unwrap();
        stream.synchronize().unwrap();
    });
    let found = between(&child.stdout, "start", "end");
    let numbers: Vec<_> = found.iter().filter_map(|line| line.strip_prefix("line ")).collect();
    assert_eq!(numbers, ["0", "1", "0", "0", "1", "2", "0", "1"]);
}

#[test]
fn the_last_lines_are_lost_where_the_buffer_is_full() {
    let child = on_hip("the_last_lines_are_lost_where_the_buffer_is_full", |_, kernels, stream| {
        println!("first");
        kernels.fills(stream, Launch::grid([1], [1]), 5000).unwrap();
        stream.synchronize().unwrap();
        println!("second");
        kernels.fills(stream, Launch::grid([1], [1]), 3).unwrap();
        stream.synchronize().unwrap();
    });
    // 8191 words. The fake run time hands lines over as text: two words each up to `line 99`, then three.
    let fits = 100 + (8191 - 2 * 100) / 3;
    let line = |index: &usize| format!("line {index}");
    let first = between(&child.stdout, "first", "second");
    assert_eq!(first, (0..fits).map(|it| line(&it)).collect::<Vec<_>>());
    assert_eq!(between(&child.stdout, "second", "end"), ["line 0", "line 1", "line 2"]);
    let lost = 5000 - fits;
    let note = format!(
        "kernelmill: {lost} lines printed by kernels of ../opencl-backend/kernels/printing.rs are lost: they did not \
         fit into the print buffer of 65536 bytes"
    );
    assert_eq!(child.stderr.lines().filter(|line| *line == note).count(), 1, "{}", child.stderr);
}

/// Each stream has a buffer of its own, and what is printed comes before the error of a launch.
#[test]
fn lines_come_with_the_wait_for_their_stream_and_before_its_panic() {
    let name = "lines_come_with_the_wait_for_their_stream_and_before_its_panic";
    let child = on_hip(name, |device, kernels, stream| {
        let x = device.upload(&[1_u32, 7]).unwrap();
        let other = device.new_stream().unwrap();
        kernels.fills(&other, Launch::grid([1], [1]), 1).unwrap();
        kernels.fails(stream, Launch::grid([1], [2]), &x).unwrap();
        println!("launched");
        let error = stream.synchronize().unwrap_err().to_string();
        println!("reported: {}", error.lines().next().unwrap_or_default());
        other.synchronize().unwrap();
    });
    let found = between(&child.stdout, "launched", "end");
    let place = found.iter().position(|line| line.starts_with("reported: ")).unwrap();
    let mut before = found[..place].to_vec();
    before.sort_unstable();
    assert_eq!(before, ["before 0", "before 1", "behind 0"]);
    assert!(found[place].ends_with("element 1 is 7"), "{found:?}");
    assert_eq!(found[place + 1..], ["line 0"]);
}

/// The lines of each launch of a graph, and those of a stream that is dropped before anything waits.
#[test]
fn nothing_that_was_printed_is_lost() {
    let child = on_hip("nothing_that_was_printed_is_lost", |device, kernels, stream| {
        let builder = device.graph();
        kernels.fills(&builder, Launch::grid([1], [1]), 1).unwrap();
        let mut graph = builder.instantiate().unwrap();
        println!("graph");
        graph.launch(stream).unwrap();
        graph.launch(stream).unwrap();
        device.synchronize().unwrap();
        println!("dropped");
        let other = device.new_stream().unwrap();
        kernels.fills(&other, Launch::grid([1], [1]), 2).unwrap();
        drop(other);
        device.synchronize().unwrap();
    });
    assert_eq!(between(&child.stdout, "graph", "dropped"), ["line 0", "line 0"]);
    assert_eq!(between(&child.stdout, "dropped", "end"), ["line 0", "line 1"]);
}

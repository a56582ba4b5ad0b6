//! Warps that wait at different calls of `__syncthreads`, through clang.

use std::sync::OnceLock;

use cuda_cpp::{Launch, Source, Value, lower, source};

fn barriers() -> &'static Source {
    static SOURCE: OnceLock<Source> = OnceLock::new();
    SOURCE.get_or_init(|| lower(&source("barriers")).unwrap_or_else(|error| panic!("{error}")))
}

fn arguments(fillers: i32) -> [Value; 4] {
    let numbers: Vec<u32> = (0..300).map(|i| i * i % 17).collect();
    [Value::Words(vec![7; 300]), Value::Words(numbers), Value::of(fillers), Value::of(300_i32)]
}

#[test]
fn whole_warps_may_wait_at_different_barriers() {
    for (threads, fillers) in [(64, 32), (96, 64), (160, 96), (40, 0)] {
        let arguments = arguments(fillers);
        let numbers = arguments[1].words().to_vec();
        let count = threads - fillers as usize;
        let sum = |own: usize| numbers.iter().skip(own).step_by(count).sum::<u32>();
        let launch = Launch::linear(1, u32::try_from(threads).expect("a small number"));
        for after in barriers().run("teams", launch, &arguments) {
            let found = after[0].words();
            assert_eq!(found[0], numbers.iter().sum::<u32>(), "{threads} threads");
            (1..count).for_each(|own| assert_eq!(found[own], sum(own), "{own} of {threads}"));
            let filled = if fillers == 0 { 7 } else { u32::MAX };
            assert!(found[count..].iter().all(|it| *it == filled));
        }
    }
}

/// `bar.sync` is for all threads of a warp.
#[test]
fn threads_of_a_warp_may_not() {
    let launch = Launch::linear(1, 64);
    let error = barriers().run_on_cpu("teams", launch, &arguments(40)).unwrap_err().to_string();
    let message = "deadlock in a block: its threads wait at 2 different barriers: 40 and 24 threads, 0 have exited";
    assert!(error.contains(message), "{error}");
}

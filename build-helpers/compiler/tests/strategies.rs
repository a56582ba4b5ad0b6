//! The lowering strategies of kernels on the CPU, and what their code consists of.

mod common;

use common::{code, compile, compiler, job, lower};
use kernelmill_compiler::{
    Config, CoroutineReason, Lowering, Pass, PassFact, PassOutcome, ScalarReason, Strategy,
};

/// The strategies of the kernels in a text, by name.
fn strategies(name: &str, text: &str) -> Vec<(String, Strategy)> {
    let text = format!("use kernelmill_device::prelude::*;\n{text}");
    let artifact = compile(name, &text, "cpu").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(artifact.warnings, [""; 0], "{name}");
    artifact.kernels.into_iter().map(|kernel| (kernel.name, kernel.strategy.unwrap())).collect()
}

fn strategy(name: &str, text: &str) -> Strategy {
    strategies(name, text).remove(0).1
}

/// The strategy of vectorised code.
fn vectorized(lowering: Lowering) -> Strategy {
    let (widths, scalar, block) = (WIDTHS.to_vec(), None, None);
    Strategy {
        lowering,
        widths,
        along_y: false,
        narrow_along_y: false,
        narrow_width: 0,
        scalar,
        block,
        interchanged_loops: 0,
        jammed_rows: 0,
    }
}

/// The strategy of a kernel whose barriers and warp collectives are uniform.
fn regions(barriers: u32, warp_collectives: u32) -> Strategy {
    vectorized(Lowering::BarrierRegions { barriers, warp_collectives, early_exits: 0, joins: 0 })
}

/// The same, where a branch is linearised.
fn regions_that_join(barriers: u32, warp_collectives: u32) -> Strategy {
    vectorized(Lowering::BarrierRegions { barriers, warp_collectives, early_exits: 0, joins: 1 })
}

/// The same, where threads exit early at one place.
fn regions_after_exit(barriers: u32, warp_collectives: u32) -> Strategy {
    vectorized(Lowering::BarrierRegions { barriers, warp_collectives, early_exits: 1, joins: 0 })
}

fn scalar(reason: ScalarReason) -> Strategy {
    Strategy { widths: Vec::new(), scalar: Some(reason), ..vectorized(Lowering::ThreadLoop) }
}

fn coroutine(reason: CoroutineReason) -> Strategy {
    Strategy { widths: Vec::new(), ..vectorized(Lowering::Coroutine(reason)) }
}

/// A kernel around some statements; `t` is the thread, `n` a parameter, `TILE` shared memory.
fn kernel(name: &str, statements: &str) -> String {
    format!(
        "#[kernel]\npub fn {name}(n: u32, mut y: DisjointSlice<u32>) {{\n    \
         static mut TILE: SharedArray<u32, 64> = SharedArray::UNINIT;\n    \
         let i = thread::index_1d();\n    let t = thread::thread_idx().x;\n    \
         unsafe {{ TILE[t as usize] = t; }}\n    {statements}\n    \
         if let Some(out) = y.get_mut(i) {{ *out += unsafe {{ TILE[63 - t as usize] }}; }}\n}}\n"
    )
}

const WIDTHS: &[u32] = if cfg!(target_arch = "x86_64") { &[8, 16] } else { &[4] };

#[test]
fn a_kernel_without_barriers_is_a_vectorised_thread_loop() {
    let found = strategy("strategy_loop", &kernel("plain", ""));
    assert_eq!(found, vectorized(Lowering::ThreadLoop));
}

/// Threads that leave a loop in different iterations stay vectors where what they do there is arithmetic, or where each
/// access waits for the one before.
#[test]
fn threads_one_by_one_are_better_where_irregular_loops_read_all_over_memory() {
    let text = |name: &str, statements: &str| {
        format!(
            "#[kernel]\npub fn {name}(first: &[u32], at: &[u32], x: &[u32], mut y: DisjointSlice<u32>) {{\n    \
             let i = thread::index_1d();\n    let own = i.get();\n    let mut sum = 0_u32;\n    {statements}\n    \
             if let Some(out) = y.get_mut(i) {{ *out = sum; }}\n}}\n"
        )
    };
    let sparse = "for k in first[own]..first[own + 1] { sum += x[at[k as usize] as usize]; }";
    let found = strategy("strategy_sparse", &text("sparse", sparse));
    assert_eq!(found, scalar(ScalarReason::IrregularLoop));
    let arithmetic = "let mut rest = first[own];
        while rest > 1 { rest = if rest % 2 == 0 { rest / 2 } else { rest * 3 + 1 }; sum += rest & 7; }";
    let found = strategy("strategy_arithmetic", &text("arithmetic", arithmetic));
    assert_eq!(found, vectorized(Lowering::ThreadLoop));
    let list = "sum = first[own]; while sum & 1 == 0 { sum = at[sum as usize]; }";
    let found = strategy("strategy_list", &text("list", list));
    assert_eq!(found, vectorized(Lowering::ThreadLoop));
    let fixed = "for k in 0..x.len() { sum += x[at[k] as usize]; }";
    let found = strategy("strategy_fixed", &text("fixed", fixed));
    assert_eq!(found, vectorized(Lowering::ThreadLoop));
}

#[test]
fn uniform_barriers_split_a_kernel_into_regions() {
    let once = kernel("once", "thread::sync_threads();");
    assert_eq!(strategy("strategy_once", &once), regions(1, 0));
    let looped = kernel(
        "looped",
        "for round in 0..n {\n thread::sync_threads();\n if t > round { unsafe { TILE[t as usize] += 1 } }\n\
         thread::sync_threads();\n }",
    );
    assert_eq!(strategy("strategy_looped", &looped), regions(2, 0));
    let rows = kernel("rows", "if n > 7 { thread::sync_threads(); }");
    assert_eq!(strategy("strategy_rows", &rows), regions(1, 0));
}

#[test]
fn barriers_that_depend_on_the_thread_make_coroutines() {
    for (name, statements, divergent) in [
        ("strategy_branch", "if t < n { thread::sync_threads(); }", 1),
        ("strategy_trips", "for _ in 0..t { thread::sync_threads(); }", 1),
        (
            "strategy_data",
            "if unsafe { TILE[(t as usize + 1) % 64] } > n { thread::sync_threads(); }",
            1,
        ),
        (
            "strategy_inside",
            "if t % 2 > 0 { if t >= n { return; }\n unsafe { TILE[t as usize] += n }; }",
            1,
        ),
        ("strategy_unlike", "if t == n { thread::sync_threads(); return; }", 2),
    ] {
        let all = kernel("apart", &format!("{statements}\n thread::sync_threads();"));
        let total = if name == "strategy_inside" { 1 } else { 2 };
        let reason = CoroutineReason::DivergentBarriers { divergent, total };
        assert_eq!(strategy(name, &all), coroutine(reason), "{statements}");
    }
}

/// Two barriers on two ways are two, also where nothing else is on these ways.
#[test]
fn barriers_on_two_ways_do_not_become_one() {
    let far = "#[inline(never)]\nfn wait() { thread::sync_threads() }\n";
    for (name, functions, wait) in [
        ("strategy_ways", "", "thread::sync_threads()"),
        ("strategy_far_ways", far, "wait()"),
        ("strategy_near_ways", "fn wait() { thread::sync_threads() }\n", "wait()"),
    ] {
        let statements = format!("if t % 2 == 0 {{ {wait} }} else {{ {wait} }}");
        let text = format!("{functions}{}", kernel("apart", &statements));
        let reason = CoroutineReason::DivergentBarriers { divergent: 2, total: 2 };
        assert_eq!(strategy(name, &text), coroutine(reason), "{name}");
    }
}

/// What only leads to a panic is part of no region.
#[test]
fn barriers_on_the_way_to_a_panic_make_coroutines() {
    for condition in ["t == n", "n > 7"] {
        let statements = format!("if {condition} {{ thread::sync_threads(); panic!() }}");
        let text = kernel("panics", &format!("{statements}\n thread::sync_threads();"));
        let reason = CoroutineReason::DivergentBarriers { divergent: 1, total: 2 };
        assert_eq!(strategy("strategy_panic", &text), coroutine(reason), "{condition}");
    }
}

/// What threads do that come to no barrier any more is done before a barrier of the others.
#[test]
fn threads_that_exit_early_are_left_out() {
    for (name, statements) in [
        ("strategy_exit", "if t >= n { return; }\n thread::sync_threads();"),
        ("strategy_last", "if t < n { thread::sync_threads(); }"),
        (
            "strategy_read",
            "if unsafe { TILE[(t as usize + 1) % 64] } > n { thread::sync_threads(); }",
        ),
        (
            "strategy_break",
            "loop { thread::sync_threads();\n if y.get_mut(i).is_none() { return; } }",
        ),
    ] {
        let found = strategy(name, &kernel("exits", statements));
        assert_eq!(found, regions_after_exit(1, 0), "{statements}");
    }
    let some = kernel("some", "thread::sync_threads();\n if t < n { thread::sync_threads(); }");
    assert_eq!(strategy("strategy_some", &some), regions_after_exit(2, 0));
    for (name, statements, collectives) in [
        ("warp_exit", "if t >= n { return; }\n let t = warp::shuffle(t, 1);\n warp::sync();", 2),
        ("warp_one", "let t = if t / 32 == 0 { warp::shuffle(t, 1) } else { t };", 1),
    ] {
        let found = strategy(name, &kernel("exits", statements));
        assert_eq!(found, regions_after_exit(0, collectives), "{statements}");
    }
}

/// The loop is one block, and what follows it is the way out.
#[test]
fn a_loop_of_barriers_that_threads_leave_at_different_times_is_one_of_exits() {
    let text = "#[kernel]\npub fn turns(s: &[u32], mut y: DisjointSlice<u32>) {\n    \
                let i = thread::index_1d();\n    let mut table = [0; 4096];\n    \
                for (at, place) in table.iter_mut().enumerate() { *place = s[at % s.len()]; }\n    \
                for _ in 0..i.get() % 3 { thread::sync_threads(); }\n    \
                let (mut sum, mut at) = (0_u32, i.get() % 7);\n    \
                while at < 4096 { sum = sum.wrapping_add(table[at]); at += 7; }\n    \
                if let Some(y) = y.get_mut(i) { *y = sum; }\n}\n";
    let (barriers, warp_collectives, early_exits) = (1, 0, 2);
    let exits = Lowering::BarrierRegions { barriers, warp_collectives, early_exits, joins: 0 };
    assert_eq!(strategy("strategy_turns", text), vectorized(exits));
}

/// A panic that formats its message calls functions that can panic themselves.
#[test]
fn panics_with_messages_leave_barriers_uniform() {
    let text = include_str!("../../../benches/cpu-bench/kernels/softmax.rs");
    let text = text.replace("(block_size = [256, 1, 1])", "");
    let artifact =
        compile("strategy_softmax", &text, "cpu").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(artifact.kernels[0].strategy, Some(regions(5, 0)));
}

#[test]
fn uniform_warp_collectives_split_a_kernel_into_regions() {
    let once = kernel("once", "let t = warp::shuffle_down(t, 1);");
    let found = strategy("strategy_warp", &once);
    assert_eq!(found, regions(0, 1));
    let statements = "let mut t = t;\n for by in 0..n { t ^= warp::shuffle_xor(t, by) & 63 }\n \
                      thread::sync_threads();\n if warp::any(t > n) { t = 0 }\n warp::sync();\n \
                      let t = t ^ warp::active_mask() % 2;";
    let found = strategy("strategy_warps", &kernel("several", statements));
    assert_eq!(found, regions(1, 4));
}

#[test]
fn warp_collectives_of_some_lanes_make_coroutines() {
    use CoroutineReason::PartialMask;
    for (name, statements) in [
        ("warp_mask", "let t = warp::shuffle_sync(n, t, 1);"),
        ("warp_half", "let t = warp::shuffle_sync(0xffff, t, 1);"),
    ] {
        let found = strategy(name, &kernel("some", statements));
        assert_eq!(found, coroutine(PartialMask), "{statements}");
    }
    // Threads that go another way are absent.
    let branch = "let t = if t / 32 == 0 { warp::shuffle(t, 1) } else { t };\n warp::sync();";
    assert_eq!(strategy("warp_branch", &kernel("some", branch)), regions_that_join(0, 2));
}

/// The mask of the active lanes, as HIP's shuffles and votes have it.
#[test]
fn uniform_warp_collectives_of_active_lanes_are_ones_of_all_lanes() {
    let statements = "let t = warp::shuffle_sync(warp::active_mask(), t, 1);\n \
                      let t = t ^ warp::ballot_sync(warp::active_mask(), t > n) & 1;";
    assert_eq!(strategy("strategy_active", &kernel("active", statements)), regions(0, 2));
    let apart = format!(
        "let t = if t % 2 == 0 {{ {statements} t }} else {{ t }};\n thread::sync_threads();"
    );
    assert_eq!(strategy("strategy_apart", &kernel("apart", &apart)), regions_that_join(1, 2));
    // Threads may have come together since, or have parted.
    let old = "let mask = warp::active_mask();\n thread::sync_threads();\n \
               let t = if n > 3 { warp::shuffle_sync(mask, t, 1) } else { t };";
    let found = strategy("strategy_old_mask", &kernel("old", old));
    assert_eq!(found, coroutine(CoroutineReason::PartialMask));
}

/// A thread that waits for another of its vector would wait for ever while both run in lockstep.
#[test]
fn a_loop_that_waits_for_memory_is_scalar() {
    let text = "
use core::sync::atomic::{AtomicU32, Ordering};
#[kernel]
pub fn turns(mut gate: DisjointSlice<u32>) {
    let gate = unsafe { AtomicU32::from_ptr(gate.get_unchecked_mut(0)) };
    while gate.load(Ordering::Acquire) < thread::thread_idx().x {}
    gate.fetch_add(1, Ordering::Release);
}
";
    let found = strategy("strategy_spin", text);
    assert_eq!(found, scalar(ScalarReason::AtomicsInDivergentLoop));
}

/// An atomic operation of which a loop never sees the result makes no thread wait.
#[test]
fn a_loop_that_only_counts_is_vectorised() {
    let text = |used: &str| {
        format!(
            "
use core::sync::atomic::{{AtomicU32, Ordering}};
#[kernel]
pub fn counts(x: &[u32], mut y: DisjointSlice<u32>) {{
    let mut i = thread::index_1d().get();
    let mut last = 0;
    while i < x.len() {{
        let count = unsafe {{ AtomicU32::from_ptr(y.get_unchecked_mut(x[i] as usize)) }};
        last = count.fetch_add(1, Ordering::Relaxed);
        i += 64 {used};
    }}
    let _ = last;
}}
"
        )
    };
    let found = strategy("strategy_counts", &text(""));
    assert_eq!(found, vectorized(Lowering::ThreadLoop));
    let found = strategy("strategy_waits", &text("+ last as usize"));
    assert_eq!(found, scalar(ScalarReason::AtomicsInDivergentLoop));
}

/// Sums by a tree, for blocks of which `limits` says the size.
fn tree(name: &str, limits: &str) -> String {
    format!(
        "#[kernel({limits})]
        pub fn {name}(x: &[u32], mut sums: DisjointSlice<u32>) {{
            static mut TILE: SharedArray<u32, 64> = SharedArray::UNINIT;
            let (block, t) = (thread::block_idx().x as usize, thread::thread_idx().x as usize);
            unsafe {{
                TILE[t % 64] = x[thread::index_1d().get()];
                thread::sync_threads();
                let mut half = 32;
                while half > 0 {{
                    if t < half {{ TILE[t] += TILE[t + half]; }}
                    thread::sync_threads();
                    half /= 2;
                }}
                if t == 0 {{ *sums.get_unchecked_mut(block) = TILE[0]; }}
            }}
        }}"
    )
}

#[test]
fn a_kernel_is_specialised_on_its_block_size() {
    let found = strategy("strategy_exact", &tree("exact", "block_size = [64, 1, 1]"));
    let expected = Strategy { block: Some([64, 1, 1]), ..regions(2, 0) };
    assert_eq!(found, expected);
    assert_eq!(strategy("strategy_bounds", &tree("bounds", "launch_bounds = 64")), expected);
    // Not all of its groups are full.
    let found = strategy("strategy_odd", &tree("odd", "launch_bounds = 60"));
    assert_eq!(found, regions(2, 0));
    let found = strategy("strategy_plain", &tree("plain", "max_registers = 64"));
    assert_eq!(found, regions(2, 0));
}

/// A kernel in which threads take elements a step apart: `before` is done once, `each` with `i`, the
/// element's place.
fn strided(name: &str, before: &str, step: &str, each: &str) -> String {
    format!(
        "#[kernel]\npub fn {name}(n: u32, x: &[u32], mut y: DisjointSlice<u32>) {{\n    \
         let step = thread::grid_dim().x * thread::block_dim().x;\n    \
         let mut i = thread::index_1d().get();\n    let mut sum = 0_u32;\n    {before}\n    \
         while i < x.len() {{\n        {each}\n        i += {step} as usize;\n    }}\n    \
         if let Some(out) = y.get_mut(thread::index_1d()) {{ *out = sum; }}\n}}\n"
    )
}

#[test]
fn grid_stride_loops_with_far_apart_iterations_are_interchanged() {
    let each = "sum = sum.rotate_left(1) ^ x[i];";
    for (name, before, step) in [
        ("stride_grid", "", "step"),
        ("stride_far", "", "4096"),
        ("stride_uniform", "if n > 5 { sum = 3; }", "step"),
        ("stride_twice", "let step = step * (1 + n % 4);", "step"),
    ] {
        let found = strategy(name, &strided(name, before, step, each));
        let expected = Strategy { interchanged_loops: 1, ..vectorized(Lowering::ThreadLoop) };
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn other_loops_are_not_interchanged() {
    let sum = "sum = sum.rotate_left(1) ^ x[i];";
    for (name, before, step, each) in [
        // Near each other, and each thread by itself.
        ("stride_near", "", "64", sum),
        ("stride_own", "let step = i % 7 * 4096 + 4096;", "step", sum),
        // Not all threads get there.
        ("stride_early", "if n > i as u32 { return; }", "step", sum),
        // Threads leave in other iterations.
        ("stride_break", "", "step", "sum ^= x[i];\n if sum == 7 { break; }"),
        // Nothing is read in a row.
        ("stride_row", "", "step", "sum ^= x[i / 512 % n as usize];"),
        // A thread could wait for another.
        (
            "stride_waits",
            "",
            "step",
            "use core::sync::atomic::{AtomicU32, Ordering};\n let place = (&raw const x[i]).cast_mut();\n\
             sum ^= unsafe { AtomicU32::from_ptr(place) }.fetch_add(1, Ordering::Relaxed);",
        ),
    ] {
        let found = strategy(name, &strided(name, before, step, each));
        assert_eq!(found.interchanged_loops, 0, "{name}: {found}");
    }
}

/// Nothing is left of the tree's iterations, masks and memory but additions of permuted vectors.
#[test]
#[cfg(target_arch = "x86_64")]
fn specialised_kernels_hold_shared_memory_in_registers() {
    let text =
        format!("use kernelmill_device::prelude::*;\n{}", tree("held", "block_size = [64, 1, 1]"));
    let (source, lowered) = lower("code_held", &text);
    let config = Config::new("cpu".parse().unwrap());
    let found = compiler().inspect(&job("code_held", &source, &lowered, &config)).unwrap();
    let sized: Vec<_> = found
        .split("\n}\n")
        .filter(|text| text.contains("_run16_specialized(") || text.contains("_run8_specialized("))
        .collect();
    let code: Vec<_> =
        sized.iter().filter_map(|text| text.split_once("_specialized(ptr ")).collect();
    assert_eq!(code.len(), 2, "{found}");
    for (_, code) in code {
        assert!(code.contains("shufflevector"), "{code}");
        for gone in ["alloca", "llvm.masked.", "load volatile", "switch"] {
            assert!(!code.contains(gone), "{gone}: {code}");
        }
    }
}

/// LLVM writes too many bytes for a masked store of one lane of truncated numbers.
#[test]
fn a_single_lane_that_is_known_is_written_by_itself() {
    let text = "use kernelmill_device::prelude::*;
        #[kernel(block_size = [64, 1, 1])]
        pub fn first(x: &[u32], mut y: DisjointSlice<u32>) {
            static mut TILE: SharedArray<u16, 64> = SharedArray::UNINIT;
            let (i, t) = (thread::index_1d(), thread::thread_idx().x as usize);
            let own = x[i.get()];
            unsafe { TILE[t] = 0 };
            thread::sync_threads();
            if t < 1 { unsafe { TILE[t] = own as u16 }; }
            thread::sync_threads();
            // So that it stays in memory.
            let other = unsafe { TILE[own as usize % 64] };
            if let Some(out) = y.get_mut(i) { *out = u32::from(other); }
        }";
    let (source, lowered) = lower("code_first", text);
    let config = Config::new("cpu".parse().unwrap());
    let found = compiler().inspect(&job("code_first", &source, &lowered, &config)).unwrap();
    let functions = found.split("\n}\n");
    let sized: String =
        functions.filter_map(|text| text.split_once("_specialized(ptr ")).map(|it| it.1).collect();
    assert!(sized.contains("store i16 "), "{found}");
    let masked = |line: &&str| line.contains("llvm.masked.store.v") && line.contains("i16.p0(");
    assert_eq!(sized.lines().find(masked), None);
}

/// Blocks of other sizes than the largest one have the function for any.
#[test]
fn other_sizes_than_the_largest_are_any() {
    let text =
        format!("use kernelmill_device::prelude::*;\n{}", tree("most", "launch_bounds = 64"));
    let (source, lowered) = lower("code_most", &text);
    let config = Config::new("cpu".parse().unwrap());
    let found = compiler().inspect(&job("code_most", &source, &lowered, &config)).unwrap();
    let calls = found
        .lines()
        .filter(|line| line.contains("call ") && line.contains("_specialized("))
        .count();
    assert_eq!(calls, if cfg!(target_arch = "x86_64") { 2 } else { 1 }, "{found}");
}

/// Whether lanes have addresses of their own.
fn apart(code: &str) -> bool {
    code.contains("@llvm.masked.gather.") || code.contains("@llvm.masked.scatter.")
}

#[test]
fn shared_memory_at_masked_indices_is_read_at_once() {
    let tile = |index: &str| {
        kernel(
            "masked",
            &format!("thread::sync_threads();\n unsafe {{ TILE[({index}) as usize % 64] += 1 }}"),
        )
        .replace("TILE[63 - t as usize]", "TILE[t as usize % 64]")
        .replace("TILE[t as usize] = t", "TILE[t as usize % 64] = t")
    };
    let [full, any] = code("code_masked", &tile("t % 32"));
    assert!(!apart(&full) && !apart(&any), "{full}{any}");
    // Groups of 8 and 16 threads: neighbours start again within a group.
    let [full, _] = code("code_narrow", &tile("t % 4"));
    assert!(apart(&full), "{full}");
    let [full, _] = code("code_backwards", &tile("t ^ 3"));
    assert!(apart(&full), "{full}");
    // What is only known when it runs is asked once, and other groups are handed over.
    let [full, any] = code("code_partner", &tile("t ^ n"));
    assert!(!apart(&full) && apart(&any), "{full}{any}");
    assert!(full.contains(".region1x"), "{full}");
}

#[test]
fn an_element_that_only_some_threads_have_is_written_at_once() {
    let text = "#[kernel(dim = 2, width = w)]
        pub fn rows(w: u32, mut y: DisjointSlice<u32, Index2D>) {
            if let Some(out) = y.get_mut(thread::index_2d()) { *out = 1 }
        }";
    let [full, any] = code("code_rows", text);
    assert!(!apart(&full) && !apart(&any), "{full}{any}");
}

#[test]
fn regions_rematerialise_what_depends_on_the_index_alone() {
    let statements = "let place = t as usize % 64;\n thread::sync_threads();\n \
                      unsafe { TILE[place] += 1 };\n thread::sync_threads();\n \
                      unsafe { TILE[place] += 1 };";
    let text = kernel("repeated", statements).replace("63 - t as usize", "t as usize % 64");
    let [full, _] = code("code_repeated", &text);
    assert!(full.contains(".region2x"), "{full}");
    // Parameter 18 is the memory of threads.
    assert!(!full.contains("getelementptr inbounds i8, ptr %18"), "{full}");
    let place = "unsafe { TILE[t as usize % 64] } as usize % 64;";
    let [full, _] =
        code("code_kept", &text.replace("t as usize % 64;\n thread", &format!("{place}\n thread")));
    assert!(full.contains("getelementptr inbounds i8, ptr %18"), "{full}");
}

/// An address of shared memory that is made of an element of a slice is computed again for each lane; one that
/// is made of shared memory, which lanes before may have changed, is taken from what all have read.
#[test]
fn elements_of_slices_are_read_again_and_those_of_tiles_are_not() {
    let adds = |place: &str| {
        let statements = format!(
            "use core::sync::atomic::{{AtomicU32, Ordering}};\n thread::sync_threads();\n \
             let place = {place} as usize % 64;\n \
             unsafe {{ AtomicU32::from_ptr(&raw mut TILE[place]).fetch_add(1, Ordering::Relaxed); }}\n \
             thread::sync_threads();"
        );
        kernel("adds", &statements).replace("n: u32,", "n: u32, x: &[u32],")
    };
    let spills = "load volatile ptr";
    let [full, _] = code("code_again", &adds("x[thread::index_1d().get()]"));
    assert!(!full.contains(spills), "{full}");
    let [full, _] = code("code_once", &adds("unsafe { TILE[t as usize % 64] }"));
    assert!(full.contains(spills), "{full}");
}

/// The atomic operation on shared memory is a load and a store for each lane; that on the slice stays.
#[test]
fn atomic_operations_on_shared_memory_are_plain_ones() {
    let text = "use core::sync::atomic::{AtomicU32, Ordering};
        #[kernel]
        pub fn counts(x: &[u32], mut y: DisjointSlice<u32>) {
            static mut TILE: SharedArray<u32, 64> = SharedArray::UNINIT;
            let i = thread::index_1d();
            let place = x[i.get()] as usize % 64;
            unsafe {
                AtomicU32::from_ptr(&raw mut TILE[place]).fetch_add(2, Ordering::Relaxed);
                AtomicU32::from_ptr(y.get_unchecked_mut(place)).fetch_sub(3, Ordering::Relaxed);
            }
        }";
    let [full, any] = code("code_atomics", text);
    for code in [full, any] {
        assert!(code.contains("atomicrmw sub") && !code.contains("atomicrmw add"), "{code}");
    }
}

/// The passes on each kernel stand in the order of the pipeline, with what they found.
#[test]
fn passes_report_what_they_changed() {
    let text = format!(
        "use kernelmill_device::prelude::*;\n{}{}",
        tree("summed", "block_size = [64, 1, 1]"),
        kernel("waits", "if t < n { thread::sync_threads(); }\n thread::sync_threads();")
    );
    let (source, lowered) = lower("passes", &text);
    let config = Config::new("cpu".parse().unwrap());
    let reports = compiler().compile(&job("passes", &source, &lowered, &config)).unwrap().passes;
    let of = |kernel: Option<&str>| -> Vec<_> {
        let own = reports.iter().filter(|report| report.kernel.as_deref() == kernel);
        own.map(|report| (report.pass, report.outcome)).collect()
    };
    use PassOutcome::{Changed, Skipped, Unchanged};
    let promoted =
        [(Pass::Promotion, if cfg!(target_arch = "x86_64") { Changed } else { Unchanged })];
    let summed = [
        (Pass::UndefinedSelects, Unchanged),
        (Pass::SignExtensions, Unchanged),
        (Pass::EarlyExits, Skipped),
        (Pass::Linearization, Skipped),
        (Pass::LoweringChoice, Unchanged),
        (Pass::ContextLowering, Changed),
        (Pass::PrivateCopies, Unchanged),
        (Pass::LoopInterchange, Unchanged),
        (Pass::Specialization, Changed),
        (Pass::RegionFormation, Changed),
        (Pass::Vectorization, Changed),
        (Pass::SingleIterations, Unchanged),
        (Pass::UsualRows, Unchanged),
        (Pass::UnrollAndJam, Unchanged),
        (Pass::AffineValues, Unchanged),
        (Pass::LongVectors, Unchanged),
        (Pass::JoinedBlocks, Unchanged),
    ];
    assert_eq!(of(Some("summed")), [&summed[..], &promoted].concat());
    let last = of(Some("waits")).pop();
    assert_eq!(last, Some((Pass::Promotion, Skipped)));
    assert!(of(Some("waits")).contains(&(Pass::EarlyExits, Unchanged)));
    assert!(of(Some("waits")).contains(&(Pass::Linearization, Unchanged)));
    assert!(of(Some("waits")).contains(&(Pass::CoroutineLowering, Changed)));
    assert!(of(None).contains(&(Pass::SharedMemory, Changed)));
    let block = reports.iter().find(|report| report.pass == Pass::Specialization).unwrap();
    assert_eq!(block.fact, Some(PassFact::Block { size: [64, 1, 1] }));
}

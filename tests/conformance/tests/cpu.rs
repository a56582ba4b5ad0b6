//! Every kernel of this package on the CPU, a test each.

use conformance::{Context, all, kernel_names};
use kernelmill::Device;
use kernelmill_build::manifest::{Lowering, Manifest, Strategy};
use std::{collections::BTreeMap, env, path::Path, process::Command};

fn run(name: &str) {
    let check = all().into_iter().find(|check| check.name == name).expect("a check of that name");
    let context = Context::new(Device::cpu().expect("a CPU")).expect("kernels for the CPU");
    if let Err(error) = check.run(&context) {
        panic!("{name}: {error}");
    }
}

macro_rules! checks {
    ($($name:ident),* $(,)?) => {
        $(
            #[test]
            #[allow(non_snake_case, reason = "an instance has the names of its types")]
            fn $name() {
                run(stringify!($name));
            }
        )*

        const NAMES: &[&str] = &[$(stringify!($name)),*];
    };
}

checks!(
    neighbour_sums,
    clamped_neighbours,
    fields_of_colors,
    fields_of_particles,
    exchanged,
    rows_along_x,
    quotients,
    crosses,
    generic,
    mapped_f32_cube_and_one,
    mapped_i32_MixedWithItself,
    closures,
    iterators,
    enums,
    trait_objects,
    function_pointers,
    wide_integers,
    wide_arithmetic,
    sort_rows,
    sort_long,
    math_f64,
    math_f32,
    conversions,
    recursion,
    twist_a,
    twist_b,
    disc_areas,
    own_arrays,
    two_exits,
    labelled_loops,
    divisors,
    colours,
    structs_by_value,
    structs_in_slices,
    enums_cross,
    scalars,
    scaled_f32,
    scaled_i64,
    scaled_u32,
    within_span,
    named_functions,
    apply_one,
    apply_table,
    apply_steps,
    apply_higher,
    apply_within_block,
    cycles,
    größe,
    reverse_blocks,
    reverse_array,
    sum_arrays,
    count_arrays,
    early_exit,
    divergent_loop,
    divergent_lanes,
    barrier_trap,
    dynamic_shared,
    barrier_in_function,
    transpose,
    neighbours,
    last_sums,
    loads_atomics,
    one_of_the_tile,
    small_tiles,
    small_rows,
    barriers_apart,
    strided_sums,
    strided_by_grids,
    strided_rows,
    strided_counts,
    masked_places,
    wrapped_places,
    own_atomics,
    own_tickets,
    histogram,
    atomic_operations,
    float_additions,
    warp_sums,
    warp_prefix_sums,
    warp_shuffles,
    warp_votes,
    warp_mixed,
    warp_mixed_apart,
    warp_mixed_rest,
    mma_f16,
    mma_bf16,
    mma_tf32,
    mma_i8,
    mma_f64,
    mma_shared,
    mma_dynamic,
    mma_panics,
    copies_ahead,
    copies_in_bulk,
    group_product,
    boxes_of_one,
    boxes_of_two,
    boxes_of_three,
    boxes_of_four,
    boxes_of_five,
    boxes_moved,
    boxes_of_five_written,
    index_3d,
    sum_of_each_block,
    grid_distances,
    grid_jacobi,
    grid_rounds,
    grid_panics,
    grid_leaves,
    error_function,
    exponential,
    through_half,
    rotate_points,
    roots,
    fused,
    carried,
    divided,
    encrypted,
    panic_bounds,
    panic_division,
    panic_unwrap,
    panic_message,
    panic_at_barrier,
    panic_range,
    recursive_index,
    index_through_pointer,
    panic_in_recursion,
    panic_in_recursion_at_barrier,
    panic_out_of_line,
    edge_row,
    edge_backwards,
    edge_after_count,
    edge_where_odd,
    edge_image,
    edge_places,
    edge_conditions,
    edge_wide_rows,
    exit_sums,
    exit_image,
    exit_inside,
    exit_votes,
    check_after_call,
    checks_after_call,
    check_after_barrier,
    check_in_branch,
    deep_frames,
);

#[test]
fn every_kernel_has_a_check_and_every_check_a_test() {
    let sorted = |mut names: Vec<&'static str>| {
        names.sort_unstable();
        names
    };
    let checks = sorted(all().iter().map(|check| check.name).collect());
    assert_eq!(checks, sorted(kernel_names()));
    assert_eq!(checks, sorted(NAMES.to_vec()));
}

/// Launches that are queued compute what those do that have run when they return, those whose blocks wait for each
/// other among them.
#[test]
fn every_kernel_on_the_asynchronous_device() {
    let context = Context::new(Device::cpu_async().expect("a CPU")).expect("kernels for the CPU");
    let wrong = |check: &conformance::Check| {
        let error = check.run(&context).err()?;
        Some(format!("{}: {error}", check.name))
    };
    let wrong: Vec<_> = all().iter().filter_map(wrong).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The lowering strategies of a source's kernels, by their symbols.
fn strategies(source: &str) -> BTreeMap<String, Strategy> {
    let manifest = Manifest::read(Path::new(env!("OUT_DIR"))).unwrap();
    let binaries = manifest.binaries.into_iter().filter(|binary| binary.source == source);
    let kernels = binaries.flat_map(|binary| binary.kernels);
    kernels.filter_map(|kernel| Some((kernel.symbol, kernel.strategy?))).collect()
}

/// Grid-stride loops are compared where they are interchanged.
#[test]
fn grid_stride_loops_are_interchanged() {
    let strategies = strategies("kernels/strides.rs");
    let loops: Vec<_> = strategies.values().map(|strategy| strategy.interchanged_loops).collect();
    assert_eq!(loops, [1, 3, 1, 1], "{strategies:?}");
}

/// What warp collectives give is compared with both lowering strategies that have them.
#[test]
fn warp_collectives_are_vectorised_where_they_may_be() {
    let strategies = strategies("kernels/warp.rs");
    let mixed = &strategies["warp_mixed"];
    assert_eq!(
        mixed.lowering,
        Lowering::BarrierRegions { barriers: 0, warp_collectives: 9, early_exits: 0, joins: 0 }
    );
    assert!(!mixed.widths.is_empty(), "{mixed}");
    let rest = &strategies["warp_mixed_rest"];
    assert_eq!(
        rest.lowering,
        Lowering::BarrierRegions { barriers: 0, warp_collectives: 9, early_exits: 1, joins: 0 }
    );
    let apart = &strategies["warp_mixed_apart"];
    assert!(matches!(apart.lowering, Lowering::Coroutine(_)), "{apart}");
}

#[test]
fn early_exits_make_no_coroutines() {
    let strategies = strategies("kernels/exits.rs");
    for (kernel, exits) in [("exit_sums", 1), ("exit_image", 2)] {
        let strategy = &strategies[kernel];
        assert!(
            matches!(strategy.lowering, Lowering::BarrierRegions { early_exits, .. } if early_exits == exits),
            "{kernel}: {strategy}"
        );
        assert!(!strategy.widths.is_empty(), "{kernel}: {strategy}");
    }
}

/// The same for what is compiled for older processors; one that this machine has not counts as its own.
/// Acceptance: S1.12.
#[test]
fn older_processors() {
    for processor in ["baseline", "avx2"] {
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["--skip", "older_processors"]).env("KERNELMILL_CPU", processor);
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && !text.contains(" 0 passed"), "{processor}: {text}");
    }
}

//! Kernels in Rust that are compiled at run time for the CPU: what they compute, what is chosen for them, the database, and
//! what is refused.

use std::{
    env, fs,
    sync::Barrier,
    thread,
    time::{Duration, Instant},
};

use cuda_backend::{clean_child, run_child, spawn_child};
use kernelmill::{
    ArtifactKind, Device, Error, Launch,
    jit::{Database, Origin, RustCompiler, programs_in_memory},
    module_cache,
};
use kernelmill_artifact::Bitcode;
use run_time_rust::kernels::Kernels;
use test_support::temporary_folder;

/// Says where the database of a child process lies.
const FOLDER: &str = "RUN_TIME_RUST_CPU_DATABASE";

fn compiled(compiler: &RustCompiler) -> Kernels {
    Kernels::compile(&Device::cpu().unwrap(), compiler).unwrap()
}

/// What the kernel `scale` makes of 4096 ones in blocks of so many threads.
fn scaled(kernels: &Kernels, threads: u32) -> kernelmill::Result<Vec<f32>> {
    let device = kernels.device();
    let (x, mut y) = (device.upload(&[1.0_f32; 4096])?, device.zeros::<f32>(4096)?);
    let launch = Launch::linear_in_blocks(4096, threads);
    kernels.scale(&device.stream(), launch, &x, &mut y)?;
    y.download()
}

/// Acceptance: S3.13.
#[test]
fn constants_have_the_values_that_are_chosen() {
    let compiler = RustCompiler::new()
        .constant("FACTOR", 0.5_f32)
        .constant("ROUNDS", 4_u32)
        .constant("OFFSET", 40_i64);
    let kernels = compiled(&compiler);
    assert_eq!(scaled(&kernels, 64).unwrap(), [42.0; 4096]);
    let artifact = &kernels.chosen()[0].artifact;
    assert_eq!((artifact.target, artifact.kind), ("cpu", ArtifactKind::Object));
    let plain = compiled(&compiler.clone().constant("ADDS", false));
    assert_eq!(scaled(&plain, 64).unwrap(), [2.0; 4096]);
    // What is loaded stays as it is, and so does what is linked into the program.
    assert_eq!(scaled(&kernels, 64).unwrap(), [42.0; 4096]);
    let embedded = Kernels::load(&Device::cpu().unwrap()).unwrap();
    assert_eq!(scaled(&embedded, 64).unwrap(), [5.0; 4096]);
    // Without values they are those of the source.
    assert_eq!(scaled(&compiled(&RustCompiler::new()), 64).unwrap(), [5.0; 4096]);
    let device = Device::cpu().unwrap();
    let (x, mut y) = (device.upload(&[7_u32; 10]).unwrap(), device.zeros::<u32>(10).unwrap());
    kernels.copies(&device.stream(), Launch::linear(10), &x, &mut y).unwrap();
    assert_eq!(y.download().unwrap(), [7; 10]);
}

/// Blocks that may be run as one otherwise are not where the code knows their size.
#[test]
fn blocks_are_those_that_are_chosen() {
    let kernels = compiled(&RustCompiler::new().block("scale", [8, 1, 1]));
    assert_eq!(scaled(&kernels, 8).unwrap(), [5.0; 4096]);
    assert_eq!(kernels.compiled().scale().unwrap().limits().block, [8, 1, 1]);
    let error = scaled(&kernels, 32).unwrap_err().to_string();
    assert!(error.contains("is compiled for blocks of [8, 1, 1] threads"), "{error}");
    let bounded =
        compiled(&RustCompiler::new().max_threads("bounded", 96).block("sums", [16, 1, 1]));
    let device = bounded.device();
    let mut y = device.zeros::<u32>(96).unwrap();
    let launch = |threads| Launch::linear_in_blocks(96, threads);
    bounded.bounded(&device.stream(), launch(96), &mut y).unwrap();
    assert_eq!(y.download().unwrap(), [96; 96]);
    let error = bounded.bounded(&device.stream(), launch(128), &mut y).unwrap_err();
    assert!(matches!(error, Error::Limit { limit: 96, .. }), "{error}");
    let x = device.upload(&[1_u32; 96]).unwrap();
    bounded.sums(&device.stream(), launch(16), &x, &mut y).unwrap();
    assert_eq!(y.download().unwrap(), [16; 96]);
}

/// Says where the files of a child process lie.
const FILES: &str = "RUN_TIME_RUST_CPU_FILES";

#[test]
fn stages_are_dumped_and_a_file_stands_for_a_kernel() {
    let folder = temporary_folder();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let variables = [
        (FILES, &*path("")),
        ("KERNELMILL_DUMP", "linked,opt,asm"),
        ("KERNELMILL_DUMP_DIR", &*path("dumps")),
        ("KERNELMILL_OVERRIDE_scale", &*path("scale.ll")),
        // For NVIDIA's devices.
        ("KERNELMILL_OVERRIDE_sums", &*path("sums.ptx")),
    ];
    clean_child("stages_are_dumped_and_a_file_stands_for_a_kernel", &variables, || {
        let folder = std::path::PathBuf::from(env::var(FILES).unwrap());
        let compiler = RustCompiler::new().block("scale", [8, 1, 1]);
        assert_eq!(scaled(&compiled(&compiler), 8).unwrap(), [5.0; 4096]);
        let dumped = |name: &str| {
            let path = folder.join("dumps/run-time-rust/run-time").join(name);
            fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        };
        assert!(dumped("scale.cpu.linked.ll").contains("@kernelmill_cpu_scale ="));
        assert!(dumped("scale.cpu.s").contains("kernelmill_cpu_scale:"));
        let optimized = dumped("scale.cpu.opt.ll");
        let edited = optimized.replace("-1.000000e+00", "1.000000e+00");
        fs::write(folder.join("scale.ll"), edited).unwrap();
        let kernels = compiled(&compiler);
        assert_eq!(scaled(&kernels, 8).unwrap(), [7.0; 4096]);
        assert!(scaled(&kernels, 32).unwrap_err().to_string().contains("[8, 1, 1]"));
        let device = Device::cpu().unwrap();
        let (x, mut y) = (device.upload(&[1_u32; 96]).unwrap(), device.zeros::<u32>(96).unwrap());
        let launch = Launch::linear_in_blocks(96, 16);
        kernels.sums(&device.stream(), launch, &x, &mut y).unwrap();
        assert_eq!(y.download().unwrap(), [16; 96]);
        // Another kernel's IR is none of this one: the kernel is as it was.
        fs::write(folder.join("scale.ll"), dumped("sums.cpu.opt.ll")).unwrap();
        assert_eq!(scaled(&compiled(&compiler), 8).unwrap(), [5.0; 4096]);
    });
}

/// What each kernel computes, whatever its code is made of, on both back ends of the CPU.
#[test]
fn every_lowering_strategy_runs() {
    let compiler = RustCompiler::new().constant("STRIDE", 3_u32).constant("DEPTH", 5_u32);
    for device in [Device::cpu().unwrap(), Device::cpu_async().unwrap()] {
        let kernels = Kernels::compile(&device, &compiler).unwrap();
        let stream = device.stream();
        let launch = |threads| Launch::linear_in_blocks(4096, threads);
        let x: Vec<u32> = (0..4096).map(|i| i / 32 % 7).collect();
        let (x, mut y) = (device.upload(&x).unwrap(), device.zeros::<u32>(4096).unwrap());
        kernels.turns(&stream, launch(32), &x, &mut y).unwrap();
        let strategy = kernels.compiled().turns().unwrap().lowering_strategy();
        assert_eq!(strategy, Some("coroutine"));
        let turn = |i: u32| match i / 32 % 7 {
            value if value % 2 == 1 => (i + 1) % 32 * 3,
            value => (i + value) % 32 * 3 + 1,
        };
        assert_eq!(y.download().unwrap(), (0..4096).map(turn).collect::<Vec<_>>());
        kernels.sums(&stream, launch(64), &x, &mut y).unwrap();
        let strategy = kernels.compiled().sums().unwrap().lowering_strategy();
        assert_eq!(strategy, Some("thread loop or barrier regions"));
        let sum = |i: u32| (i / 64 * 64..i / 64 * 64 + 64).map(|i| i / 32 % 7 * 3).sum::<u32>();
        assert_eq!(y.download().unwrap(), (0..4096).map(sum).collect::<Vec<_>>());
        kernels.recursive(&stream, launch(8), &mut y).unwrap();
        let deep = |i: u32| i % 8 + 5 * (i / 8);
        assert_eq!(y.download().unwrap(), (0..4096).map(deep).collect::<Vec<_>>());
        let x: Vec<f32> = (0..100).map(|i| i as f32 * 0.7).collect();
        let wide: Vec<u64> = (0..100).map(|i| 1 << (i % 60)).collect();
        let call = |(x, wide): (&f32, &u64)| {
            let quotient = (u128::from(*wide) << 64 | 12_345) / u128::from(*wide + 2);
            (x % 1.5).mul_add(2.0, (quotient >> 32) as u32 as f32) + x.floor()
        };
        let expected: Vec<f32> = x.iter().zip(&wide).map(call).collect();
        let (x, wide) = (device.upload(&x).unwrap(), device.upload(&wide).unwrap());
        let mut y = device.zeros::<f32>(100).unwrap();
        kernels.calls(&stream, Launch::linear(100), &x, &wide, &mut y).unwrap();
        assert_eq!(y.download().unwrap(), expected);
    }
}

#[test]
fn panics_have_their_lines() {
    let kernels = compiled(&RustCompiler::new().constant("ROUNDS", 10_u32));
    let device = kernels.device();
    let (x, mut y) = (device.upload(&[1_u32; 8]).unwrap(), device.zeros::<u32>(1).unwrap());
    let launched = kernels.reads(&device.stream(), Launch::linear(1), &x, &mut y);
    let error = launched.and_then(|()| device.stream().synchronize()).unwrap_err().to_string();
    assert!(error.contains("kernels/scale.rs:35"), "{error}");
    assert!(error.contains("the len is 8 but the index is 10"), "{error}");
}

/// Acceptance: S3.13.
#[test]
fn threads_that_ask_at_once_compile_once() {
    let (device, start) = (Device::cpu().unwrap(), Barrier::new(8));
    let compiler = RustCompiler::new().constant("FACTOR", 1.25_f32);
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                start.wait();
                let kernels = Kernels::compile(&device, &compiler).unwrap();
                assert_eq!(scaled(&kernels, 64).unwrap(), [2.75; 4096]);
                // What nobody holds is freed.
                start.wait();
            });
        }
    });
    // The package has two sources with bitcode.
    let origins = compiler.origins();
    let made = origins.iter().filter(|origin| **origin == Origin::Compiler).count();
    assert_eq!((made, origins.len()), (2, 16), "{origins:?}");
}

/// Says where the database of a test lies that compiles the same again and again.
const KEPT: &str = "RUN_TIME_RUST_CPU_KEPT";

#[test]
fn programs_are_freed_with_the_last_that_holds_them() {
    let folder = temporary_folder();
    let variables = [(KEPT, folder.path().to_str().unwrap())];
    clean_child("programs_are_freed_with_the_last_that_holds_them", &variables, || {
        let database = Database::in_folder(env::var(KEPT).unwrap()).unwrap();
        let compiler = RustCompiler::new().constant("FACTOR", 0.75_f32).database(&database);
        let loaded = || module_cache().statistics().loaded;
        // A source each.
        let kernels = compiled(&compiler);
        assert_eq!(scaled(&kernels, 64).unwrap(), [1.25; 4096]);
        assert_eq!((programs_in_memory(), loaded()), (2, 2));
        let again = compiled(&compiler);
        assert_eq!((programs_in_memory(), loaded()), (2, 2));
        drop(kernels);
        assert_eq!(scaled(&again, 64).unwrap(), [1.25; 4096]);
        let described = again.compiled().scale().unwrap().signature();
        drop(again);
        assert_eq!((programs_in_memory(), loaded()), (0, 0));
        let (built, held) = (Origin::Compiler, Origin::Memory);
        assert_eq!(compiler.origins(), [built, built, held, held]);
        // What is known of a kernel stays, and is there once for all that are equal.
        assert_eq!(described.name(), "scale");
        for round in 0..10 {
            let kernels = compiled(&compiler);
            assert_eq!(scaled(&kernels, 64).unwrap(), [1.25; 4096]);
            let signature = kernels.compiled().scale().unwrap().signature();
            assert!(std::ptr::eq(signature, described));
            drop(kernels);
            assert_eq!((programs_in_memory(), loaded()), (0, 0), "round {round}");
        }

        // A kernel that is held keeps its own program, and a program that is held is not compiled again.
        let kernels = compiled(&compiler);
        let kernel = kernels.compiled().scale().unwrap();
        let device = Device::cpu().unwrap();
        let (x, mut y) = (device.upload(&[1.0_f32; 64]).unwrap(), device.zeros::<f32>(64).unwrap());
        let mut prepared = kernels.prepare().scale(Launch::linear(64), &x, &mut y).unwrap();
        drop(kernels);
        assert_eq!((programs_in_memory(), loaded()), (1, 1));
        prepared.launch(&device.stream()).unwrap();
        drop(prepared);
        assert_eq!(y.download().unwrap(), [1.25; 64]);
        assert_eq!((programs_in_memory(), kernel.name()), (1, "scale"));
        drop(kernel);
        assert_eq!((programs_in_memory(), loaded()), (0, 0));

        // Launches that are queued run to their end.
        let device = Device::cpu_async().unwrap();
        let x = device.upload(&vec![1.0_f32; 1 << 20]).unwrap();
        let mut y = device.zeros::<f32>(1 << 20).unwrap();
        let kernels = Kernels::compile(&device, &compiler).unwrap();
        for _ in 0..50 {
            let launch = Launch::linear_in_blocks(1 << 20, 64);
            kernels.scale(&device.stream(), launch, &x, &mut y).unwrap();
        }
        drop(kernels);
        assert!(y.download().unwrap().iter().all(|value| *value == 1.25));
        device.stream().synchronize().unwrap();
        // The stream's thread drops its last launch after it has told that it is done.
        let start = Instant::now();
        while programs_in_memory() > 0 {
            assert!(start.elapsed() < Duration::from_secs(10), "{}", programs_in_memory());
            thread::yield_now();
        }
    });
}

/// Compiles with the database of the folder that the environment names, and prints where the program came from.
fn compile_with_database() {
    let database = Database::in_folder(env::var(FOLDER).unwrap()).unwrap();
    let factor: f32 = env::var("FACTOR").unwrap().parse().unwrap();
    let compiler = RustCompiler::new().constant("FACTOR", factor).database(&database);
    assert_eq!(scaled(&compiled(&compiler), 64).unwrap(), [3.0 * factor - 1.0; 4096]);
    println!("origin: {:?}, {:?}", compiler.origins(), database.warning());
}

/// Acceptance: S3.13.
#[test]
fn a_database_outlives_the_process_and_damage_is_a_miss() {
    let name = "a_database_outlives_the_process_and_damage_is_a_miss";
    if env::var_os(FOLDER).is_some() {
        run_child(name, &[], compile_with_database);
    }
    let folder = temporary_folder();
    let base = folder.path().join("database");
    let run = |factor: &str| {
        let child = spawn_child(name, &[(FOLDER, base.to_str().unwrap()), ("FACTOR", factor)]);
        child.expect_success();
        let said = child.stdout.lines().find_map(|line| line.split_once("origin: "));
        said.map(|(_, said)| said.to_owned()).unwrap_or_default()
    };
    let (compiled, kept) = ("[Compiler, Compiler], None", "[Database, Database], None");
    assert_eq!([run("2"), run("2")], [compiled, kept]);
    // The other source has no such constant.
    assert_eq!(run("3"), "[Compiler, Database], None");
    let mut folders = vec![base.clone()];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let mut bytes = fs::read(&path).unwrap();
            *bytes.last_mut().unwrap() ^= 1;
            fs::write(path, bytes).unwrap();
            files += 1;
        }
    }
    assert_eq!(files, 3);
    assert_eq!([run("2"), run("2")], [compiled, kept]);
}

#[test]
fn what_cannot_be_chosen_is_told() {
    let told = |compiler: RustCompiler| {
        Kernels::compile(&Device::cpu().unwrap(), &compiler).unwrap_err().to_string()
    };
    let error = told(RustCompiler::new().constant("FACTORS", 1.0_f32));
    assert!(error.contains("has no constant `FACTORS` (the nearest is `FACTOR`)"), "{error}");
    let error = told(RustCompiler::new().block("bounded", [129, 1, 1]));
    assert!(error.contains("more threads than the launch bounds allow, 128"), "{error}");
}

#[test]
fn a_library_that_is_not_there_is_told() {
    let variables = [("KERNELMILL_LLVM", "/nonexistent/libLLVM.so")];
    clean_child("a_library_that_is_not_there_is_told", &variables, || {
        let device = Device::cpu().unwrap();
        let error = Kernels::compile(&device, &RustCompiler::new()).unwrap_err().to_string();
        assert!(error.starts_with("LLVM cannot be used: cannot open"), "{error}");
    });
}

#[test]
fn the_build_embeds_bitcode_without_thread_local_variables() {
    let own = Kernels::embedded().iter().filter(|it| it.target == "bitcode_cpu");
    let own: Vec<_> = own.map(|it| (it.source, Bitcode::from_bytes(it.bytes).unwrap())).collect();
    assert_eq!(own.len(), 2);
    for (source, bitcode) in own {
        assert!(bitcode.module.starts_with(b"BC\xc0\xde") && bitcode.ptx == 0);
        assert!(!bitcode.constants.is_empty());
        // Names are bytes of the module.
        let names = |name: &str| {
            bitcode.module.windows(name.len()).filter(|it| it == &name.as_bytes()).count()
        };
        let (all, calls) = (names("__kernelmill_thread"), names("__kernelmill_thread_memory"));
        // Recursion and panics ask for their thread.
        assert_eq!((all, calls), (1, 1), "{source}");
    }
}

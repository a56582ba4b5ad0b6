//! Kernels in Rust that are compiled at run time on the fake driver: what they compute, what is chosen for them, the
//! database, and what is refused.

use std::{env, fs, path::PathBuf, process::Command, sync::Barrier, thread};

use cuda_backend::{clean_child, run_child, spawn_child};
use kernelmill::{
    ArtifactKind, Device, EmbeddedArtifact, Error, Launch,
    jit::{Database, Origin, RustCompiler, programs_in_memory},
    module_cache,
};
use kernelmill_artifact::{Bitcode, LaunchLimits};
use run_time_rust::kernels::Kernels;
use test_support::temporary_folder;

/// Says where the database of a child process lies.
const FOLDER: &str = "RUN_TIME_RUST_DATABASE";

/// A device that only the bitcode is for.
const OLD: (&str, &str) = ("FAKE_CUDA_ARCH", "86");

/// What the kernel `scale` makes of 100 ones in blocks of so many threads.
fn scaled(kernels: &Kernels, threads: u32) -> kernelmill::Result<Vec<f32>> {
    let device = kernels.device();
    let (x, mut y) = (device.upload(&[1.0_f32; 100])?, device.zeros::<f32>(100)?);
    let launch = Launch::linear_in_blocks(100, threads);
    kernels.scale(&device.stream(), launch, &x, &mut y)?;
    y.download()
}

/// The PTX of `scale`, as the driver was given it.
fn ptx(kernels: &Kernels) -> String {
    let compiled = kernels.compiled().scale().unwrap();
    assert_eq!(compiled.kind(), ArtifactKind::Ptx);
    // The description of the binary outlives its bytes.
    assert!(kernels.chosen()[0].artifact.bytes.is_empty());
    String::from_utf8(compiled.binary().to_vec()).unwrap()
}

/// The lines of a kernel's body.
fn body<'t>(ptx: &'t str, kernel: &str) -> &'t str {
    let at = ptx.find(&format!(".entry {kernel}(")).unwrap_or_else(|| panic!("{kernel}: {ptx}"));
    ptx[at..].split_once("\n}").unwrap().0
}

fn entry(kernels: &Kernels) -> &'static str {
    kernels.compiled().scale().unwrap().entry()
}

#[test]
fn a_device_without_a_binary_gets_one_by_the_wrappers_of_the_build() {
    clean_child("a_device_without_a_binary_gets_one_by_the_wrappers_of_the_build", &[OLD], || {
        let device = Device::cuda(0).unwrap();
        // What is built ahead does not run there, and the reasons say what there is.
        let error = Kernels::load(&device).unwrap_err().to_string();
        assert!(error.contains("`Kernels::compile` compiles for the device"), "{error}");
        let compiler = RustCompiler::new();
        let kernels = Kernels::compile(&device, &compiler).unwrap();
        assert_eq!(compiler.origins(), [Origin::Compiler; 2]);
        // Of the constants of the source: three times two, and minus one.
        assert_eq!(scaled(&kernels, 64).unwrap(), [5.0; 100]);
        assert_eq!(kernels.chosen()[0].artifact.target, "compute_86");
        // Launches that were tuned are those of `kernelmill-tuning.toml`.
        let tuned = kernels.compiled().scale().unwrap().tuned_launch(2000);
        assert_eq!(tuned.block_size(), [128]);
        assert!(ptx(&kernels).contains("\n.target sm_86\n"), "{}", ptx(&kernels));
        // Instances that the build has made are there.
        let (x, mut y) = (device.upload(&[7_u32; 10]).unwrap(), device.zeros::<u32>(10).unwrap());
        kernels.copies(&device.stream(), Launch::linear(10), &x, &mut y).unwrap();
        assert_eq!(y.download().unwrap(), [7; 10]);
        // What is compiled again for the same is there.
        let again = Kernels::compile(&device, &compiler).unwrap();
        let (first, memory) = (Origin::Compiler, Origin::Memory);
        assert_eq!(compiler.origins(), [first, first, memory, memory]);
        assert_eq!(scaled(&again, 64).unwrap(), [5.0; 100]);
        // With the last that holds it a program is freed, and unloaded.
        let counts = || (programs_in_memory(), module_cache().statistics().loaded);
        drop(kernels);
        assert_eq!(counts(), (2, 2));
        // A module is not unloaded while its stream has work, as the memory that is freed last.
        device.synchronize().unwrap();
        drop(again);
        assert_eq!(counts(), (0, 0));
        let kernels = Kernels::compile(&device, &compiler).unwrap();
        assert_eq!(compiler.origins()[4..], [first, first]);
        assert_eq!(scaled(&kernels, 64).unwrap(), [5.0; 100]);
    });
}

#[test]
fn the_architecture_is_that_of_the_device() {
    for (arch, target) in [("90", "sm_90"), ("103", "sm_103"), ("75", "sm_75")] {
        // Each is a child of its own, which is told by the variable.
        let name = "the_architecture_is_that_of_the_device";
        clean_child(name, &[("FAKE_CUDA_ARCH", arch), ("EXPECTED", target)], || {
            let device = Device::cuda(0).unwrap();
            let kernels = Kernels::compile(&device, &RustCompiler::new()).unwrap();
            let target = env::var("EXPECTED").unwrap();
            assert!(ptx(&kernels).contains(&format!("\n.target {target}\n")), "{target}");
            assert_eq!(scaled(&kernels, 32).unwrap(), [5.0; 100]);
        });
    }
}

#[test]
fn constants_have_the_values_that_are_chosen_and_the_optimiser_knows_them() {
    let name = "constants_have_the_values_that_are_chosen_and_the_optimiser_knows_them";
    clean_child(name, &[OLD], || {
        let device = Device::cuda(0).unwrap();
        let compiler = RustCompiler::new()
            .constant("FACTOR", 0.5_f32)
            .constant("ROUNDS", 4_u32)
            .constant("OFFSET", 40_i64);
        let kernels = Kernels::compile(&device, &compiler).unwrap();
        assert_eq!(scaled(&kernels, 64).unwrap(), [42.0; 100]);
        // Neither a loop nor a variable is left.
        let text = ptx(&kernels);
        assert!(!text.contains("__kernelmill_constant"), "{text}");
        assert_eq!(body(&text, entry(&kernels)).matches("ld.global").count(), 1, "{text}");
        let plain = Kernels::compile(&device, &compiler.clone().constant("ADDS", false)).unwrap();
        assert_eq!(scaled(&plain, 64).unwrap(), [2.0; 100]);
        // What is loaded stays as it is.
        assert_eq!(scaled(&kernels, 64).unwrap(), [42.0; 100]);
    });
}

#[test]
fn launch_bounds_are_in_the_code_and_launches_keep_to_them() {
    let name = "launch_bounds_are_in_the_code_and_launches_keep_to_them";
    clean_child(name, &[OLD], || {
        let device = Device::cuda(0).unwrap();
        let compiler = RustCompiler::new()
            .block("scale", [64, 1, 1])
            .min_blocks("scale", 2)
            .max_registers("scale", 40)
            .max_threads("bounded", 96);
        let kernels = Kernels::compile(&device, &compiler).unwrap();
        assert_eq!(scaled(&kernels, 64).unwrap(), [5.0; 100]);
        let text = ptx(&kernels);
        let scale = body(&text, entry(&kernels));
        for expected in [".reqntid 64, 1, 1", ".minnctapersm 2", ".maxnreg 40"] {
            assert!(scale.contains(expected), "{expected}: {scale}");
        }
        assert_eq!(kernels.compiled().scale().unwrap().limits().block, [64, 1, 1]);
        // The block that was tuned is another, which this code is not for.
        let tuned = kernels.compiled().scale().unwrap().tuned_launch(2000);
        assert_eq!(tuned.block_size(), [64]);
        let error = scaled(&kernels, 32).unwrap_err();
        assert!(error.to_string().contains("scale"), "{error}");
        let mut y = device.zeros::<u32>(96).unwrap();
        let launch = |threads| Launch::linear_in_blocks(96, threads);
        kernels.bounded(&device.stream(), launch(96), &mut y).unwrap();
        assert_eq!(y.download().unwrap(), [96; 96]);
        let error = kernels.bounded(&device.stream(), launch(128), &mut y).unwrap_err();
        assert!(matches!(error, Error::Limit { limit: 96, .. }), "{error}");
    });
}

#[test]
fn panics_have_their_lines() {
    clean_child("panics_have_their_lines", &[OLD], || {
        let device = Device::cuda(0).unwrap();
        let compiler = RustCompiler::new().constant("ROUNDS", 10_u32);
        let kernels = Kernels::compile(&device, &compiler).unwrap();
        let (x, mut y) = (device.upload(&[1_u32; 8]).unwrap(), device.zeros::<u32>(1).unwrap());
        kernels.reads(&device.stream(), Launch::linear(1), &x, &mut y).unwrap();
        let error = device.stream().synchronize().unwrap_err().to_string();
        assert!(error.contains("kernels/scale.rs:35"), "{error}");
        assert!(error.contains("the len is 8 but the index is 10"), "{error}");
    });
}

/// Says where the files of a child process lie.
const FILES: &str = "RUN_TIME_RUST_FILES";

/// Acceptance: S3.10.
#[test]
fn stages_are_dumped_and_files_stand_for_kernels() {
    let folder = temporary_folder();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let variables = [
        OLD,
        (FILES, &*path("")),
        ("KERNELMILL_DUMP", "all"),
        ("KERNELMILL_DUMP_DIR", &*path("dumps")),
        ("KERNELMILL_OVERRIDE_scale", &*path("scale.ll")),
        ("KERNELMILL_OVERRIDE_bounded", &*path("bounded.ptx")),
        ("KERNELMILL_OVERRIDE_reads", &*path("reads.cu")),
        ("KERNELMILL_TRACE", &*path("trace.json")),
    ];
    let name = "stages_are_dumped_and_files_stand_for_kernels";
    clean_child(name, &variables, || {
        let folder = PathBuf::from(env::var(FILES).unwrap());
        let device = Device::cuda(0).unwrap();
        // What is in the database is compiled again to be dumped.
        let database = Database::in_folder(folder.join("database")).unwrap();
        let compiler = RustCompiler::new().constant("ROUNDS", 5_u32).database(&database);
        let compile = || Kernels::compile(&device, &compiler);
        // There are no files yet.
        let plain = compile().unwrap();
        assert_eq!(scaled(&plain, 64).unwrap(), [9.0; 100]);
        let dumped = |name: &str| {
            let path = folder.join("dumps/run-time-rust/run-time").join(name);
            fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        };
        // The IR of one kernel, with the constant as it was chosen, and what is left of it.
        let linked = dumped("scale.compute_86.linked.ll");
        assert!(linked.contains("__kernelmill_constant_u32_ROUNDS.chosen"), "{linked}");
        assert!(!linked.contains("@bounded("), "{linked}");
        let optimized = dumped("scale.compute_86.opt.ll");
        assert!(!optimized.contains("__kernelmill_constant"), "{optimized}");
        let ptx = dumped("bounded.compute_86.ptx");
        assert!(ptx.contains(".entry bounded(") && !ptx.contains(".entry scale("), "{ptx}");

        fs::write(folder.join("scale.ll"), optimized.replace("-1.000000e+00", "1.000000e+00"))
            .unwrap();
        fs::write(folder.join("bounded.ptx"), ptx.replace("%ntid.x", "%nctaid.x")).unwrap();
        let kernels = compile().unwrap();
        assert_eq!(scaled(&kernels, 64).unwrap(), [11.0; 100]);
        let mut y = device.zeros::<u32>(96).unwrap();
        let launch = Launch::linear_in_blocks(96, 32);
        kernels.bounded(&device.stream(), launch, &mut y).unwrap();
        // Three blocks, whose size the kernel takes to be three.
        assert_eq!(y.download().unwrap(), [vec![3; 38], vec![0; 58]].concat());
        // The others are those of the program, and what is loaded stays as it is.
        let (x, mut copy) =
            (device.upload(&[7_u32; 10]).unwrap(), device.zeros::<u32>(10).unwrap());
        kernels.copies(&device.stream(), Launch::linear(10), &x, &mut copy).unwrap();
        assert_eq!(copy.download().unwrap(), [7; 10]);
        assert_eq!(scaled(&plain, 64).unwrap(), [9.0; 100]);

        // A file with other parameters, and one that is not valid.
        let shorter = ptx.replacen("bounded(\n", "bounded(\n.param .u32 more,\n", 1);
        fs::write(folder.join("bounded.ptx"), shorter).unwrap();
        let error = compile().unwrap_err().to_string();
        let expected =
            "bounded.ptx` cannot override the kernel: the sizes of its parameters are (4, 8, 8";
        assert!(error.contains(expected), "{error}");
        fs::remove_file(folder.join("bounded.ptx")).unwrap();
        fs::write(folder.join("scale.ll"), optimized.replace("ret void", "ret nothing")).unwrap();
        let error = compile().unwrap_err();
        assert!(
            matches!(&error, Error::Compile { source_file, .. } if source_file.ends_with("scale.ll")),
            "{error:?}"
        );
        // The trace has what was compiled.
        let trace = fs::read_to_string(folder.join("trace.json")).unwrap();
        let compiled = |name: &str| {
            let is_it = |line: &&str| {
                line.contains("\"compile\"") && line.contains(name) && line.contains("\"compiler\"")
            };
            trace.lines().filter(is_it).count()
        };
        assert_eq!((compiled("kernels/scale.rs"), compiled("scale.ll")), (1, 2), "{trace}");
    });
}

#[test]
fn what_cannot_be_chosen_is_told() {
    clean_child("what_cannot_be_chosen_is_told", &[OLD], || {
        let device = Device::cuda(0).unwrap();
        let told =
            |compiler: RustCompiler| Kernels::compile(&device, &compiler).unwrap_err().to_string();
        let error = told(RustCompiler::new().constant("FACTORS", 1.0_f32));
        let expected = "has no constant `FACTORS` (the nearest is `FACTOR`); its constants: `ADDS: bool`, `DEPTH: u32`, \
                        `FACTOR: f32`, `OFFSET: i64`, `ROUNDS: u32`, `STRIDE: u32`";
        assert!(error.contains(expected), "{error}");
        let error = told(RustCompiler::new().constant("FACTOR", 1.0_f64));
        assert!(
            error.contains("has the type `f32`, but is given a value of type `f64`"),
            "{error}"
        );
        let error = told(RustCompiler::new().block("scales", [1, 1, 1]));
        assert!(error.contains("the kernel `scales`") && error.contains("`scale`"), "{error}");
        assert!(error.contains("Of generic kernels it has only the instances"), "{error}");
        let error = told(RustCompiler::new().max_threads("bounded", 256));
        assert!(error.contains("its source states at most 128 threads per block"), "{error}");
        let error = told(RustCompiler::new().block("bounded", [129, 1, 1]));
        assert!(error.contains("more threads than the launch bounds allow, 128"), "{error}");
        let all = RustCompiler::new()
            .constant("FACTORS", 1.0_f32)
            .constant("OFFSET", 1_u64)
            .block("scales", [1, 1, 1])
            .max_threads("bounded", 256);
        let error = Kernels::compile(&device, &all).unwrap_err();
        assert_eq!(error.code().number(), "KM1044");
        let Error::InvalidChoice { package, faults } = error else { panic!("{error}") };
        assert_eq!((package, faults.len()), ("run-time-rust", 4), "{faults:?}");
    });
}

#[test]
fn a_library_that_is_not_there_is_told() {
    let variables = [OLD, ("KERNELMILL_LLVM", "/nonexistent/libLLVM.so")];
    clean_child("a_library_that_is_not_there_is_told", &variables, || {
        let device = Device::cuda(0).unwrap();
        let error = Kernels::compile(&device, &RustCompiler::new()).unwrap_err().to_string();
        let expected =
            "LLVM cannot be used: cannot open the LLVM library /nonexistent/libLLVM.so: ";
        assert!(error.starts_with(expected), "{error}");
    });
}

#[test]
fn threads_that_ask_at_once_compile_once() {
    clean_child("threads_that_ask_at_once_compile_once", &[OLD], || {
        let (device, start) = (Device::cuda(0).unwrap(), Barrier::new(8));
        let compiler = RustCompiler::new().constant("FACTOR", 1.0_f32);
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    start.wait();
                    let kernels = Kernels::compile(&device, &compiler).unwrap();
                    assert_eq!(scaled(&kernels, 64).unwrap(), [2.0; 100]);
                    // What nobody holds is freed.
                    start.wait();
                });
            }
        });
        let origins = compiler.origins();
        let compiled = origins.iter().filter(|origin| **origin == Origin::Compiler).count();
        assert_eq!((compiled, origins.len()), (2, 16), "{origins:?}");
    });
}

/// Compiles with the database of the folder that the environment names, and prints where the program came from.
fn compile_with_database() {
    let database = Database::in_folder(env::var(FOLDER).unwrap()).unwrap();
    let factor: f32 = env::var("FACTOR").unwrap().parse().unwrap();
    let compiler = RustCompiler::new().constant("FACTOR", factor).database(&database);
    let kernels = Kernels::compile(&Device::cuda(0).unwrap(), &compiler).unwrap();
    assert_eq!(scaled(&kernels, 64).unwrap(), [3.0 * factor - 1.0; 100]);
    println!("origin: {:?}, {:?}", compiler.origins(), database.warning());
}

#[test]
fn a_database_outlives_the_process_and_damage_is_a_miss() {
    let name = "a_database_outlives_the_process_and_damage_is_a_miss";
    if env::var_os(FOLDER).is_some() {
        run_child(name, &[], compile_with_database);
    }
    let folder = temporary_folder();
    let base = folder.path().join("database").display().to_string();
    let run = |factor: &str, arch: &str| {
        let variables = [("FAKE_CUDA_ARCH", arch), (FOLDER, &*base), ("FACTOR", factor)];
        let child = spawn_child(name, &variables);
        child.expect_success();
        let said = child.stdout.lines().find_map(|line| line.split_once("origin: "));
        said.map(|(_, said)| said.to_owned()).unwrap_or_default()
    };
    let (compiled, kept) = ("[Compiler, Compiler], None", "[Database, Database], None");
    // The other source does not have the constant.
    let half = "[Compiler, Database], None";
    assert_eq!([run("2", "86"), run("2", "86")], [compiled, kept]);
    // Another value and another architecture are other programs.
    assert_eq!([run("3", "86"), run("3", "86"), run("2", "86")], [half, kept, kept]);
    assert_eq!([run("2", "80"), run("2", "80")], [compiled, kept]);
    let found = Command::new("find").arg(&base).args(["-type", "f"]).output().unwrap();
    let files: Vec<PathBuf> =
        String::from_utf8(found.stdout).unwrap().lines().map(Into::into).collect();
    assert_eq!(files.len(), 5);
    for file in files {
        let mut bytes = fs::read(&file).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        fs::write(file, bytes).unwrap();
    }
    assert_eq!([run("2", "86"), run("2", "86")], [compiled, kept]);
}

#[test]
fn the_build_embeds_bitcode_with_what_its_compiler_must_know() {
    let embedded = Kernels::embedded()
        .iter()
        .find(|it| it.target == "bitcode_75" && it.source.ends_with("scale.rs"));
    let embedded = embedded.unwrap();
    assert_eq!((embedded.target, embedded.kernels.len()), ("bitcode_75", 5));
    let bitcode = Bitcode::from_bytes(embedded.bytes).unwrap();
    let names: Vec<_> =
        bitcode.constants.iter().map(|it| format!("{}: {}", it.name, it.ty)).collect();
    assert_eq!(names, ["ADDS: bool", "FACTOR: f32", "OFFSET: i64", "ROUNDS: u32"]);
    assert!(bitcode.llvm[0] >= 20 && bitcode.ptx >= 63, "{:?} {}", bitcode.llvm, bitcode.ptx);
    assert!(bitcode.module.starts_with(b"BC\xc0\xde"));
    // Binaries of the build have the values of the source, and no variables.
    let ptx = |it: &&EmbeddedArtifact| it.kind == ArtifactKind::Ptx && it.source == embedded.source;
    let ptx = Kernels::embedded().iter().find(ptx).unwrap();
    let text = String::from_utf8_lossy(ptx.bytes);
    assert!(!text.contains("__kernelmill_constant"), "{text}");
    assert_eq!(Kernels::signatures()[0].limits, LaunchLimits::NONE);
}

#[test]
fn on_the_cpu_constants_have_the_values_of_the_source() {
    clean_child("on_the_cpu_constants_have_the_values_of_the_source", &[], || {
        let kernels = Kernels::load(&Device::cpu().unwrap()).unwrap();
        assert_eq!(scaled(&kernels, 64).unwrap(), [5.0; 100]);
    });
}

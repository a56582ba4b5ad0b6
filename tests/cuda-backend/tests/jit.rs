//! Programs that are compiled at run time, by NVRTC, on the fake driver: kernels, their arguments, errors, and the
//! database of what was compiled.

use std::{
    env, fs,
    path::{Path, PathBuf},
    sync::Barrier,
    thread,
    time::Duration,
};

use cuda_backend::{clean_child, is_driver_real, run_child, say_left_out};
use kernelmill::{
    ArtifactKind, Device, Error, Launch, Result,
    jit::{self, Compiler, Database, Origin, Output, Program, Source},
};
use test_support::{temporary_folder, tool};

/// Says where the database of a child process lies.
const FOLDER: &str = "CUDA_BACKEND_TEST_DATABASE";

/// Names the library.
const NVRTC: &str = "KERNELMILL_NVRTC";

const SCALE: &str = r#"
#ifndef FACTOR
#define FACTOR 1
#endif
extern "C" __global__ void scale(float a, float *x, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = FACTOR * a * x[i];
}
"#;

/// NVRTC: that of set-up; on the machine's driver the one that the environment names, without which the test `name` is left
/// out, and says so.
fn nvrtc(name: &str) -> Option<PathBuf> {
    if !is_driver_real() {
        return tool::nvrtc();
    }
    let named = env::var_os(NVRTC).map(PathBuf::from);
    if named.is_none() {
        say_left_out(&format!("not without {NVRTC}"), name);
    }
    named
}

/// Runs `body` where NVRTC is; nowhere without it.
#[track_caller]
fn with_nvrtc(name: &str, variables: &[(&str, &str)], body: impl FnOnce()) {
    let Some(nvrtc) = nvrtc(name) else { return };
    let nvrtc = nvrtc.display().to_string();
    let variables: Vec<_> = [(NVRTC, &*nvrtc)].iter().chain(variables).copied().collect();
    clean_child(name, &variables, body);
}

/// What the kernel `scale` makes of 100 ones.
fn scaled(program: &Program, a: f32) -> Result<Vec<f32>> {
    let device = program.device();
    let mut x = device.upload(&[1.0_f32; 100])?;
    let arguments = (jit::value(a), jit::write(&mut x), jit::value(100_u32));
    // SAFETY: these are the parameters of `scale`, and `x` has 100 elements.
    unsafe { program.kernel("scale")?.launch(&device.stream(), Launch::linear(100), arguments)? };
    x.download()
}

fn source() -> Source {
    Source::cuda("scale.cu", SCALE)
}

/// Acceptance: S3.12, C23.
#[test]
fn a_kernel_that_is_given_as_text_is_compiled_launched_and_timed() {
    with_nvrtc("a_kernel_that_is_given_as_text_is_compiled_launched_and_timed", &[], || {
        let device = Device::cuda(0).unwrap();
        let program = Compiler::new().compile(&device, &source()).unwrap();
        assert_eq!((program.origin(), program.kind()), (Origin::Compiler, ArtifactKind::Ptx));
        assert_eq!(program.kernels().collect::<Vec<_>>(), ["scale"]);
        let stream = device.stream();
        let (found, took) = stream.time(|| scaled(&program, 3.0)).unwrap();
        assert_eq!(found, [3.0; 100]);
        assert!(took > Duration::ZERO);
        // Other options are another program, and the same ones are the program that there is.
        let double = Compiler::new().define("FACTOR", "2");
        let (first, second) = (
            double.compile(&device, &source()).unwrap(),
            double.compile(&device, &source()).unwrap(),
        );
        assert_eq!((first.origin(), second.origin()), (Origin::Compiler, Origin::Memory));
        assert_eq!(scaled(&second, 3.0).unwrap(), [6.0; 100]);
        let resources = second.kernel("scale").unwrap().compiled().unwrap().resources().unwrap();
        assert!(resources.registers.is_some_and(|registers| registers > 0), "{resources:?}");
        // A program stays with the last kernel of it, and is freed and unloaded then.
        let kernel = second.kernel("scale").unwrap();
        drop((first, second));
        assert_eq!(jit::programs_in_memory(), 2);
        let third = double.compile(&device, &source()).unwrap();
        assert_eq!(third.origin(), Origin::Memory);
        // A module is not unloaded while its stream has work, as the memory that is freed last.
        device.synchronize().unwrap();
        drop((third, kernel));
        let loaded = kernelmill::module_cache().statistics().loaded;
        assert_eq!((jit::programs_in_memory(), loaded), (1, 1));
        let again = double.compile(&device, &source()).unwrap();
        assert_eq!(again.origin(), Origin::Compiler);
        assert_eq!(scaled(&again, 3.0).unwrap(), [6.0; 100]);
    });
}

#[test]
fn templates_overloads_and_headers_are_compiled() {
    with_nvrtc("templates_overloads_and_headers_are_compiled", &[], || {
        let text = r#"
            #include "tile.h"
            namespace math { template <typename T, int N> __global__ void fill(T *x) { x[threadIdx.x] = T(N + TILE); } }
            __global__ void only(int *x) { x[threadIdx.x] = 7; }
            __global__ void twice(int *x) { x[threadIdx.x] = 1; }
            __global__ void twice(float *x) { x[threadIdx.x] = 2; }
            __global__ void __launch_bounds__(64) bound(int *x) { x[threadIdx.x] = 3; }
        "#;
        let device = Device::cuda(0).unwrap();
        let program = Compiler::new()
            .header("tile.h", "#pragma once\n#define TILE 100\n")
            .instance("math::fill<double, 4>")
            .instance("math::fill<int, 5>")
            .compile(&device, &Source::cuda("many.cu", text))
            .unwrap();
        let launch = |name: &str| {
            let mut x = device.zeros::<i32>(4).unwrap();
            let kernel = program.kernel(name).unwrap();
            // SAFETY: each writes an element of `x` in each thread.
            unsafe {
                kernel.launch(&device.stream(), Launch::grid([1], [4]), (jit::write(&mut x),))
            }
            .unwrap();
            x.download().unwrap()
        };
        assert_eq!(launch("math::fill<int, 5>"), [105; 4]);
        assert_eq!(launch("only"), [7; 4]);
        assert_eq!(launch("_Z5twicePi"), [1; 4]);
        let mut y = device.zeros::<f64>(4).unwrap();
        let kernel = program.kernel("math::fill<double, 4>").unwrap();
        // SAFETY: as above.
        unsafe { kernel.launch(&device.stream(), Launch::grid([1], [4]), (jit::write(&mut y),)) }
            .unwrap();
        assert_eq!(y.download().unwrap(), [104.0; 4]);
        // Two functions have the name, and no kernel the other.
        for name in ["twice", "fill"] {
            let error = program.kernel(name).unwrap_err().to_string();
            assert!(
                error.starts_with(&format!("many.cu has no kernel `{name}`: it has `math::fill<")),
                "{error}"
            );
        }
        let mut x = device.zeros::<i32>(128).unwrap();
        let bound = program.kernel("bound").unwrap();
        let launch = Launch::grid([1], [128]);
        // SAFETY: as above.
        let launched = unsafe { bound.launch(&device.stream(), launch, (jit::write(&mut x),)) };
        assert!(matches!(launched, Err(Error::Limit { limit: 64, .. })), "{launched:?}");
    });
}

#[test]
fn ptx_is_loaded_as_it_is() {
    clean_child("ptx_is_loaded_as_it_is", &[], || {
        let device = Device::cuda(0).unwrap();
        let text = ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry one(.param .u64 x) {\n\
                    .reg .b64 %a; .reg .b32 %v;\nld.param.u64 %a, [x]; mov.u32 %v, 1; st.u32 [%a], %v; ret; }\n";
        let program = Compiler::new().compile(&device, &Source::ptx("one.ptx", text)).unwrap();
        let mut x = device.zeros::<u32>(1).unwrap();
        let one = program.kernel("one").unwrap();
        // SAFETY: it writes the first element.
        unsafe { one.launch(&device.stream(), Launch::grid([1], [1]), (jit::write(&mut x),)) }
            .unwrap();
        assert_eq!(x.download().unwrap(), [1]);
        // What the driver refuses is told by it.
        let broken = Source::ptx("broken.ptx", text.replace("ret; }", "ret;"));
        let error = Compiler::new().compile(&device, &broken).unwrap_err();
        assert!(
            format!("{error:?}").contains("cuModuleLoadDataEx failed for broken.ptx"),
            "{error:?}"
        );
    });
}

/// Acceptance: S3.12.
#[test]
fn wrong_sources_options_and_arguments_are_told() {
    with_nvrtc("wrong_sources_options_and_arguments_are_told", &[], || {
        let device = Device::cuda(0).unwrap();
        let told = |compiler: &Compiler, text: &str| {
            compiler.compile(&device, &Source::cuda("wrong.cu", text)).unwrap_err().to_string()
        };
        let error = told(&Compiler::new(), "__global__ void k(int *x) {\n  *x = y;\n}");
        let expected = "wrong.cu does not compile (NVRTC of CUDA ";
        assert!(error.starts_with(expected), "{error}");
        assert!(error.contains("\nwrong.cu(2): error: identifier \"y\" is undefined"), "{error}");
        // It is compiled again, for nothing was made.
        assert_eq!(told(&Compiler::new(), "__global__ void k(int *x) {\n  *x = y;\n}"), error);
        let error = told(&Compiler::new().option("--no-such-option"), SCALE);
        assert!(error.contains("unrecognized option"), "{error}");
        let error = told(&Compiler::new().option("-I/usr/include"), SCALE);
        assert!(error.contains("the option `-I/usr/include` names files"), "{error}");
        let error = told(&Compiler::new(), "__device__ int f() { return 1; }");
        assert!(
            error.starts_with("wrong.cu has no kernel: the source has no `__global__` function"),
            "{error}"
        );
        let error = told(&Compiler::new(), "a\0b");
        assert!(error.contains("contains a zero byte: \"a\\0b\""), "{error}");
        let cpu = Device::cpu().unwrap();
        let error = Compiler::new().compile(&cpu, &source()).unwrap_err();
        assert!(matches!(error, Error::NoCompiler { .. }), "{error}");
        // The fake driver runs PTX alone.
        let cubin = Compiler::new().output(Output::Cubin).compile(&device, &source());
        if is_driver_real() {
            assert_eq!(scaled(&cubin.unwrap(), 3.0).unwrap(), [3.0; 100]);
        } else {
            let error = cubin.unwrap_err().to_string();
            assert!(error.contains("NO_BINARY_FOR_GPU"), "{error}");
        }

        let program = Compiler::new().compile(&device, &source()).unwrap();
        let scale = program.kernel("scale").unwrap();
        let mut x = device.zeros::<f32>(4).unwrap();
        let (stream, launch) = (device.stream(), Launch::linear(4));
        // SAFETY: no launch is made: the arguments are wrong.
        let error =
            unsafe { scale.launch(&stream, launch, (jit::value(1.0_f32), jit::write(&mut x))) };
        assert_eq!(
            error.unwrap_err().to_string(),
            "kernel `scale`: the kernel takes 3 arguments, but the launch passes 2"
        );
        let arguments = (jit::value(1.0_f64), jit::write(&mut x), jit::value(4_u64));
        // SAFETY: as above.
        let error = unsafe { scale.launch(&stream, launch, arguments) }.unwrap_err();
        assert_eq!(
            error.to_string(),
            "kernel `scale`: argument 1 has 8 bytes, but its parameter has 4; argument 3 has 8 bytes, but its parameter has 4"
        );
        assert_eq!(x.download().unwrap(), [0.0; 4]);
    });
}

#[test]
fn a_library_that_is_not_there_is_told() {
    let missing = [(NVRTC, "/nonexistent/libnvrtc.so")];
    clean_child("a_library_that_is_not_there_is_told", &missing, || {
        let device = Device::cuda(0).unwrap();
        let error = Compiler::new().compile(&device, &source()).unwrap_err().to_string();
        let expected = "NVRTC cannot be used: the environment variable KERNELMILL_NVRTC names a library that cannot be opened";
        assert!(error.starts_with(expected), "{error}");
    });
}

/// Acceptance: S3.12.
#[test]
fn threads_that_ask_at_once_compile_once() {
    with_nvrtc("threads_that_ask_at_once_compile_once", &[], || {
        let (device, start) = (Device::cuda(0).unwrap(), Barrier::new(8));
        let compile = || {
            start.wait();
            let program = Compiler::new().compile(&device, &source()).unwrap();
            assert_eq!(scaled(&program, 2.0).unwrap(), [2.0; 100]);
            // What nobody holds is freed.
            start.wait();
            program.origin()
        };
        let origins: Vec<_> = thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(compile)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let compiled = origins.iter().filter(|origin| **origin == Origin::Compiler).count();
        assert_eq!((compiled, origins.len()), (1, 8), "{origins:?}");
    });
}

/// Compiles with the database of the folder that the environment names, and prints where the program came from.
fn compile_with_database() {
    let folder = env::var(FOLDER).unwrap();
    let database = Database::in_folder(&*folder).unwrap();
    let factor = env::var("FACTOR").unwrap();
    let compiler = Compiler::new().define("FACTOR", &factor).database(&database);
    let program = compiler.compile(&Device::cuda(0).unwrap(), &source()).unwrap();
    assert_eq!(scaled(&program, 2.0).unwrap(), [2.0 * factor.parse::<f32>().unwrap(); 100]);
    println!("origin: {:?}, warning: {:?}", program.origin(), database.warning());
}

/// What a process of its own has printed that compiled with the database in `folder`.
#[track_caller]
fn in_process(name: &str, nvrtc: &Path, folder: &Path, factor: &str) -> String {
    let (nvrtc, folder) = (nvrtc.display().to_string(), folder.display().to_string());
    let variables = [(NVRTC, &*nvrtc), (FOLDER, &folder), ("FACTOR", factor)];
    let child = run_child(name, &variables, compile_with_database);
    child.expect_success();
    let said = child.stdout.lines().find_map(|line| line.split_once("origin: "));
    said.map(|(_, said)| said.to_owned()).unwrap_or_default()
}

/// The entries in a folder, each a file.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let all = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    all.flat_map(|path| if path.is_dir() { entries(&path) } else { vec![path] }).collect()
}

/// Acceptance: S3.13, C24.
#[test]
fn a_database_outlives_the_process_and_damage_is_a_miss() {
    let name = "a_database_outlives_the_process_and_damage_is_a_miss";
    if env::var_os(FOLDER).is_some() {
        return in_process(name, Path::new(""), Path::new(""), "").clear();
    }
    let (Some(nvrtc), folder) = (nvrtc(name), temporary_folder()) else { return };
    let base = folder.path().join("database");
    let run = |factor: &str| in_process(name, &nvrtc, &base, factor);
    let (compiled, kept) = ("Compiler, warning: None", "Database, warning: None");
    assert_eq!([run("2"), run("2"), run("2")], [compiled, kept, kept]);
    assert_eq!(entries(&base).len(), 1);
    // Another option is another program, and the first one stays.
    assert_eq!([run("3"), run("3"), run("2")], [compiled, kept, kept]);
    let files = entries(&base);
    assert_eq!(files.len(), 2);
    // A bad header, a changed byte, and the content of the other one.
    let whole: Vec<_> = files.iter().map(|file| fs::read(file).unwrap()).collect();
    let damages: [fn(&mut Vec<u8>); 3] =
        [|bytes| bytes[0] ^= 1, |bytes| *bytes.last_mut().unwrap() ^= 1, |bytes| bytes.clear()];
    for damage in damages {
        for (file, bytes) in files.iter().zip(&whole) {
            let mut bytes = bytes.clone();
            damage(&mut bytes);
            fs::write(file, bytes).unwrap();
        }
        assert_eq!([run("2"), run("2"), run("3"), run("3")], [compiled, kept, compiled, kept]);
    }
    files.iter().zip(whole.iter().rev()).for_each(|(file, bytes)| fs::write(file, bytes).unwrap());
    assert_eq!([run("2"), run("2"), run("3"), run("3")], [compiled, kept, compiled, kept]);
    assert_eq!(entries(&base).len(), 2);
}

/// Acceptance: S3.13.
#[test]
fn a_database_that_cannot_be_written_only_warns() {
    let name = "a_database_that_cannot_be_written_only_warns";
    if env::var_os(FOLDER).is_some() {
        return in_process(name, Path::new(""), Path::new(""), "").clear();
    }
    let (Some(nvrtc), folder) = (nvrtc(name), temporary_folder()) else { return };
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let said = in_process(name, &nvrtc, &file, "2");
    let expected =
        "Compiler, warning: Some(\"the database of compiled programs cannot be written (";
    assert!(said.starts_with(expected), "{said}");
}

/// Acceptance: S3.13.
#[test]
fn processes_at_once_lose_nothing() {
    let name = "processes_at_once_lose_nothing";
    if env::var_os(FOLDER).is_some() {
        return in_process(name, Path::new(""), Path::new(""), "").clear();
    }
    let (Some(nvrtc), folder) = (nvrtc(name), temporary_folder()) else { return };
    let base = folder.path().join("database");
    let factors: Vec<String> = (2..6).map(|factor| factor.to_string()).collect();
    thread::scope(|scope| {
        for factor in factors.iter().cycle().take(12) {
            scope.spawn(|| in_process(name, &nvrtc, &base, factor));
        }
    });
    for factor in &factors {
        assert_eq!(in_process(name, &nvrtc, &base, factor), "Database, warning: None");
    }
    assert_eq!(entries(&base).len(), factors.len());
}

/// Says where the files of a child process lie.
const OVERRIDES: &str = "CUDA_BACKEND_TEST_OVERRIDES";

/// Files stand for kernels of programs too: their source, and PTX, whatever form the program has. What they stand for is
/// read when a program is compiled.
///
/// Acceptance: S3.10.
#[test]
fn a_file_stands_for_a_kernel_of_a_program() {
    let folder = temporary_folder();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (source, ptx) = (path("scale.cu"), path("fill.ptx"));
    let variables = [
        (OVERRIDES, &*folder.path().display().to_string()),
        ("KERNELMILL_OVERRIDE_scale", &*source),
        ("KERNELMILL_OVERRIDE_fill", &*ptx),
        // Of no program here.
        ("KERNELMILL_OVERRIDE_other", "nowhere.cu"),
        ("KERNELMILL_DUMP", "ir,ptx"),
        ("KERNELMILL_DUMP_DIR", &*path("dumps")),
    ];
    with_nvrtc("a_file_stands_for_a_kernel_of_a_program", &variables, || {
        let folder = env::var(OVERRIDES).unwrap();
        let write =
            |name: &str, text: &str| fs::write(Path::new(&folder).join(name), text).unwrap();
        let device = Device::cuda(0).unwrap();
        let text = format!(
            "{SCALE}\ntemplate <typename T> __global__ void fill(T *x) {{ x[threadIdx.x] = T(1); }}\n\
             extern \"C\" __global__ void keep(float *x) {{ x[threadIdx.x] = 9; }}\n"
        );
        let compile = |output: Output| {
            let compiler = Compiler::new().instance("fill<float>").output(output);
            compiler.compile(&device, &Source::cuda("all.cu", &*text))
        };
        let filled = |program: &Program, kernel: &str| {
            let mut x = device.zeros::<f32>(4).unwrap();
            let kernel = program.kernel(kernel).unwrap();
            let launch = Launch::grid([1], [4]);
            // SAFETY: it writes an element of `x` in each thread.
            unsafe { kernel.launch(&device.stream(), launch, (jit::write(&mut x),)) }.unwrap();
            x.download().unwrap()
        };
        // Files that are not there: a warning, and the program's own kernels.
        let plain = compile(Output::Ptx).unwrap();
        assert_eq!(
            (scaled(&plain, 3.0).unwrap(), filled(&plain, "fill<float>")),
            (vec![3.0; 100], vec![1.0; 4])
        );
        let missing = |variable: &str, name: &str| {
            format!(
                "KERNELMILL_OVERRIDE_{variable} is `{folder}/{name}`, which cannot be read (No such file or directory \
                 (os error 2)): the kernel `{variable}` of all.cu is not overridden\n"
            )
        };
        assert_eq!(plain.log(), missing("fill", "fill.ptx") + &missing("scale", "scale.cu"));
        // Its PTX is dumped, by the names of its functions.
        let dumps = Path::new(&folder).join("dumps/all.cu/run-time");
        let mut dumped: Vec<_> =
            fs::read_dir(&dumps).unwrap().flatten().map(|it| it.path()).collect();
        dumped.sort();
        let kernel = |path: &PathBuf| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            name.split_once(".compute_").map(|(kernel, _)| kernel.to_owned())
        };
        let names: Vec<_> = dumped.iter().filter_map(kernel).collect();
        assert_eq!(names, ["fill", "keep", "scale"]);
        assert_eq!(fs::read(&dumped[0]).unwrap(), plain.bytes());

        let head = ".version 7.0\n.target sm_75\n.address_size 64\n";
        let fill = |parameters: &str| {
            format!(
                "{head}.visible .entry mine({parameters}) {{\n.reg .b64 %a, %i; .reg .b32 %t;\nmov.u32 %t, %tid.x; \
                 mul.wide.u32 %i, %t, 4; ld.param.u64 %a, [x]; add.u64 %a, %a, %i; st.f32 [%a], 0f40A00000; ret; }}\n"
            )
        };
        write("fill.ptx", &fill(".param .u64 x"));
        write("scale.cu", &SCALE.replace("FACTOR * a", "100 * FACTOR * a"));
        let program = compile(Output::Ptx).unwrap();
        assert_eq!(program.origin(), Origin::Memory, "what the files stand in is the same program");
        assert_eq!(scaled(&program, 3.0).unwrap(), [300.0; 100]);
        assert_eq!(filled(&program, "fill<float>"), [5.0; 4]);
        assert_eq!(filled(&program, "keep"), [9.0; 4]);
        let said = "this program has overridden code: `";
        assert_eq!(program.log().matches(said).count(), 2, "{}", program.log());
        assert_eq!(
            scaled(&plain, 3.0).unwrap(),
            [3.0; 100],
            "a program that there is stays as it is"
        );
        // A program in PTX has kernels too.
        let text =
            fill(".param .u64 x").replace("mine", "fill").replace("0f40A00000", "0f41000000");
        let program = Compiler::new().compile(&device, &Source::ptx("own.ptx", text)).unwrap();
        assert_eq!(filled(&program, "fill"), [5.0; 4]);

        write("fill.ptx", &fill(".param .u64 x, .param .u32 n"));
        let error = compile(Output::Ptx).unwrap_err().to_string();
        let expected = "the sizes of its parameters are (8, 4) bytes, those of the kernel are (8)";
        assert!(
            error.contains("fill.ptx` cannot override the kernel") && error.contains(expected),
            "{error}"
        );
        fs::remove_file(Path::new(&folder).join("fill.ptx")).unwrap();
        write("scale.cu", "__global__ void scale(float *x) { nonsense }");
        let error = compile(Output::Ptx).unwrap_err();
        assert!(
            matches!(&error, Error::Compile { source_file, .. } if source_file.ends_with("scale.cu")),
            "{error:?}"
        );
    });
}

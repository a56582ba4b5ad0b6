//! What cannot go everywhere, what is refused, and what is read.

use std::collections::BTreeSet;

use cuda_cpp::{Launch, OnEmulator, Value, lower, lower_for, source, written};
use kernelmill_artifact::Target;
use kernelmill_compiler::{Config, frontend::cuda::CudaSource};
use object::{Object as _, ObjectSymbol as _};
use ptx_emulator::FaultKind;

fn mixed() -> CudaSource {
    CudaSource { defines: vec![("FACTOR".into(), "3.0f".into())], ..source("mixed") }
}

#[test]
fn what_keeps_a_kernel_from_a_target_is_named_with_its_line_and_the_others_compile() {
    let mixed = lower(&mixed()).unwrap();
    let found: Vec<_> = mixed
        .lowered
        .unsupported
        .iter()
        .map(|feature| format!("{}: {feature}", feature.symbol))
        .collect();
    assert_eq!(
        found,
        [
            "inline_ptx: kernels/mixed.cuh:4: inline PTX (`mov.u32`)",
            "nowhere: kernels/mixed.cu:12: a call of `elsewhere`, which this file does not define",
        ]
    );
    for (target, count) in [("cpu", 1), ("gfx1100", 1), ("compute_80", 2), ("sm_80", 2)] {
        if target == "sm_80" && cuda_cpp::ptxas().is_none() {
            continue;
        }
        let artifact = mixed.compile(target).unwrap_or_else(|error| panic!("{target}: {error}"));
        assert_eq!(artifact.kernels.len(), count, "{target}");
    }
    let after = mixed.run("everywhere", Launch::linear(1, 2), &[Value::floats(&[1.0, 2.5])]);
    assert!(after.iter().all(|after| after[0].numbers() == [3.0, 7.5]));
}

/// LLVM keeps the array in registers, and crashed with those of 16 bits.
#[test]
fn an_array_of_bytes_that_is_searched_compiles_for_every_processor_of_amd() {
    let search = lower(&source("search")).unwrap();
    for target in ["gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1151", "gfx1201"] {
        let artifact = search.compile(target).unwrap_or_else(|error| panic!("{target}: {error}"));
        assert_eq!(artifact.kernels.len(), 1, "{target}");
    }
    // Six queens, the first of them in each column.
    let starts: Vec<u32> = (0..6).flat_map(|column| [1 << column, column]).collect();
    let arguments = [6, 1, 6].map(|number: i32| Value::of(number)).into_iter();
    let arguments: Vec<_> =
        arguments.chain([Value::Words(starts), Value::Words(vec![0; 6])]).collect();
    let after = search.run("queens", Launch::linear(1, 32), &arguments);
    assert!(after.iter().all(|after| after[4].words() == [0, 1, 1, 1, 1, 0]));
}

const VARIABLES: &str = "
struct Pair { float first; int second; };
__constant__ float coefficients[4];
static __constant__ Pair pair;
__device__ unsigned calls;
__constant__ float table[2] = {0.5f, 0.25f};
namespace { __constant__ int anonymous; }
union Either { int i; float f; };
__constant__ Either either;
__global__ void k(float *x, int i) {
  atomicAdd(&calls, 1u);
  x[i] = coefficients[i & 3] + pair.first + pair.second + table[i & 1] + anonymous + either.f;
}
";

/// What the host can write is where its loaders look for it, and all else is the compiler's own: what it knows of `table`,
/// `anonymous` and `either` is in the code.
#[test]
fn variables_of_the_host_are_visible_in_every_binary_and_no_others_are() {
    let source = lower(&written("variables", VARIABLES)).unwrap();
    let known = source.lowered.variables.iter().map(|it| format!("{}: {}", it.symbol, it.ty));
    let expected = ["coefficients: [f32; 4]", "pair: Pair", "calls: u32"];
    assert_eq!(known.collect::<Vec<_>>(), expected);
    let warnings = &source.lowered.lowered.warnings;
    for unset in ["(anonymous namespace)::anonymous", "either"] {
        let text = format!("kernels/variables.cu: the __constant__ variable `{unset}` stays zero");
        assert!(warnings.contains(&text), "{warnings}");
    }
    let visible = |target: &str, prefix: &str| {
        let artifact = source.compile(target).unwrap_or_else(|error| panic!("{target}: {error}"));
        let text = String::from_utf8_lossy(&artifact.bytes).into_owned();
        let lines = text.lines().filter_map(|line| line.strip_prefix(prefix)).map(str::to_owned);
        (artifact, lines.collect::<Vec<_>>())
    };
    let (_, in_constant) = visible("compute_80", ".visible .const ");
    assert_eq!(in_constant, [".align 4 .b8 coefficients[16];", ".align 4 .b8 pair[8];"]);
    let (_, in_global) = visible("compute_80", ".visible .global ");
    assert_eq!(in_global, [".align 4 .u32 calls;"]);
    let (amd, _) = visible("gfx1100", "");
    let object = object::File::parse(&*amd.bytes).unwrap();
    let mut dynamic: Vec<_> = object
        .dynamic_symbols()
        .filter(|symbol| symbol.kind() == object::SymbolKind::Data)
        .filter_map(|symbol| Some((symbol.name().ok()?.to_owned(), symbol.size())))
        .filter(|(name, _)| !name.ends_with(".kd"))
        .collect();
    dynamic.sort();
    let expected = [("calls", 4), ("coefficients", 16), ("pair", 8)];
    assert_eq!(dynamic, expected.map(|(name, bytes)| (name.to_owned(), bytes)));
    let (cpu, _) = visible("cpu", "");
    let names: Vec<_> = cpu.variables.iter().map(|(symbol, _)| symbol.as_str()).collect();
    assert_eq!(names, ["calls", "coefficients", "pair"]);
}

#[test]
fn every_header_that_was_read_is_an_input_and_none_of_ours() {
    let mixed = lower(&mixed()).unwrap();
    let names: BTreeSet<_> = mixed
        .lowered
        .lowered
        .inputs
        .iter()
        .map(|path| path.file_name().unwrap().to_str().unwrap())
        .collect();
    assert!(names.contains("mixed.cu") && names.contains("mixed.cuh"), "{names:?}");
    assert!(names.contains("cmath"), "the system's are inputs too: {names:?}");
    assert!(!names.contains("prelude.h"), "{names:?}");
    assert!(mixed.lowered.lowered.inputs.iter().all(|path| path.is_absolute()));
}

#[test]
fn what_clang_refuses_is_shown_in_its_words_with_the_users_line_once() {
    let source =
        written("refused", "#include <thrust/sort.h>\n__global__ void k(int *x) { *x = 1 }\n");
    let message = lower(&source).unwrap_err().to_string();
    let start =
        "error: 'thrust/sort.h' file not found\n --> kernels/refused.cu:1\n  | 1 | #include";
    assert!(message.starts_with(start), "{message}");
    assert_eq!(message.matches("file not found").count(), 1, "{message}");
    assert!(message.contains("[kernels.NAME] targets = [...]"), "{message}");

    let source = written("syntax", "__global__ void k(int *x) {\n  *x = 1\n}\n");
    let message = lower(&source).unwrap_err().to_string();
    let start = "error: expected ';' after expression\n --> kernels/syntax.cu:2\n";
    assert!(message.starts_with(start), "{message}");
}

#[test]
fn warnings_are_kept_and_constants_that_nobody_can_set_are_one() {
    let text = "namespace { __constant__ float table[4]; }\nextern \"C\" __global__ void k(float *x) {\n  \
                int unused = 3;\n  x[0] = table[1];\n}\n";
    let mut source = written("warned", text);
    source.arguments = vec!["-Wall".into()];
    let warnings = lower(&source).unwrap().lowered.lowered.warnings;
    let lines: Vec<_> = warnings.lines().collect();
    assert_eq!(lines.len(), 2, "{warnings}");
    assert!(lines[0].starts_with("kernels/warned.cu:3: unused variable 'unused'"), "{warnings}");
    let ours =
        "kernels/warned.cu: the __constant__ variable `(anonymous namespace)::table` stays zero";
    assert!(lines[1].starts_with(ours), "{warnings}");
}

#[test]
fn a_source_is_told_the_architecture_of_the_target() {
    let text = "extern \"C\" __global__ void told(unsigned *x) {\n  x[0] = __CUDA_ARCH__;\n\
                #ifdef __CUDA_ARCH_FEAT_SM90_ALL\n  x[1] = __CUDA_ARCH_SPECIFIC__;\n#endif\n\
                #if __CUDA_ARCH_FAMILY_SPECIFIC__ == 1000\n  x[2] = 1;\n#endif\n}\n";
    let source = written("told", text);
    for (arch, expected) in [
        (None, [800, 0, 0]),
        (Some("compute_75"), [750, 0, 0]),
        (Some("sm_90a"), [900, 900, 0]),
        (Some("sm_100f"), [1000, 0, 1]),
    ] {
        let arch = arch.map(|target| match target.parse().unwrap() {
            Target::Ptx(arch) | Target::Cubin(arch) => arch,
            other => panic!("{other}"),
        });
        let lowered = lower_for(&source, arch).unwrap();
        let arguments = [Value::Words(vec![0; 3])];
        let after = lowered.run_on_cpu("told", Launch::linear(1, 1), &arguments).unwrap();
        assert_eq!(after[0].words(), expected, "{arch:?}");
    }
}

#[test]
fn arguments_of_nvcc_are_understood() {
    let text = "#if ANSWER != 42 || __cplusplus < 202002L\n#error wrong\n#endif\n\
                extern \"C\" __global__ void k(int *x) { *x = ANSWER; }\n";
    let mut source = written("arguments", text);
    source.arguments =
        ["-DANSWER=42", "--expt-relaxed-constexpr", "-O3", "--std=c++20", "-arch", "sm_90"]
            .map(str::to_owned)
            .to_vec();
    assert_eq!(lower(&source).unwrap().lowered.kernels.len(), 1);
}

/// File, line and message of a panic.
#[track_caller]
fn panic_of(error: &kernelmill::Error) -> (&str, u32, &str) {
    let kernelmill::Error::KernelPanic(panic) = error else { panic!("{error}") };
    let place = panic.location.expect("the compiler knows the place");
    (place.file, place.line, &panic.message)
}

#[test]
fn a_failed_assertion_is_a_panic_with_text_file_and_line() {
    let failures = lower(&source("failures")).unwrap();
    let x: Vec<u32> = vec![1, 2, 30, 4];
    let arguments = [Value::Words(x), Value::Words(vec![0; 4])];
    let error = failures.run_on_cpu("asserts", Launch::linear(1, 4), &arguments).unwrap_err();
    let expected = ("kernels/failures.cu", 7, "assertion failed: x[i] < 10 && \"too much\"");
    assert_eq!(panic_of(&error), expected);

    let arguments = [Value::Words(vec![0; 4]), Value::of(2_i32)];
    let error = failures.run_on_cpu("traps", Launch::linear(1, 4), &arguments).unwrap_err();
    assert_eq!(panic_of(&error), ("kernels/failures.cu", 12, "__trap() was called"));
    let arguments = [Value::Words(vec![0; 4]), Value::of(9_i32)];
    let after = failures.run_on_cpu("traps", Launch::linear(1, 4), &arguments).unwrap();
    assert_eq!(after[0].words(), [7; 4]);
    for target in ["compute_80", "gfx1100"] {
        let artifact = failures.compile(target).unwrap();
        // On AMD what `prints` prints is put together by code that has checks of its own.
        let own = artifact.locations.iter().filter(|place| place.file == "kernels/failures.cu");
        let lines: BTreeSet<_> = own.map(|place| place.line).collect();
        assert_eq!(lines, BTreeSet::from([7, 12]), "{target}");
        assert!(artifact.kernels[0].panics, "{target}");
        let texts: BTreeSet<_> = artifact.messages.iter().map(String::as_str).collect();
        let expected = ["assertion failed: x[i] < 10 && \"too much\"", "__trap() was called"];
        assert!(texts.is_superset(&BTreeSet::from(expected)), "{target}: {texts:?}");
        let trap = artifact.bytes.windows(5).any(|window| window == b"trap;");
        assert!(!trap, "{target}: a trap ends the context");
    }
}

#[test]
fn a_trap_of_nvccs_code_is_a_fault_of_the_emulator() {
    let Some(nvcc) = cuda_cpp::nvcc() else { return };
    let config = Config::new("compute_80".parse().unwrap());
    let (artifact, _) = nvcc.compile(&source("failures"), &config, &[]).unwrap();
    let emulator = OnEmulator::new(&artifact);
    let run = |which: i32| {
        let arguments = [Value::Words(vec![0; 4]), Value::of(which)];
        let options = ptx_emulator::Options::default();
        emulator.run("traps", Launch::linear(1, 4), &arguments, &options)
    };
    let fault = run(2).unwrap_err();
    assert_eq!((&fault.kind, &*fault.function), (&FaultKind::Trap, "traps"));
    assert_eq!((fault.block, fault.thread), ([0; 3], [2, 0, 0]));
    assert_eq!(run(9).unwrap()[0].words(), [7; 4]);
}

#[test]
fn too_much_static_shared_memory_in_nvccs_ptx_is_refused_with_kernel_and_array() {
    let Some(nvcc) = cuda_cpp::nvcc() else { return };
    let text = "__global__ void fits(int *y) { __shared__ int a[12288]; a[threadIdx.x] = *y; \
                __syncthreads(); *y = a[5]; }
                __global__ void large(int *y, int n) { __shared__ char b[1ull << 32]; b[n] = n; \
                __syncthreads(); *y = b[n / 2]; }";
    let source = written("large", text);
    let config = Config::new("compute_80".parse().unwrap());
    let message = nvcc.compile(&source, &config, &[]).unwrap_err().to_string();
    let expected = "kernel `large(int*, int)` in kernels/large.cu has 4294967296 bytes of static shared memory, \
                    and a block of compute_80 has 49152 at most: `large(int*, int)::b` has 4294967296";
    assert!(message.contains(expected) && !message.contains("fits"), "{message}");
    std::fs::write(&source.path, text.replace("1ull << 32", "64")).unwrap();
    let (artifact, _) = nvcc.compile(&source, &config, &[]).unwrap();
    let bytes = |name: &str| {
        let found = artifact.kernels.iter().find(|kernel| kernel.entry.contains(name));
        found.map(|kernel| kernel.static_shared_bytes)
    };
    assert_eq!((bytes("fits"), bytes("large")), (Some(49152), Some(64)));
}

#[test]
fn what_a_kernel_prints_on_the_cpu_is_on_standard_output() {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_prints")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut lines: Vec<_> = std::str::from_utf8(&output.stdout).unwrap().lines().collect();
    lines.sort_unstable();
    assert_eq!(
        lines,
        [
            "thread 0 of prints has 2.50, 1099511627776",
            "thread 1 of prints has 2.50, 1099511627776",
        ]
    );
    let failures = lower(&source("failures")).unwrap();
    let ptx = String::from_utf8(failures.compile("compute_80").unwrap().bytes).unwrap();
    assert!(ptx.contains("vprintf"), "{ptx}");
}

/// There it is formatted on the device, into the buffer that `gpu_println!` fills, and the host is told that there is one.
#[test]
fn what_a_kernel_prints_on_amd_is_in_a_buffer_of_its_launch() {
    let failures = lower(&source("failures")).unwrap();
    for target in ["gfx90a", "gfx1100"] {
        let bytes = failures.compile(target).unwrap().bytes;
        let has = |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
        for there in ["__kernelmill_prints", "thread %d of %s has %.2f, %lld", "prints"] {
            assert!(has(there), "{target}: {there}");
        }
        assert!(!has("printf"), "{target}: something is left that prints");
    }
}

#[test]
fn the_same_source_gives_the_same_bytes_without_a_path_of_the_machine() {
    let (first, second) =
        (lower(&source("failures")).unwrap(), lower(&source("failures")).unwrap());
    assert_eq!(first.lowered, second.lowered);
    let folder = env!("CARGO_MANIFEST_DIR").as_bytes();
    for target in ["compute_75", "gfx1100", "cpu"] {
        let [one, two] = [&first, &second].map(|source| source.compile(target).unwrap());
        assert_eq!(one, two, "{target}");
        let found = one.bytes.windows(folder.len()).any(|window| window == folder);
        assert!(!found, "{target}");
    }
    // Lines of headers, of which atomic operations consist.
    let basics = lower(&source("basics")).unwrap().compile("compute_75").unwrap().bytes;
    let ptx = String::from_utf8(basics).unwrap();
    assert!(ptx.contains("\"kernelmill-cuda/kernelmill/atomics.h\""), "{ptx}");
    assert!(!ptx.contains(env!("CARGO_MANIFEST_DIR")), "{ptx}");
}

/// The end of a reduction as samples for CUDA wrote it before 2017, and what is beside it in such code.
const LOCKSTEP: &str = "
extern \"C\" __global__ void reduce(const float *x, float *sums) {
  __shared__ float s[64];
  unsigned i = threadIdx.x;
  s[i] = x[i];
  __syncthreads();
  if (i < 32) {
    volatile float *v = s;
    v[i] += v[i + 32];
    v[i] += v[i + 16];
  }
  __syncthreads();
  if (i == 0) sums[blockIdx.x] = s[0];
}
extern \"C\" __global__ void fenced(int *x) {
  extern __shared__ int dynamic[];
  int i = threadIdx.x;
  dynamic[i] = x[i];
  __threadfence_block();
  x[i] = i > 0 ? dynamic[i - 1] : 0;
}
extern \"C\" __global__ void in_order(const float *x, float *sums) {
  __shared__ volatile float s[64];
  unsigned i = threadIdx.x;
  s[i] = x[i];
  for (unsigned distance = 32; distance > 0; distance /= 2) {
    __syncwarp();
    float other = s[(i + distance) % 64];
    __syncwarp();
    s[i] += other;
  }
  if (i == 0) sums[blockIdx.x] = s[0];
}
extern \"C\" __global__ void alone(const unsigned *x, unsigned *counts) {
  __shared__ volatile unsigned s[32 * 4];
  for (int k = 0; k < 4; k++) s[threadIdx.x + 32 * k] = 0;
  s[threadIdx.x + 32 * (x[threadIdx.x] % 4)]++;
  for (int k = 0; k < 4; k++) counts[threadIdx.x + 32 * k] = s[threadIdx.x + 32 * k];
}
";

#[test]
fn warp_synchronous_code_is_told_with_its_lines() {
    let artifact = lower(&written("lockstep", LOCKSTEP)).unwrap().compile("cpu").unwrap();
    let said = |kernel: &str, load: u32, store: u32| {
        format!(
            "kernels/lockstep.cu:{load}: kernel `{kernel}` reads shared memory that another thread of the warp \
             writes at kernels/lockstep.cu:{store}, with no barrier between: on the CPU, and on NVIDIA's devices \
             since Volta, the threads of a warp do not run in lockstep, so the read may come before the write; \
             write `__syncwarp();` between them"
        )
    };
    assert_eq!(artifact.warnings, [said("reduce", 10, 9), said("fenced", 20, 18)]);
}

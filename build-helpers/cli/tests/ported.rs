//! Packages of CUDA programs, which `new --from` makes, build, and launch what the programs launch.

mod packages;

use packages::{Package, command, kernelmill, succeed};
use std::fs;
use test_support::{TempDir, root, temporary_folder};

/// Makes a package of a CUDA program in a folder; gives what is left to the user too.
fn port(folder: &TempDir, name: &str, file: &str) -> (Package, Vec<String>) {
    let checkout = root();
    let path = checkout.display().to_string();
    let arguments = ["new", name, "--language", "cuda", "--from", file, "--kernelmill-path", &path];
    let made = succeed(&kernelmill(folder.path(), &[&arguments[..], &["--json"]].concat()));
    let made: serde_json::Value = serde_json::from_str(&made).unwrap();
    let notes = made["notes"].as_array().unwrap().iter().map(|it| it.as_str().unwrap().to_owned());
    let package = Package { folder: folder.path().join(name), name: name.to_owned() };
    fs::copy(checkout.join("Cargo.lock"), package.join("Cargo.lock")).unwrap();
    (package, notes.collect())
}

/// Writes values in place of what a program of `--from` asks for.
#[track_caller]
fn fill_in(package: &Package, values: &[(&str, &str)]) {
    let main = package.join("src/main.rs");
    let mut text = fs::read_to_string(&main).unwrap();
    for (what, value) in values {
        let quote = text.find(&format!("\"{what}")).unwrap_or_else(|| panic!("{what}\n{text}"));
        let start = text[..quote].rfind("fill_in").unwrap();
        let end = quote + 1 + text[quote + 1..].find('"').unwrap();
        let end = end + text[end..].find(')').unwrap() + 1;
        text.replace_range(start..end, value);
    }
    let helpers =
        ["/// An array that the program has to fill", "/// A value that the program has to say"];
    let end = helpers.iter().filter_map(|it| text.find(it)).min().unwrap();
    let (calls, _) = text.split_at(end);
    assert!(!calls.contains("fill_in(") && !calls.contains("fill_in_values("), "{text}");
    fs::write(main, calls).unwrap();
}

/// Two programs as they are found on the web: their kernels stay, their host code is put aside, and each launch has a function
/// that says what to fill in.
#[test]
fn kernels_of_cuda_programs_are_taken_over() {
    let folder = temporary_folder();
    fs::write(folder.path().join("vectorAdd.cu"), VECTOR_ADD).unwrap();
    fs::write(
        folder.path().join("helper.h"),
        "#pragma once\n#define BLOCK 256\ntypedef float real;\n",
    )
    .unwrap();
    let reduce = folder.path().join("src/reduce");
    fs::create_dir_all(&reduce).unwrap();
    fs::create_dir(folder.path().join("src/common")).unwrap();
    fs::write(reduce.join("reduce.cu"), REDUCE).unwrap();
    fs::write(reduce.join("reduce_kernel.cu"), REDUCE_KERNEL).unwrap();
    // Latin-1, as old files are.
    let check: Vec<u8> = CHECK.chars().map(|c| u8::try_from(c).unwrap()).collect();
    fs::write(folder.path().join("src/common/check.h"), check).unwrap();

    let (package, notes) = port(&folder, "ported_add", "vectorAdd.cu");
    let expected = [
        "vectorAdd.cu, line 4: the file `missing.h` is not found beside it, so it is not copied: name its folder with the setting `include`, or delete the line",
        "`main` (lines 24 to 46) is host code: it is between `#if 0` and `#endif` in kernels/vectorAdd.cu, to be ported and removed",
    ];
    assert_eq!(notes, expected);
    let manifest = fs::read_to_string(package.join("Cargo.toml")).unwrap();
    let rules = "# requires = [\"A.len >= numElements\", \"B.len >= numElements\", \"C.len >= numElements\", \
                 \"grid.x * block.x <= 2147483648\", \"grid.y * grid.z * block.y * block.z == 1\"]";
    assert!(manifest.contains("\n[package.metadata.kernelmill.kernels.vectorAdd]\n"), "{manifest}");
    assert!(manifest.contains(rules), "{manifest}");
    let kernel = package.join("kernels/vectorAdd.cu");
    let text = fs::read_to_string(&kernel).unwrap();
    assert!(package.join("kernels/helper.h").is_file());
    fs::write(&kernel, text.replace("#include \"missing.h\"\n", "")).unwrap();
    // The rules that were guessed are right here.
    fs::write(package.join("Cargo.toml"), manifest.replace("# requires", "requires")).unwrap();
    let main = package.join("src/main.rs");
    let text = fs::read_to_string(&main).unwrap();
    let dense: String = text.split_whitespace().collect();
    // Sizes are those of the program, in its variables.
    for expected in [
        "letnum_elements:i32=50000;",
        "letmutd_c=device.zeros::<f32>(num_elementsasusize)?;",
        "leth_a:Vec<f32>=fill_in_values(num_elementsasusize,\"`h_A`,which",
        "Launch::grid([(num_elementsasu32).div_ceil(threads_per_blockasu32)],[threads_per_blockasu32],)",
        "//InRust:`h_c=d_c.download()?;`",
        "show(\"d_c\",&d_c.download()?);",
        // Wrappers name the structure by its tag.
        "letmutd_places=device.zeros::<kernels::place>(2)?;",
    ] {
        assert!(dense.contains(expected), "{expected}\n{text}");
    }
    let values = [
        ("`h_A`, which line 32 copies to the device", "vec![1.5; 50000]"),
        ("`h_B`", "vec![0.25; 50000]"),
    ];
    fill_in(&package, &values);
    let text = fs::read_to_string(&main).unwrap();
    fs::write(&main, text.replacen("unsafe {", "{", 2)).unwrap();
    let mut run = command("cargo", &package, &["run", "--offline"]);
    let said = succeed(&run.env("KERNELMILL_DEVICE", "cpu").output().unwrap());
    // The second launch overwrites what the first has written, in the same buffer.
    let sums = [0.5, 0.5, 0.5, 0.5, 1.75, 1.75, 1.75, 1.75];
    let place = "place { lat: 2.5, lng: 0.0 }";
    let expected =
        format!("d_c: {sums:?} of 50000 values\nd_places: [{place}, {place}] of 2 values\n");
    assert_eq!(said, expected);

    let (package, notes) = port(&folder, "ported_reduce", "src/reduce/reduce.cu");
    let read = |file: &str| fs::read_to_string(package.join(file)).unwrap();
    let text = read("kernels/reduce/reduce.cu");
    let head = "#include <cstdio>\n#include <cstdint>  // #include <vector>\n#include \"../common/check.h\"\n#include \"reduce_kernel.cu.h\"\n";
    assert!(text.starts_with(head), "{text}");
    // A file that is included is no kernel file of its own.
    assert_eq!(read("kernels/reduce/reduce_kernel.cu.h"), REDUCE_KERNEL);
    let check = read("kernels/common/check.h");
    assert!(
        check.contains("mißlang.\n#if 0  // host code, to be ported\nstatic void check("),
        "{check}"
    );
    let expected = [
        "check.h is not UTF-8: it is read as Latin-1 and written as UTF-8; the first line with another sign than ASCII is 5",
        "`main` (lines 12 to 26) is host code: it is between `#if 0` and `#endif` in kernels/reduce/reduce.cu, to be ported and removed",
        "kernels/common/check.h: host code is between `#if 0` and `#endif` in it, to be ported and removed: `check`",
        "kernels/reduce/reduce.cu, line 10: a macro that launches a kernel is not taken over",
    ];
    assert_eq!(notes, expected);
    let todo = format!("    // TODO: {}.\n", expected[3]);
    assert!(read("src/main.rs").contains(&todo), "{}", read("src/main.rs"));
    let manifest = fs::read_to_string(package.join("Cargo.toml")).unwrap();
    assert!(manifest.contains("\ninstances = [\"float, 128\", \"int, BLOCK\"]\n"), "{manifest}");
    let values = [
        ("`n`: `int n = values.size()` in line 16, and it may be changed later", "1000"),
        ("`values`, which line 21 copies to the device", "vec![1.0; 1000]"),
    ];
    fill_in(&package, &values);
    let main = package.join("src/main.rs");
    let text = fs::read_to_string(&main).unwrap();
    let dense: String = text.split_whitespace().collect();
    for expected in [
        "constBLOCKS:usize=8;",
        "letblocks:i32=(n+127)/128;",
        "Launch::grid([blocksasu32],[128]).shared_bytes(128*size_of::<f32>());",
        "Launch::grid([blocksasu32],[BLOCKasu32]).shared_bytes(BLOCK*size_of::<i32>());",
        "letmutd_sums=device.zeros::<i32>(BLOCKS)?;",
    ] {
        assert!(dense.contains(expected), "{expected}\n{text}");
    }
    let text = text
        .replace(
            "let d_numbers = device.zeros::<i32>(n as usize)?",
            "let d_numbers = device.upload(&[3_i32; 1000])?",
        )
        .replace(".min(8)", ".min(9)");
    fs::write(&main, text).unwrap();
    let mut run = command("cargo", &package, &["run", "--offline"]);
    let said = succeed(&run.env("KERNELMILL_DEVICE", "cpu").output().unwrap());
    let (first, second) = said.split_once('\n').unwrap();
    let mut sums = [128.0_f32; 8];
    sums[7] = 104.0;
    assert_eq!(first, format!("d_out: {sums:?} of 8 values"));
    let numbers = second.trim().trim_start_matches("d_sums: [").split(']').next().unwrap();
    let sum: i32 = numbers.split(", ").map(|number| number.parse::<i32>().unwrap()).sum();
    assert_eq!(sum, 3000, "{said}");

    // What has no kernel, or may be another encoding than it looks, is refused before anything is made.
    fs::write(folder.path().join("none.cu"), "#include \"missing.h\"\nint main() {}\n").unwrap();
    fs::write(folder.path().join("signs.cu"), b"// \xe4\n__global__ void k\xe4() {}\n").unwrap();
    for (file, expected) in [
        (
            "none.cu",
            "no `__global__` function is in it or in the files that it includes\nnone.cu, line 1: the file `missing.h` is",
        ),
        (
            "signs.cu",
            "signs.cu, line 2: the file is not UTF-8, and the line has other signs than ASCII outside of comments",
        ),
    ] {
        let arguments = ["new", "other", "--language", "cuda", "--from", file];
        let output = kernelmill(folder.path(), &arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains(expected), "{said}");
    }
    let arguments = ["new", "other", "--from", "vectorAdd.cu"];
    let output = kernelmill(folder.path(), &arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("write `--language cuda` too"), "{said}");
    assert!(!folder.path().join("other").exists());
}

const VECTOR_ADD: &str = r#"#include <stdio.h>
#include <cuda_runtime.h>
#include "helper.h"
#include "missing.h"

/**
 * Computes the vector addition of A and B into C.
 */
__global__ void vectorAdd(const float *A, const float *B, real *C, int numElements) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < numElements) {
        C[i] = A[i] + B[i];
    }
}

typedef struct alignas(8) place {
    float lat, lng;
} Place;

__global__ void locate(Place *places, float lat) {
    places[threadIdx.x].lat = lat;
}

int main(void) {
    int numElements = 50000;
    size_t size = numElements * sizeof(float);
    float *h_A = (float *)malloc(size), *h_B = (float *)malloc(size), *h_C = (float *)malloc(size);
    float *d_A, *d_B, *d_C;
    cudaMalloc((void **)&d_A, size);
    cudaMalloc((void **)&d_B, size);
    cudaMalloc((void **)&d_C, size);
    cudaMemcpy(d_A, h_A, size, cudaMemcpyHostToDevice);
    cudaMemcpy(d_B, h_B, size, cudaMemcpyHostToDevice);
    int threadsPerBlock = 256;
    int blocksPerGrid = (numElements + threadsPerBlock - 1) / threadsPerBlock;
    vectorAdd<<<(numElements + threadsPerBlock - 1) / threadsPerBlock, threadsPerBlock>>>(d_A, d_B, d_C, numElements);
    vectorAdd<<<1, 4>>>(d_B, d_B, d_C, 4);
    cudaMemcpy(h_C, d_C, size, cudaMemcpyDeviceToHost);
    cudaFree(d_A);
    Place *d_places, h_places[2];
    cudaMalloc(&d_places, 2 * sizeof(Place));
    locate<<<1, 2>>>(d_places, 2.5f);
    cudaMemcpy(h_places, d_places, sizeof h_places, cudaMemcpyDeviceToHost);
    printf("%d blocks: %f {\n", blocksPerGrid, h_C[0]);
    return 0;
}
"#;

const REDUCE: &str = r#"#include <cstdio>
#include <vector>
#include "../common/check.h"
#include "reduce_kernel.cu"

const int BLOCK = 256;
__device__ uint64_t launches;
#define BLOCKS 8
#define AGAIN(in, out) \
    sums::reduce<int, BLOCK><<<1, BLOCK>>>(in, out, 1)

int main() {
    std::vector<float> values(1 << 20, 1.0f);
    float *d_in, *d_out;
    int *d_numbers, *d_sums;
    int n = values.size(), blocks = (n + 127) / 128;
    CHECK(cudaMalloc(&d_in, n * sizeof(float)));
    CHECK(cudaMalloc(&d_out, blocks * sizeof(float)));
    CHECK(cudaMalloc(&d_numbers, n * sizeof(int)));
    CHECK(cudaMalloc(&d_sums, BLOCKS * sizeof(int)));
    CHECK(cudaMemcpy(d_in, values.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    sums::reduce<float, 128><<<blocks, 128, 128 * sizeof(float)>>>(d_in, d_out, n);
    void *arguments[] = {&d_numbers, (void *)&d_sums, &n};
    CHECK(cudaLaunchKernel((void *)sums::reduce<int, BLOCK>, blocks, BLOCK, arguments, BLOCK * sizeof(int), 0));
    CHECK(cudaDeviceSynchronize());
}
"#;

const CHECK: &str = r#"#pragma once
#include <cstdlib>
#define CHECK(call) check((call), __LINE__)

// Beendet das Programm, wo ein Aufruf mißlang.
static void check(cudaError_t error, int line) {
    if (error != cudaSuccess) std::printf("line %d: %s\n", line, cudaGetErrorString(error));
    if (error != cudaSuccess) exit(1);
}
"#;

const REDUCE_KERNEL: &str = r#"namespace sums {
template <typename T, int N>
__global__ void reduce(const T *__restrict__ in, T *out, int n) {
    extern __shared__ unsigned char memory[];
    T *partial = reinterpret_cast<T *>(memory);
    unsigned t = threadIdx.x, i = blockIdx.x * N + t;
    partial[t] = i < n ? in[i] : T(0);
    __syncthreads();
    for (int half = N / 2; half > 0; half /= 2) {
        if (t < half) partial[t] += partial[t + half];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = partial[0];
}
}
"#;

#!/bin/sh
# Runs what this folder holds on the NVIDIA GPU of this machine:
#
#   run.sh [FOLDER [STEP...]]
#
# A step is one of those below; without one, all are run. What each program prints goes to FOLDER (default: this one), one
# line of each to standard output. Ends with an error where anything failed or differs.
#
#   kernels   every kernel of examples and tests, compared with the CPU or plain Rust
#   forms     the same with the instructions of Hopper alone, which needs such a GPU, and as PTX
#   random    random kernels in Rust and in CUDA C++, compared with plain Rust
#   checks    kernels in LLVM IR, OpenCL C, HIP, CUDA C++ and PTX, faults, panics, printing, compared
#   tests     the tests of the run-time back end, on this machine's driver
#   examples  each example, which verifies its result
#   figures   kernels on large inputs, timed: ours, and nvcc's code of the same
#   vulkan    kernels in WGSL by the GPU's driver of Vulkan; not among those that are run without being asked for
#   opencl    kernels in OpenCL C by its driver of OpenCL, in the same way
#   math      the error of mathematical functions, in the same way
#   tuning    block sizes and tiles of examples/blas: what `cargo kernelmill tune --printed` takes
#   costs     what a launch and a look-up in the module cache cost
set -u
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here}
[ $# -eq 0 ] || shift
mkdir -p "$out"
out=$(cd "$out" && pwd)
wrong=0
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader > "$out/machine.txt" 2>/dev/null || true
: > "$out/steps.txt"

# one NAME SECONDS PROGRAM ARGUMENT...
one() {
    name=$1 limit=$2
    shift 2
    begin=$(date +%s)
    timeout "$limit" "$@" > "$out/$name.txt" 2>&1
    status=$?
    case $status in
    0) said=passed ;;
    *) said="FAILED ($status)" wrong=1 ;;
    esac
    echo "$name: $said, $(($(date +%s) - begin)) s" | tee -a "$out/steps.txt"
}

# same NAME FILTER PROGRAM WHAT: what the program prints for the GPU is what it prints for the CPU, in whatever order of the
# lines, after sed has done FILTER to both.
same() {
    name=$1 filter=$2 program=$3 what=$4
    one "$name" 120 "$program" cuda "$what"
    timeout 120 "$program" cpu "$what" > "$out/$name-cpu.txt" 2>&1
    for printed in "$name" "$name-cpu"; do
        sed -E "$filter" "$out/$printed.txt" | sort > "$out/$printed.sorted"
    done
    if ! diff "$out/$name-cpu.sorted" "$out/$name.sorted" > "$out/$name.diff"; then
        echo "$name: DIFFERS from the CPU in $(grep -c '^[<>]' "$out/$name.diff") lines" | tee -a "$out/steps.txt"
        wrong=1
    fi
}

kernels() {
    one kernels 300 "$here/gpu-suite" --compare --json "$out/kernels.json"
}

forms() {
    one kernels-sm_90a 300 "$here/gpu-suite-sm_90a" --compare
    one kernels-ptx 300 "$here/gpu-suite-ptx" --compare
}

random() {
    one random 300 "$here/differential" --cuda
    one random-nvcc 300 "$here/random-cuda-nvcc"
    one random-clang 300 "$here/random-cuda-clang"
}

checks() {
    for program in llvm-ir opencl-c hip-cpp mixed-sources; do
        one "checks-$program" 120 "$here/checks/$program" cuda
    done
    one checks-conformance 120 "$here/checks/conformance" cuda
    one checks-sanitized-conformance 120 "$here/checks/sanitized" cuda conformance
    same checks-sanitized-correct '' "$here/checks/sanitized" correct
    # Which of two threads finds a race depends on their order.
    same checks-sanitized-faults 's/: .*a race.*/: a race/; s/ \(block .*//' "$here/checks/sanitized" faults
    for what in failures passed prints heap boxes; do
        same "checks-device-library-$what" '' "$here/checks/device-library" "$what"
    done
}

tests() {
    for test in "$here"/tests/*; do
        one "tests-${test##*/}" 150 env KERNELMILL_TEST_DRIVER=real "$test"
    done
}

examples() {
    cd "$out" || exit
    for example in "$here"/examples/*; do
        one "examples-${example##*/}" 120 env KERNELMILL_DEVICE=cuda:0 OCL_ICD_VENDORS=/none VK_DRIVER_FILES=/none "$example"
    done
}

figures() {
    one figures 200 "$here/gpu-suite" --json "$out/gpu.json" --markdown "$out/gpu.md"
    one figures-nvcc 200 "$here/gpu-suite-nvcc" --json "$out/gpu-nvcc.json"
}

tuning() {
    blocks= tiles=
    for types in f32 f64 Half; do
        other=$types
        [ $types != Half ] || other=f32
        for tile in 1 4 16; do
            blocks=$blocks,axpy_${types}_${other}_$tile
        done
        for routine in axpy dot gemv gemm; do
            tiles=$tiles,${routine}_$types
        done
    done
    one tuning-blocks 120 env KERNELMILL_DEVICE=cuda "KERNELMILL_TUNE=${blocks#,}" "$here/tune"
    one tuning-tiles 120 env KERNELMILL_DEVICE=cuda "KERNELMILL_TUNE=${tiles#,}" "$here/tune"
}

vulkan() {
    one vulkan 120 "$here/checks/wgsl"
}

opencl() {
    one opencl 120 "$here/checks/opencl-c" opencl
}

math() {
    one math 200 "$here/checks/math-table" --device cuda --points 1000000 --doubles 30000
}

costs() {
    for bench in "$here"/costs/*; do
        one "costs-${bench##*/}" 150 "$bench"
    done
}

for step in ${*:-kernels forms random checks tests examples figures costs tuning}; do
    "$step"
done
exit $wrong

#!/bin/sh
# Runs every kernel on the NVIDIA GPU of this machine and on its CPU, compares, and times; then
# compares random kernels, in Rust and in CUDA C++, with plain Rust. Ends with an error where
# anything differs.
# Writes gpu.json, gpu.md and random.txt into the folder given (default: this one); further
# arguments are those of gpu-suite: `run.sh out --compare` does not time.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here}
[ $# -eq 0 ] || shift
mkdir -p "$out"
wrong=0
"$here/gpu-suite" --json "$out/gpu.json" --markdown "$out/gpu.md" "$@" || wrong=1
"$here/differential" --cuda > "$out/random.txt" || wrong=1
"$here/random-cuda-nvcc" >> "$out/random.txt" || wrong=1
"$here/random-cuda-clang" >> "$out/random.txt" || wrong=1
cat "$out/random.txt"
exit $wrong

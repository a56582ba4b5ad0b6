//! Builds of small packages: what is refused, and what is said of it.

use test_support::{Build, Package};

/// A package for these targets with these files.
fn package(targets: &str, files: &[(&str, &str)]) -> Package {
    let settings = format!("targets = [{targets}]\n");
    Package::new(env!("CARGO_BIN_EXE_build_wgsl_package"), &settings, files)
}

/// Builds a package that must fail, and compares what is said.
#[track_caller]
fn fails(name: &str, package: &Package) {
    package.fails(env!("CARGO_MANIFEST_DIR"), name);
}

const VULKAN: &str = "\"vulkan\"";

#[test]
fn errors_of_all_files_are_shown_with_their_places() {
    let syntax = "@compute @workgroup_size(1)\nfn a() {\n    let x = 1\n}\n";
    let unknown = "@compute @workgroup_size(1)\nfn b() {\n    let x = nothing_here(1.0);\n}\n";
    let types = "@compute @workgroup_size(1)\nfn c() {\n    let x: f32 = 1u;\n}\n";
    let invalid = "@group(0) @binding(0) var<storage> x: array<f32>;\n\
                   @compute @workgroup_size(0)\nfn d() {\n    _ = x[0];\n}\n";
    let uniformity = "@group(0) @binding(0) var<uniform> x: array<f32, 4>;\n\
                      @compute @workgroup_size(1)\nfn e() {\n    _ = x[0];\n}\n";
    let files = [
        ("kernels/a.wgsl", syntax),
        ("kernels/b.wgsl", unknown),
        ("kernels/c.wgsl", types),
        ("kernels/d.wgsl", invalid),
        ("kernels/e.wgsl", uniformity),
    ];
    fails("syntax", &package(VULKAN, &files));
}

#[test]
fn what_a_launch_cannot_give_is_refused_with_its_place() {
    let text = "struct List { count: u32, items: array<f32> }\n\
                @group(0) @binding(0) var picture: texture_2d<f32>;\n\
                @group(0) @binding(1) var how: sampler;\n\
                @group(0) @binding(2) var<storage, read_write> list: List;\n\
                @group(0) @binding(3) var<storage, read_write> fine: array<f32>;\n\n\
                @compute @workgroup_size(1)\nfn sampled() {\n    \
                fine[0] = textureSampleLevel(picture, how, vec2(0.5), 0.0).x + list.items[0];\n}\n";
    fails("textures", &package(VULKAN, &[("kernels/textures.wgsl", text)]));
}

#[test]
fn a_file_without_a_compute_entry_point_is_refused() {
    let text = "// @compute comes later.\n\
                @fragment fn color() -> @location(0) vec4<f32> { return vec4<f32>(); }\n";
    fails("no-kernel", &package(VULKAN, &[("kernels/color.wgsl", text)]));
}

#[test]
fn constants_without_values_are_refused() {
    let text = "override WIDTH: u32;\noverride SCALE: f32;\n\
                @group(0) @binding(0) var<storage, read_write> x: array<f32>;\n\
                @compute @workgroup_size(WIDTH) fn k() { x[0] *= SCALE; }\n";
    let package = package(VULKAN, &[("kernels/k.wgsl", text)]);
    package.write("kernelmill.toml", "targets = [\"vulkan\"]\ndefine = { WIDTH = \"wide\" }\n");
    fails("constants", &package);
}

#[test]
fn a_group_that_is_too_large_is_refused() {
    let text = "@compute @workgroup_size(64, 64) fn k() {}\n";
    fails("group", &package(VULKAN, &[("kernels/group.wgsl", text)]));
}

#[test]
fn targets_that_do_not_suit_are_refused_before_any_work() {
    let text = "@compute @workgroup_size(1) fn k() {}\n";
    fails("target", &package("\"cpu\"", &[("kernels/a.wgsl", text)]));
    fails("no-source", &package("\"cpu\", \"vulkan\"", &[("kernels/a.wgsl", text)]));
}

#[test]
fn names_are_those_of_one_kernel() {
    let text = "@compute @workgroup_size(1) fn main() {}\n";
    fails("names", &package(VULKAN, &[("kernels/a.wgsl", text), ("kernels/b.wgsl", text)]));
}

/// LLVM and rustc have no part in it.
#[test]
fn no_compiler_need_be_there() {
    let text = "@compute @workgroup_size(1) fn k() {}\n";
    let mut package = package(VULKAN, &[("kernels/a.wgsl", text)]);
    package.variables.push(("RUSTC", "no-such-rustc".to_owned()));
    assert_eq!(package.summary(), "kernelmill: compiled 1 cached 0");
}

/// What is beyond plain WGSL, not every device has.
#[test]
fn extensions_are_refused() {
    let text = "enable f16;\n@group(0) @binding(0) var<storage, read_write> x: array<f16>;\n\
                @compute @workgroup_size(1) fn k() { x[0] = 1h; }\n";
    fails("extensions", &package(VULKAN, &[("kernels/half.wgsl", text)]));
}

/// A change of the settings is one of the code.
#[test]
fn constants_of_the_settings_are_compiled_in() {
    let text = "override N: u32 = 3;\n@group(0) @binding(0) var<storage, read_write> x: array<u32>;\n\
                @compute @workgroup_size(1) fn k() { x[0] = N; }\n";
    let package = package(VULKAN, &[("kernels/k.wgsl", text)]);
    let code = || {
        assert_eq!(package.summary(), "kernelmill: compiled 1 cached 0");
        std::fs::read(package.path("target/out/k.wgsl.vulkan.spv"))
    };
    let first = code().expect("the build has written it");
    assert_eq!(code().expect("as before"), first);
    package.write("kernelmill.toml", "targets = [\"vulkan\"]\ndefine = { N = 70000 }\n");
    let second = code().expect("as before");
    assert!(first != second && second.windows(4).any(|word| word == 70_000_u32.to_le_bytes()));
}

/// Kernels in Rust: each line that has no code for Vulkan, all at once.
#[test]
fn what_vulkan_lacks_is_refused_in_rust() {
    let text = "use kernelmill_device::prelude::*;\n\n\
                #[kernel]\npub fn prints(x: &[u32]) {\n    gpu_println!(\"{}\", x.len());\n}\n\n\
                #[kernel]\npub fn chooses(which: &[usize], x: &[f32], y: &[f32], mut z: DisjointSlice<f32>) {\n    \
                let i = thread::index_1d();\n    let sources = [x, y];\n    \
                if let Some(out) = z.get_mut(i) {\n        *out = sources[which[i.get()]][i.get()];\n    }\n}\n\n\
                #[kernel]\npub fn parts(x: &[u32]) {\n    for _ in 0..x[thread::thread_idx().x as usize] {\n        \
                thread::sync_threads();\n    }\n}\n";
    fails("rust", &package(VULKAN, &[("kernels/lacking.rs", text)]));
}

/// What Metal and D3D12 get of a kernel, also where a file stands for it.
#[test]
fn translations_are_written_where_they_are_asked_for() {
    let text = |summand: u32| {
        format!(
            "@group(0) @binding(3) var<storage, read_write> x: array<u32>;\n\
             @compute @workgroup_size(32) fn k(@builtin(global_invocation_id) id: vec3<u32>) {{\n    \
             x[id.x] += {summand}u;\n}}\n"
        )
    };
    let mut package = package(VULKAN, &[("kernels/k.wgsl", &text(7)), ("other.wgsl", &text(9))]);
    assert_eq!(package.summary(), "kernelmill: compiled 1 cached 0");
    let folder = package.path("target/out/kernelmill/dump");
    assert!(!folder.exists(), "nothing was asked for");
    package.variables.push(("KERNELMILL_DUMP", "msl,hlsl".to_owned()));
    assert_eq!(package.build().error, None);
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect("it is dumped");
    let (metal, hlsl) = (read("k.vulkan.metal"), read("k.vulkan.hlsl"));
    assert!(metal.contains("kernel void k(") && metal.contains("x [[buffer(0)]]"), "{metal}");
    assert!(metal.contains("_buffer_sizes [[buffer(1)]]") && metal.contains("7u"), "{metal}");
    assert!(hlsl.contains("[numthreads(32, 1, 1)]") && hlsl.contains("register(u0)"), "{hlsl}");
    package.variables.push(("KERNELMILL_OVERRIDE_k", "other.wgsl".to_owned()));
    assert_eq!(package.build().error, None);
    assert!(read("k.vulkan.k.metal").contains("9u"));
}

/// What the compiler writes for Vulkan of a kernel in Rust, beside a file in WGSL as it is, and which stages the two have.
#[test]
fn the_text_of_compiled_kernels_is_written_where_it_is_asked_for() {
    let own = "@group(0) @binding(0) var<storage, read_write> x: array<u32>;\n\
               @compute @workgroup_size(8) fn k() { x[0] = 7u; }\n";
    let rust = "use kernelmill_device::prelude::*;\n\n\
                #[kernel]\npub fn scale(a: f32, mut y: DisjointSlice<f32>) {\n    \
                if let Some(y) = y.get_mut(thread::index_1d()) {\n        *y *= a;\n    }\n}\n\n\
                #[kernel]\npub fn clear(mut y: DisjointSlice<u32>) {\n    \
                if let Some(y) = y.get_mut(thread::index_1d()) {\n        *y = 0;\n    }\n}\n";
    let mut package = package(VULKAN, &[("kernels/k.wgsl", own), ("kernels/two.rs", rust)]);
    package.variables.push(("KERNELMILL_DUMP", "all".to_owned()));
    assert_eq!(package.build().error, None);
    let folder = package.path("target/out/kernelmill/dump");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect("it is dumped");
    assert_eq!(read("k.vulkan.wgsl"), own);
    let (scale, clear) = (read("scale.vulkan.wgsl"), read("clear.vulkan.wgsl"));
    for text in [&scale, &clear] {
        let entries = text.matches("@compute").count();
        assert!(
            entries == 1 && text.contains("fn kernel0(") && text.contains("launch0[0u]"),
            "{text}"
        );
    }
    assert!(
        scale.contains("bitcast<f32>(") && scale.contains(" * ") && scale.contains("value0_0"),
        "{scale}"
    );
    assert!(!clear.contains("bitcast<f32>("), "{clear}");
    let entries = std::fs::read_dir(&folder).unwrap();
    let mut names: Vec<_> =
        entries.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    let of = |kernel: &str, ends: &[&str]| -> Vec<String> {
        ends.iter().map(|end| format!("{kernel}.vulkan.{end}")).collect()
    };
    let compiled = ["ir.ll", "linked.ll", "opt.ll", "wgsl"];
    let expected =
        [of("clear", &compiled), of("k", &["hlsl", "metal", "wgsl"]), of("scale", &compiled)];
    assert_eq!(names, expected.concat());
}

/// LLVM's IR and CUDA C++ in place of a kernel in Rust, in the code for Vulkan too.
#[test]
fn files_stand_for_stages_of_compiled_kernels() {
    let rust = "use kernelmill_device::prelude::*;\n\n\
                #[kernel]\npub fn fill(mut y: DisjointSlice<u32>) {\n    \
                if let Some(y) = y.get_mut(thread::index_1d()) {\n        *y = 7717;\n    }\n}\n";
    let cuda = "extern \"C\" __global__ void fill(unsigned *y, size_t count) {\n    \
                size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;\n    \
                if (i < count) y[i] = 9919;\n}\n";
    let mut package = package(VULKAN, &[("kernels/fill.rs", rust), ("other.cu", cuda)]);
    package.variables.push(("KERNELMILL_DUMP", "ir,wgsl".to_owned()));
    assert_eq!(package.build().error, None);
    let read = |package: &Package, name: &str| {
        let folder = package.path("target/out/kernelmill/dump");
        std::fs::read_to_string(folder.join(name)).expect("it is dumped")
    };
    assert!(read(&package, "fill.vulkan.wgsl").contains("7717u"));
    let edited = read(&package, "fill.vulkan.ir.ll").replace("i32 7717", "i32 8818");
    std::fs::write(package.path("edited.ll"), edited).unwrap();
    let mut files = vec![("edited.ll", "8818u")];
    files.extend(test_support::tool::clang().map(|_| ("other.cu", "9919u")));
    for (file, value) in files {
        package.variables.push(("KERNELMILL_OVERRIDE_fill", file.to_owned()));
        let Build { lines, error } = package.build();
        assert_eq!(error, None, "{file}");
        assert!(lines.contains(file), "{lines}");
        let text = read(&package, "fill.vulkan.wgsl");
        assert!(text.contains(value) && !text.contains("7717u"), "{file}: {text}");
        package.variables.pop();
    }
}

/// Devices of Vulkan run it, so that it is no error.
#[test]
fn what_metal_and_d3d12_cannot_load_is_a_warning_with_its_place() {
    let text = "@group(0) @binding(0) var<storage, read_write> x: array<f32>;\n\
                @compute @workgroup_size(1) fn k() {\n    x[0] = modf(x[1]).fract;\n}\n";
    let package = package(VULKAN, &[("kernels/k.wgsl", text)]);
    let Build { lines: said, error } = package.build();
    assert_eq!(error, None);
    let expected =
        "kernels/k.wgsl:3:12: devices of Metal and D3D12 cannot load kernels that call `modf`";
    assert!(said.contains(expected), "{said}");
}

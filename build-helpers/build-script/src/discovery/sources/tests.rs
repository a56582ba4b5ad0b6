use super::*;
use crate::{
    base::{cargo::Cargo, environment::BuildEnvironment},
    settings::{layer::Layer, package::Package, resolve},
    test_support::{Project, SAXPY, Shared},
};
use std::fs;

const TARGET: &str = "targets = [\"sm_90\"]";

fn kernel(name: &str) -> String {
    format!("#[kernel] fn {name}() {{}}")
}

/// The kernels of a project with these kernel files, each named after its file.
fn found(files: &[(&str, &str)], builder: Layer) -> Vec<String> {
    let mut project = Project::new(TARGET, &[]);
    for (path, name) in files {
        project.write(&format!("app/{path}"), &kernel(name));
    }
    project.builder = builder;
    project.build().result.unwrap_or_else(|error| panic!("{error}")).kernels
}

fn list(items: &[&str]) -> Option<Vec<String>> {
    Some(items.iter().map(|item| (*item).to_owned()).collect())
}

#[test]
fn folders_files_and_patterns_add_to_each_other() {
    let files =
        [("kernels/a.rs", "a"), ("gpu/deep/b.rs", "b"), ("one/c.rs", "c"), ("one/d.rs", "d")];
    assert_eq!(found(&files, Layer::default()), ["a"], "the default");
    let builder = Layer {
        source_dirs: list(&["gpu", "./kernels"]),
        source_files: list(&["one/c.rs", "kernels/a.rs"]),
        ..Layer::default()
    };
    assert_eq!(found(&files, builder), ["b", "a", "c"]);
    let builder = Layer { source_globs: list(&["one/*.rs", "**/b.rs"]), ..Layer::default() };
    assert_eq!(found(&files, builder), ["b", "c", "d"]);
}

#[test]
fn hidden_excluded_and_header_files_are_no_sources() {
    let files = [
        ("kernels/a.rs", "a"),
        ("kernels/.hidden.rs", "b"),
        ("kernels/.git/c.rs", "c"),
        ("kernels/old/d.rs", "d"),
        ("kernels/e_test.rs", "e"),
        ("kernels/_part.cu", "__global__"),
        ("kernels/x.cuh", "__global__"),
        ("kernels/x.h", "__global__"),
        ("kernels/README.md", "kernel"),
        ("kernels/host.cu", "no_marker"),
        ("kernels/target/CACHEDIR.TAG", "x"),
        ("kernels/target/f.rs", "f"),
    ];
    let builder = Layer { excludes: list(&["kernels/old", "*_test.rs"]), ..Layer::default() };
    assert_eq!(found(&files, builder), ["a"]);
}

#[test]
fn kernels_outside_the_package_are_named_relative_to_it() {
    let mut project = Project::new(TARGET, &[]);
    project.write("shared/saxpy.rs", SAXPY);
    project.builder.source_dirs = list(&["../shared"]);
    assert_eq!(project.counts(), (1, 0));
    let text = std::fs::read_to_string(project.out().join("kernels.rs")).unwrap();
    assert!(text.contains("source: \"../shared/saxpy.rs\""));
}

#[test]
fn a_build_without_kernels_says_where_it_looked() {
    let project = Project::new("", &[("kernels/helper.rs", "pub fn helper() {}")]);
    let expected = "error[KM0020]: no kernels found in the folder `kernels`\n  help: mark a function with \
                    `#[kernel]`, for example in `kernels/saxpy.rs`";
    assert_eq!(project.error(), expected);
    let project = Project::new("source-dir = \"gpu\"", &[]);
    assert!(
        project
            .error()
            .starts_with("error[KM0020]: there is no folder `gpu` to look for kernels in")
    );
}

#[test]
fn other_languages_and_wrong_names_are_refused_by_name() {
    let project = Project::new(
        "source-files = [\"a.rs\", \"b.txt\", \"c.rs\"]\nsource-dir = \"k\"",
        &[("a.rs", "pub fn helper() {}"), ("b.txt", ""), ("k/x.wgsl", "@compute fn main() {}")],
    );
    let mut expected = "\
error[KM0021]: there is no file `c.rs`, which is named as a kernel source
 --> Cargo.toml:7:34
  |
7 | source-files = [\"a.rs\", \"b.txt\", \"c.rs\"]
  |                                  ^^^^^^
  |
  = help: write its path relative to Cargo.toml

error[KM0022]: `a.rs` is named as a source and has no kernel
  help: mark a function with `#[kernel]`, or leave the file out

error[KM0022]: `b.txt` is not a kernel source
  help: name a file with the extension .rs, .cu, .hip, .cl, .ll, .bc, .ptx or .wgsl

error[KM0026]: `k/x.wgsl` is in WGSL, and kernelmill-build was built without support for it
  help: enable the feature `wgsl` of kernelmill-build in Cargo.toml: `features = [\"wgsl\"]`";
    if cfg!(feature = "wgsl") {
        expected = expected.split("\n\nerror[KM0026]: `k/x.wgsl`").next().unwrap();
    }
    assert_eq!(project.error(), expected);
}

#[test]
fn what_settings_name_and_is_not_there_is_marked_where_it_is_named() {
    let metadata = "source-dir = [\"kernels\", \"no/dir\"]\nsource-files = \"no.rs\"\n\
        source-glob = \"none/*.rs\"\ninclude = [\"headers\"]\n";
    let project = Project::new(metadata, &[("kernels/a.rs", "#[kernel] fn a() {}")]);
    let error = project.error();
    for line in 7..=10 {
        assert!(error.contains(&format!(" --> Cargo.toml:{line}:")), "{line} in\n{error}");
    }
    assert_eq!(error.matches("error[").count(), 4, "{error}");
    let project = Project::new("host-files = [\"*.cu\"]\n", &[]);
    assert!(project.error().contains(" --> Cargo.toml:7:15"), "{}", project.error());
}

#[test]
fn two_kernels_of_one_name_are_refused_with_both_places() {
    let project = Project::new(
        TARGET,
        &[
            ("kernels/a.rs", "fn helper() {}\n#[kernel]\npub fn scale() {}\n"),
            ("kernels/b.rs", "fn helper() {}\n#[kernel] fn scale(x: f32) {}\n"),
        ],
    );
    let expected = "\
error[KM0027]: two kernels are named `scale`
 --> kernels/b.rs:2:14
  |
2 | #[kernel] fn scale(x: f32) {}
  |              ^^^^^
  |
  = note: kernels/a.rs:3:8: the first one
  = help: rename one of them: all kernels of a package are methods of one type";
    assert_eq!(project.error(), expected);
}

#[test]
fn names_from_the_settings_that_are_taken_are_refused_where_they_are_given() {
    let project = Project::new(
        "kernels.a.name = \"b\"\nkernels.c.name = \"load\"\nkernels.d.name = \"_\"",
        &[(
            "kernels/a.rs",
            "#[kernel] fn a() {}\n#[kernel] fn b() {}\n#[kernel] fn c() {}\n#[kernel] fn d() {}",
        )],
    );
    // A name that is none is found before the sources are read.
    let error = project.error();
    assert!(error.contains("error[KM0011]: the kernel `d` cannot be named `_`"), "{error}");
    let manifest = std::fs::read_to_string(project.folder.path().join("app/Cargo.toml")).unwrap();
    project.write("app/Cargo.toml", &manifest.replace("\"_\"", "\"e\""));
    let error = project.error();
    for (code, message, key) in [
        (
            "KM0027",
            "the kernel `a` cannot be named `b`: the kernels of kernels/a.rs:1 and kernels/a.rs:2 have that name",
            "kernels.a.name",
        ),
        ("KM0028", "the kernel `c` cannot be named `load`", "kernels.c.name"),
    ] {
        let found = error
            .split("\n\n")
            .find(|it| it.contains(message))
            .unwrap_or_else(|| panic!("{error}"));
        assert!(
            found.starts_with(&format!("error[{code}]")) && found.contains(" --> Cargo.toml:"),
            "{found}"
        );
        assert!(found.contains(key), "{found}");
    }
    assert_eq!(error.matches("error[").count(), 2, "{error}");
}

#[test]
fn names_that_the_bindings_cannot_have_are_refused() {
    let structs = |field: &str| {
        format!("#[repr(C)] struct P {{ x: {field} }}\n#[kernel] fn k_{field}(p: P) {{}}")
    };
    let (first, second) = (structs("f32"), structs("u8"));
    let project = Project::new(
        "[package.metadata.kernelmill.types]\nQ = \"crate::Q\"",
        &[
            ("kernels/a.rs", &first),
            ("kernels/b.rs", &second),
            ("kernels/c.rs", "#[kernel] fn load() {}"),
            (
                "kernels/d.rs",
                "#[repr(C)] struct f64 { x: u8 }\n#[kernel] fn d(p: f64) {}\n#[kernel] fn e(all: &[f64]) {}",
            ),
        ],
    );
    let expected = "\
error[KM0029]: the struct `P` differs from the `P` of kernels/a.rs:2
 --> kernels/b.rs:1:19
  |
1 | #[repr(C)] struct P { x: u8 }
  |                   ^
  |
  = note: kernels/a.rs:1:19: the other one
  = help: both would be `kernels::P`: rename one of them, or give both the same fields

error[KM0028]: a kernel cannot be named `load`
 --> kernels/c.rs:1:14
  |
1 | #[kernel] fn load() {}
  |              ^^^^
  |
  = help: rename it: the generated type `Kernels` has a method of this name already

error[KM0028]: a struct in a signature cannot be named `f64`
 --> kernels/d.rs:1:19
  |
1 | #[repr(C)] struct f64 { x: u8 }
  |                   ^^^
  |
  = help: rename it: wrappers of other kernels have the primitive type `f64`

error[KM0016]: `types` gives `crate::Q` for `Q`, a struct that no kernel's signature has
 --> Cargo.toml:8:1
  |
8 | Q = \"crate::Q\"
  | ^
  |
  = help: the nearest is `P`";
    assert_eq!(project.error(), expected);
}

/// Nothing says which of two declarations in one file is whose.
#[test]
fn types_of_one_name_in_modules_of_one_file_are_named_by_the_places_of_their_kernels() {
    let text = "mod a { #[repr(C)] pub struct P { pub x: f32 } }\n\
                mod b { #[repr(C)] pub struct P { pub x: u8 } }\n\
                #[kernel] fn one(p: a::P) {}\n#[kernel] fn two(p: b::P) {}";
    let project = Project::new(TARGET, &[("kernels/a.rs", text)]);
    let expected = "error[KM0029]: kernels/a.rs:4: the struct `P` differs from the `P` of kernels/a.rs:3\n  help: both would be \
                    `kernels::P`: rename one of them, or give both the same fields";
    assert_eq!(project.error(), expected);
}

#[test]
fn the_signatures_of_a_kernel_package_are_read_from_its_library() {
    let mut project = Project::new(
        TARGET,
        &[
            ("kernels/pack/Cargo.toml", "[package]\nname = \"pack\"\n"),
            (
                "kernels/pack/src/lib.rs",
                "mod types; use types::P;\n#[kernel] fn k(p: P, q: Vec<f32>) {}",
            ),
            ("kernels/pack/src/types.rs", "#[repr(C)] pub struct P { x: f32 }"),
            ("kernels/pack/src/bin/tool.rs", "#[kernel] fn no() {}"),
            ("kernels/pack/other.rs", "#[kernel] fn no() {}"),
        ],
    );
    let expected = "\
error[KM0040]: parameter `q` of kernel `k` has type `Vec<f32>`, which cannot cross from host to device
 --> kernels/pack/src/lib.rs:2:25
  |
2 | #[kernel] fn k(p: P, q: Vec<f32>) {}
  |                         ^^^^^^^^
  |
  = help: write `q: &[f32]` to read it, `mut q: DisjointSlice<f32>` to write it";
    assert_eq!(project.error(), expected);
    project.set("KERNELMILL_SKIP_BUILD", "1");
    project
        .write("app/kernels/pack/src/lib.rs", "mod types; use types::P;\n#[kernel] fn k(p: P) {}");
    assert_eq!(project.build().result.unwrap().kernels, ["k"]);
}

#[test]
fn kernels_that_macros_of_headers_make_are_found() {
    let macros = "#define KERNEL(name) extern \"C\" __global__ void name() {}\n";
    let files = [
        ("kernels/macros.cuh", macros),
        ("kernels/made.cu", "#include \"macros.cuh\"\nKERNEL(made)\n"),
        ("kernels/far.cu", "#include <near.cuh>\nKERNEL(far)\n"),
        ("include/near.cuh", "#include \"../kernels/macros.cuh\"\n"),
        ("kernels/part.cu", "#include \"macros.cuh\"\nstatic int part;\n"),
        ("kernels/whole.cu", "#include \"part.cu\"\n__global__ void whole() {}\n"),
        ("kernels/host.cu", "#include \"plain.h\"\nint host() { return 1; }\n"),
        ("kernels/plain.h", "int host();\n"),
    ];
    let project = Project::new("include = [\"include\"]\n", &files);
    let environment =
        BuildEnvironment::fixed(project.variables.clone(), Cargo::to(Box::new(Shared::default())));
    let package = Package::read(&environment).unwrap();
    let mut settings = resolve::read(&environment, &package, project.builder.clone()).unwrap();
    let found = find(&package, &mut settings).0;
    let names: Vec<_> = found.sources.iter().map(|source| source.display.as_str()).collect();
    assert_eq!(names, ["kernels/far.cu", "kernels/made.cu", "kernels/whole.cu"]);
    // A kernel may come into this header later.
    assert!(found.watched.contains(&package.root.join("kernels/plain.h")));
}

#[cfg(unix)]
#[test]
fn what_is_no_file_is_ignored_where_it_is_hidden_and_named_elsewhere() {
    use std::{os::unix::fs::symlink, process::Command};
    let mut project = Project::new(TARGET, &[("kernels/a.rs", "#[kernel] fn a() {}")]);
    let kernels = project.folder.path().join("app/kernels");
    let pipe = |name: &str| {
        let status = Command::new("mkfifo").arg(kernels.join(name)).status().unwrap();
        assert!(status.success());
    };
    // Emacs locks a file with a link to nothing.
    symlink("ada@host.1234:567", kernels.join(".#a.rs")).unwrap();
    pipe(".pipe.rs");
    pipe("pipe.txt");
    assert_eq!(project.build().result.unwrap().kernels, ["a"]);
    symlink("missing.rs", kernels.join("dangling.rs")).unwrap();
    symlink("itself.rs", kernels.join("itself.rs")).unwrap();
    symlink(".", kernels.join("loop")).unwrap();
    pipe("pipe.rs");
    pipe("pipe.cu");
    let error = project.error();
    for line in [
        "error[KM0023]: `kernels/dangling.rs` is a link to a file that does not exist",
        "error[KM0023]: `kernels/itself.rs` cannot be read: ",
        "error[KM0023]: `kernels/loop` is a link to a folder that contains it",
        "error[KM0023]: `kernels/pipe.rs` is not a regular file",
        "error[KM0023]: `kernels/pipe.cu` is not a regular file",
    ] {
        assert!(error.contains(line), "{line} in\n{error}");
    }
    assert_eq!(error.matches("error[").count(), 5, "{error}");
    let names =
        ["dangling.rs", "itself.rs", "loop", "pipe.*"].map(|name| format!("kernels/{name}"));
    project.builder.excludes = Some(names.into());
    assert_eq!(project.build().result.unwrap().kernels, ["a"]);
}

/// Two such names would be one in messages and keys, and rustc ends with a panic for one among its arguments.
#[cfg(unix)]
#[test]
fn a_source_whose_name_is_not_utf_8_is_named() {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt as _};
    let mut project = Project::new(TARGET, &[("kernels/a.rs", "#[kernel] fn a() {}")]);
    let kernels = project.folder.path().join("app/kernels");
    let place = |name: &[u8]| kernels.join(OsStr::from_bytes(name));
    std::fs::create_dir(place(b"folder\xff")).unwrap();
    for name in [b"b\xff.rs".as_slice(), b"b\xfe.rs", b"folder\xff/c.cu", b"d\xff.txt"] {
        std::fs::write(place(name), "#[kernel] fn b() {}").unwrap();
    }
    let error = project.error();
    for name in [r"b\xFF.rs", r"b\xFE.rs", r"folder\xFF/c.cu"] {
        let line = format!("error[KM0023]: the name of \"kernels/{name}\" is not UTF-8");
        assert!(error.contains(&line), "{line} in\n{error}");
    }
    assert_eq!(error.matches("error[").count(), 3, "{error}");
    project.builder.excludes = list(&["kernels/b?.rs", "kernels/folder*"]);
    assert_eq!(project.build().result.unwrap().kernels, ["a"]);
}

/// Compilers would wait for whoever writes to a pipe, wherever it lies.
#[cfg(all(unix, feature = "cuda-cpp"))]
#[test]
fn what_sources_include_and_is_no_file_is_named() {
    use std::process::Command;
    let files = [
        ("kernels/a.rs", "#[path = \".b.rs\"] mod b;\nmod c;\n#[kernel] fn a() {}"),
        ("kernels/d.cu", "#include \"e.h\"\n__global__ void d() {}"),
        ("kernels/e.h", "#include <f>\n"),
    ];
    let project = Project::new(&format!("{TARGET}\ninclude = [\"headers\"]\n"), &files);
    project.write("app/headers/other.h", "");
    for name in ["kernels/.b.rs", "kernels/c/mod.rs", "headers/f"] {
        let path = project.folder.path().join("app").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    }
    let error = project.error();
    for name in ["kernels/.b.rs", "kernels/c/mod.rs", "headers/f"] {
        let line = format!("error[KM0023]: `{name}` is not a regular file");
        assert!(error.contains(&line), "{line} in\n{error}");
    }
}

/// rustc would wait for whoever writes to a pipe, and read a device without end.
#[cfg(unix)]
#[test]
fn what_macros_take_in_and_is_no_file_is_named_with_its_line() {
    use std::process::Command;
    let files = [
        ("kernels/a.rs", "mod b;\n#[kernel] fn a() {\n    include_str!(\"c\");\n}\n"),
        (
            "kernels/b.rs",
            "const D: &[u8] = include_bytes!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/d\"));\n\
             mod e { include!(\"e.inc\"); }\nconst N: &[u8] = include_bytes!(\"/dev/zero\");\n",
        ),
        (
            "kernels/e.inc",
            "// a comment\nconst F: &str = include_str!(\"f\");\ninclude!(\"e.inc\");\n",
        ),
        ("kernels/pack/Cargo.toml", "[package]\nname = \"pack\"\n"),
        ("kernels/pack/src/lib.rs", "#[kernel] fn p() {}\nmod inner;\n"),
        ("kernels/pack/src/inner.rs", "const G: &str = include_str!(\"../g\");\n"),
    ];
    let project = Project::new(TARGET, &files);
    let app = project.folder.path().join("app");
    for name in ["kernels/c", "d", "kernels/f", "kernels/pack/g"] {
        assert!(Command::new("mkfifo").arg(app.join(name)).status().unwrap().success());
    }
    let error = project.error();
    for (name, place) in [
        ("kernels/c", "kernels/a.rs:3:5"),
        ("d", "kernels/b.rs:1:18"),
        ("/dev/zero", "kernels/b.rs:3:18"),
        ("kernels/f", "kernels/e.inc:2:17"),
        ("kernels/pack/g", "kernels/pack/src/inner.rs:1:17"),
    ] {
        let line = format!("`{name}` is not a regular file\n");
        let Some((_, rest)) = error.split_once(&line) else { panic!("{line} in\n{error}") };
        assert!(rest.trim_start().starts_with(&format!("--> {place}\n")), "{place} in\n{error}");
    }
    assert_eq!(error.matches("error[").count(), 5, "{error}");
}

#[test]
fn what_macros_take_in_is_not_too_large() {
    let text = "#[kernel] fn a() {}\nconst B: &[u8] = include_bytes!(\"b\");\n";
    let project = Project::new(TARGET, &[("kernels/a.rs", text), ("kernels/b", "")]);
    let resize = |bytes| {
        let path = project.folder.path().join("app/kernels/b");
        std::fs::File::options().write(true).open(path).unwrap().set_len(bytes).unwrap();
    };
    resize(1 << 30);
    assert_eq!(project.build().result.unwrap().kernels, ["a"]);
    resize((1 << 30) + 1);
    let error = project.error();
    let expected = "error[KM0024]: `kernels/b` has 1073741825 bytes, more than the limit of 1073741824 for a file that a kernel includes\n";
    assert!(error.starts_with(expected), "{error}");
    assert!(error.contains("--> kernels/a.rs:2:18\n"), "{error}");
}

/// Code has the limit of sources: the files have no blocks on the disk, and reading them would take gigabytes.
#[test]
fn code_that_macros_take_in_is_not_too_large() {
    let text = "#[kernel] fn a() {}\ninclude!(\"b.inc\");\n";
    let included = "include!(\"c.inc\");\n";
    let files = [("kernels/a.rs", text), ("kernels/b.inc", included), ("kernels/c.inc", "")];
    let project = Project::new(TARGET, &files);
    let path = project.folder.path().join("app/kernels/c.inc");
    let file = std::fs::File::options().write(true).open(path).unwrap();
    file.set_len((16 << 20) + 1).unwrap();
    let error = project.error();
    let expected = "error[KM0024]: `kernels/c.inc` has 16777217 bytes, more than the limit of 16777216 for a file that a kernel includes\n";
    assert!(error.starts_with(expected), "{error}");
    assert!(error.contains("--> kernels/b.inc:1:1\n"), "{error}");
}

/// The files have no blocks on the disk, and reading them would take that much memory.
#[test]
fn sources_of_gigabytes_are_refused_by_name() {
    let files = [
        ("kernels/a.rs", "mod b;\n#[kernel] fn a() {}\n"),
        ("kernels/b.rs", "pub struct B;\n"),
        ("kernels/c.cu", "__global__ void c() {}\n"),
        ("kernels/pack/Cargo.toml", "[package]\nname = \"pack\"\n"),
        ("kernels/pack/src/lib.rs", "#[kernel] fn p() {}\n"),
    ];
    for (name, most) in [
        ("kernels/a.rs", 16_u64 << 20),
        ("kernels/b.rs", 16 << 20),
        ("kernels/c.cu", 1 << 30),
        ("kernels/pack/src/lib.rs", 16 << 20),
    ] {
        let project = Project::new(TARGET, &files);
        let path = project.folder.path().join("app").join(name);
        std::fs::File::options().write(true).open(path).unwrap().set_len(6 << 30).unwrap();
        let error = project.error();
        let expected = format!(
            "error[KM0024]: `{name}` has 6442450944 bytes, more than the limit of {most} for a source\n  help: split it"
        );
        assert!(error.contains(&expected), "{error}");
    }
}

#[cfg(unix)]
#[test]
fn a_link_to_a_folder_around_the_package_is_not_followed() {
    use std::os::unix::fs::symlink;
    let mut project = Project::new(TARGET, &[("kernels/a.rs", "#[kernel] fn a() {}")]);
    let kernels = project.folder.path().join("app/kernels");
    symlink("/", kernels.join("disk")).unwrap();
    symlink("../..", kernels.join("above")).unwrap();
    let error = project.error();
    for name in ["disk", "above"] {
        let line = format!(
            "error[KM0023]: `kernels/{name}` is a link to a folder that contains the package"
        );
        assert!(error.contains(&line), "{line} in\n{error}");
    }
    project.builder.excludes = Some(["disk", "above"].map(|name| format!("kernels/{name}")).into());
    assert_eq!(project.build().result.unwrap().kernels, ["a"]);
    // Folders elsewhere are followed.
    project.write("elsewhere/b.rs", "#[kernel] fn b() {}");
    symlink("../../elsewhere", kernels.join("elsewhere")).unwrap();
    assert_eq!(project.build().result.unwrap().kernels, ["a", "b"]);
}

#[cfg(not(feature = "cuda-cpp"))]
#[test]
fn cpp_without_its_front_end_names_the_feature() {
    let project = Project::new(TARGET, &[("kernels/a.rs", &kernel("a"))]);
    project.write("app/kernels/b.cu", "__global__ void b() {}");
    let text = project.build().result.unwrap_err().to_string();
    assert!(text.contains("`kernels/b.cu` is in CUDA C++"), "{text}");
    assert!(text.contains("enable the feature `cuda-cpp` of kernelmill-build"), "{text}");
    assert!(!text.contains("a.rs"), "{text}");
}

/// All of a disk would be looked through.
#[test]
fn folders_around_the_package_are_no_folders_of_kernels() {
    let kernels = |key: &str, value: &str| {
        let project = Project::new("", &[("kernels/a.rs", &kernel("a"))]);
        let settings = format!("targets = [\"sm_90\"]\n{key} = [\"{value}\"]\n");
        project.write("app/kernelmill.toml", &settings);
        project.build().result.map(|summary| summary.kernels).map_err(|error| error.to_string())
    };
    let ways_up = "../".repeat(40);
    for (key, value, around) in [
        ("source-dir", "/", "/"),
        ("source-dir", "..", ".."),
        ("source-dir", "/../..", "/"),
        ("source-dir", &ways_up, "/"),
        ("source-glob", "/*.rs", "/"),
    ] {
        let error = kernels(key, value).unwrap_err();
        let expected =
            format!("error[KM0002]: `{around}` contains the package, and all of it would");
        assert!(error.starts_with(&expected), "{error}");
        assert!(error.contains(&format!("--> kernelmill.toml:2:{}", key.len() + 5)), "{error}");
    }
    assert_eq!(kernels("source-dir", ".").unwrap(), ["a"]);
}

/// Compilers do not read them, and no marker of a kernel is found in them.
#[test]
fn sources_in_utf16_are_named() {
    let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>();
    let cuda = "__global__ void c() {}";
    for (name, text, is_reported) in [
        ("a.rs", kernel("b"), true),
        ("b.rs", format!("\u{feff}{}", kernel("b")), true),
        ("c.cu", cuda.to_owned(), true),
        ("d.rs", "\u{feff}fn helper() {}".to_owned(), true),
        ("e.rs", "fn helper() {}".to_owned(), false),
    ] {
        let project = Project::new(TARGET, &[("kernels/z.rs", &kernel("z"))]);
        fs::write(project.folder.path().join("app/kernels").join(name), utf16(&text)).unwrap();
        let said = project.build().result.map(|_| ()).map_err(|error| error.to_string());
        let expected =
            format!("error[KM0023]: `kernels/{name}` is UTF-16\n  help: save it as UTF-8");
        assert_eq!(said, if is_reported { Err(expected) } else { Ok(()) });
    }
}

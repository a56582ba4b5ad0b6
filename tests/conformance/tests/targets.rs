//! Every kernel of this package, and those in CUDA C++ of `tests/cuda-cpp`, for every kind of target:
//! compiled, assembled or linked, and checked against the facts that its file states.

mod common;
#[path = "common/directives.rs"]
mod directives;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::{Mutex, PoisonError},
};

use common::{Source, each, folder, lower};
use directives::{Directive, Stated, code_of};
use test_support::{temporary_folder, write_file};

/// The oldest of NVIDIA's and one of the newest, and waves of 64 and of 32 lanes. The test of lowering strategies
/// compiles all of them for the CPU, and what a file states of another target is looked at there too.
const TARGETS: [&str; 4] = ["sm_75", "sm_100", "gfx942", "gfx1100"];

/// How many kernels there are at least.
const KERNELS: usize = 60;

/// A file that is compiled, and what it states.
struct File {
    source: Source,
    stated: Vec<Stated>,
}

/// The files below a folder with these endings, except those that are included by others.
fn files(folder: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let mut found: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|it| endings.iter().any(|end| it == *end)))
        .collect();
    found.sort();
    found
}

/// Reads a file of this package or of `tests/cuda-cpp`, where it can be a source of its own.
fn read(path: &Path) -> Result<Option<File>, String> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    let stated = directives::read(&text).map_err(|error| format!("{name}: {error}"))?;
    let is_kernel = !stated.is_empty();
    // The one with `mod` and the one with `#include` are compiled where they lie by others.
    let has_parts = text.contains("\nmod ") || text.contains("#include \"");
    if !is_kernel || has_parts {
        return Ok(None);
    }
    let source = lower(&name, &text).map_err(|error| format!("{name}: {error}"))?;
    Ok(Some(File { source, stated }))
}

/// What is wrong with a file for a target.
fn check(file: &File, target: &str) -> Vec<String> {
    let name = &file.source.name;
    let result = match target {
        _ if target.starts_with("gfx") => file.source.compile(target).and_then(|artifact| {
            assert!(artifact.bytes.starts_with(b"\x7fELF"), "{name}: {target}");
            if file.states(target) { file.source.assembly(target) } else { Ok(String::new()) }
        }),
        _ => file.source.assembly(target),
    };
    let assembly = match result {
        Ok(assembly) => assembly,
        Err(error) => return vec![format!("{name}: {target}: {error}")],
    };
    let mut faults = Vec::new();
    if target.starts_with("sm_") {
        faults.extend(assemble(name, target, &assembly));
    }
    for stated in file.stated.iter().filter(|it| it.directives.iter().any(|it| it.concerns(target)))
    {
        let found = match code_of(&assembly, &stated.kernel, target) {
            Some(code) => stated.check(code, target),
            None => vec!["has no code".to_owned()],
        };
        let place = format!("{name}, {}, {target}", stated.kernel);
        faults.extend(found.into_iter().map(|fault| format!("{place}: {fault}")));
    }
    faults
}

impl File {
    /// Every kind of target, and those that a fact is about.
    fn targets(&self) -> BTreeSet<&str> {
        let all = self.stated.iter().flat_map(|stated| &stated.directives);
        TARGETS.into_iter().chain(all.filter_map(Directive::target)).collect()
    }

    fn states(&self, target: &str) -> bool {
        let mut all = self.stated.iter().flat_map(|stated| &stated.directives);
        all.any(|directive| directive.concerns(target))
    }
}

/// What NVIDIA's assembler says of PTX that it does not take.
fn assemble(name: &str, target: &str, ptx: &str) -> Option<String> {
    let ptxas = cuda_cpp::ptxas()?;
    let folder = temporary_folder();
    let path = write_file(&folder, format!("{name}.{target}.ptx"), ptx);
    let output = Command::new(ptxas)
        .arg(format!("-arch={target}"))
        .args([path.as_os_str(), "-o".as_ref(), path.with_extension("cubin").as_os_str()])
        .output()
        .unwrap();
    let text = || String::from_utf8_lossy(&output.stderr).into_owned();
    (!output.status.success()).then(|| format!("{name}: {target}: ptxas: {}", text()))
}

#[test]
fn every_kernel_is_for_every_target_and_its_code_is_as_stated() {
    let mut paths = files(&folder().join("kernels"), &["rs"]);
    paths.extend(files(&folder().join("targets"), &["rs", "cu"]));
    paths.extend(files(&folder().join("../cuda-cpp/kernels"), &["cu"]));
    let lowered = Mutex::new(Vec::new());
    let mut faults = each(&paths, |path| match read(path) {
        Ok(file) => {
            lowered.lock().unwrap_or_else(PoisonError::into_inner).extend(file);
            Vec::new()
        }
        Err(fault) => vec![fault],
    });
    let files = lowered.into_inner().unwrap_or_else(PoisonError::into_inner);
    let of = |file| File::targets(file).into_iter().map(move |target| (file, target));
    let jobs: Vec<_> = files.iter().flat_map(of).collect();
    faults.extend(each(&jobs, |(file, target)| check(file, target)));
    faults.sort();
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
    let kernels: usize = files.iter().map(|file| file.source.signatures.len()).sum();
    assert!(kernels >= KERNELS, "{kernels} kernels");
    let stated: usize =
        files.iter().flat_map(|file| &file.stated).map(|it| it.directives.len()).sum();
    assert!(stated >= 60, "{stated} facts");
}

#[test]
fn directives_are_read_and_what_is_none_is_refused() {
    let text = "// CHECK-PTX: a\n// CHECK-PTX: b\n// CHECK-PTX-NOT: c\n// CHECK-gfx942-COUNT-2: d\n\
                #[kernel]\npub fn k(x: u32) {}\n";
    let stated = directives::read(text).unwrap();
    assert_eq!((stated.len(), &*stated[0].kernel), (1, "k"));
    assert_eq!(stated[0].check("a b", "sm_90"), [""; 0]);
    assert_eq!(
        stated[0].check("b c a", "sm_90"),
        ["line 2: `b` stands only before the fact above", "line 3: `c` is there"]
    );
    assert_eq!(stated[0].check("d\nd d", "gfx942"), [""; 0]);
    assert_eq!(stated[0].check("d", "gfx942"), ["line 4: `d` is in 1 lines, not 2"]);
    assert_eq!(stated[0].check("d", "gfx1100"), [""; 0]);
    for wrong in
        ["// CHECK: a", "// CHECK-XYZ: a", "// CHECK-PTX-NO: a", "// CHECK-PTX:", "// CHECKS"]
    {
        assert!(directives::read(&format!("{wrong}\n#[kernel]\nfn k() {{}}")).is_err(), "{wrong}");
    }
    assert_eq!(directives::read("// CHECK-PTX: a\n").unwrap_err(), "line 1: no kernel follows");
    let cpp = "// CHECK-AMD: a\nextern \"C\" __global__ void scale(float *x) {\n";
    assert_eq!(directives::read(cpp).unwrap()[0].kernel, "scale");
}

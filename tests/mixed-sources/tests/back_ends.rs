//! What each back end supports: the page of the book is what the code says, and the code is what it says of itself. The suite
//! tries each entry, `src/suite/capabilities.rs`.

use kernelmill::{
    Capability, Support, capabilities,
    select::{Architecture, Target, Verdict, select},
};
use std::{collections::BTreeSet, fmt::Write as _, fs};
use test_support::{root, snapshot};

/// What a back end does in the place of what it has not.
const EMULATED: [(Capability, &str); 7] = [
    (Capability::CopiesOfRows, "the driver is given one row after the other"),
    (Capability::PeerCopies, "the copy goes through the host"),
    (Capability::Streams, "work of all streams is done in the order in which it is given"),
    (Capability::Graphs, "the launches of a graph are put on the stream one after the other"),
    (Capability::PinnedMemory, "the memory is plain memory of the host"),
    (Capability::Clusters, "grids are made of whole clusters, whose blocks are on their own"),
    (Capability::TensorMaps, "kernels copy tiles without a descriptor of a driver"),
];

const HEAD: &str = "# What each back end supports\n\n\
    This page is made of what the code says (`cargo xtask bless -p mixed-sources back_ends`, and a test compares them).\n\
    The names are those of devices in [`KERNELMILL_DEVICE`](settings.md#environment-variables-without-a-key).\n\n";

/// A device of each back end.
fn devices() -> [(&'static str, Architecture); 5] {
    let amd = Architecture::Amd { processor: "gfx90a".to_owned(), xnack: None, sramecc: None };
    [
        ("`cuda`", Architecture::Nvidia { major: 9, minor: 0 }),
        ("`hip`", amd),
        ("`opencl`", Architecture::OpenCl { spirv: Some((1, 4)) }),
        ("`wgpu`", Architecture::Vulkan),
        ("`cpu`, `cpu-async`", Architecture::Cpu),
    ]
}

/// How the settings write targets of a kind.
fn family(target: &Target) -> String {
    match target {
        Target::Ptx(_) => "`compute_XX`".to_owned(),
        Target::Cubin(_) => "`sm_XX`".to_owned(),
        Target::Amd(_) => "`gfxXXX`".to_owned(),
        other => format!("`{other}`"),
    }
}

/// The kinds of targets that run on a device and that a language is compiled for.
fn targets(language: &str, device: &Architecture) -> String {
    let all = Target::all();
    let runs = |target: &&Target| {
        let [verdict] = &*select(device, std::slice::from_ref(*target)).verdicts else {
            panic!("one target has one verdict")
        };
        *verdict == Verdict::Chosen
    };
    let of_language = all.iter().filter(|it| kernelmill_build::languages(it).contains(&language));
    let families: BTreeSet<_> = of_language.filter(runs).map(family).collect();
    if families.is_empty() { "no".to_owned() } else { Vec::from_iter(families).join(", ") }
}

fn sources() -> String {
    let mut languages: Vec<&str> = Vec::new();
    for language in Target::all().iter().flat_map(kernelmill_build::languages) {
        if !languages.contains(&language) {
            languages.push(language);
        }
    }
    let devices = devices();
    let names: Vec<_> = devices.iter().map(|(name, _)| *name).collect();
    let mut text = format!("| language | {} |\n|{}\n", names.join(" | "), " --- |".repeat(6));
    for language in languages {
        let cells: Vec<_> = devices.iter().map(|(_, device)| targets(language, device)).collect();
        let _ = writeln!(text, "| {language} | {} |", cells.join(" | "));
    }
    text
}

fn run_time() -> String {
    let all = capabilities();
    let names: Vec<_> = all.iter().map(|it| format!("`{}`", it.name())).collect();
    let mut text = format!("| | {} |\n|{}\n", names.join(" | "), " --- |".repeat(7));
    for capability in Capability::ALL {
        let cells: Vec<_> = all.iter().map(|it| it.support(capability).to_string()).collect();
        let _ = writeln!(text, "| {capability} | {} |", cells.join(" | "));
    }
    text
}

fn page() -> String {
    let emulated = EMULATED.map(|(capability, how)| format!("- {capability}: {how}.\n"));
    format!(
        "{HEAD}## Sources\n\nEach language, with the [targets](settings.md#targets-of-each-source) whose binaries run on a \
         back end:\n\n{}\n## Run time\n\n`Device::support` says the same of a device. What a device's driver or hardware \
         lacks is an error where a\nprogram asks for it.\n\n{}\n\"Emulated\" means the same results in another way:\n\n{}",
        sources(),
        run_time(),
        emulated.concat()
    )
}

#[test]
fn the_page_on_back_ends_says_what_the_code_says() {
    assert_eq!(capabilities().len(), 6, "every back end is in this build");
    for back_end in capabilities() {
        let name = back_end.name();
        for capability in Capability::ALL {
            let is_explained = EMULATED.iter().any(|(known, _)| *known == capability);
            assert!(
                is_explained || back_end.support(capability) != Support::Emulated,
                "{name}: {capability}"
            );
        }
    }
    snapshot::check(root().join("docs/src/reference/back-ends.md"), &page());
}

/// The code of a back end.
fn code(name: &str) -> String {
    let folder = root().join("src/backend").join(name.replace('-', "_"));
    let files = fs::read_dir(folder).expect("a folder for each back end");
    let paths = files.map(|file| file.expect("a file").path()).filter(|path| path.is_file());
    paths.map(|path| fs::read_to_string(path).expect("text")).collect()
}

/// What a back end has in full it has code for: the method of the trait, or the function of the driver.
#[test]
fn back_ends_have_code_for_what_they_claim() {
    let marks: [(Capability, &[&str]); 7] = [
        (Capability::Graphs, &["unsafe fn instantiate("]),
        (Capability::TensorMaps, &["fn tensor_map("]),
        (Capability::Occupancy, &["fn resident_blocks("]),
        (Capability::Watchdog, &["fn time_limit("]),
        (Capability::Interoperation, &["mod interop;"]),
        (Capability::StreamOrderedAllocation, &["cuMemAllocAsync", "hipMallocAsync"]),
        (Capability::PinnedMemory, &["cuMemHostAlloc", "hipHostMalloc"]),
    ];
    for back_end in capabilities() {
        let name = back_end.name();
        let code = code(name);
        for (capability, marks) in marks {
            let has_code = marks.iter().any(|mark| code.contains(mark));
            assert_eq!(
                back_end.support(capability) == Support::Full,
                has_code,
                "{name}: {capability}"
            );
        }
        let is_shared = code.contains("gpu::");
        assert_eq!(
            back_end.support(Capability::QueuedLaunches) == Support::Full,
            is_shared,
            "{name}"
        );
    }
}

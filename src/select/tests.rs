use super::*;

fn targets(texts: &str) -> Vec<Target> {
    Target::parse_list(texts).expect("known targets")
}

fn nvidia_device(number: u32) -> Architecture {
    Architecture::Nvidia { major: number / 10, minor: number % 10 }
}

fn amd_device(processor: &str, xnack: Option<bool>, sramecc: Option<bool>) -> Architecture {
    Architecture::Amd { processor: processor.to_owned(), xnack, sramecc }
}

/// Compute capability, what is embedded, what is chosen ("" for nothing).
const NVIDIA: &[(u32, &str, &str)] = &[
    // The exact cubin, else the nearest lower minor version of the same generation.
    (86, "compute_75,sm_80,sm_86,sm_89", "sm_86"),
    (87, "compute_75,sm_80,sm_86,sm_89", "sm_86"),
    (89, "compute_86,sm_80", "sm_80"),
    (80, "sm_86,sm_75", ""),
    (75, "sm_80,sm_90", ""),
    (90, "sm_89,sm_80", ""),
    // Then the highest PTX that is not newer than the device.
    (90, "compute_75,compute_80,sm_80", "compute_80"),
    (80, "compute_86,compute_75", "compute_75"),
    (80, "compute_86", ""),
    (121, "compute_90,compute_75", "compute_90"),
    (120, "compute_120,compute_90", "compute_120"),
    (103, "compute_103,sm_100", "sm_100"),
    // `a` runs on exactly its architecture, and is nearer than the same one without.
    (90, "sm_90,sm_90a,compute_90a", "sm_90a"),
    (90, "compute_90,compute_90a", "compute_90a"),
    (100, "sm_90a,compute_90a,compute_80", "compute_80"),
    (103, "sm_100a,sm_100f,sm_100", "sm_100f"),
    (121, "sm_120a", ""),
    // `f` runs within its family: the same generation, the same or a later minor version.
    (103, "sm_100f", "sm_100f"),
    (100, "sm_103f", ""),
    (110, "sm_100f", ""),
    (120, "sm_100f,compute_100f,compute_100", "compute_100"),
    (121, "compute_120f,compute_100", "compute_120f"),
    (100, "sm_100f,sm_100a,sm_100", "sm_100a"),
    (103, "sm_103,sm_100f", "sm_103"),
    // What is for others.
    (90, "cpu,gfx942,spirv64,vulkan", ""),
    (90, "", ""),
];

/// Acceptance: S3.11.
#[test]
fn nvidia_devices_get_the_nearest() {
    for &(device, embedded, expected) in NVIDIA {
        let candidates = targets(embedded);
        let mut reversed = candidates.clone();
        reversed.reverse();
        for candidates in [candidates, reversed] {
            let selection = select(&nvidia_device(device), &candidates);
            let chosen = selection.chosen.map(|index| candidates[index].to_string());
            assert_eq!(chosen.unwrap_or_default(), expected, "{device}: {embedded}");
            assert_consistent(&selection, &candidates);
        }
    }
}

/// Exactly the chosen one is `Chosen`, and who lost against it names it.
fn assert_consistent(selection: &Selection, candidates: &[Target]) {
    assert_eq!(selection.verdicts.len(), candidates.len());
    for (index, verdict) in selection.verdicts.iter().enumerate() {
        assert_eq!(*verdict == Verdict::Chosen, selection.chosen == Some(index));
        if let Verdict::Outranked { by } = verdict {
            assert_eq!(Some(by), selection.chosen.map(|index| &candidates[index]));
        }
    }
}

/// Acceptance: S3.3.
#[test]
fn every_loser_says_why() {
    let reasons = |device: &Architecture, embedded: &str| -> Vec<String> {
        let candidates = targets(embedded);
        select(device, &candidates).verdicts.iter().map(ToString::to_string).collect()
    };
    assert_eq!(
        reasons(&nvidia_device(86), "sm_90a,sm_100f,sm_89,sm_75,compute_90,compute_75,sm_80,cpu"),
        [
            "runs on compute capability 9.0 only, the device has 8.6",
            "runs on compute capability 10.0 and later ones of its family 10.x only, the device \
             has 8.6",
            "runs on compute capability 8.9 and later ones of generation 8 only, the device has \
             8.6",
            "runs on compute capability 7.5 and later ones of generation 7 only, the device has \
             8.6",
            "runs on compute capability 9.0 and later, the device has 8.6",
            "sm_80 is a better match for the device",
            "chosen",
            "is for the CPU, the device is an NVIDIA GPU of compute capability 8.6",
        ]
    );
    let bitcode = "is LLVM bitcode, which `Kernels::compile` compiles for the device when the program asks for it";
    assert_eq!(reasons(&Architecture::Cpu, "bitcode_cpu,cpu"), [bitcode, "chosen"]);
    assert_eq!(reasons(&nvidia_device(86), "bitcode_75,compute_75"), [bitcode, "chosen"]);
    assert_eq!(
        reasons(
            &amd_device("gfx90a", Some(false), None),
            "gfx942,gfx90a:xnack+,gfx90a:sramecc-,sm_80"
        ),
        [
            "runs on gfx942 only, the device is gfx90a",
            "needs xnack on, the device has off",
            "needs sramecc off, the device has no such mode",
            &*told("is for NVIDIA GPUs, the device is the AMD GPU gfx90a", "sm_80"),
        ]
    );
}

#[test]
fn amd_devices_need_their_processor_and_modes_and_take_the_more_specific() {
    let device = amd_device("gfx90a", Some(true), Some(true));
    let cases = [
        ("gfx90a,gfx90a:xnack+", "gfx90a:xnack+"),
        ("gfx90a,gfx90a:xnack-", "gfx90a"),
        ("gfx90a:xnack+,gfx90a:sramecc+:xnack+", "gfx90a:sramecc+:xnack+"),
        ("gfx90a:sramecc-", ""),
        ("gfx908,gfx942", ""),
    ];
    for (embedded, expected) in cases {
        let candidates = targets(embedded);
        let chosen = select(&device, &candidates).chosen;
        let chosen = chosen.map(|index| candidates[index].to_string()).unwrap_or_default();
        assert_eq!(chosen, expected, "{embedded}");
    }
}

#[test]
fn other_devices_take_their_own_form() {
    let candidates = targets("sm_90,opencl-c,spirv64,cpu,vulkan,cpu");
    let opencl = |spirv| Architecture::OpenCl { spirv };
    for (device, index) in [
        (Architecture::Cpu, 3),
        (opencl(Some((1, 2))), 2),
        (opencl(Some((1, 5))), 2),
        (opencl(Some((1, 0))), 1),
        (opencl(None), 1),
        (Architecture::Vulkan, 4),
        (Architecture::Metal, 4),
        (Architecture::D3d12, 4),
    ] {
        assert_eq!(select(&device, &candidates).chosen, Some(index), "{device}");
    }
}

/// SPIR-V for OpenCL is none of theirs, and the reason says which device it is.
#[test]
fn devices_of_wgpu_run_what_is_for_vulkan_alone() {
    for (device, name) in [
        (Architecture::Vulkan, "a Vulkan device"),
        (Architecture::Metal, "a Metal device"),
        (Architecture::D3d12, "a D3D12 device"),
    ] {
        let selection = select(&device, &targets("spirv64,opencl-c,cpu"));
        let reasons: Vec<_> = selection.verdicts.iter().map(ToString::to_string).collect();
        let reason = |whose, target| told(&format!("is for {whose}, the device is {name}"), target);
        assert_eq!(selection.chosen, None);
        let opencl = [reason("OpenCL", "spirv64"), reason("OpenCL", "opencl-c")];
        assert_eq!(reasons[..2], opencl);
        assert_eq!(reasons[2..], [reason("the CPU", "cpu")]);
    }
}

#[test]
fn opencl_devices_say_which_spirv_they_read() {
    let reason = |spirv| {
        let selection = select(&Architecture::OpenCl { spirv }, &targets("spirv64,cpu"));
        assert_eq!(selection.chosen, None);
        selection.verdicts.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let cpu = "is for the CPU, the device is an OpenCL device";
    assert_eq!(reason(None), ["is SPIR-V, which the device does not support", cpu]);
    assert_eq!(reason(Some((1, 0))), ["is SPIR-V 1.2, the device supports 1.0 at most", cpu]);
}

#[test]
fn bitcode_is_for_programs_that_compile_it_and_says_so_where_they_can() {
    let targets = ["bitcode_80", "compute_75"].map(|target| target.parse().unwrap());
    let reasons = |number| {
        let selection = select(&nvidia_device(number), &targets);
        assert_eq!(selection.chosen, Some(1));
        selection.verdicts[0].to_string()
    };
    assert!(reasons(86).contains("`Kernels::compile` compiles for the device"), "{}", reasons(86));
    assert_eq!(reasons(75), "runs on compute capability 8.0 and later, the device has 7.5");
}

/// A reason, and what is said after it where the program was built without the feature for a target.
fn told(reason: &str, target: &str) -> String {
    let feature = absent_feature(&target.parse().unwrap());
    reason.to_owned() + &feature.map(enabled_by).unwrap_or_default()
}

/// A binary for a device that the program could not use names the feature that is missing; one for the processor needs none.
#[test]
fn a_binary_whose_back_end_is_not_built_names_its_feature() {
    let built = [
        ("compute_75", "cuda", cfg!(feature = "cuda")),
        ("bitcode_75", "cuda", cfg!(feature = "cuda")),
        ("gfx90a", "hip", cfg!(feature = "hip")),
        ("spirv64", "opencl", cfg!(feature = "opencl")),
        ("opencl-c", "opencl", cfg!(feature = "opencl")),
        ("vulkan", "wgpu", cfg!(feature = "wgpu")),
    ];
    for (target, feature, is_built) in built {
        let selection = select(&Architecture::Cpu, &targets(target));
        let reason = selection.verdicts[0].to_string();
        let hint = format!("kernelmill was built without its feature `{feature}`");
        assert_eq!(reason.contains(&hint), !is_built, "{target}: {reason}");
    }
    assert_eq!(absent_feature(&Target::Cpu), None);
}

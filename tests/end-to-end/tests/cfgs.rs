//! What decides which parts of a kernel file are compiled: features, `define`, names in `RUSTFLAGS`.

use end_to_end::{Project, scale_main};

/// A kernel of the name `kernel` for each of some conditions, of which the last holds counts.
fn kernels(conditions: &[(&str, &str)]) -> String {
    let kernels = conditions.iter().map(|(condition, factor)| {
        format!(
            "#[cfg({condition})]\n#[kernel]\npub fn chosen(mut y: DisjointSlice<f32>) {{\n    \
             if let Some(out) = y.get_mut(thread::index_1d()) {{\n        *out *= {factor};\n    }}\n}}\n"
        )
    });
    format!("use kernelmill_device::prelude::*;\n\n{}", kernels.collect::<String>())
}

fn result(project: &Project, arguments: &[&str]) -> String {
    let run = project.cargo(&[&["run", "-q"], arguments].concat()).succeeds();
    assert!(!run.stderr.contains("unexpected `cfg`"), "{}", run.stderr);
    run.stdout.trim().to_owned()
}

#[test]
fn kernels_see_the_features_of_their_package_and_what_the_settings_define() {
    let text = kernels(&[
        ("all(feature = \"half-size\", not(own))", "2.0"),
        ("all(not(feature = \"half-size\"), tile = \"8\", fast)", "3.0"),
        ("own", "5.0"),
    ]);
    let settings = "define = { tile = \"8\", fast = \"\" }\ntargets = [\"cpu\", \"compute_75\"]";
    let project = Project::new("cfgs")
        .manifest("2024", &format!("{settings}\n\n[features]\nhalf-size = []"))
        .file("kernels/chosen.rs", &text)
        .file("src/main.rs", &scale_main(&["chosen"]));
    assert_eq!(result(&project, &[]), "3");
    assert_eq!(result(&project, &["--features", "half-size"]), "2");
}

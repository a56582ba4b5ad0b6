//! Sources in CUDA C++ and OpenCL C as nvcc and clang take them.

use crate::{
    base::paths,
    discovery::{source::Source, template::Template},
    settings::{package::Package, resolved::Settings},
};
use kernelmill_compiler::frontend::cuda::{CudaSource, TemplateInstance};

/// A source as compilers for C and C++ take it.
pub(crate) fn cuda_source(package: &Package, settings: &Settings, source: &Source) -> CudaSource {
    let folder = |folder: &String| paths::normal(&package.root.join(folder));
    CudaSource {
        path: source.path.clone(),
        display: source.display.clone(),
        package_root: package.root.clone(),
        includes: settings.includes.iter().map(folder).collect(),
        defines: source.all_defines(settings).into_iter().collect(),
        arguments: source.arguments(settings),
        instances: source.templates.iter().flat_map(instances).collect(),
    }
}

fn instances(template: &Template) -> impl Iterator<Item = TemplateInstance> {
    template.instances.iter().map(|it| TemplateInstance {
        template: template.name.clone(),
        arguments: it.arguments.clone(),
        written: it.written.clone(),
        place: it.place.clone(),
    })
}

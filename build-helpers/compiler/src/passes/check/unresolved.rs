//! Functions and variables that code uses and that are nowhere defined.

use crate::diagnostic::Code;
use std::collections::BTreeSet;

use kernelmill_artifact::{Target, target::nearest_within};
use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{ModuleExt, Value},
};

use super::host::THREAD_LOCAL;
use crate::passes::call_chains::{CallChains, nameless};
use crate::{
    Error,
    base::{
        demangle::demangle,
        names::{IMPORT, PREFIX},
    },
    diagnostic::Fault,
    ir::{names_std, path_of, undefined, users_in_code},
    job::{Config, DeviceLink},
    target_info::{LibraryQuery, TargetInfo},
    toolchain::Toolchain,
};

/// What is looked at.
pub(super) struct Unresolved<'a, 'c> {
    pub(super) toolchain: &'a Toolchain,
    pub(super) context: &'c Context,
    pub(super) module: &'a Module<'c>,
    /// The source, for messages.
    pub(super) name: &'a str,
    pub(super) config: &'a Config,
    pub(super) backend: &'a dyn TargetInfo,
    pub(super) call_chains: &'a CallChains<'c>,
    /// The names that a reader could have meant.
    pub(super) known: &'a BTreeSet<String>,
    /// The markers of plugins, each with its plugin.
    pub(super) markers: &'a [(String, String)],
}

/// What is called because something is allocated.
const FOLLOW: [&str; 4] =
    ["__rust_dealloc", "__rust_no_alloc_shim_is_unstable", "handle_alloc_error", "8deallocate"];

/// Whether a function is one of the heap's.
fn is_of_heap(path: &str) -> bool {
    let parts = ["__rust_alloc", "__rust_realloc", "__rust_dealloc", "alloc::", "__rustc::"];
    parts.iter().any(|part| path.contains(part))
}

impl<'c> Unresolved<'_, 'c> {
    /// A fault for each place that uses something undefined.
    ///
    /// # Errors
    ///
    /// Where the tools that know device libraries cannot be run.
    pub(super) fn find(&self) -> Result<Vec<Fault>, Error> {
        let mut faults = Vec::new();
        let mut undefined = undefined(self.module);
        let for_libraries = undefined.iter().filter(|name| self.may_be_in_a_library(name));
        let for_libraries: Vec<_> =
            for_libraries.filter_map(|name| self.module.function(name)).collect();
        let found = self.backend.linked(&LibraryQuery {
            toolchain: self.toolchain,
            context: self.context,
            functions: &for_libraries,
            name: self.name,
        })?;
        undefined.retain(|name| !found.defined.contains(name));
        let follows = |name: &String| FOLLOW.iter().any(|part| name.contains(part));
        let allocates = |name: &String| is_of_heap(&demangle(name)) && !names_std(&path_of(name));
        let allocates = undefined.iter().any(|name| allocates(name) && !follows(name));
        for name in &undefined {
            // Whoever allocates frees as well: one fault says so.
            let follows = allocates && follows(name);
            if let Some(function) = self.module.function(name)
                && !self.backend.provides(name)
                && function.text_attribute(IMPORT).is_none()
                && !follows
            {
                let template = match found.other_types.contains(name) {
                    true => self.other_types(name),
                    false => self.function(name),
                };
                self.at_uses(function, &template, &mut faults);
            }
        }
        for global in self.module.globals() {
            let name = global.name();
            let given = name.starts_with(PREFIX) || name.starts_with("llvm.");
            if global.is_declaration() && global.is_used() && !given {
                let template = self.variable(&name);
                self.at_uses(global, &template, &mut faults);
            }
        }
        Ok(faults)
    }

    /// Whether a library of device code may define a function: it has a name of C or C++.
    fn may_be_in_a_library(&self, name: &str) -> bool {
        let is_rusts = rustc_demangle::try_demangle(name).is_ok();
        !self.backend.provides(name) && !name.starts_with(PREFIX) && !is_rusts
    }

    /// The fault at each place that uses a value.
    fn at_uses(&self, value: Value<'c>, template: &Fault, faults: &mut Vec<Fault>) {
        let uses = users_in_code(value);
        if uses.is_empty() {
            let frames = vec![nameless("a table of functions")];
            faults.push(Fault { frames, ..template.clone() });
        }
        for user in uses {
            let mut fault = Fault { frames: self.call_chains.to(user), ..template.clone() };
            // The standard library's own functions differ between versions: what the kernel calls is
            // named, not what that calls.
            if let Some(path) = demangle(&value.name()).strip_prefix("std::")
                && let Some(door) = fault.frames.first().filter(|frame| frame.library)
                && fault.frames.len() > 1
            {
                let inner = format!("`std::{path}`");
                fault.message = fault.message.replace(&inner, &format!("`{}`", door.function));
                fault.frames.remove(0);
            }
            faults.push(fault);
        }
    }

    fn function(&self, name: &str) -> Fault {
        let path = demangle(name);
        let is_of = |crates: &[&str]| crates.iter().any(|start| path.contains(start));
        if name == THREAD_LOCAL {
            let message = "uses a thread-local variable of the host";
            let help = "use a local variable, or shared memory";
            return Fault::new(Code::ThreadLocal, message, Vec::new()).help(help);
        }
        if let Some(operation) = name.strip_prefix(PREFIX) {
            if let Some(what) = self.backend.missing_operation(operation) {
                let message = format!("uses {what}, which {} does not support", self.config.target);
                return Fault::new(Code::Unsupported, message, Vec::new())
                    .help("leave the target out for this kernel");
            }
            let message =
                format!("the marker `{operation}` was not replaced by a plugin or by the compiler");
            return Fault::new(Code::Marker, message, Vec::new()).help(self.marker_help(name));
        }
        let is_std = names_std(&path_of(name));
        if is_of_heap(&path) && !is_std || ["malloc", "free"].contains(&name) {
            return Fault::new(
                Code::Heap,
                "allocates on the heap, which the target does not have",
                Vec::new(),
            )
            .help("use arrays or slices");
        }
        if is_of(&["std::io::", "std::fs::", "std::net::", "std::process::", "std::env::"]) {
            let message = format!("calls `{path}`, which needs an operating system");
            return Fault::new(Code::OperatingSystem, message, Vec::new()).help(
                "kernels have no files, streams, processes or environment: pass what they need as \
                 parameters, and results through slices",
            );
        }
        if is_std {
            let message = format!("calls `{path}`, which needs an operating system");
            return Fault::new(Code::OperatingSystem, message, Vec::new())
                .help("use functions and types of `core`");
        }
        let message = format!("calls `{path}`, which has no definition");
        self.with_nearest(Fault::new(Code::Undefined, message, Vec::new()), name, &path)
    }

    /// What to do about a marker that nothing has replaced.
    fn marker_help(&self, name: &str) -> String {
        let markers = self.markers.iter().map(|(marker, _)| marker.clone());
        let near = nearest_within(name, markers, 3);
        let of_near = |(marker, _): &&(String, String)| Some(marker) == near.as_ref();
        if let Some((marker, plugin)) = self.markers.iter().find(of_near) {
            return format!("the nearest marker is `{marker}`, of the plugin `{plugin}`");
        }
        let registered: Vec<_> = self
            .markers
            .iter()
            .map(|(marker, plugin)| format!("`{plugin}` for `{marker}`"))
            .collect();
        let registered = match registered.is_empty() {
            true => "none is registered".to_owned(),
            false => format!("registered are {}", registered.join(", ")),
        };
        format!(
            "register the plugin that replaces it with `Build::plugin`: {registered}; all other names that start \
             with `{PREFIX}` are reserved for kernelmill: if your source does not use this name, please report it"
        )
    }

    fn other_types(&self, name: &str) -> Fault {
        let names = self.config.params.device_link.as_ref().map(DeviceLink::names);
        let message = format!(
            "calls `{}` with other types than those of its definition in a device library",
            demangle(name)
        );
        Fault::new(Code::DeviceLibrary, message, Vec::new()).help(format!(
            "write the same parameters and result; the device libraries are {}",
            names.unwrap_or_default()
        ))
    }

    fn variable(&self, name: &str) -> Fault {
        let path = demangle(name);
        if names_std(&path_of(name)) {
            let message = "uses a variable of `std`, which needs an operating system";
            return Fault::new(Code::OperatingSystem, message, Vec::new())
                .help("use functions and types of `core`");
        }
        let message = format!("uses the variable `{path}`, which has no definition");
        Fault::new(Code::Undefined, message, Vec::new())
            .help("kernels see the statics of their own source: define it there, or pass its value")
    }

    /// The fault with the nearest name that there is, where one is near.
    fn with_nearest(&self, fault: Fault, name: &str, path: &str) -> Fault {
        let last = path.rsplit("::").next().unwrap_or(path);
        let others = self.known.iter().filter(|known| *known != name).cloned();
        let near = nearest_within(last, others, last.len() / 3);
        let help = match near {
            Some(near) => format!("the nearest name that is known is `{near}`"),
            None => "define it in the kernel's source, or in a crate it depends on".to_owned(),
        };
        let looked = if self.may_be_in_a_library(name) { self.libraries() } else { None };
        fault.help(help + &looked.unwrap_or_default())
    }

    /// Says which libraries of device code were looked at, or why none was.
    fn libraries(&self) -> Option<String> {
        let link = self.config.params.device_link.as_ref()?;
        if !link.libraries.iter().any(|library| library.is_named) {
            return None;
        }
        let (names, target) = (link.names(), &self.config.target);
        Some(match target {
            Target::Cubin(_) => format!("; no device library defines it for {target}: {names}"),
            Target::Ptx(arch) => format!(
                "; device libraries ({names}) are linked into cubins, such as `{}`, and not into PTX",
                Target::Cubin(*arch)
            ),
            _ => format!("; device libraries ({names}) are for NVIDIA's targets only"),
        })
    }
}

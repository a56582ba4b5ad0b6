//! Linking of libraries: the device crate, a vendor's mathematical functions, and the standard library.
//! Definitions are linked until nothing is undefined that a library has.

use std::collections::HashSet;

use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{Linkage, ModuleExt, parse_bitcode},
};

use super::{
    heap, host_instructions,
    library::{Libraries, is_of_library},
    math,
    messages::{self, Messages},
    panics::{self, Style},
    print,
    vendor::{self, Vendor},
};
use crate::{
    Error, base::names::PREFIX, ir::undefined, job::PanicLevel, passes::retarget,
    target_info::TargetInfo,
};

/// Inlines panics into the functions they are in, so that their arguments are seen to be unused.
const DROP_MESSAGES: &str = "always-inline,function(sroa<modify-cfg>,early-cse<memssa>,\
    simplifycfg,instcombine<no-verify-fixpoint>),globaldce";

/// What no other module refers to.
const LOCAL: [Linkage; 2] = [Linkage::Internal, Linkage::Private];

/// The libraries of a job.
pub(crate) struct Sources<'a> {
    pub(crate) libraries: &'a Libraries,
    /// The vendor's mathematical functions, where the job wants them.
    pub(crate) vendor: Option<&'a Vendor>,
    pub(crate) backend: &'a dyn TargetInfo,
    /// What the host learns of a panic.
    pub(crate) level: PanicLevel,
}

impl Sources<'_> {
    /// What a panic leaves behind.
    fn style(&self) -> Style {
        match self.level {
            PanicLevel::None => Style::Silent,
            _ if self.backend.formats_panics() => Style::Format,
            _ => Style::Record,
        }
    }
}

/// Links the instances of generic functions of the standard library that rustc has made in the device crate: at level 0 it makes
/// none where another crate has it. What works on the source then has the bodies of all of them.
pub(crate) fn shared_instances<'c>(
    context: &'c Context,
    module: &Module<'c>,
    sources: &Sources<'_>,
) -> Result<(), Error> {
    const DEVICE: &str = "kernelmill_device";
    let is_shared = |name: &String| name.contains(DEVICE) && is_of_library(name);
    let mut asked = HashSet::new();
    while undefined(module).into_iter().filter(is_shared).any(|name| asked.insert(name)) {
        let library = parse_bitcode(context, sources.libraries.device(), DEVICE)?;
        for function in library.definitions() {
            if !LOCAL.contains(&function.linkage()) && !is_shared(&function.name()) {
                panics::declare_only(context, &library, function);
            }
        }
        link_needed(context, module, sources.backend, sources.style(), (library, DEVICE))?;
    }
    Ok(())
}

/// Links until nothing is undefined that a library has, and adds the texts of the panics that the
/// host puts together.
pub(crate) fn libraries<'c>(
    context: &'c Context,
    module: &Module<'c>,
    sources: &Sources<'_>,
    messages: &mut Messages,
) -> Result<(), Error> {
    let style = sources.style();
    let (asked, of_device) = (HashSet::new(), HashSet::new());
    let mut linker =
        Linker { context, module, sources, style, style_of_the_rest: style, asked, of_device };
    linker.replace_panics(messages)?;
    loop {
        linker.redirect(messages);
        let wanted = undefined(module);
        if linker.link_device_crate(&wanted)? || linker.link_vendor(&wanted)? {
            continue;
        }
        if !linker.link_standard_library(wanted)? {
            return Ok(());
        }
    }
}

/// A module that libraries are linked into.
struct Linker<'a, 'c> {
    context: &'c Context,
    module: &'a Module<'c>,
    sources: &'a Sources<'a>,
    /// What a panic leaves behind.
    style: Style,
    /// The same for panics that no library has a body for.
    style_of_the_rest: Style,
    /// The symbols that libraries were asked for.
    asked: HashSet<String>,
    /// Those of the device crate.
    of_device: HashSet<String>,
}

impl<'c> Linker<'_, 'c> {
    /// Replaces the source's own panics, before formatting code is linked for them.
    fn replace_panics(&self, messages: &mut Messages) -> Result<(), Error> {
        let Self { context, module, style, .. } = *self;
        let machine = self.sources.backend.machine();
        let sends_lines = self.sources.backend.sends_lines();
        if style == Style::Record || sends_lines {
            messages::expose(context, module);
            machine.run(module, DROP_MESSAGES)?;
        }
        if style == Style::Record {
            messages::attach(context, module, messages);
        }
        if sends_lines {
            self.attach_lines(messages);
        }
        panics::define(context, module, style);
        if style != Style::Format {
            // What a message is formatted from is not needed, and would bring formatting code along.
            machine.run(module, DROP_MESSAGES)?;
        }
        Ok(())
    }

    /// Redirects what the module calls to the functions that libraries have for it.
    fn redirect(&self, messages: &mut Messages) {
        let Self { context, module, sources, .. } = *self;
        if self.style_of_the_rest == Style::Record {
            messages::attach(context, module, messages);
        }
        panics::define(context, module, self.style_of_the_rest);
        if let Some(vendor) = sources.vendor {
            vendor.redirect(module);
        }
        vendor::keep_own(context, module);
        host_instructions::replace(context, module);
        math::replace(context, module, sources.backend.is_gpu());
        heap::provide(context, module, sources.backend.has_heap());
        if sources.backend.sends_lines() {
            self.attach_lines(messages);
        }
        let prints = sources.backend.missing_operation("print").is_none();
        if prints && sources.backend.print().is_none() {
            print::to_entry(context, module);
        }
    }

    /// Lets the host format lines. A line with a value that cannot be sent is formatted on the device, where that can.
    fn attach_lines(&self, messages: &mut Messages) {
        let whole = self.sources.backend.calls_pointers();
        messages::attach_lines(self.context, self.module, messages, whole);
    }

    /// Links the device crate, where something new of it is wanted. What comes from `core` may want
    /// more of it, the formatting of panics.
    fn link_device_crate(&mut self, wanted: &[String]) -> Result<bool, Error> {
        let known = self.of_device.len();
        self.of_device.extend(wanted.iter().filter(|name| name.contains("kernelmill")).cloned());
        if self.of_device.len() == known {
            return Ok(false);
        }
        self.add(self.sources.libraries.device(), "kernelmill_device")?;
        Ok(true)
    }

    /// Links the vendor's mathematical functions, where a new one is wanted.
    fn link_vendor(&mut self, wanted: &[String]) -> Result<bool, Error> {
        let Some(vendor) = self.sources.vendor else { return Ok(false) };
        let asked = &mut self.asked;
        if !wanted.iter().any(|name| vendor.has(name) && asked.insert(name.clone())) {
            return Ok(false);
        }
        self.add_module(vendor.module(self.context)?, vendor.name())?;
        vendor.answer(self.module);
        Ok(true)
    }

    /// Links what is wanted of the standard library; whether there may be more to link.
    fn link_standard_library(&mut self, wanted: Vec<String>) -> Result<bool, Error> {
        // Without a heap, what `alloc` does is named as the kernel's own fault.
        let has_heap = self.sources.backend.has_heap();
        let has = |name: &String| has_heap || !heap::is_of_alloc(name);
        let others: Vec<String> =
            wanted.into_iter().filter(|name| !name.starts_with(PREFIX)).filter(has).collect();
        let members = self.sources.libraries.defining(&others, &mut self.asked)?;
        if members.is_empty() {
            if others.is_empty() || self.style_of_the_rest != Style::Format {
                return Ok(false);
            }
            // Instances of generic functions that are in other crates: `assert_failed::<u32, u32>`.
            self.style_of_the_rest = Style::Record;
        }
        for member in members {
            self.add(&member.bitcode, &member.name)?;
        }
        Ok(true)
    }

    /// Links what the module needs of a library's module.
    fn add(&self, bitcode: &[u8], name: &str) -> Result<(), Error> {
        self.add_module(parse_bitcode(self.context, bitcode, name)?, name)
    }

    fn add_module(&self, library: Module<'c>, name: &str) -> Result<(), Error> {
        let Self { context, module, sources, style, .. } = *self;
        link_needed(context, module, sources.backend, style, (library, name))
    }
}

/// Links what a module needs of a library. The definitions are marked as ones that may be dropped, and LLVM's linker brings
/// over those that are referred to.
fn link_needed<'c>(
    context: &'c Context,
    module: &Module<'c>,
    backend: &dyn TargetInfo,
    style: Style,
    (library, name): (Module<'c>, &str),
) -> Result<(), Error> {
    backend.machine().adopt(&library);
    library.strip_debug_info();
    panics::withdraw(context, &library, style);
    for value in library.functions().into_iter().chain(library.globals()) {
        if value.is_declaration() {
            continue;
        }
        if !LOCAL.contains(&value.linkage()) {
            value.set_linkage(Linkage::LinkOnceOdr);
        }
        value.drop_comdat();
    }
    retarget::end_unwinding(&library, backend.machine())?;
    retarget::functions(context, &library, backend.is_gpu());
    module.link(library).map_err(|message| Error::Internal(format!("linking {name}: {message}")))
}

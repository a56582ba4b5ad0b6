//! Which functions libraries of device code define: nvlink says it, of a kernel that calls them all.
//!
//! Archives hold objects, those hold bundles, and these hold code for several architectures, as it is
//! or compressed: what of that fits is for NVIDIA's linker to know.

use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{Block, Builder, ModuleExt, Place, Type, Value, calling_convention},
};

use super::{Assembler, Nvidia};
use crate::{
    Error,
    ir::undefined,
    target_info::{Found, LibraryQuery, TargetInfo as _},
    toolchain::{Linked, Relocatable, TemporaryFolder},
};

impl Nvidia {
    /// Whether a checked module uses functions that libraries have.
    pub(super) fn needs_link(&self, module: &Module<'_>) -> bool {
        undefined(module).iter().any(|name| !self.provides(name))
    }

    /// The names of those functions that the libraries define.
    pub(super) fn found_in_libraries(&self, query: &LibraryQuery<'_, '_>) -> Result<Found, Error> {
        let LibraryQuery { toolchain, context, functions, name } = *query;
        let (mut found, mut functions) = (Found::default(), functions.to_vec());
        let Some(link) = self.link.as_ref() else { return Ok(found) };
        let folder = TemporaryFolder::new(&toolchain.scratch, "probe")?;
        while !functions.is_empty() {
            let ptx = self.calls_of_all(context, &functions)?;
            let assembler = Assembler { toolchain, folder: &folder, name, is_relocatable: true };
            let (cubin, _) = self.ptxas(&ptx, &assembler)?;
            match link.link(
                &Relocatable { cubin: &cubin, arch: self.arch, name, limits: toolchain.limits },
                &folder,
            )? {
                Linked::Cubin(_) => {}
                Linked::Undefined(names) => {
                    functions.retain(|function| !names.contains(&function.name()));
                }
                // It is the first of perhaps several, and says nothing of the others.
                Linked::OtherTypes(other) if functions.iter().any(|it| it.name() == other) => {
                    functions.retain(|function| function.name() != other);
                    found.other_types.insert(other);
                    continue;
                }
                Linked::OtherTypes(other) => return Err(link.clash(&other, self.arch)),
            }
            found.defined = functions.iter().map(|function| function.name()).collect();
            break;
        }
        Ok(found)
    }

    /// A kernel that calls each of some functions, as PTX.
    fn calls_of_all<'c>(
        &self,
        context: &'c Context,
        functions: &[Value<'c>],
    ) -> Result<Vec<u8>, Error> {
        let module = context.create_module("calls");
        self.machine.adopt(&module);
        let kernel = module.new_function("calls", Type::void(context).function(&[]));
        kernel.set_calling_convention(calling_convention::PTX_KERNEL);
        let builder = Builder::new(context);
        builder.at_end(Block::append(context, kernel, "start"));
        for function in functions {
            let ty = function.value_type();
            let declared = module.declare(&function.name(), ty);
            for place in (0..ty.parameters().len() as u32).map(Place::Parameter) {
                if let Some(ty) = function.type_attribute(place, "byval") {
                    declared.add_type_attribute(context, place, "byval", ty);
                }
            }
            // Of zeros: what is undefined LLVM does not even pass.
            let zeros: Vec<_> = ty.parameters().into_iter().map(Type::null).collect();
            builder.call(declared, &zeros);
        }
        builder.ret(None);
        Ok(self.machine.assembly(&module)?)
    }
}

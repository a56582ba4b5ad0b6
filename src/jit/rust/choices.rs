//! What a program chooses, put into bitcode: values of constants, and launch bounds.

use kernelmill_artifact::{BitcodeConstant, LaunchLimits};
use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{Linkage, ModuleExt, Type, Value},
};

use super::constant::ConstantValue;

/// Gives a constant the value that was chosen, or leaves it that of the source, and lets passes know it.
pub(super) fn settle<'c>(
    context: &'c Context,
    module: &Module<'c>,
    constant: &BitcodeConstant,
    value: Option<&ConstantValue>,
) -> Result<(), String> {
    let symbol = constant.symbol();
    let global = module.global(&symbol).ok_or_else(|| {
        format!(
            "internal error of kernelmill: the bitcode has no symbol `{symbol}`; please report it"
        )
    })?;
    let known = match value {
        None => global,
        Some(value) => {
            let byte = Type::int(context, 8);
            let bytes: Vec<_> =
                value.bytes().iter().map(|it| byte.constant(u64::from(*it))).collect();
            let content = byte.constant_array(&bytes);
            let space = global.ty().address_space();
            let known = module.new_global(&format!("{symbol}.chosen"), content.ty(), space);
            known.set_initializer(content);
            known.set_alignment(global.alignment().max(1));
            known.set_global_constant(true);
            global.replace_with(known);
            global.delete_global();
            known
        }
    };
    known.set_externally_initialized(false);
    known.set_linkage(Linkage::Internal);
    Ok(())
}

/// Says the launch bounds of a kernel in the way of LLVM's back end.
pub(super) fn bound<'c>(context: &'c Context, kernel: Value<'c>, limits: &LaunchLimits) {
    let number = |number: u32| (number > 0).then(|| number.to_string());
    let block = limits.block.map(|size| size.to_string()).join(",");
    for (key, value) in [
        ("nvvm.maxntid", number(limits.max_block_threads)),
        ("nvvm.reqntid", (limits.block != [0; 3]).then_some(block)),
        ("nvvm.minctasm", number(limits.min_blocks)),
        ("nvvm.maxnreg", limits.registers().map(|number| number.to_string())),
    ] {
        // What nothing is said of stays: settings of the build may bound registers.
        if let Some(value) = value {
            kernel.remove_text_attribute(key);
            kernel.add_text_attribute(context, key, &value);
        }
    }
}

//! Function tables: indirect calls of device functions passed to kernels, `DeviceFn::call` of the
//! device crate.
//!
//! Such a call names its function by a number, and becomes a switch over direct calls of all functions
//! of its type. No address of a function is ever taken: a number means the same in every module and on
//! every device, kernels keep what is known of direct calls, and the CPU can vectorise them.

use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{Block, Builder, Linkage, ModuleExt, Place, Type, Value, parse_bitcode},
};

use crate::{
    Error,
    base::names::{EXPORTED, FUNCTION},
    ir::{always_inline, calls_of},
    job::{TableFunction, exported_by},
};

/// `fn(function: *const ()) -> bool`: whether there is one.
const IS_FUNCTION: &str = "__kernelmill_is_function";

/// Gives the functions of a module that the host can give the symbols that they have for other
/// packages, which may have functions of the same names. LLVM must be open.
pub(crate) fn qualify(bitcode: &mut Vec<u8>, package: &str) -> Result<(), Error> {
    let context = Context::create();
    let module = parse_bitcode(&context, bitcode, "functions")?;
    let own = module.definitions().into_iter().filter(|it| it.name().starts_with(EXPORTED));
    let own: Vec<_> = own.collect();
    for function in &own {
        function.set_name(&exported_by(package, &function.name()[EXPORTED.len()..]));
    }
    if !own.is_empty() {
        *bitcode = module.to_bitcode();
    }
    Ok(())
}

/// The functions of a source, with their types in compiled code.
pub(crate) struct Table<'a, 'c> {
    functions: Vec<(&'a TableFunction, Type<'c>)>,
    refer: Refer<'c>,
}

/// Names a function of some source, which is found later, by its symbol and type in a module.
pub(crate) type Refer<'c> = fn(&Module<'c>, &str, Type<'c>) -> Value<'c>;

impl<'a, 'c> Table<'a, 'c> {
    pub(crate) fn new(
        functions: &'a [TableFunction],
        find: &dyn Fn(&str) -> Option<Value<'c>>,
        refer: Refer<'c>,
    ) -> Result<Self, Error> {
        let of = |function: &'a TableFunction| {
            let missing = || Error::Internal(format!("nothing has `{}`", function.symbol));
            find(&function.symbol).map(|it| (function, it.value_type())).ok_or_else(missing)
        };
        Ok(Self { functions: functions.iter().map(of).collect::<Result<_, _>>()?, refer })
    }

    /// Replaces every call by number in a module by a switch over the table's functions, which the
    /// module then names by deferred references.
    pub(crate) fn dispatch(&self, context: &'c Context, module: &Module<'c>) -> Result<(), Error> {
        let Some(marker) = ModuleExt::function(module, FUNCTION) else { return Ok(()) };
        for lookup in calls_of(marker) {
            self.replace(context, module, lookup)?;
        }
        for name in [FUNCTION, IS_FUNCTION] {
            let left = ModuleExt::function(module, name).filter(|marker| !marker.is_used());
            left.into_iter().for_each(Value::delete_function);
        }
        Ok(())
    }

    fn replace(
        &self,
        context: &'c Context,
        module: &Module<'c>,
        lookup: Value<'c>,
    ) -> Result<(), Error> {
        let (mut calls, mut checks) = (Vec::new(), Vec::new());
        for user in lookup.users() {
            let is_check = || user.called_function().is_some_and(|it| it.name() == IS_FUNCTION);
            if user.is_call() && user.callee() == Some(lookup) {
                calls.push(user);
            } else if user.is_call() && is_check() {
                checks.push(user);
            } else {
                return Err(Error::Internal(format!("{FUNCTION} is used by {user:?}")));
            }
        }
        let Some(ty) = calls.first().map(|call| call.called_type()) else { return Ok(()) };
        let id = lookup.operand(0);
        for check in checks {
            let builder = Builder::new(context);
            builder.before(check);
            check.replace_with(builder.call(self.is_one_of(context, module, ty), &[id]));
            check.erase();
        }
        for call in calls {
            self.choose(context, module, call, ty, id);
        }
        lookup.erase();
        Ok(())
    }

    fn of_type(&self, ty: Type<'c>) -> impl Iterator<Item = &'a TableFunction> {
        self.functions.iter().filter(move |(_, it)| *it == ty).map(|(function, _)| *function)
    }

    /// `fn(id: u64) -> bool`: whether it names a function of a type.
    fn is_one_of(&self, context: &'c Context, module: &Module<'c>, ty: Type<'c>) -> Value<'c> {
        let (wide, bit) = (Type::int(context, 64), Type::int(context, 1));
        let name = format!("__kernelmill_is_function.{ty:?}");
        if let Some(known) = ModuleExt::function(module, &name) {
            return known;
        }
        let function = module.new_function(&name, bit.function(&[wide]));
        function.set_linkage(Linkage::Internal);
        function.add_attribute(context, Place::Function, "nounwind", 0);
        always_inline(context, function);
        let [start, yes, no] =
            ["start", "yes", "no"].map(|name| Block::append(context, function, name));
        let builder = Builder::new(context);
        builder.at_end(start);
        let choice = builder.switch(function.parameters()[0], no, 0);
        for function in self.of_type(ty) {
            choice.add_case(wide.constant(function.id), yes);
        }
        for (block, value) in [(yes, 1), (no, 0)] {
            builder.at_end(block);
            builder.ret(Some(bit.constant(value)));
        }
        function
    }

    /// Replaces a call by a switch over direct ones. What names none was refused before.
    fn choose(
        &self,
        context: &'c Context,
        module: &Module<'c>,
        call: Value<'c>,
        ty: Type<'c>,
        id: Value<'c>,
    ) {
        let rest = call.block();
        let head = rest.split_before(context, call, "choice");
        let builder = Builder::new(context);
        let none = rest.insert_before(context, "none");
        builder.at_end(none);
        builder.unreachable();
        builder.at_end(head);
        let choice = builder.switch(id, none, 0);
        let mut results = Vec::new();
        for function in self.of_type(ty) {
            let block = rest.insert_before(context, &function.symbol);
            choice.add_case(id.ty().constant(function.id), block);
            builder.at_end(block);
            let target = (self.refer)(module, &function.symbol, ty);
            let direct = builder.copy(call);
            direct.set_operand(direct.operands().len() as u32 - 1, target);
            builder.branch(rest);
            results.push((direct, block));
        }
        if call.is_used() {
            builder.before(call);
            let result = if results.is_empty() {
                call.ty().poison()
            } else {
                let result = builder.phi(call.ty());
                results.iter().for_each(|(value, block)| result.add_incoming(*value, *block));
                result
            };
            call.replace_with(result);
        }
        call.erase();
    }
}

use kernelmill_compiler::plugin::{
    Plugin, Stage, Task,
    ir::{
        AtomicOperation, AtomicOrdering, Block, Builder, IntPredicate, Linkage, ModuleExt, Type,
        Value,
    },
};

/// Replaces `__operation_NAME(x: u32) -> u32` by what a builder makes.
#[derive(Debug)]
pub struct Operations;

#[rustfmt::skip]
impl Plugin for Operations {
    fn name(&self) -> &str { "operations" }
    fn version(&self) -> &str { "1" }
    fn marker(&self) -> &str { "__operation" }
    fn stages(&self) -> &[Stage] { &[Stage::FrontEnd] }

    fn run(&self, task: &Task<'_, '_>) -> Result<bool, String> {
        for call in task.calls() {
            let made = match &*call.called_function().expect("a call of the marker").name() {
                "__operation.arithmetic" => arithmetic(task, call),
                "__operation.conversion" => conversion(task, call),
                "__operation.slot" => slot(task, call),
                "__operation.table" => table(task, call),
                "__operation.branch" => branch(task, call),
                "__operation.function" => function(task, call),
                "__operation.intrinsic" => intrinsic(task, call),
                "__operation.atomic" => atomic(task, call),
                other => return Err(format!("`{other}` is none of the operations")),
            };
            task.replace(call, made);
        }
        Ok(true)
    }
}

/// `(x + 3) * 5 & 0xff`. A constant is made by its type.
fn arithmetic<'c>(task: &Task<'_, 'c>, call: Value<'c>) -> Value<'c> {
    let (build, int) = (task.before(call), Type::int(task.context(), 32));
    let sum = build.add(call.arguments()[0], int.constant(3));
    build.and(build.multiply(sum, int.constant(5)), int.constant(0xff))
}

/// `x` as 64 bits, its double, and the lower half of that.
fn conversion<'c>(task: &Task<'_, 'c>, call: Value<'c>) -> Value<'c> {
    let (build, wide) = (task.before(call), Type::int(task.context(), 64));
    let x = build.zero_extend(call.arguments()[0], wide);
    build.truncate(build.add(x, x), call.ty())
}

/// A stack slot, which is stored to and loaded from.
fn slot<'c>(task: &Task<'_, 'c>, call: Value<'c>) -> Value<'c> {
    let build = task.before(call);
    let slot = build.alloca(call.ty());
    build.store(call.arguments()[0], slot);
    build.load(call.ty(), slot)
}

/// Element `x` of a constant table of the module.
fn table<'c>(task: &Task<'_, 'c>, call: Value<'c>) -> Value<'c> {
    let (build, int) = (task.before(call), call.ty());
    let primes = [2, 3, 5, 7, 11, 13].map(|prime| int.constant(prime));
    let table = task.module().new_global("primes", int.array(6), 0);
    table.set_initializer(int.constant_array(&primes));
    table.set_linkage(Linkage::Internal);
    table.set_global_constant(true);
    build.load(int, build.element(int, table, call.arguments()[0]))
}

/// `if x < 10 { x } else { 10 }`, as three blocks and a phi.
fn branch<'c>(task: &Task<'_, 'c>, call: Value<'c>) -> Value<'c> {
    let (x, limit) = (call.arguments()[0], call.ty().constant(10));
    let rest = call.block();
    let head = rest.split_before(task.context(), call, "head");
    let otherwise = rest.insert_before(task.context(), "otherwise");
    let build = Builder::new(task.context());
    build.at_end(head);
    let is_small = build.compare(IntPredicate::Ult, x, limit);
    build.branch_if(is_small, rest, otherwise);
    build.at_end(otherwise);
    build.branch(rest);
    build.before(rest.instructions()[0]);
    let least = build.phi(call.ty());
    least.add_incoming(x, head);
    least.add_incoming(limit, otherwise);
    least
}

/// A call of a function of the module's own, `square(x)`.
fn function<'c>(task: &Task<'_, 'c>, call: Value<'c>) -> Value<'c> {
    let square = task.module().new_function("square", call.ty().function(&[call.ty()]));
    square.set_linkage(Linkage::Internal);
    let build = Builder::new(task.context());
    build.at_end(Block::append(task.context(), square, "start"));
    let x = square.parameters()[0];
    build.ret(Some(build.multiply(x, x)));
    task.before(call).call(square, &[call.arguments()[0]])
}

/// One of LLVM's intrinsics: the number of bits that are set.
fn intrinsic<'c>(task: &Task<'_, 'c>, call: Value<'c>) -> Value<'c> {
    let count = task.module().intrinsic("llvm.ctpop", &[call.ty()]);
    task.before(call).call(count, &[call.arguments()[0]])
}

/// `fetch_add(1)` of a stack slot, then a fence. The result is the old value.
fn atomic<'c>(task: &Task<'_, 'c>, call: Value<'c>) -> Value<'c> {
    let build = task.before(call);
    let counter = build.alloca(call.ty());
    build.store(call.arguments()[0], counter);
    let one = call.ty().constant(1);
    let old = build.atomic(AtomicOperation::Add, counter, one, AtomicOrdering::Monotonic);
    build.fence(AtomicOrdering::AcquireRelease);
    old
}

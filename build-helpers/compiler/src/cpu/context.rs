//! Where threads find their context, and what the operations on it become.

use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{AtomicOrdering, Builder, Linkage, ModuleExt, Opcode, Place, Type, Value},
};

use super::{
    abi::{block, dynamic_shared_offset, field, geometry, item, set_field},
    exit_flags, inlining,
    operation::{Operation, number, operations},
    warp_collectives::{self, Turn},
};
use crate::{
    base::names::{OF_WARPS, is_panic},
    ir::calls_of,
    passes::entry::Unit,
};

/// Marks where a coroutine gives control back; the compiler's own.
pub(super) const SUSPEND: &str = "__kernelmill_suspend";

/// Marks a barrier in a body that is built by regions; the compiler's own.
pub(super) const BARRIER: &str = "__kernelmill_region_barrier";

/// Marks a barrier after which threads that have left the kernel early do not go on.
const BARRIER_OF_EXITS: &str = "__kernelmill_region_exit_barrier";

/// Marks a barrier of warps whose lanes all have to be there, as far as they have not exited.
const BARRIER_OF_WARPS: &str = "__kernelmill_region_warp_barrier";

/// What happens at a barrier between regions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AtBarrier {
    Nothing,
    /// A warp of which some lanes are present and others absent waits for ever.
    LanesAreChecked,
    /// Threads become absent or exit. Those with the first number are present again. Where no thread is present,
    /// the block goes on where those with the second number are again; 0: at the end of the kernel.
    ThreadsChange {
        returning: u64,
        next: u64,
    },
}

/// What happens at a mark.
pub(super) fn at_barrier(call: Value<'_>) -> AtBarrier {
    if is_exit_barrier(call) {
        let number = |index: usize| call.arguments()[index].as_u64().unwrap_or(0);
        return AtBarrier::ThreadsChange { returning: number(0), next: number(1) };
    }
    if is_call_of(call, BARRIER_OF_WARPS) {
        return AtBarrier::LanesAreChecked;
    }
    AtBarrier::Nothing
}

/// Whether a call is a mark of any kind.
pub(super) fn is_barrier(call: Value<'_>) -> bool {
    is_call_of(call, BARRIER) || is_call_of(call, BARRIER_OF_WARPS) || is_exit_barrier(call)
}

/// Whether a call marks a barrier after early exits.
pub(super) fn is_exit_barrier(call: Value<'_>) -> bool {
    is_call_of(call, BARRIER_OF_EXITS)
}

fn is_call_of(call: Value<'_>, name: &str) -> bool {
    call.is_call() && call.called_function().is_some_and(|callee| callee.name() == name)
}

/// The thread-local copy of the first fields of the run time's `Item`: block, thread and lane.
const THREAD: &str = "__kernelmill_thread";

/// Where the context is to be found.
#[derive(Clone, Copy)]
pub(super) enum Source<'c> {
    /// In the parameters of a body of a thread loop.
    Parameters {
        thread: [Value<'c>; 3],
        index: [Value<'c>; 3],
        dims: [Value<'c>; 3],
        grid: [Value<'c>; 3],
        block: Value<'c>,
        /// The tables of [`warp_collectives`].
        tables: Value<'c>,
        shared: Value<'c>,
    },
    /// In the run time's `Item`, or what starts as one.
    Item(Value<'c>),
}

impl<'c> Source<'c> {
    fn block(self, unit: &Unit<'_, 'c>, builder: &Builder<'c>) -> Value<'c> {
        match self {
            Self::Parameters { block, .. } => block,
            Self::Item(item) => {
                let pointer = Type::pointer(unit.context, 0);
                field(unit.context, builder, pointer, item, item::BLOCK)
            }
        }
    }

    /// The address of the block's shared memory.
    fn shared(self, unit: &Unit<'_, 'c>, builder: &Builder<'c>) -> Value<'c> {
        match self {
            Self::Parameters { shared, .. } => shared,
            Self::Item(_) => {
                let pointer = Type::pointer(unit.context, 0);
                let block = self.block(unit, builder);
                field(unit.context, builder, pointer, block, block::SHARED)
            }
        }
    }

    /// The value of an operation that only reads the context.
    fn read(
        self,
        unit: &Unit<'_, 'c>,
        builder: &Builder<'c>,
        operation: Operation,
        shared_bytes: u64,
    ) -> Value<'c> {
        let context = unit.context;
        let (word, pointer) = (Type::int(context, 32), Type::pointer(context, 0));
        let of_block = |ty, offset| field(context, builder, ty, self.block(unit, builder), offset);
        let of_geometry = |offset| {
            let shape = of_block(pointer, block::GEOMETRY);
            field(context, builder, word, shape, offset)
        };
        match (operation, self) {
            (Operation::ThreadIndex(axis), Self::Parameters { thread, .. }) => {
                thread[axis as usize]
            }
            (Operation::BlockIndex(axis), Self::Parameters { index, .. }) => index[axis as usize],
            (Operation::BlockDim(axis), Self::Parameters { dims, .. }) => dims[axis as usize],
            (Operation::GridDim(axis), Self::Parameters { grid, .. }) => grid[axis as usize],
            (Operation::ThreadIndex(axis), Self::Item(item)) => {
                field(context, builder, word, item, item::THREAD + 4 * axis)
            }
            (Operation::BlockIndex(axis), _) => of_block(word, block::INDEX + 4 * axis),
            (Operation::BlockDim(axis), _) => of_geometry(geometry::BLOCK + 4 * axis),
            (Operation::GridDim(axis), _) => of_geometry(geometry::GRID + 4 * axis),
            (Operation::Lane, Self::Item(item)) => field(context, builder, word, item, item::LANE),
            (Operation::Lane, Self::Parameters { thread, dims, .. }) => {
                let row = builder.add(builder.multiply(thread[2], dims[1]), thread[1]);
                let linear = builder.add(builder.multiply(row, dims[0]), thread[0]);
                builder.and(linear, word.constant(31))
            }
            (Operation::SharedBase, _) => self.shared(unit, builder),
            (Operation::DynamicShared, _) => {
                let base = self.shared(unit, builder);
                builder.offset(context, base, dynamic_shared_offset(shared_bytes))
            }
            (Operation::DynamicSharedBytes, _) => of_geometry(geometry::DYNAMIC_SHARED_BYTES),
            (Operation::PanicRecord, _) => of_block(pointer, block::PANIC),
            (
                Operation::Fence
                | Operation::Exit
                | Operation::Barrier
                | Operation::GridBarrier
                | Operation::EarlyExit
                | Operation::ExitBarrier
                | Operation::Leave
                | Operation::AbsenceBarrier
                | Operation::AnyPresent
                | Operation::AllLanes
                | Operation::StackCheck
                | Operation::Warp(_),
                _,
            ) => unreachable!("{operation:?} reads nothing"),
        }
    }
}

/// Whether a kernel's threads wait for each other, once everything is inlined.
pub(super) fn suspends(function: Value<'_>) -> bool {
    operations(function).iter().any(|(_, operation)| operation.waits())
}

/// Keeps calls apart at which threads wait for each other, before LLVM's passes run: two barriers on two ways are
/// two, also where nothing else is on these ways. On GPUs all calls are `convergent` for that.
pub(crate) fn keep_waits_apart<'c>(context: &'c Context, module: &Module<'c>) {
    let waits = inlining::callers(&inlining::call_graph(module), |name| {
        Operation::from_name(name).is_some_and(Operation::waits)
    });
    for function in module.functions() {
        let waits = waits.contains(&function)
            || Operation::from_name(&function.name()).is_some_and(Operation::waits);
        if waits {
            for call in calls_of(function) {
                call.add_attribute(context, Place::Function, "nomerge", 0);
            }
        }
    }
}

/// Marks what threads wait at as not to be moved under other conditions, nor to be duplicated: a loop
/// with a barrier must not become two, one in the other, by which way control goes back, nor is it
/// unrolled, which would make every iteration a region of its own.
///
/// Loops over distances of shuffles are unrolled: these are few, and it matters that each is known.
pub(super) fn mark_waits(unit: &Unit<'_, '_>) {
    for function in unit.module.functions() {
        let attributes: &[_] = match Operation::from_name(&function.name()) {
            Some(
                Operation::Barrier
                | Operation::GridBarrier
                | Operation::Warp(number::BARRIER | number::ACTIVE_MASK),
            ) => &["convergent", "noduplicate", "nomerge"],
            Some(Operation::Warp(_)) => &["convergent"],
            _ => continue,
        };
        // LLVM takes it off a call where the function does not have it.
        for attribute in attributes {
            function.add_attribute(unit.context, Place::Function, attribute, 0);
            for call in calls_of(function) {
                call.add_attribute(unit.context, Place::Function, attribute, 0);
            }
        }
    }
}

/// Whether a function names shared memory.
pub(super) fn uses_shared(function: Value<'_>) -> bool {
    operations(function).iter().any(|(_, operation)| operation.names_shared())
}

/// Whether a function names dynamic shared memory, which starts behind that of all kernels.
pub(super) fn uses_dynamic_shared(function: Value<'_>) -> bool {
    operations(function).iter().any(|(_, operation)| *operation == Operation::DynamicShared)
}

/// Whether a call writes down a panic.
pub(super) fn reports_panic(call: Value<'_>) -> bool {
    call.called_function().is_some_and(|callee| is_panic(&callee.name()))
}

/// Makes the functions that write down a panic return; what ends the thread is then up to each
/// caller.
pub(super) fn let_panics_return(unit: &Unit<'_, '_>) {
    let panics = unit.module.functions().into_iter();
    for function in panics.filter(|function| is_panic(&function.name())) {
        function.remove_attribute(Place::Function, "noreturn");
        for user in function.users().into_iter().filter(|user| user.is_call()) {
            user.remove_attribute(Place::Function, "noreturn");
        }
        for (call, operation) in operations(function) {
            if operation == Operation::Exit {
                return_at(unit, call);
                call.erase();
            }
        }
    }
}

/// Replaces the `unreachable` after a call by `ret void`.
fn return_at<'c>(unit: &Unit<'_, 'c>, call: Value<'c>) {
    let next = call.next_instruction().expect("a call is not the end of a block");
    assert_eq!(next.opcode(), Opcode::Unreachable, "after a call that does not return");
    let builder = Builder::new(unit.context);
    builder.before(next);
    builder.ret(None);
    next.erase();
}

/// What the operations in a function become.
pub(super) struct Lowering<'u, 'a, 'c> {
    pub(super) unit: &'u Unit<'a, 'c>,
    pub(super) source: Source<'c>,
    /// Bytes of shared memory that the source's kernels declare.
    pub(super) shared_bytes: u64,
    /// Whether threads of a body of regions exit before others.
    pub(super) can_exit: bool,
}

impl<'c> Lowering<'_, '_, 'c> {
    /// Replaces an operation that a body contains.
    ///
    /// `turn` is that of a warp collective in a body of regions, and `is_checked` whether its lanes may be absent.
    pub(super) fn lower(
        &self,
        call: Value<'c>,
        operation: Operation,
        site: u64,
        (turn, is_checked): (Option<Turn>, bool),
    ) {
        let builder = Builder::new(self.unit.context);
        builder.before(call);
        match operation {
            Operation::Exit => return_at(self.unit, call),
            Operation::Fence => builder.fence(AtomicOrdering::SequentiallyConsistent),
            Operation::Barrier => match self.source {
                Source::Parameters { .. } => self.end_region(&builder, BARRIER, &[]),
                Source::Item(item) => {
                    let barrier = call.called_function();
                    let is_of_warps = barrier.and_then(|it| it.text_attribute(OF_WARPS)).is_some();
                    let kind = if is_of_warps { item::OF_WARPS } else { 0 };
                    self.set_site(&builder, item, site | kind);
                    self.wait(&builder, 1);
                }
            },
            Operation::GridBarrier => {
                let Source::Item(item) = self.source else { unreachable!("only coroutines wait") };
                self.set_site(&builder, item, site);
                self.wait(&builder, 3);
            }
            Operation::EarlyExit => self.leave(&builder, exit_flags::EXITED),
            Operation::Leave => {
                let number = call.arguments()[0].as_u64();
                self.leave(&builder, number.expect("the number of an absence is a constant"));
            }
            Operation::ExitBarrier | Operation::AbsenceBarrier => {
                self.end_region(&builder, BARRIER_OF_EXITS, &call.arguments());
            }
            // Whoever asks is. Where no thread is present the block goes on elsewhere.
            Operation::AnyPresent => {
                call.replace_with(Type::int(self.unit.context, 1).constant(1));
            }
            Operation::AllLanes => {}
            Operation::Warp(number) => {
                let result = match self.source {
                    Source::Parameters { .. } => {
                        self.exchange(&builder, (call, number), (turn, is_checked))
                    }
                    Source::Item(item) => self.warp(&builder, item, call, number, site),
                };
                if let Some(result) = result {
                    call.replace_with(result);
                }
            }
            _ => {
                let value = self.source.read(self.unit, &builder, operation, self.shared_bytes);
                call.replace_with(value);
            }
        }
        call.erase();
    }

    /// Marks a barrier between regions.
    fn end_region(&self, builder: &Builder<'c>, mark: &str, operands: &[Value<'c>]) {
        let types: Vec<_> = operands.iter().map(|operand| operand.ty()).collect();
        let ty = Type::void(self.unit.context).function(&types);
        builder.call(self.unit.module.declare(mark, ty), operands);
    }

    /// Notes that the thread exits, or is absent with this number.
    fn leave(&self, builder: &Builder<'c>, number: u64) {
        let (context, thread) = (self.unit.context, self.thread());
        let linear = thread.linear(context, builder);
        exit_flags::leave(context, builder, thread.tables, (linear, number));
    }

    /// What a thread of a body of regions knows of its place.
    fn thread(&self) -> warp_collectives::Thread<'c> {
        let Source::Parameters { thread, dims, tables, .. } = self.source else {
            unreachable!("coroutines wait")
        };
        warp_collectives::Thread { index: thread, dims, tables, can_exit: self.can_exit }
    }

    /// Builds a warp collective between regions, and gives its result.
    fn exchange(
        &self,
        builder: &Builder<'c>,
        operation: (Value<'c>, u64),
        (turn, is_checked): (Option<Turn>, bool),
    ) -> Option<Value<'c>> {
        let first = if is_checked { BARRIER_OF_WARPS } else { BARRIER };
        let arrive = || self.end_region(builder, first, &[]);
        let Some(turn) = turn else {
            arrive();
            return None;
        };
        let thread = self.thread();
        let wait = || self.end_region(builder, BARRIER, &[]);
        let barriers = warp_collectives::Barriers { arrive: &arrive, wait: &wait };
        Some(warp_collectives::build(self.unit, builder, &thread, operation, turn, &barriers))
    }

    /// Says which of the kernel's barriers the thread waits at.
    fn set_site(&self, builder: &Builder<'c>, item: Value<'c>, site: u64) {
        let number = Type::int(self.unit.context, 32).constant(site + 1);
        set_field(self.unit.context, builder, item, item::ARGUMENT, number);
    }

    /// Says what the thread waits for, and marks the place.
    fn wait(&self, builder: &Builder<'c>, reason: u64) {
        let Source::Item(item) = self.source else { unreachable!("only coroutines wait") };
        let context = self.unit.context;
        let word = Type::int(context, 32);
        set_field(context, builder, item, item::WAIT, word.constant(reason));
        let suspend = self.unit.module.declare(SUSPEND, Type::void(context).function(&[]));
        builder.call(suspend, &[]);
    }

    /// Hands a warp collective to the run time, and gives its result.
    fn warp(
        &self,
        builder: &Builder<'c>,
        item: Value<'c>,
        call: Value<'c>,
        which: u64,
        site: u64,
    ) -> Option<Value<'c>> {
        let context = self.unit.context;
        let word = Type::int(context, 32);
        let zero = word.constant(0);
        let arguments = call.arguments();
        let (mask, value, argument) = match which {
            number::BARRIER => (arguments[0], zero, zero),
            number::BALLOT => (arguments[0], arguments[1], zero),
            number::ACTIVE_MASK => {
                (word.constant(u64::from(u32::MAX)), zero, word.constant(site + 1))
            }
            _ => (arguments[0], arguments[1], arguments[2]),
        };
        for (offset, value) in [
            (item::MASK, mask),
            (item::OPERATION, word.constant(which)),
            (item::ARGUMENT, argument),
            (item::VALUE, value),
        ] {
            set_field(context, builder, item, offset, value);
        }
        self.wait(builder, 2);
        (which != number::BARRIER).then(|| field(context, builder, word, item, item::RESULT))
    }

    /// Ends the thread in a body after a call that has written down its panic.
    pub(super) fn end_after(&self, call: Value<'c>) {
        return_at(self.unit, call);
    }

    /// Copies the context to where functions that are not inlined find it.
    pub(super) fn save(&self, before: Value<'c>) {
        let context = self.unit.context;
        let builder = Builder::new(context);
        builder.before(before);
        let thread = thread_local(self.unit);
        let block = self.source.block(self.unit, &builder);
        set_field(context, &builder, thread, item::BLOCK, block);
        let read = |operation| self.source.read(self.unit, &builder, operation, self.shared_bytes);
        for axis in 0..3 {
            let index = read(Operation::ThreadIndex(axis));
            set_field(context, &builder, thread, item::THREAD + 4 * axis, index);
        }
        let lane = read(Operation::Lane);
        set_field(context, &builder, thread, item::LANE, lane);
    }

    /// Ends a thread inside a function that is not inlined, after a call there.
    pub(super) fn jump_after(&self, call: Value<'c>) {
        let context = self.unit.context;
        let next = call.next_instruction().expect("a call is not the end of a block");
        let builder = Builder::new(context);
        builder.before(next);
        let (word, pointer) = (Type::int(context, 32), Type::pointer(context, 0));
        let ty = Type::void(context).function(&[pointer, word]);
        let longjmp = self.unit.module.declare("longjmp", ty);
        longjmp.add_attribute(context, Place::Function, "noreturn", 0);
        let block = self.source.block(self.unit, &builder);
        let buffer = builder.offset(context, block, block::JUMP);
        builder.call(longjmp, &[buffer, word.constant(1)]);
    }
}

/// The thread-local copy of the context.
pub(super) fn thread_local<'c>(unit: &Unit<'_, 'c>) -> Value<'c> {
    unit.module.global(THREAD).unwrap_or_else(|| {
        let ty = Type::int(unit.context, 64).array(3);
        let global = unit.module.new_global(THREAD, ty, 0);
        global.set_initializer(ty.null());
        global.set_thread_local();
        global.set_linkage(Linkage::Internal);
        global
    })
}

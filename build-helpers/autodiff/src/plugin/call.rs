//! One call of the marker function that `autodiff!` writes: its request, and its replacement by the
//! derivative.

use std::collections::BTreeMap;

use kernelmill_compiler::plugin::Task;
use kernelmill_llvm::{
    ir::{Builder, Place, Type, Value},
    machine::Machine,
};

use crate::{Activity, Derivative, Error, Mode, Request, Session, Tape, analysis::holds_floats};

/// The function that `autodiff!` calls; mode and activities follow in its name.
pub(crate) const MARKER: &str = "__kernelmill_autodiff";

/// What the name of a safe derivative's marker ends with.
const SAFE: &str = ".safe";

/// The reason why a call cannot be replaced.
pub(super) enum ReplaceError {
    /// The declaration does not fit the function.
    Source(String),
    /// There is no such derivative.
    Derivative(Error),
}

impl From<Error> for ReplaceError {
    fn from(error: Error) -> Self {
        Self::Derivative(error)
    }
}

/// The request in a marker's name: `MARKER.NAME.MODE.ACTIVITY_ACTIVITY_`, and `.safe` where it is a safe
/// function.
struct Marker {
    mode: Mode,
    keep_result: bool,
    activities: Vec<Activity>,
    /// Whether rustc has checked the types, and nobody answers for pointers in shadows.
    is_safe: bool,
}

/// The LLVM values of one Rust parameter: a slice is two, an address and a length.
type Group<'c> = Vec<Value<'c>>;

/// A call of the marker, taken apart.
pub(super) struct MarkedCall<'c> {
    marker: Marker,
    function: Value<'c>,
    /// The memory for a result that Rust returns by address.
    hidden: Option<Value<'c>>,
    groups: Vec<Group<'c>>,
    rules: Vec<(Value<'c>, Vec<Value<'c>>)>,
}

/// Reads a call.
pub(super) fn read(call: Value<'_>) -> Result<MarkedCall<'_>, String> {
    let name = call.called_function().map(Value::name).unwrap_or_default();
    let marker = marker(&name)?;
    let arguments = call.arguments();
    let (function, first) = function_of(&arguments).ok_or_else(|| {
        "the function that is differentiated must be named, not computed".to_owned()
    })?;
    let (rules, rest) = rules(&arguments[first + 1..])
        .ok_or_else(|| "functions with rules must be named, not computed".to_owned())?;
    let groups = groups(rest)
        .ok_or_else(|| "parameters must be numbers, references and slices".to_owned())?;
    Ok(MarkedCall { marker, function, hidden: (first == 1).then(|| arguments[0]), groups, rules })
}

impl MarkedCall<'_> {
    /// The rules, by symbols.
    pub(super) fn rules(&self) -> BTreeMap<String, Vec<String>> {
        let symbols = |all: &[Value<'_>]| all.iter().map(|function| function.name()).collect();
        self.rules.iter().map(|(function, all)| (function.name(), symbols(all))).collect()
    }
}

/// Replaces a call by a call of the derivative.
pub(super) fn replace<'c>(
    task: &Task<'_, 'c>,
    session: &Session<'_, 'c>,
    call: Value<'c>,
    marked: MarkedCall<'c>,
) -> Result<(), ReplaceError> {
    let MarkedCall { marker, function, hidden, mut groups, .. } = marked;
    groups.reverse();
    let (activities, mut passed) = passed(&marker, &mut groups).map_err(ReplaceError::Source)?;
    let mut request = Request::new(&function.name(), marker.mode, &activities);
    request.keep_result = marker.keep_result;
    request.distinct_pointers = true;
    request.plain_shadows = marker.is_safe;
    let derivative = session.differentiate(&request)?;
    pass_seed_and_tape(task, session, &derivative, &mut groups, &mut passed)?;
    let target = session.function(&derivative.symbol);
    check_types(target, &passed).map_err(ReplaceError::Source)?;

    let builder = task.before(call);
    let result = builder.call(target, &passed);
    if !calls_itself(target) {
        result.add_attribute(task.context(), Place::Function, "alwaysinline", 0);
    }
    give(task, session.machine(), &builder, Replaced { call, hidden }, result)
        .map_err(ReplaceError::Source)
}

/// The functions with rules and their partial derivatives, and the remaining arguments.
type RulesAndRest<'a, 'c> = (Vec<(Value<'c>, Vec<Value<'c>>)>, &'a [Value<'c>]);

fn rules<'a, 'c>(mut arguments: &'a [Value<'c>]) -> Option<RulesAndRest<'a, 'c>> {
    const RULED: u64 = u64::MAX;
    const PARTIAL: u64 = u64::MAX - 1;
    let mut rules: Vec<(Value<'c>, Vec<Value<'c>>)> = Vec::new();
    while let [code, function, rest @ ..] = arguments {
        match code.as_u64() {
            Some(RULED) if function.is_function() => rules.push((*function, Vec::new())),
            Some(PARTIAL) if function.is_function() => rules.last_mut()?.1.push(*function),
            Some(RULED | PARTIAL) => return None,
            _ => break,
        }
        arguments = rest;
    }
    Some((rules, arguments))
}

fn marker(name: &str) -> Result<Marker, String> {
    let wrong = || format!("`{name}` is not a marker that `autodiff!` writes");
    let rest = name.strip_prefix(MARKER).ok_or_else(wrong)?;
    let [_, _, mode, activities] = rest.splitn(4, '.').collect::<Vec<_>>()[..] else {
        return Err(wrong());
    };
    let is_safe = activities.ends_with(SAFE);
    let activities = activities.strip_suffix(SAFE).unwrap_or(activities);
    let (mode, keep_result) = match mode {
        "forward" => (Mode::Forward, false),
        "forward_with_value" => (Mode::Forward, true),
        "reverse" => (Mode::Reverse, false),
        "reverse_with_value" => (Mode::Reverse, true),
        other => {
            return Err(format!(
                "`{other}` is not a mode: write forward, reverse, forward_with_value or reverse_with_value"
            ));
        }
    };
    let activities = activities.split('_').filter(|word| !word.is_empty()).map(|word| match word {
        "constant" => Ok(Activity::Constant),
        "active" => Ok(Activity::Active),
        "duplicated" => Ok(Activity::Duplicated),
        "shared" => Ok(Activity::Shared),
        other => Err(format!(
            "`{other}` is not an activity: write constant, active, duplicated or shared"
        )),
    });
    Ok(Marker { mode, keep_result, activities: activities.collect::<Result<_, _>>()?, is_safe })
}

/// The function among a marker's arguments, and its index: 0, or 1 after the memory for a result.
fn function_of<'c>(arguments: &[Value<'c>]) -> Option<(Value<'c>, usize)> {
    arguments
        .iter()
        .take(2)
        .enumerate()
        .find_map(|(at, argument)| argument.is_function().then_some((*argument, at)))
}

/// The parameters: each comes after its size in bytes.
fn groups<'c>(arguments: &[Value<'c>]) -> Option<Vec<Group<'c>>> {
    let mut groups = Vec::new();
    let mut rest = arguments.iter().copied();
    while let Some(size) = rest.next() {
        let size = size.as_u64()?;
        let value = rest.next()?;
        let mut group = vec![value];
        if value.ty().is_pointer() && size == 16 {
            group.push(rest.next()?);
        }
        groups.push(group);
    }
    Some(groups)
}

/// An activity for each of LLVM's parameters, and the arguments for them, taken from the end of
/// `groups`.
fn passed<'c>(
    marker: &Marker,
    groups: &mut Vec<Group<'c>>,
) -> Result<(Vec<Activity>, Vec<Value<'c>>), String> {
    let (mut activities, mut passed) = (Vec::new(), Vec::new());
    let missing = |what: &str, index: usize| {
        format!("there is no parameter for the {what} of parameter {index} of the function")
    };
    for (index, &activity) in marker.activities.iter().enumerate() {
        let group = groups.pop().ok_or_else(|| missing("value", index))?;
        let of_rest =
            if group.len() > 1 { vec![Activity::Constant; group.len() - 1] } else { Vec::new() };
        passed.push(group[0]);
        activities.push(activity);
        let has_shadow = match activity {
            Activity::Constant => false,
            Activity::Active => marker.mode == Mode::Forward,
            Activity::Duplicated | Activity::Shared => true,
        };
        if has_shadow {
            let what = if activity == Activity::Active { "tangent" } else { "shadow" };
            let shadow = groups.pop().ok_or_else(|| missing(what, index))?;
            if shadow.len() != group.len() || shadow[0].ty() != group[0].ty() {
                return Err(format!(
                    "the parameter for the {what} of parameter {index} does not have the type of parameter {index}"
                ));
            }
            passed.push(shadow[0]);
        }
        passed.extend(&group[1..]);
        activities.extend(of_rest);
    }
    Ok((activities, passed))
}

/// Passes the seed of the result, and the tape, where the derivative has them.
fn pass_seed_and_tape<'c>(
    task: &Task<'_, 'c>,
    session: &Session<'_, 'c>,
    derivative: &Derivative,
    groups: &mut Vec<Group<'c>>,
    passed: &mut Vec<Value<'c>>,
) -> Result<(), ReplaceError> {
    let wanted = session.function(&derivative.symbol).parameters().len();
    let with_tape = matches!(derivative.tape, Tape::Buffer { .. });
    if wanted > passed.len() + if with_tape { 2 } else { 0 } {
        let seed = groups.pop().ok_or_else(|| {
            ReplaceError::Source(
                "the function returns a number: add a parameter for the gradient of its result"
                    .to_owned(),
            )
        })?;
        passed.extend(seed);
    }
    if let Tape::Buffer { bytes } = derivative.tape {
        let needed = bytes.map_or_else(
            || "as many bytes as its loops need, which depends on the arguments".to_owned(),
            |bytes| format!("{bytes} bytes"),
        );
        let tape = groups.pop().filter(|group| group.len() == 2).ok_or_else(|| {
            ReplaceError::Source(format!(
                "the derivative needs a tape of {needed}: add `tape: &mut [u64]` as the last \
                 parameter, with memory of the thread's own"
            ))
        })?;
        let wide = Type::int(task.context(), 64);
        let builder = Builder::new(task.context());
        match tape[1].is_instruction() {
            true => builder.before(tape[1].next_instruction().unwrap_or(tape[1])),
            false => builder.before(first_of(tape[1], task)),
        }
        passed.extend([tape[0], builder.multiply(tape[1], wide.constant(8))]);
    }
    if groups.is_empty() {
        return Ok(());
    }
    Err(ReplaceError::Source(format!(
        "{} parameters are left over: each parameter of the function is followed by its tangent or \
         shadow if it has one, then come the gradient of the result in reverse mode, and the tape if \
         one is needed",
        groups.len()
    )))
}

/// The first instruction of the function with this parameter, which calls a marker.
fn first_of<'c>(parameter: Value<'c>, task: &Task<'_, 'c>) -> Value<'c> {
    let users = parameter.users();
    let in_function = users.first().map(|user| user.block().function());
    let first = in_function.and_then(|function| function.instructions().first().copied());
    first.unwrap_or_else(|| task.calls()[0])
}

fn check_types(target: Value<'_>, passed: &[Value<'_>]) -> Result<(), String> {
    let wanted: Vec<_> = target.parameters().into_iter().map(Value::ty).collect();
    let given: Vec<_> = passed.iter().map(|value| value.ty()).collect();
    if wanted == given {
        return Ok(());
    }
    Err(format!(
        "the types of the parameters are not those of the derivative, which takes {wanted:?}: {given:?} are passed"
    ))
}

fn calls_itself(function: Value<'_>) -> bool {
    function.calls().into_iter().filter_map(Value::called_function).any(|callee| callee == function)
}

/// A call that a derivative replaces.
#[derive(Clone, Copy)]
struct Replaced<'c> {
    call: Value<'c>,
    /// The memory for its result, where Rust returns that by address.
    hidden: Option<Value<'c>>,
}

/// Passes a derivative's result to the users of the call that it replaces, as Rust expects it.
fn give<'c>(
    task: &Task<'_, 'c>,
    machine: &Machine,
    builder: &Builder<'c>,
    replaced: Replaced<'c>,
    result: Value<'c>,
) -> Result<(), String> {
    let Replaced { call, hidden } = replaced;
    let (wanted, given) = (call.ty(), result.ty());
    let nothing = Type::void(task.context());
    if hidden.is_none() && wanted == given {
        if wanted == nothing {
            call.erase();
        } else {
            task.replace(call, result);
        }
        return Ok(());
    }
    let numbers = numbers(given).ok_or_else(|| {
        format!("the results `{given:?}` are of several types; return only gradients of one type")
    })?;
    let wrong = || {
        format!(
            "the derivative returns {} numbers: declare an array of that length as its result",
            numbers.len()
        )
    };
    let Some(number) = numbers.first().copied() else { return Err(wrong()) };
    let bytes = machine.size_of(number) * numbers.len() as u64;
    if hidden.is_none() && (wanted == nothing || machine.size_of(wanted) != bytes) {
        return Err(wrong());
    }
    // Through memory: Rust returns small arrays as integers, and large ones by their address.
    let slot =
        hidden.unwrap_or_else(|| result_slot(task, call, number.array(numbers.len() as u64)));
    for index in 0..numbers.len() {
        let value = if numbers.len() == 1 { result } else { builder.extract(result, index as u32) };
        let at = builder.offset(task.context(), slot, machine.size_of(number) * index as u64);
        builder.store(value, at).set_alignment(machine.size_of(number) as u32);
    }
    if hidden.is_some() {
        call.erase();
    } else {
        task.replace(call, builder.load(wanted, slot));
    }
    Ok(())
}

/// A stack slot for the results of a call.
fn result_slot<'c>(task: &Task<'_, 'c>, call: Value<'c>, ty: Type<'c>) -> Value<'c> {
    let at_start = Builder::new(task.context());
    at_start.before(call.block().function().instructions()[0]);
    let slot = at_start.alloca(ty);
    slot.set_alignment(16);
    slot
}

/// The types of a derivative's results, if they are numbers of one type.
fn numbers(ty: Type<'_>) -> Option<Vec<Type<'_>>> {
    if ty.is_floating() {
        return Some(vec![ty]);
    }
    let fields = holds_floats(ty).then(|| ty.fields())?;
    let all = fields.iter().all(|field| field.is_floating() && *field == fields[0]);
    all.then_some(fields)
}

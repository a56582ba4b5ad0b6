use std::{
    cell::{OnceCell, RefCell},
    collections::{HashMap, HashSet},
};

use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{Builder, Linkage, ModuleExt, Place, Type, Value},
    machine::Machine,
};

use crate::{
    Activity, Derivative, Error, Mode, Request, Rules, Tape,
    analysis::{
        Activities, Cfg, Elements, Facts, Inductions, Loops, Memory, holds_floats, unsupported,
    },
    error::Refusal,
    forward, prepare, reverse,
};

/// Differentiates functions of one module. Each derivative is written once, whoever asks for it.
///
/// The module must have been made one for `machine` by [`Machine::adopt`].
pub struct Session<'a, 'c> {
    pub(crate) context: &'c Context,
    pub(crate) module: &'a Module<'c>,
    pub(crate) machine: &'a Machine,
    pub(crate) rules: &'a Rules,
    done: RefCell<HashMap<Request, Derivative>>,
    recursive: OnceCell<HashSet<String>>,
}

/// What has been found out about a prepared function.
pub(crate) struct Analysis<'c> {
    pub(crate) function: Value<'c>,
    pub(crate) cfg: Cfg<'c>,
    pub(crate) memory: Memory<'c>,
    pub(crate) elements: Elements<'c>,
    pub(crate) activities: Activities<'c>,
    pub(crate) loops: Loops,
    pub(crate) inductions: Inductions<'c>,
}

impl<'a, 'c> Session<'a, 'c> {
    /// A session in a module.
    #[must_use]
    pub fn new(
        context: &'c Context,
        module: &'a Module<'c>,
        machine: &'a Machine,
        rules: &'a Rules,
    ) -> Self {
        Self {
            context,
            module,
            machine,
            rules,
            done: RefCell::default(),
            recursive: OnceCell::new(),
        }
    }

    /// Writes a derivative into the module, as an internal function. Where this fails, the module
    /// is as it was.
    ///
    /// # Errors
    ///
    /// [`Error::Request`] where the request does not fit the function, and [`Error::Refused`] with
    /// everything in the function that has no derivative.
    pub fn differentiate(&self, request: &Request) -> Result<Derivative, Error> {
        if let Some(done) = self.done.borrow().get(request) {
            return Ok(done.clone());
        }
        let function = self.check(request)?;
        let known: Vec<String> = self.module.functions().into_iter().map(Value::name).collect();
        let prepared = prepare::prepare(self, function, request)?;
        let derivative = self.analyse(request, prepared).and_then(|analysis| {
            let new = self.new_function(request, prepared);
            // Known before it is written, so that a function that calls itself finds it.
            let symbol = new.name();
            if request.mode == Mode::Forward {
                let derivative = Derivative { symbol, tape: Tape::Registers, declared: Vec::new() };
                self.done.borrow_mut().insert(request.clone(), derivative);
                forward::write(self, request, &analysis, new).inspect_err(|_| {
                    self.done.borrow_mut().remove(request);
                })?;
                return Ok((new, Tape::Registers));
            }
            Ok(reverse::write(self, request, &analysis, new))
        });
        prepared.delete_function();
        let (new, tape) = derivative?;
        self.finish(request, function, new)?;
        let declared = self.module.functions().into_iter().filter(|function| {
            function.is_declaration()
                && !function.is_intrinsic()
                && !known.contains(&function.name())
        });
        let declared = declared.map(Value::name).collect();
        let derivative = Derivative { symbol: new.name(), tape, declared };
        self.done.borrow_mut().insert(request.clone(), derivative.clone());
        Ok(derivative)
    }

    /// The functions of the module that can call themselves.
    pub(crate) fn recursive(&self) -> &HashSet<String> {
        self.recursive.get_or_init(|| prepare::recursive_functions(self))
    }

    /// Compares a request with its function.
    fn check(&self, request: &Request) -> Result<Value<'c>, Error> {
        let refuse = |reason: String| Error::Request { function: request.function.clone(), reason };
        let function = self.module.function(&request.function);
        let function = function.ok_or_else(|| refuse("there is no such function".to_owned()))?;
        if function.is_declaration() {
            return Err(refuse("it has no body in this module".to_owned()));
        }
        let parameters = function.parameters();
        let (wanted, given) = (parameters.len(), request.activities.len());
        if wanted != given {
            return Err(refuse(format!(
                "it has {wanted} parameters, and {given} activities are given"
            )));
        }
        for (index, (value, activity)) in parameters.iter().zip(&request.activities).enumerate() {
            let fits = match activity {
                Activity::Constant => true,
                Activity::Active => holds_floats(value.ty()),
                Activity::Duplicated | Activity::Shared => value.ty().is_pointer(),
            };
            if !fits {
                let ty = value.ty();
                return Err(refuse(format!(
                    "parameter {index} is `{ty:?}`, which cannot be {activity:?}: numbers are active, \
                     pointers duplicated or shared, all else is constant"
                )));
            }
        }
        Ok(function)
    }

    fn analyse(&self, request: &Request, function: Value<'c>) -> Result<Analysis<'c>, Error> {
        let refused = |refusals: Vec<Refusal>| Error::Refused {
            function: crate::rules::path(&request.function),
            refusals,
        };
        let cfg = Cfg::of(function);
        if cfg.exit.is_none() {
            return Err(Error::Request {
                function: request.function.clone(),
                reason: "it never returns".to_owned(),
            });
        }
        let memory = Memory::of(function, &cfg, self.rules, request.distinct_pointers);
        let elements = Elements::of(&cfg, &memory);
        let given = (request.mode, &request.activities[..]);
        let activities = Activities::of(function, &cfg, &memory, self.rules, given);
        let facts = Facts {
            cfg: &cfg,
            memory: &memory,
            activities: &activities,
            elements: &elements,
            rules: self.rules,
            mode: request.mode,
        };
        let mut refusals = unsupported(&facts);
        let loops = match Loops::of(&cfg) {
            Ok(loops) => loops,
            Err(_) if request.mode == Mode::Forward => Loops::none(&cfg),
            Err(block) => {
                if let Some(last) = cfg.blocks[block].terminator() {
                    let message = "a loop is entered or closed in several places; reverse mode \
                                   needs one of each";
                    refusals.push(Refusal::at(last, message));
                }
                Loops::none(&cfg)
            }
        };
        if !refusals.is_empty() {
            return Err(refused(refusals));
        }
        let inductions = Inductions::of(&cfg, &loops);
        Ok(Analysis { function, cfg, memory, elements, activities, loops, inductions })
    }

    /// An empty function with the derivative's type.
    fn new_function(&self, request: &Request, function: Value<'c>) -> Value<'c> {
        let result = function.value_type().result();
        let mut parameters = Vec::new();
        for (value, activity) in function.parameters().into_iter().zip(&request.activities) {
            parameters.push(value.ty());
            let has_shadow = match activity {
                Activity::Constant => false,
                Activity::Active => request.mode == Mode::Forward,
                Activity::Duplicated | Activity::Shared => true,
            };
            if has_shadow {
                parameters.push(value.ty());
            }
        }
        if request.mode == Mode::Reverse {
            if holds_floats(result) {
                parameters.push(result);
            }
            // The tape, which is taken away again where none is needed.
            parameters.extend([Type::pointer(self.context, 0), Type::int(self.context, 64)]);
        }
        let ty = self.packed_type(&self.results(request, function)).function(&parameters);
        let mode = if request.mode == Mode::Forward { "forward" } else { "reverse" };
        let name = format!("__kernelmill_derivative_{mode}_{}", request.function);
        let new = self.module.new_function(&name, ty);
        new.add_attribute(self.context, Place::Function, "nounwind", 0);
        new
    }

    /// What a derivative returns.
    fn results(&self, request: &Request, function: Value<'c>) -> Vec<Type<'c>> {
        let result = function.value_type().result();
        let mut fields = Vec::new();
        if request.keep_result && result != Type::void(self.context) {
            fields.push(result);
        }
        match request.mode {
            Mode::Forward if holds_floats(result) => fields.push(result),
            Mode::Forward => {}
            Mode::Reverse => {
                let parameters = function.parameters().into_iter().zip(&request.activities);
                let active = parameters.filter(|(_, activity)| **activity == Activity::Active);
                fields.extend(active.map(|(value, _)| value.ty()));
            }
        }
        fields
    }

    /// The type of several results: nothing, the only one, or a struct.
    pub(crate) fn packed_type(&self, fields: &[Type<'c>]) -> Type<'c> {
        match fields {
            [] => Type::void(self.context),
            [only] => *only,
            _ => Type::structure(self.context, fields),
        }
    }

    /// Returns several results, packed as [`Session::packed_type`] says.
    pub(crate) fn return_all(&self, builder: &Builder<'c>, results: &[Value<'c>]) {
        let result =
            match results {
                [] => None,
                [only] => Some(*only),
                _ => {
                    let types: Vec<_> = results.iter().map(|result| result.ty()).collect();
                    let empty = self.packed_type(&types).poison();
                    let fields = results.iter().enumerate();
                    Some(fields.fold(empty, |all, (index, result)| {
                        builder.insert(all, *result, index as u32)
                    }))
                }
            };
        builder.ret(result);
    }

    /// A function that is known to be there.
    pub(crate) fn function(&self, symbol: &str) -> Value<'c> {
        let function = self.module.function(symbol);
        function.unwrap_or_else(|| panic!("{symbol} has just been written"))
    }

    /// Checks what was written, and cleans it up.
    fn finish(&self, request: &Request, function: Value<'c>, new: Value<'c>) -> Result<(), Error> {
        // First the blocks of stack slots become part of the entry, where LLVM looks for them.
        const CLEAN: &str = "simplifycfg,sroa<modify-cfg>,early-cse<memssa>,instcombine<no-verify-fixpoint>,\
            simplifycfg,loop-simplify,lcssa,loop-mssa(licm),gvn,dse,adce,\
            instcombine<no-verify-fixpoint>,simplifycfg";
        if !new.is_valid() {
            let message = self.module.verify().err();
            return Err(Error::Internal {
                function: request.function.clone(),
                message: message.map(|message| message.to_string()).unwrap_or_default(),
            });
        }
        // What may be fused in the function may be in its derivative.
        if function.instructions().into_iter().any(Value::allows_contraction) {
            new.instructions().into_iter().for_each(Value::allow_contraction);
        }
        // A function without body cannot be internal, so it becomes that only now.
        new.set_linkage(Linkage::Internal);
        self.machine.run_on_function(new, CLEAN)?;
        Ok(())
    }
}

//! A session: differentiates functions of one module, and remembers the derivatives.

use std::{cell::RefCell, collections::HashMap};

use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{Linkage, ModuleExt, Value},
    machine::Machine,
};

use crate::{
    Activity, Derivative, Error, Mode, Request, Rules, Tape,
    analysis::{Analysis, holds_floats},
    forward, prepare, reverse, signature,
    unit::{Unit, Written},
};

/// Differentiates functions of one module. Each derivative is written once.
///
/// The module must have been given to [`Machine::adopt`] of the same machine.
pub struct Session<'a, 'c> {
    unit: Unit<'a, 'c>,
    done: RefCell<HashMap<Request, Derivative>>,
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
        Self { unit: Unit::new(context, module, machine, rules), done: RefCell::default() }
    }

    /// Writes a derivative into the module, as an internal function. Where this fails, the module
    /// is as it was.
    ///
    /// # Errors
    ///
    /// [`Error::Request`] where the request does not fit the function, and [`Error::Unsupported`] with
    /// everything in the function that has no derivative.
    pub fn differentiate(&self, request: &Request) -> Result<Derivative, Error> {
        if let Some(done) = self.done.borrow().get(request) {
            return Ok(done.clone());
        }
        let function = self.check(request)?;
        let module = self.unit.module;
        let known: Vec<String> = module.functions().into_iter().map(Value::name).collect();
        let prepared = prepare::prepare(&self.unit, function, request)?;
        let written = self.write(request, prepared);
        prepared.delete_function();
        let Written { function: new, tape } = written?;
        self.finish(request, function, new)?;
        let declared = module.functions().into_iter().filter(|function| {
            function.is_declaration()
                && !function.is_intrinsic()
                && !known.contains(&function.name())
        });
        let declared = declared.map(Value::name).collect();
        let derivative = Derivative { symbol: new.name(), tape, declared };
        self.done.borrow_mut().insert(request.clone(), derivative.clone());
        Ok(derivative)
    }

    /// Analyses a prepared function, and writes its derivative.
    fn write(&self, request: &Request, prepared: Value<'c>) -> Result<Written<'c>, Error> {
        let analysis = Analysis::of(self.unit.rules, request, prepared)?;
        let function = signature::declare(&self.unit, request, prepared);
        if request.mode == Mode::Reverse {
            return Ok(reverse::write(&self.unit, request, &analysis, function));
        }
        // Registered before it is written, so that a function that calls itself finds it.
        let symbol = function.name();
        let derivative = Derivative { symbol, tape: Tape::Registers, declared: Vec::new() };
        self.done.borrow_mut().insert(request.clone(), derivative);
        let derive = |request: &Request| self.differentiate(request);
        forward::write(&self.unit, request, &analysis, function, &derive).inspect_err(|_| {
            self.done.borrow_mut().remove(request);
        })?;
        Ok(Written { function, tape: Tape::Registers })
    }

    /// The target machine.
    pub(crate) fn machine(&self) -> &'a Machine {
        self.unit.machine
    }

    /// The function of a derivative of this session.
    pub(crate) fn function(&self, symbol: &str) -> Value<'c> {
        self.unit.function(symbol)
    }

    /// Checks that a request fits its function.
    fn check(&self, request: &Request) -> Result<Value<'c>, Error> {
        let refuse = |reason: String| Error::Request { function: request.function.clone(), reason };
        let function = self.unit.module.function(&request.function);
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

    /// Verifies and optimises a derivative.
    fn finish(&self, request: &Request, function: Value<'c>, new: Value<'c>) -> Result<(), Error> {
        // The first pass merges the block of stack slots into the entry, where SROA looks for them.
        const CLEAN: &str = "simplifycfg,sroa<modify-cfg>,early-cse<memssa>,instcombine<no-verify-fixpoint>,\
            simplifycfg,loop-simplify,lcssa,loop-mssa(licm),gvn,dse,adce,\
            instcombine<no-verify-fixpoint>,simplifycfg";
        if !new.is_valid() {
            let message = self.unit.module.verify().err();
            return Err(Error::Internal {
                function: request.function.clone(),
                message: message.map(|message| message.to_string()).unwrap_or_default(),
            });
        }
        // A derivative may be contracted where its function may be.
        if function.instructions().into_iter().any(Value::allows_contraction) {
            new.instructions().into_iter().for_each(Value::allow_contraction);
        }
        // A declaration cannot be internal, so the linkage is set only now.
        new.set_linkage(Linkage::Internal);
        self.unit.machine.run_on_function(new, CLEAN)?;
        Ok(())
    }
}

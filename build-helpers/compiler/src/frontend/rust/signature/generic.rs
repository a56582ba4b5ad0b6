//! Generic kernels: one kernel for each instance, and what a generic wrapper of them can have.

use super::{
    instances::{self, Known, Listed, ListedInstances},
    kernel::{Read, Reader},
    substitution,
};
use crate::diagnostic::Code;
use crate::{
    diagnostic::Place,
    frontend::generic::{Form, GenericKernel, GenericParameter, Instance, is_alike},
};
use kernelmill_artifact::{Parameter, Signature, symbol};
use syn::FnArg;

impl Reader<'_, '_> {
    /// The instances that the settings list for the kernel.
    pub(super) fn of_settings(
        &self,
        base: &Signature,
        listed: &[ListedInstances],
        place: &Place,
    ) -> Vec<Listed> {
        let is_meant = |it: &&ListedInstances| {
            it.key == base.name || it.key.split_once("::") == Some((&base.file, &base.name))
        };
        let name = (self.function.sig.ident.span(), place);
        let meant = listed.iter().filter(is_meant).flat_map(|it| &it.instances);
        meant.map(|(text, place)| Listed::of_settings(text, place.as_ref(), name)).collect()
    }

    /// Reports instances of a kernel that is not generic.
    pub(super) fn refuse_instances(&mut self, listed: &[Listed]) {
        if let Some(first) = listed.first() {
            let help = "remove `instances`, or give the kernel a type or constant parameter";
            self.report(
                Code::Instances,
                first.place.clone(),
                "lists instances, and is not generic",
                help,
            );
        }
    }

    /// Reads a generic kernel: a kernel for each instance.
    pub(super) fn generic(
        &mut self,
        base: &Signature,
        place: &Place,
        generics: Vec<GenericParameter>,
        listed: &[Listed],
    ) -> Read {
        if listed.is_empty() {
            self.report_none(place, &generics);
        }
        let name = self.name();
        let (scope, module) = (self.scope, self.module);
        let mut reader = instances::Reader {
            scope,
            module,
            name: &name,
            parameters: &generics,
            reports: Vec::new(),
        };
        let known = reader.read(listed);
        self.reports.append(&mut reader.reports);
        if known.is_empty() {
            self.check_same(&generics);
            return Read::default();
        }
        let mut read = Read::default();
        let mut forms: Vec<Form> = Vec::new();
        for instance in &known {
            let faults = self.reports.len();
            let (parameters, own_forms) = self.instance(&generics, instance);
            let is_whole = self.reports.len() == faults;
            let forms_of = fitting(own_forms, &parameters, instance);
            let kernel = Signature {
                name: instance.kernel.clone().into(),
                symbol: symbol(&instance.kernel).into(),
                parameters: parameters.into(),
                ..base.clone()
            };
            match read.kernels.first() {
                None => forms = forms_of,
                Some((first, _)) if is_alike(first, &kernel) => {
                    let both = forms.iter_mut().zip(forms_of);
                    both.filter(|(_, it)| *it == Form::PerInstance)
                        .for_each(|(form, _)| *form = Form::PerInstance);
                }
                Some(_) if is_whole => self.unlike(instance),
                Some(_) => {}
            }
            read.kernels.push((kernel, instance.place.clone()));
        }
        let instances = known
            .into_iter()
            .map(|it| Instance { kernel: it.kernel, arguments: it.arguments })
            .collect();
        let (file, line) = (base.file.to_string(), base.line);
        read.generic = Some(GenericKernel { name, file, line, generics, forms, instances });
        read
    }

    /// Reports that no instance is listed.
    fn report_none(&mut self, place: &Place, generics: &[GenericParameter]) {
        let (names, example) = (instances::named(generics), instances::example(generics));
        let name = self.name();
        let help = format!(
            "list them, `#[kernel(instances = [\"{example}\"])]`, or in the settings, \
             `[kernels.{name}]` with `instances = [\"{example}\"]`"
        );
        let message = format!("is generic over {names}, and no instance of it is listed");
        self.report(Code::Instances, place.clone(), &message, help);
    }

    /// Reports what is wrong with the parameters that all instances have, where there is none.
    fn check_same(&mut self, generics: &[GenericParameter]) {
        for input in &self.function.sig.inputs {
            let is_same = match input {
                FnArg::Typed(typed) => substitution::form(&typed.ty, generics) == Form::Same,
                FnArg::Receiver(_) => true,
            };
            if is_same {
                let _ = self.parameter(input, None);
            }
        }
    }

    /// The parameters of an instance, with their forms.
    fn instance(
        &mut self,
        generics: &[GenericParameter],
        instance: &Known,
    ) -> (Vec<Parameter>, Vec<Form>) {
        let inputs = self.function.sig.inputs.iter();
        let read = inputs.filter_map(|input| {
            let parameter = self.parameter(input, Some((generics, instance)))?;
            let form = match input {
                FnArg::Typed(typed) => substitution::form(&typed.ty, generics),
                FnArg::Receiver(_) => Form::Same,
            };
            Some((parameter, form))
        });
        read.unzip()
    }

    /// Reports an instance whose parameters are passed in another way than those of the first.
    fn unlike(&mut self, instance: &Known) {
        let message = format!(
            "has the instance `{}`, whose parameters are passed in another way than those of the first",
            instance.text
        );
        let help = "write a separate kernel for this instance: the host passes memory, values and types of size \
                    zero in different ways";
        self.report(Code::Instances, instance.place.clone(), &message, help);
    }
}

/// The forms of an instance's parameters, as far as they give its types.
fn fitting(forms: Vec<Form>, parameters: &[Parameter], instance: &Known) -> Vec<Form> {
    let fitting = |(form, parameter): (Form, &Parameter)| {
        let fits = form.fits(&instance.arguments, parameter.kind.crossing());
        if fits { form } else { Form::PerInstance }
    };
    forms.into_iter().zip(parameters).map(fitting).collect()
}

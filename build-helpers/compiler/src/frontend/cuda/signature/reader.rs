//! From the debug information of a file to its kernels, and to the functions that the host can give.

use super::{
    debug::{Debug, Node, NodeId},
    found::Found,
    names,
    ptx::{Entry, Ptx, Variable},
    types::{self, Types, UnsupportedType},
    variables,
};
use crate::{
    base::names::EXPORTED,
    frontend::cuda::source::{CudaKernel, UnsupportedParameter},
};
use gimli::constants as dw;
use kernelmill_artifact::{
    DeviceFunction, Dimension, Parameter, Safety, Signature, VariableDeclaration,
};
use std::collections::HashMap;

/// The code and the debug information of a file.
pub(super) struct Reader<'a> {
    ptx: &'a Ptx,
    display: &'a str,
    functions: HashMap<&'a str, NodeId>,
    types: Types<'a>,
    debug: &'a Debug,
}

/// Where a kernel stands in the source, for sorting: those of the main file come first.
type Order = (bool, u64, u32);

/// What is wrong with a parameter of a kernel.
pub(super) fn cannot_cross(
    kernel: &str,
    (parameter, ty): (&str, &str),
    refusal: &UnsupportedType,
) -> UnsupportedParameter {
    let UnsupportedType { reason, help } = refusal;
    UnsupportedParameter {
        parameter: Some(parameter.to_owned()),
        message: format!(
            "parameter `{parameter}` of kernel `{kernel}` has type `{ty}`, which cannot cross from host to device: \
             it {reason}"
        ),
        help: (*help).to_owned(),
    }
}

impl<'a> Reader<'a> {
    pub(super) fn new(ptx: &'a Ptx, debug: &'a Debug, display: &'a str) -> Self {
        Self { ptx, display, functions: debug.functions(), types: Types::new(debug), debug }
    }

    /// The functions that the host can give, or what is wrong with any of them.
    pub(super) fn device_functions(&self) -> Result<Vec<DeviceFunction>, Vec<String>> {
        let (mut functions, mut faults) = (Vec::new(), Vec::new());
        for (symbol, id) in &self.functions {
            let Some(name) = symbol.strip_prefix(EXPORTED) else { continue };
            let node = self.debug.node(*id);
            let (order, file, line) = self.place(Some(node));
            match self.types.function(node) {
                Ok(ty) => {
                    let name = name.to_owned().into();
                    let file = file.into();
                    let function = DeviceFunction { package: "".into(), name, ty, file, line };
                    functions.push((order, function));
                }
                Err(UnsupportedType { reason, help }) => {
                    let text =
                        format!("{file}:{line}: the device function `{name}` {reason}; {help}");
                    faults.push((order, text));
                }
            }
        }
        functions.sort_by_key(|(order, _)| *order);
        faults.sort();
        if faults.is_empty() {
            Ok(functions.into_iter().map(|(_, function)| function).collect())
        } else {
            Err(faults.into_iter().map(|(_, fault)| fault).collect())
        }
    }

    /// The variables that the host can read and write.
    pub(super) fn variables(&self) -> Vec<VariableDeclaration> {
        let known = self.debug.variables();
        let mut variables: Vec<_> =
            self.ptx.variables.iter().filter_map(|it| self.variable(it, &known)).collect();
        variables.sort_by_key(|(order, _)| *order);
        variables.into_iter().map(|(_, variable)| variable).collect()
    }

    fn variable(
        &self,
        variable: &Variable,
        known: &HashMap<&str, NodeId>,
    ) -> Option<(Order, VariableDeclaration)> {
        if variable.is_constant && variable.has_value {
            return None;
        }
        let symbol = variables::symbol(&variable.symbol)?;
        let node = self.debug.node(*known.get(&*variable.symbol)?);
        let (order, file, line) = self.place(Some(node));
        let name = names::identifier(&names::function(&symbol).plain);
        let ty = self.debug.said(node, |node| node.ty);
        let ty = self.types.value(ty, &name).ok().filter(|ty| ty.size() == variable.slot.size)?;
        let (name, symbol, file) = (name.into(), symbol.into(), file.into());
        Some((order, VariableDeclaration { name, symbol, ty, file, line }))
    }

    pub(super) fn kernels(&self) -> Vec<Found> {
        let all = || self.ptx.entries.iter().map(|entry| self.kernel(entry)).collect::<Vec<_>>();
        let mut kernels = all();
        while self.types.learnt() {
            kernels = all();
        }
        kernels.sort_by_key(|(order, _)| *order);
        kernels.into_iter().map(|(_, found)| found).collect()
    }

    fn kernel(&self, entry: &Entry) -> (Order, Found) {
        let name = names::function(&entry.symbol);
        let node = self.functions.get(entry.symbol.as_str()).map(|id| self.debug.node(*id));
        let (order, file, line) = self.place(node);
        let mut signature = Signature {
            name: names::identifier(&name.plain).into(),
            symbol: entry.symbol.clone().into(),
            dimension: Dimension::Any,
            safety: Safety::Unsafe,
            limits: entry.limits,
            parameters: Vec::new().into(),
            file: file.into(),
            line,
        };
        let (mut unsupported, mut types, mut good) = (Vec::new(), Vec::new(), Vec::new());
        match node.map(|node| self.formal_parameters(node)) {
            Some(parameters) if parameters.len() == entry.parameters.len() => {
                let qualified = name.parameters.as_deref().unwrap_or_default();
                for (index, parameter) in parameters.into_iter().enumerate() {
                    let qualified = qualified.get(index).map(String::as_str);
                    let ty = self.debug.said(parameter, |node| node.ty);
                    types.push(qualified.map_or_else(|| self.types.spell(ty), str::to_owned));
                    let kernel = (&*signature.name, &*name.full);
                    match self.parameter(kernel, entry, index, parameter, qualified) {
                        Ok(parameter) => good.push(parameter),
                        Err(refusal) => unsupported.push(refusal),
                    }
                }
            }
            _ => unsupported.push(UnsupportedParameter {
                parameter: None,
                message: format!(
                    "kernel `{}` has {} parameters, which its debug information does not describe",
                    name.full,
                    entry.parameters.len()
                ),
                help: "compile it without options that remove debug information".to_owned(),
            }),
        }
        signature.parameters = good.into();
        let kernel = CudaKernel { signature, full_name: name.full, unsupported };
        (order, Found { kernel, types })
    }

    /// The parameters of a function, as debug information has them.
    fn formal_parameters(&self, node: &Node) -> Vec<&Node> {
        let children = node.children.iter().map(|id| self.debug.node(*id));
        children.filter(|it| it.tag == dw::DW_TAG_formal_parameter).collect()
    }

    /// One parameter, or why it cannot cross.
    fn parameter(
        &self,
        (kernel, full_name): (&str, &str),
        entry: &Entry,
        index: usize,
        parameter: &Node,
        qualified: Option<&str>,
    ) -> Result<Parameter, UnsupportedParameter> {
        let name = self.debug.said(parameter, |node| node.name.as_deref());
        let name = name.map_or_else(|| format!("argument_{index}"), str::to_owned);
        let ty = self.debug.said(parameter, |node| node.ty);
        let slot = entry.parameters.get(index).copied();
        let hint = format!("{kernel}_{name}");
        // nvcc's debug information takes a pointer to a member for an integer.
        let kind = if qualified.is_some_and(|text| text.contains("::*")) {
            types::refuse("points to a member", "pass an offset")
        } else {
            self.types.parameter(ty, slot, &hint)
        };
        match kind {
            Ok(kind) => Ok(Parameter { name: name.into(), kind }),
            Err(refusal) => {
                let spelled = qualified.map_or_else(|| self.types.spell(ty), str::to_owned);
                Err(cannot_cross(full_name, (&name, &spelled), &refusal))
            }
        }
    }

    /// Where a kernel is defined: its order, the file and the line.
    fn place(&self, node: Option<&Node>) -> (Order, String, u32) {
        let said =
            |what: fn(&Node) -> Option<u64>| node.and_then(|node| self.debug.said(node, what));
        let line = said(|node| node.line).and_then(|line| u32::try_from(line).ok()).unwrap_or(0);
        let number = said(|node| node.file).unwrap_or(0);
        match self.ptx.files.get(&number) {
            Some(path) if !self.debug.main_files.contains(path) => {
                ((true, number, line), path.clone(), line)
            }
            _ => ((false, 0, line), self.display.to_owned(), line),
        }
    }
}

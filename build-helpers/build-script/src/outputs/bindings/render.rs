//! The text of the bindings, from the template `kernels.rs.j2`.

use super::{embedded::Embedded, methods, model::Interface, set, types};
use crate::base::error::Error;
use minijinja::{Environment, UndefinedBehavior, Value, context, syntax::SyntaxConfig};

const TEMPLATE: &str = include_str!("../../../templates/kernels.rs.j2");

/// The text of the bindings.
pub(crate) fn render(
    package: &str,
    interface: &Interface,
    embedded: &[Embedded<'_>],
) -> Result<String, Error> {
    let internal = |error: minijinja::Error| Error::Internal(format!("{error:#}"));
    let mut environment = Environment::new();
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .keep_trailing_newline(true)
        .build()
        .map_err(internal)?;
    environment.set_syntax(syntax);
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.add_template("kernels.rs", TEMPLATE).map_err(internal)?;
    let symbols: Vec<&str> = set::symbols(interface, embedded).collect();
    let methods: Value = interface
        .kernels
        .iter()
        .enumerate()
        .map(|(index, kernel)| methods::method(index, kernel))
        .collect();
    let structs: Value = interface.structs.iter().map(types::structure).collect();
    let enums: Value = interface.enums.iter().map(types::enumeration).collect();
    let values = context! {
        package => package,
        shared => set::shared_parameters(interface).into_iter().collect::<Value>(),
        set => set::expression(package, interface, embedded),
        symbols => symbols.into_iter().collect::<Value>(),
        structs => structs,
        enums => enums,
        needs_half => types::needs_half(interface),
        methods => methods,
        functions => interface.functions.iter().map(methods::function).collect::<Value>(),
        helpers => interface.helpers().into_iter().collect::<Value>(),
    };
    let template = environment.get_template("kernels.rs").map_err(internal)?;
    template.render(values).map_err(internal)
}

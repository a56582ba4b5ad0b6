//! The plugins of a compiler, in the order in which they are called.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    sync::Arc,
};

use kernelmill_artifact::Parameter;

use super::{
    api::{Plugin, Scope, Site, Stage, Task, fault, is_marker, markers, meta},
    ir::{Context, Module, ModuleExt as _, Value},
    rule::Rule,
    rules,
};
use crate::{
    Error,
    diagnostic::PluginFault,
    ir::calls_of,
    job::{Config, State},
};

/// What comes before [`Stage::MidPipeline`].
const SIMPLIFY: &str = "always-inline,function(sroa<modify-cfg>,early-cse<memssa>,simplifycfg,\
    instcombine<no-verify-fixpoint>)";

/// The plugins of a compiler, in the order in which they are called.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plugins(Vec<Arc<dyn Plugin>>);

impl Plugins {
    /// Puts plugins in their order, whatever the one they come in.
    ///
    /// # Errors
    ///
    /// [`Error::Plugins`] where two have one name and the later one does not replace the earlier, or one marker and the later one is no default or
    /// is called too early to be one.
    pub(crate) fn new(registered: Vec<Arc<dyn Plugin>>) -> Result<Self, Error> {
        let mut plugins: Vec<Arc<dyn Plugin>> = Vec::new();
        for plugin in registered {
            if plugin.replaces() {
                plugins.retain(|earlier| earlier.name() != plugin.name());
            }
            plugins.push(plugin);
        }
        plugins.sort_by(|a, b| order(&**a).cmp(&order(&**b)));
        for (index, plugin) in plugins.iter().enumerate() {
            check_marker(&**plugin)?;
            check_state(&**plugin)?;
            for other in &plugins[..index] {
                check_pair(&**other, &**plugin)?;
            }
        }
        Ok(Self(plugins))
    }

    /// The markers and getters, each with the name of its plugin.
    pub(crate) fn markers(&self) -> Vec<(String, String)> {
        let names = |plugin: &Arc<dyn Plugin>| {
            let (marker, name) = (plugin.marker().to_owned(), plugin.name().to_owned());
            let getter = plugin.state().map(|state| state.getter);
            std::iter::once(marker).chain(getter).map(move |it| (it, name.clone()))
        };
        self.0.iter().flat_map(names).collect()
    }

    /// The states that plugins ask each launch for, each with the name of its plugin.
    pub(crate) fn states(&self) -> Vec<(String, State)> {
        let state = |plugin: &Arc<dyn Plugin>| Some((plugin.name().to_owned(), plugin.state()?));
        self.0.iter().filter_map(state).collect()
    }

    /// The parameters for state of a kernel that reaches these functions.
    pub(crate) fn states_of(&self, reached: &BTreeSet<String>) -> Vec<Parameter> {
        let reaches = |plugin: &dyn Plugin, state: &State| {
            reached.contains(&state.getter) || reached.iter().any(|name| is_marker(plugin, name))
        };
        let state = |plugin: &Arc<dyn Plugin>| {
            let state = plugin.state().filter(|state| reaches(&**plugin, state))?;
            Some(state.parameter())
        };
        self.0.iter().filter_map(state).collect()
    }

    /// Everything about the plugins that can change an artifact's bytes, as text.
    pub(crate) fn key(&self) -> String {
        self.0.iter().fold(String::new(), |mut key, plugin| {
            for text in [plugin.name(), plugin.version(), plugin.marker()] {
                let _ = write!(key, "{}:{text} ", text.len());
            }
            let _ = write!(key, "{:?}", (plugin.stages(), plugin.priority(), plugin.is_default()));
            if let Some(state) = plugin.state() {
                let _ = write!(key, " state {state:?}");
            }
            for Rule { function, replacement } in plugin.rules() {
                let _ = write!(key, " rule {function:?} {replacement:?}");
            }
            key + "; "
        })
    }

    /// Refuses what the configuration has for plugins that are not there.
    pub(crate) fn check(&self, config: &Config) -> Result<(), Error> {
        let is_there = |name: &String| self.0.iter().any(|plugin| plugin.name() == name);
        let unknown = config.params.meta.keys().filter(|name| !is_there(name));
        let fault = |name: &String| {
            let names = self.0.iter().map(|plugin| plugin.name().to_owned());
            let help = kernelmill_artifact::target::nearest(name, names).map_or_else(
                || "no plugin is registered".to_owned(),
                |it| format!("the nearest is `{it}`"),
            );
            format!(
                "the settings have options for the plugin `{name}`, which is not registered; {help}"
            )
        };
        let faults: Vec<_> = unknown.map(fault).collect();
        if faults.is_empty() { Ok(()) } else { Err(Error::Plugins(faults.join("\n"))) }
    }

    /// Whether any works at a stage on this module.
    pub(crate) fn work_at(&self, stage: Stage, module: &Module<'_>, config: &Config) -> bool {
        self.0.iter().any(|plugin| works(&**plugin, stage, module, config))
    }

    /// Whether any wants to know how much memory kernels are given the address of.
    pub(crate) fn need_lengths(&self, config: &Config) -> bool {
        self.0.iter().any(|plugin| plugin.needs_lengths(meta(config, &**plugin)))
    }

    /// Applies their rules to the code that their markers are given.
    pub(crate) fn apply_rules<'c>(
        &self,
        context: &'c Context,
        module: &Module<'c>,
    ) -> Result<(), Error> {
        let plugins: Vec<_> = self.0.iter().map(|plugin| &**plugin).collect();
        rules::apply(context, module, &plugins)
    }

    /// Calls those that work at a stage, and on this module.
    pub(crate) fn run<'c>(
        &self,
        stage: Stage,
        context: &'c Context,
        module: &Module<'c>,
        site: &Site<'_>,
    ) -> Result<(), Error> {
        if stage == Stage::MidPipeline && self.work_at(stage, module, site.config) {
            site.machine.run(module, SIMPLIFY)?;
        }
        for plugin in &self.0 {
            if !works(&**plugin, stage, module, site.config) {
                continue;
            }
            let before = cfg!(debug_assertions).then(|| module.to_bitcode());
            let faults = RefCell::default();
            let task = Task { stage, context, module, site, plugin: &**plugin, faults };
            let broke = |what: &str| {
                let (name, version) = (plugin.name(), plugin.version());
                Error::Plugins(format!("the plugin `{name}` {version}, at {stage:?}: {what}"))
            };
            let changed = plugin.run(&task).map_err(|message| broke(&message))?;
            let faults = task.faults.into_inner();
            if !faults.is_empty() {
                return Err(faults.into());
            }
            if changed {
                module.verify().map_err(|message| {
                    broke(&format!("the module that it changed is not valid: {message}"))
                })?;
            } else if before.is_some_and(|before| before != module.to_bitcode()) {
                return Err(broke("its `run` changed the module, and returned `false`"));
            }
        }
        Ok(())
    }

    /// Refuses modules in which a marker is left.
    pub(crate) fn check_markers(&self, module: &Module<'_>) -> Result<(), Error> {
        let mut faults = Vec::new();
        let mut with_marker: BTreeMap<&str, Vec<&dyn Plugin>> = BTreeMap::new();
        for plugin in &self.0 {
            with_marker.entry(plugin.marker()).or_default().push(&**plugin);
        }
        for plugins in with_marker.values() {
            let [.., plugin] = plugins[..] else { continue };
            for marker in markers(module, plugin) {
                let message = left(&marker.name(), plugins);
                let calls = calls_of(marker).into_iter();
                faults.extend(calls.map(|call| fault(plugin, call, message.clone())));
                if marker.is_used() && calls_of(marker).is_empty() {
                    let (plugin, function) = (plugin.name().into(), "a table of functions".into());
                    faults.push(PluginFault { plugin, function, place: None, message });
                }
            }
        }
        faults.sort_by(|a: &PluginFault, b| (&a.place, &a.function).cmp(&(&b.place, &b.function)));
        faults.dedup();
        if faults.is_empty() { Ok(()) } else { Err(faults.into()) }
    }
}

/// What is said of a marker that is left, which these plugins have.
fn left(marker: &str, plugins: &[&dyn Plugin]) -> String {
    let names: Vec<_> = plugins.iter().map(|plugin| format!("`{}`", plugin.name())).collect();
    let who = match &names[..] {
        [one] => format!("the plugin {one} has"),
        all => format!("the plugins {} have", all.join(", ")),
    };
    format!("{who} not replaced the marker `{marker}`")
}

/// What plugins are called in the order of, at a stage.
fn order(plugin: &dyn Plugin) -> (bool, i32, &str) {
    (plugin.is_default(), plugin.priority(), plugin.name())
}

/// Refuses a marker that no kernel can declare.
fn check_marker(plugin: &dyn Plugin) -> Result<(), Error> {
    let (name, marker) = (plugin.name(), plugin.marker());
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_name = marker.chars().all(is_part) && !marker.starts_with(|c: char| c.is_ascii_digit());
    if !marker.is_empty() && is_name {
        return Ok(());
    }
    Err(Error::Plugins(format!(
        "the plugin `{name}` has the marker `{marker}`, which cannot be declared; use letters, digits and \
         underscores, with no digit first: `__kernelmill_{}`",
        kernelmill_artifact::symbol(name)
    )))
}

/// Refuses state that no launch can give.
fn check_state(plugin: &dyn Plugin) -> Result<(), Error> {
    let Some(fault) = plugin.state().and_then(|state| state.fault()) else { return Ok(()) };
    Err(Error::Plugins(format!("the plugin `{}` has {fault}", plugin.name())))
}

/// Refuses a plugin that cannot be beside one that comes before it.
fn check_pair(before: &dyn Plugin, plugin: &dyn Plugin) -> Result<(), Error> {
    let (first, name, marker) = (before.name(), plugin.name(), plugin.marker());
    let refused = |message| Err(Error::Plugins(message));
    if let (Some(one), Some(other)) = (before.state(), plugin.state())
        && first != name
    {
        let of_both = [("state", one.name, other.name), ("getter", one.getter, other.getter)];
        if let Some((what, both, _)) = of_both.into_iter().find(|(_, one, other)| one == other) {
            return refused(format!(
                "the plugins `{first}` and `{name}` have the same {what}, `{both}`; rename one of the two"
            ));
        }
    }
    if first == name {
        return refused(format!(
            "the plugin `{name}` is registered twice; remove one of the calls of `plugin`, or \
             let it say that it `replaces` an earlier one"
        ));
    }
    if before.marker() != marker {
        return Ok(());
    }
    if !plugin.is_default() {
        return refused(format!(
            "the plugins `{first}` and `{name}` have the same marker, `{marker}`; use one of the two"
        ));
    }
    match (before.stages().iter().max(), plugin.stages().iter().min()) {
        (Some(last), Some(own)) if own < last => refused(format!(
            "the default plugin `{name}` replaces the marker `{marker}` at the stage {own:?}, and `{first}` \
             replaces it until the stage {last:?}; let `{name}` start at the stage {last:?}"
        )),
        _ => Ok(()),
    }
}

/// Whether a plugin works at a stage on a module.
fn works(plugin: &dyn Plugin, stage: Stage, module: &Module<'_>, config: &Config) -> bool {
    let is_marked = || markers(module, plugin).into_iter().any(Value::is_used);
    plugin.stages().contains(&stage) && (is_on_everything(plugin, config) || is_marked())
}

fn is_on_everything(plugin: &dyn Plugin, config: &Config) -> bool {
    plugin.scope(meta(config, plugin)) == Scope::Everything
}

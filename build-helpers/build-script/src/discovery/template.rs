//! A template of C++ of which the settings list instances.

/// A template of a source, with the instances that the settings list of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Template {
    /// What the settings call it.
    pub(crate) key: String,
    /// Its name with its namespaces.
    pub(crate) name: String,
    /// The names of its parameters, as far as its text says them.
    pub(crate) parameters: Vec<String>,
    pub(crate) instances: Vec<ListedInstance>,
}

/// One instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ListedInstance {
    /// Its arguments in C++.
    pub(crate) arguments: String,
    /// As the settings write it.
    pub(crate) written: String,
    /// The file and the line that list it.
    pub(crate) place: Option<(String, u32)>,
}

//! Nothing: this package is here for its dependencies.

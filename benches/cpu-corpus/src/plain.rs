//! The plain loops of `plain/*.c`, declared by the build script.

include!(concat!(env!("OUT_DIR"), "/plain.rs"));

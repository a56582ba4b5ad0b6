//! Signatures of kernels from the debug information in their compiled code.

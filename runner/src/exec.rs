//! Performs one action and brings back the evidence.

pub mod process;

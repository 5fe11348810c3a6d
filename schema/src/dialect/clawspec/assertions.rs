//! Assertion types: each is one Rust type that defines its fields, the evidence that it needs, and how it is judged.

pub(crate) mod artifacts;
pub(crate) mod behavioral;
pub(crate) mod golden;
pub(crate) mod log;
pub(crate) mod preconditions;
pub(crate) mod semantic;
pub(crate) mod state;
pub(crate) mod trace;
pub(crate) mod trace_limits;
mod trace_notes;
pub(crate) mod unsupported;

#[cfg(test)]
mod tests;

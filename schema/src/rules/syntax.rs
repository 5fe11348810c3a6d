//! Valid YAML that some programs reject.

pub(crate) mod tab;

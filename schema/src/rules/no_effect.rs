//! Keys of scripts and scripted gateways that change nothing.

pub(crate) mod gateway;
pub(crate) mod script;

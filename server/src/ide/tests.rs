//! What holds for every feature: in half-typed text, in a format that exists only here, and after every edit.

pub(crate) mod fixture;
mod fourth_format;
mod half_typed;
mod properties;

//! KindLM: `kindlm.yaml`.
//!
//! What a file may say is in [`config`], from the whole down to its parts; [`expect`] holds the claims.

pub mod claims;
pub mod compliance;
pub mod config;
pub mod expect;
pub(crate) mod expects;
pub(crate) mod facts;
mod gates;
pub(crate) mod lint;
pub mod lower;
pub(crate) mod patterns;
pub mod protocol;
pub mod providers;
pub(crate) mod schema_files;
pub(crate) mod shell;
pub mod template;
pub mod test;
pub(crate) mod tools;
pub mod trace;
mod traced;
pub(crate) mod variables;

pub use gates::Gates;

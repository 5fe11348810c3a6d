//! KindLM: `kindlm.yaml`.
//!
//! What a file may say stands in [`config`], from the whole down to its parts; [`expect`] holds the claims.

pub mod claims;
pub mod compliance;
pub mod config;
pub mod expect;
mod gates;
pub mod lint;
pub mod lower;
pub mod protocol;
pub mod providers;
pub mod template;
pub mod test;
pub mod trace;
mod traced;

pub use gates::Gates;

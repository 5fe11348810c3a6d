//! Predicates that claims are made of: text, patterns, JSON. None of them knows a dialect's claims.

pub mod amount;
pub mod fragment;
pub mod headings;
pub mod json;
pub mod log_search;
pub mod memo;
pub mod passages;
pub mod pattern;
pub mod python;
pub mod schema_file;
pub mod score;
pub mod secret;
pub mod text;
pub mod time;

//! What an editor shows, computed from documents alone: no LSP types, no disk but what
//! [`Files`](speclens_schema::files::Files) answers. One file per feature.

pub mod lens;
pub mod run_problems;
pub mod transcript;

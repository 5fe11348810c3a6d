//! cli-bench: `cli-bench.yaml`, and the task files that it names.
//!
//! What the main file may say stands in [`config`], a task in [`tasks`], what is claimed in [`assertions`].

pub(crate) mod asserted;
pub mod assertions;
pub(crate) mod command_patterns;
pub mod config;
pub(crate) mod facts;
pub mod gates;
pub(crate) mod limits;
pub mod lint;
pub mod lower;
pub(crate) mod named_tasks;
pub mod task_files;
pub mod tasks;
pub mod template;
pub mod thresholds;

pub use gates::Gates;

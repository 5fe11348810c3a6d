//! cli-bench: `cli-bench.yaml`, and the task files that it names.
//!
//! What the main file may say stands in [`config`], a task in [`tasks`], what is claimed in [`assertions`].

pub mod assertions;
pub mod config;
pub mod gates;
pub mod lint;
pub mod lower;
pub mod task_files;
pub mod tasks;
pub mod template;
pub mod thresholds;

pub use gates::Gates;

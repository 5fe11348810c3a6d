//! Tests of the crate through its public functions, in one program, so the crate is linked once.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod common;
#[path = "common/golden.rs"]
mod golden;
#[path = "common/list_style.rs"]
mod list_style;
#[path = "common/numbers.rs"]
mod numbers;
#[path = "common/recorded.rs"]
mod recorded;

mod certainty;
mod clawspec_cases;
mod clawspec_problems;
mod examples;
mod fixes;
mod fixes_keep_text;
mod generated;
mod incremental;
mod kindlm_cases;
mod kindlm_config;
mod limits;
mod list_styles;
mod long_texts;
mod mutation_set;
mod one_report_each;
mod one_slip;
mod opposites;
mod problems;
mod python_yaml;
mod safe_fixes;
mod scripts;
mod severities;
mod slips;
mod traces;
mod typing;

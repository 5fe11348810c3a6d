//! Editor features, computed from documents alone, as plain data in byte ranges: no LSP types, and no disk access
//! except through [`Files`](speclens_schema::files::Files). One file per feature.

pub(crate) mod accept;
pub(crate) mod actions;
pub(crate) mod agents;
mod audit;
pub(crate) mod completion;
pub(crate) mod cross_file_names;
pub(crate) mod environment_hover;
pub(crate) mod folding;
pub(crate) mod hints;
pub(crate) mod hover;
pub(crate) mod ignore;
pub(crate) mod last_run;
pub(crate) mod latest;
pub(crate) mod left_out_repeats;
pub(crate) mod lens;
pub(crate) mod links;
pub(crate) mod models;
pub(crate) mod occurrences;
pub(crate) mod outcome;
pub(crate) mod rename;
pub(crate) mod run_problems;
pub(crate) mod runnable;
pub(crate) mod selection;
pub(crate) mod symbols;
pub(crate) mod test_items;
pub(crate) mod tokens;
pub(crate) mod transcript;
pub(crate) mod values;
pub(crate) mod verdict_hints;

mod context;
pub(crate) mod markdown;
mod names;
mod pattern_words;
mod snippet;
mod walk;
pub(crate) mod write;
mod written;

#[cfg(test)]
mod tests;

//! What an editor shows, computed from documents alone, as plain data in byte ranges: no LSP types, no disk
//! but what [`Files`](speclens_schema::files::Files) answers. One file per feature.

pub mod actions;
pub mod agents;
pub mod completion;
pub mod crossing;
pub mod folding;
pub mod gates;
pub mod hints;
pub mod hover;
pub mod ignore;
pub mod last_run;
pub mod latest;
pub mod left_out;
pub mod lens;
pub mod links;
pub mod models;
pub mod occurrences;
pub mod outcome;
pub mod rename;
pub mod run_problems;
pub mod runnable;
pub mod selection;
pub mod surroundings;
pub mod symbols;
pub mod tally;
pub mod tokens;
pub mod transcript;
pub mod values;

pub(crate) mod card;
mod context;
mod flow;
mod frequency;
mod line;
mod names;
mod pattern_words;
mod snippet;
mod walk;
mod written;

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod fourth_format;
#[cfg(test)]
mod half_typed;
#[cfg(test)]
mod properties;

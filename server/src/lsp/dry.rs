//! A page that shows what a run of a task would do.

use std::{collections::BTreeSet, sync::Arc};

use super::world::Snapshot;
use crate::{
    dry::{Plan, Totals},
    ide::{markdown, transcript::one_line},
    job::{self, Refusal},
};

/// Returns the page in Markdown. It runs nothing, so the directory need not be trusted.
pub(super) fn page(snapshot: &Snapshot, test: &str) -> String {
    let title = format!("# {}: dry run\n\n", markdown::escaped(&one_line(test)));
    let workspace = snapshot.workspace();
    let suite = Arc::new(snapshot.whole_suite(&workspace));
    let place = snapshot.cases_in(&suite).into_iter().find(|index| suite.cases[*index].name == test);
    let Some(index) = place else { return format!("{title}This file does not have this test.\n") };
    let prepared = match snapshot.prepare(&workspace, &suite, None) {
        Ok(prepared) => prepared,
        Err(Refusal::Settings(file)) => return format!("{title}Refused: {}\n", job::settings_sentence(&file)),
        Err(Refusal::Suite | Refusal::Untrusted(_)) => return format!("{title}Refused: the suite has errors.\n"),
    };
    let mut sum = Totals::default();
    let plan = Plan {
        suite: &suite,
        cases: &BTreeSet::from([index]),
        prepared: &prepared,
        checked: None,
        secrets: &workspace.secrets_of(&suite),
        chosen: &[],
        help_modes: &[],
    };
    let text = plan.describe(&mut sum) + &sum.sentences();
    format!("{title}Nothing was run. This is what *Run* would do:\n\n{}\n", markdown::verbatim(text.trim_end(), "text"))
}

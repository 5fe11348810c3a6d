//! Tasks of a script that the suite does not have.

use crate::{
    finding::{Report, Rule, Site, Words},
    problem::{Code, Fix, Severity},
    script::suite::Suite,
    spot::Spot,
    validate::rename_title,
    words::Search,
};

/// The id of a task that is not in the suite.
#[derive(Debug)]
struct UnknownTask {
    id: String,
    /// The path of the suite.
    suite: String,
    /// Whether the suite names the script, so that it can belong to no other.
    is_named: bool,
    /// The id of a task without turns that is most like it.
    near: Option<String>,
}

/// Looks at the ids of a script's `tasks`.
pub(crate) fn check(tasks: &[(String, Spot<'_>)], suite: &Suite, report: &mut Report) {
    let mut search = Search::default();
    for (id, turns) in tasks.iter().filter(|(id, _)| !suite.ids.contains(id)) {
        let free = suite.ids.iter().map(String::as_str).filter(|known| !tasks.iter().any(|(id, _)| id == known));
        let mut free: Vec<&str> = free.collect();
        free.sort_unstable();
        report.push(turns.head_finding(UnknownTask {
            id: id.clone(),
            suite: suite.path.clone(),
            is_named: suite.is_named,
            near: search.nearest(id, free).map(str::to_owned),
        }));
    }
}

impl Rule for UnknownTask {
    const CODE: Code = Code::UnknownReference;

    fn severity(&self) -> Severity {
        if self.is_named { Severity::Warning } else { Severity::Hint }
    }

    fn words(&self, site: &Site<'_>) -> Words {
        let words = Words::new(format!("unknown task `{}`", self.id))
            .note(format!("`{}` has no task with this id", self.suite));
        let Some(near) = &self.near else { return words };
        let edits = site.spot().and_then(|turns| turns.renamed(near));
        words.fix(edits.map(|edits| Fix::guess(rename_title(near), edits))).help(rename_title(near))
    }
}

//! Thresholds of a suite of cli-bench for models that do not run.

use std::collections::HashSet;

use crate::{
    dialect::cli_bench::limits::Limits,
    edit,
    finding::{Report, Rule, Site, Words},
    problem::{Code, Fix, Severity},
    spot::Spot,
    validate::rename_title,
    words::{Search, all_of},
};

/// A threshold for a model that is not among those that run.
#[derive(Debug)]
struct UnknownModel {
    name: String,
    meant: Meant,
}

/// What the name of a model was meant to be.
#[derive(Debug)]
enum Meant {
    Near(String),
    OneOf(Vec<String>),
}

/// Looks at the models that `thresholds` names.
pub(crate) fn check_root(root: &Spot<'_>, report: &mut Report) {
    let Some(limits) = Limits::of(root) else { return };
    let providers = root.get("providers").map(|providers| providers.texts()).unwrap_or_default();
    let known: Vec<&str> = providers.iter().map(|(name, _)| *name).collect();
    let run: HashSet<&str> = known.iter().copied().collect();
    let mut search = Search::default();
    for (name, spot) in limits.models.iter().filter(|(name, _)| !run.is_empty() && !run.contains(name.as_str())) {
        let meant = match search.nearest(name, known.iter().copied()) {
            Some(near) => Meant::Near(near.to_owned()),
            None => Meant::OneOf(known.iter().map(|name| (*name).to_owned()).collect()),
        };
        report.push(spot.head_finding(UnknownModel { name: name.clone(), meant }));
    }
}

impl Rule for UnknownModel {
    const CODE: Code = Code::UnknownReference;
    const SEVERITY: Severity = Severity::Warning;

    fn words(&self, site: &Site<'_>) -> Words {
        let words = Words::new(format!("the model `{}` is not in `providers`", self.name))
            .note("its threshold is never checked");
        match &self.meant {
            Meant::Near(near) => {
                // The same name may be there twice.
                let mut keys = site.parent().into_iter().flat_map(|models| models.entries()).map(|entry| entry.key);
                let edits = keys.find(|key| key.range() == *site.range).and_then(|key| edit::rename_key(key, near));
                words.fix(edits.map(|edits| Fix::guess(rename_title(near), edits))).help(rename_title(near))
            }
            Meant::OneOf(known) => words.note(format!("`providers` has {}", all_of(known.iter().map(String::as_str)))),
        }
    }
}

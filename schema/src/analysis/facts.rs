//! Folds facts about one version of a tool, such as ClawSpec 0.1.0, or about the settings: each is reported once per file, at its first location;
//! the other locations are related ones.

use rustc_hash::FxHashMap;

use crate::problem::{Code, Problem, Related, SettingsCondition};

/// Maximum number of related locations per fact.
const MAX_PLACES: usize = 100;

/// Whether a problem states such a fact. Problems with a fix stay separate, so that each fix can be applied.
fn is_stated_once(problem: &Problem) -> bool {
    let is_about_settings = problem.only_with == Some(SettingsCondition::NoTraces);
    (problem.code == Code::UpstreamDiffers || is_about_settings) && problem.fixes.is_empty()
}

/// Folds problems that state the same fact. The problems are in document order.
pub(super) fn fold(problems: &mut Vec<Problem>) {
    let mut first: FxHashMap<(String, Option<String>), usize> = FxHashMap::default();
    let mut kept: Vec<Problem> = Vec::with_capacity(problems.len());
    for problem in std::mem::take(problems) {
        if !is_stated_once(&problem) {
            kept.push(problem);
            continue;
        }
        let fact = problem.listing.as_ref().map_or(&problem.message, |listing| &listing.before).clone();
        match first.get(&(fact.clone(), problem.note.clone())) {
            Some(&index) => join(&mut kept[index], problem),
            None => {
                first.insert((fact, problem.note.clone()), kept.len());
                kept.push(problem);
            }
        }
    }
    *problems = kept;
}

fn join(fact: &mut Problem, other: Problem) {
    let name = other.listing.as_ref().and_then(|listing| listing.names.first());
    let message = name.map_or_else(|| "also here".to_owned(), |name| format!("`{name}` is here"));
    if let (Some(listing), Some(more)) = (&mut fact.listing, other.listing) {
        let new: Vec<String> = more.names.into_iter().filter(|name| !listing.names.contains(name)).collect();
        if !new.is_empty() {
            listing.names.extend(new);
            fact.message = listing.message();
        }
    }
    let place = Related { message, repeats: true, at: other.at, range: other.range, file: None };
    let room = MAX_PLACES.saturating_sub(fact.related.len());
    fact.related.extend(std::iter::once(place).chain(other.related).take(room));
}

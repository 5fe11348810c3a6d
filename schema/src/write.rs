//! Writes assertions from recorded runs: what a format proposes, as far as it holds in every attempt and notices a fault
//! that no other assertion notices.

use regex::Regex;
use serde_json::{Value, json};
use std::sync::{Arc, LazyLock};

use crate::{
    audit::{Audit, Effect, Tally, audit},
    document::{Document, NodeRef, Pointer},
    edit,
    evidence::Evidence,
    fixing,
    format::Dialect,
    judge::{self, Judged},
    mask::{MASK_CHARACTER, Secrets, texts_of},
    problem::{Edit, Fix, Problem, Severity},
    proposal::Proposal,
    quoting::{scalar, show},
    suite::Case,
    verdict::Status,
};

/// Maximum number of assertions that are tried. Formats propose the plainest ones first.
const MAX_PROPOSALS: usize = 100;

/// Assertions that were written from recorded runs.
#[derive(Clone, Debug)]
pub struct Written {
    /// The text of the file with them.
    pub text: String,
    pub added: Vec<Proposal>,
    /// How many faults were noticed without them.
    pub before: Tally,
    pub after: Tally,
}

/// Reads a text of the file: the test in it, and what is reported of the text. No test if it cannot be read.
pub type Look<'a> = &'a dyn Fn(&Document) -> (Option<Arc<Case>>, Vec<Problem>);

/// An assertion that notices faults which no assertion of a test notices.
#[derive(Clone, Debug)]
pub struct Remedy {
    /// What to add where, as an imperative: "add `{tool: refund}` to `expect.toolCalls`".
    pub title: String,
    pub edits: Vec<Edit>,
    /// The faults, by their indices in the audit of the first attempt.
    pub notices: Vec<usize>,
}

impl Remedy {
    pub fn fix(&self) -> Fix {
        Fix::suggestion(&*self.title, self.edits.clone())
    }
}

/// Writes assertions into the test of a case, whose attempts passed. The error says why there are none.
pub fn write(
    document: &Document,
    case: &Case,
    dialect: Dialect,
    attempts: &[Arc<Evidence>],
    secrets: &Secrets,
    look: Look<'_>,
) -> Result<Written, String> {
    let Choice { chosen, before } = choose(document, case, dialect, attempts, secrets, look)?;
    let added: Vec<Proposal> = chosen.into_iter().map(|(proposal, _)| proposal).collect();
    let result = insert(document, &case.at, &added);
    let after = audited(&Trial::of(&result, look)?.case, dialect, &attempts[0], secrets)?;
    Ok(Written { text: result.text, added, before, after: Tally::of(&after.tried) })
}

/// Returns the assertions that [`write`] would write, each with what it would notice. Empty if there are none.
pub fn remedies(
    document: &Document,
    case: &Case,
    dialect: Dialect,
    attempts: &[Arc<Evidence>],
    secrets: &Secrets,
    look: Look<'_>,
) -> Vec<Remedy> {
    let choice = choose(document, case, dialect, attempts, secrets, look);
    let remedy = |(proposal, notices): (Proposal, Vec<usize>)| {
        let (edits, _) = insertion(document, &case.at, &proposal)?;
        Some(Remedy { title: proposal.title(), edits: fixing::adapted(document, &edits), notices })
    };
    choice.map(|choice| choice.chosen.into_iter().filter_map(remedy).collect()).unwrap_or_default()
}

/// The proposals to write, each with the indices of the faults that only they notice, and what is noticed without them.
struct Choice {
    chosen: Vec<(Proposal, Vec<usize>)>,
    before: Tally,
}

fn choose(
    document: &Document,
    case: &Case,
    dialect: Dialect,
    attempts: &[Arc<Evidence>],
    secrets: &Secrets,
    look: Look<'_>,
) -> Result<Choice, String> {
    let Some(first) = attempts.first() else { return Err("there is no recording of it; run it first".to_owned()) };
    let all: Vec<&Evidence> = attempts.iter().map(|evidence| &**evidence).collect();
    let is_secret = |value: &Value| {
        let is_secret = |text: &String| text.contains(MASK_CHARACTER) || secrets.contains_secret(text);
        texts_of(value).iter().any(is_secret)
    };
    let is_shared = |proposal: &Proposal| edit::nodes::is_shared(document, &holder(document, &case.at, proposal));
    let (shared, mut proposals): (Vec<Proposal>, Vec<Proposal>) =
        dialect.propose(&all).into_iter().filter(|it| !is_secret(&it.value)).partition(is_shared);
    proposals.truncate(MAX_PROPOSALS);
    let (_, known) = look(document);
    let with_all = insert(document, &case.at, &proposals);
    let trial = Trial::of(&with_all, look)?;
    let judged = |evidence: &&Evidence| -> Vec<(Pointer, Status)> {
        let part = |it: Judged| (trial.case.claims[it.claim].at.join(&it.verdict.at), it.verdict.outcome.status());
        judge::judge(&trial.case, evidence, secrets).into_iter().map(part).collect()
    };
    let judged: Vec<Vec<(Pointer, Status)>> = all.iter().map(judged).collect();
    // What holds in every attempt, and is not itself reported.
    let holds = |placed: &Placed| {
        let is_fine = |judged: &Vec<(Pointer, Status)>| {
            let mut own = judged.iter().filter(|(part, _)| part.below(&placed.at).is_some()).peekable();
            own.peek().is_some() && own.all(|(_, status)| *status == Status::Pass)
        };
        let is_new = |problem: &&Problem| !known.iter().any(|it| it.message == problem.message);
        let reported = trial.problems.iter().filter(|problem| problem.severity <= Severity::Warning);
        let is_reported = reported.filter(is_new).any(|problem| problem.at.below(&placed.at).is_some());
        !is_reported && judged.iter().all(is_fine)
    };
    let holding = with_all.placed.iter().filter(|placed| holds(placed)).map(|it| proposals[it.proposal].clone());
    let proposals: Vec<Proposal> = holding.collect();
    let with_holding = insert(document, &case.at, &proposals);
    let trial = Trial::of(&with_holding, look)?;
    if trial.case.claims.is_empty() {
        return Err(match shared.is_empty() {
            true => "nothing of what was recorded can be asserted".to_owned(),
            false => why_none(&shared),
        });
    }
    let audit = audited(&trial.case, dialect, first, secrets)?;
    // Indices of the faults that certain parts notice.
    let noticed_by = |is_meant: &dyn Fn(&Pointer) -> bool| -> Vec<usize> {
        let is_noticed = |effect: &Effect| matches!(effect, Effect::Noticed(parts) if parts.iter().any(is_meant));
        let tried = audit.tried.iter().enumerate();
        tried.filter(|(_, it)| is_noticed(&it.effect)).map(|(index, _)| index).collect()
    };
    let is_of = |part: &Pointer, placed: &Placed| part.below(&placed.at).is_some();
    let own = noticed_by(&|part| !with_holding.placed.iter().any(|placed| is_of(part, placed)));
    let is_left = |fault: &usize| !own.contains(fault) && audit.tried[*fault].effect != Effect::Inert;
    let left: Vec<usize> = (0..audit.tried.len()).filter(is_left).collect();
    let before = tally(&audit, &own);
    let reach = with_holding.placed.iter().map(|placed| (placed.proposal, noticed_by(&|part| is_of(part, placed))));
    let reach: Vec<(usize, Vec<usize>)> = reach.collect();
    let chosen = chosen(&reach, left.clone());
    if chosen.is_empty() {
        return Err(why_none(&shared));
    }
    let new_faults = |index: &usize| -> Vec<usize> {
        let faults = reach.iter().filter(|(proposal, _)| proposal == index).flat_map(|(_, faults)| faults);
        faults.copied().filter(|fault| left.contains(fault)).collect()
    };
    let chosen = chosen.iter().map(|index| (proposals[*index].clone(), new_faults(index)));
    Ok(Choice { chosen: chosen.collect(), before })
}

/// Returns why there is nothing to write, given the proposals for places that the test shares with others.
fn why_none(shared: &[Proposal]) -> String {
    match shared.first() {
        None => "its assertions notice every fault that a new one would notice".to_owned(),
        Some(Proposal { path, .. }) => {
            let key = path.first().copied().unwrap_or_default();
            format!(
                "its `{key}` is shared by an anchor, so other tests would change too; write it out in the test first"
            )
        }
    }
}

/// Returns the place in the text that a proposal would change.
fn holder(document: &Document, at: &Pointer, proposal: &Proposal) -> Pointer {
    let mut place = at.clone();
    for key in proposal.path {
        let next = place.key(key);
        if document.find(&next).is_none() {
            break;
        }
        place = next;
    }
    place
}

/// Chooses proposals until no other one notices a fault that is left: always the one that notices most, and no one whose
/// faults the others notice.
fn chosen(reach: &[(usize, Vec<usize>)], left: Vec<usize>) -> Vec<usize> {
    let mut open = left.clone();
    let mut chosen: Vec<&(usize, Vec<usize>)> = Vec::new();
    loop {
        let gain = |faults: &[usize]| faults.iter().filter(|fault| open.contains(fault)).count();
        // The first one of those that notice as much: formats propose the plainest assertions first.
        let Some(best) = reach.iter().rev().max_by_key(|(_, faults)| gain(faults)) else { break };
        if gain(&best.1) == 0 {
            break;
        }
        open.retain(|fault| !best.1.contains(fault));
        chosen.push(best);
    }
    for index in (0..chosen.len()).rev() {
        let others = || chosen.iter().enumerate().filter(|(at, _)| *at != index).flat_map(|(_, it)| &it.1);
        let is_needed = chosen[index].1.iter().any(|fault| left.contains(fault) && !others().any(|it| it == fault));
        if !is_needed {
            chosen.remove(index);
        }
    }
    let mut chosen: Vec<usize> = chosen.into_iter().map(|(proposal, _)| *proposal).collect();
    chosen.sort_unstable();
    chosen
}

fn tally(audit: &Audit, noticed: &[usize]) -> Tally {
    let all = Tally::of(&audit.tried);
    Tally { noticed: noticed.len(), survived: all.tried() - noticed.len(), inert: all.inert }
}

/// A text with proposals in it.
struct Inserted {
    text: String,
    document: Document,
    placed: Vec<Placed>,
}

/// A proposal that was inserted.
struct Placed {
    /// Index in the list of proposals.
    proposal: usize,
    at: Pointer,
}

/// The test of a text with proposals.
struct Trial {
    case: Arc<Case>,
    problems: Vec<Problem>,
}

impl Trial {
    fn of(inserted: &Inserted, look: Look<'_>) -> Result<Trial, String> {
        let (case, problems) = look(&inserted.document);
        Ok(Trial { case: case.ok_or("the test cannot be read; correct its errors first")?, problems })
    }
}

fn audited(case: &Case, dialect: Dialect, evidence: &Evidence, secrets: &Secrets) -> Result<Audit, String> {
    let audit = audit(case, dialect, evidence, secrets);
    audit.ok_or_else(|| "its recorded run does not pass, so nothing would follow from a failure".to_owned())
}

/// Inserts proposals into the test at a location, as far as its layout permits.
fn insert(document: &Document, at: &Pointer, proposals: &[Proposal]) -> Inserted {
    let mut document = document.clone();
    let mut placed = Vec::new();
    for (index, proposal) in proposals.iter().enumerate() {
        let Some((edits, place)) = insertion(&document, at, proposal) else { continue };
        let mut text = String::from(document.text());
        for edit in fixing::adapted(&document, &edits).iter().rev() {
            text.replace_range(edit.range.clone(), &edit.text);
        }
        let next = Document::read(&text, document.rules());
        // A layout that an edit breaks gets no assertion.
        if next.is_intact() || !document.is_intact() {
            document = next;
            placed.push(Placed { proposal: index, at: place });
        }
    }
    Inserted { text: String::from(document.text()), document, placed }
}

/// Returns the edits that insert a proposal, and its location then.
fn insertion(document: &Document, at: &Pointer, proposal: &Proposal) -> Option<(Vec<Edit>, Pointer)> {
    let mut node = document.find(at)?;
    let mut place = at.clone();
    let mut missing = proposal.path;
    while let [key, rest @ ..] = missing {
        let Some(below) = node.get(key).filter(|below| !is_empty(*below)) else { break };
        (node, place, missing) = (below, place.key(key), rest);
    }
    let [key, ..] = missing else {
        // An entry that exists is the author's.
        let list = proposal.is_item.then_some(node)?;
        let edits = match edit::nodes::is_flow(list.resolved()) {
            true => edit::item_at_end(list, &show(&proposal.value)),
            false => edit::lines_at_end(list, &item(&proposal.value)),
        };
        return Some((edits?, place.index(node.items().count())));
    };
    let known = node.entry(key);
    let place = missing.iter().fold(place, |place, key| place.key(key));
    let place = if proposal.is_item { place.index(0) } else { place };
    let one = || if proposal.is_item { json!([proposal.value]) } else { proposal.value.clone() };
    let value = missing[1..].iter().rev().fold(one(), |value, key| json!({ *key: value }));
    let new = match edit::nodes::is_flow(node.resolved()) {
        true => vec![format!("{key}: {}", show(&value))],
        false => entry(key, &value),
    };
    let edits = match (known, node.entries().last()) {
        (Some(known), _) => edit::entry_in_place(node, known, &new),
        (None, Some(last)) => edit::entries_behind(node, last, &new),
        (None, None) => edit::entry_at_front(node, &format!("{key}: {}", show(&value))),
    };
    Some((edits?, place))
}

/// Whether a value is the place of one that was not written yet.
fn is_empty(node: NodeRef<'_>) -> bool {
    node.is_null() || node.scalar().is_none() && node.entries().next().is_none() && node.items().next().is_none()
}

/// Values that are longer than this take several lines.
const MAX_WIDTH: usize = 60;

/// Returns the lines of an item in block style.
fn item(value: &Value) -> Vec<String> {
    let Value::Object(members) = value else { return vec![format!("- {}", show(value))] };
    let lines = members.iter().flat_map(|(key, value)| entry(key, value)).enumerate();
    lines.map(|(index, line)| format!("{}{line}", if index == 0 { "- " } else { "  " })).collect()
}

/// Whether a value has parts.
fn is_nested(value: &Value) -> bool {
    value.is_array() || value.is_object()
}

/// Returns the lines of an entry in block style.
fn entry(key: &str, value: &Value) -> Vec<String> {
    let shown = show(value);
    let lines: Vec<String> = match value {
        // A list of texts that is new begins with a line for each.
        Value::Array(items) if shown.len() > MAX_WIDTH || items.len() == 1 => items.iter().flat_map(item).collect(),
        Value::Object(members) if shown.len() > MAX_WIDTH || members.values().any(is_nested) => {
            members.iter().flat_map(|(key, value)| entry(key, value)).collect()
        }
        Value::Array(_) | Value::Object(_) | Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            return vec![format!("{}: {shown}", scalar(key))];
        }
    };
    let lines = lines.into_iter().map(|line| format!("  {line}"));
    std::iter::once(format!("{}:", scalar(key))).chain(lines).collect()
}

/// Whether a text is likely to be the same in the next run: it has no time, no id, and no temporary path.
pub fn is_stable(text: &str) -> bool {
    static VOLATILE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let patterns = [
            r"\d{4}-\d{2}-\d{2}",
            r"\d{1,2}:\d{2}:\d{2}",
            r"\b\d{10,}\b",
            r"(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b",
            r"(?i)\b[0-9a-f]*[0-9][0-9a-f]{11,}\b",
            r"/(tmp|var/folders|private/tmp)/",
            r"\b(took|in) \d+(\.\d+)? ?(ms|s|seconds)\b",
        ];
        Regex::new(&patterns.join("|")).ok()
    });
    !VOLATILE.as_ref().is_some_and(|volatile| volatile.is_match(text))
}

/// Returns the stable lines that all texts have, as they would be found in each.
pub fn common_lines<'t>(texts: &[&'t str], limit: usize) -> Vec<&'t str> {
    let Some((first, others)) = texts.split_first() else { return Vec::new() };
    let mut lines: Vec<&str> = Vec::new();
    for line in first.lines().map(str::trim).filter(|line| line.chars().filter(|it| it.is_alphanumeric()).count() > 2) {
        let is_common = line.len() <= 160 && is_stable(line) && others.iter().all(|text| text.contains(line));
        if is_common && !lines.contains(&line) && lines.len() < limit {
            lines.push(line);
        }
    }
    lines
}

/// Returns a limit half above the most of what was seen, with two digits. `None` if that is 0, or some of it is not known.
pub fn limit_of(seen: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let most = seen.collect::<Option<Vec<f64>>>()?.into_iter().reduce(f64::max).filter(|most| *most > 0.0)?;
    Some(format!("{:.1e}", most * 1.5).parse().unwrap_or(most * 1.5))
}

/// Returns a value without the members that are not the same in all of the values, or are not stable.
pub fn common_value(values: &[&Value]) -> Option<Value> {
    let (first, others) = values.split_first()?;
    match first {
        Value::Object(members) => {
            let common = members.iter().filter_map(|(key, value)| {
                let mut all = vec![value];
                for other in others {
                    all.push(other.get(key)?);
                }
                Some((key.clone(), common_value(&all)?))
            });
            Some(Value::Object(common.collect()))
        }
        Value::String(text) => (is_stable(text) && others.iter().all(|it| it == first)).then(|| (*first).clone()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
            others.iter().all(|it| it == first).then(|| (*first).clone())
        }
    }
}

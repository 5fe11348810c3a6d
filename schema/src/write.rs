//! Writes assertions from recorded runs: what a format proposes, as far as it holds in every attempt and notices a fault
//! that no other assertion notices.

use regex::Regex;
use serde_json::{Value, json};
use std::sync::{Arc, LazyLock};

use crate::{
    analysis::Analyzer,
    audit::{Audit, Effect, Tally, audit},
    document::{Document, Pointer},
    edit,
    evidence::Evidence,
    files::Files,
    fixing,
    format::Dialect,
    judge,
    mask::{MASK_CHARACTER, Secrets, texts_of},
    problem::{Edit, Problem, Severity},
    quoting::{scalar, show},
    settings::Settings,
    suite::Case,
    verdict::Status,
};

/// An assertion that a format proposes about what was observed.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal {
    /// Keys from the test to the list that gets an item, or to the entry that is added.
    pub path: &'static [&'static str],
    pub value: Value,
    /// Whether the value is an item of a list; otherwise it is the value of the last key.
    pub is_item: bool,
}

impl Proposal {
    pub fn item(path: &'static [&'static str], value: Value) -> Proposal {
        Proposal { path, value, is_item: true }
    }

    pub fn entry(path: &'static [&'static str], value: Value) -> Proposal {
        Proposal { path, value, is_item: false }
    }
}

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

/// What a text is written with.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    pub analyzer: &'a Analyzer,
    pub files: &'a dyn Files,
    pub settings: &'a Settings,
    pub secrets: &'a Secrets,
}

/// Writes assertions into the test of a case that is in the document itself. The error says why there are none.
pub fn write(
    document: &Document,
    case: &Case,
    attempts: &[Arc<Evidence>],
    surroundings: Surroundings<'_>,
) -> Result<Written, String> {
    let Some(first) = attempts.first() else { return Err("there is no recording of it; run it first".to_owned()) };
    let dialect = surroundings.analyzer.dialect().ok_or("files of this kind have no tests")?;
    let all: Vec<&Evidence> = attempts.iter().map(|evidence| &**evidence).collect();
    let is_secret = |value: &Value| {
        let is_secret = |text: &String| text.contains(MASK_CHARACTER) || surroundings.secrets.contains_secret(text);
        texts_of(value).iter().any(is_secret)
    };
    let mut proposals = dialect.propose(&all);
    proposals.retain(|proposal| !is_secret(&proposal.value));
    let known: Vec<Problem> = problems(document, &surroundings);
    let with_all = insert(document, &case.at, &proposals);
    let trial = Trial::of(&with_all, case, surroundings)?;
    // What holds in every attempt, and is not itself reported.
    let holds = |placed: &Placed| {
        let claims = claims_of(&trial.case, placed);
        let is_fine = |evidence: &Evidence| {
            let judged = judge::judge(&trial.case, evidence, surroundings.secrets);
            let own = judged.iter().filter(|it| claims.contains(&it.claim)).map(|it| it.verdict.outcome.status());
            let own: Vec<Status> = own.collect();
            !own.is_empty() && own.iter().all(|status| *status == Status::Pass)
        };
        let is_new = |problem: &&Problem| !known.iter().any(|it| it.message == problem.message);
        let reported = trial.problems.iter().filter(|problem| problem.severity <= Severity::Warning);
        let is_reported = reported.filter(is_new).any(|problem| problem.at.below(&placed.at).is_some());
        !is_reported && all.iter().all(|evidence| is_fine(evidence))
    };
    let (holding, others): (Vec<&Placed>, Vec<&Placed>) = with_all.placed.iter().partition(|placed| holds(placed));
    let dropped: Vec<usize> = others.iter().flat_map(|placed| claims_of(&trial.case, placed)).collect();
    let mut kept = Case::clone(&trial.case);
    let mut index = 0..;
    kept.claims.retain(|_| index.next().is_none_or(|index| !dropped.contains(&index)));
    if kept.claims.is_empty() {
        return Err("nothing of what was recorded can be asserted".to_owned());
    }
    let audit = audited(&kept, dialect, first, surroundings.secrets)?;
    let proposed: Vec<usize> = holding.iter().flat_map(|placed| claims_of(&kept, placed)).collect();
    let is_own = |claim: &usize| !proposed.contains(claim);
    // Indices of the faults that the assertions of the author leave, and those that each proposal notices.
    let noticed_by = |claims: &dyn Fn(&usize) -> bool| -> Vec<usize> {
        let tried = audit.tried.iter().enumerate();
        let is_noticed = |effect: &Effect| matches!(effect, Effect::Noticed(by) if by.iter().any(claims));
        tried.filter(|(_, it)| is_noticed(&it.effect)).map(|(index, _)| index).collect()
    };
    let own = noticed_by(&is_own);
    let mut left: Vec<usize> = (0..audit.tried.len()).filter(|fault| !own.contains(fault)).collect();
    left.retain(|fault| audit.tried[*fault].effect != Effect::Inert);
    let before = tally(&audit, &own);
    let reach: Vec<(usize, Vec<usize>)> = holding
        .iter()
        .map(|placed| (placed.proposal, noticed_by(&|claim| claims_of(&kept, placed).contains(claim))))
        .collect();
    let chosen = chosen(&reach, left);
    if chosen.is_empty() {
        return Err("its assertions notice every fault that a new one would notice".to_owned());
    }
    let added: Vec<Proposal> = chosen.iter().map(|index| proposals[*index].clone()).collect();
    let result = insert(document, &case.at, &added);
    let after = audited(&Trial::of(&result, case, surroundings)?.case, dialect, first, surroundings.secrets)?;
    Ok(Written { text: result.text, added, before, after: Tally::of(&after.tried) })
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

fn problems(document: &Document, surroundings: &Surroundings<'_>) -> Vec<Problem> {
    surroundings.analyzer.problems(document, surroundings.files, surroundings.settings)
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
    fn of(inserted: &Inserted, case: &Case, surroundings: Surroundings<'_>) -> Result<Trial, String> {
        let problems = problems(&inserted.document, &surroundings);
        let Surroundings { analyzer, files, settings, .. } = surroundings;
        let suite = analyzer.suite(&inserted.document, files, settings, &problems);
        let found = suite.cases.into_iter().find(|other| other.at == case.at && other.name == case.name);
        Ok(Trial { case: found.ok_or("the test cannot be read; correct its errors first")?, problems })
    }
}

/// Returns the indices of the claims that a proposal became.
fn claims_of(case: &Case, placed: &Placed) -> Vec<usize> {
    let claims = case.claims.iter().enumerate();
    claims.filter(|(_, claim)| claim.at.below(&placed.at).is_some()).map(|(index, _)| index).collect()
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
        let Some(below) = node.get(key).filter(|below| !below.is_null()) else { break };
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
    if node.get(key).is_some() {
        return None;
    }
    let place = missing.iter().fold(place, |place, key| place.key(key));
    let place = if proposal.is_item { place.index(0) } else { place };
    let one = || if proposal.is_item { json!([proposal.value]) } else { proposal.value.clone() };
    let value = missing[1..].iter().rev().fold(one(), |value, key| json!({ *key: value }));
    let edits = match node.entries().last() {
        None => edit::entry_at_front(node, &format!("{key}: {}", show(&value))),
        Some(last) if edit::nodes::is_flow(node.resolved()) => {
            edit::entries_behind(node, last, &[format!("{key}: {}", show(&value))])
        }
        Some(last) => edit::entries_behind(node, last, &entry(key, &value)),
    };
    Some((edits?, place))
}

/// Values that are longer than this take several lines.
const MAX_WIDTH: usize = 60;

/// Returns the lines of an item in block style.
fn item(value: &Value) -> Vec<String> {
    let Value::Object(members) = value else { return vec![format!("- {}", show(value))] };
    let lines = members.iter().flat_map(|(key, value)| entry(key, value)).enumerate();
    lines.map(|(index, line)| format!("{}{line}", if index == 0 { "- " } else { "  " })).collect()
}

/// Returns the lines of an entry in block style.
fn entry(key: &str, value: &Value) -> Vec<String> {
    let shown = show(value);
    let lines: Vec<String> = match value {
        // A list of texts that is new begins with a line for each.
        Value::Array(items) if shown.len() > MAX_WIDTH || items.len() == 1 => items.iter().flat_map(item).collect(),
        Value::Object(members) if shown.len() > MAX_WIDTH || members.values().any(Value::is_array) => {
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

//! Resolves the names of agents to directories of the workspace, and detects misspelled names.
//!
//! An agent has a directory with `SOUL.md` (or `SKILL.md`, since skills take over like agents, or at least a scenario
//! contract), or is named by the coverage ledger, possibly before it exists. Its name is the path of the directory,
//! `agents/marketing/brand`, or `agents-marketing-brand`. A name that resembles no directory is not reported, because
//! agents can be elsewhere and gateways have their own (`main`). Nor is one that differs only in case or separators. A
//! name is reported if all of its words but one match exactly one directory, and the remaining word is misspelled.

use crate::{
    document::{Document, NodeRef, ScalarRules},
    files::{FileKind, Files},
    format::{Directories, Lookup},
    gateway::workspace,
};

/// Top-level directories of agents and skills.
const HEADS: [&str; 2] = ["agents", "skills"];

/// Files that define an agent, the most specific one first.
const DEFINITIONS: [&str; 3] = ["SOUL.md", "SKILL.md", "tests/scenarios.yaml"];

const LEDGERS: [&str; 2] = ["coverage-ledger.yaml", "docs/testing/coverage-ledger.yaml"];

/// Maximum number of words of a name.
const WORDS: usize = 32;

pub(crate) struct Agents;

impl Directories for Agents {
    fn lacking(&self) -> &'static str {
        "no directory with a `SOUL.md` in this workspace has this name"
    }

    fn look_up(&self, name: &str, files: &dyn Files) -> Lookup {
        look_up(name, files)
    }

    fn definition(&self, name: &str, files: &dyn Files) -> Option<String> {
        if let Lookup::Known(file) = look_up(name, files) {
            return Some(file);
        }
        let own = words(name);
        let is_short = workspace::is_placed(files) && !own.is_empty() && !name.contains(['/', '{']);
        let mut found = is_short.then(|| self.all(files)).into_iter().flatten();
        let mut named =
            found.by_ref().filter(|(directory, _)| directory.rsplit('/').next().is_some_and(|it| words(it) == own));
        let (_, file) = named.next()?;
        named.next().is_none().then_some(file)
    }

    fn all(&self, files: &dyn Files) -> Vec<(String, String)> {
        let paths =
            HEADS.iter().zip(DEFINITIONS).flat_map(|(head, name)| files.glob(&format!("{head}/**/{name}")).paths);
        paths.filter_map(|path| Some((path.rsplit_once('/')?.0.to_owned(), path))).collect()
    }

    fn name_of(&self, directory: &str) -> String {
        slug(directory)
    }
}

pub(crate) fn look_up(name: &str, files: &dyn Files) -> Lookup {
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_/. ".contains(letter);
    let words = words(name.trim_start_matches("./"));
    if !workspace::is_placed(files) || !name.chars().all(is_plain) || words.len() > WORDS {
        return Lookup::Unknown;
    }
    // A path may omit the top-level directory.
    let heads: Vec<&str> = match (name.contains('/'), words.first()) {
        (_, None) => return Lookup::Unknown,
        (true, Some(first)) if !is_like(first, HEADS[0]) && !is_like(first, HEADS[1]) => HEADS.to_vec(),
        (true | false, Some(_)) => vec![""],
    };
    let mut search = Search { files, exact: Vec::new(), near: Vec::new() };
    for head in &heads {
        search.below(head, &words, false);
    }
    if !search.exact.is_empty() {
        let file = search.exact.iter().find_map(|directory| definition(directory, files));
        return file.map_or(Lookup::Unknown, Lookup::Known);
    }
    match search.near.as_slice() {
        // Without an explicit top-level directory, a name of one word is too little evidence.
        [directory] if (heads.len() == 1 || words.len() > 1) && !is_in_ledger(&words, files) => {
            let head = if heads.len() == 1 { "" } else { directory.split('/').next().unwrap_or_default() };
            let below = directory.strip_prefix(head).unwrap_or(directory).trim_start_matches('/');
            Lookup::Misspelled(if name.contains('/') { below.to_owned() } else { slug(below) })
        }
        _ => Lookup::Unknown,
    }
}

/// Whether the coverage ledger names an agent, regardless of whether the agent exists.
fn is_in_ledger(name: &[String], files: &dyn Files) -> bool {
    let set = workspace::settings(files).ledger_path.map(|path| path.0);
    set.iter().map(String::as_str).chain(LEDGERS).any(|path| {
        let Ok(bytes) = files.read(path) else { return false };
        let document = Document::read(&String::from_utf8_lossy(&bytes), ScalarRules::Yaml11);
        let waves = document.root().and_then(|root| root.get("waves"));
        let items = waves.into_iter().flat_map(NodeRef::entries).filter_map(|wave| wave.value.get("items"));
        let named = |item: NodeRef<'_>| {
            let texts = ["id", "path"].into_iter().filter_map(|key| item.get(key)?.as_str());
            texts.map(words).any(|words| words.ends_with(name))
        };
        items.flat_map(NodeRef::items).any(named)
    })
}

fn definition(directory: &str, files: &dyn Files) -> Option<String> {
    let paths = DEFINITIONS.iter().map(|name| format!("{directory}/{name}"));
    paths.into_iter().find(|path| files.kind(path) == Some(FileKind::File))
}

/// Converts a path to the name of an agent: lower-case letters and digits, with `-` between words.
fn slug(path: &str) -> String {
    words(path).join("-")
}

/// Whether two names refer to the same agent. A short name may omit parent directories.
pub(crate) fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (words(one), words(other));
    one.ends_with(&other) || other.ends_with(&one)
}

fn words(name: &str) -> Vec<String> {
    let words = name.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

struct Search<'f> {
    files: &'f dyn Files,
    /// Directories whose words equal those of the name.
    exact: Vec<String>,
    /// Directories of agents that differ from the name in one word.
    near: Vec<String>,
}

impl Search<'_> {
    /// Searches a directory for the remaining words.
    fn below(&mut self, directory: &str, left: &[String], missed: bool) {
        if left.is_empty() {
            if !missed {
                self.exact.push(directory.to_owned());
            } else if definition(directory, self.files).is_some() {
                self.near.push(directory.to_owned());
            }
            return;
        }
        for (name, kind) in self.files.list(directory) {
            let is_head = !directory.is_empty() || HEADS.contains(&name.as_str());
            if kind != FileKind::Directory || !is_head || name.starts_with('.') {
                continue;
            }
            let own = words(&name);
            let Some((written, rest)) = left.split_at_checked(own.len()).filter(|_| !own.is_empty()) else { continue };
            let wrong: Vec<(&String, &String)> = written.iter().zip(&own).filter(|(one, other)| one != other).collect();
            let missed = match wrong.as_slice() {
                [] => missed,
                [(written, own)] if !missed && is_slip(written, own) => true,
                _ => continue,
            };
            let path = if directory.is_empty() { name } else { format!("{directory}/{name}") };
            self.below(&path, rest, missed);
        }
    }
}

fn is_like(one: &str, other: &str) -> bool {
    one == other || is_slip(one, other)
}

/// Whether a word is a likely misspelling of another one. Different numbers are not misspellings, and short words are
/// too similar to others.
fn is_slip(word: &str, other: &str) -> bool {
    let digits = |word: &str| word.chars().filter(char::is_ascii_digit).collect::<String>();
    let limit = match word.chars().count().min(other.chars().count()) {
        0..=3 => 0,
        4..=11 => 1,
        _ => 2,
    };
    digits(word) == digits(other) && strsim::osa_distance(word, other) <= limit
}

#[cfg(test)]
mod tests {
    use crate::files::MemoryFiles;

    use super::{Lookup, is_same, look_up};

    fn of(name: &str) -> Lookup {
        let souls = [
            ("agents/marketing/brand/SOUL.md", ""),
            ("agents/marketing/email-engineer/SOUL.md", ""),
            ("agents/marketing/notes/x.md", ""),
            ("agents/marketing/webinars/tests/scenarios.yaml", ""),
            ("coverage-ledger.yaml", "waves: {one: {items: [{id: agents/marketing/brands}]}}"),
            ("agents/worker-1/SOUL.md", ""),
            ("agents/worker-a/SOUL.md", ""),
            ("agents/ops/lead/SOUL.md", ""),
            ("agents/tone/plans/SOUL.md", ""),
            ("agents/tones/plan/SOUL.md", ""),
            ("skills/Sub_Skills/draft/SKILL.md", ""),
            ("docs/marketing/brand/SOUL.md", ""),
        ];
        look_up(name, &MemoryFiles::new("/work", souls).at("skills/a/tests/scenarios.yaml"))
    }

    #[test]
    fn an_agent_is_known_by_its_path_and_by_the_words_of_it() {
        let brand = Lookup::Known("agents/marketing/brand/SOUL.md".to_owned());
        for name in ["agents-marketing-brand", "agents/marketing/brand", "./agents/marketing/brand/", "marketing/brand"]
        {
            assert_eq!(of(name), brand, "{name}");
        }
        let contract = Lookup::Known("agents/marketing/webinars/tests/scenarios.yaml".to_owned());
        assert_eq!(of("agents-marketing-webinars"), contract);
        assert_eq!(of("skills-sub-skills-draft"), Lookup::Known("skills/Sub_Skills/draft/SKILL.md".to_owned()));
    }

    #[test]
    fn one_slip_of_the_keys_is_told_and_no_more() {
        for (name, meant) in [
            ("agents-marketing-brnad", "agents-marketing-brand"),
            ("agent-marketing-brand", "agents-marketing-brand"),
            ("agents/marketing/brnad", "agents/marketing/brand"),
            ("agents-marketing-webinar", "agents-marketing-webinars"),
            ("marketing/brnad", "marketing/brand"),
            ("agents-marketing-emial-engineer", "agents-marketing-email-engineer"),
            ("skills-sub-skill-draft", "skills-sub-skills-draft"),
        ] {
            assert_eq!(of(name), Lookup::Misspelled(meant.to_owned()), "{name}");
        }
    }

    #[test]
    fn what_may_be_another_agent_is_not_told() {
        for name in [
            "main", "brnad", "openclaw-tdd-engineer", "agents-marketing", "agents-marketing-notes",
            "agents-marketing-note", "agents-marketing-copywriter", "agents-marketing-email",
            "agents-marketing-brand-eu", // The ledger names it as a future agent.
            "agents-marketing-brands", "marketing/brands", "agnets-marketing-brnad", "agents-worker-2",
            "agents-worker-b", "agents-ops-head-of", // Equally similar to two names.
            "agents-tones-plans", "{{handoff.to}}", "agent:marketing/brnad", "", "-",
        ] {
            assert_eq!(of(name), Lookup::Unknown, "{name}");
        }
        assert_eq!(look_up("agents-brnad", &MemoryFiles::new("", [("agents/brand/SOUL.md", "")])), Lookup::Unknown);
    }

    #[test]
    fn a_short_name_may_leave_out_where_the_agent_is() {
        assert!(is_same("agents-marketing-brand", "agents/marketing/brand"));
        assert!(is_same("brand", "agents-marketing-brand"));
        assert!(!is_same("agents-marketing-brand", "agents-marketing-email"));
    }
}

//! Detects the kind of a file from a comment in it, from the file that names it, from its name and
//! location, and from its content.
//!
//! Other tools also use names such as `tests/scenarios.yaml` and keys such as `scenarios`. A file is
//! recognized only if two signs agree: a name and content, a name and a workspace of the format, or content that
//! no other tool has. With only one sign, the kind is a guess, and no fix is applied automatically.
//!
//! The text is only scanned line by line for its outline: files of other tools cost almost
//! nothing, and damaged files are still recognized.

pub(crate) mod outline;
mod signs;

use crate::{
    directive::{Directive, Verb},
    format::{Dialect, Unit},
    json_schema::SpecFile,
    shape::{Need, Shape},
    spec_file::FilePatterns,
    words::nearest,
};

use outline::Outline;

pub use signs::{Candidate, NoSigns, Signs, Strength};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Detected {
    pub file: SpecFile,
    /// Whether only the name or only the content indicates the kind: if so, no fix is applied automatically.
    pub is_guess: bool,
}

/// Information about a file besides its path and text.
pub struct FileContext<'a> {
    pub kinds: &'a [SpecFile],
    /// Whether a `file://` entry of a cli-bench suite includes it.
    pub is_named_by_suite: bool,
    /// Whether the user named the file explicitly. If so, content that other tools may also have is sufficient, but
    /// files of other tools are still not recognized.
    pub is_asked_for: bool,
    /// Whether a pattern in ClawSpec's settings matches it as a scenario contract. Evaluated on request.
    pub is_named_by_pattern: &'a dyn Fn() -> bool,
    /// State of the directories around it. Evaluated on request.
    pub workspace: &'a dyn Fn() -> Workspace,
}

/// Relation of a file's directory to a ClawSpec workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Workspace {
    /// No relation.
    Unknown,
    /// The file is in the tests of a directory with `SKILL.md` or `SOUL.md`, which other tools also have.
    BesideSkill,
    /// The settings of a workspace are in a parent directory.
    Settings,
    /// The file is in the tests of a directory with `SKILL.md` or `SOUL.md`, below the settings of a workspace.
    Target,
}

impl FileContext<'_> {
    /// No information.
    pub const NOTHING: FileContext<'static> = FileContext {
        kinds: SpecFile::ALL,
        is_named_by_suite: false,
        is_asked_for: false,
        is_named_by_pattern: &|| false,
        workspace: &|| Workspace::Unknown,
    };
}

/// Detects the kind of a file, if it is supported. `path` is its path with `/` separators, as far as it is known.
pub fn detect(path: &str, text: &str, context: &FileContext<'_>) -> Option<Detected> {
    let sure = |file| Some(Detected { file, is_guess: false });
    let outline = Outline::of(text);
    let candidate = |file| candidate(file, &outline);
    let content = Content::of(&outline, context.kinds);
    let name = named_among(context.kinds, path);
    let said = said_among(context.kinds, text);
    if let Some(said) = said.as_ref().and_then(|said| said.kind) {
        // The word of a dialect is also the word of one of its kinds; if so, content and name take precedence.
        if !is_dialect_word(said) {
            return sure(said);
        }
        let by_name = name.map(|(Named::Surely(file) | Named::Perhaps(file))| file);
        let by_content = content.map(|content| content.file);
        let by_key = said.dialect().and_then(|dialect| by_key_of(&outline, dialect, context.kinds));
        let found = [by_content, by_key, by_name].into_iter().flatten();
        return sure(found.into_iter().find(|found| found.dialect() == said.dialect()).unwrap_or(said));
    }
    if let Some(Named::Surely(file)) = name {
        // If no key belongs to the format, the file may be another tool's.
        let is_near = |key: &str| Shape::of(file).any_field(key).is_some() || candidate(file).agrees(key);
        let is_guess = !outline.keys.is_empty() && !outline.keys.iter().any(|entry| is_near(entry.key));
        return Some(Detected { file, is_guess });
    }
    if context.is_named_by_suite
        && let Some(part) = context.kinds.iter().find(|file| file.is_part())
    {
        return sure(*part);
    }
    let by_pattern = context.kinds.iter().find(|file| file.signs.is_named_by_patterns()).copied();
    if let Some(file) =
        by_pattern.filter(|file| could_be_named_by_pattern(*file, content, name, path, &candidate(*file)))
        && (context.is_named_by_pattern)()
    {
        return Some(Detected { file, is_guess: content.is_none() && !may_be_fixed(file, &candidate(file)) });
    }
    let like = || context.kinds.iter().find(|file| file.signs.may_be_named(path)).copied();
    let found = match (content, name) {
        // A file without a name may have any name.
        (Some(content), _) => content.weigh(name.is_some() || path.is_empty() || like().is_some(), context),
        (None, Some(Named::Perhaps(file))) => by_name(file, path, &candidate(file), context),
        (None, Some(Named::Surely(_)) | None) => {
            let has_key = |file: &SpecFile| file.case_list().is_some_and(|list| outline.has(list));
            like().filter(has_key).and_then(|file| by_name(file, path, &candidate(file), context))
        }
    };
    // For a misspelled directive, name and content decide first.
    found.or_else(|| sure(said?.meant?))
}

fn candidate<'a>(file: SpecFile, outline: &'a Outline<'a>) -> Candidate<'a> {
    Candidate::new(outline, move || Shape::of(file))
}

#[derive(Clone, Copy, Debug)]
struct Content {
    file: SpecFile,
    strength: Strength,
}

impl Content {
    fn of(outline: &Outline<'_>, kinds: &[SpecFile]) -> Option<Content> {
        kinds.iter().find_map(|file| {
            let strength = file.signs.content(&candidate(*file, outline))?;
            Some(Content { file: *file, strength })
        })
    }

    /// Returns the result for content in a file with or without a matching name.
    fn weigh(self, is_named: bool, context: &FileContext<'_>) -> Option<Detected> {
        let Content { file, strength } = self;
        let is_in_workspace = || {
            file.dialect().is_some_and(|dialect| dialect.unit() == Unit::Workspace)
                && (context.workspace)() > Workspace::Unknown
        };
        let is_guess = match strength {
            Strength::Name => false,
            Strength::Keys => !(is_named || context.is_asked_for || is_in_workspace()),
            Strength::Hint if is_in_workspace() => !is_named,
            Strength::Hint if is_named => true,
            Strength::Hint => return None,
        };
        Some(Detected { file, is_guess })
    }
}

/// Returns the result for a name that other tools also use, if the content is not sufficient.
fn by_name(file: SpecFile, path: &str, candidate: &Candidate<'_>, context: &FileContext<'_>) -> Option<Detected> {
    let (outline, signs) = (candidate.outline, file.signs);
    let found = |is_guess| Some(Detected { file, is_guess });
    if signs.is_of_another_tool(candidate) && (context.workspace)() != Workspace::Target {
        return None;
    }
    let is_in_its_place = is_below_targets(path);
    let known = candidate.known();
    let is_wordless = outline.keys.is_empty() && outline.items.is_empty();
    // Keys of other tools outweigh keys that happen to have the same name.
    let could_be = is_wordless && !outline.other || outline.items.is_empty() && known * 2 > outline.keys.len();
    let is_ours = match (context.workspace)() {
        // A file without keys may be incomplete or wrong, but it belongs to the target.
        Workspace::Target => outline.keys.is_empty() || known > 0,
        Workspace::Settings if is_in_its_place => outline.keys.is_empty() || could_be,
        // ClawSpec settings do not apply to files of other tools in the same repository.
        Workspace::Settings => is_wordless || could_be && has_one_of_its_own(file, candidate),
        // Agents of other tools have skills, too.
        Workspace::BesideSkill => could_be && !outline.keys.is_empty() && has_one_of_its_own(file, candidate),
        Workspace::Unknown => {
            // A location that only one tool uses is the second sign, even if the content differs a lot from the format.
            let is_clear = if is_in_its_place { signs.is_clear_in_its_place(candidate) } else { None };
            is_clear.unwrap_or_else(|| could_be && signs.has_two_of_its_own(candidate))
        }
    };
    if is_ours {
        return found(!may_be_fixed(file, candidate));
    }
    // The file has no content of another tool yet.
    if file.dialect().is_none() && outline.keys.is_empty() && outline.items.is_empty() {
        return found(outline.other);
    }
    // ClawSpec looks for contracts beside a skill, but so do other tools, whose items have `given`, `when` and `then`, too.
    let is_barely_begun = || outline.keys.iter().all(|entry| outline.of_items(entry.key).count() < 2);
    let is_in_its_place = is_in_its_place || (context.workspace)() == Workspace::BesideSkill && is_barely_begun();
    let is_key_begun = outline.keys.is_empty() && outline.items.is_empty() && candidate.begins_a_key();
    let is_begun = could_be && candidate.has_only_known() || is_key_begun;
    (is_begun && is_in_its_place).then(|| found(true)).flatten()
}

/// Whether a fix may be applied automatically: the content, if there is any, has a key that is specific to the kind, or
/// no other keys.
fn may_be_fixed(file: SpecFile, candidate: &Candidate<'_>) -> bool {
    let is_ours = || has_one_of_its_own(file, candidate) || candidate.has_only_known();
    candidate.outline.keys.is_empty() || !file.signs.is_of_another_tool(candidate) && is_ours()
}

/// Whether a key is specific to this kind of file, or the file has no content yet.
fn has_one_of_its_own(file: SpecFile, candidate: &Candidate<'_>) -> bool {
    candidate.outline.keys.len() == 1 && candidate.near("version").is_some() || file.signs.has_one_of_its_own(candidate)
}

/// Returns the kind that an unrecognized file resembles: by its content, or by its name.
pub fn resembled(path: &str, text: &str) -> Option<SpecFile> {
    let content = Content::of(&Outline::of(text), SpecFile::ALL).map(|content| content.file);
    content.or_else(|| of_path(path).map(|(Named::Surely(file) | Named::Perhaps(file))| file))
}

/// Returns the required root keys of a kind that are missing in a text.
pub fn lacking(file: SpecFile, text: &str) -> Vec<&'static str> {
    let outline = Outline::of(text);
    let required = Shape::of(file).all_fields().into_iter().filter(|field| field.need == Need::Required);
    required.map(|field| field.name).filter(|name| !outline.has(name)).collect()
}

/// Whether a file that a pattern of the settings matches can be of the kind of the pattern. A pattern such as
/// `skills/**/*.yaml` also matches files of other kinds and of other tools.
fn could_be_named_by_pattern(
    file: SpecFile,
    content: Option<Content>,
    name: Option<Named>,
    path: &str,
    candidate: &Candidate<'_>,
) -> bool {
    let outline = candidate.outline;
    if content.is_some_and(|content| content.file != file) || !outline.items.is_empty() {
        return false;
    }
    if file.signs.root_keys().iter().any(|key| outline.has(key)) {
        return true;
    }
    let is_other_by_name = name.is_some_and(|name| name != Named::Perhaps(file));
    // It may be incomplete.
    !is_other_by_name && is_yaml(path) && (outline.keys.is_empty() || candidate.known() * 2 > outline.keys.len())
}

/// Whether a path contains a directory in which ClawSpec looks for contracts.
fn is_below_targets(path: &str) -> bool {
    let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
    directory.split('/').any(|name| ["skills", "agents"].contains(&name))
}

/// Kind that the name and location of a file indicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// Only this kind has such names.
    Surely(SpecFile),
    /// Other tools also use this name: the content must match.
    Perhaps(SpecFile),
}

/// Returns the kind that the name and location of a file indicate.
pub fn of_path(path: &str) -> Option<Named> {
    named_among(SpecFile::ALL, path)
}

/// Returns the kind that the name and location of a file indicate. Of two patterns, the more specific one counts.
fn named_among(kinds: &[SpecFile], path: &str) -> Option<Named> {
    let fits = kinds.iter().flat_map(|file| file.file_patterns().iter().map(move |pattern| (*file, *pattern)));
    let fits = fits.filter(|(_, pattern)| is_at(path, pattern));
    let length = |pattern: &str| pattern.rsplit('/').next().map_or(0, str::len);
    let (file, _) = fits.reduce(|best, next| if length(next.1) > length(best.1) { next } else { best })?;
    Some(match file.names {
        FilePatterns::Surely(_) => Named::Surely(file),
        FilePatterns::Perhaps(_) => Named::Perhaps(file),
    })
}

/// Whether a path matches a pattern: see [`FilePatterns`].
pub(crate) fn is_at(path: &str, pattern: &str) -> bool {
    let fits = |name: &str, pattern: &str| match pattern.strip_prefix('*') {
        Some(ending) => name.len() > ending.len() && name.ends_with(ending),
        None => name == pattern,
    };
    let mut names = path.rsplit('/');
    let mut patterns = pattern.trim_start_matches("**/").rsplit('/');
    patterns.all(|pattern| names.next().is_some_and(|name| fits(name, pattern)))
}

/// Returns the directory of the target that the location of a contract implies: the parent of `tests`.
pub fn target_of(path: &str) -> Option<&str> {
    let directory = path.rsplit_once('/')?.0;
    directory.strip_suffix("/tests").or_else(|| directory.rsplit_once("/tests/").map(|(before, _)| before))
}

pub fn named_target(text: &str) -> Option<String> {
    let outline = Outline::of(text);
    let path = outline.members("target").find(|entry| entry.key == "path")?.text().to_owned();
    (!path.is_empty()).then_some(path)
}

pub fn is_yaml(name: &str) -> bool {
    [".yaml", ".yml"].iter().any(|ending| name.len() > ending.len() && name.ends_with(ending))
}

/// Kind that a comment before the first entry declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredKind {
    pub word: String,
    /// Declared kind, if the comment is valid.
    pub kind: Option<SpecFile>,
    /// Most similar kind, if the comment is not valid.
    pub meant: Option<SpecFile>,
}

/// Returns the kind that a comment before the first entry declares. A valid comment takes precedence over one with a
/// mistake.
pub fn said(text: &str) -> Option<DeclaredKind> {
    said_among(SpecFile::ALL, text)
}

fn said_among(kinds: &[SpecFile], text: &str) -> Option<DeclaredKind> {
    let parse = |word: &str| kinds.iter().copied().find(|file| file.as_str() == word);
    let directives = Directive::all_in(head(text)).map(|(_, directive)| directive);
    let all: Vec<DeclaredKind> = directives
        .filter(|directive| directive.verb == Some(Verb::Dialect))
        .filter_map(|directive| {
            let (word, _) = directive.words.into_iter().next()?;
            let kind = parse(&word).filter(|_| directive.mistake.is_none());
            let near = || nearest(&word, kinds.iter().map(|file| file.as_str()));
            Some(DeclaredKind { kind, meant: near().and_then(parse), word })
        })
        .collect();
    all.iter().find(|said| said.kind.is_some()).or(all.first()).cloned()
}

/// Returns the lines before the first entry: comments, and the start of a YAML document.
fn head(text: &str) -> &str {
    let is_of_head = |line: &str| {
        let line = line.trim_start_matches('\u{feff}').trim();
        line.is_empty() || line.starts_with(['#', '%']) || line == "---"
    };
    let length = text.split_inclusive('\n').take_while(|line| is_of_head(line)).map(str::len).sum();
    &text[..length]
}

pub(crate) fn is_dialect_word(file: SpecFile) -> bool {
    file.dialect().is_some_and(|dialect| dialect.as_str() == file.as_str())
}

/// Returns the kind of a dialect whose first key is in the root.
fn by_key_of(outline: &Outline<'_>, said: Dialect, kinds: &[SpecFile]) -> Option<SpecFile> {
    let mut kinds = kinds.iter().copied().filter(|file| file.dialect() == Some(said));
    if outline.items.is_empty() {
        kinds.find(|file| file.signs.root_keys().iter().any(|key| outline.has(key)))
    } else {
        kinds.find(|file| file.case_list() == Some(""))
    }
}

#[cfg(test)]
mod tests;

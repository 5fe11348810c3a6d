//! Which kind of file is it? Decided by what the author says in a comment, by who names the file, by its name and
//! place, and by its content.
//!
//! Names such as `tests/scenarios.yaml` belong to other tools as well, and so do keys such as `scenarios`. A file is
//! ours only where two signs agree: a name and a content, a name and a workspace of the format, or a content that
//! no other tool has. Where one sign is all there is, the kind is a guess, and nothing is changed unseen.
//!
//! The text is only scanned for its outline, line by line: a file that is none of ours costs next to
//! nothing, and a damaged one is still recognised.

pub(crate) mod outline;
mod signs;

use crate::{
    dialect::{Dialect, Unit},
    directive::{Directive, Verb},
    json_schema::SpecFile,
    shape::{Need, Shape},
    spec_file::Names,
    words::nearest,
};

use outline::Outline;

pub use signs::{NoSigns, Sight, Signs, Strength};

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Detected {
    /// The kind of file.
    pub file: SpecFile,
    /// Whether only its name, or only its content, says so: then nothing is changed in it unseen.
    pub is_guess: bool,
}

/// What is known of a file beside its path and its text.
pub struct Around<'a> {
    /// The kinds of files that there are.
    pub kinds: &'a [SpecFile],
    /// Whether a `file://` entry of a cli-bench suite leads to it.
    pub is_named_by_suite: bool,
    /// Whether a person names it as a file to be looked at. That makes a content sure that others could have as well; it
    /// makes no other file one of ours.
    pub is_asked_for: bool,
    /// Whether a pattern of the settings of ClawSpec names it as a scenario contract. Asked only where it matters.
    pub is_named_by_pattern: &'a dyn Fn() -> bool,
    /// How the directories around it look. Asked only where it matters.
    pub workspace: &'a dyn Fn() -> Workspace,
}

/// What the directories around a file say about ClawSpec.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Workspace {
    /// Nothing.
    Unknown,
    /// The settings of a workspace are above it.
    Settings,
    /// It is in the tests of a directory that holds `SKILL.md` or `SOUL.md`.
    Target,
}

impl Around<'_> {
    /// Nothing is known.
    pub const NOTHING: Around<'static> = Around {
        kinds: SpecFile::ALL,
        is_named_by_suite: false,
        is_asked_for: false,
        is_named_by_pattern: &|| false,
        workspace: &|| Workspace::Unknown,
    };
}

/// Returns what a file is, if it is one of ours. `path`: where it is, `/` between names, as far as it is known.
pub fn detect(path: &str, text: &str, around: &Around<'_>) -> Option<Detected> {
    let sure = |file| Some(Detected { file, is_guess: false });
    let outline = Outline::of(text);
    let sight = |file| Sight { file, outline: &outline };
    let content = Content::of(&outline, around.kinds);
    let name = named_among(around.kinds, path);
    let said = said_among(around.kinds, text);
    if let Some(said) = said.as_ref().and_then(|said| said.kind) {
        // The word of a dialect is also that of one of its kinds; the content, and the name, then know better.
        if !is_dialect_word(said) {
            return sure(said);
        }
        let by_name = name.map(|(Named::Surely(file) | Named::Perhaps(file))| file);
        let by_content = content.map(|content| content.file);
        let by_key = said.dialect().and_then(|dialect| by_key_of(&outline, dialect, around.kinds));
        let found = [by_content, by_key, by_name].into_iter().flatten();
        return sure(found.into_iter().find(|found| found.dialect() == said.dialect()).unwrap_or(said));
    }
    if let Some(Named::Surely(file)) = name {
        // Keys of which none is one of the format may be those of another tool.
        let is_near = |key: &str| Shape::of(file).any_field(key).is_some() || sight(file).agrees(key);
        let is_guess = !outline.keys.is_empty() && !outline.keys.iter().any(|entry| is_near(entry.key));
        return Some(Detected { file, is_guess });
    }
    if around.is_named_by_suite
        && let Some(part) = around.kinds.iter().find(|file| file.is_part())
    {
        return sure(*part);
    }
    let by_pattern = around.kinds.iter().find(|file| file.signs().is_named_by_patterns()).copied();
    if let Some(file) = by_pattern.filter(|file| could_be_named_by_pattern(content, name, path, &sight(*file)))
        && (around.is_named_by_pattern)()
    {
        return sure(file);
    }
    let like = || around.kinds.iter().find(|file| file.signs().may_be_named(path)).copied();
    let found = match (content, name) {
        // What has no name yet may have any.
        (Some(content), _) => content.weigh(name.is_some() || path.is_empty() || like().is_some(), around),
        (None, Some(Named::Perhaps(file))) => by_name(path, &sight(file), around),
        (None, Some(Named::Surely(_)) | None) => {
            let has_key = |file: &SpecFile| file.case_list().is_some_and(|list| outline.has(list));
            like().filter(has_key).and_then(|file| by_name(path, &sight(file), around))
        }
    };
    // Of a directive with a typo, name and content decide first.
    found.or_else(|| sure(said?.meant?))
}

/// A kind that a content looks like.
#[derive(Clone, Copy, Debug)]
struct Content {
    file: SpecFile,
    strength: Strength,
}

impl Content {
    fn of(outline: &Outline<'_>, kinds: &[SpecFile]) -> Option<Content> {
        kinds.iter().find_map(|file| {
            let strength = file.signs().content(&Sight { file: *file, outline })?;
            Some(Content { file: *file, strength })
        })
    }

    /// Returns what is made of a content, in a file that has such a name or another one.
    fn weigh(self, is_named: bool, around: &Around<'_>) -> Option<Detected> {
        let Content { file, strength } = self;
        let is_in_workspace = || {
            file.dialect().is_some_and(|dialect| dialect.unit() == Unit::Workspace)
                && (around.workspace)() > Workspace::Unknown
        };
        let is_guess = match strength {
            Strength::Name => false,
            Strength::Keys => !(is_named || around.is_asked_for || is_in_workspace()),
            Strength::Hint if is_in_workspace() => !is_named,
            Strength::Hint if is_named => true,
            Strength::Hint => return None,
        };
        Some(Detected { file, is_guess })
    }
}

/// Returns what is made of a name that other tools have as well, where the content says little.
fn by_name(path: &str, sight: &Sight<'_>, around: &Around<'_>) -> Option<Detected> {
    let (file, outline, signs) = (sight.file, sight.outline, sight.file.signs());
    let found = |is_guess| Some(Detected { file, is_guess });
    if signs.is_of_another_tool(sight) && (around.workspace)() != Workspace::Target {
        return None;
    }
    let known = sight.known();
    let is_wordless = outline.keys.is_empty() && outline.items.is_empty();
    // Keys of other tools outweigh those that happen to be called like ours.
    let could_be = is_wordless && !outline.other || outline.items.is_empty() && known * 2 > outline.keys.len();
    let is_ours = match (around.workspace)() {
        // A file without any key may be half typed, or wrong, but whose it is is known.
        Workspace::Target => outline.keys.is_empty() || known > 0,
        Workspace::Settings if is_below_targets(path) => outline.keys.is_empty() || could_be,
        // Settings of ClawSpec say nothing of the files of other tools in the same repository.
        Workspace::Settings => is_wordless || could_be && has_one_of_its_own(sight),
        Workspace::Unknown => {
            // The place that only one tool looks at is the second sign, even where the format itself is missed by far.
            let is_clear = if is_below_targets(path) { signs.is_clear_in_its_place(sight) } else { None };
            is_clear.unwrap_or_else(|| could_be && signs.has_two_of_its_own(sight))
        }
    };
    if is_ours {
        return found(false);
    }
    // Nothing is in it yet that another tool could have written.
    if file.dialect().is_none() && outline.keys.is_empty() && outline.items.is_empty() {
        return found(outline.other);
    }
    // The directories in which ClawSpec looks for contracts.
    (could_be && is_below_targets(path)).then(|| found(true)).flatten()
}

/// Whether a key is as only this kind of file has it, or nothing is in it yet.
fn has_one_of_its_own(sight: &Sight<'_>) -> bool {
    sight.outline.keys.len() == 1 && sight.near("version").is_some() || sight.file.signs().has_one_of_its_own(sight)
}

/// Returns the kind that a file looks like which is none of ours: by its name, or by a content that says too little.
pub fn resembled(path: &str, text: &str) -> Option<SpecFile> {
    let content = Content::of(&Outline::of(text), SpecFile::ALL).map(|content| content.file);
    content.or_else(|| of_path(path).map(|(Named::Surely(file) | Named::Perhaps(file))| file))
}

/// Returns the keys that a file of a kind must have at its root, and a text has not.
pub fn lacking(file: SpecFile, text: &str) -> Vec<&'static str> {
    let outline = Outline::of(text);
    let required = Shape::of(file).all_fields().into_iter().filter(|field| field.need == Need::Required);
    required.map(|field| field.name).filter(|name| !outline.has(name)).collect()
}

/// Whether a file that a pattern of the settings names is of the kind that they name. A pattern such as `skills/**/*.yaml` names
/// files of other kinds as well, and those of other tools.
fn could_be_named_by_pattern(content: Option<Content>, name: Option<Named>, path: &str, sight: &Sight<'_>) -> bool {
    let outline = sight.outline;
    if content.is_some_and(|content| content.file != sight.file) || !outline.items.is_empty() {
        return false;
    }
    if sight.file.signs().root_keys().iter().any(|key| outline.has(key)) {
        return true;
    }
    let is_other_by_name = name.is_some_and(|name| name != Named::Perhaps(sight.file));
    // It may be half typed.
    !is_other_by_name && is_yaml(path) && (outline.keys.is_empty() || sight.known() * 2 > outline.keys.len())
}

/// Whether a path leads through a directory in which ClawSpec looks for contracts.
fn is_below_targets(path: &str) -> bool {
    let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
    directory.split('/').any(|name| ["skills", "agents"].contains(&name))
}

/// What the name and the place of a file say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// No other file has such a name.
    Surely(SpecFile),
    /// Other tools may have files of this name: the content must agree.
    Perhaps(SpecFile),
}

/// Returns what the name and the place of a file say.
pub fn of_path(path: &str) -> Option<Named> {
    named_among(SpecFile::ALL, path)
}

/// Returns what the name and the place of a file say. Of two patterns, the one that says more of its last name counts.
fn named_among(kinds: &[SpecFile], path: &str) -> Option<Named> {
    let fits = kinds.iter().flat_map(|file| file.file_patterns().iter().map(move |pattern| (*file, *pattern)));
    let fits = fits.filter(|(_, pattern)| is_at(path, pattern));
    let length = |pattern: &str| pattern.rsplit('/').next().map_or(0, str::len);
    let (file, _) = fits.reduce(|best, next| if length(next.1) > length(best.1) { next } else { best })?;
    Some(match file.names() {
        Names::Surely(_) => Named::Surely(file),
        Names::Perhaps(_) => Named::Perhaps(file),
    })
}

/// Whether a path fits a pattern: see [`Names`].
pub(crate) fn is_at(path: &str, pattern: &str) -> bool {
    let fits = |name: &str, pattern: &str| match pattern.strip_prefix('*') {
        Some(ending) => name.len() > ending.len() && name.ends_with(ending),
        None => name == pattern,
    };
    let mut names = path.rsplit('/');
    let mut patterns = pattern.trim_start_matches("**/").rsplit('/');
    patterns.all(|pattern| names.next().is_some_and(|name| fits(name, pattern)))
}

/// Returns the directory of the target that a contract belongs to by its place: the one above `tests`.
pub fn target_of(path: &str) -> Option<&str> {
    let directory = path.rsplit_once('/')?.0;
    directory.strip_suffix("/tests").or_else(|| directory.rsplit_once("/tests/").map(|(before, _)| before))
}

/// Returns the path of the target that a text names, as it is written.
pub fn named_target(text: &str) -> Option<String> {
    let outline = Outline::of(text);
    let path = outline.members("target").find(|entry| entry.key == "path")?.text().to_owned();
    (!path.is_empty()).then_some(path)
}

/// Whether a name is that of a YAML file.
pub fn is_yaml(name: &str) -> bool {
    [".yaml", ".yml"].iter().any(|ending| name.len() > ending.len() && name.ends_with(ending))
}

/// What a comment before the first entry says the file is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// The word of the kind, as it is written.
    pub word: String,
    /// The kind, where the comment is written as it is to be.
    pub kind: Option<SpecFile>,
    /// The kind that is most likely meant where it is not.
    pub meant: Option<SpecFile>,
}

/// Returns what a comment before the first entry says the file is. A comment that can be obeyed comes before one with a
/// slip.
pub fn said(text: &str) -> Option<Said> {
    said_among(SpecFile::ALL, text)
}

fn said_among(kinds: &[SpecFile], text: &str) -> Option<Said> {
    let parse = |word: &str| kinds.iter().copied().find(|file| file.as_str() == word);
    let directives = Directive::all_in(head(text)).map(|(_, directive)| directive);
    let all: Vec<Said> = directives
        .filter(|directive| directive.verb == Some(Verb::Dialect))
        .filter_map(|directive| {
            let (word, _) = directive.words.into_iter().next()?;
            let kind = parse(&word).filter(|_| directive.slip.is_none());
            let near = || nearest(&word, kinds.iter().map(|file| file.as_str()));
            Some(Said { kind, meant: near().and_then(parse), word })
        })
        .collect();
    all.iter().find(|said| said.kind.is_some()).or(all.first()).cloned()
}

/// Returns the lines before the first entry: comments, and what a YAML document begins with.
fn head(text: &str) -> &str {
    let is_of_head = |line: &str| {
        let line = line.trim_start_matches('\u{feff}').trim();
        line.is_empty() || line.starts_with(['#', '%']) || line == "---"
    };
    let length = text.split_inclusive('\n').take_while(|line| is_of_head(line)).map(str::len).sum();
    &text[..length]
}

/// Whether the word of a kind is that of its dialect as well.
pub(crate) fn is_dialect_word(file: SpecFile) -> bool {
    file.dialect().is_some_and(|dialect| dialect.as_str() == file.as_str())
}

/// Returns the kind of a dialect of which the root has the first key.
fn by_key_of(outline: &Outline<'_>, said: Dialect, kinds: &[SpecFile]) -> Option<SpecFile> {
    let mut kinds = kinds.iter().copied().filter(|file| file.dialect() == Some(said));
    if outline.items.is_empty() {
        kinds.find(|file| file.signs().root_keys().iter().any(|key| outline.has(key)))
    } else {
        kinds.find(|file| file.case_list() == Some(""))
    }
}

#[cfg(test)]
mod tests;

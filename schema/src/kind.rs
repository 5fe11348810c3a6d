//! Which kind of file is it? Decided by what the author says in a comment, by who names the file, by its name and
//! place, and by its content.
//!
//! Names such as `tests/scenarios.yaml` belong to other tools as well, and so do keys such as `scenarios`. A file is
//! ours only where two signs agree: a name and a content, a name and a workspace of the format, or a content that
//! no other tool has. Where one sign is all there is, the kind is a guess, and nothing is changed unseen.
//!
//! The text is only scanned for its outline, line by line: a file that is none of ours costs next to
//! nothing, and a damaged one is still recognised.

mod outline;

use crate::{
    directive::{Directive, Verb},
    gateway_script,
    json_schema::SpecFile,
    script,
    shape::{Need, Shape, Type},
    words::nearest,
};

use outline::Outline;

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
        is_named_by_suite: false,
        is_asked_for: false,
        is_named_by_pattern: &|| false,
        workspace: &|| Workspace::Unknown,
    };
}

/// What a file is, if it is one of ours. `path`: where it is, `/` between names, as far as it is known.
pub fn detect(path: &str, text: &str, around: &Around<'_>) -> Option<Detected> {
    let sure = |file| Some(Detected { file, is_guess: false });
    let outline = Outline::of(text);
    let content = Content::of(&outline);
    let name = of_path(path);
    let said = said(text);
    if let Some(said) = said.as_ref().and_then(|said| said.kind) {
        // The word of a dialect is also that of one of its kinds; the content, and the name, then know better.
        if !is_dialect_word(said) {
            return sure(said);
        }
        let by_name = name.map(|(Named::Surely(file) | Named::Perhaps(file))| file);
        let by_content = content.map(|content| content.file);
        let found = [by_content, by_key_of(&outline, said), by_name].into_iter().flatten();
        return sure(found.into_iter().find(|found| found.dialect() == said.dialect()).unwrap_or(said));
    }
    if let Some(Named::Surely(file)) = name {
        // Keys of which none is one of the format may be those of another tool.
        let is_near = |key: &str| Shape::of(file).any_field(key).is_some() || agrees(file, &outline, key);
        let is_guess = !outline.keys.is_empty() && !outline.keys.iter().any(|entry| is_near(entry.key));
        return Some(Detected { file, is_guess });
    }
    if around.is_named_by_suite {
        return sure(SpecFile::CliBenchTasks);
    }
    if could_be_scenarios(content, name, path, &outline) && (around.is_named_by_pattern)() {
        return sure(SpecFile::ClawSpecScenarios);
    }
    let found = match (content, name) {
        // What has no name yet may have any.
        (Some(content), _) => content.weigh(name.is_some() || is_named_scenarios(path) || path.is_empty(), around),
        (None, Some(Named::Perhaps(file))) => by_name(file, path, &outline, around),
        (None, Some(Named::Surely(_)) | None) => {
            let file = SpecFile::ClawSpecScenarios;
            let is_like_one = is_named_scenarios(path) && outline.has("scenarios");
            is_like_one.then(|| by_name(file, path, &outline, around)).flatten()
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

/// How much a content says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Strength {
    /// The format calls itself by its name.
    Name,
    /// Two keys that no other tool has like that.
    Keys,
    /// Keys that other tools may have as well.
    Hint,
}

impl Content {
    fn of(outline: &Outline<'_>) -> Option<Content> {
        let found = |file, strength| Some(Content { file, strength });
        let keys = |is_telling| if is_telling { Strength::Keys } else { Strength::Hint };
        if outline.items.iter().any(|item| item.contains(&"intent") && item.contains(&"assert")) {
            return found(SpecFile::CliBenchTasks, Strength::Keys);
        }
        if let Some(version) = outline.entry("kindlm").filter(|entry| !entry.value.is_empty()) {
            let has_others = outline.keys.iter().any(|it| it.key != "kindlm" && is_known(SpecFile::KindLm, it.key));
            if has_others || version.text() == "1" && outline.keys.len() == 1 {
                return found(SpecFile::KindLm, Strength::Name);
            }
        }
        // Runners of tasks have a mapping there.
        let has_tasks = outline.has("tasks") && outline.members("tasks").next().is_none();
        let is_ours =
            || holds_tasks(outline) || ["providers", "version_command"].into_iter().any(|key| outline.has(key));
        if has_tasks && outline.entry("cli").is_some_and(|entry| !entry.value.is_empty()) && is_ours() {
            return found(SpecFile::CliBench, Strength::Keys);
        }
        let members = |key: &'static str, known: &'static [&'static str]| {
            known.iter().filter(move |known| outline.members(key).any(|entry| entry.key == **known)).count()
        };
        let target = members("target", &["type", "path", "trigger"]);
        if outline.has("scenarios") && target > 0 {
            let is_typed =
                outline.members("target").any(|it| it.key == "type" && ["skill", "agent"].contains(&it.text()));
            let has_steps = steps(outline) > 0;
            if is_typed || target > 1 || has_steps || members("target", &["path", "trigger"]) > 0 {
                return found(SpecFile::ClawSpecScenarios, keys(is_typed || target > 1 || has_steps));
            }
        }
        let handoff = members("handoff", &["from", "to", "mechanism"]);
        if handoff > 0 {
            let has_sides = outline.has("caller_provides") || outline.has("callee_produces");
            if has_sides || outline.has("version") && members("handoff", &["from", "to"]) > 0 {
                return found(SpecFile::ClawSpecHandoff, keys(has_sides));
            }
        }
        let pipeline = members("pipeline", &["skill_path", "trigger"]);
        if pipeline > 0 && outline.has("stages") && outline.members("stages").next().is_none() {
            return found(SpecFile::ClawSpecPipeline, keys(members("pipeline", &["skill_path"]) > 0));
        }
        None
    }

    /// What is made of a content, in a file that has such a name or another one.
    fn weigh(self, is_named: bool, around: &Around<'_>) -> Option<Detected> {
        let Content { file, strength } = self;
        let is_in_workspace = || match file {
            SpecFile::ClawSpecScenarios | SpecFile::ClawSpecHandoff | SpecFile::ClawSpecPipeline => {
                (around.workspace)() > Workspace::Unknown
            }
            SpecFile::KindLm
            | SpecFile::Settings
            | SpecFile::Script
            | SpecFile::Gateway
            | SpecFile::CliBench
            | SpecFile::CliBenchTasks
            | SpecFile::ClawSpec
            | SpecFile::ClawSpecLedger
            | SpecFile::ClawSpecBaselines => false,
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

/// Whether the tasks may be those of cli-bench: nothing is known of them yet, or one has a key that each of ours has.
fn holds_tasks(outline: &Outline<'_>) -> bool {
    let keys: Vec<&str> = outline.of_items("tasks").map(|entry| entry.key).collect();
    keys.is_empty() || keys.iter().any(|key| ["id", "intent", "assert"].contains(key))
}

/// Whether the scenarios are those of another tool: they neither act nor assert as ours do, and have keys of their own.
fn has_other_scenarios(outline: &Outline<'_>) -> bool {
    let scenario = Shape::of(SpecFile::ClawSpecScenarios).any_field("scenarios").and_then(|(_, list)| list.item());
    let known: Vec<&str> = scenario.iter().flat_map(|it| it.all_fields()).map(|field| field.name).collect();
    let is_known = |key: &str| known.contains(&key) || nearest(key, known.iter().copied()).is_some();
    !outline.has("target")
        && !outline.of_items("scenarios").any(|entry| {
            ["given", "when", "then"].iter().any(|step| entry.key == *step || nearest(entry.key, [*step]).is_some())
        })
        && !acts_and_claims(outline).any(|entry| entry.key != "expected" && entry.key != "steps")
        && outline.of_items("scenarios").any(|entry| !is_known(entry.key))
}

/// What is made of a name that other tools have as well, where the content says little.
fn by_name(file: SpecFile, path: &str, outline: &Outline<'_>, around: &Around<'_>) -> Option<Detected> {
    let found = |is_guess| Some(Detected { file, is_guess });
    if file == SpecFile::ClawSpecScenarios && has_other_scenarios(outline) && (around.workspace)() != Workspace::Target
    {
        return None;
    }
    let known = outline.keys.iter().filter(|entry| agrees(file, outline, entry.key)).count();
    let is_wordless = outline.keys.is_empty() && outline.items.is_empty();
    // Keys of other tools outweigh those that happen to be called like ours.
    let could_be = is_wordless && !outline.other || outline.items.is_empty() && known * 2 > outline.keys.len();
    let is_ours = match (around.workspace)() {
        // A file without any key may be half typed, or wrong, but whose it is is known.
        Workspace::Target => outline.keys.is_empty() || known > 0,
        Workspace::Settings if is_below_targets(path) => outline.keys.is_empty() || could_be,
        // Settings of ClawSpec say nothing of the files of other tools in the same repository.
        Workspace::Settings => is_wordless || could_be && has_one_of_its_own(file, outline),
        // The place that only ClawSpec looks at is the second sign, even where the format itself is missed by far.
        Workspace::Unknown if is_below_targets(path) && file == SpecFile::ClawSpecScenarios => {
            has_acts_or_claims(outline)
        }
        Workspace::Unknown => could_be && has_two_of_its_own(file, outline),
    };
    if is_ours {
        return found(false);
    }
    // Nothing is in it yet that another tool could have written.
    if matches!(file, SpecFile::Script | SpecFile::Gateway) && outline.keys.is_empty() && outline.items.is_empty() {
        return found(outline.other);
    }
    // The directories in which ClawSpec looks for contracts.
    (could_be && is_below_targets(path)).then(|| found(true)).flatten()
}

/// Whether a key is one of a kind of file, or nearly so, and holds what it must hold there.
fn agrees(file: SpecFile, outline: &Outline<'_>, key: &str) -> bool {
    let fields = Shape::of(file).all_fields();
    let names = || fields.iter().map(|field| field.name);
    let Some(name) = names().find(|name| *name == key).or_else(|| nearest(key, names())) else { return false };
    let is_version = |entry: &outline::Entry<'_>| ["", "1", "1.0"].contains(&entry.text());
    let Some(shape) = fields.iter().find(|field| field.name == name).map(|field| &field.shape) else { return false };
    let value = outline.entry(key).map_or("", |entry| entry.value);
    let is_mapping = |value: &str| value.is_empty() || value.starts_with(['{', '&', '*']);
    match shape.kind() {
        _ if name == "version" => outline.entry(key).is_some_and(is_version),
        Type::List => !value.starts_with('{') && outline.members(key).next().is_none(),
        Type::Mapping => {
            let holds_mappings = shape.map_value().is_some_and(|inner| inner.kind() == Type::Mapping);
            let are_mappings = || outline.members(key).all(|entry| is_mapping(entry.value));
            is_mapping(value) && outline.of_items(key).next().is_none() && (!holds_mappings || are_mappings())
        }
        Type::Text | Type::Integer | Type::Number | Type::Boolean | Type::Any => true,
    }
}

/// The kind that a file looks like which is none of ours: by its name, or by a content that says too little.
pub fn resembled(path: &str, text: &str) -> Option<SpecFile> {
    let content = Content::of(&Outline::of(text)).map(|content| content.file);
    content.or_else(|| of_path(path).map(|(Named::Surely(file) | Named::Perhaps(file))| file))
}

/// The keys that a file of a kind must have at its root, and a text has not.
pub fn lacking(file: SpecFile, text: &str) -> Vec<&'static str> {
    let outline = Outline::of(text);
    let required = Shape::of(file).all_fields().into_iter().filter(|field| field.need == Need::Required);
    required.map(|field| field.name).filter(|name| !outline.has(name)).collect()
}

/// Whether two keys are as only this kind of file has them. What says so under any name is known already.
fn has_two_of_its_own(file: SpecFile, outline: &Outline<'_>) -> bool {
    let has = |key: &str| outline.has(key) && agrees(file, outline, key);
    match file {
        SpecFile::ClawSpecLedger => has("waves"),
        SpecFile::ClawSpecBaselines => has("baselines") && has("version"),
        SpecFile::ClawSpecScenarios => has("scenarios") && (steps(outline) > 1 || has("version") && has("target")),
        SpecFile::ClawSpecHandoff => has("caller_provides") && has("callee_produces"),
        SpecFile::ClawSpecPipeline => {
            has("stages") && outline.of_items("stages").any(|it| ["handoff_contract", "produces"].contains(&it.key))
        }
        // It has no such key but `answers`, which others have as well, so its turns decide.
        SpecFile::Script => has_turns(outline),
        SpecFile::Gateway => has_runs(outline),
        SpecFile::KindLm | SpecFile::Settings | SpecFile::CliBench | SpecFile::CliBenchTasks | SpecFile::ClawSpec => {
            false
        }
    }
}

/// Whether the runs or the scores of a scripted gateway are in it, or are about to be.
fn has_runs(outline: &Outline<'_>) -> bool {
    let has = |key: &str, known: &[&str]| outline.of_items(key).any(|entry| known.contains(&entry.key));
    let is_unfilled = |key: &str| {
        let is_empty = |entry: &outline::Entry<'_>| matches!(entry.value, "" | "[]");
        outline.entry(key).is_some_and(is_empty)
            && outline.of_items(key).next().is_none()
            && outline.members(key).next().is_none()
    };
    has("runs", &["when", "steps"]) || has("scores", &["score"]) || is_unfilled("runs")
}

/// Whether a key is as only this kind of file has it, or nothing is in it yet.
fn has_one_of_its_own(file: SpecFile, outline: &Outline<'_>) -> bool {
    let entry = |key: &str| {
        let mut meant = outline.keys.iter().filter(|entry| entry.key == key || nearest(entry.key, [key]).is_some());
        meant.find(|entry| agrees(file, outline, entry.key))
    };
    let has = |key: &str| entry(key).is_some();
    let items = |key: &str| entry(key).into_iter().flat_map(|entry| outline.of_items(entry.key));
    let is_unfilled = |key: &str| {
        let is_empty = |entry: &outline::Entry<'_>| {
            matches!(entry.value, "" | "[]" | "{}")
                && outline.of_items(entry.key).next().is_none()
                && outline.members(entry.key).next().is_none()
        };
        entry(key).is_some_and(is_empty) && !outline.other
    };
    if outline.keys.len() == 1 && has("version") {
        return true;
    }
    match file {
        SpecFile::ClawSpecScenarios => {
            has("target")
                || has("scenarios") && has("version")
                || is_unfilled("scenarios")
                || entry("scenarios").is_some() && acts_and_claims(outline).any(|it| is_structured(it.value))
        }
        SpecFile::ClawSpecHandoff => ["handoff", "caller_provides", "callee_produces"].into_iter().any(has),
        SpecFile::ClawSpecPipeline => {
            let steps = ["agent", "produces", "handoff_contract", "requires_approval"];
            let is_own = |entry: &outline::Entry<'_>| match entry.key {
                "skill_path" | "estimated_duration" => true,
                // Elsewhere it is a list, and here a number.
                "stages" => entry.text().parse::<u32>().is_ok(),
                _ => false,
            };
            ["final_assertions", "pipeline_health"].into_iter().any(has)
                || is_unfilled("stages")
                || has("pipeline") && has("stages")
                || items("stages").any(|item| steps.contains(&item.key))
                || entry("pipeline").is_some_and(|it| outline.members(it.key).any(is_own))
        }
        SpecFile::ClawSpecLedger => has("waves"),
        SpecFile::ClawSpecBaselines => has("baselines"),
        SpecFile::Script => has_turns(outline),
        SpecFile::Gateway => has_runs(outline),
        SpecFile::KindLm | SpecFile::Settings | SpecFile::CliBench | SpecFile::CliBenchTasks | SpecFile::ClawSpec => {
            false
        }
    }
}

/// Whether a script has turns or answers, or room for them.
fn has_turns(outline: &Outline<'_>) -> bool {
    let acts = ["say", "run", "call", "fail"];
    let says = |key: &str, known: &[&str]| outline.of_items(key).any(|entry| known.contains(&entry.key));
    let is_unfilled = |key: &str| {
        let is_empty = |entry: &outline::Entry<'_>| matches!(entry.value, "" | "[]" | "{}");
        outline.entry(key).is_some_and(is_empty) && outline.of_items(key).next().is_none()
    };
    says("default", &acts)
        || says("answers", &["asked"])
        // One level deeper nothing is known of them.
        || is_unfilled("tasks")
        || ["default", "answers"].into_iter().any(|key| is_unfilled(key) && outline.members(key).next().is_none())
}

/// Whether a file that a pattern of the settings names is a scenario contract. A pattern such as `skills/**/*.yaml` names
/// contracts of other kinds as well, and files of other tools, in which ClawSpec finds no scenario.
fn could_be_scenarios(content: Option<Content>, name: Option<Named>, path: &str, outline: &Outline<'_>) -> bool {
    let file = SpecFile::ClawSpecScenarios;
    if content.is_some_and(|content| content.file != file) || !outline.items.is_empty() {
        return false;
    }
    if ["scenarios", "target"].into_iter().any(|key| outline.has(key)) {
        return true;
    }
    let is_other_by_name = name.is_some_and(|name| name != Named::Perhaps(file));
    let known = outline.keys.iter().filter(|entry| agrees(file, outline, entry.key)).count();
    // It may be half typed.
    !is_other_by_name && is_yaml(path) && (outline.keys.is_empty() || known * 2 > outline.keys.len())
}

/// How many of `when` and `then` the scenarios have as ClawSpec has them: elsewhere they are sentences.
fn steps(outline: &Outline<'_>) -> usize {
    let has = |step: &str, bracket: char| {
        let mut found = outline.of_items("scenarios").filter(|entry| entry.key == step);
        found.any(|entry| entry.value.is_empty() || entry.value.starts_with([bracket, '&', '*']))
    };
    usize::from(has("when", '{')) + usize::from(has("then", '['))
}

/// Whether a scenario says what is done or what must hold, be it in words that ClawSpec does not know.
fn has_acts_or_claims(outline: &Outline<'_>) -> bool {
    acts_and_claims(outline).next().is_some()
}

fn acts_and_claims<'o>(outline: &'o Outline<'_>) -> impl Iterator<Item = &'o outline::Entry<'o>> {
    let words = ["given", "when", "then", "steps", "assertions", "preconditions", "expected", "invoke"];
    outline.of_items("scenarios").filter(move |entry| words.contains(&entry.key))
}

/// Whether what is beside a key is the beginning of a mapping or a list, and no sentence.
fn is_structured(value: &str) -> bool {
    value.is_empty() || value.starts_with(['{', '[', '&', '*'])
}

/// Whether a path leads through a directory in which ClawSpec looks for contracts.
fn is_below_targets(path: &str) -> bool {
    let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
    directory.split('/').any(|name| ["skills", "agents"].contains(&name))
}

/// Whether a kind of file has a key.
fn is_known(file: SpecFile, key: &str) -> bool {
    Shape::of(file).any_field(key).is_some()
}

/// Whether a file beside the tests of a skill is called after its scenarios: `tests/smoke-scenarios.yaml`.
fn is_named_scenarios(path: &str) -> bool {
    let mut names = path.rsplit('/');
    let name = names.next().unwrap_or_default();
    names.next() == Some("tests") && [".yaml", ".yml"].iter().any(|end| name.ends_with(&format!("scenarios{end}")))
}

/// What the name and the place of a file say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// No other file has such a name.
    Surely(SpecFile),
    /// Other tools may have files of this name: the content must agree.
    Perhaps(SpecFile),
}

/// What the name and the place of a file say.
pub fn of_path(path: &str) -> Option<Named> {
    let mut names = path.rsplit('/');
    let (name, folder, above) = (names.next()?, names.next().unwrap_or_default(), names.next().unwrap_or_default());
    Some(match (above, folder, name) {
        (_, _, "kindlm.yaml" | "kindlm.yml") => Named::Surely(SpecFile::KindLm),
        (_, _, "speclens.yaml") => Named::Surely(SpecFile::Settings),
        (_, _, "cli-bench.yaml" | "cli-bench.yml") => Named::Surely(SpecFile::CliBench),
        (_, _, name) if name.len() > script::ENDING.len() && name.ends_with(script::ENDING) => {
            Named::Perhaps(SpecFile::Script)
        }
        (_, _, name) if name.len() > gateway_script::ENDING.len() && name.ends_with(gateway_script::ENDING) => {
            Named::Perhaps(SpecFile::Gateway)
        }
        (_, _, "clawspec.yaml") => Named::Surely(SpecFile::ClawSpec),
        (_, "tests", "scenarios.yaml") => Named::Perhaps(SpecFile::ClawSpecScenarios),
        (_, "tests", "pipeline.yaml") => Named::Perhaps(SpecFile::ClawSpecPipeline),
        (_, "tests", "baselines.yaml") => Named::Perhaps(SpecFile::ClawSpecBaselines),
        ("tests", "handoffs", name) if is_yaml(name) => Named::Perhaps(SpecFile::ClawSpecHandoff),
        ("tests", "pipelines", name) if is_yaml(name) => Named::Perhaps(SpecFile::ClawSpecPipeline),
        (_, _, "coverage-ledger.yaml") => Named::Perhaps(SpecFile::ClawSpecLedger),
        _ => return None,
    })
}

/// The directory of the target that a contract belongs to by its place: the one above `tests`.
pub fn target_of(path: &str) -> Option<&str> {
    let directory = path.rsplit_once('/')?.0;
    directory.strip_suffix("/tests").or_else(|| directory.rsplit_once("/tests/").map(|(before, _)| before))
}

/// The path of the target that a text names, as it is written.
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

/// What a comment before the first entry says the file is. A comment that can be obeyed comes before one with a slip.
pub fn said(text: &str) -> Option<Said> {
    let directives = Directive::all_in(head(text)).map(|(_, directive)| directive);
    let all: Vec<Said> = directives
        .filter(|directive| directive.verb == Some(Verb::Dialect))
        .filter_map(|directive| {
            let (word, _) = directive.words.into_iter().next()?;
            let kind = SpecFile::parse(&word).filter(|_| directive.slip.is_none());
            let near = || nearest(&word, SpecFile::ALL.iter().map(|file| file.as_str()));
            Some(Said { kind, meant: near().and_then(SpecFile::parse), word })
        })
        .collect();
    all.iter().find(|said| said.kind.is_some()).or(all.first()).cloned()
}

/// The lines before the first entry: comments, and what a YAML document begins with.
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

/// The kind of a dialect of which the root has the first key.
fn by_key_of(outline: &Outline<'_>, said: SpecFile) -> Option<SpecFile> {
    let clawspec = [
        ("scenarios", SpecFile::ClawSpecScenarios),
        ("target", SpecFile::ClawSpecScenarios),
        ("handoff", SpecFile::ClawSpecHandoff),
        ("pipeline", SpecFile::ClawSpecPipeline),
        ("stages", SpecFile::ClawSpecPipeline),
        ("waves", SpecFile::ClawSpecLedger),
        ("baselines", SpecFile::ClawSpecBaselines),
    ];
    let first = || clawspec.into_iter().find(|(key, _)| outline.has(key)).map(|(_, file)| file);
    match said {
        SpecFile::ClawSpec => first(),
        SpecFile::CliBench => (!outline.items.is_empty()).then_some(SpecFile::CliBenchTasks),
        SpecFile::KindLm
        | SpecFile::Settings
        | SpecFile::Script
        | SpecFile::Gateway
        | SpecFile::CliBenchTasks
        | SpecFile::ClawSpecScenarios
        | SpecFile::ClawSpecHandoff
        | SpecFile::ClawSpecPipeline
        | SpecFile::ClawSpecLedger
        | SpecFile::ClawSpecBaselines => None,
    }
}

#[cfg(test)]
mod tests;

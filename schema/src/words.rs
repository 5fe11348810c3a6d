//! Words: field types with a meaning. Strings of such a type are validated, completed, linked and looked up everywhere,
//! because the JSON Schema contains the meaning as a keyword:
//!
//! | keyword | value | the text is |
//! |---|---|---|
//! | `x-file` | `json-schema` or `any` | a path, relative to the suite's directory, with `/` |
//! | `x-pattern` | `ecmascript` or `python` | a regular expression, written without delimiters or flags |
//! | `x-searches` | `commands`, `secrets`, ... | next to `x-pattern`, in a format with several kinds of patterns: the searched text |
//! | `x-glob` | `true` | next to `x-file`: a path in which `*`, `?` and `[...]` are wildcards |
//! | `x-exists` | `directory`, `golden`, `soul` or empty | next to `x-file`: a path that must exist before a run, and the template for a new file |
//! | `x-inside` | `true` | next to `x-file`: a path inside the workspace |
//! | `x-above` | `tests` | next to `x-file`: a path relative to the directory above the one of this name, if the document is in such a directory, else to the directory of the document |
//! | `x-template` | `vars`, `clawspec` or `gateway` | a string in which `{{name}}` is replaced by a value |
//! | `x-refers` | `prompts`, `models`, `providers`, `tools` | a reference to a name in the file |
//! | `x-defines` | the same | the name of the thing that contains it; at a mapping, each key is one |
//! | `x-name` | `what`, `note`, `help`, `severity` | next to these two: words for a name that is duplicate or undefined; alone: a text that no other one at this place has |
//! | `x-shares` | `tags`, `agents`, `tools`, `targets`, `categories` | a name without a definition: the same string elsewhere in the suite or the workspace has the same meaning |
//!
//! More keywords are at objects and fields: `x-claims` (an unknown key below here is a claim that vanishes), `x-refuses` (the tool refuses an unknown key below here: the note;
//! `false` where it ignores it after all), `x-only`
//! (the sibling key without which the field has no effect) and `x-at-most` (the sibling key whose number, or else its
//! default, must be at least as great). `x-compared` is at texts, or lists or mappings of texts, that are compared or sent, where no other
//! keyword says so: `name` where only a plain name can be meant, `text` where typographic quotes may be, `output` where any
//! white space may be, too. `x-forbids` is at texts, or lists of texts, that must not occur: the place for patterns that
//! must not match, or nothing. `x-model` is at the ids of
//! models, such as `openai/gpt-4o`, and `x-model-of` at the name by which the provider in a sibling key knows a model.
//! `x-position` is at a number that no other item of the list has; `x-arguments` at a mapping of arguments of the tool
//! that a sibling key names, or, where it is empty, that the mapping belongs to. `x-needed` is at a field in the branch
//! of a schema that requires it: the reason. `x-unit` is the unit of a number whose name does not contain it:
//! `seconds`. `x-seen` is the kind of recorded evidence whose values are completed: its name, or a mapping of it to the keys
//! beside the field that name the file it is about. `x-looser` is what requires less than the field: the key beside it for which a part of its text is enough, or
//! the keys beside it with their values from strict to loose. `x-resolved` is the key that KindLM itself sets to the content of the field. `x-template` at a mapping
//! applies to every string in it. A type with keys allows no others, except with `x-open`.
//!
//! What is valid but wrong is declared, too. [`crate::declared`] reports it, so these need no rule:
//!
//! | keyword | at | value |
//! |---|---|---|
//! | `x-problems` | any value | a list of problems: `if` (a condition on the value, as in JSON Schema), `code`, `severity`, `message`, `note`, `help`, `name` (ends the message; problems that differ only in it are merged), `at` (the key below which is underlined), `underline` (`key`), `fix`, `unless-wrong`, `instead`; `{value}` is the underlined text, `{found}` the value in words |
//! | `x-non-empty` | a list, a mapping | with an empty one, nothing is checked: the help |
//! | `x-unique` | a list of texts | a text in it twice is a mistake: `what` it is, `note`, `ignore-case` |
//! | `x-literal` | a name, a path, or a list of them | wildcards are not expanded: `fails` or `passes` is the result of the assertion |
//! | `x-time` | a string | must be a time once its variables are expanded |
//! | `x-in-quotes` | a number | may be a string that contains a number |
//! | `x-no-effect-with` | a field | the sibling keys that replace it |
//! | `x-first-of` | a mapping | keys of which only the first one has an effect |
//! | `x-expected` | a mapping | `keys` that are not required but should be set, and a `note` that says why |
//!
//! Other names of a key are declared at the key, or at the type that has the key's name. They are used by fixes,
//! completion and the reference:
//!
//! | keyword | at | value |
//! |---|---|---|
//! | `x-synonyms` | a field, an assertion type | names that certainly have the same meaning, so the fix that renames them is safe |
//! | `x-other-names` | the same | names that most likely have the same meaning |
//! | `x-advice` | a mapping, for its keys; a scalar, for its values | names without a single equivalent: `names`, and advice: `message`, `note`, `help`; `explains` names the other keys, missing or unknown, that have the same cause; `form` and `key` say what the key means in another form of the mapping; `idle` means that it is only unnecessary; `if` is a condition on the value |
//! | `x-tags` | a mapping whose only key names its form | keys under which other formats name that form |

mod sense;

/// Declares words: string types, each with its own schema.
macro_rules! words {
    ($($(#[$doc:meta])* $name:ident = $schema:tt;)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub String);

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!($schema)
            }
        }

        impl std::ops::Deref for $name {
            type Target = str;

            fn deref(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str(&self.0)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> $name {
                $name(text.to_owned())
            }
        }
    )+};
}
pub(crate) use words;

/// Pattern for the start of an address. The rest is for a parser.
pub(crate) const URL_BEGINNING: &str = "^\\s*(?:(?:[hH][tT][tT][pP][sS]?|[wW][sS][sS]?|[fF][tT][pP]):[/\\\\]*[^/\\\\\\s?#]|(?![hH][tT][tT][pP][sS]?:|[wW][sS][sS]?:|[fF][tT][pP]:)[A-Za-z][A-Za-z0-9+.\\-]*:)";

words! {
    /// A string that must not be empty.
    Name = { "type": "string", "minLength": 1 };
    /// A path below the suite's directory. The field defines the kind of file.
    FilePath = { "type": "string", "x-file": "any" };
    /// A label to select tests by.
    Tag = { "type": "string", "x-shares": "tags" };
    /// A label to select scenarios by, which must not be empty.
    ScenarioTag = { "type": "string", "minLength": 1, "x-shares": "tags" };
    /// The id or path of an agent, which must not be empty.
    AgentName = { "type": "string", "minLength": 1, "x-shares": "agents" };
    /// The exact name of a tool, which must not be empty.
    ToolName = { "type": "string", "minLength": 1, "x-shares": "tools", "x-seen": "tools" };
    /// A regular expression as ECMAScript reads it, without delimiters and flags.
    Pattern = { "type": "string", "x-pattern": "ecmascript" };
    /// A regular expression whose matches are masked.
    SecretPattern = { "type": "string", "x-pattern": "ecmascript", "x-searches": "secrets" };
    /// A shell command.
    Shell = { "type": "string", "x-shell": true };
    /// A string that must not be empty, in which `{{name}}` is replaced by the value of a variable.
    Template = { "type": "string", "minLength": 1, "x-template": "vars" };
    /// A string that must occur in the output.
    RequiredText = { "type": "string", "x-seen": "output", "x-problems": [{
        "if": { "const": "" }, "code": "vacuous-claim", "help": "remove it",
        "message": "every output contains the empty string, so this item checks nothing",
    }] };
    /// A string that must not occur in the output.
    ForbiddenText = { "type": "string", "x-problems": [{
        "if": { "const": "" }, "code": "contradiction", "help": "remove it",
        "message": "every output contains the empty string, so this expectation always fails",
    }] };
    /// A string of a scripted gateway that must not be empty, in which `{{name}}` is replaced by a value of the run.
    ScriptText = { "type": "string", "minLength": 1, "x-template": "gateway" };
    /// The path of a file that a scripted gateway writes.
    ScriptFile = { "type": "string", "minLength": 1, "x-file": "any", "x-inside": true, "x-template": "gateway" };
    /// An address that begins with a scheme, such as `https:`.
    Url = { "type": "string", "pattern": URL_BEGINNING };
    /// The id of a model of the file.
    ModelName = { "type": "string", "x-defines": "models", "minLength": 1 };
    /// A reference to the id of a model of the file.
    ModelReference = { "type": "string", "x-refers": "models" };
    /// A reference to a prompt, which is named by its key.
    PromptReference = { "type": "string", "x-refers": "prompts" };
    /// The name of a test.
    TestName = { "type": "string", "x-defines": "tests", "minLength": 1 };
    /// The name of a turn of a conversation.
    TurnName = { "type": "string", "x-defines": "turns", "minLength": 1 };
    /// The id of a task.
    TaskName = { "type": "string", "x-defines": "tasks", "minLength": 1 };
    /// The name of a scenario.
    ScenarioName = { "type": "string", "x-defines": "scenarios", "minLength": 1 };
    /// The name of a stage of a pipeline.
    StageName = { "type": "string", "x-defines": "stages", "minLength": 1 };
}

pub(crate) fn begins_like_url(text: &str) -> bool {
    static BEGINNING: std::sync::LazyLock<Option<fancy_regex::Regex>> =
        std::sync::LazyLock::new(|| fancy_regex::Regex::new(URL_BEGINNING).ok());
    BEGINNING.as_ref().is_none_or(|beginning| beginning.is_match(text).unwrap_or(true))
}

pub fn plural(count: usize, word: &str) -> String {
    if count == 1 { format!("1 {word}") } else { format!("{count} {word}s") }
}

/// Returns the candidate that is most likely meant by `word`: the one with the fewest changed letters, at most two
/// fifths of the word, and the first one of several. Case, `_` and `-` are ignored.
/// Excludes candidates of opposite sense (`maxTokens` for `minTokens`) or with a different number.
pub fn nearest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    // `!` negates the rest.
    if word.trim_start().starts_with('!') {
        return None;
    }
    let written = word;
    let word = sense::squashed(word);
    let (length, letters) = outline(&word);
    // Only candidates that are at least this similar matter.
    let mut limit = match length {
        0 => return None,
        1..=3 => 1,
        _ => (length * 2 / 5).max(2),
    };
    let mut best = None;
    for candidate in candidates.into_iter().filter(|candidate| !candidate.is_empty()) {
        // Most candidates are excluded quickly.
        let (other_length, other_letters) = outline(candidate);
        if are_farther((length, letters), (other_length, other_letters), limit) {
            continue;
        }
        let distance = strsim::osa_distance(&word, &sense::squashed(candidate));
        if distance > limit || distance >= other_length {
            continue;
        }
        if distance > 0 && !sense::differ_by_slips(written, candidate, false) {
            continue;
        }
        best = Some(candidate);
        match distance.checked_sub(1) {
            Some(nearer) => limit = nearer,
            None => break,
        }
    }
    best
}

/// Returns the number of letters of a word, ignoring differences in spelling, and a bit mask of the kinds of letters.
fn outline(word: &str) -> (usize, u64) {
    let add = |(count, kinds): (usize, u64), letter: char| (count + 1, kinds | 1 << (u32::from(letter) % 64));
    if word.is_ascii() {
        let letters = word.bytes().filter(|letter| !matches!(letter, b'_' | b'-' | b' '));
        return letters.map(|letter| char::from(letter.to_ascii_lowercase())).fold((0, 0), add);
    }
    sense::squashed(word).chars().fold((0, 0), add)
}

/// Finds the names that are meant by many words, in one long list.
/// Comparing thousands of names with thousands of words would take too long: after a number of comparisons, no more
/// names are found.
#[derive(Debug)]
pub struct Search {
    looks_left: usize,
}

impl Default for Search {
    fn default() -> Search {
        Search { looks_left: 200_000 }
    }
}

impl Search {
    pub fn nearest<'c>(&mut self, word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
        if self.looks_left == 0 {
            return None;
        }
        nearest(word, candidates.into_iter().inspect(|_| self.looks_left = self.looks_left.saturating_sub(1)))
    }
}

/// Returns the file name that is most likely meant by another one. A common extension does not count as
/// similarity.
pub fn nearest_file<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let split = |name: &'_ str| name.rfind('.').filter(|dot| *dot > 0).unwrap_or(name.len());
    let (stem, ending) = name.split_at(split(name));
    let candidates = candidates.into_iter().filter(|candidate| {
        let (other, other_ending) = candidate.split_at(split(candidate));
        let is_word_like = |one: &str, other: &str| one.eq_ignore_ascii_case(other) || nearest(one, [other]).is_some();
        let is_like = |one: &str, other: &str| {
            // With the same number of words, each must be similar to its counterpart: files often share some words.
            let words = |name: &str| name.split(['-', '_', '.', ' ']).map(str::to_owned).collect::<Vec<_>>();
            let (ours, theirs) = (words(one), words(other));
            match ours.len() == theirs.len() {
                true => ours.iter().zip(&theirs).all(|(one, other)| is_word_like(one, other)),
                false => is_word_like(one, other),
            }
        };
        is_like(stem, other) && (is_like(ending, other_ending) || stem == other)
    });
    candidates.min_by_key(|candidate| strsim::osa_distance(name, candidate))
}

/// Returns the candidate whose opposite a word expresses: `expected` for `unexpected`.
pub(crate) fn opposite_of<'c>(word: &str, candidates: &[&'c str]) -> Option<&'c str> {
    sense::opposite_of(word, candidates)
}

/// Returns the words of a name, in lower case: `max` and `ms` for `maxMs`.
pub fn parts(name: &str) -> Vec<String> {
    sense::words(name)
}

/// Returns the similarity of two names: whether both are negative or both are not, and the number of common words.
pub(crate) fn likeness(one: &str, other: &str) -> (bool, usize) {
    (sense::is_negative(one) == sense::is_negative(other), sense::common_words(one, other))
}

/// Whether a name contains a negation, as in `file_not_exists`.
pub(crate) fn is_negative(name: &str) -> bool {
    sense::is_negative(name)
}

/// Whether two names are about different things of one kind: `input_path` and `output_path`.
pub(crate) fn are_siblings(one: &str, other: &str) -> bool {
    sense::are_siblings(one, other)
}

/// Returns the candidate that negates what a word negates: `not_expected` for `unexpected`.
pub(crate) fn same_negation<'c>(word: &str, candidates: &[&'c str]) -> Option<&'c str> {
    sense::same_negation(word, candidates)
}

/// Whether a word certainly means the name: one misspelling (two in a long word) or another spelling, and
/// no other candidate is as similar. False for words of opposite sense.
pub fn is_surely<'c>(word: &str, name: &str, candidates: impl IntoIterator<Item = &'c str>) -> bool {
    if !sense::differ_by_slips(word, name, true) {
        return false;
    }
    let (length, letters) = outline(word);
    let word = sense::squashed(word);
    let distance = |other: &str| strsim::osa_distance(&word, &sense::squashed(other));
    let limit = match length {
        0..=3 => 0,
        4..=7 => 1,
        _ => 2,
    };
    let own = distance(name);
    let is_farther = |other: &str| are_farther((length, letters), outline(other), own) || distance(other) > own;
    own <= limit && candidates.into_iter().all(|other| other == name || is_farther(other))
}

/// Whether the outlines of two words alone show that more than `limit` letters differ. A distance is at least the
/// difference in length, and a change of one letter adds or removes at most two kinds of letters.
fn are_farther(one: (usize, u64), other: (usize, u64), limit: usize) -> bool {
    one.0.abs_diff(other.0) > limit || (one.1 ^ other.1).count_ones() as usize > 2 * limit
}

/// Returns alternative names in backticks: "`a`, `b` or `c`", "`a`, `b` or 3 others".
pub fn listed<'c>(names: impl IntoIterator<Item = &'c str>) -> String {
    joined(names, "or", SHOWN)
}

/// Returns the first few of many alternative names in backticks: "`a`, `b`, `c` or 8 others".
pub(crate) fn a_few<'c>(names: impl IntoIterator<Item = &'c str>) -> String {
    joined(names, "or", 3)
}

/// Returns a list of names in backticks: "`a`, `b` and `c`".
pub(crate) fn all_of<'c>(names: impl IntoIterator<Item = &'c str>) -> String {
    joined(names, "and", SHOWN)
}

/// Number of names that are shown of many.
const SHOWN: usize = 8;

fn joined<'c>(names: impl IntoIterator<Item = &'c str>, word: &str, shown: usize) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    // The count of one or two names would be as long as the names.
    if names.len() <= shown + 2 {
        return sentence(&names, word);
    }
    let first: Vec<String> = names[..shown].iter().map(|name| format!("`{name}`")).collect();
    let others = if word == "or" { "others" } else { "more" };
    format!("{} {word} {} {others}", first.join(", "), names.len() - shown)
}

/// Returns all names in backticks, with a word before the last: "`a`, `b` or `c`".
pub(crate) fn sentence(names: &[&str], word: &str) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.as_slice() {
        [first @ .., last] if !first.is_empty() => format!("{} {word} {last}", first.join(", ")),
        _ => quoted.concat(),
    }
}

/// Returns a text as one word of a shell command, quoted if necessary.
pub fn shell_word(text: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "._-/…".contains(letter);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

/// Returns a text as lower-case letters and digits, with `-` between words.
pub fn slug(text: &str) -> String {
    let lower = text.to_lowercase();
    let words = lower.split(|letter: char| !letter.is_ascii_lowercase() && !letter.is_ascii_digit());
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_ends() {
        let names: Vec<String> = (0..1000).map(|number| format!("model-{number}")).collect();
        let names = || names.iter().map(String::as_str);
        let mut search = Search::default();
        let found = (0..1000).filter(|number| search.nearest(&format!("modle-{number}"), names()).is_some()).count();
        assert_eq!(found, 200);
    }

    #[test]
    fn only_a_slip_is_sure() {
        let names = ["contains", "notContains", "maxLength"];
        assert!(is_surely("containss", "contains", names));
        assert!(is_surely("max_length", "maxLength", names));
        assert!(is_surely("maxlenght", "maxLength", names));
        for (written, name) in [
            ("shouldNowCall", "shouldNotCall"),
            ("nexit_code", "exit_code"),
            ("iContains", "contains"),
            ("dallowed_tools", "allowed_tools"),
            ("run", "ran"),
            ("maxNs", "maxMs"),
            ("timeout_ms", "timeout"),
        ] {
            assert!(!is_surely(written, name, [name]), "{written}");
        }
        assert!(!is_surely("maxLn", "maxLength", names));
        // Equally similar to both.
        assert!(!is_surely("tempo", "temp", ["temp", "tempos"]));
        assert!(!is_surely("api", "app", ["app"]));
    }

    #[test]
    fn the_nearest_name_forgives_case_and_separators() {
        let keys = ["maxTokens", "temperature", "topP"];
        assert_eq!(nearest("max_tokens", keys), Some("maxTokens"));
        assert_eq!(nearest("temprature", keys), Some("temperature"));
        assert_eq!(nearest("seed", keys), None);
        assert_eq!(nearest("", keys), None);
        assert_eq!(nearest("ab", ["cd"]), None);
    }

    #[test]
    fn files_are_alike_word_by_word() {
        let names = ["atlas-to-lumina.yaml", "answer.schema.json", "01-basics.yaml"];
        let near = |name| nearest_file(name, names);
        assert_eq!(near("atlas-to-quill.yaml"), None);
        assert_eq!(near("atlas-to-lumin.yaml"), Some(names[0]));
        assert_eq!(near("answer.schema.yaml"), Some(names[1]));
        assert_eq!(near("other.schema.json"), None);
        assert_eq!(near("01_basics.yml"), Some(names[2]));
        assert_eq!(near("1-basics.yaml"), Some(names[2]));
        assert_eq!(near("nope.yaml"), None);
    }

    #[test]
    fn every_text_is_one_word_of_a_shell() {
        for (text, word) in [
            ("--run", "--run"),
            ("out/a.md", "out/a.md"),
            ("", "''"),
            ("it's $HOME", r"'it'\''s $HOME'"),
            ("a b", "'a b'"),
            ("~", "'~'"),
            ("a\nb", "'a\nb'"),
        ] {
            assert_eq!(shell_word(text), word);
        }
    }

    #[test]
    fn names_are_listed_as_in_a_sentence() {
        assert_eq!(listed(["a"]), "`a`");
        assert_eq!(listed(["a", "b", "c"]), "`a`, `b` or `c`");
        let names = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11"];
        assert_eq!(listed(names[..10].to_vec()), "`1`, `2`, `3`, `4`, `5`, `6`, `7`, `8`, `9` or `10`");
        assert_eq!(listed(names), "`1`, `2`, `3`, `4`, `5`, `6`, `7`, `8` or 3 others");
        assert_eq!(all_of(names), "`1`, `2`, `3`, `4`, `5`, `6`, `7`, `8` and 3 more");
    }

    #[test]
    fn an_address_needs_a_scheme_and_web_addresses_a_host() {
        let schema = serde_json::to_value(schemars::schema_for!(Url)).unwrap();
        let validator = jsonschema::validator_for(&schema).unwrap();
        for (address, valid) in [
            ("https://proxy.example/v1", true),
            ("localhost:11434", true),
            ("mailto:a@b", true),
            ("not a url", false),
            ("/x", false),
            ("x", false),
            ("http://", false),
            ("", false),
        ] {
            assert_eq!(validator.is_valid(&address.into()), valid, "{address}");
        }
    }
}

//! Template syntaxes: the names with a value in a format's templates (`{{name}}`).
//!
//! The schema keyword `x-template` selects the syntax for a string.

use crate::{
    format::Dialect,
    gateway_script,
    json_schema::SpecFile,
    template::{KnownValue, Placeholder, TemplateSyntax, Variable, placeholders, trimmed_placeholders},
};

pub fn syntaxes() -> impl Iterator<Item = &'static TemplateSyntax> {
    Dialect::all().flat_map(|dialect| dialect.templates()).copied().chain([&gateway_script::SYNTAX])
}

/// Returns the names with a value in a kind of file, for the syntax `word`; empty if the author defines them.
pub fn variables(word: &str, file: SpecFile) -> Vec<&'static Variable> {
    let known = syntax(word).into_iter().flat_map(|syntax| syntax.variables);
    known.filter(|variable| variable.is_in(file.as_str())).collect()
}

/// Returns the names whose value is known before a run, in all syntaxes.
pub fn known_values() -> impl Iterator<Item = (&'static str, KnownValue)> {
    syntaxes().flat_map(|syntax| syntax.known_values).copied()
}

pub fn allows_blanks(word: &str) -> bool {
    syntax(word).is_some_and(|syntax| syntax.allows_blanks)
}

pub fn syntax(word: &str) -> Option<&'static TemplateSyntax> {
    syntaxes().find(|syntax| syntax.word == word)
}

pub fn placeholders_of<'t>(word: &str, text: &'t str) -> Vec<Placeholder<'t>> {
    if allows_blanks(word) { trimmed_placeholders(text) } else { placeholders(text) }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::*;

    #[track_caller]
    fn check(word: &str, text: &str, expected: &[(&str, Range<usize>)]) {
        let found = placeholders_of(word, text);
        let seen: Vec<(&str, Range<usize>)> = found.iter().map(|found| (found.name, found.token())).collect();
        assert_eq!(seen, expected, "{word}: {text}");
        for found in found {
            assert_eq!(&text[found.range()], found.text);
            assert_eq!(&text[found.token()], found.name);
        }
    }

    #[test]
    fn where_the_author_chooses_names_blanks_count() {
        check(
            "vars",
            "a {{b}} {{c.d_1}}{{e}} {{ f }} {{g-h}} {{}} {{é}} {{",
            &[("b", 4..5), ("c.d_1", 10..15), ("e", 19..20)],
        );
        check("vars", "{{{a}}} {{b} }}", &[("a", 3..4)]);
        assert!(placeholders("{{env.HOME}}")[0].is_reserved());
    }

    #[test]
    fn elsewhere_blanks_around_a_name_do_not_count() {
        check(
            "clawspec",
            "{{today}}/{{ now }} {{ }} {x} {{}} {{{run_id}}}",
            &[("today", 2..7), ("now", 13..16), ("", 23..23), ("run_id", 38..44)],
        );
    }

    #[test]
    fn variables_name_kinds_of_files() {
        let named = syntaxes().flat_map(|syntax| syntax.variables).flat_map(|variable| variable.files);
        named.for_each(|name| assert!(SpecFile::parse(name).is_some(), "{name}"));
    }

    #[test]
    fn every_schema_names_a_filling_that_there_is() {
        fn words(schema: &serde_json::Value, found: &mut Vec<String>) {
            match schema {
                serde_json::Value::Object(keywords) => {
                    found.extend(keywords.get("x-template").and_then(|word| word.as_str()).map(str::to_owned));
                    keywords.values().for_each(|schema| words(schema, found));
                }
                serde_json::Value::Array(items) => items.iter().for_each(|schema| words(schema, found)),
                _ => {}
            }
        }
        let mut found = Vec::new();
        SpecFile::ALL.iter().for_each(|file| words(file.schema(), &mut found));
        found.sort();
        found.dedup();
        let mut known: Vec<_> = syntaxes().map(|syntax| syntax.word).collect();
        known.sort_unstable();
        assert_eq!(found, known);
    }
}

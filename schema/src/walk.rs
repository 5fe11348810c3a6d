//! A single pass over a part of a document, which visits each value with its schema. The rules that all formats
//! share check the values here.

mod value;
mod visit;

use crate::{
    declared,
    document::NodeRef,
    files::Files,
    finding::Report,
    format::Format,
    json_schema::SpecFile,
    pattern::Pattern,
    rules::{
        ambiguous_scalar::{number, stray_sign, yaml_1_1},
        contradiction, invalid_path, invalid_pattern, invalid_value, missing_file, missing_variable, pasted_secret,
        placeholder, shell_quoting,
        suspicious_pattern::{self, compared, escape, literal},
        syntax, unknown_reference, unquoted_template,
        wrong_type::missing_space,
    },
    shape::{Shape, Word},
    validate::Definition,
};

use value::Meaning;
pub(crate) use value::Value;
use visit::each;

/// Rules about a value alone, as it is written.
const OF_VALUES: &[fn(&Value<'_, '_>, &mut Report)] =
    &[placeholder::check, compared::check, stray_sign::check, literal::check];

/// Rules about a value in a kind of file.
const OF_VALUES_IN: &[fn(&Value<'_, '_>, SpecFile, &mut Report)] = &[number::check, pasted_secret::check];

/// Applies the rules that all formats share to a part of a document.
pub(crate) fn check(
    node: NodeRef<'_>,
    definition: Definition,
    format: Option<&dyn Format>,
    files: &dyn Files,
    report: &mut Report,
) {
    let file = definition.file();
    let is_filled = Meaning::of(file).is_filled;
    let is_settings = file.is_settings();
    each(node, definition, &mut |value| {
        if value.is_own() {
            missing_space::check(value, report);
            escape::check(value, report);
            syntax::check(value, file, report);
        }
        if let Some(format) = format.filter(|_| value.may_mean) {
            declared::check(value, (file, format), files, report);
        }
        if is_settings {
            return;
        }
        if value.is_own() {
            OF_VALUES_IN.iter().for_each(|check| check(value, file, report));
            OF_VALUES.iter().for_each(|check| check(value, report));
            if is_filled {
                missing_variable::check(value, file, report);
                unquoted_template::check(value, report);
            }
            if let Some(format) = format {
                yaml_1_1::check(value, format, report);
                format.report_value(value, report);
            }
        }
        if value.may_mean {
            check_meaning(value, format, files, report);
        }
    });
}

/// Applies the rules for what the schema says of a value beyond its type.
fn check_meaning(value: &Value<'_, '_>, format: Option<&dyn Format>, files: &dyn Files, report: &mut Report) {
    contradiction::check_bounds(value, report);
    if let Some(format) = format {
        unknown_reference::check_shared(value, format, files, report);
    }
    if value.shape().is_some_and(Shape::is_url) {
        invalid_value::check_url(value, report);
    }
    if value.shape().is_some_and(Shape::is_shell) {
        shell_quoting::check_paths(value, report);
    }
    match (value.word(), format) {
        (Some(Word::Pattern(flavour)), Some(format)) => {
            let usage = format.pattern_use(value.shape().map(Shape::searches).unwrap_or_default());
            let Some(pattern) = Pattern::of(value, flavour, usage) else { return };
            invalid_pattern::check(&pattern, format, report);
            suspicious_pattern::check(&pattern, report);
            format.report_pattern(&pattern, report);
        }
        (Some(Word::File(kind)), _) => {
            invalid_path::check(value, report);
            if let Some(format) = format {
                missing_file::check(value, kind, format, files, report);
            }
        }
        (Some(Word::Pattern(_) | Word::Template(_) | Word::Refers(_) | Word::Defines(_) | Word::Shell) | None, _) => {}
    }
}

/// Collects the keywords of a kind of file, once.
pub(crate) fn prepare(file: SpecFile) {
    Meaning::of(file);
}

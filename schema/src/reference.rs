//! Generates the reference in Markdown: every field of every kind of file, and every problem. It uses the documentation
//! that the editor shows.

use std::{collections::HashMap, fmt::Write};

use crate::{
    format::Dialect,
    json_schema::SpecFile,
    problem::{Code, examples},
    quoting::show,
    shape::{Field, Need, Shape, Type, Word},
    template_syntax::syntaxes,
    words::sentence,
};

pub fn reference() -> String {
    let mut out = String::from(
        "# Reference\n\nGenerated from the types in `schema/src`: edit their doc comments, not this file.\n\n",
    );
    for file in SpecFile::ALL {
        let heading = file.heading();
        write(&mut out, format_args!("- [{heading}](#{})\n", anchor(&heading)));
    }
    write(&mut out, format_args!("- [{TEMPLATES}](#{})\n- [Problems](#problems)\n", anchor(TEMPLATES)));
    let mut written = HashMap::new();
    for file in SpecFile::ALL {
        file_reference(*file, &mut written, &mut out);
    }
    templates(&mut out);
    out.push_str("\n## Problems\n\nEach kind of problem has a code. `speclens.yaml` sets its severity:\n\n");
    out.push_str("```yaml\nseverity:\n  unused: off\n  no-claims: error\n```\n");
    for code in Code::ALL {
        write(&mut out, format_args!("\n{}", problem_page(*code)));
    }
    out
}

const TEMPLATES: &str = "Template variables";

/// Writes the table of template variables.
fn templates(out: &mut String) {
    write(
        out,
        format_args!(
            "\n## {TEMPLATES}\n\nSome strings can contain template variables: `{{{{name}}}}` is replaced by a value before the string is used.\n"
        ),
    );
    for syntax in syntaxes() {
        write(out, format_args!("\n### {}\n\n{}\n", syntax.texts, syntax.docs));
        if syntax.variables.is_empty() {
            continue;
        }
        out.push_str("\n| variable | value | files |\n|---|---|---|\n");
        for variable in syntax.variables {
            let files: Vec<String> =
                variable.files.iter().filter_map(|name| Some(SpecFile::parse(name)?.heading())).collect();
            write(out, format_args!("| `{{{{{}}}}}` | {} | {} |\n", variable.name, variable.docs, files.join(", ")));
        }
    }
}

/// Returns the line of the reference, from 0, that describes a key: `path` names its mapping, `tag` the form of
/// that mapping. Without a key, returns the line of the mapping itself.
pub fn line_of(
    reference: &str,
    file: SpecFile,
    path: &str,
    tag: Option<(&str, &str)>,
    key: Option<&str>,
) -> Option<usize> {
    let lines: Vec<&str> = reference.lines().collect();
    let find = |from: usize, wanted: &str| Some(from + lines.get(from..)?.iter().position(|line| *line == wanted)?);
    let section = find(0, &format!("## {}", file.heading()))?;
    let end =
        lines[section + 1..].iter().position(|line| line.starts_with("## ")).map_or(lines.len(), |at| section + 1 + at);
    // Content that several files or places share is written once, under one of the places with the same end.
    let form = tag.and_then(|(name, value)| find(0, &format!("#### `{name}: {value}`")));
    let own = match form {
        Some(form) => Some(form),
        None if path.is_empty() => Some(section),
        None => find(section, &format!("### `{path}`")).filter(|at| *at < end),
    };
    let last = path.rsplit('.').next().unwrap_or_default();
    let is_alike = |line: &str| line.starts_with("### `") && line.ends_with(&format!("{last}`"));
    let alike = (section..end).filter(|at| form.is_none() && !path.is_empty() && is_alike(lines[*at]));
    let row_below = |at: usize| {
        let row = format!("| `{}` |", key?);
        let table = lines[at + 1..].iter().take_while(|line| !line.starts_with('#'));
        Some(at + 1 + table.into_iter().position(|line| line.starts_with(&row))?)
    };
    own.into_iter().chain(alike).find_map(row_below).or(own).or(Some(section))
}

pub(crate) fn problem_page(code: Code) -> String {
    let severity = code.severity().as_str();
    let unless = if code.is_always_an_error() { "not configurable" } else { "unless configured otherwise" };
    let example: String = examples(code).iter().map(|example| format!("\n{}", example.markdown())).collect();
    format!("### {}\n\n*{severity}, {unless}*\n\n{}\n{example}", code.as_str(), docs(code.docs()))
}

/// Definitions of a format that are already written, by name and documentation.
struct Written {
    file: SpecFile,
    /// File and path where each definition is written.
    places: HashMap<&'static str, (SpecFile, String)>,
    /// Path at which each definition of this file is written, before or after it is written.
    homes: HashMap<&'static str, String>,
}

impl Written {
    /// Returns the place where a definition is written, as Markdown.
    fn place(&self, name: &str) -> Option<String> {
        let (file, path) = self.places.get(name)?;
        let heading = file.heading();
        Some(match *file == self.file {
            true => format!("`{path}`"),
            false => format!("`{path}` in [{heading}](#{})", anchor(&heading)),
        })
    }

    fn add(&mut self, name: &'static str, path: &str) {
        self.places.entry(name).or_insert_with(|| (self.file, path.to_owned()));
    }
}

/// `written` contains the definitions of each format that are already written, with their places.
fn file_reference(
    file: SpecFile,
    written: &mut HashMap<(Option<Dialect>, &'static str), (SpecFile, String)>,
    out: &mut String,
) {
    let root = Shape::of(file);
    write(out, format_args!("\n## {}\n\n{}\n", file.heading(), root.docs().unwrap_or_default()));
    // Definitions in an earlier file of the same format are not repeated.
    let of_the_format = written.iter().filter(|((dialect, _), _)| *dialect == file.dialect());
    let places = of_the_format.map(|((_, name), place)| (*name, place.clone())).collect();
    let item = root.item();
    let homes = homes(item.clone().unwrap_or_else(|| root.clone()), &places);
    let mut own = Written { file, places, homes };
    match item.as_ref().and_then(|item| own.place(item.docs()?)) {
        Some(place) => write(out, format_args!("\nEach item has the same fields as {place}.\n")),
        None => match item {
            Some(item) => mapping(&item, "[]", &mut own, out),
            None => mapping(&root, "", &mut own, out),
        },
    }
    written.extend(own.places.into_iter().map(|(name, place)| ((file.dialect(), name), place)));
}

/// Returns the path at which each definition of a file is written: the shortest, and of several that of a required
/// field. Definitions that an earlier file of the format has are omitted.
fn homes(root: Shape, earlier: &HashMap<&'static str, (SpecFile, String)>) -> HashMap<&'static str, String> {
    let mut homes = HashMap::new();
    let mut level = vec![(root, String::new())];
    while !level.is_empty() {
        let mut next = Vec::new();
        for (shape, path) in &level {
            let forms = shape.variants().into_iter().flat_map(|variant| variant.shape.fields(None));
            for field in shape.fields(None).into_iter().chain(forms) {
                let is_required = field.need == Need::Required;
                let mut found = Vec::new();
                mappings_of(field.shape, join(path, field.name), &mut found);
                next.extend(found.into_iter().map(|(shape, path)| (is_required, shape, path)));
            }
        }
        next.sort_by_key(|(is_required, ..)| !is_required);
        next.retain(|(_, shape, path)| match shape.definition() {
            Some(name) if earlier.contains_key(name) || homes.contains_key(name) => false,
            Some(name) => homes.insert(name, path.clone()).is_none(),
            None => true,
        });
        level = next.into_iter().map(|(_, shape, path)| (shape, path)).collect();
    }
    homes
}

fn mappings_of(shape: Shape, path: String, found: &mut Vec<(Shape, String)>) {
    if let Some(item) = shape.item() {
        mappings_of(item, format!("{path}[]"), found);
    } else if let Some(value) = shape.map_value() {
        mappings_of(value, format!("{path}.*"), found);
    } else if shape.kind() == Type::Any {
        found.extend(shape.variants().into_iter().map(|variant| (variant.shape, path.clone())));
    } else if shape.kind() == Type::Mapping {
        found.push((shape, path));
    }
}

fn anchor(heading: &str) -> String {
    let kept = heading.to_lowercase();
    kept.chars()
        .filter(|sign| sign.is_alphanumeric() || "-_ ".contains(*sign))
        .map(|sign| if sign == ' ' { '-' } else { sign })
        .collect()
}

/// Writes a table of a mapping's fields, and then the nested mappings.
fn mapping(shape: &Shape, path: &str, written: &mut Written, out: &mut String) {
    let fields = shape.fields(None);
    if fields.is_empty() || (shape.is_open() && shape.map_value().is_some()) {
        return;
    }
    if !path.is_empty() {
        write(out, format_args!("\n### `{path}`\n"));
        if let Some(docs) = shape.type_docs().or_else(|| shape.docs()) {
            write(out, format_args!("\n{docs}\n"));
            written.add(docs, path);
        }
    }
    table(&fields, out);
    reported(shape, &fields, out);
    forms(shape, path, written, out);
    for field in &fields {
        below(&field.shape, &join(path, field.name), written, out);
    }
}

fn table(fields: &[Field], out: &mut String) {
    out.push_str("\n| key | type | default | description |\n|---|---|---|---|\n");
    for field in fields {
        let summary = field.shape.summary().unwrap_or_default().replace('|', "\\|");
        let label = field.shape.type_label().replace('|', "\\|");
        write(out, format_args!("| `{}` | {label} | {} | {summary} |\n", field.name, need(field)));
    }
    other_names(fields, out);
    for field in fields {
        details(field, out);
    }
}

/// Writes the forms of a mapping, each with the fields that only it has.
fn forms(shape: &Shape, path: &str, written: &mut Written, out: &mut String) {
    for variant in shape.variants() {
        let Some((key, value)) = variant.tag else { continue };
        let docs = variant.shape.type_docs().unwrap_or_default();
        if shape.type_docs() == Some(docs) {
            continue;
        }
        write(out, format_args!("\n#### `{key}: {value}`\n\n{docs}\n"));
        let kinds = shape.step(key, None);
        let named = kinds.iter().flat_map(Shape::values_by_other_names).filter(|(known, _)| *known == value);
        let others: Vec<&str> = named.map(|(_, other)| other.name).collect();
        if !others.is_empty() {
            write(out, format_args!("\nWrite `{value}` instead of {}.\n", sentence(&others, "or")));
        }
        let fields: Vec<Field> = variant.shape.fields(None).into_iter().filter(|field| field.name != key).collect();
        if fields.is_empty() {
            continue;
        }
        write(out, format_args!("\nKeys besides `{key}` in `{path}`:\n"));
        table(&fields, out);
        reported(&variant.shape, &fields, out);
        for field in &fields {
            below(&field.shape, &join(path, field.name), written, out);
        }
    }
}

/// Writes what is reported of valid values of a mapping and its fields. Problems that all paths share are omitted.
fn reported(shape: &Shape, fields: &[Field], out: &mut String) {
    let has_own = |field: &&Field| !matches!(field.shape.word(), Some(Word::File(_)));
    let of_fields = fields.iter().filter(has_own).flat_map(|field| field.shape.problems());
    let mut lines: Vec<String> = Vec::new();
    for problem in shape.problems().chain(of_fields) {
        let text = |name: &str| problem[name].as_str().unwrap_or_default();
        let message = text("message").replace("{value}", "…").replace("{found}", "…");
        let named = problem["name"].as_str().map(|name| format!(" `{name}`")).unwrap_or_default();
        let line = format!("- {message}{named} (`{}`)\n", text("code"));
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    if !lines.is_empty() {
        write(out, format_args!("\nReported:\n\n{}", lines.concat()));
    }
}

fn below(shape: &Shape, path: &str, written: &mut Written, out: &mut String) {
    if let Some(item) = shape.item() {
        return below(&item, &format!("{path}[]"), written, out);
    }
    if let Some(value) = shape.map_value() {
        return below(&value, &format!("{path}.*"), written, out);
    }
    if shape.kind() == Type::Any {
        // A mapping is one of the possible forms of the value.
        for form in shape.variants().into_iter().map(|variant| variant.shape) {
            mapping(&form, path, written, out);
        }
        return;
    }
    if shape.kind() != Type::Mapping {
        return;
    }
    if let Some(name) = shape.definition() {
        let home = written.homes.get(name).filter(|home| *home != path).map(|home| format!("`{home}`"));
        if let Some(place) = written.place(name).or(home) {
            write(out, format_args!("\n### `{path}`\n\nThe same fields as {place}.\n"));
            return;
        }
        written.add(name, path);
    }
    mapping(shape, path, written, out);
}

fn other_names(fields: &[Field], out: &mut String) {
    let names = fields.iter().filter_map(|field| {
        let others: Vec<&str> = field.shape.other_names().iter().map(|other| other.name).collect();
        (!others.is_empty()).then(|| format!("`{}` instead of {}", field.name, sentence(&others, "or")))
    });
    let names: Vec<String> = names.collect();
    if !names.is_empty() {
        write(out, format_args!("\nWrite {}.\n", names.join("; ")));
    }
}

/// Writes the part of a field's documentation that is not in the table.
fn details(field: &Field, out: &mut String) {
    let docs = field.shape.docs().unwrap_or_default();
    let more = docs.split_once("\n\n").map(|(_, more)| more);
    let has_choices = field.shape.values().iter().any(|choice| choice.docs.is_some());
    if more.is_none() && !has_choices {
        return;
    }
    write(out, format_args!("\n**`{}`**\n", field.name));
    if let Some(more) = more {
        write(out, format_args!("\n{more}\n"));
    }
    choices(&field.shape, out);
}

fn choices(shape: &Shape, out: &mut String) {
    let values = shape.values();
    if values.iter().any(|choice| choice.docs.is_some()) {
        out.push('\n');
        for choice in values {
            write(out, format_args!("- `{}`: {}\n", show(choice.value), choice.docs.unwrap_or_default()));
        }
    }
}

fn need(field: &Field) -> String {
    match &field.need {
        Need::Required => "required".to_owned(),
        Need::OneOf(_) => "exactly one required".to_owned(),
        Need::AnyOf(_) => "at least one required".to_owned(),
        Need::Optional => match field.shape.default().filter(|default| !is_trivial(default)) {
            Some(default) => format!("`{}`", show(default)),
            None => String::new(),
        },
    }
}

/// Whether a default means only that the key is optional.
fn is_trivial(value: &serde_json::Value) -> bool {
    value.as_object().is_some_and(serde_json::Map::is_empty) || value.as_array().is_some_and(Vec::is_empty)
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// Removes the space after each `///` from a doc text of the compiler.
fn docs(text: &str) -> String {
    text.lines().map(|line| line.strip_prefix(' ').unwrap_or(line)).collect::<Vec<_>>().join("\n").trim().to_owned()
}

fn write(out: &mut String, arguments: std::fmt::Arguments<'_>) {
    out.write_fmt(arguments).expect("a string takes everything");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_and_every_problem_has_its_place() {
        let text = reference();
        for file in SpecFile::ALL {
            for key in crate::shape::all_keys(*file) {
                assert!(text.contains(&format!("`{key}`")) || text.contains(&format!("### {key}\n")), "{key}");
            }
        }
        for code in Code::ALL {
            assert!(text.contains(&format!("\n### {}\n", code.as_str())));
            assert!(!docs(code.docs()).is_empty());
        }
    }
}

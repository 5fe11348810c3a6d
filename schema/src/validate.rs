//! Validates documents against the JSON Schema of their kind. Every error becomes one
//! [`Problem`] at its node, with a help.
//!
//! Validation is divided by blocks: [`validate_node`] checks one [`Definition`], so that a
//! keystroke costs one test. The schema of the root accepts any list items, and each item has
//! its own schema; conditions between blocks (models are required `if` there are prompt tests)
//! are a rule of the dialect. [`validate`] combines the parts.

mod context;
pub(crate) mod fix;
mod form_groups;
mod instance;
mod misspelled;
mod swallowed;
pub(crate) mod unit;

use std::collections::{BTreeMap, HashSet};

use jsonschema::{Draft, Registry, RegistryBuilder, ValidationError, Validator, error::ValidationErrorKind};
use serde_json::{Value, json};

use crate::{
    document::{Document, Members, NodeRef, Plain, Pointer, Scalar, Shape as NodeShape, TooLarge},
    edit,
    files::{Files, MemoryFiles},
    finding::{Finding, MessageParts, Report},
    json_schema::{BASE, SpecFile},
    lint_node::head,
    problem::{Code, Fix, Problem, Severity},
    shape::Shape,
    spec_file::{Empty, PerFile},
    walk,
};

use context::{Violation, ViolationKind};
use instance::Yaml;

pub use crate::spec_file::Definition;
pub(crate) use context::{Context, Mapping};
pub(crate) use fix::{could_hold, rename_title};
pub(crate) use unit::in_seconds;

impl Definition {
    fn validator(self) -> &'static Validator<Yaml> {
        static ROOTS: PerFile<Validator<Yaml>> = PerFile::new();
        static ITEMS: PerFile<BTreeMap<&'static str, Validator<Yaml>>> = PerFile::new();
        match self {
            Definition::Root(file) => ROOTS.get(file, || compile(&skeleton(file), "")),
            Definition::Item(file, list) => {
                let all = || {
                    let mut schema = file.schema().clone();
                    form_groups::insert(&mut schema);
                    let compiled = |list: &&'static str| (*list, compile(&schema, &items_in(&schema, list)));
                    Definition::lists(file).iter().map(compiled).collect()
                };
                &ITEMS.get(file, all)[list]
            }
        }
    }

    /// Maximum number of nodes behind the aliases of one part, in addition to its own nodes.
    const EXPANSION: usize = 20_000;

    /// Returns the value to validate. Lists with separately validated items keep only their length.
    fn value(self, node: NodeRef<'_>) -> Result<Plain<'_>, TooLarge> {
        let limit = Definition::EXPANSION + node.own_range().len();
        match self {
            Definition::Item(..) => node.to_plain(limit),
            Definition::Root(_) if node.shape() != NodeShape::Mapping => Ok(if node.shape() == NodeShape::Sequence {
                without_items(node.item_count())
            } else {
                node.to_plain(limit)?
            }),
            Definition::Root(file) => {
                let lists = Definition::lists(file);
                let mut members = Members::default();
                for base in node.bases() {
                    let Plain::Mapping(base) = base.to_plain(limit)? else { continue };
                    for (key, value) in base {
                        let value = match value {
                            Plain::List(items) if lists.contains(&&*key) => without_items(items.len()),
                            other => other,
                        };
                        members.keep(key, value);
                    }
                }
                for entry in node.entries().filter(|entry| !entry.is_merge()) {
                    let key = entry.key.key_name();
                    let value = if lists.contains(&&*key) && entry.value.shape() == NodeShape::Sequence {
                        without_items(entry.value.item_count())
                    } else {
                        entry.value.to_plain(limit)?
                    };
                    members.set(key, value);
                }
                Ok(Plain::Mapping(members))
            }
        }
    }
}

/// Compiles the schema of a part, once.
pub(crate) fn prepare(definition: Definition) {
    definition.validator();
}

/// Maximum number of items to count in a list with separately validated items. No schema has a higher limit.
const MAX_COUNTED: usize = 1_000;

/// Returns a list of empty items that a schema cannot distinguish from one of this length.
fn without_items(count: usize) -> Plain<'static> {
    Plain::List(vec![Plain::Null; count.min(MAX_COUNTED)])
}

/// Compiles the part of a schema at a pointer. The library checks what it is given against the schema of its draft, which
/// takes longer than to compile our schemas, so it is given a short reference in a small draft. Tests check our schemas.
fn compile(schema: &Value, at: &str) -> Validator<Yaml> {
    let registry =
        Registry::new().add(BASE, schema).and_then(RegistryBuilder::prepare).expect("a generated schema is valid");
    let options = jsonschema::options_for::<Yaml>().with_draft(Draft::Draft4).with_registry(&registry);
    let reference = json!({ "$ref": format!("{BASE}#{at}") });
    options.should_validate_formats(false).build(&reference).expect("a generated schema compiles")
}

/// Returns the schema of the whole, without conditions between blocks.
fn skeleton(file: SpecFile) -> Value {
    let mut schema = file.schema().clone();
    let keywords = schema.as_object_mut().expect("a schema has keywords");
    for keyword in ["$id", "if", "then"] {
        keywords.remove(keyword);
    }
    for list in Definition::lists(file) {
        if let Some(items) = schema.pointer_mut(&items_in(file.schema(), list)) {
            *items = Value::Bool(true);
        }
    }
    schema
}

fn items_in(schema: &Value, list: &str) -> String {
    let list = if list.is_empty() { String::new() } else { format!("/properties/{list}") };
    // For a list that may be null, `else` defines the items.
    let otherwise = format!("{list}/else");
    let holder = if schema.pointer(&otherwise).is_some() { otherwise } else { list };
    format!("{holder}/items")
}

/// Returns the problems of the whole document, in document order. An empty document lacks its first key.
pub fn validate(document: &Document, file: SpecFile) -> Vec<Problem> {
    let Some(root) = document.root() else {
        return if document.is_intact() { vec![empty(file)] } else { Vec::new() };
    };
    let mut problems = validate_node(root, Definition::Root(file));
    for list in Definition::lists(file) {
        let Some(node) = Definition::list_in(root, list) else { continue };
        for (index, item) in node.items().enumerate() {
            let base = Definition::list_at(list).index(index);
            let found = validate_node(item, Definition::Item(file, list));
            problems.extend(found.into_iter().map(|problem| problem.moved(&base, 0)));
        }
    }
    problems.sort_by_key(|problem| problem.range.start);
    problems
}

/// Returns the problem of an empty document.
pub fn empty(file: SpecFile) -> Problem {
    let empty = |code| Problem::new(code, Pointer::root(), 0..0, "the file is empty");
    match file.empty {
        Empty::Incomplete(help) => empty(Code::MissingField).with_help(help),
        Empty::Defaults(code) => empty(code).with_severity(Severity::Hint).with_note("the defaults apply"),
    }
}

/// Returns the violations of the schema in one part. Pointers are relative to the node, ranges as [`NodeRef::range`]
/// returns them.
fn validate_node(node: NodeRef<'_>, definition: Definition) -> Vec<Problem> {
    let mut report = Report::default();
    check(node, definition, &MemoryFiles::default(), &mut report);
    walk::check(node, definition, None, &MemoryFiles::default(), &mut report);
    let mut problems = report.resolve(false).problems();
    problems.sort_by_key(|problem| problem.range.start);
    problems
}

/// Reports violations of the schema in one part.
pub(crate) fn check(node: NodeRef<'_>, definition: Definition, files: &dyn Files, report: &mut Report) {
    let Ok(value) = definition.value(node) else {
        let words = MessageParts::new("these aliases expand to too many values").help("write the values out");
        let range = head(node, &Pointer::root());
        return report.push(Finding::stated(Code::TooLarge, words, Pointer::root(), range));
    };
    let validator = definition.validator();
    // Usually there are no violations.
    if validator.is_valid(&value) {
        return;
    }
    let (file, shape) = (definition.file(), definition.shape());
    let base = match definition {
        Definition::Root(_) => Pointer::root(),
        Definition::Item(_, list) => Definition::list_at(list).index(0),
    };
    report_violations(validator, &value, &Context::new(node, file, base, shape.clone(), files), report);
}

fn report_violations(validator: &Validator<Yaml>, value: &Plain<'_>, context: &Context<'_>, report: &mut Report) {
    let mut violations: Vec<Violation> = Vec::new();
    for error in validator.iter_errors(value) {
        collect(context.node, &error, &mut violations);
    }
    // Of several errors at one node, the first kind in the enum is the most informative.
    violations.sort_by_cached_key(Violation::rank);
    let mut seen = HashSet::new();
    violations.retain(|violation| seen.insert(violation.at.clone()));
    context.merge_swallowed(&mut violations);
    let misspelled = context.drop_explained_by_misspelling(&mut violations);
    for violation in violations {
        let is_required = misspelled.contains(&violation.at);
        report.push(context.finding(violation, is_required));
    }
}

/// Converts an error of the validator to violations at nodes.
fn collect(root: NodeRef<'_>, error: &ValidationError<'_>, violations: &mut Vec<Violation>) {
    let at = root.place_of(&Pointer::parse(error.instance_path().as_str()));
    let Some(node) = root.find(&at) else { return };
    if dangling(root, &at) {
        return;
    }
    let mut push = |at: Pointer, kind: ViolationKind| violations.push(Violation { at, kind });
    match error.kind() {
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            for key in unexpected {
                push(at.key(key), ViolationKind::UnknownKey(key.clone()));
            }
        }
        ValidationErrorKind::PropertyNames { error } => {
            let key = error.instance().as_str().unwrap_or_default().to_owned();
            push(at.key(&key), ViolationKind::UnknownKey(key));
        }
        ValidationErrorKind::Required { .. } if is_damaged(node) => {}
        ValidationErrorKind::Required { property } => {
            let key = property.as_str().unwrap_or_default().to_owned();
            push(at.key(&key), ViolationKind::Missing(key));
        }
        ValidationErrorKind::Type { .. } if node.is_null() && is_damaged(node) => {}
        ValidationErrorKind::Type { .. } => push(at, ViolationKind::Type),
        ValidationErrorKind::Constant { .. } | ValidationErrorKind::Enum { .. } => push(at, ViolationKind::Value),
        ValidationErrorKind::AnyOf { .. } if is_damaged(node) => {}
        ValidationErrorKind::AnyOf { .. } => push(at, ViolationKind::NoneOf),
        ValidationErrorKind::OneOfNotValid { context } | ValidationErrorKind::OneOfMultipleValid { context } => {
            let required = |error: &ValidationError<'_>| matches!(error.kind(), ValidationErrorKind::Required { .. });
            let of_keys = context.iter().all(|branch| branch.iter().all(required));
            match (of_keys, node.shape()) {
                (true, NodeShape::Mapping) if is_damaged(node) => {}
                (true, NodeShape::Mapping) if matches!(error.kind(), ValidationErrorKind::OneOfNotValid { .. }) => {
                    push(at, ViolationKind::NoneOf);
                }
                (true, NodeShape::Mapping) => push(at, ViolationKind::SeveralOf),
                // Another error reports that it should be a mapping.
                (true, _) => {}
                (false, _) => push(at, ViolationKind::Value),
            }
        }
        ValidationErrorKind::Minimum { .. }
        | ValidationErrorKind::Maximum { .. }
        | ValidationErrorKind::ExclusiveMinimum { .. }
        | ValidationErrorKind::ExclusiveMaximum { .. } => push(at, ViolationKind::Number),
        ValidationErrorKind::MinLength { .. } => push(at, ViolationKind::EmptyText),
        ValidationErrorKind::MinItems { .. } => push(at, ViolationKind::Empty),
        ValidationErrorKind::MinProperties { .. } if is_damaged(node) => {}
        ValidationErrorKind::MinProperties { .. } => push(at, ViolationKind::Empty),
        ValidationErrorKind::MaxProperties { .. } => push(at, ViolationKind::TooMany),
        ValidationErrorKind::Pattern { .. } => push(at, ViolationKind::Pattern),
        // No schema has a keyword that needs this, but it is reported instead of lost.
        other => push(at, ViolationKind::Other(other.keyword().to_owned())),
    }
}

/// Whether a part around the node cannot be parsed, so missing nodes may be in it.
pub(crate) fn is_damaged(node: NodeRef<'_>) -> bool {
    let document = node.document();
    match document.block_of(node) {
        Some((_, block)) => !block.is_intact(),
        None => !document.is_intact(),
    }
}

/// Whether the node is behind an alias without an anchor, which is then the problem.
fn dangling(root: NodeRef<'_>, at: &Pointer) -> bool {
    root.find(at).is_some_and(|node| node.shape() == NodeShape::Dangling)
}

pub(crate) fn line_in_order(
    mapping: NodeRef<'_>,
    shape: &Shape,
    key: &str,
    line: &str,
) -> Option<Vec<crate::problem::Edit>> {
    let order: Vec<&str> = shape.fields(Some(mapping)).iter().map(|field| field.name).collect();
    edit::entry_in_order(mapping, key, line, &order)
}

/// Inserts known values instead of examples into the fixes that add a missing key. Fixes from other rules are kept.
pub(crate) fn insert_known(root: NodeRef<'_>, file: SpecFile, problem: &mut Problem, known: &[(&str, String)]) {
    let insertions = |known: &[(&str, String)]| -> Vec<Fix> {
        let add = |mapping_at: &Pointer, key: &str| {
            let (mapping, shape) = (root.find(mapping_at)?, Shape::find(file, mapping_at, Some(root))?);
            let order: Vec<&str> = shape.fields(Some(mapping)).iter().map(|field| field.name).collect();
            fix::insert(mapping, key, &shape.step(key, Some(mapping))?, &order, known)
        };
        let at = &problem.at;
        if root.find(at).is_none() {
            return at.parent().zip(at.last()).and_then(|(parent, key)| add(&parent, &key)).into_iter().collect();
        }
        let alternatives = Shape::find(file, at, Some(root)).map(|shape| shape.alternatives()).unwrap_or_default();
        alternatives.into_iter().filter_map(|key| add(at, key)).collect()
    };
    if !problem.fixes.is_empty() && problem.fixes == insertions(&[]) {
        problem.fixes = insertions(known);
    }
}

/// Returns a description of a node: "the string `x`", "a list".
pub(crate) fn describe(node: NodeRef<'_>) -> String {
    const SHOWN: usize = 32;
    let text = node.text().unwrap_or_default();
    let mut shown: String =
        text.chars().take(SHOWN).map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    match (node.shape(), node.scalar()) {
        (NodeShape::Sequence, _) => "a list".to_owned(),
        (NodeShape::Mapping, _) => "a mapping".to_owned(),
        (NodeShape::Dangling, _) => "an unknown alias".to_owned(),
        (NodeShape::Scalar, Some(Scalar::Null)) => "null".to_owned(),
        (NodeShape::Scalar, Some(Scalar::Bool(_))) => format!("the boolean `{shown}`"),
        // "Not a number" is not called one.
        (NodeShape::Scalar, Some(Scalar::Float(number))) if number.is_nan() => format!("`{shown}`"),
        (NodeShape::Scalar, Some(Scalar::Int(_) | Scalar::Float(_))) => format!("the number `{shown}`"),
        (NodeShape::Scalar, Some(Scalar::Text | Scalar::Timestamp) | None) if text.is_empty() => {
            "an empty string".to_owned()
        }
        (NodeShape::Scalar, Some(Scalar::Text | Scalar::Timestamp) | None) => format!("the string `{shown}`"),
    }
}

pub(crate) fn with_article(label: &str) -> String {
    match label.chars().next() {
        Some('`') => label.to_owned(),
        _ if label.starts_with("any ") || label == "null" => label.to_owned(),
        Some('a' | 'e' | 'i' | 'o') => format!("an {label}"),
        _ => format!("a {label}"),
    }
}

/// Returns the first sentence of a doc comment as the end of a sentence.
pub(crate) fn as_fragment(summary: &str) -> String {
    let sentence = summary.split(". ").next().unwrap_or(summary).trim_end_matches('.');
    let word = sentence.split(' ').next().unwrap_or(sentence);
    let mut letters = sentence.chars();
    match letters.next() {
        // Names such as JSON and OpenAI keep their capitals.
        Some(first) if !word.chars().skip(1).any(char::is_uppercase) => first.to_lowercase().chain(letters).collect(),
        Some(_) => sentence.to_owned(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests;

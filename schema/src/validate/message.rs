//! What is wrong, and what to do, in words.

use std::{
    cell::RefCell,
    collections::{HashMap, HashSet},
    rc::Rc,
};

use crate::{
    document::{NodeRef, Pointer, Scalar, Shape as NodeShape, Style},
    json_schema::SpecFile,
    problem::{Code, Fix, Problem, Severity},
    rewrite::{self, COMMENT},
    shape::{self, Place, Shape, Type, Variant, Word},
    words::{is_surely, listed, nearest},
};

use super::{fix, head, place, unquoted_template};

/// A mistake at a node, before it is put into words.
pub(super) struct Finding {
    /// The node; for a key that is missing, where it would stand.
    pub(super) at: Pointer,
    /// The mistake.
    pub(super) wrong: Wrong,
}

/// The kinds of mistake that a schema finds. Of several at one node, the one that stands first here is told.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Wrong {
    /// A key that the mapping does not have.
    UnknownKey(String),
    /// A key that must be there.
    Missing(String),
    /// A value of another type.
    Type,
    /// A value that is not among those allowed.
    Value,
    /// None of several keys of which one must be there.
    NoneOf,
    /// More than one of them.
    SeveralOf,
    /// A number outside of its bounds.
    Number,
    /// An empty text.
    EmptyText,
    /// An empty list or mapping.
    Empty,
    /// A mapping with more keys than it may have.
    TooMany,
    /// A text that does not have the form that it must have.
    Pattern,
    /// Something else.
    Other(String),
}

/// Where a test of KindLM has its claims.
const EXPECT: &str = "expect";

/// Where the original program keeps the schema that `argsSchema` names.
const RESOLVED: &str = "argsSchemaResolved";

impl Finding {
    pub(super) fn rank(&self) -> (Wrong, Pointer) {
        (self.wrong.clone(), self.at.clone())
    }
}

/// Where the findings were made.
pub(super) struct Context<'d> {
    pub(super) node: NodeRef<'d>,
    file: SpecFile,
    /// Where the node stands in the file, list items counted as the first.
    base: Pointer,
    /// What the schema says of the node.
    shape: Shape,
    /// What is known about the mappings in which something is wrong: one may have thousands of wrong keys.
    mappings: RefCell<HashMap<Pointer, Rc<Mapping<'d>>>>,
}

/// What an unknown key is compared with.
struct Mapping<'d> {
    node: Option<NodeRef<'d>>,
    shape: Option<Shape>,
    /// Its place in the kind of file.
    here: Option<Place>,
    /// The keys that it may have.
    fields: Vec<&'static str>,
    /// Those of them that are not there yet.
    free: Vec<&'static str>,
    /// Those that must be there, alone or in place of another one, and are not.
    missing: Vec<&'static str>,
    /// The key that tells its form, and which one it has.
    variant: Option<(&'static str, &'static str)>,
    /// The tags of its forms, with the keys of each.
    tags: Vec<(&'static str, Vec<&'static str>)>,
    /// Whether an unknown key would be a claim that vanishes.
    claims: bool,
}

impl<'d> Context<'d> {
    pub(super) fn new(node: NodeRef<'d>, file: SpecFile, base: Pointer, shape: Shape) -> Context<'d> {
        Context { node, file, base, shape, mappings: RefCell::default() }
    }

    fn mapping(&self, at: &Pointer) -> Rc<Mapping<'d>> {
        if let Some(known) = self.mappings.borrow().get(at) {
            return Rc::clone(known);
        }
        let node = self.node.find(at);
        let shape = self.shape(at);
        let fields = shape.iter().flat_map(|shape| shape.fields(node)).collect::<Vec<_>>();
        let is_free = |name: &str| node.is_none_or(|node| node.entry(name).is_none());
        let known = Rc::new(Mapping {
            node,
            here: self.place_in_file(at),
            free: fields.iter().map(|field| field.name).filter(|name| is_free(name)).collect(),
            missing: fields
                .iter()
                .filter(|field| field.need != shape::Need::Optional && node.is_some() && is_free(field.name))
                .map(|field| field.name)
                .collect(),
            fields: fields.iter().map(|field| field.name).collect(),
            variant: self.variant(at).and_then(|variant| variant.tag),
            tags: self.tags(at),
            shape,
            claims: self.is_claim(at),
        });
        self.mappings.borrow_mut().insert(at.clone(), Rc::clone(&known));
        known
    }

    /// A finding in words.
    pub(super) fn problem(&self, finding: Finding) -> Problem {
        let Finding { at, wrong } = finding;
        let mut problem = match wrong {
            Wrong::UnknownKey(key) => self.unknown_key(at, &key),
            Wrong::Missing(key) => self.missing(at, &key),
            Wrong::Type => self.wrong_type(at),
            Wrong::Value => self.wrong_value(at),
            Wrong::NoneOf => self.none_of(at),
            Wrong::SeveralOf => self.several_of(at),
            Wrong::Number => self.out_of_bounds(at),
            Wrong::EmptyText => self.empty_text(at),
            Wrong::Empty => self.empty(at),
            Wrong::TooMany => self.too_many(at),
            Wrong::Pattern => self.wrong_form(at),
            Wrong::Other(message) => {
                let range = place(self.node, &at);
                Problem::new(Code::InvalidValue, at, range, message)
            }
        };
        if self.file == SpecFile::Settings {
            problem.code = Code::InvalidSetting;
            problem.severity = Code::InvalidSetting.severity();
        }
        problem
    }

    /// A key that is missing and stands misspelt beside is one mistake, not two: it is told at the key that
    /// is there, as an error. Returns those keys.
    pub(super) fn drop_what_is_only_misspelt(&self, findings: &mut Vec<Finding>) -> HashSet<Pointer> {
        let mut misspelt = HashSet::new();
        let mut meant: HashSet<(Pointer, &'static str)> = HashSet::new();
        for finding in findings.iter() {
            let Wrong::UnknownKey(key) = &finding.wrong else { continue };
            let parent = finding.at.parent().unwrap_or_default();
            let mapping = self.mapping(&parent);
            if let Some(name) = nearest(key, mapping.missing.iter().copied()) {
                misspelt.insert(finding.at.clone());
                meant.insert((parent, name));
            } else if let Some(name) = mapping.missing.iter().copied().find(|name| *name == EXPECT)
                && self.file == SpecFile::KindLm
                && self.unknown_key(finding.at.clone(), key).severity == Severity::Error
            {
                // A claim that stands beside it is what was to stand in it.
                meant.insert((parent, name));
            }
        }
        findings.retain(|finding| {
            let told = |parent: &Pointer, name: &'static str| meant.contains(&(parent.clone(), name));
            if let Wrong::Missing(key) = &finding.wrong {
                let parent = finding.at.parent().unwrap_or_default();
                return !self.mapping(&parent).missing.iter().any(|name| name == key && told(&parent, name));
            }
            let alternatives = || self.shape(&finding.at).map(|shape| shape.alternatives()).unwrap_or_default();
            finding.wrong != Wrong::NoneOf || !alternatives().iter().any(|name| told(&finding.at, name))
        });
        misspelt
    }

    fn shape(&self, at: &Pointer) -> Option<Shape> {
        self.shape.below(at, Some(self.node))
    }

    /// The shape of a member whose siblings may be as wrong as it is.
    fn member(&self, at: &Pointer) -> Option<Shape> {
        match at.parent().zip(at.last()) {
            Some((parent, last)) => {
                let mapping = self.mapping(&parent);
                mapping.shape.as_ref()?.step(&last, mapping.node)
            }
            None => self.shape(at),
        }
    }

    /// The place of a mapping in the kind of file.
    fn place_in_file(&self, at: &Pointer) -> Option<Place> {
        shape::place_of(self.file, &self.base.join(at))
    }

    /// The tag of a mapping that has several forms, and the form that it has.
    fn variant(&self, at: &Pointer) -> Option<Variant> {
        let node = self.node.find(at)?;
        let matches = |variant: &Variant| {
            variant.tag.is_some_and(|(key, tag)| node.get(key).and_then(NodeRef::as_str) == Some(tag))
        };
        self.shape(at)?.variants().into_iter().find(matches)
    }

    /// The tags of the forms of a mapping, with the keys of each.
    fn tags(&self, at: &Pointer) -> Vec<(&'static str, Vec<&'static str>)> {
        let variants = self.shape(at).map(|shape| shape.variants()).unwrap_or_default();
        let keys = |variant: &Variant| variant.shape.fields(None).iter().map(|field| field.name).collect();
        variants.iter().filter_map(|variant| Some((variant.tag?.1, keys(variant)))).collect()
    }

    fn unknown_key(&self, at: Pointer, key: &str) -> Problem {
        let file = self.file;
        let parent = at.parent().unwrap_or_default();
        let range = head(self.node, &at);
        let known = self.mapping(&parent);
        let Mapping { node: mapping, here, fields, free, claims, variant, tags, .. } = &*known;
        let mut problem = Problem::new(Code::UnknownKey, at.clone(), range.clone(), "");
        if *claims {
            problem.severity = Severity::Error;
        }
        let mut misplaced = false;
        let what = match variant {
            Some((_, tag)) => format!("unknown key `{key}` in `{tag}`"),
            None => format!("unknown key `{key}`"),
        };
        if key == "<<" && !self.node.document().rules().merges() {
            problem.message =
                "merge keys are not applied in this format: `<<` is an unknown key and is dropped, so write the fields out"
                    .to_owned();
            return problem;
        }
        if key == RESOLVED && mapping.is_some_and(|mapping| mapping.entry("argsSchema").is_some()) {
            problem.severity = Severity::Warning;
            problem.message = format!("`{key}` has no effect beside `argsSchema`: remove it");
            return problem;
        }
        let entry = mapping.and_then(|mapping| mapping.entry(key));
        // What comes from a merge is put right where it is written: here stands only its name.
        let editable = mapping.is_some_and(|mapping| !mapping.resolved().is_through_alias())
            && entry.is_some_and(|entry| !entry.key.is_through_alias());
        let elsewhere = here.as_ref().and_then(|here| {
            // A key that another form of this mapping has does not belong elsewhere.
            let others = shape::places_of(file, key).iter().filter(|place| *place != here);
            others.min_by_key(|place| (here.distance(place), place.0.len()))
        });
        let tags: Vec<&str> = tags.iter().filter(|(_, keys)| keys.contains(&key)).map(|(tag, _)| *tag).collect();
        let near = nearest(key, free.iter().copied()).or_else(|| nearest(key, fields.iter().copied()));
        let is_close = |place: &Place| here.as_ref().is_some_and(|here| here.distance(place) <= 2);
        if let Some(name) = near.filter(|_| !elsewhere.is_some_and(is_close)) {
            problem.message = format!("{what}: did you mean `{name}`?");
            if editable && free.contains(&name) {
                let sure = is_surely(key, name, free.iter().copied());
                let member = known.shape.as_ref().and_then(|shape| shape.step(name, *mapping));
                let reshaped =
                    entry.zip(member).map_or(Some(Vec::new()), |(entry, member)| fix::reshaped(entry.value, &member));
                if let Some(edits) = reshaped {
                    let mut fix = fix::rename(range, name, sure);
                    fix.edits.extend(edits);
                    problem = problem.with_fix(fix);
                }
            }
        } else if let [first, rest @ ..] = tags.as_slice()
            && let Some((tag_key, _)) = variant
        {
            let more = if rest.is_empty() { "" } else { ", among others" };
            problem.message = if free.is_empty() {
                format!("{what}: nothing more can stand here; `{tag_key}: {first}` has it{more}")
            } else {
                format!("{what}: expected {}; `{tag_key}: {first}` has it{more}", listed(free.iter().copied()))
            };
        } else if let (Some(place), Some(here)) = (elsewhere, here) {
            problem.message = format!("{what}: it belongs {}", place.words_from(here));
            misplaced = self.is_misplaced_claim(here, place, key);
            if let ([.., child], true, 1) = (place.0.as_slice(), here.contains(place), here.distance(place))
                && let Some(fix) = mapping.and_then(|mapping| fix::move_into(mapping, key, child))
            {
                problem = problem.with_fix(fix);
            }
        } else if let (Some(name), Some(here)) =
            (nearest(key, shape::all_keys(file)).filter(|name| is_far_likeness(key, name, file)), here)
        {
            let place = shape::places_of(file, name).iter().min_by_key(|place| here.distance(place));
            misplaced = place.is_some_and(|place| self.is_misplaced_claim(here, place, name));
            let place = place.map(|place| format!(" {}", place.words_from(here))).unwrap_or_default();
            problem.message = format!("{what}: did you mean `{name}`{place}?");
        } else if free.is_empty() {
            problem.message = format!("{what}: nothing more can stand here");
        } else {
            problem.message = format!("{what}: expected {}", listed(free.iter().copied()));
        }
        if problem.fixes.is_empty()
            && near.is_none()
            && let Some(edits) = rewrite::comment(self.node, &at)
        {
            problem = problem.with_fix(Fix::suggestion(COMMENT, edits));
        }
        if misplaced {
            problem.severity = Severity::Error;
        }
        if *claims || misplaced {
            problem.message.push_str(if problem.message.ends_with('?') {
                " What it claims is"
            } else {
                "; what it claims is"
            });
            problem.message.push_str(" never checked");
        }
        problem
    }

    /// Whether a key that stands here instead of there is a claim that vanishes: beside `expect`, or above the tests.
    fn is_misplaced_claim(&self, here: &Place, place: &Place, key: &str) -> bool {
        let in_expect = place.0.contains(&EXPECT) && !here.0.contains(&EXPECT);
        self.file == SpecFile::KindLm && here.contains(place) && (in_expect || key == EXPECT)
    }

    /// Whether an unknown key in a mapping would be a claim that vanishes.
    fn is_claim(&self, parent: &Pointer) -> bool {
        let mut at = Some(parent.clone());
        while let Some(here) = at {
            if self.shape(&here).is_some_and(|shape| shape.holds_claims()) {
                return true;
            }
            at = here.parent();
        }
        false
    }

    fn missing(&self, at: Pointer, key: &str) -> Problem {
        let parent = at.parent().unwrap_or_default();
        let shape = self.shape(&parent);
        let member = shape.as_ref().and_then(|shape| shape.step(key, self.node.find(&parent)));
        let owner = parent.last().filter(|name| name.parse::<usize>().is_err());
        let tag = self.variant(&parent).and_then(|variant| variant.tag);
        let mut message = match (owner, tag) {
            (Some(owner), _) => format!("`{owner}` needs `{key}`"),
            (None, Some((_, tag))) => format!("`{tag}` needs `{key}`"),
            (None, None) => format!("`{key}` is missing"),
        };
        if let Some(summary) = member.as_ref().and_then(Shape::summary) {
            message = format!("{message}: {}", as_fragment(summary));
        }
        let only_when = shape.is_some_and(|shape| {
            !shape.fields(None).iter().any(|field| field.name == key && field.need == shape::Need::Required)
        });
        if only_when && key == "schemaFile" {
            message = "`format: json` needs `schemaFile`, the JSON Schema that the output must match".to_owned();
        }
        let problem = Problem::new(Code::MissingField, at, head(self.node, &parent), message);
        let fix = self.node.find(&parent).zip(member).and_then(|(mapping, member)| fix::insert(mapping, key, &member));
        match fix {
            Some(fix) => problem.with_fix(fix),
            None => problem,
        }
    }

    fn wrong_type(&self, at: Pointer) -> Problem {
        let range = place(self.node, &at);
        let (Some(node), Some(shape)) = (self.node.find(&at), self.member(&at)) else {
            return Problem::new(Code::WrongType, at, range, "a value of another type is expected here");
        };
        let (mut label, kind) = (shape.type_label(), shape.kind());
        if kind == Type::Text
            && let Some(problem) = unquoted_template(&at, node)
        {
            return problem;
        }
        if let Some(text) = shape.text_form() {
            label = format!("{label} or {}", with_article(&text.type_label()));
        }
        let found = describe(node);
        let mut message = match at.last().filter(|name| name.parse::<usize>().is_err()) {
            _ if at.is_root() && self.base.is_root() && kind == Type::List => {
                format!("expected a list, found {found}: begin each item with `- `")
            }
            _ if at.is_root() && self.base.is_root() => {
                format!("expected a mapping, found {found}: a file begins with `{}: …`", first_field(&shape))
            }
            Some(key) if node.is_null() => format!("`{key}` has no value: expected {}", with_article(&label)),
            Some(key) => format!("`{key}` must be {}, not {found}", with_article(&label)),
            None if node.is_null() => format!("nothing stands here: expected {}", with_article(&label)),
            None => format!("expected {}, found {found}", with_article(&label)),
        };
        let mut fix = None;
        // In brackets there is no dash.
        let in_brackets = is_in_brackets(node);
        match (kind, node.shape()) {
            (Type::Text, NodeShape::Scalar)
                if !node.is_null() && node.text().is_some_and(|text| shape.admits_text(text)) =>
            {
                message.push_str(": put it in quotes");
                fix = fix::quoted(node);
            }
            (Type::Integer, NodeShape::Scalar) if matches!(node.scalar(), Some(Scalar::Float(_))) => {}
            (Type::Integer | Type::Number | Type::Boolean, NodeShape::Scalar) => {
                fix = fix::unquoted(node, kind);
                match fix::literal(node, kind) {
                    Some(meant) if node.style() == Some(Style::Plain) => {
                        message = format!("{message}, which is what YAML takes it for: write `{meant}`");
                    }
                    Some(_) if fix.is_some() => message.push_str(": remove the quotes"),
                    Some(_) | None => {}
                }
            }
            (Type::List, NodeShape::Mapping) if fix::dashed(node).is_some() => {
                message.push_str(": a blank is missing behind the dashes");
                fix = fix::dashed(node);
            }
            (Type::List, NodeShape::Scalar | NodeShape::Mapping) if !node.is_null() => {
                let is_mapping = node.shape() == NodeShape::Mapping;
                if shape.item().is_some_and(|item| {
                    (item.kind() == Type::Mapping) == is_mapping || (!is_mapping && item.text_form().is_some())
                }) {
                    fix = fix::listed(node);
                }
                if at.is_root() && self.base.is_root() {
                } else if is_mapping && !in_brackets {
                    message.push_str(": begin each item with `- `");
                } else {
                    message.push_str(": write `[…]`");
                }
            }
            (Type::Mapping, NodeShape::Sequence) if in_brackets => message.push_str(": write `{…}`"),
            (Type::Mapping, NodeShape::Sequence) if !at.is_root() => message.push_str(": remove the `- `"),
            (_, NodeShape::Scalar) if node.is_null() => {
                if let Some(cure) = self.cure_of_nothing(&at) {
                    message.push_str(cure);
                }
            }
            (Type::Text, NodeShape::Scalar) if !node.is_null() && !node.resolved().is_through_alias() => {
                if let [only] = shape.values().as_slice() {
                    let text = shape::show(only.value);
                    fix = Some(fix::guess(node.own_range(), text.clone(), format!("Write {text}")));
                }
            }
            _ => {}
        }
        let problem = Problem::new(Code::WrongType, at, range, message);
        match fix {
            Some(fix) => problem.with_fix(fix),
            None => problem,
        }
    }

    /// What to do with a key, or an item, that has no value, beside giving it one.
    fn cure_of_nothing(&self, at: &Pointer) -> Option<&'static str> {
        let is_item = |last: &String| last.parse::<usize>().is_ok();
        let Some((parent, key)) = at.parent().zip(at.last()).filter(|(_, last)| !is_item(last)) else {
            // The root of what is checked alone is an item, unless it is the root of the file.
            return (!self.base.join(at).is_root()).then_some(", or remove the entry");
        };
        let mapping = self.mapping(&parent);
        let is_required = |shape: &Shape| {
            shape.fields(mapping.node).iter().any(|field| field.name == key && field.need != shape::Need::Optional)
        };
        (!mapping.shape.as_ref().is_some_and(is_required)).then_some(", or remove the key")
    }

    fn wrong_value(&self, at: Pointer) -> Problem {
        let range = place(self.node, &at);
        let (Some(node), Some(shape)) = (self.node.find(&at), self.member(&at)) else {
            return Problem::new(Code::InvalidValue, at, range, "this value cannot stand here");
        };
        let choices = shape.values();
        let is_text = choices.iter().all(|choice| choice.value.is_string());
        if node.as_str().is_none() && is_text || node.scalar().is_none() {
            return self.wrong_type(at);
        }
        let name = match at.last().filter(|name| name.parse::<usize>().is_err()) {
            Some(name) => format!("`{name}`"),
            None => "this entry".to_owned(),
        };
        let names: Vec<String> = choices.iter().map(|choice| shape::show(choice.value)).collect();
        let names = listed(names.iter().map(String::as_str));
        let code = if is_text || matches!(node.scalar(), Some(Scalar::Int(_) | Scalar::Float(_))) {
            Code::InvalidValue
        } else {
            Code::WrongType
        };
        let near = fix::nearest_choice(node, &choices);
        let message = match near {
            Some(near) => format!("{name} cannot be {}: did you mean `{near}`?", describe(node)),
            None => format!("{name} must be {names}, not {}", describe(node)),
        };
        let problem = Problem::new(code, at, range, message);
        let only = choices.first().filter(|_| choices.len() == 1);
        if node.resolved().is_through_alias() {
            return problem;
        }
        match (near, only) {
            (Some(near), _) => {
                let sure = only.is_some()
                    || node.text().is_some_and(|text| {
                        is_surely(text, near, choices.iter().filter_map(|choice| choice.value.as_str()))
                    });
                let (text, title) = (shape::scalar(near), format!("Change to `{near}`"));
                let fix = if sure { fix::replace } else { fix::guess };
                problem.with_fix(fix(node.own_range(), text, title))
            }
            (None, Some(only)) => {
                let text = shape::show(only.value);
                problem.with_fix(fix::guess(node.own_range(), text.clone(), format!("Change to `{text}`")))
            }
            (None, None) => problem,
        }
    }

    fn none_of(&self, at: Pointer) -> Problem {
        let alternatives = self.shape(&at).map(|shape| shape.alternatives()).unwrap_or_default();
        let names = listed(alternatives.iter().copied());
        let message = format!("nothing says what to do: give {names}");
        let mut problem = Problem::new(Code::MissingField, at.clone(), head(self.node, &at), message);
        for key in alternatives {
            let member = self.shape(&at.key(key));
            let fix = self.node.find(&at).zip(member).and_then(|(mapping, member)| fix::insert(mapping, key, &member));
            problem.fixes.extend(fix);
        }
        problem
    }

    fn several_of(&self, at: Pointer) -> Problem {
        let alternatives = self.shape(&at).map(|shape| shape.alternatives()).unwrap_or_default();
        let mut present: Vec<_> = self
            .node
            .find(&at)
            .into_iter()
            .flat_map(NodeRef::entries)
            .map(|entry| (entry.key.key_text(), entry.key.range()))
            .filter(|(key, _)| alternatives.contains(&key.as_str()))
            .collect();
        let message = format!("{} exclude each other: keep one", both(&alternatives));
        let Some((key, range)) = present.pop() else {
            let range = head(self.node, &at);
            return Problem::new(Code::ConflictingFields, at, range, message);
        };
        let mut problem = Problem::new(Code::ConflictingFields, at.key(&key), range, message);
        for (key, range) in present {
            problem = problem.with_related(format!("`{key}` is given here"), at.key(&key), range);
        }
        problem
    }

    fn out_of_bounds(&self, at: Pointer) -> Problem {
        let range = place(self.node, &at);
        let name = at.last().unwrap_or_default();
        let bounds = self.shape(&at).and_then(|shape| shape.bounds());
        let found = self.node.find(&at).map(describe).unwrap_or_default();
        let bounds = bounds.unwrap_or_else(|| "a number that can be counted exactly".to_owned());
        let number = self.node.find(&at).and_then(NodeRef::scalar).map_or(0.0, |scalar| match scalar {
            Scalar::Int(value) => value as f64,
            Scalar::Float(value) => value,
            Scalar::Null | Scalar::Bool(_) | Scalar::Text | Scalar::Timestamp => 0.0,
        });
        let most = self.shape(&at).and_then(|shape| shape.maximum()).filter(|most| number > *most);
        let bounds = match most {
            Some(most) if !bounds.contains(&most.to_string()) => format!("at most {most}"),
            Some(_) | None => bounds,
        };
        let from = if bounds.contains(" to ") { "from " } else { "" };
        let message = format!("`{name}` must be {from}{bounds}, not {found}");
        // A share that was written as a percentage.
        let share = self.node.find(&at).filter(|node| bounds == "0 to 1" && !node.resolved().is_through_alias());
        if let Some(node) = share
            && let Some(percent @ 10..=100) = node.text().and_then(|text| text.parse::<u32>().ok())
        {
            let text = (f64::from(percent) / 100.0).to_string();
            let fix = fix::guess(node.own_range(), text.clone(), format!("Write `{text}`"));
            return Problem::new(Code::OutOfRange, at, range, format!("{message}: write `{text}`")).with_fix(fix);
        }
        Problem::new(Code::OutOfRange, at, range, message)
    }

    fn empty_text(&self, at: Pointer) -> Problem {
        let range = place(self.node, &at);
        let name = at.last().unwrap_or_default();
        let message = if name == "schemaFile" {
            "`format: json` needs a JSON Schema file here".to_owned()
        } else {
            match at.parent().and_then(|parent| parent.last()).filter(|_| name.parse::<usize>().is_ok()) {
                Some(list) => format!("an item of `{list}` must not be empty"),
                None => format!("`{name}` must not be empty"),
            }
        };
        Problem::new(Code::OutOfRange, at, range, message)
    }

    fn empty(&self, at: Pointer) -> Problem {
        let range = place(self.node, &at);
        let message = match at.last().filter(|name| name.parse::<usize>().is_err()) {
            Some(name) => format!("`{name}` is empty: it needs at least one entry"),
            None if at.is_root() && self.base.is_root() => "the file is empty: it needs at least one entry".to_owned(),
            None => {
                let alternatives = self.shape(&at).map(|shape| shape.alternatives()).unwrap_or_default();
                format!("nothing is said here: give {}", listed(alternatives))
            }
        };
        Problem::new(Code::OutOfRange, at, range, message)
    }

    /// More than one key where each item is one claim.
    fn too_many(&self, at: Pointer) -> Problem {
        let Some(node) = self.node.find(&at) else {
            return Problem::new(Code::ConflictingFields, at, self.node.range(), "more keys than can stand here");
        };
        let mut keys = node.entries().map(|entry| (entry.key.key_text(), entry.key.range()));
        let first = keys.next();
        let rest: Vec<_> = keys.collect();
        let names: Vec<&str> = first.iter().chain(&rest).map(|(key, _)| key.as_str()).collect();
        let message = format!("one assertion per item: {} stand in one, split it", both(&names));
        let range = rest.first().map_or_else(|| head(self.node, &at), |(_, range)| range.clone());
        let mut problem = Problem::new(Code::ConflictingFields, at.clone(), range, message);
        if let Some((key, range)) = first {
            problem = problem.with_related(format!("`{key}` stands here"), at.key(&key), range);
        }
        match fix::split(node) {
            Some(fix) => problem.with_fix(fix),
            None => problem,
        }
    }

    fn wrong_form(&self, at: Pointer) -> Problem {
        let range = place(self.node, &at);
        let name = at.last().unwrap_or_default();
        let found = self.node.find(&at).map(describe).unwrap_or_default();
        let message = match self.shape(&at).and_then(|shape| shape.word()) {
            Some(
                Word::File(_) | Word::Pattern(_) | Word::Template(_) | Word::Refers(_) | Word::Defines(_) | Word::Shell,
            ) => {
                format!("`{name}` cannot be {found}")
            }
            None if name.parse::<usize>().is_ok() => {
                let shape = self.shape(&at);
                let summary = shape.as_ref().and_then(Shape::summary).map(as_fragment).unwrap_or_default();
                let examples = shape.map(|shape| shape.examples()).unwrap_or_default();
                let example = examples.first().map(|example| format!(", such as `{}`", shape::show(example)));
                format!("{found} cannot stand here: expected {summary}{}", example.unwrap_or_default())
            }
            None => format!("{found} is no URL: begin `{name}` with a scheme, such as `https://`"),
        };
        Problem::new(Code::InvalidValue, at, range, message)
    }
}

/// A node in words: "the text `x`", "a list".
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
        (NodeShape::Scalar, Some(Scalar::Null)) => "nothing".to_owned(),
        (NodeShape::Scalar, Some(Scalar::Bool(_))) => format!("`{shown}`"),
        (NodeShape::Scalar, Some(Scalar::Float(value))) if value.is_nan() => format!("`{shown}`"),
        (NodeShape::Scalar, Some(Scalar::Int(_) | Scalar::Float(_))) => format!("the number `{shown}`"),
        (NodeShape::Scalar, Some(Scalar::Text | Scalar::Timestamp) | None) if text.is_empty() => {
            "an empty text".to_owned()
        }
        (NodeShape::Scalar, Some(Scalar::Text | Scalar::Timestamp) | None) => format!("the text `{shown}`"),
    }
}

/// Whether a key of another place is what somebody means: a likeness that far away must be a close one.
fn is_far_likeness(key: &str, name: &str, file: SpecFile) -> bool {
    is_surely(key, name, shape::all_keys(file)) || (key.len() >= 6 && name.starts_with(key))
}

/// Whether a list or a mapping is written in brackets.
fn is_in_brackets(node: NodeRef<'_>) -> bool {
    let start = node.own_range().start;
    let first = node.document().text().get_byte_slice(start..start + 1);
    node.scalar().is_none() && first.is_some_and(|first| first == "[" || first == "{")
}

fn with_article(label: &str) -> String {
    match label.chars().next() {
        Some('`') => label.to_owned(),
        _ if label.starts_with("any ") || label.split([' ', ',']).next() == Some("text") => label.to_owned(),
        Some('a' | 'e' | 'i' | 'o') => format!("an {label}"),
        _ => format!("a {label}"),
    }
}

fn both(names: &[&str]) -> String {
    match names {
        [first @ .., last] if !first.is_empty() => format!("{} and `{last}`", listed(first.iter().copied())),
        _ => listed(names.iter().copied()),
    }
}

fn first_field(shape: &Shape) -> &'static str {
    shape.fields(None).first().map_or("", |field| field.name)
}

/// The first sentence of a doc comment as the end of another one.
fn as_fragment(summary: &str) -> String {
    let sentence = summary.split(". ").next().unwrap_or(summary);
    let mut letters = sentence.trim_end_matches('.').chars();
    match letters.next() {
        Some(first) => first.to_lowercase().chain(letters).collect(),
        None => String::new(),
    }
}

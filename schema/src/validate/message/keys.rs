//! Keys in words: those that a mapping does not have, those that it lacks, and those that exclude each other.

use std::{
    cmp::Reverse,
    collections::{HashMap, HashSet},
};

use crate::{
    dialect::Dialect,
    document::{EntryRef, NodeRef, Pointer, Scalar, Shape as NodeShape},
    edit,
    json_schema::SpecFile,
    problem::{Code, Edit, Fix, Problem, Severity, Subject},
    shape::{self, Field, Place, Shape, Type},
    words::{all_of, differ_in_sense, is_surely, likeness, listed, nearest, opposite_of, same_negation},
};

use super::{
    super::{fix, head, unit::Unit},
    Context, Finding, Mapping, Wrong, as_fragment, with_article,
};

/// Where a test of KindLM has its claims.
const EXPECT: &str = "expect";

/// Where KindLM keeps the schema that `argsSchema` names.
const RESOLVED: &str = "argsSchemaResolved";

/// A key that is known so many steps away belongs there; farther away it is another one of the same name.
const NEARBY: usize = 2;

impl Context<'_> {
    /// A key that is missing and is misspelt beside is one problem, not two: it is reported at the key that
    /// is there, as an error. Returns those keys.
    pub(in crate::validate) fn drop_what_is_only_misspelt(&self, findings: &mut Vec<Finding>) -> HashSet<Pointer> {
        let mut misspelt = HashSet::new();
        let mut meant: HashSet<(Pointer, &'static str)> = HashSet::new();
        // Where keys are missing that are one level off.
        let mut moved: HashSet<Pointer> = HashSet::new();
        let pairs = only_pairs(findings);
        for finding in findings.iter() {
            let Wrong::UnknownKey(key) = &finding.wrong else { continue };
            let parent = finding.at.parent().unwrap_or_default();
            let mapping = self.mapping(&parent);
            if let Some(name) = nearest(key, mapping.missing.iter().copied()) {
                misspelt.insert(finding.at.clone());
                meant.insert((parent, name));
            } else if let Some(place) = self.neighbour(&mapping, &parent, key)
                && findings.iter().any(|other| other.at == place && matches!(other.wrong, Wrong::Missing(_)))
            {
                misspelt.insert(finding.at.clone());
                moved.insert(place);
            } else if let Some(name) = mapping.missing.iter().copied().find(|name| *name == EXPECT)
                && self.file == SpecFile::KindLm
                && self.unknown_key(finding.at.clone(), key).severity == Severity::Error
            {
                // A claim beside it is what was to be in it.
                meant.insert((parent, name));
            } else if let Some(missing) = pairs.get(&parent)
                && let Some(name) = mapping.missing.iter().copied().find(|name| name == missing)
                && self.is_stand_in(&mapping, key, name)
            {
                self.stand_ins.borrow_mut().insert(finding.at.clone(), name);
                misspelt.insert(finding.at.clone());
                meant.insert((parent, name));
            }
        }
        findings.retain(|finding| {
            let told = |parent: &Pointer, name: &'static str| meant.contains(&(parent.clone(), name));
            if let Wrong::Missing(key) = &finding.wrong {
                if moved.contains(&finding.at) {
                    return false;
                }
                let parent = finding.at.parent().unwrap_or_default();
                return !self.mapping(&parent).missing.iter().any(|name| name == key && told(&parent, name));
            }
            let alternatives = || self.shape(&finding.at).map(|shape| shape.alternatives()).unwrap_or_default();
            finding.wrong != Wrong::NoneOf || !alternatives().iter().any(|name| told(&finding.at, name))
        });
        misspelt
    }

    /// Whether an unknown key may be another name for the one that is missing: its value could be there, and
    /// it is not one that belongs nearby.
    fn is_stand_in(&self, mapping: &Mapping<'_>, key: &str, name: &str) -> bool {
        let is_near =
            |place: &Place| mapping.here.as_ref().is_some_and(|here| here != place && here.distance(place) <= NEARBY);
        if shape::places_of(self.file, key).iter().any(is_near)
            || opposite_of(key, &mapping.fields).is_some()
            || differ_in_sense(key, name)
        {
            return false;
        }
        let Some(shape) = mapping.shape.as_ref() else { return false };
        let Some((member, value)) = shape.step(name, mapping.node).zip(mapping.node.and_then(|node| node.get(key)))
        else {
            return false;
        };
        // What another form of the mapping calls so is a path, a name or neither: the one that is missing must be the same.
        let forms = shape.variants();
        let mut others = forms.iter().flat_map(|variant| variant.shape.fields(None)).filter(|field| field.name == key);
        others.all(|field| field.shape.word() == member.word()) && could_hold(&member, value)
    }

    pub(super) fn unknown_key(&self, at: Pointer, key: &str) -> Problem {
        let file = self.file;
        let parent = at.parent().unwrap_or_default();
        let range = head(self.node, &at);
        let known = self.mapping(&parent);
        let Mapping { node: mapping, here, fields, free, claims, variant, tags, .. } = &*known;
        let what = match variant {
            Some((_, tag)) => format!("unknown key `{key}` in `{tag}`"),
            None => format!("unknown key `{key}`"),
        };
        let mut problem = Problem::new(Code::UnknownKey, at.clone(), range.clone(), what);
        if *claims {
            problem.severity = Severity::Error;
        }
        if key == "<<" && !self.node.document().rules().merges() {
            let program = file.dialect().map_or("speclens", Dialect::program);
            return problem
                .with_note(format!("{program} does not apply merge keys here"))
                .with_help("write the keys out");
        }
        if key == RESOLVED && mapping.is_some_and(|mapping| mapping.entry("argsSchema").is_some()) {
            problem.severity = Severity::Warning;
            problem.message = format!("`{key}` has no effect beside `argsSchema`");
            return problem.with_help("remove it");
        }
        let entry = mapping.and_then(|mapping| mapping.entry(key));
        // What comes from a merge is put right where it is written: here is only its name.
        let editable = mapping.is_some_and(|mapping| !mapping.resolved().is_through_alias())
            && entry.is_some_and(|entry| !entry.key.is_through_alias());
        let elsewhere = here.as_ref().and_then(|here| nearest_place(file, here, key));
        let mut tags: Vec<&str> = tags.iter().filter(|(_, keys)| keys.contains(&key)).map(|(tag, _)| *tag).collect();
        // The form that is most like this one comes first.
        if let Some((_, own)) = variant {
            tags.sort_by_key(|tag| Reverse(likeness(own, tag)));
        }
        let near = nearest(key, free.iter().copied()).or_else(|| nearest(key, fields.iter().copied()));
        let member = |name: &str| known.shape.as_ref().and_then(|shape| shape.step(name, *mapping));
        // A value that cannot be there speaks against a likeness, unless that is close.
        let near = near.filter(|name| {
            let holds = entry
                .zip(member(name))
                .is_none_or(|(entry, member)| entry.value.is_null() || could_hold(&member, entry.value));
            holds || is_surely(key, name, fields.iter().copied())
        });
        let is_close = |place: &Place| here.as_ref().is_some_and(|here| here.distance(place) <= NEARBY);
        // Where only one of both places can have the value, the key belongs there.
        let fits_only_here = near.zip(elsewhere).zip(entry).is_some_and(|((name, place), entry)| {
            let other = Shape::find(file, &place.pointer().key(key), None);
            let fits = |shape: Option<Shape>| shape.is_some_and(|shape| could_hold(&shape, entry.value));
            free.contains(&name) && fits(member(name)) && !fits(other)
        });
        let stand_in = self.stand_ins.borrow().get(&at).copied();
        let opposite = opposite_of(key, fields).filter(|_| tags.is_empty() && !elsewhere.is_some_and(is_close));
        let mut misplaced = false;
        if let Some(name) = opposite {
            let value = entry.map(|entry| entry.value);
            let is_free = |name: &str| editable && free.contains(&name);
            let renamed = |name: &str, edits: Vec<Edit>| {
                std::iter::once(Edit::new(range.clone(), shape::scalar(name))).chain(edits).collect::<Vec<_>>()
            };
            if let Some(negation) = same_negation(key, name, fields) {
                let help = format!("write `{negation}`, the opposite of `{name}`");
                let reshaped = value.zip(member(negation)).and_then(|(value, member)| fix::reshaped(value, &member));
                let edits = reshaped.filter(|_| is_free(negation)).map(|shaped| renamed(negation, shaped.edits));
                problem.fixes.extend(edits.map(|edits| Fix::guess(&help, edits)));
                problem = problem.with_help(help);
            } else if member(name).is_some_and(|member| member.kind() == Type::Boolean)
                && let Some(value) = value.filter(|value| value.alias().is_none())
                && let Some(Scalar::Bool(said)) = value.scalar()
            {
                let help = format!("write `{name}: {}`, which says the same", !said);
                if is_free(name) {
                    let edits = vec![Edit::new(value.own_range(), (!said).to_string())];
                    problem.fixes.push(Fix::guess(&help, renamed(name, edits)));
                }
                problem = problem.with_help(help);
            } else {
                problem.add_note(format!("it is the opposite of `{name}`, and there is no key for that"));
            }
        } else if let Some(name) = stand_in {
            if let ([first, ..], Some((tag_key, _))) = (tags.as_slice(), variant) {
                problem.add_note(format!("`{key}` belongs to `{tag_key}: {first}`"));
            }
            problem.add_note(format!("the required key `{name}` is missing"));
            problem = with_rename(problem, key, name, entry, member(name), editable, false);
        } else if let Some(name) = near.filter(|_| fits_only_here || !elsewhere.is_some_and(is_close)) {
            if free.contains(&name) {
                // Of two keys that may be meant, only one can have the name.
                let means_it = |other: &str| {
                    other != key && !fields.contains(&other) && nearest(other, free.iter().copied()) == Some(name)
                };
                let has_rival =
                    mapping.is_some_and(|mapping| mapping.entries().any(|entry| means_it(&entry.key.key_text())));
                // A dash that is none of YAML's begins an item, not a name.
                let begins_as_name = key.starts_with(|letter: char| letter.is_alphanumeric() || letter == '_');
                let sure = !has_rival && begins_as_name && is_surely(key, name, free.iter().copied());
                problem = with_rename(problem, key, name, entry, member(name), editable, sure);
            } else {
                problem = problem.with_help(format!("move its value to `{name}`, or remove it"));
            }
        } else if let [first, rest @ ..] = tags.as_slice()
            && let Some((tag_key, _)) = variant
        {
            let is_like = variant.is_some_and(|(_, own)| likeness(own, first).1 > 0);
            problem.add_note(match (is_like || rest.is_empty(), rest) {
                (true, []) => format!("`{key}` belongs to `{tag_key}: {first}`"),
                (true, [..]) => format!("`{key}` belongs to `{tag_key}: {first}` and others"),
                (false, _) => format!("`{key}` belongs to other values of `{tag_key}`"),
            });
            problem = problem.with_help("remove it");
        } else if let (Some(place), Some(here)) = (elsewhere, here) {
            let help = place.way_from(here);
            misplaced = self.is_misplaced_claim(here, place, key);
            if let ([.., child], true, 1) = (place.0.as_slice(), here.contains(place), here.distance(place)) {
                let fix = mapping.and_then(|mapping| fix::below(mapping, key, child, member(child).as_ref()));
                problem.fixes.extend(fix);
            } else if place.contains(here) {
                problem.fixes.extend(self.move_out(&parent, here, place, key, &help));
            }
            problem = problem.with_help(help).with_subject(Subject::Home(place.clone()));
        } else if let (Some(name), Some(here)) =
            (nearest(key, shape::all_keys(file)).filter(|name| is_far_likeness(key, name, file)), here)
        {
            let place = shape::places_of(file, name).iter().min_by_key(|place| here.distance(place));
            misplaced = place.is_some_and(|place| self.is_misplaced_claim(here, place, name));
            let help = place.map(|place| format!("{}, as `{name}`", place.way_from(here)));
            if let Some(place) = place.filter(|place| here.contains(place) && here.distance(place) == 1)
                && is_surely(key, name, shape::all_keys(file))
                && let ([.., child], Some(mapping), Some(help)) = (place.0.as_slice(), mapping, &help)
                && let Some(edits) = edit::below_as(*mapping, key, child, name)
            {
                problem.fixes.push(Fix::guess(help, edits));
            }
            problem.help = help;
        } else {
            problem = problem.with_help(use_one_of(free));
        }
        if problem.fixes.is_empty()
            && (near.is_none() || opposite.is_some())
            && stand_in.is_none()
            && let Some(edits) = edit::comment_out(self.node, &at)
        {
            problem = problem.with_fix(Fix::comment(edits));
        }
        if misplaced {
            problem.severity = Severity::Error;
        }
        if (*claims || misplaced)
            && let Some(dialect) = file.dialect()
        {
            problem.add_note(unchecked(dialect));
        }
        problem
    }

    /// The cure of a key that belongs to a mapping around the one in which it stands.
    fn move_out(&self, parent: &Pointer, here: &Place, place: &Place, key: &str, title: &str) -> Option<Fix> {
        let between = here.0.get(place.0.len()..)?;
        // What is said of one item of a list is not said of all.
        if between.contains(&"[]") {
            return None;
        }
        let (mut outer, mut holder) = (parent.clone(), String::new());
        for _ in between {
            holder = outer.last()?;
            outer = outer.parent()?;
        }
        let edits = edit::beside(self.node.find(parent)?, key, self.node.find(&outer)?, &holder)?;
        let is_missing = self.mapping(&outer).missing.contains(&key);
        Some(if is_missing { Fix::safe(title, edits) } else { Fix::guess(title, edits) })
    }

    /// The place one level up or down where a key belongs that stands here.
    fn neighbour(&self, mapping: &Mapping<'_>, parent: &Pointer, key: &str) -> Option<Pointer> {
        let here = mapping.here.as_ref()?;
        let place = nearest_place(self.file, here, key).filter(|place| here.distance(place) == 1)?;
        match place.0.last() {
            Some(child) if here.contains(place) => Some(parent.key(child).key(key)),
            Some(_) | None => Some(parent.parent()?.key(key)),
        }
    }

    /// Whether a key that stands here instead of there is a claim that vanishes: beside `expect`, or above the tests.
    fn is_misplaced_claim(&self, here: &Place, place: &Place, key: &str) -> bool {
        let in_expect = place.0.contains(&EXPECT) && !here.0.contains(&EXPECT);
        self.file == SpecFile::KindLm && here.contains(place) && (in_expect || key == EXPECT)
    }

    /// Whether an unknown key in a mapping would be a claim that vanishes.
    pub(super) fn is_claim(&self, parent: &Pointer) -> bool {
        is_claim(&self.shape, self.node, parent)
    }

    pub(super) fn missing(&self, at: Pointer, key: &str) -> Problem {
        let parent = at.parent().unwrap_or_default();
        let shape = self.shape(&parent);
        let member = shape.as_ref().and_then(|shape| shape.step(key, self.node.find(&parent)));
        let owner = self.key_at(&parent);
        let tag = self.variant(&parent).and_then(|variant| variant.tag);
        let message = match (owner, tag) {
            (Some(owner), _) => format!("`{owner}` is missing `{key}`"),
            (None, Some((_, tag))) => format!("`{tag}` is missing `{key}`"),
            (None, None) => format!("missing `{key}`"),
        };
        let only_when = shape.is_some_and(|shape| {
            !shape.fields(None).iter().any(|field| field.name == key && field.need == shape::Need::Required)
        });
        let mut problem = Problem::new(Code::MissingField, at, head(self.node, &parent), message);
        problem.note = member.as_ref().and_then(Shape::summary).map(|docs| format!("`{key}`: {}", as_fragment(docs)));
        if only_when && key == "schemaFile" {
            problem.note = Some("`format: json` needs the JSON Schema that the output must match".to_owned());
        }
        problem.fixes.extend(self.insertion(&parent, key));
        problem.with_help(format!("add `{key}`"))
    }

    pub(super) fn none_of(&self, at: Pointer) -> Problem {
        let alternatives = self.shape(&at).map(|shape| shape.alternatives()).unwrap_or_default();
        let names = listed(alternatives.iter().copied());
        let message = format!("missing {names}");
        let problem = Problem::new(Code::MissingField, at.clone(), head(self.node, &at), message);
        let mut problem = problem.with_help("add one of them");
        problem.fixes.extend(alternatives.iter().filter_map(|key| self.insertion(&at, key)));
        problem
    }

    /// The fix that adds a key to a mapping, behind the keys that come first in its type.
    fn insertion(&self, at: &Pointer, key: &str) -> Option<Fix> {
        let (mapping, shape) = (self.node.find(at)?, self.shape(at)?);
        let order: Vec<&str> = shape.fields(Some(mapping)).iter().map(|field| field.name).collect();
        fix::insert(mapping, key, &shape.step(key, Some(mapping))?, &order, &[])
    }

    pub(super) fn several_of(&self, at: Pointer) -> Problem {
        let alternatives = self.shape(&at).map(|shape| shape.alternatives()).unwrap_or_default();
        let mut present: Vec<_> = self
            .node
            .find(&at)
            .into_iter()
            .flat_map(NodeRef::entries)
            .map(|entry| (entry.key.key_text(), entry.key.range()))
            .filter(|(key, _)| alternatives.contains(&key.as_str()))
            .collect();
        let message = format!("{} exclude each other", all_of(alternatives.iter().copied()));
        let help = "keep one of them";
        let Some((key, range)) = present.pop() else {
            let range = head(self.node, &at);
            return Problem::new(Code::ConflictingFields, at, range, message).with_help(help);
        };
        let mut problem = Problem::new(Code::ConflictingFields, at.key(&key), range, message).with_help(help);
        for (key, range) in present {
            problem = problem.with_related(format!("`{key}` is here"), at.key(&key), range);
        }
        problem
    }

    /// More than one key where each item is one claim.
    pub(super) fn too_many(&self, at: Pointer) -> Problem {
        let Some(node) = self.node.find(&at) else {
            return Problem::new(Code::ConflictingFields, at, self.node.range(), "too many keys");
        };
        let mut keys = node.entries().map(|entry| (entry.key.key_text(), entry.key.range()));
        let first = keys.next();
        let rest: Vec<_> = keys.collect();
        let names: Vec<&str> = first.iter().chain(&rest).map(|(key, _)| key.as_str()).collect();
        let message = format!("{} are in one list item", all_of(names.iter().copied()));
        let range = rest.first().map_or_else(|| head(self.node, &at), |(_, range)| range.clone());
        let problem = Problem::new(Code::ConflictingFields, at.clone(), range, message);
        let mut problem = problem.with_help(fix::split_into(names.len()));
        if let Some((key, range)) = first {
            problem = problem.with_related(format!("`{key}` is here"), at.key(&key), range);
        }
        match fix::split(node) {
            Some(fix) => problem.with_fix(fix),
            None => problem,
        }
    }
}

/// The help for a key that is none of those that a mapping may have.
fn use_one_of(free: &[&str]) -> String {
    match free {
        [] => "remove it".to_owned(),
        [only] => format!("use `{only}`, or remove it"),
        [..] => format!("use one of {}, or remove it", all_of(free.iter().copied())),
    }
}

/// What happens to an assertion under a name that does not exist.
fn unchecked(dialect: Dialect) -> String {
    format!("{} ignores the key, so it checks nothing", dialect.program())
}

/// Whether an unknown key in a mapping would be a claim that vanishes. `shape` is that of `node`.
pub(crate) fn is_claim(shape: &Shape, node: NodeRef<'_>, mapping: &Pointer) -> bool {
    let places = std::iter::successors(Some(mapping.clone()), Pointer::parent);
    places.into_iter().any(|at| shape.below(&at, Some(node)).is_some_and(|shape| shape.holds_claims()))
}

/// Says of an unknown key that it is another name of a field. `dialect` is given where the key was to be an assertion, `sure`
/// is whether the name means the same beyond doubt.
pub(crate) fn rename_key(
    problem: &mut Problem,
    mapping: NodeRef<'_>,
    field: &Field,
    dialect: Option<Dialect>,
    sure: bool,
) {
    let key = problem.at.last().unwrap_or_default();
    let entry = mapping.entry(&key);
    let editable =
        !mapping.resolved().is_through_alias() && entry.as_ref().is_some_and(|entry| !entry.key.is_through_alias());
    (problem.note, problem.help) = (None, None);
    problem.fixes.clear();
    *problem = with_rename(problem.clone(), &key, field.name, entry, Some(field.shape.clone()), editable, sure);
    if let Some(dialect) = dialect {
        problem.add_note(unchecked(dialect));
    }
}

/// Whether both names end with what a price is for, and not with the same: `input_per_1m`, `input_per_1k`.
fn counts_by_another_number(key: &str, name: &str) -> bool {
    let number =
        |text: &str| text.rsplit_once("per").map(|(_, number)| number.trim_start_matches(['_', '-']).to_lowercase());
    number(key).zip(number(name)).is_some_and(|(one, other)| {
        let is_number = |text: &str| text.starts_with(|letter: char| letter.is_ascii_digit());
        is_number(&one) && is_number(&other) && one != other
    })
}

/// Says that a key is to be renamed, and what its value must be then. `sure` is whether the name is beyond doubt.
fn with_rename(
    problem: Problem,
    key: &str,
    name: &str,
    entry: Option<EntryRef<'_>>,
    member: Option<Shape>,
    editable: bool,
    sure: bool,
) -> Problem {
    let Some(member) = member else { return problem.with_help(fix::rename_title(name)) };
    let (written, wanted) = (Unit::in_name(key), Unit::of(name, &member));
    let own = wanted.map(Unit::as_written).or_else(|| Unit::in_name(name));
    if written.zip(own).is_some_and(|(written, own)| written != own) || counts_by_another_number(key, name) {
        return problem.with_help(match wanted {
            Some(wanted) => format!("write `{name}`, which takes {}", wanted.label()),
            None => format!("write `{name}`, with values in that unit"),
        });
    }
    let value = entry.map(|entry| entry.value).filter(|value| !value.is_null());
    let nothing = fix::Reshaped { edits: Vec::new(), is_sure: true };
    let Some(shaped) = value.map_or(Some(nothing), |value| fix::reshaped(value, &member)) else {
        return problem.with_help(format!("write `{name}`, which takes {}", with_article(&member.type_name())));
    };
    let mut problem = problem;
    let fits = value.is_none_or(|value| could_hold(&member, value));
    if !fits {
        problem.add_note(format!("`{name}` takes {}", with_article(&member.type_name())));
    } else if let (None, Some(wanted @ (Unit::Milliseconds | Unit::Seconds)), false) = (written, wanted, sure) {
        problem.add_note(format!("`{name}` takes {}", wanted.label()));
    }
    if editable {
        let mut fix = fix::rename(problem.range.clone(), name, sure && fits && shaped.is_sure);
        fix.edits.extend(shaped.edits);
        fix.preferred &= sure || fits;
        problem.fixes.push(fix);
    }
    problem.with_help(fix::rename_title(name))
}

/// The nearest place to this one where a key is known. One that another form of the mapping here has does not belong
/// elsewhere.
fn nearest_place(file: SpecFile, here: &Place, key: &str) -> Option<&'static Place> {
    let others = shape::places_of(file, key).iter().filter(|place| *place != here);
    others.min_by_key(|place| (here.distance(place), place.0.len()))
}

/// The mappings in which exactly one key is unknown and exactly one is missing, with the latter.
fn only_pairs(findings: &[Finding]) -> HashMap<Pointer, String> {
    let mut seen: HashMap<Pointer, (usize, usize, Option<&String>)> = HashMap::new();
    for finding in findings {
        let parent = || finding.at.parent().unwrap_or_default();
        if matches!(finding.wrong, Wrong::UnknownKey(_)) {
            seen.entry(parent()).or_default().0 += 1;
        } else if let Wrong::Missing(name) = &finding.wrong {
            let counts = seen.entry(parent()).or_default();
            counts.1 += 1;
            counts.2 = Some(name);
        }
    }
    let pairs = seen.into_iter().filter(|(_, (unknown, missing, _))| (*unknown, *missing) == (1, 1));
    pairs.filter_map(|(parent, (.., name))| Some((parent, name?.clone()))).collect()
}

/// Whether a value, given the shape that a new key wants, is one that the key can have.
pub(crate) fn could_hold(member: &Shape, value: NodeRef<'_>) -> bool {
    let Some(shaped) = fix::reshaped(value, member).filter(|_| !value.is_null()) else { return false };
    let is_text = |shape: &Shape, node: NodeRef<'_>| {
        node.as_str().is_some_and(|text| !text.is_empty() && shape.admits_text(text))
    };
    match (member.kind(), value.shape()) {
        (_, NodeShape::Dangling) => false,
        (Type::Any, _) => true,
        (Type::Text, NodeShape::Scalar) => is_text(member, value),
        (Type::Integer, NodeShape::Scalar) => matches!(value.scalar(), Some(Scalar::Int(_))),
        (Type::Number, NodeShape::Scalar) => matches!(value.scalar(), Some(Scalar::Int(_) | Scalar::Float(_))),
        (Type::Boolean, NodeShape::Scalar) => matches!(value.scalar(), Some(Scalar::Bool(_))),
        (Type::List, NodeShape::Scalar) => {
            !shaped.edits.is_empty() && member.item().is_some_and(|item| is_text(&item, value))
        }
        (Type::List, shape) => shape == NodeShape::Sequence,
        (Type::Mapping, shape) => shape == NodeShape::Mapping,
        (Type::Text, NodeShape::Sequence) => value.items().all(|item| is_text(member, item)),
        (Type::Text | Type::Integer | Type::Number | Type::Boolean, _) => false,
    }
}

/// Whether a key of another place is meant: a likeness that far away must be a close one.
fn is_far_likeness(key: &str, name: &str, file: SpecFile) -> bool {
    is_surely(key, name, shape::all_keys(file)) || (key.len() >= 6 && name.starts_with(key))
}

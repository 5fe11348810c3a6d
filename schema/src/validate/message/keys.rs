//! Keys in words: those that a mapping does not have, those that it lacks, and those that exclude each other.

use std::collections::{HashMap, HashSet};

use crate::{
    document::{NodeRef, Pointer, Scalar, Shape as NodeShape},
    json_schema::SpecFile,
    problem::{Code, Edit, Fix, Problem, Severity},
    rewrite::{self, COMMENT, moving},
    shape::{self, Place, Shape, Type},
    words::{all_of, is_surely, listed, nearest, opposite_of, same_negation},
};

use super::{
    super::{fix, head},
    Context, Finding, Mapping, Wrong, as_fragment,
};

/// Where a test of KindLM has its claims.
const EXPECT: &str = "expect";

/// Where the original program keeps the schema that `argsSchema` names.
const RESOLVED: &str = "argsSchemaResolved";

/// A key that is known so many steps away belongs there; farther away it is another one of the same name.
const NEARBY: usize = 2;

impl Context<'_> {
    /// A key that is missing and stands misspelt beside is one mistake, not two: it is told at the key that
    /// is there, as an error. Returns those keys.
    pub(in crate::validate) fn drop_what_is_only_misspelt(&self, findings: &mut Vec<Finding>) -> HashSet<Pointer> {
        let mut misspelt = HashSet::new();
        let mut meant: HashSet<(Pointer, &'static str)> = HashSet::new();
        // Where keys are missing that stand one level off.
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
                // A claim that stands beside it is what was to stand in it.
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

    /// Whether an unknown key may be what somebody calls the one that is missing: its value could stand there, and
    /// it is not one that belongs nearby.
    fn is_stand_in(&self, mapping: &Mapping<'_>, key: &str, name: &str) -> bool {
        let is_near =
            |place: &Place| mapping.here.as_ref().is_some_and(|here| here != place && here.distance(place) <= NEARBY);
        if shape::places_of(self.file, key).iter().any(is_near) || opposite_of(key, &mapping.fields).is_some() {
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
        let elsewhere = here.as_ref().and_then(|here| nearest_place(file, here, key));
        let tags: Vec<&str> = tags.iter().filter(|(_, keys)| keys.contains(&key)).map(|(tag, _)| *tag).collect();
        let near = nearest(key, free.iter().copied()).or_else(|| nearest(key, fields.iter().copied()));
        // A value that cannot be there speaks against a likeness, unless that is close.
        let near = near.filter(|name| {
            let member = known.shape.as_ref().and_then(|shape| shape.step(name, *mapping));
            let holds = entry
                .zip(member)
                .is_none_or(|(entry, member)| entry.value.is_null() || could_hold(&member, entry.value));
            holds || is_surely(key, name, fields.iter().copied())
        });
        let is_close = |place: &Place| here.as_ref().is_some_and(|here| here.distance(place) <= NEARBY);
        // Where only one of both places can have the value, the key belongs there.
        let fits_only_here = near.zip(elsewhere).zip(entry).is_some_and(|((name, place), entry)| {
            let member = known.shape.as_ref().and_then(|shape| shape.step(name, *mapping));
            let other = Shape::find(file, &place.pointer().key(key), None);
            let fits = |shape: Option<Shape>| shape.is_some_and(|shape| could_hold(&shape, entry.value));
            free.contains(&name) && fits(member) && !fits(other)
        });
        let stand_in = self.stand_ins.borrow().get(&at).copied();
        let opposite = opposite_of(key, fields).filter(|_| tags.is_empty() && !elsewhere.is_some_and(is_close));
        if let Some(name) = opposite {
            problem.message = what;
            let member = |name| known.shape.as_ref().and_then(|shape| shape.step(name, *mapping));
            let value = entry.map(|entry| entry.value);
            let is_free = |name: &str| editable && free.contains(&name);
            let renamed = |name: &str, edits: Vec<Edit>| {
                std::iter::once(Edit::new(range.clone(), shape::scalar(name))).chain(edits).collect::<Vec<_>>()
            };
            if let Some(negation) = same_negation(key, name, fields) {
                let words = format!("rite `{negation}`, the opposite of `{name}`");
                let reshaped = value.zip(member(negation)).and_then(|(value, member)| fix::reshaped(value, &member));
                let edits = reshaped.filter(|_| is_free(negation)).map(|edits| renamed(negation, edits));
                problem.fixes.extend(edits.map(|edits| Fix::guess(format!("W{words}"), edits)));
                problem = problem.with_help(format!("w{words}"));
            } else if member(name).is_some_and(|member| member.kind() == Type::Boolean)
                && let Some(value) = value.filter(|value| value.alias().is_none())
                && let Some(Scalar::Bool(said)) = value.scalar()
            {
                let words = format!("rite `{name}: {}`, which says the same", !said);
                if is_free(name) {
                    let edits = vec![Edit::new(value.own_range(), (!said).to_string())];
                    problem.fixes.push(Fix::guess(format!("W{words}"), renamed(name, edits)));
                }
                problem = problem.with_help(format!("w{words}"));
            } else {
                problem = problem.with_note(format!("it is the opposite of `{name}`, which has no counterpart here"));
            }
        } else if let Some(name) = stand_in {
            problem.message = format!("{what}: write `{name}`, which is missing");
            if let ([first, ..], Some((tag_key, _))) = (tags.as_slice(), variant) {
                problem.message.push_str(&format!("; `{key}` belongs to `{tag_key}: {first}`"));
            }
            let member = known.shape.as_ref().and_then(|shape| shape.step(name, *mapping));
            let edits = entry.zip(member).and_then(|(entry, member)| fix::reshaped(entry.value, &member));
            if let Some(edits) = edits.filter(|_| editable) {
                let mut fix = fix::rename(range, name, false);
                fix.edits.extend(edits);
                problem = problem.with_fix(fix);
            }
        } else if let Some(name) = near.filter(|_| fits_only_here || !elsewhere.is_some_and(is_close)) {
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
            if let ([.., child], true, 1) = (place.0.as_slice(), here.contains(place), here.distance(place)) {
                problem.fixes.extend(mapping.and_then(|mapping| moving::fix_below(mapping, key, child)));
            } else if place.contains(here) {
                problem.fixes.extend(self.move_out(&parent, here, place, key));
            }
        } else if let (Some(name), Some(here)) =
            (nearest(key, shape::all_keys(file)).filter(|name| is_far_likeness(key, name, file)), here)
        {
            let place = shape::places_of(file, name).iter().min_by_key(|place| here.distance(place));
            misplaced = place.is_some_and(|place| self.is_misplaced_claim(here, place, name));
            if let Some(place) = place.filter(|place| here.contains(place) && here.distance(place) == 1)
                && is_surely(key, name, shape::all_keys(file))
                && let ([.., child], Some(mapping)) = (place.0.as_slice(), mapping)
                && let Some(edits) = moving::below_as(*mapping, key, child, name)
            {
                problem.fixes.push(Fix::guess(format!("Move below `{child}`, as `{name}`"), edits));
            }
            let place = place.map(|place| format!(" {}", place.words_from(here))).unwrap_or_default();
            problem.message = format!("{what}: did you mean `{name}`{place}?");
        } else if free.is_empty() {
            problem.message = format!("{what}: nothing more can stand here");
        } else {
            problem.message = format!("{what}: expected {}", listed(free.iter().copied()));
        }
        if problem.fixes.is_empty()
            && (near.is_none() || opposite.is_some())
            && stand_in.is_none()
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

    /// The cure of a key that belongs to a mapping around the one in which it stands.
    fn move_out(&self, parent: &Pointer, here: &Place, place: &Place, key: &str) -> Option<Fix> {
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
        let edits = moving::beside(self.node.find(parent)?, key, self.node.find(&outer)?, &holder)?;
        let title = format!("Move behind `{holder}`");
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
        let mut at = Some(parent.clone());
        while let Some(here) = at {
            if self.shape(&here).is_some_and(|shape| shape.holds_claims()) {
                return true;
            }
            at = here.parent();
        }
        false
    }

    pub(super) fn missing(&self, at: Pointer, key: &str) -> Problem {
        let parent = at.parent().unwrap_or_default();
        let shape = self.shape(&parent);
        let member = shape.as_ref().and_then(|shape| shape.step(key, self.node.find(&parent)));
        let owner = self.key_at(&parent);
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

    pub(super) fn none_of(&self, at: Pointer) -> Problem {
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
        let message = format!("{} exclude each other: keep one", all_of(alternatives.iter().copied()));
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

    /// More than one key where each item is one claim.
    pub(super) fn too_many(&self, at: Pointer) -> Problem {
        let Some(node) = self.node.find(&at) else {
            return Problem::new(Code::ConflictingFields, at, self.node.range(), "more keys than can stand here");
        };
        let mut keys = node.entries().map(|entry| (entry.key.key_text(), entry.key.range()));
        let first = keys.next();
        let rest: Vec<_> = keys.collect();
        let names: Vec<&str> = first.iter().chain(&rest).map(|(key, _)| key.as_str()).collect();
        let message = format!("one assertion per item: {} stand in one, split it", all_of(names.iter().copied()));
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
    let Some(edits) = fix::reshaped(value, member).filter(|_| !value.is_null()) else { return false };
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
        (Type::List, NodeShape::Scalar) => !edits.is_empty() && member.item().is_some_and(|item| is_text(&item, value)),
        (Type::List, shape) => shape == NodeShape::Sequence,
        (Type::Mapping, shape) => shape == NodeShape::Mapping,
        (Type::Text, NodeShape::Sequence) => value.items().all(|item| is_text(member, item)),
        (Type::Text | Type::Integer | Type::Number | Type::Boolean, _) => false,
    }
}

/// Whether a key of another place is what somebody means: a likeness that far away must be a close one.
fn is_far_likeness(key: &str, name: &str, file: SpecFile) -> bool {
    is_surely(key, name, shape::all_keys(file)) || (key.len() >= 6 && name.starts_with(key))
}

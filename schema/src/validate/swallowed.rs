//! Keys of a test or of a section that are indented into a mapping with free keys: `expect` in `vars`. The mapping takes
//! any name, so the key is missing above, or its value has the wrong type.

use crate::{
    document::{NodeRef, Pointer, Shape as NodeShape},
    shape::{Shape, Type},
};

use super::{
    context::{Context, Violation, ViolationKind},
    could_hold,
};

/// Maximum number of mappings between the place of a key and the one that contains it.
const MAX_DEPTH: usize = 2;

impl Context<'_> {
    /// Replaces the violations that keys in a mapping with free keys cause by one for each such mapping, at its first key.
    pub(super) fn merge_swallowed(&self, violations: &mut Vec<Violation>) {
        let mut found: Vec<(Pointer, Pointer)> = Vec::new();
        for violation in violations.iter() {
            let at = &violation.at;
            match &violation.kind {
                ViolationKind::Missing(key) => {
                    let Some(outer) = at.parent() else { continue };
                    let swallowed = self.swallowed_below(&outer, &outer, key, 0).map(|at| (at, outer));
                    found.extend(swallowed);
                }
                ViolationKind::Type => found.extend(self.outer_of(at).map(|outer| (at.clone(), outer))),
                ViolationKind::UnknownKey(_)
                | ViolationKind::Swallowed { .. }
                | ViolationKind::Value
                | ViolationKind::NoneOf
                | ViolationKind::SeveralOf
                | ViolationKind::Number
                | ViolationKind::EmptyText
                | ViolationKind::Empty
                | ViolationKind::TooMany
                | ViolationKind::Pattern
                | ViolationKind::Other(_) => {}
            }
        }
        found.sort_by_key(|(at, _)| crate::lint_node::head(self.node, at).start);
        found.dedup();
        while let Some((at, outer)) = found.first().cloned() {
            let Some(holder) = at.parent() else { return };
            // Keys with other values may be names, unless they are keys above, too, and missing there.
            let is_free = |key: &str| self.mapping(&outer).missing.contains(&key);
            let mut keys: Vec<String> = Vec::new();
            for entry in self.node.find(&holder).into_iter().flat_map(NodeRef::entries) {
                let key = entry.key.key_text();
                let is_found = found.iter().any(|(found, _)| *found == holder.key(&key));
                if is_found || is_free(&key) {
                    keys.push(key);
                }
            }
            found.retain(|(at, _)| at.parent().as_ref() != Some(&holder));
            violations.retain(|violation| {
                if let ViolationKind::Missing(key) = &violation.kind {
                    return violation.at.parent() != Some(outer.clone()) || !keys.contains(key);
                }
                if violation.kind == ViolationKind::NoneOf && violation.at == outer {
                    let needed = self.mapping(&outer).shape.as_ref().map(Shape::one_of_needed).unwrap_or_default();
                    return !needed.iter().any(|key| keys.iter().any(|known| known == key));
                }
                !keys.iter().any(|key| violation.at.below(&holder.key(key)).is_some())
            });
            let at = keys.first().map_or(at, |key| holder.key(key));
            violations.push(Violation { at, kind: ViolationKind::Swallowed { keys, outer } });
        }
    }

    fn swallowed_below(&self, outer: &Pointer, within: &Pointer, key: &str, depth: usize) -> Option<Pointer> {
        let mapping = self.node.find(within).filter(|node| node.shape() == NodeShape::Mapping)?;
        mapping.entries().filter(|entry| entry.value.alias().is_none()).find_map(|entry| {
            let at = within.key(&entry.key.key_name());
            let shape = self.shape(&at)?;
            if shape.kind() != Type::Mapping {
                return None;
            }
            let is_free = shape.all_fields().is_empty();
            let own = entry.value.entry(key).filter(|own| is_free && self.belongs_to(outer, key, own.value));
            match own {
                Some(_) => Some(at.key(key)),
                None if depth + 1 < MAX_DEPTH => self.swallowed_below(outer, &at, key, depth + 1),
                None => None,
            }
        })
    }

    /// Returns the enclosing mapping of which a value in a mapping with free keys is a key.
    fn outer_of(&self, at: &Pointer) -> Option<Pointer> {
        let (holder, key) = (at.parent()?, self.key_at(at)?);
        self.shape(&holder)?.map_value()?;
        let outer = holder.parent()?;
        let is_free = self.mapping(&outer).free.contains(&key.as_str());
        (is_free && self.belongs_to(&outer, &key, self.node.find(at)?)).then_some(outer)
    }

    /// Whether a mapping or list may be the value of a key. Other values may be those of names.
    fn belongs_to(&self, outer: &Pointer, key: &str, value: NodeRef<'_>) -> bool {
        let known = self.mapping(outer);
        let member = known.shape.as_ref().and_then(|shape| shape.step(key, known.node));
        let is_collection = matches!(value.shape(), NodeShape::Mapping | NodeShape::Sequence);
        is_collection && member.is_some_and(|member| could_hold(&member, value))
    }
}

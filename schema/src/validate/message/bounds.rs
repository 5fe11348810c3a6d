//! Bounds in words: numbers outside of theirs, and texts, lists and mappings that are empty.

use crate::{
    document::{NodeRef, Pointer, Scalar},
    problem::{Code, Problem},
    shape::Type,
    words::listed,
};

use super::{
    super::{fix, place},
    Context, describe,
};

impl Context<'_> {
    pub(super) fn out_of_bounds(&self, at: Pointer) -> Problem {
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
        let message = format!("`{name}` must be {from}{bounds}, found {found}");
        // A share that was written as a percentage.
        let share = self.node.find(&at).filter(|node| bounds == "0 to 1" && !node.resolved().is_through_alias());
        if let Some(node) = share
            && let Some(percent @ 10..=100) = node.text().and_then(|text| text.parse::<u32>().ok())
        {
            let text = (f64::from(percent) / 100.0).to_string();
            let help = format!("write `{text}`");
            let fix = fix::guess(node.own_range(), text, help.clone());
            return Problem::new(Code::OutOfRange, at, range, message).with_help(help).with_fix(fix);
        }
        Problem::new(Code::OutOfRange, at, range, message)
    }

    pub(super) fn empty_text(&self, at: Pointer) -> Problem {
        let range = place(self.node, &at);
        let name = at.last().unwrap_or_default();
        let message = match at.parent().and_then(|parent| parent.last()).filter(|_| self.key_at(&at).is_none()) {
            Some(list) => format!("an item of `{list}` must not be empty"),
            None if name.is_empty() => "this item must not be empty".to_owned(),
            None => format!("`{name}` must not be empty"),
        };
        let problem = Problem::new(Code::OutOfRange, at, range, message);
        match name.as_str() {
            "schemaFile" => problem.with_note("`format: json` needs a JSON Schema file"),
            _ => problem,
        }
    }

    pub(super) fn empty(&self, at: Pointer) -> Problem {
        let range = place(self.node, &at);
        let is_list = self.shape(&at).is_some_and(|shape| shape.kind() == Type::List);
        let more = if is_list { "add an item" } else { "add a key" };
        let (message, help) = match self.key_at(&at) {
            Some(name) => (format!("`{name}` must not be empty"), more.to_owned()),
            None if at.is_root() && self.base.is_root() => ("the file must not be empty".to_owned(), more.to_owned()),
            None => {
                let alternatives = self.shape(&at).map(|shape| shape.alternatives()).unwrap_or_default();
                ("the mapping must not be empty".to_owned(), format!("add {}", listed(alternatives)))
            }
        };
        Problem::new(Code::OutOfRange, at, range, message).with_help(help)
    }
}

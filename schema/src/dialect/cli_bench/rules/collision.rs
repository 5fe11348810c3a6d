//! Duplicates in a cli-bench suite: models, modes, task files, and assertions.

use std::collections::HashMap;

use crate::{
    dialect::cli_bench::{
        asserted::Asserted,
        facts::{About, ItemFacts},
        task_files::is_pattern,
    },
    document::{NodeRef, Shape},
    edit,
    finding::{Finding, MessageParts, Relation, Report},
    lint_node::LintNode,
    problem::{Code, Fix},
    relations::{Items, Named},
    validate::is_damaged,
};

/// Checks the models and modes of a suite.
pub(crate) fn check_root(root: &LintNode<'_>, report: &mut Report) {
    let repeated = |key: &str| root.get(key).into_iter().flat_map(|list| repetitions(&list));
    for (name, mode, first) in repeated("help_modes") {
        let words =
            MessageParts::new(format!("duplicate mode `{name}`")).note("the whole suite runs once in each mode");
        report.push(duplicate(&mode, root, words).with("first listed here", &first));
    }
    for (name, model, first) in repeated("providers").filter(|(name, ..)| !name.is_empty()) {
        let words = MessageParts::new(format!("duplicate model `{name}`")).note("it runs only once");
        report.push(duplicate(&model, root, words).with("first listed here", &first));
    }
}

/// Returns the duplicate strings of a list, each with its first occurrence.
fn repetitions<'d>(list: &LintNode<'d>) -> Vec<(&'d str, LintNode<'d>, LintNode<'d>)> {
    let mut seen: HashMap<&str, LintNode<'d>> = HashMap::new();
    let mut repeated = Vec::new();
    for (text, item) in list.texts() {
        match seen.get(text) {
            Some(first) => repeated.push((text, item, first.clone())),
            None => drop(seen.insert(text, item)),
        }
    }
    repeated
}

/// Reports task files of several items.
pub(crate) fn check_relations(items: Items<'_>, report: &mut Report) {
    let mut seen: HashMap<&str, (usize, &Named)> = HashMap::new();
    for (index, facts) in items.about(About::Files) {
        let ItemFacts::Files(entry, files) = facts else { continue };
        for file in files {
            let Some((first_index, first)) = seen.get(file.path.as_str()) else {
                seen.insert(&file.path, (index, entry));
                continue;
            };
            let (at, range) = items.place(index, entry);
            let (first_at, first_range) = items.place(*first_index, first);
            let has_pattern = [entry, *first].iter().any(|item| is_pattern(&item.name));
            let words = MessageParts::new(format!("duplicate task file `{}`", file.path))
                .note("its tasks run only once")
                .help(match has_pattern {
                    true => "narrow the pattern, or remove one of the two items",
                    false => "remove one of the two",
                });
            let finding = Finding::stated(Code::Collision, words, at, range);
            report.push(finding.related(Relation::Labelled("first listed here"), first_at, first_range));
        }
    }
}

/// Reports duplicate assertions in a list.
pub(crate) fn check_assertions(asserted: &Asserted<'_>, report: &mut Report) {
    let items = &asserted.items;
    if items.len() < 2 {
        return;
    }
    let mut seen: HashMap<String, usize> = HashMap::new();
    for (index, item) in items.iter().enumerate() {
        // A command may have another result if it runs again.
        if !item.is_mapping() || item.get("verify").is_some() || is_damaged(item.node) {
            continue;
        }
        let mut says = String::new();
        if as_written(item.node, &mut says).is_none() {
            continue;
        }
        let first = *seen.entry(says).or_insert(index);
        if first == index {
            continue;
        }
        let first = &items[first];
        let words = with_removal(MessageParts::new("duplicate assertion"), &asserted.list, index);
        let finding = item.head_problem(Code::Collision, words);
        report.push(finding.related(Relation::Labelled("first asserted here"), first.at.clone(), first.head()));
    }
}

/// Appends the content of an assertion, for comparison. `None` if part of it is empty or an alias.
fn as_written(node: NodeRef<'_>, says: &mut String) -> Option<()> {
    if node.alias().is_some() || node.resolved().is_through_alias() {
        return None;
    }
    match node.shape() {
        Shape::Scalar => {
            let text = match node.as_str() {
                Some(text) => format!("{text:?}"),
                // `1` and `1.0` may be meant as strings.
                None => String::from(node.document().text().get_byte_slice(node.own_range())?),
            };
            let is_something = !node.is_null() && node.text().is_some_and(|text| !text.trim().is_empty());
            is_something.then(|| says.push_str(&text))
        }
        Shape::Mapping => {
            let entries = node.entries().map(|entry| {
                let mut value = String::new();
                as_written(entry.value, &mut value)?;
                (!entry.is_merge()).then(|| (entry.key.key_text(), value))
            });
            let mut entries: Vec<(String, String)> = entries.collect::<Option<_>>()?;
            entries.sort();
            entries.iter().for_each(|(key, value)| says.push_str(&format!("{key:?}:{value},")));
            (!entries.is_empty()).then_some(())
        }
        Shape::Sequence | Shape::Dangling => None,
    }
}

/// Returns the finding about a duplicate item of a list below `root`.
fn duplicate(item: &LintNode<'_>, root: &LintNode<'_>, words: MessageParts) -> Finding {
    let list = item.at.parent().and_then(|list| root.at(&list));
    let index = item.at.last_step().and_then(|step| step.index());
    let words = match list.zip(index) {
        Some((list, index)) => with_removal(words, &list, index),
        None => words,
    };
    item.problem(Code::Collision, words)
}

/// Adds the help and the fix that remove an item of a list.
fn with_removal(words: MessageParts, list: &LintNode<'_>, index: usize) -> MessageParts {
    words.remedy("remove it", Fix::guess, edit::remove_item(list.node, index))
}

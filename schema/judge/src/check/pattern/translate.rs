//! Translates a pattern's tree for the search engines: [`regex`] if possible, in linear time, or else `fancy_regex`, if
//! look-around or references need backtracking.

use std::fmt::Write;

use super::{
    PatternError, PatternErrorKind,
    syntax::Node,
    units::{Units, line_ends, same_ignoring_case, word},
};
use crate::mask::MASK_CHARACTER;

/// A pattern for one of the two engines.
#[derive(Clone, Debug)]
pub(super) struct Translation {
    pub(super) pattern: String,
    pub(super) backtracks: bool,
}

pub(super) fn translate(root: &Node, ignore_case: bool) -> Result<Translation, PatternError> {
    refuse_empty_loops(root)?;
    let mut facts = Facts::default();
    facts.collect(root, &mut Vec::new());
    let references = facts.settle()?;
    let backtracks = root.any(&|node| {
        matches!(node, Node::Look { .. } | Node::Reference { .. } | Node::WordBoundary { negative: true })
    });
    let mut writer = Writer { out: String::new(), ignore_case, backtracks, references, captures: Vec::new() };
    writer.captures = writer.references.iter().filter_map(|it| it.live.then_some(it.group)).collect();
    writer.captures.sort_unstable();
    writer.captures.dedup();
    writer.node(root);
    Ok(Translation { pattern: writer.out, backtracks })
}

fn untranslatable(at: usize, message: &str) -> PatternError {
    PatternError { kind: PatternErrorKind::Untranslatable, at, message: message.to_owned() }
}

/// In ECMAScript an optional round of a loop must match something: an empty one is undone, and the next alternative is
/// tried. The engines end the loop there, which is the same unless a later alternative matches more.
fn refuse_empty_loops(node: &Node) -> Result<(), PatternError> {
    if let Node::Repeat { body, min, max, at, .. } = node
        && max.is_none_or(|max| max > *min)
        && body.can_be_empty()
        && body.any(&prefers_nothing)
    {
        return Err(untranslatable(*at, "a repeated part that matches the empty string first is not supported"));
    }
    node.children().iter().try_for_each(refuse_empty_loops)
}

fn prefers_nothing(node: &Node) -> bool {
    match node {
        Node::Repeat { greedy, max, min, .. } => !greedy && max.is_none_or(|max| max > *min),
        Node::Alternatives(branches) => {
            branches.split_last().is_some_and(|(_, rest)| rest.iter().any(Node::can_be_empty))
        }
        Node::Empty
        | Node::Unit(_)
        | Node::Set { .. }
        | Node::Sequence(_)
        | Node::Capture(..)
        | Node::Look { .. }
        | Node::Start
        | Node::End
        | Node::WordBoundary { .. }
        | Node::Reference { .. } => false,
    }
}

/// The node around a group or a reference.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Frame {
    Loop,
    Choice,
    Behind,
    Negative(usize),
}

#[derive(Debug, Default)]
struct Facts {
    clock: usize,
    groups: Vec<(usize, Vec<Frame>, usize)>,
    references: Vec<(usize, Vec<Frame>, usize, usize)>,
}

/// A reference, in the order of the pattern. One that is not live always matches the empty string.
#[derive(Clone, Copy, Debug)]
struct Reference {
    group: usize,
    live: bool,
}

impl Facts {
    fn collect(&mut self, node: &Node, around: &mut Vec<Frame>) {
        self.clock += 1;
        let depth = around.len();
        match node {
            Node::Reference { group, at } => self.references.push((*group, around.clone(), self.clock, *at)),
            Node::Alternatives(_) => around.push(Frame::Choice),
            Node::Look { behind, negative, .. } => {
                if *behind {
                    around.push(Frame::Behind);
                }
                if *negative {
                    around.push(Frame::Negative(self.clock));
                }
            }
            Node::Repeat { min, max, .. } => {
                if max.is_none_or(|max| max > 1) {
                    around.push(Frame::Loop);
                }
                if *min == 0 && *max == Some(1) {
                    around.push(Frame::Choice);
                }
            }
            Node::Empty
            | Node::Unit(_)
            | Node::Set { .. }
            | Node::Sequence(_)
            | Node::Capture(..)
            | Node::Start
            | Node::End
            | Node::WordBoundary { .. } => {}
        }
        for child in node.children() {
            self.collect(child, around);
        }
        around.truncate(depth);
        self.clock += 1;
        if let Node::Capture(index, _) = node {
            self.groups.push((*index, around.clone(), self.clock));
        }
    }

    fn settle(&self) -> Result<Vec<Reference>, PatternError> {
        let mut settled = Vec::with_capacity(self.references.len());
        for (group, around, clock, at) in &self.references {
            let Some((_, home, closed)) = self.groups.iter().find(|(index, ..)| index == group) else {
                settled.push(Reference { group: *group, live: false });
                continue;
            };
            if around.contains(&Frame::Behind) || home.contains(&Frame::Behind) {
                return Err(untranslatable(*at, "back-references in a look-behind are not supported"));
            }
            let denied = home.iter().any(|frame| matches!(frame, Frame::Negative(_)) && !around.contains(frame));
            if clock < closed || denied {
                settled.push(Reference { group: *group, live: false });
                continue;
            }
            // ECMAScript resets the group at the start of each round; the engine keeps the old match. An inner loop
            // that may run no round at all is an alternative as well.
            let forgets = home.iter().enumerate().any(|(index, frame)| {
                *frame == Frame::Loop
                    && home[index + 1..].iter().any(|inner| matches!(inner, Frame::Choice | Frame::Loop))
            });
            if forgets {
                return Err(untranslatable(*at, "a reference to a group that a repetition may skip is not supported"));
            }
            settled.push(Reference { group: *group, live: true });
        }
        Ok(settled)
    }
}

struct Writer {
    out: String,
    ignore_case: bool,
    backtracks: bool,
    /// In the order of the pattern; taken from the front.
    references: Vec<Reference>,
    /// The groups that must be captured, in order.
    captures: Vec<usize>,
}

impl Writer {
    fn push(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn node(&mut self, node: &Node) {
        match node {
            Node::Empty => self.push("(?:)"),
            Node::Unit(unit) => {
                let same = if self.ignore_case { same_ignoring_case(*unit) } else { Units::one(*unit) };
                if same == Units::one(*unit) {
                    self.unit(*unit);
                } else {
                    self.set(&same);
                }
            }
            Node::Set { units, inverted } => {
                let units = if self.ignore_case { units.ignoring_case() } else { units.clone() };
                self.set(&if *inverted { units.inverted() } else { units });
            }
            Node::Sequence(items) => items.iter().for_each(|item| {
                if matches!(item, Node::Alternatives(_)) { self.grouped(item) } else { self.node(item) }
            }),
            Node::Alternatives(branches) => {
                for (index, branch) in branches.iter().enumerate() {
                    if index > 0 {
                        self.push("|");
                    }
                    self.node(branch);
                }
            }
            Node::Capture(index, body) => {
                let captured = self.captures.binary_search(index).is_ok();
                self.push(if captured { "(" } else { "(?:" });
                self.node(body);
                self.push(")");
            }
            Node::Look { behind, negative, body } => {
                self.push(match (behind, negative) {
                    (false, false) => "(?=",
                    (false, true) => "(?!",
                    (true, false) => "(?<=",
                    (true, true) => "(?<!",
                });
                self.node(body);
                self.push(")");
            }
            Node::Start => self.push(r"\A"),
            Node::End => self.push(r"\z"),
            Node::WordBoundary { negative } => self.boundary(*negative),
            Node::Reference { .. } => self.reference(),
            Node::Repeat { body, min, max, greedy, .. } => self.repeat(body, *min, *max, *greedy),
        }
    }

    fn grouped(&mut self, node: &Node) {
        self.push("(?:");
        self.node(node);
        self.push(")");
    }

    /// Writes a repetition. A repeated look-ahead is the look-ahead itself, or the empty string if it may be omitted.
    fn repeat(&mut self, body: &Node, min: u32, max: Option<u32>, greedy: bool) {
        if matches!(body, Node::Look { .. }) && min > 0 {
            return self.node(body);
        }
        if max == Some(0) || matches!(body, Node::Look { .. }) {
            // The references inside are consumed, so the others keep their place.
            let kept = self.out.len();
            self.node(body);
            self.out.truncate(kept);
            return self.push("(?:)");
        }
        self.grouped(body);
        match (min, max) {
            (0, None) => self.push("*"),
            (1, None) => self.push("+"),
            (0, Some(1)) => self.push("?"),
            (min, None) => drop(write!(self.out, "{{{min},}}")),
            (min, Some(max)) if min == max => drop(write!(self.out, "{{{min}}}")),
            (min, Some(max)) => drop(write!(self.out, "{{{min},{max}}}")),
        }
        if !greedy {
            self.push("?");
        }
    }

    /// Writes a word boundary of ASCII. `fancy_regex` supports boundaries of Unicode only.
    fn boundary(&mut self, negative: bool) {
        if !self.backtracks {
            return self.push(if negative { r"(?-u:\B)" } else { r"(?-u:\b)" });
        }
        let mut word_set = Writer {
            out: String::new(),
            ignore_case: false,
            backtracks: true,
            references: Vec::new(),
            captures: Vec::new(),
        };
        word_set.set(&word());
        let set = word_set.out;
        let text = if negative {
            format!("(?:(?<={set})(?={set})|(?<!{set})(?!{set}))")
        } else {
            format!("(?:(?<={set})(?!{set})|(?<!{set})(?={set}))")
        };
        self.push(&text);
    }

    /// Writes a reference. A group that took no part is empty in ECMAScript.
    fn reference(&mut self) {
        let reference = self.references.remove(0);
        let number = match self.captures.binary_search(&reference.group) {
            Ok(place) if reference.live => place + 1,
            Ok(_) | Err(_) => return self.push("(?:)"),
        };
        let text = if self.ignore_case {
            format!(r"(?i:(?({number})\{number}|))")
        } else {
            format!(r"(?({number})\{number}|)")
        };
        self.push(&text);
    }

    fn set(&mut self, units: &Units) {
        let units = &known(units);
        if units.ranges().is_empty() {
            return self.push(r"[^\x{0}-\x{10FFFF}]");
        }
        self.push("[");
        for &(start, end) in units.ranges() {
            // The halves of surrogate pairs are elsewhere, see `encoded`.
            for (low, high) in [(0, 0xD7FF), (0xD800, 0xDFFF), (0xE000, 0xFFFF)] {
                let (start, end) = (start.max(low), end.min(high));
                if start <= end {
                    self.unit(start);
                    self.push("-");
                    self.unit(end);
                }
            }
        }
        self.push("]");
    }

    fn unit(&mut self, unit: u16) {
        // Letters and digits mean themselves in every context, and are read much faster than escapes.
        match encoded(unit) {
            letter if letter.is_ascii_alphanumeric() || letter == ' ' => return self.out.push(letter),
            _ => {}
        }
        let _ = write!(self.out, r"\x{{{:X}}}", u32::from(encoded(unit)));
    }
}

/// Returns a set without the units for what is hidden, unless it takes every unit of a line, so whatever is hidden.
fn known(units: &Units) -> Units {
    if units.union(&line_ends()).ranges() == [(0, 0xFFFF)] {
        return units.clone();
    }
    let hidden = [MASK_CHARACTER, char::REPLACEMENT_CHARACTER].map(|it| it.encode_utf16(&mut [0; 2])[0]);
    units.inverted().union(&Units::of(&hidden.map(|unit| (unit, unit)))).inverted()
}

/// Returns a unit as a character of the searched text: itself, or a private-use character for half of a surrogate pair.
pub(super) fn encoded(unit: u16) -> char {
    char::from_u32(u32::from(unit))
        .or_else(|| char::from_u32(0xF_0000 + (u32::from(unit) - 0xD800)))
        .unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// Returns the unit that a character of the searched text represents.
pub(super) fn decoded(character: char) -> u16 {
    match u32::from(character) {
        half @ 0xF_0000..=0xF_07FF => (half - 0xF_0000 + 0xD800) as u16,
        other => u16::try_from(other).unwrap_or(0xFFFD),
    }
}

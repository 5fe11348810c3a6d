//! Sets of UTF-16 units, and ECMAScript's equality of units when case is ignored.

use std::{collections::HashMap, sync::OnceLock};

/// A set of UTF-16 units, as sorted ranges that neither touch nor overlap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Units(Vec<(u16, u16)>);

impl Units {
    pub(super) fn of(ranges: &[(u16, u16)]) -> Units {
        let mut sorted = ranges.to_vec();
        sorted.sort_unstable();
        let mut merged: Vec<(u16, u16)> = Vec::with_capacity(sorted.len());
        for (start, end) in sorted {
            match merged.last_mut() {
                Some(last) if u32::from(start) <= u32::from(last.1) + 1 => last.1 = last.1.max(end),
                _ => merged.push((start, end)),
            }
        }
        Units(merged)
    }

    pub(super) fn one(unit: u16) -> Units {
        Units(vec![(unit, unit)])
    }

    pub(super) fn union(&self, other: &Units) -> Units {
        Units::of(&[self.0.as_slice(), other.0.as_slice()].concat())
    }

    pub(super) fn inverted(&self) -> Units {
        let mut ranges = Vec::new();
        let mut next = 0_u32;
        for &(start, end) in &self.0 {
            if next < u32::from(start) {
                ranges.push((next as u16, start - 1));
            }
            next = u32::from(end) + 1;
        }
        if next <= 0xFFFF {
            ranges.push((next as u16, 0xFFFF));
        }
        Units(ranges)
    }

    pub(super) fn contains(&self, unit: u16) -> bool {
        let at = self.0.partition_point(|&(_, end)| end < unit);
        self.0.get(at).is_some_and(|&(start, _)| start <= unit)
    }

    pub(super) fn ranges(&self) -> &[(u16, u16)] {
        &self.0
    }

    /// Returns the set with every unit that differs from a member in case only.
    pub(super) fn ignoring_case(&self) -> Units {
        let mut more = self.0.clone();
        for group in &cases().groups {
            if group.iter().any(|&unit| self.contains(unit)) {
                more.extend(group.iter().map(|&unit| (unit, unit)));
            }
        }
        Units::of(&more)
    }
}

/// Returns the units that ECMAScript treats as equal to this one when case is ignored, itself included.
pub(super) fn same_ignoring_case(unit: u16) -> Units {
    match cases().group_of.get(&unit) {
        Some(&group) => Units::of(&cases().groups[group].iter().map(|&unit| (unit, unit)).collect::<Vec<_>>()),
        None => Units::one(unit),
    }
}

/// `\d`
pub(super) fn digits() -> Units {
    Units::of(&[(0x30, 0x39)])
}

/// `\w`: ASCII only.
pub(super) fn word() -> Units {
    Units::of(&[(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)])
}

/// `\s`: white space and line ends of ECMAScript.
pub(super) fn space() -> Units {
    Units::of(&[
        (0x09, 0x0D),
        (0x20, 0x20),
        (0xA0, 0xA0),
        (0x1680, 0x1680),
        (0x2000, 0x200A),
        (0x2028, 0x2029),
        (0x202F, 0x202F),
        (0x205F, 0x205F),
        (0x3000, 0x3000),
        (0xFEFF, 0xFEFF),
    ])
}

/// Returns the units that `.` does not match.
pub(super) fn line_ends() -> Units {
    Units::of(&[(0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029)])
}

struct Cases {
    groups: Vec<Vec<u16>>,
    group_of: HashMap<u16, usize>,
}

fn cases() -> &'static Cases {
    static CASES: OnceLock<Cases> = OnceLock::new();
    CASES.get_or_init(|| {
        let mut members: HashMap<u16, Vec<u16>> = HashMap::new();
        for unit in 0..=0xFFFF_u16 {
            let canonical = canonical(unit);
            if canonical != unit {
                members.entry(canonical).or_insert_with(|| vec![canonical]).push(unit);
            }
        }
        let mut groups: Vec<Vec<u16>> = members.into_values().collect();
        groups.sort_unstable();
        let group_of =
            groups.iter().enumerate().flat_map(|(index, group)| group.iter().map(move |&unit| (unit, index))).collect();
        Cases { groups, group_of }
    })
}

/// Returns the specification's `Canonicalize` without the `u` flag: upper case if that is one unit, except that no unit
/// outside ASCII becomes ASCII.
fn canonical(unit: u16) -> u16 {
    let Some(character) = char::from_u32(u32::from(unit)) else { return unit };
    let mut upper = character.to_uppercase();
    match (upper.next(), upper.next()) {
        (Some(only), None) => match u16::try_from(u32::from(only)) {
            Ok(upper) if unit >= 128 && upper < 128 => unit,
            Ok(upper) => upper,
            Err(_) => unit,
        },
        _ => unit,
    }
}

#[cfg(test)]
mod tests {
    use super::{Units, same_ignoring_case, word};

    #[test]
    fn inverting_twice_changes_nothing() {
        for set in [word(), Units::default(), Units::of(&[(0, 0xFFFF)]), Units::of(&[(5, 9), (10, 12), (3, 6)])] {
            assert_eq!(set.inverted().inverted(), set);
        }
    }

    #[test]
    fn only_ascii_letters_are_the_same_as_ascii_letters() {
        assert_eq!(same_ignoring_case(0x6B), Units::of(&[(0x4B, 0x4B), (0x6B, 0x6B)]), "no Kelvin sign");
        assert_eq!(same_ignoring_case(0x73), Units::of(&[(0x53, 0x53), (0x73, 0x73)]), "no long s");
        assert!(same_ignoring_case(0xE9).contains(0xC9));
        assert!(!same_ignoring_case(0xDF).contains(0x1E9E), "ß has no upper case of one unit");
    }
}

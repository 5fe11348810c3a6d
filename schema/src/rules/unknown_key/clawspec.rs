//! Keys of the coverage ledger that are almost those that are read: any other is free.

use crate::{
    finding::{Report, Rule, Site, Words},
    problem::Code,
    spot::Spot,
    validate::rename_title,
    words::nearest,
};

/// A key that is almost one that is read.
#[derive(Debug)]
struct NearlyRead {
    key: String,
    near: &'static str,
}

/// Looks at an entry of the coverage ledger.
pub(crate) fn check_entry(item: &Spot<'_>, report: &mut Report) {
    const READ: [(Option<&str>, &[&str]); 4] = [
        (None, &["id", "path", "tier", "status", "contracts", "coverage", "verification"]),
        (Some("contracts"), &["scenario_file", "pipeline_file", "handoff_files"]),
        (Some("coverage"), &["negative"]),
        (Some("verification"), &["approved_smoke_scenario"]),
    ];
    for (block, names) in READ {
        let Some(mapping) = block.map_or_else(|| Some(item.clone()), |block| item.get(block)) else { continue };
        for (key, member) in mapping.entries() {
            if names.contains(&key.as_str()) || key.len() < 4 {
                continue;
            }
            if let Some(near) = nearest(&key, names.iter().copied().filter(|name| mapping.get(name).is_none())) {
                report.push(member.head_finding(NearlyRead { key, near }));
            }
        }
    }
}

impl Rule for NearlyRead {
    fn code(&self) -> Code {
        Code::UnknownKey
    }

    fn words(&self, _: &Site<'_>) -> Words {
        Words::new(format!("unknown key `{}`", self.key)).help(rename_title(self.near))
    }
}

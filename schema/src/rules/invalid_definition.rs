page! {
    /// `SKILL.md` or `SOUL.md` of a target does not pass the structural checks that ClawSpec makes before it runs anything
    /// of the target.
    "invalid-definition", Warning
}

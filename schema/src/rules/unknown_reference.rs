pub(crate) mod clawspec;
pub(crate) mod cli_bench;
pub(crate) mod gateway;
pub(crate) mod kindlm;
pub(crate) mod script;

page! {
    /// A name that the file does not define. In ClawSpec files, also the name of an agent that looks like a typo for an
    /// agent of the workspace (a directory with `SOUL.md`). Other unknown agents are not reported, because they may be
    /// defined elsewhere.
    "unknown-reference", Error
}

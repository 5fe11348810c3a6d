pub(crate) mod cli_bench;
pub(crate) mod gateway;
pub(crate) mod kindlm;
pub(crate) mod script;

page! {
    /// A name that nothing in the file defines. In ClawSpec files also the name of an agent that differs by a typo from one
    /// of the workspace, which has a directory with `SOUL.md`. Other unknown agents may be defined elsewhere, and are not
    /// reported.
    "unknown-reference", Error
}

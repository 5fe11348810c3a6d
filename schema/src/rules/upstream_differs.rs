pub(crate) mod clawspec;
pub(crate) mod cli_bench;
pub(crate) mod kindlm;

page! {
    /// The known version of ClawSpec, KindLM or cli-bench rejects the file or reads it differently. Reported once per
    /// file. It is an error for the programs listed under `compat` in `speclens.yaml`.
    "upstream-differs", Hint
}

//! Writes the manual pages of the program and of its subcommands, for packages: `manpages DIRECTORY`. An example, so that
//! the program does not contain what only packages need.

use std::{env, io};

fn main() -> io::Result<()> {
    let Some(directory) = env::args_os().nth(1) else {
        return Err(io::Error::other("usage: manpages DIRECTORY"));
    };
    // Pages about `help` would repeat the others.
    clap_mangen::generate_to(speclens::command_line().disable_help_subcommand(true), directory)
}

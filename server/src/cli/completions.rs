//! `speclens completions`: the completion script of a shell.

use clap::{Command, ValueEnum};
use clap_complete::{generate, shells};

use super::{PASSED, output};

/// The options of `speclens completions`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Shell that reads the script
    shell: Shell,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
#[expect(clippy::enum_variant_names, reason = "PowerShell is the name of a shell")]
enum Shell {
    Bash,
    Zsh,
    Fish,
    #[value(name = "powershell")]
    PowerShell,
}

/// Prints the script for the definition of the command line.
pub(super) fn perform(args: &Args, mut command: Command) -> anyhow::Result<u8> {
    output::print(&script(args.shell, &mut command))?;
    Ok(PASSED)
}

fn script(shell: Shell, command: &mut Command) -> String {
    let name = command.get_name().to_owned();
    let mut text = Vec::new();
    match shell {
        Shell::Bash => generate(shells::Bash, command, name, &mut text),
        Shell::Zsh => generate(shells::Zsh, command, name, &mut text),
        Shell::Fish => generate(shells::Fish, command, name, &mut text),
        Shell::PowerShell => generate(shells::PowerShell, command, name, &mut text),
    }
    String::from_utf8_lossy(&text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shell_completes_every_subcommand() {
        for shell in Shell::value_variants() {
            let text = script(*shell, &mut crate::cli::command_line());
            for command in crate::cli::command_line().get_subcommands() {
                assert!(text.contains(command.get_name()), "{shell:?}: {}", command.get_name());
            }
        }
    }
}

//! The program `openclaw`, as far as tests of agents call it.

use std::sync::Arc;

use serde_json::Map;
use speclens_schema::gateway_script::{Reply, Started};
use tokio::sync::oneshot;

use super::{
    run::{Answer, Caller, End, ScriptedRun, StartRequest},
    state::GatewayState,
};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Printed {
    pub(crate) exit_code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Printed {
    fn failure(message: impl Into<String>) -> Printed {
        Printed { exit_code: 1, stdout: String::new(), stderr: message.into() }
    }

    fn of(answer: Answer) -> Printed {
        match answer.status {
            200..300 => Printed { exit_code: 0, stdout: answer.body, stderr: String::new() },
            _ => Printed::failure(answer.body),
        }
    }
}

/// Plays the program with these arguments.
pub(super) async fn play(state: &Arc<GatewayState>, arguments: &[&str]) -> Printed {
    match arguments {
        // Agents are known by the ids that contracts name.
        ["agents", "list", ..] => Printed { stdout: "[]".to_owned(), ..Printed::default() },
        ["agent", options @ ..] => {
            let option = |name: &str| options.windows(2).find(|pair| pair[0] == name).map(|pair| pair[1]);
            match (option("--agent"), option("--message")) {
                (Some(id), Some(message)) => agent(state, id, message).await,
                (None, _) => Printed::failure("missing `--agent`"),
                (Some(_), None) => Printed::failure("missing `--message`"),
            }
        }
        _ => Printed::failure("a scripted gateway supports only `openclaw agent` and `openclaw agents list`"),
    }
}

async fn agent(state: &Arc<GatewayState>, id: &str, message: &str) -> Printed {
    let params = Map::new();
    let start_request = StartRequest { started: Started::Agent { id }, message, params: &params };
    let index = match ScriptedRun::find(state, &start_request) {
        Ok(index) => index,
        Err(message) => return Printed::failure(message),
    };
    let mut scripted_run = ScriptedRun::begin(state, index, Caller::Program, None);
    let usual = scripted_run.answer(&Reply::default());
    let (sender, receiver) = oneshot::channel();
    let cancel = state.cancel.clone();
    // The answer of a step is printed when the run has ended, as the program does.
    tokio::select! {
        () = cancel.cancelled() => Printed::failure("the run was cancelled"),
        end = scripted_run.play(Some(sender)) => match end {
            End::Open => {
                cancel.cancelled().await;
                Printed::failure("the run was cancelled")
            }
            End::Done => Printed::of(receiver.await.unwrap_or(usual)),
        },
    }
}

//! How the end of a run is noticed that continues elsewhere.

use speclens_schema::evidence::{Context, Ended};

use super::{
    Act,
    satisfied::{Before, Satisfied},
    values,
};
use crate::{observe::Cancelled, watch::Watch};

/// Waits until something says that the run has ended, until everything that is claimed is there and nothing is claimed that
/// could still turn, or until the time is over.
pub(super) async fn wait(
    act: Act<'_>,
    context: &Context,
    run_id: Option<String>,
    watch: &Watch,
    before: Before,
) -> Result<Ended, Cancelled> {
    let context = values::ended(context.clone(), run_id, act.gateway, act.world.clock, act.world.directory);
    let first_of_all = async {
        tokio::select! {
            biased;
            ended = watch.ended() => ended,
            () = Satisfied::await_all(act, context, before) => Ended::Satisfied,
        }
    };
    tokio::select! {
        biased;
        () = act.world.cancel.cancelled() => Err(Cancelled),
        ended = act.patience.within(act.limit(), first_of_all) => Ok(ended.unwrap_or(Ended::Deadline)),
    }
}

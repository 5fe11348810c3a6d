//! Detects the end of a run that continues elsewhere.

use speclens_schema::evidence::{Context, Ended};

use super::{
    TriggerContext,
    claims_hold::{Before, Satisfied},
    values,
};
use crate::{observe::Cancelled, watch::Watch};

/// Waits until the end of the run is reported, or all claimed artifacts exist and no other claim could still change, or
/// the time is over.
pub(super) async fn wait(
    trigger: TriggerContext<'_>,
    context: &Context,
    run_id: Option<String>,
    watch: &Watch,
    before: Before,
) -> Result<Ended, Cancelled> {
    let context = values::ended(
        context.clone(),
        run_id,
        trigger.gateway,
        trigger.action_context.clock,
        trigger.action_context.directory,
    );
    let first_of_all = async {
        tokio::select! {
            biased;
            ended = watch.ended() => ended,
            () = Satisfied::await_all(trigger, context, before) => Ended::Satisfied,
        }
    };
    tokio::select! {
        biased;
        () = trigger.action_context.cancel.cancelled() => Err(Cancelled),
        ended = trigger.timer.within(trigger.limit(), first_of_all) => Ok(ended.unwrap_or(Ended::Deadline)),
    }
}

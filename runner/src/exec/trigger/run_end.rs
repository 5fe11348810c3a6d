//! Detects the end of a run that continues elsewhere.

use speclens_schema::evidence::{Context, Ended};

use super::{
    TriggerContext,
    claims_hold::{Before, Satisfied},
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
    let context = trigger.ended(context.clone(), run_id);
    let first_of_all = async {
        tokio::select! {
            biased;
            ended = watch.ended() => ended,
            () = Satisfied::await_all(trigger, context, before) => Ended::Satisfied,
        }
    };
    let in_time = trigger.timer.within(trigger.limit(), first_of_all);
    let ended = trigger.action_context.cancel.run_until_cancelled(in_time).await.ok_or(Cancelled)?;
    Ok(ended.unwrap_or(Ended::Deadline))
}

//! The trace of the act.

use speclens_schema::evidence::{Answer, TraceAnswer};

use super::{Cancelled, View};

pub(super) async fn observe(view: &View) -> Result<Answer, Cancelled> {
    let Some((watch, trace)) = view.watch.as_ref().and_then(|watch| Some((watch, watch.trace.as_ref()?))) else {
        let reason = "nothing was started, so there is no trace".to_owned();
        return Ok(Answer::Trace(TraceAnswer::Missing(reason)));
    };
    let collected = async { trace.collect(&watch.identity, &watch.logged_traces().await).await };
    tokio::select! {
        biased;
        () = view.cancel.cancelled() => Err(Cancelled),
        answer = collected => Ok(answer),
    }
}

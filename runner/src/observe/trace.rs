//! The trace of the act.

use speclens_schema::evidence::{Answer, TraceAnswer};

use super::View;

pub(super) async fn observe(view: &View) -> Answer {
    let Some((watch, trace)) = view.watch.as_ref().and_then(|watch| Some((watch, watch.trace.as_ref()?))) else {
        let reason = "nothing was started, so there is no trace".to_owned();
        return Answer::Trace(TraceAnswer::Missing(reason));
    };
    let logged: Vec<String> = watch.read_log().await.traces.into_iter().collect();
    trace.collect(&watch.identity, &logged).await
}

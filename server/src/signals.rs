//! The signals by which a person or the system ends the program.

/// Waits for the first of them. Pends for ever where there are none to listen to.
pub(crate) async fn ending() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup(), SignalKind::quit()];
        let mut waits = tokio::task::JoinSet::new();
        for kind in kinds {
            match signal(kind) {
                Ok(mut stream) => {
                    waits.spawn(async move { stream.recv().await });
                }
                Err(error) => tracing::warn!(%error, "cannot listen for a signal"),
            }
        }
        // A file that grows beyond the allowed size is an error to be told, and no reason to die.
        const FILE_SIZE: i32 = 25;
        let _ = signal(SignalKind::from_raw(FILE_SIZE));
        // The end of the program ends the waiting too, which is no signal.
        if !matches!(waits.join_next().await, Some(Ok(Some(())))) {
            std::future::pending::<()>().await;
        }
    }
    #[cfg(not(unix))]
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

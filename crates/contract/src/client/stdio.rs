//! A list asked for over standard input and output. Start at [`receive`].

use std::time::{Duration, Instant};

use gatelatch_protocol::era::Era;
use gatelatch_spawn::child::Launch;
use gatelatch_spawn::session::SessionError;

use super::conversation::Conversation;
use super::greeting::{Greeting, initialize_params, modern_params, not_modern};
use super::message::Answer;
use super::page::{METHOD, Pages};
use super::{ClientError, ClientLimits, Eras, Received};

/// Asks a child for its whole list. Every wait is one of the session, which ends in time by itself and says what it waited
/// for.
pub(super) async fn receive(launch: &Launch, limits: &ClientLimits, eras: Eras) -> Result<Received, ClientError> {
    let until = Instant::now() + launch.timeout;
    let mut talk = Conversation::start(launch, limits)?;
    let greeting = match eras {
        Eras::Only(Era::Legacy) => initialize(&mut talk).await?,
        Eras::Only(Era::Modern) => {
            let id = talk.ask("server/discover", &modern_params(None)).await?;
            let (_, answer) = talk.answer("server/discover", &[id]).await?;
            Greeting::of_discover(&answer.result("server/discover")?).ok_or_else(not_modern)?
        }
        Eras::Either => match either(&mut talk, limits.patience.min(launch.timeout / 2)).await {
            Ok(greeting) => greeting,
            Err(ClientError::Silent { source: SessionError::Ended | SessionError::Lost(_), .. }) => {
                let left = until.saturating_duration_since(Instant::now());
                talk = Conversation::start(&Launch { timeout: left, ..launch.clone() }, limits)?;
                initialize(&mut talk).await?
            }
            Err(error) => return Err(error),
        },
    };
    let mut pages = Pages::new(limits, greeting);
    loop {
        let id = talk.ask(METHOD, &pages.params()).await?;
        let result = talk.answer(METHOD, &[id]).await?.1.result(METHOD)?;
        if !pages.add(result)? {
            break;
        }
    }
    let received = pages.join()?;
    talk.end().await;
    Ok(received)
}

/// Asks the modern way, and the legacy way when that is refused or not answered in time.
async fn either(talk: &mut Conversation<'_>, patience: Duration) -> Result<Greeting, ClientError> {
    let discover = talk.ask("server/discover", &modern_params(None)).await?;
    match tokio::time::timeout(patience, talk.answer("server/discover", &[discover])).await {
        Ok(answer) => {
            if let Some(greeting) = answer?.1.ok().as_ref().and_then(Greeting::of_discover) {
                return Ok(greeting);
            }
            initialize(talk).await
        }
        Err(_) => {
            // A modern server that is slow to start answers the first question yet.
            let initialize = talk.ask("initialize", &initialize_params()).await?;
            let mut waiting = vec![discover, initialize];
            loop {
                let (id, answer) = talk.answer("initialize", &waiting).await?;
                if id == initialize {
                    return initialized(talk, answer).await;
                }
                if let Some(greeting) = answer.ok().as_ref().and_then(Greeting::of_discover) {
                    return Ok(greeting);
                }
                waiting.retain(|other| *other != id);
            }
        }
    }
}

async fn initialize(talk: &mut Conversation<'_>) -> Result<Greeting, ClientError> {
    let id = talk.ask("initialize", &initialize_params()).await?;
    let (_, answer) = talk.answer("initialize", &[id]).await?;
    initialized(talk, answer).await
}

async fn initialized(talk: &mut Conversation<'_>, answer: Answer) -> Result<Greeting, ClientError> {
    let greeting = Greeting::of_initialize(&answer.result("initialize")?)?;
    talk.notify("notifications/initialized").await?;
    Ok(greeting)
}

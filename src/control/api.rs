//! From a request to a route and back: the token first, also for what is not there; then path, query,
//! type and body; then the work, beside the thread that serves.

use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{FromRequestParts, RawPathParams, Request};
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, MethodRouter, on};

use super::auth::Auth;
use super::backend::Backend;
use super::call::{self, Call};
use super::error::{ApiError, ErrorCode};
use super::events::{Hub, Who};
use super::routes::{self, Route, Verb, Work};
use super::{body, limits, page};
use crate::paths::Paths;

/// What the routes work with.
pub struct Api {
    /// The folders.
    pub paths: Paths,
    /// Who may.
    pub auth: Auth,
    /// The rest of the program.
    pub backend: Box<dyn Backend>,
    /// Who listens.
    pub events: Arc<Hub>,
}

/// All routes: the API's by its table, the inbox page's by its own router.
pub fn router(api: Arc<Api>) -> Router {
    let mut router = Router::new();
    for route in routes::table() {
        let api = api.clone();
        let methods: MethodRouter = on(filter(route.verb), async move |request: Request| {
            run(api, route, request).await.unwrap_or_else(IntoResponse::into_response)
        });
        router = router.route(route.path, methods);
    }
    let page = page::router(&api);
    let strangers = api.clone();
    let router = router
        .fallback(async move |request: Request| {
            refused(&strangers, &request, ErrorCode::NotFound, "there is no such route")
        })
        .method_not_allowed_fallback(async move |request: Request| {
            let text = "the route has no such method";
            refused(&api, &request, ErrorCode::MethodNotAllowed, text)
        });
    router.nest("/inbox", page)
}

fn filter(verb: Verb) -> MethodFilter {
    match verb {
        Verb::Get => MethodFilter::GET,
        Verb::Post => MethodFilter::POST,
        Verb::Patch => MethodFilter::PATCH,
        Verb::Delete => MethodFilter::DELETE,
    }
}

/// The answer where there is no route. Who has no token does not learn that.
fn refused(api: &Api, request: &Request, code: ErrorCode, text: &str) -> Response {
    match api.auth.check(request.headers(), Instant::now()) {
        Err(error) => error.into_response(),
        Ok(()) => ApiError::new(code, text).into_response(),
    }
}

async fn run(api: Arc<Api>, route: &'static Route, request: Request) -> Result<Response, ApiError> {
    let (mut head, body) = request.into_parts();
    api.auth.check(&head.headers, Instant::now())?;
    let call = read(route, &mut head, body).await?;
    match route.work {
        Work::Events => Hub::subscribe(&api.events, Who::Program),
        Work::Answer(work) => {
            let job = tokio::task::spawn_blocking(move || work(&api, &call));
            match tokio::time::timeout(limits::REQUEST_TIME, job).await {
                Ok(Ok(answer)) => answer,
                Ok(Err(panic)) => {
                    tracing::error!(%panic, route = route.path, "a route failed");
                    Err(ApiError::new(ErrorCode::Internal, "the request failed"))
                }
                Err(_) => Err(ApiError::new(ErrorCode::Busy, "the request took too long")),
            }
        }
    }
}

async fn read(route: &Route, head: &mut Parts, body: Body) -> Result<Call, ApiError> {
    if route.body.is_some() {
        body::expect_json(&head.headers)?;
    }
    let known: Vec<&str> = route.query.iter().map(|parameter| parameter.name).collect();
    let query = call::query(head.uri.query().unwrap_or_default(), &known)?;
    let parameters = RawPathParams::from_request_parts(head, &()).await.map_err(|_| {
        ApiError::new(ErrorCode::InvalidRequest, "the path is not percent-encoded UTF-8")
    })?;
    let path: Vec<String> = parameters.iter().map(|(_, value)| value.to_owned()).collect();
    let key = if route.verb == Verb::Get { None } else { call::key(&head.headers)? };
    let agent = head.headers.get(axum::http::header::USER_AGENT);
    let bytes = match route.body {
        Some(_) => body::read(&head.headers, body).await?,
        None => Bytes::new(),
    };
    Ok(Call {
        route: format!("{} {} {path:?} {query:?}", head.method, route.path),
        path,
        query,
        key,
        agent: agent.and_then(|agent| agent.to_str().ok()).unwrap_or_default().to_owned(),
        body: bytes,
    })
}

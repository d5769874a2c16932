//! The errors of the API: a closed list of stable codes, each with its HTTP status and what to do
//! next. An answer tells code, message and hint, never a header or the body of the request.

use axum::http::header::{CONNECTION, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};

use super::actions::ActionError;
use super::answer;
use super::wire::{ErrorBody, ErrorDetail};
use crate::project::{DocsError, RegistryError};
use crate::session::StoreError;

/// The codes with their status, their meaning for the README, and their hint.
macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident = $word:literal, $status:literal, $hint:literal;)*) => {
        /// What went wrong, in a word that stays.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum ErrorCode {
            $($(#[$doc])* $variant,)*
        }

        impl ErrorCode {
            /// All of them, by status.
            pub const ALL: &[ErrorCode] = &[$(ErrorCode::$variant,)*];

            /// The word on the wire.
            pub fn as_str(self) -> &'static str {
                match self { $(ErrorCode::$variant => $word,)* }
            }

            /// The HTTP status.
            pub fn status(self) -> u16 {
                match self { $(ErrorCode::$variant => $status,)* }
            }

            /// What to do next, where nothing better is known.
            pub fn hint(self) -> &'static str {
                match self { $(ErrorCode::$variant => $hint,)* }
            }
        }
    };
}

codes! {
    /// Path, query or a header is not what the route takes.
    InvalidRequest = "invalid_request", 400, "GET /openapi.json describes each route";
    /// The body is not JSON.
    InvalidJson = "invalid_json", 400, "send one JSON object in UTF-8";
    /// The body is JSON of another shape.
    InvalidBody = "invalid_body", 400, "GET /openapi.json describes the fields of each route";
    /// A name that no doc can have.
    BadName = "bad_name", 400, "one path component with a known extension, at most 200 bytes";
    /// The path of an upload can't be a source.
    BadPath = "bad_path", 400, "give the absolute path of a file, without `..`";
    /// There is nothing at the path of an upload.
    SourceNotFound = "source_not_found", 400, "give the absolute path of a file, without `..`";
    /// The file at the path of an upload can't be used.
    BadSource = "bad_source", 400, "give the real path of a regular file that can be read";
    /// No engine has the id.
    UnknownEngine = "unknown_engine", 400, "`omni-run engines` lists them";
    /// The prompt can't be sent.
    BadPrompt = "bad_prompt", 400, "write what a person would type";
    /// The model can't be one.
    BadModel = "bad_model", 400, "write the model as the engine calls it";
    /// A setting that can't be asked for, or a value that it can't have.
    BadSetting = "bad_setting", 400, "GET /settings shows which can; a person changes the others in config.toml";
    /// The Idempotency-Key can't be used.
    BadIdempotencyKey = "bad_idempotency_key", 400, "1 to 255 visible ASCII characters";
    /// No token, or a wrong one.
    Unauthorized = "unauthorized", 401, "send `Authorization: Bearer TOKEN`; `omni-run serve --help` names the token file";
    /// The inbox page has no session, or its link can't be used.
    NoPageSession = "no_page_session", 401, "`omni-run inbox open` in a terminal gives a new link";
    /// A web page of another origin asks.
    OriginNotAllowed = "origin_not_allowed", 403, "the API is for programs of this machine, not for web pages";
    /// No such route.
    NotFound = "not_found", 404, "GET /openapi.json lists the routes";
    /// No project has the id.
    ProjectNotFound = "project_not_found", 404, "GET /projects lists them; a person adds one with `omni-run project add`";
    /// The docs folder has no such file.
    DocNotFound = "doc_not_found", 404, "GET /project/{id}/docs lists them";
    /// No action has the id.
    ActionNotFound = "action_not_found", 404, "GET /actions lists them";
    /// No session has the id.
    SessionNotFound = "session_not_found", 404, "GET /sessions lists them";
    /// The route has no such method.
    MethodNotAllowed = "method_not_allowed", 405, "the Allow header lists the methods";
    /// The body did not come in time.
    BodyTimeout = "body_timeout", 408, "send the body at once";
    /// The doc is in both buckets.
    Ambiguous = "ambiguous", 409, "name the bucket: ?bucket=always or ?bucket=rag";
    /// The start of an id stands for several.
    AmbiguousId = "ambiguous_id", 409, "give the whole id";
    /// A doc has the name.
    Exists = "exists", 409, "`\"replace\": true` asks to take its place";
    /// The always bucket would be over 100 MB, with what waits for approval.
    OverQuota = "over_quota", 409, "delete docs, or use the rag bucket, which has no limit";
    /// The body is over 64 KB.
    BodyTooLarge = "body_too_large", 413, "at most 64 KB; a file goes by its path";
    /// The file is over 25 MB.
    TooLarge = "too_large", 413, "split it, or let a person add it: `omni-run docs add`";
    /// Not JSON by its type.
    UnsupportedType = "unsupported_type", 415, "send `Content-Type: application/json`, not compressed";
    /// The request names another host.
    HostNotAllowed = "host_not_allowed", 421, "use http://127.0.0.1, http://localhost or http://[::1] with the server's port; on the socket http://localhost";
    /// The Idempotency-Key was used for another request.
    IdempotencyKeyReused = "idempotency_key_reused", 422, "use a new key for a new request";
    /// Too many requests without the right token.
    TooManyFailures = "too_many_failures", 429, "read the token file again and wait a minute";
    /// Too many actions wait for a person.
    QueueFull = "queue_full", 429, "a person decides them with `omni-run inbox`";
    /// As many listeners to events as there may be.
    TooManyStreams = "too_many_streams", 429, "close another GET /events first";
    /// A fault of omni-run.
    Internal = "internal", 500, "`omni-run --log-file FILE serve` tells more";
    /// The disk said no.
    Io = "io", 500, "see whether the folder can be read";
    /// More than the server takes at once.
    Busy = "busy", 503, "try again in a moment";
    /// The store can't be used now.
    StoreUnavailable = "store_unavailable", 503, "`omni-run store check` tells what is wrong";
}

/// An error on its way to the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiError {
    /// What.
    pub code: ErrorCode,
    /// Which thing, and what happened to it.
    pub message: String,
    /// What to do next.
    pub hint: String,
    /// Nothing more is read from this connection.
    pub close: bool,
}

impl ApiError {
    /// An error with the hint of its code.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> ApiError {
        ApiError { code, message: message.into(), hint: code.hint().to_owned(), close: false }
    }

    /// With another hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> ApiError {
        self.hint = hint.into();
        self
    }

    /// The connection ends with this answer: what follows on it is not read.
    #[must_use]
    pub fn closing(mut self) -> ApiError {
        self.close = true;
        self
    }

    /// As it is sent.
    pub(super) fn body(&self) -> ErrorBody {
        ErrorBody {
            error: ErrorDetail {
                code: self.code.as_str().to_owned(),
                message: self.message.clone(),
                hint: self.hint.clone(),
            },
        }
    }

    /// Seconds after which another try can help.
    pub(super) fn retry_after(&self) -> Option<u32> {
        match self.code {
            ErrorCode::Busy | ErrorCode::StoreUnavailable => Some(1),
            ErrorCode::TooManyFailures | ErrorCode::QueueFull | ErrorCode::TooManyStreams => {
                Some(60)
            }
            _ => None,
        }
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> ApiError {
        let code = match &error {
            StoreError::UnknownSession { .. } => ErrorCode::SessionNotFound,
            StoreError::AmbiguousSession { .. } => ErrorCode::AmbiguousId,
            _ => ErrorCode::StoreUnavailable,
        };
        ApiError::new(code, error.to_string())
    }
}

impl From<RegistryError> for ApiError {
    fn from(error: RegistryError) -> ApiError {
        match error {
            RegistryError::Store(error) => error.into(),
            other => ApiError::new(ErrorCode::ProjectNotFound, other.to_string()),
        }
    }
}

impl From<ActionError> for ApiError {
    fn from(error: ActionError) -> ApiError {
        let code = match &error {
            ActionError::BadPath { .. } => ErrorCode::BadPath,
            ActionError::NoSource { .. } => ErrorCode::SourceNotFound,
            ActionError::BadSource { .. } => ErrorCode::BadSource,
            ActionError::TooLarge { .. } => ErrorCode::TooLarge,
            ActionError::OverQuota { .. } => ErrorCode::OverQuota,
            ActionError::Docs(error) => match error {
                DocsError::NotFound { .. } => ErrorCode::DocNotFound,
                DocsError::Ambiguous { .. } => ErrorCode::Ambiguous,
                DocsError::Exists { .. } => ErrorCode::Exists,
                DocsError::BadName { .. } => ErrorCode::BadName,
                DocsError::Io { .. } => ErrorCode::Io,
                DocsError::Store(_) => ErrorCode::StoreUnavailable,
                DocsError::SourceChanged { .. } | DocsError::DocChanged { .. } => {
                    ErrorCode::BadSource
                }
                DocsError::NotInstructable { .. }
                | DocsError::NotFlagged { .. }
                | DocsError::Twice { .. } => ErrorCode::InvalidRequest,
            },
            ActionError::UnknownEngine { .. } => ErrorCode::UnknownEngine,
            ActionError::BadPrompt { .. } => ErrorCode::BadPrompt,
            ActionError::BadModel { .. } => ErrorCode::BadModel,
            ActionError::BadSetting { .. } => ErrorCode::BadSetting,
            ActionError::NoProject => ErrorCode::ProjectNotFound,
            ActionError::BadKey { .. } => ErrorCode::BadIdempotencyKey,
            ActionError::KeyReused => ErrorCode::IdempotencyKeyReused,
            ActionError::QueueFull { .. } | ActionError::PromptsFull { .. } => ErrorCode::QueueFull,
            ActionError::Unknown { .. } => ErrorCode::ActionNotFound,
            ActionError::Ambiguous { .. } => ErrorCode::AmbiguousId,
            ActionError::NoLock { .. } => ErrorCode::Io,
            ActionError::Store(_) => ErrorCode::StoreUnavailable,
        };
        let api = ApiError::new(code, error.to_string());
        // Words of the command line say little to a program; a "did you mean" says all.
        match error.hint() {
            Some(hint) if hint.starts_with("did you mean") => api.hint(hint),
            _ => api,
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.code.status());
        let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = answer::json(status, &self.body());
        let headers = response.headers_mut();
        if let Some(seconds) = self.retry_after() {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.code == ErrorCode::Unauthorized {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if self.close {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_words_that_differ_and_come_by_status() {
        let mut words: Vec<&str> = ErrorCode::ALL.iter().map(|code| code.as_str()).collect();
        assert!(words.iter().all(|w| w.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')));
        assert!(ErrorCode::ALL.is_sorted_by_key(|code| code.status()));
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), ErrorCode::ALL.len());
    }
}

//! The inbox page: where a person decides in a browser. It has its own way in, which the API's token
//! does not open, and sets its own Content-Security-Policy. The door (Host, Origin) and the limits of
//! the server hold here too.

use axum::Router;

use super::error::{ApiError, ErrorCode};

/// The routes below `/inbox`.
pub(super) fn router() -> Router {
    Router::new().fallback(async || ApiError::new(ErrorCode::NotFound, "there is no such page"))
}

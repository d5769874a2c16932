//! Reads the body of a request within its limits: size, time, type. What is too long is not read to
//! its end, what is too slow is not waited for.

use axum::body::{Body, Bytes};
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use http_body_util::BodyExt;

use super::error::{ApiError, ErrorCode};
use super::limits;

/// Refuses what is not JSON by its type (H02): a form or plain text is what a page can post without
/// asking first. Compressed bodies are refused with it.
///
/// # Errors
/// [`ErrorCode::UnsupportedType`].
pub(super) fn expect_json(headers: &HeaderMap) -> Result<(), ApiError> {
    let mut values = headers.get_all(CONTENT_TYPE).iter();
    let given = match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().unwrap_or_default(),
        _ => "",
    };
    let mut parts = given.split(';').map(str::trim);
    let json = parts.next().is_some_and(|kind| kind.eq_ignore_ascii_case("application/json"));
    let utf8 = parts.all(|part| {
        ["charset=utf-8", "charset=\"utf-8\""].iter().any(|known| part.eq_ignore_ascii_case(known))
    });
    if !json || !utf8 || headers.contains_key(CONTENT_ENCODING) {
        let text = "the body must be `application/json` in UTF-8";
        return Err(ApiError::new(ErrorCode::UnsupportedType, text).closing());
    }
    Ok(())
}

/// The whole body.
///
/// # Errors
/// [`ErrorCode::BodyTooLarge`], [`ErrorCode::BodyTimeout`], [`ErrorCode::InvalidRequest`] for one
/// that breaks off.
pub(super) async fn read(headers: &HeaderMap, body: Body) -> Result<Bytes, ApiError> {
    let announced = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
    if announced.is_some_and(|length: u64| length > limits::BODY_BYTES as u64) {
        return Err(too_large());
    }
    match tokio::time::timeout(limits::BODY_TIME, collect(body)).await {
        Ok(collected) => collected,
        Err(_) => {
            let text = "the body did not come to its end in time";
            Err(ApiError::new(ErrorCode::BodyTimeout, text).closing())
        }
    }
}

async fn collect(mut body: Body) -> Result<Bytes, ApiError> {
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| {
            ApiError::new(ErrorCode::InvalidRequest, "the body broke off").closing()
        })?;
        // Trailers tell nothing that we ask for.
        let Ok(data) = frame.into_data() else { continue };
        if bytes.len() + data.len() > limits::BODY_BYTES {
            return Err(too_large());
        }
        bytes.extend_from_slice(&data);
    }
    Ok(Bytes::from(bytes))
}

fn too_large() -> ApiError {
    ApiError::new(ErrorCode::BodyTooLarge, "the body is over 64 KB").closing()
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    #[test]
    fn h02_only_json_is_json() {
        let refused = |kind: Option<&'static str>| {
            let mut headers = HeaderMap::new();
            if let Some(kind) = kind {
                headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
            }
            expect_json(&headers).is_err()
        };
        for good in [
            "application/json",
            "Application/JSON; charset=UTF-8",
            "application/json;charset=\"utf-8\"",
        ] {
            assert!(!refused(Some(good)), "{good}");
        }
        for bad in [
            "text/plain",
            "text/plain; application/json",
            "application/x-www-form-urlencoded",
            "multipart/form-data; boundary=x",
            "application/jsonp",
            "application/json; charset=utf-16",
            "application/json, text/plain",
            "",
        ] {
            assert!(refused(Some(bad)), "{bad}");
        }
        assert!(refused(None));
    }
}

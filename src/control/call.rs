//! A request as a route gets it: path and query decoded strictly, the idempotency key checked, the
//! body whole. What can be read in two ways is refused.

use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderName};
use serde::de::{DeserializeOwned, IgnoredAny};

use super::actions::IdempotencyKey;
use super::error::{ApiError, ErrorCode};

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// One request.
#[derive(Debug)]
pub(super) struct Call {
    /// Method, path and query in one form, however they were encoded.
    pub route: String,
    /// The values of the path's parameters, in order, decoded.
    pub path: Vec<String>,
    /// Name and value of each query parameter, decoded.
    pub query: Vec<(String, String)>,
    /// The client's key, for mutations.
    pub key: Option<IdempotencyKey>,
    /// What the client calls itself.
    pub agent: String,
    /// The body.
    pub body: Bytes,
}

impl Call {
    /// The path's parameter at this place.
    pub(super) fn segment(&self, at: usize) -> &str {
        self.path.get(at).map_or("", String::as_str)
    }

    /// The value of a query parameter.
    pub(super) fn asked(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// A query parameter that is a number from 1 to `most`.
    pub(super) fn number(&self, name: &str, most: u32, default: u32) -> Result<u32, ApiError> {
        let Some(text) = self.asked(name) else { return Ok(default) };
        text.parse().ok().filter(|number| (1..=most).contains(number)).ok_or_else(|| {
            let text = format!("`{name}` is a number from 1 to {most}");
            ApiError::new(ErrorCode::InvalidRequest, text)
        })
    }

    /// The body as a type.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidJson`], [`ErrorCode::InvalidBody`] with the field.
    pub(super) fn json<T: DeserializeOwned>(&self) -> Result<T, ApiError> {
        object(&self.body)
    }
}

/// An object in JSON as a type. A list would do for a type too, field by field: it is refused.
pub(super) fn object<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    let is_json = || serde_json::from_slice::<IgnoredAny>(bytes).is_ok();
    if bytes.trim_ascii_start().first().is_some_and(|first| *first != b'{') && is_json() {
        return Err(ApiError::new(ErrorCode::InvalidBody, "the body is no JSON object"));
    }
    serde_json::from_slice(bytes).map_err(|error| {
        let code = if is_json() { ErrorCode::InvalidBody } else { ErrorCode::InvalidJson };
        ApiError::new(code, format!("the body: {error}"))
    })
}

/// The query of a request; each name at most once, and none but `known`.
pub(super) fn query(text: &str, known: &[&str]) -> Result<Vec<(String, String)>, ApiError> {
    let mut found: Vec<(String, String)> = Vec::new();
    for pair in text.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let (name, value) = (decoded(name)?, decoded(value)?);
        if !known.contains(&name.as_str()) {
            let text = "the query has a parameter that this route does not take";
            return Err(ApiError::new(ErrorCode::InvalidRequest, text));
        }
        if found.iter().any(|(other, _)| *other == name) {
            let text = format!("the query has `{name}` twice");
            return Err(ApiError::new(ErrorCode::InvalidRequest, text));
        }
        found.push((name, value));
    }
    Ok(found)
}

/// `%2e` → `.`, `+` → blank; UTF-8 only.
fn decoded(text: &str) -> Result<String, ApiError> {
    let bad = || ApiError::new(ErrorCode::InvalidRequest, "the query is not percent-encoded UTF-8");
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
                let (high, low) = (digit(rest.next()), digit(rest.next()));
                let (Some(high), Some(low)) = (high, low) else { return Err(bad()) };
                // Two hex digits are at most 255.
                (high * 16 + low) as u8
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).map_err(|_| bad())
}

/// The idempotency key of a request (H08).
///
/// # Errors
/// [`ErrorCode::BadIdempotencyKey`], also for two.
pub(super) fn key(headers: &HeaderMap) -> Result<Option<IdempotencyKey>, ApiError> {
    let mut values = headers.get_all(IDEMPOTENCY_KEY).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => Ok(Some(IdempotencyKey::parse(value.as_bytes())?)),
        (Some(_), Some(_)) => {
            let text = "the request has two idempotency keys";
            Err(ApiError::new(ErrorCode::BadIdempotencyKey, text))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    #[test]
    fn h04_a_query_is_read_in_one_way_or_not_at_all() {
        let read = |text: &str| query(text, &["bucket", "model"]).ok();
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(read(""), Some(vec![]));
        assert_eq!(read("bucket=rag"), Some(vec![pair("bucket", "rag")]));
        assert_eq!(
            read("model=a%2Fb+c&bucket"),
            Some(vec![pair("model", "a/b c"), pair("bucket", "")])
        );
        for bad in [
            "token=x",
            "bucket=a&bucket=b",
            "bucket=%",
            "bucket=%4",
            "bucket=%zz",
            "bucket=%c0%ae",
            "bucket=%+1",
        ] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }

    #[test]
    fn h08_a_key_is_there_once_and_good() {
        let read = |values: &[&[u8]]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(IDEMPOTENCY_KEY, HeaderValue::from_bytes(value).expect("header"));
            }
            key(&headers).map(|key| key.map(|key| key.to_string())).map_err(|error| error.code)
        };
        assert_eq!(read(&[]), Ok(None));
        assert_eq!(read(&[b"a-1"]), Ok(Some("a-1".to_owned())));
        for bad in [&[&b""[..]][..], &[b"a b"], &[b"\xff"], &[b"a", b"a"]] {
            assert_eq!(read(bad), Err(ErrorCode::BadIdempotencyKey), "{bad:?}");
        }
    }
}

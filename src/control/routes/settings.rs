//! The settings in force, and asking for a change of those that a program may ask for (S87).

use std::fmt;

use axum::http::StatusCode;
use axum::response::Response;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::Value;

use super::actions::{accepted, ask};
use super::{Answer, Route, Verb, Work, shape};
use crate::control::actions::{SettingsChange, Wish};
use crate::control::api::Api;
use crate::control::call::Call;
use crate::control::error::{ApiError, ErrorCode};
use crate::control::{answer, wire};

pub(super) const ROUTES: &[Route] = &[
    Route {
        verb: Verb::Get,
        path: "/settings",
        summary: "The settings in force and where each value comes from",
        query: &[],
        body: None,
        status: 200,
        answer: Answer::Json(shape::<wire::Settings>),
        errors: &[],
        work: Work::Answer(show),
    },
    Route {
        verb: Verb::Patch,
        path: "/settings",
        summary: "Asks that settings are changed; waits for a person",
        query: &[],
        body: Some(shape::<wire::SettingsBody>),
        status: 202,
        answer: Answer::Json(shape::<wire::Accepted>),
        errors: &[
            ErrorCode::BadSetting,
            ErrorCode::BadIdempotencyKey,
            ErrorCode::IdempotencyKeyReused,
            ErrorCode::QueueFull,
        ],
        work: Work::Answer(change),
    },
];

fn show(api: &Api, _: &Call) -> Result<Response, ApiError> {
    let settings = api.backend.settings()?;
    Ok(answer::json(StatusCode::OK, &wire::Settings { settings }))
}

fn change(api: &Api, call: &Call) -> Result<Response, ApiError> {
    // A key that is given twice would be seen by one reader as the first and by another as the last.
    let body: NoTwice = call.json()?;
    let change = SettingsChange::from_json(&body.0)?;
    accepted(&ask(api, call, Wish::Settings(change), false)?)
}

/// An object whose keys differ.
struct NoTwice(Value);

impl<'de> Deserialize<'de> for NoTwice {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<NoTwice, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = NoTwice;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of settings")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<NoTwice, A::Error> {
                let mut object = serde_json::Map::new();
                while let Some((key, value)) = entries.next_entry::<String, Value>()? {
                    if object.insert(key.clone(), value).is_some() {
                        return Err(A::Error::custom(format!("duplicate field `{key}`")));
                    }
                }
                Ok(NoTwice(Value::Object(object)))
            }
        }
        from.deserialize_map(Reader)
    }
}

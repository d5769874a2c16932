//! `GET /openapi.json`: made from the table of routes and the wire types, so that neither can say
//! what the other does not.

use schemars::generate::{Contract, SchemaSettings};
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use super::error::ErrorCode;
use super::limits;
use super::routes::{self, Answer, Parameter, Route, Values};
use super::wire::ErrorBody;

/// The errors of every route.
const OF_ALL: [ErrorCode; 8] = [
    ErrorCode::InvalidRequest,
    ErrorCode::Unauthorized,
    ErrorCode::OriginNotAllowed,
    ErrorCode::HostNotAllowed,
    ErrorCode::TooManyFailures,
    ErrorCode::Internal,
    ErrorCode::Busy,
    ErrorCode::StoreUnavailable,
];

/// The errors of a route with a body.
const OF_BODIES: [ErrorCode; 5] = [
    ErrorCode::InvalidJson,
    ErrorCode::InvalidBody,
    ErrorCode::BodyTimeout,
    ErrorCode::BodyTooLarge,
    ErrorCode::UnsupportedType,
];

/// The document, OpenAPI 3.1.
pub fn document() -> Value {
    let mut answers = generator(Contract::Serialize);
    let mut bodies = generator(Contract::Deserialize);
    let error = answers.subschema_for::<ErrorBody>();
    let mut paths = Map::new();
    for route in routes::table() {
        let operation = operation(route, &mut answers, &mut bodies, &error);
        let methods = paths.entry(route.path).or_insert_with(|| json!({}));
        methods[route.verb.as_str().to_lowercase()] = operation;
    }
    let mut schemas = answers.take_definitions(true);
    schemas.extend(bodies.take_definitions(true));
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "omni-run CLI Control",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Requests that would change something answer 202 and wait for a \
                person; the token can not approve. Times are Unix milliseconds, sizes bytes.",
        },
        "servers": [{ "url": "/" }],
        "security": [{ "token": [] }],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "token": { "type": "http", "scheme": "bearer" },
            },
        },
    })
}

fn generator(contract: Contract) -> SchemaGenerator {
    let mut settings = SchemaSettings::draft2020_12();
    settings.definitions_path = "/components/schemas".into();
    settings.meta_schema = None;
    settings.contract = contract;
    settings.into_generator()
}

/// The schema of a value that is not described further.
pub(super) fn any(_: &mut SchemaGenerator) -> Schema {
    schemars::json_schema!({ "type": "object" })
}

fn operation(
    route: &Route,
    answers: &mut SchemaGenerator,
    bodies: &mut SchemaGenerator,
    error: &Schema,
) -> Value {
    let mut parameters: Vec<Value> = route
        .path
        .split('/')
        .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
        .map(|name| {
            json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } })
        })
        .collect();
    parameters.extend(route.query.iter().map(of_query));
    if route.status == 202 {
        parameters.push(json!({
            "name": "Idempotency-Key",
            "in": "header",
            "description": "The same key with the same request gives the same answer",
            "schema": { "type": "string", "minLength": 1, "maxLength": 255 },
        }));
    }
    let content = match route.answer {
        Answer::Json(shape) => json!({ "application/json": { "schema": shape(answers) } }),
        Answer::Events => json!({ "text/event-stream": { "schema": { "type": "string" } } }),
    };
    let mut responses = Map::new();
    let success = json!({ "description": route.summary, "content": content });
    responses.insert(route.status.to_string(), success);
    for (status, codes) in errors_of(route) {
        let words: Vec<&str> = codes.iter().map(|code| code.as_str()).collect();
        let failure = json!({
            "description": words.join(", "),
            "content": { "application/json": { "schema": error } },
        });
        responses.insert(status.to_string(), failure);
    }
    let mut operation = json!({
        "summary": route.summary,
        "operationId": operation_id(route),
        "parameters": parameters,
        "responses": responses,
    });
    if let Some(shape) = route.body {
        operation["requestBody"] = json!({
            "required": true,
            "description": format!("At most {} KB", limits::BODY_BYTES / 1024),
            "content": { "application/json": { "schema": shape(bodies) } },
        });
    }
    operation
}

fn of_query(parameter: &Parameter) -> Value {
    let schema = match parameter.values {
        Values::Text => json!({ "type": "string" }),
        Values::Words(words) => json!({ "type": "string", "enum": words }),
        Values::UpTo(most) => json!({ "type": "integer", "minimum": 1, "maximum": most }),
    };
    json!({
        "name": parameter.name,
        "in": "query",
        "description": parameter.about,
        "schema": schema,
    })
}

/// All errors that a route can answer with, by status.
pub(super) fn errors_of(route: &Route) -> Vec<(u16, Vec<ErrorCode>)> {
    let of_body: &[ErrorCode] = if route.body.is_some() { &OF_BODIES } else { &[] };
    let own = [&OF_ALL[..], of_body, route.errors].concat();
    let mut by_status: Vec<(u16, Vec<ErrorCode>)> = Vec::new();
    // In the order of the list of all codes, which is by status.
    for code in ErrorCode::ALL.iter().filter(|code| own.contains(code)) {
        match by_status.last_mut() {
            Some((status, codes)) if *status == code.status() => codes.push(*code),
            _ => by_status.push((code.status(), vec![*code])),
        }
    }
    by_status
}

/// `getProjectDocs`, `deleteProjectDocsFilename`
fn operation_id(route: &Route) -> String {
    let mut id = route.verb.as_str().to_lowercase();
    for part in route.path.split(['/', '.']).filter(|part| *part != "{id}") {
        let word = part.trim_matches(['{', '}']);
        let mut letters = word.chars();
        id.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        id.push_str(letters.as_str());
    }
    if route.path.ends_with("{id}") {
        id.push_str("ById");
    }
    id
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::routes::Verb;

    #[test]
    fn every_route_is_there_and_every_code_is_somewhere() {
        let document = document();
        let mut ids = Vec::new();
        let mut codes = Vec::new();
        for route in routes::table() {
            let operation = &document["paths"][route.path][route.verb.as_str().to_lowercase()];
            ids.push(operation["operationId"].as_str().expect("id").to_owned());
            codes.extend(errors_of(route).into_iter().flat_map(|(_, codes)| codes));
            let has_body = route.verb == Verb::Post || route.verb == Verb::Patch;
            assert_eq!(operation.get("requestBody").is_some(), has_body, "{}", route.path);
        }
        let count = ids.len();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), count);
        // Those that are of no route: there is none to answer so.
        for code in ErrorCode::ALL {
            let of_none = [
                ErrorCode::NotFound,
                ErrorCode::MethodNotAllowed,
                ErrorCode::Io,
                ErrorCode::NoPageSession,
            ];
            assert!(codes.contains(code) || of_none.contains(code), "{}", code.as_str());
        }
    }

    #[test]
    fn references_lead_somewhere() {
        let document = document();
        let text = document.to_string();
        for part in text.split("\"$ref\":\"").skip(1) {
            let path = part.split('"').next().expect("reference").trim_start_matches('#');
            assert!(document.pointer(path).is_some(), "{path}");
        }
        assert!(text.contains("#/components/schemas/AddDocBody"));
    }
}

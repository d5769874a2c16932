//! The OpenAPI document keeps its word: each route answers with the documented status and shape, no
//! route is missing, and each error has a documented status and a code of the README's table.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::control_api::home_with;
use crate::support::home::write;
use crate::support::run;
use crate::support::serve::{Reply, Serve, approve};

/// Whether a value is of the schema, and has nothing that the schema does not name.
fn fits(document: &Value, schema: &Value, value: &Value) -> Result<(), String> {
    if let Some(path) = schema["$ref"].as_str() {
        let target = document.pointer(path.trim_start_matches('#'));
        return fits(document, target.ok_or(format!("{path} leads nowhere"))?, value);
    }
    for (keyword, _) in schema.as_object().into_iter().flatten() {
        let known = [
            "type",
            "properties",
            "required",
            "items",
            "enum",
            "const",
            "anyOf",
            "oneOf",
            "format",
            "description",
            "minimum",
            "maximum",
            "default",
            "additionalProperties",
        ];
        if !known.contains(&keyword.as_str()) {
            return Err(format!("this test does not know `{keyword}`"));
        }
    }
    for several in ["anyOf", "oneOf"] {
        if let Some(branches) = schema[several].as_array() {
            let found = branches.iter().map(|branch| fits(document, branch, value));
            let errors: Vec<String> = found.filter_map(Result::err).collect();
            if errors.len() == branches.len() {
                return Err(format!("none of {several}: {errors:?}"));
            }
        }
    }
    if let Some(words) = schema["enum"].as_array()
        && !words.contains(value)
    {
        return Err(format!("{value} is not one of {words:?}"));
    }
    if schema.get("const").is_some_and(|only| only != value) {
        return Err(format!("{value} is not {}", schema["const"]));
    }
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let kinds = match &schema["type"] {
        Value::Array(kinds) => kinds.clone(),
        Value::Null => Vec::new(),
        one => vec![one.clone()],
    };
    if !kinds.is_empty() && !kinds.contains(&json!(kind)) {
        return Err(format!("{value} is no {kinds:?}"));
    }
    for item in value.as_array().into_iter().flatten() {
        fits(document, &schema["items"], item)?;
    }
    if let (Some(object), Some(properties)) = (value.as_object(), schema["properties"].as_object())
    {
        for name in schema["required"].as_array().into_iter().flatten() {
            if !object.contains_key(name.as_str().expect("name")) {
                return Err(format!("{name} is missing in {value}"));
            }
        }
        for (name, value) in object {
            let property = properties.get(name).ok_or(format!("`{name}` is not documented"))?;
            fits(document, property, value).map_err(|why| format!("{name}: {why}"))?;
        }
    }
    Ok(())
}

/// The reply is as the document says of this operation.
#[track_caller]
fn assert_documented(document: &Value, method: &str, path: &str, reply: &Reply) {
    let operation = &document["paths"][path][method.to_lowercase()];
    let response = &operation["responses"][reply.status.to_string()];
    assert!(response.is_object(), "{method} {path} answered {reply:?}");
    let schema = &response["content"]["application/json"]["schema"];
    if reply.header("content-type") == Some("application/json")
        && let Err(why) = fits(document, schema, &reply.json())
    {
        panic!("{method} {path}: {why}\n{reply:?}");
    }
    if !reply.code().is_empty() {
        let codes = response["description"].as_str().expect("codes");
        assert!(codes.split(", ").any(|code| code == reply.code()), "{method} {path}: {reply:?}");
    }
}

#[test]
fn each_route_answers_with_the_documented_shape_and_none_is_missing() {
    let docs: &[(&str, &[u8])] =
        &[("a.md", b"# A"), ("rag/r.sql", b"--"), ("x.exe", b"x"), ("p.png", b"no"), ("e.md", b"")];
    let home = home_with(docs);
    let source = home.home().join("new.md");
    write(&source, "text");
    run(home.omni().args(["echo", "-p", "hi", "--project", "p1"]), "").expect_success();
    let serve = Serve::start(&home);
    let document = serve.get("/openapi.json").json();
    let session =
        serve.get("/sessions").json()["sessions"][0]["id"].as_str().expect("id").to_owned();

    let mut called = BTreeSet::new();
    let mut call = |method: &'static str, path: &'static str, actual: &str, body: Value| {
        called.insert((method.to_lowercase(), path.to_owned()));
        let reply = match &body {
            Value::Null => serve.send(method, actual, &[], b""),
            body => serve.write(method, actual, body),
        };
        assert!(reply.status < 300, "{method} {actual}: {reply:?}");
        assert_documented(&document, method, path, &reply);
        reply.json()["actionId"].as_str().unwrap_or_default().to_owned()
    };
    call("GET", "/healthz", "/healthz", Value::Null);
    call("GET", "/openapi.json", "/openapi.json", Value::Null);
    call("GET", "/projects", "/projects", Value::Null);
    let ids = [
        call("POST", "/project/{id}/docs", "/project/p1/docs", json!({ "path": source })),
        call("DELETE", "/project/{id}/docs/{filename}", "/project/p1/docs/a.md", Value::Null),
        call(
            "POST",
            "/project/{id}/new",
            "/project/p1/new",
            json!({ "engine": "echo", "prompt": "hi", "model": null }),
        ),
        call("PATCH", "/settings", "/settings", json!({ "chip": false, "log-level": "info" })),
    ];
    for round in 0..2 {
        call("GET", "/project/{id}/docs", "/project/p1/docs", Value::Null);
        call("GET", "/actions", "/actions?decided=true&limit=10", Value::Null);
        for id in &ids {
            call("GET", "/actions/{id}", &format!("/actions/{id}"), Value::Null);
            if round == 0 {
                assert_eq!(approve(&home, id)["status"], "applied");
            }
        }
    }
    call("GET", "/sessions", "/sessions?limit=1", Value::Null);
    call("GET", "/sessions/{id}", &format!("/sessions/{session}"), Value::Null);
    call("GET", "/settings", "/settings", Value::Null);
    drop(crate::control_api::Events::open(&serve));
    called.insert(("get".to_owned(), "/events".to_owned()));

    let mut documented = BTreeSet::new();
    for (path, methods) in document["paths"].as_object().expect("paths") {
        for method in methods.as_object().expect("methods").keys() {
            documented.insert((method.clone(), path.clone()));
        }
    }
    assert_eq!(called, documented);
    assert_eq!(document["openapi"], "3.1.0");
}

#[test]
fn errors_are_documented_where_they_come_from() {
    let home = home_with(&[("a.md", b"a"), ("rag/a.md", b"a")]);
    let serve = Serve::start(&home);
    let document = serve.get("/openapi.json").json();
    let json = "Content-Type: application/json";
    let large = "x".repeat(70_000);
    let key = "Idempotency-Key: a b";
    let bodies: [(&str, &str, &[&str], &str); 22] = [
        ("GET", "/healthz", &["Host: evil"], ""),
        ("GET", "/healthz", &["Origin: null"], ""),
        ("GET", "/healthz?x=1", &[], ""),
        ("GET", "/project/none/docs", &[], ""),
        ("GET", "/project/p1/docs?engine=none", &[], ""),
        ("DELETE", "/project/p1/docs/a.md", &[], ""),
        ("DELETE", "/project/p1/docs/none.md", &[], ""),
        ("DELETE", "/project/p1/docs/%2f", &[], ""),
        ("DELETE", "/project/p1/docs/a.md?bucket=both", &[], ""),
        ("DELETE", "/project/p1/docs/a.md?bucket=rag", &[key], ""),
        ("POST", "/project/p1/docs", &[], "{}"),
        ("POST", "/project/p1/docs", &[json], "{"),
        ("POST", "/project/p1/docs", &[json], "{}"),
        ("POST", "/project/p1/docs", &[json], &large),
        ("POST", "/project/p1/docs", &[json], r#"{"path":"x.md"}"#),
        ("POST", "/project/p1/docs", &[json], r#"{"path":"/none.md"}"#),
        ("POST", "/project/p1/docs", &[json], r#"{"path":"/dev/null","filename":"a"}"#),
        ("POST", "/project/p1/new", &[json], r#"{"engine":"none","prompt":"x"}"#),
        ("POST", "/project/p1/new", &[json], r#"{"engine":"echo","prompt":""}"#),
        ("PATCH", "/settings", &[json], r#"{"secrets":"off"}"#),
        ("GET", "/actions/none", &[], ""),
        ("GET", "/sessions/none", &[], ""),
    ];
    let mut seen = BTreeSet::new();
    for (method, actual, headers, body) in bodies {
        let reply = serve.send(method, actual, headers, body.as_bytes());
        assert!(reply.status >= 400, "{reply:?}");
        let path = actual.split('?').next().expect("path");
        let path = match path.split('/').collect::<Vec<_>>().as_slice() {
            ["", "project", _, tail] => format!("/project/{{id}}/{tail}"),
            ["", "project", _, "docs", _] => "/project/{id}/docs/{filename}".to_owned(),
            ["", noun, _] => format!("/{noun}/{{id}}"),
            _ => path.to_owned(),
        };
        assert_documented(&document, method, &path, &reply);
        seen.insert(reply.code());
        assert!(!reply.json()["error"]["hint"].as_str().expect("hint").is_empty());
    }
    assert!(seen.len() >= 18, "{seen:?}");
    let unknown = serve.get("/nowhere");
    let schema = json!({ "$ref": "#/components/schemas/ErrorBody" });
    assert_eq!(fits(&document, &schema, &unknown.json()), Ok(()));
}

#[test]
fn the_readme_has_each_code_with_its_status() {
    let readme = include_str!("../../README.md");
    for code in omni_run::control::ErrorCode::ALL {
        let row = format!("\n| {} | `{}` | ", code.status(), code.as_str());
        assert!(readme.contains(&row), "the README lacks{row}");
    }
    let rows = readme.matches("\n| 4").count() + readme.matches("\n| 5").count();
    assert!(rows >= omni_run::control::ErrorCode::ALL.len());
}

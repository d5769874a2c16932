//! Asks and decides in the place of the server and of a person: what the crash tests kill, and what
//! fills a queue for the bench. Folders are those of the environment.
//!
//! `control-probe add PROJECT PATH NAME BUCKET [replace]`, `delete PROJECT NAME BUCKET`,
//! `launch PROJECT ENGINE PROMPT`, `settings JSON`: prints the action's id.
//! `approve ID`, `look`: prints the action, or nothing. `fill PROJECT COUNT`: so many launches.

use std::process::ExitCode;

use omni_run::control::actions::{Action, Ask, ProjectRef, Queue, SettingsChange, Wish};
use omni_run::engines::Catalogue;
use omni_run::paths::{PathEnv, Paths};
use omni_run::project::{Bucket, registry};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let paths = Paths::resolve(&PathEnv::from_process());
    let queue = Queue::open(&paths).expect("queue").with_program(program());
    let now = now();
    let line = match args.as_slice() {
        ["approve", id] => {
            let decided = queue.approve(id.parse().expect("id"), "probe", now).expect("approve");
            json(&decided.action)
        }
        ["look"] => {
            queue.look(now).expect("look");
            String::new()
        }
        ["fill", project, count] => {
            let project = project_of(&queue, project);
            for number in 0..count.parse().expect("count") {
                ask(&queue, Some(project.clone()), launch("echo", &format!("prompt {number}")));
            }
            String::new()
        }
        _ => {
            let (project, wish) = wish(&args);
            ask(&queue, project.map(|id| project_of(&queue, id)), wish)
        }
    };
    #[expect(clippy::print_stdout)]
    {
        println!("{line}");
    }
    ExitCode::SUCCESS
}

fn wish<'a>(args: &[&'a str]) -> (Option<&'a str>, Wish) {
    let bucket = |word: &str| Bucket::parse(word).expect("bucket");
    match args {
        ["add", project, path, name, word, rest @ ..] => {
            let wish = Wish::AddDoc {
                path: (*path).to_owned(),
                file_name: Some((*name).to_owned()),
                bucket: bucket(word),
                replace: *rest == ["replace"],
            };
            (Some(project), wish)
        }
        ["delete", project, name, word] => {
            let wish =
                Wish::DeleteDoc { file_name: (*name).to_owned(), bucket: Some(bucket(word)) };
            (Some(project), wish)
        }
        ["launch", project, engine, prompt] => (Some(project), launch(engine, prompt)),
        ["settings", json] => {
            let body = serde_json::from_str(json).expect("JSON");
            (None, Wish::Settings(SettingsChange::from_json(&body).expect("settings")))
        }
        other => panic!("no such command: {other:?}"),
    }
}

fn launch(engine: &str, prompt: &str) -> Wish {
    Wish::Launch { engine: engine.to_owned(), prompt: prompt.to_owned(), model: None }
}

fn ask(queue: &Queue, project: Option<ProjectRef>, wish: Wish) -> String {
    let catalogue = Catalogue::load(&queue.paths().config.join("engines.toml")).expect("catalogue");
    let ask = Ask { wish, project, asked_by: "probe".to_owned(), idempotency: None };
    queue.enqueue(&ask, &catalogue, now()).expect("enqueue").action.id.to_string()
}

fn project_of(queue: &Queue, id: &str) -> ProjectRef {
    let project = registry::show(queue.store(), id).expect("project");
    ProjectRef { id: id.to_owned(), folder: project.folder }
}

fn json(action: &Action) -> String {
    serde_json::to_string(action).expect("JSON")
}

/// The omni-run beside this probe.
fn program() -> std::path::PathBuf {
    std::env::current_exe().expect("own path").with_file_name("omni-run")
}

fn now() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    i64::try_from(since.expect("clock").as_millis()).expect("clock")
}

//! Sessions as one HTML page that loads nothing and runs nothing: the style is in it and named by
//! its hash in the page's own policy, which forbids all else. `share` makes one of a single session,
//! masked and with fewer facts; `export` one of any number, whole.

use std::sync::LazyLock;

use base64::Engine as _;
use sha2::{Digest, Sha256};

use super::facts::{self, Detail};
use super::mask::Masker;
use super::render::{answer, escape};
use super::{Sheet, Transcript};
use crate::context::figures::counted;
use crate::session::record::{Message, Role, SessionRow};

const STYLE: &str = include_str!("page.css");

static POLICY: LazyLock<String> = LazyLock::new(|| {
    let hash = base64::engine::general_purpose::STANDARD.encode(Sha256::digest(STYLE));
    format!("default-src 'none'; style-src 'sha256-{hash}'; base-uri 'none'; form-action 'none'")
});

/// The export as a page.
#[derive(Default)]
pub(super) struct Html {
    several: bool,
}

impl Sheet for Html {
    fn begin(&mut self, heads: &[SessionRow]) -> String {
        self.several = heads.len() > 1;
        let title = match heads {
            [one] => facts::title(one),
            _ => counted(heads.len(), "session", "sessions"),
        };
        let mut page = head(&title);
        if let [_] = heads {
            return page;
        }
        page.push_str(&format!("<header>\n<h1>{title}</h1>\n<nav><ol>\n"));
        for row in heads {
            let (name, when) = (escape(&facts::title(row)), facts::time(row.started_at));
            page.push_str(&format!(
                "<li dir=\"auto\"><a href=\"#s-{}\">{name}</a> <span class=\"address\">{when}\
                 </span></li>\n",
                row.id
            ));
        }
        page.push_str("</ol></nav>\n</header>\n");
        page
    }

    fn session(&mut self, transcript: &Transcript) -> String {
        let level = if self.several { Level::OneOfSeveral } else { Level::Only };
        let section = section(transcript, Detail::All, level, &mut Masker::off());
        let delivered = transcript.receipt.as_ref().map(|r| delivered(&r.delivered));
        section.close(&delivered.unwrap_or_default())
    }

    fn end(&mut self) -> String {
        tail()
    }
}

/// The page of one session for other people: what `masker` finds is masked.
pub fn share_page(transcript: &Transcript, masker: &mut Masker) -> String {
    let section = section(transcript, Detail::Shared, Level::Only, masker);
    let page = head(&section.title);
    page + &section.close("") + &tail()
}

/// Which headings a session has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    Only,
    OneOfSeveral,
}

/// The text of a session's section, still open.
struct Section {
    title: String,
    html: String,
}

impl Section {
    fn close(self, more: &str) -> String {
        format!("{}{more}</section>\n", self.html)
    }
}

fn section(transcript: &Transcript, detail: Detail, level: Level, masker: &mut Masker) -> Section {
    let row = &transcript.row;
    let heading = match level {
        Level::Only => 1,
        Level::OneOfSeveral => 2,
    };
    // Masked before it is cut: half a secret has no form to be found by.
    let mut title = None;
    let mut articles = String::new();
    for (message, number) in transcript.messages.iter().zip(1..) {
        let (typed, body) = body(message, number, heading + 1, masker);
        title = title.or(typed);
        let who = escape(&facts::speaker(message.role, &row.engine));
        let when = facts::time(message.created_at);
        let tag = format!("h{}", heading + 1);
        articles.push_str(&format!(
            "<article>\n<{tag} class=\"who\">{who} <span class=\"when\">{when}</span></{tag}>\n\
             {body}</article>\n"
        ));
    }
    let title = facts::title_of(title.as_deref().unwrap_or_default(), &row.engine);
    let shown = escape(&title);
    let mut html = format!(
        "<section id=\"s-{}\">\n<header>\n<h{heading} dir=\"auto\">{shown}</h{heading}>\n<dl>\n",
        match detail {
            Detail::All => row.id.to_string(),
            Detail::Shared => "1".to_owned(),
        }
    );
    for (name, value) in facts::facts(transcript, detail) {
        let value = escape(&masker.mask(&value, None, 1));
        html.push_str(&format!("<dt>{name}</dt><dd dir=\"auto\">{value}</dd>\n"));
    }
    html.push_str("</dl>\n");
    let secrets = masker.hidden();
    if secrets > 0 {
        let secrets = counted(
            secrets,
            "text that looks like a secret is",
            "texts that look like secrets are",
        );
        html.push_str(&format!("<p class=\"masked\">{secrets} masked.</p>\n"));
    }
    html.push_str("</header>\n");
    Section { title, html: html + &articles }
}

/// The text of a typed message, masked, and the HTML of any.
fn body(
    message: &Message,
    number: usize,
    heading: usize,
    masker: &mut Masker,
) -> (Option<String>, String) {
    match message.role {
        Role::Operator => {
            let text = masker.mask(&message.text, Some(number), 1).into_owned();
            let html = format!("<div class=\"typed\" dir=\"auto\">{}</div>\n", escape(&text));
            (Some(text), html)
        }
        Role::Engine => {
            let html = answer(&message.text, number, heading, masker);
            (None, format!("<div class=\"answer\">\n{html}</div>\n"))
        }
    }
}

fn delivered(receipt: &serde_json::Value) -> String {
    let (docs, proof) = (facts::docs(receipt), facts::proof(receipt));
    if docs.is_empty() && proof.is_empty() {
        return String::new();
    }
    let mut html = "<details><summary>Delivered</summary>\n<ul>\n".to_owned();
    for (name, state) in docs {
        html.push_str(&format!("<li>{}: {}</li>\n", escape(&name), escape(&state)));
    }
    for (name, value) in proof {
        html.push_str(&format!("<li>{name}: {}</li>\n", escape(&value)));
    }
    html.push_str("</ul>\n</details>\n");
    html
}

fn head(title: &str) -> String {
    let (title, policy) = (escape(title), POLICY.as_str());
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta name=\"robots\" content=\"noindex\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
    )
}

fn tail() -> String {
    "<footer>Written by omni-run.</footer>\n</main>\n</body>\n</html>\n".to_owned()
}

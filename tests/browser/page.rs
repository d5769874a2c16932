//! What a person does at the page, and what nobody can do to it.

use serde_json::{Value, json};

use crate::chromium::{Chromium, is_there};
use crate::server::Server;
use crate::support::home::write;
use crate::support::sample_files::png;

/// Runs a test's future to its end, where there is a browser.
fn in_browser(test: impl Future<Output = ()>) {
    if !is_there() {
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("runtime").block_on(test);
}

const DOCS: &[(&str, &[u8])] = &[
    ("a-style.md", b"# Style\nshort sentences\n"),
    ("b-terms.md", b"# Terms\ncart: where items wait\n"),
    ("rag/api.md", b"# The HTTP interface\n"),
];

async fn open(server: &Server, browser: &Chromium) {
    browser.page.goto(&server.link()).await.expect("the link");
    browser.until("inbox", "return document.querySelector('.doc') !== null").await;
}

fn cards(count: usize) -> String {
    format!("return document.querySelectorAll('.card').length === {count}")
}

#[test]
fn a_person_approves_and_rejects_and_the_page_follows_by_itself() {
    in_browser(async {
        let server = Server::start(DOCS);
        let outside = server.home.root().join("outside");
        write(
            outside.join("b-terms.md"),
            "# Terms\ncart: where items wait to be paid\nSKU: an item\n",
        );
        write(outside.join("logo.png"), png(40, 20, [200, 40, 90]));
        let path = |name: &str| outside.join(name).display().to_string();
        let browser = Chromium::start(1300, 900, false).await;
        open(&server, &browser).await;
        browser.until("empty queue", "return document.querySelector('.empty') !== null").await;

        // Asked for while the page is open: it comes up by itself.
        let terms = json!({ "path": path("b-terms.md"), "replace": true });
        let terms = server.ask("POST", "/project/shop/docs", &terms);
        browser.until("first card", &cards(1)).await;
        browser.until("difference", "return document.querySelector('.diff .added') !== null").await;
        server.ask("POST", "/project/shop/docs", &json!({ "path": path("logo.png") }));
        server.ask(
            "POST",
            "/project/shop/new",
            &json!({ "engine": "echo", "prompt": "hello you" }),
        );
        let gone = server.ask("DELETE", "/project/shop/docs/api.md?bucket=rag", &json!({}));
        server.ask("PATCH", "/settings", &json!({ "chip": false }));
        browser.until("five cards", &cards(5)).await;
        let picture = "const p = document.querySelector('img.picture');
                       return p !== null && p.complete && p.naturalWidth > 0";
        browser.until("picture", picture).await;
        browser.until("prompt", "return document.body.innerText.includes('hello you')").await;
        browser.until("title", "return document.title.startsWith('(5)')").await;
        browser.picture("light").await;

        // A click.
        browser.click(&format!("[data-id='{terms}'] .approve")).await;
        browser.until("four cards", &cards(4)).await;
        let now = std::fs::read_to_string(server.doc("b-terms.md")).expect("doc");
        assert!(now.contains("SKU"), "{now}");

        // Keys: the next card has the focus; to the launch, approve it; to the deletion, reject it.
        let focused = "return document.activeElement.classList.contains('card')";
        browser.until("focus on a card", focused).await;
        browser.keys("j").await;
        browser.until("launch", "return document.activeElement.innerText.includes('Start')").await;
        browser.keys("a").await;
        browser.until("three cards", &cards(3)).await;
        browser.until("delete", "return document.activeElement.innerText.includes('Delete')").await;
        assert_eq!(browser.eval("return document.activeElement.dataset.id").await, json!(gone));
        browser.keys("r").await;
        browser.until("two cards", &cards(2)).await;
        assert!(server.doc("rag/api.md").exists());
        let actions = server.json(&["inbox", "ls", "--all", "--json"]);
        let by: Vec<&Value> = actions.as_array().expect("list").iter().collect();
        let rejected = by.iter().find(|a| a["id"] == json!(gone)).expect("the deletion");
        assert_eq!(rejected["status"], "rejected");
        assert!(rejected["decided_by"].as_str().expect("who").contains("inbox page"));
        let started = by.iter().find(|a| a["kind"] == "launch").expect("the launch");
        assert_eq!(started["status"], "applied", "{started}");

        // Decided elsewhere: the card goes by itself.
        let last = by.iter().find(|a| a["kind"] == "settings").expect("the settings")["id"].clone();
        let run = crate::pty_driver::Run::new(env!("CARGO_BIN_EXE_omni-run"))
            .args(["inbox", "reject", last.as_str().expect("id")])
            .only_env(server.home.env());
        let mut term = run.start();
        term.wait_for("Type yes");
        term.send("yes\r");
        assert_eq!(term.wait_for_end().code, Some(0));
        browser.until("one card", &cards(1)).await;
        browser.end().await;
    });
}

#[test]
fn the_panel_orders_flags_and_moves_docs() {
    in_browser(async {
        let server = Server::start(DOCS);
        let browser = Chromium::start(1300, 900, true).await;
        open(&server, &browser).await;
        assert_eq!(
            browser.eval("return matchMedia('(prefers-color-scheme: dark)').matches").await,
            json!(true)
        );
        let first = |name: &str| {
            format!("return document.querySelector('ol.docs .name').textContent === '{name}'")
        };
        browser.until("name order", &first("a-style.md")).await;
        let order = || {
            let docs = server.json(&["docs", "ls", "--project", "shop", "--json"]);
            let docs = docs["files"].as_array().expect("docs").clone();
            docs.iter()
                .map(|doc| doc["name"].as_str().expect("name").to_owned())
                .collect::<Vec<_>>()
        };
        // Alt and arrow, with the focus on the doc.
        browser.eval("document.querySelector('ol.docs .doc').focus()").await;
        browser.keys("\u{e00a}\u{e015}").await;
        browser.until("other order", &first("b-terms.md")).await;
        assert_eq!(order()[..2], ["b-terms.md", "a-style.md"]);
        let kept = "return document.activeElement.dataset.focus === 'doc a-style.md'";
        browser.until("focus on the moved doc", kept).await;
        // A click.
        browser.click("button[aria-label='Move up: a-style.md']").await;
        browser.until("name order again", &first("a-style.md")).await;
        assert_eq!(order()[..2], ["a-style.md", "b-terms.md"]);

        browser.click("button[aria-label='Make it an instruction: a-style.md']").await;
        browser.until("flag", "return document.querySelector('.badge.instruction') !== null").await;
        let docs = server.json(&["docs", "ls", "--project", "shop", "--json"]);
        let style =
            docs["files"].as_array().expect("docs").iter().find(|d| d["name"] == "a-style.md");
        assert_eq!(style.expect("doc")["instruction"], true);
        browser.picture("dark").await;

        browser.click("button[aria-label='Move to rag: b-terms.md']").await;
        let moved = "return document.querySelectorAll('ul.docs .doc').length === 2";
        browser.until("two in rag", moved).await;
        assert!(server.doc("rag/b-terms.md").exists() && !server.doc("b-terms.md").exists());
        browser.click("button[aria-label='Move to always: api.md']").await;
        let back = "return document.querySelectorAll('ol.docs .doc').length === 2";
        browser.until("two in always", back).await;
        assert!(server.doc("api.md").exists());

        // A name that is taken there: said, and nothing is lost.
        write(server.doc("rag/api.md"), "other");
        browser.click("button[aria-label='Move to rag: api.md']").await;
        browser.until("the reason", "return document.querySelector('.toast.bad') !== null").await;
        assert_eq!(std::fs::read_to_string(server.doc("rag/api.md")).expect("doc"), "other");
        assert!(server.doc("api.md").exists());
        browser.end().await;
    });
}

#[test]
fn scripts_in_names_texts_and_callers_stay_text() {
    in_browser(async {
        let server = Server::start(DOCS);
        let evil = "<img src=x onerror=window.pwned=1>.md";
        let text = "<script>window.pwned=1</script>\n</pre><svg onload=window.pwned=1>\n\
                    {{constructor.constructor('window.pwned=1')()}}\n\u{202e}txt.exe\u{200b}\n";
        let outside = server.home.root().join("outside").join(evil);
        write(&outside, text);
        write(server.doc("rag/<b onmouseover=window.pwned=1>x.md"), format!("# {text}"));
        let add = json!({ "path": outside.display().to_string(), "filename": evil });
        server.ask("POST", "/project/shop/docs", &add);
        server.ask("POST", "/project/shop/new", &json!({ "engine": "echo", "prompt": text }));
        let browser = Chromium::start(420, 900, false).await;
        browser.page.goto(&server.link()).await.expect("the link");
        browser.until("cards", &cards(2)).await;
        let shown = format!(
            "const t = document.querySelector('#cards').innerText;
             return t.includes({}) && t.includes('U+202E') && t.includes('U+200B') &&
               document.querySelectorAll('.card pre').length === 2",
            json!("<script>window.pwned=1</script>")
        );
        browser.until("texts as they are", &shown).await;
        browser
            .until(
                "the odd name",
                "return document.querySelector('#docs').innerText.includes('<b onmouseover')",
            )
            .await;
        for (what, script, expected) in [
            ("no script ran", "return typeof window.pwned", json!("undefined")),
            ("scripts", "return document.querySelectorAll('script').length", json!(1)),
            ("svg", "return document.querySelectorAll('svg, #cards img').length", json!(0)),
            (
                "inline handlers",
                "return [...document.querySelectorAll('*')].some((e) => [...e.attributes].some((a) => a.name.startsWith('on')))",
                json!(false),
            ),
            // Everything came from this server.
            (
                "origins",
                "return performance.getEntriesByType('resource').every((r) => new URL(r.name).origin === location.origin)",
                json!(true),
            ),
            ("width", "return document.documentElement.scrollWidth <= innerWidth", json!(true)),
        ] {
            assert_eq!(browser.eval(script).await, expected, "{what}");
        }
        // The policy holds where a hole in the page would be.
        let blocked = "const done = arguments[0], s = document.createElement('script');
             let violated = false;
             document.addEventListener('securitypolicyviolation', () => { violated = true; done(true); });
             try { s.textContent = 'window.pwned = 1'; document.body.append(s); } catch { done(true); }
             setTimeout(() => done(violated || typeof window.pwned === 'undefined'), 1000);";
        assert_eq!(
            browser.page.execute_async(blocked, Vec::new()).await.expect("run"),
            json!(true)
        );
        assert_eq!(browser.eval("return typeof window.pwned").await, json!("undefined"));
        browser.picture("narrow").await;
        browser.end().await;
    });
}

#[test]
fn the_link_opens_once_and_the_page_says_when_it_is_over() {
    in_browser(async {
        let server = Server::start(DOCS);
        let browser = Chromium::start(1000, 700, false).await;
        let base = format!("http://127.0.0.1:{}", server.port);
        browser.page.goto(&format!("{base}/inbox")).await.expect("page");
        browser
            .until("the way in", "return document.body.innerText.includes('omni-run inbox open')")
            .await;
        let link = server.link();
        browser.page.goto(&link).await.expect("the link");
        browser.until("inbox", "return document.querySelector('.doc') !== null").await;
        let address = browser.page.current_url().await.expect("address");
        assert_eq!(address.as_str(), format!("{base}/inbox"), "the key is out of the address");
        let cookies = browser.page.get_all_cookies().await.expect("cookies");
        let cookie = cookies.first().expect("one");
        assert_eq!((cookies.len(), cookie.http_only()), (1, Some(true)));
        assert_eq!(cookie.same_site().expect("set").to_string(), "Strict");
        assert_eq!(browser.eval("return document.cookie").await, json!(""));
        // What the page holds: the cookie alone, or the token alone, reads and changes nothing.
        let token = browser.eval("return localStorage.getItem('omni-run-inbox-token')").await;
        let token = format!("X-CSRF-Token: {}", token.as_str().expect("token"));
        let cookie = format!("Cookie: {}={}", cookie.name(), cookie.value());
        let bearer = format!("Authorization: Bearer {}", server.token());
        let state =
            |headers: &[&str]| server.request("GET", "/inbox/api/state", headers, "").status;
        assert_eq!(state(&[&cookie, &token]), 200);
        for part in
            [&[&*cookie][..], &[&*token], &[&*bearer], &[&*bearer, &*token], &[&*bearer, &*cookie]]
        {
            assert_eq!(state(part), 401, "{part:?}");
        }
        let both = [cookie.as_str(), token.as_str(), "Sec-Fetch-Site: cross-site"];
        assert_eq!(state(&both), 403, "another site's page");
        let api = server.request("GET", "/projects", &[&cookie, &token], "");
        assert_eq!(api.status, 401, "the page's secrets do not open the API");

        // The link again, in the same browser and as a program.
        browser.page.goto(&format!("{base}/inbox/open")).await.expect("page");
        browser.page.goto(&link).await.expect("the link");
        browser.page.refresh().await.expect("load");
        let key = link.split_once('#').expect("key").1;
        let again = json!({ "key": key }).to_string();
        let answer =
            server.request("POST", "/inbox/session", &["Content-Type: application/json"], &again);
        assert_eq!(answer.status, 401, "{}", answer.body);
        assert!(!answer.head.to_lowercase().contains("set-cookie"));

        // The session is gone, as after a restart: the page says so and shows nothing stale.
        browser.page.goto(&format!("{base}/inbox")).await.expect("page");
        browser.until("inbox", "return document.querySelector('.doc') !== null").await;
        browser.page.delete_all_cookies().await.expect("cookies");
        browser.eval("document.dispatchEvent(new Event('visibilitychange'))").await;
        browser
            .until("the end", "return document.body.innerText.includes('session has ended')")
            .await;
        assert_eq!(
            browser.eval("return document.querySelectorAll('.card, .doc').length").await,
            json!(0)
        );
        browser.end().await;
    });
}

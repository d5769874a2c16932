//! A Chromium without a window, driven by chromedriver; both end with it.

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use fantoccini::wd::TimeoutConfiguration;
use fantoccini::{Client, ClientBuilder};
use serde_json::{Value, json};

/// On a loaded machine a page takes its time.
pub const LIMIT: Duration = Duration::from_secs(60);

/// The browser of one test.
pub struct Chromium {
    pub page: Client,
    driver: Child,
    // The profile.
    _folder: tempfile::TempDir,
}

/// Whether there is one; says so where not, and fails in CI.
pub fn is_there() -> bool {
    let found = which("chromedriver") && (which("chromium") || which("google-chrome"));
    if !found {
        let ci = std::env::var("CI").is_ok_and(|ci| ci == "true");
        assert!(
            !ci,
            "chromium and chromedriver are needed: apt-get install chromium chromium-driver"
        );
        crate::support::process::say("SKIPPED: the inbox page in a browser: no chromedriver");
    }
    found
}

fn which(program: &str) -> bool {
    std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|dir| dir.join(program).is_file()))
}

impl Chromium {
    /// Starts one with this window and this colour scheme.
    pub async fn start(width: u32, height: u32, dark: bool) -> Chromium {
        let folder = tempfile::Builder::new().prefix("omni-chromium-").tempdir().expect("folder");
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .env("HOME", folder.path())
            .env("TMPDIR", folder.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            // The browser is in its group: both end together.
            .process_group(0)
            .spawn()
            .expect("chromedriver");
        let lines = BufReader::new(driver.stdout.take().expect("stdout")).lines();
        let port = lines.map_while(Result::ok).find_map(|line| {
            let (_, port) = line.split_once("started successfully on port ")?;
            port.trim_end_matches('.').parse::<u16>().ok()
        });
        let port = port.expect("the port of chromedriver");
        let profile = folder.path().join("profile");
        let mut args = vec![
            "--headless=new".to_owned(),
            "--no-sandbox".to_owned(),
            "--disable-gpu".to_owned(),
            "--disable-quic".to_owned(),
            "--disable-dev-shm-usage".to_owned(),
            "--no-first-run".to_owned(),
            "--disable-background-networking".to_owned(),
            "--disable-component-update".to_owned(),
            "--disable-sync".to_owned(),
            format!("--window-size={width},{height}"),
            format!("--user-data-dir={}", profile.display()),
        ];
        if dark {
            args.push("--blink-settings=preferredColorScheme=0".to_owned());
        }
        let options = json!({
            "goog:chromeOptions": { "args": args },
            "goog:loggingPrefs": { "browser": "ALL" },
        });
        let Value::Object(options) = options else { unreachable!("an object") };
        let mut builder =
            ClientBuilder::new(hyper_util::client::legacy::connect::HttpConnector::new());
        builder.capabilities(options);
        let page = builder.connect(&format!("http://127.0.0.1:{port}")).await.expect("a session");
        let longer = TimeoutConfiguration::new(Some(LIMIT * 2), None, None);
        page.update_timeouts(longer).await.expect("time-outs");
        Chromium { page, driver, _folder: folder }
    }

    /// What a script's body gives.
    pub async fn eval(&self, script: &str) -> Value {
        self.page.execute(script, Vec::new()).await.unwrap_or_else(|e| panic!("{script}: {e}"))
    }

    /// Waits until a script's body gives true. WebDriver has no event for that: it is asked again
    /// with each frame that the page draws.
    pub async fn until(&self, what: &str, condition: &str) {
        let script = format!(
            "const done = arguments[arguments.length - 1], end = Date.now() + {};
             const holds = () => {{ {condition} }};
             const look = () => {{
               let is = false;
               try {{ is = holds(); }} catch {{}}
               if (is) done(true); else if (Date.now() > end) done(false); else setTimeout(look, 20);
             }};
             look();",
            LIMIT.as_millis()
        );
        let holds = self.page.execute_async(&script, Vec::new()).await;
        if !matches!(holds, Ok(Value::Bool(true))) {
            let text = self.eval("return document.body.innerText").await;
            panic!("no {what} ({holds:?}); the page:\n{}", text.as_str().unwrap_or_default());
        }
    }

    /// Clicks on the first element of this selector. One that the page has replaced meanwhile, since
    /// what it shows has changed, is looked for again.
    pub async fn click(&self, selector: &str) {
        loop {
            let element = self.page.find(fantoccini::Locator::Css(selector)).await;
            let element = element.unwrap_or_else(|e| panic!("{selector}: {e}"));
            match element.click().await {
                Ok(()) => return,
                Err(error) if error.is_stale_element_reference() => {}
                Err(error) => panic!("{selector}: {error}"),
            }
        }
    }

    /// Types keys to whatever has the focus.
    pub async fn keys(&self, keys: &str) {
        let element = self.page.active_element().await.expect("an element with the focus");
        element.send_keys(keys).await.expect("keys");
    }

    /// Keeps a picture of the whole page.
    pub async fn picture(&self, name: &str) {
        let height = self.eval("return document.documentElement.scrollHeight").await;
        let (_, _, width, _) = self.page.get_window_rect().await.expect("window");
        let height = u32::try_from(height.as_u64().unwrap_or(900)).unwrap_or(900).clamp(500, 4000);
        let width = u32::try_from(width).unwrap_or(1300);
        self.page.set_window_size(width, height + 150).await.expect("size");
        let png = self.page.screenshot().await.expect("screenshot");
        let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("../inbox-page");
        crate::support::home::write(folder.join(format!("{name}.png")), png);
    }

    /// Ends it.
    pub async fn end(self) {
        // The driver ends the browser; who goes without this is ended by `drop`.
        let _ = self.page.clone().close().await;
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        let group = nix::unistd::Pid::from_raw(i32::try_from(self.driver.id()).expect("pid"));
        let _ = nix::sys::signal::killpg(group, nix::sys::signal::Signal::SIGKILL);
        let _ = self.driver.wait();
    }
}

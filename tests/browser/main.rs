//! The inbox page in headless Chromium, served by the real program. Screenshots go to
//! `target/inbox-page/`, to be looked at. Without chromedriver a test is named as skipped; with
//! CI=true that is a failure.

#[path = "../support/pty_driver.rs"]
mod pty_driver;
#[path = "../support/mod.rs"]
mod support;

mod chromium;
mod page;
mod server;

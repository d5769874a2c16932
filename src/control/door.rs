//! The door: what is looked at before routing and before any token (H01, H02). A web page that
//! rebinds its name to 127.0.0.1 is known by the Host header only; a page that posts across origins
//! by Origin and Sec-Fetch-Site. Neither gets further, whatever token it has.

use axum::http::header::{HOST, ORIGIN};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName};

use super::error::{ApiError, ErrorCode};

const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Who is let in at one listener.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Door {
    hosts: Vec<String>,
    origins: Vec<String>,
}

impl Door {
    /// For the loopback addresses with this port.
    pub fn tcp(port: u16) -> Door {
        let names = ["127.0.0.1", "localhost", "[::1]"];
        let mut hosts: Vec<String> = names.iter().map(|name| format!("{name}:{port}")).collect();
        if port == 80 {
            // A client leaves out the port that HTTP has by default.
            hosts.extend(names.map(str::to_owned));
        }
        let origins = hosts.iter().map(|host| format!("http://{host}")).collect();
        Door { hosts, origins }
    }

    /// For a socket in the file system, which no browser can open: clients call it `localhost`.
    pub fn socket() -> Door {
        Door { hosts: vec!["localhost".to_owned()], origins: Vec::new() }
    }

    /// Lets a request pass or says why not.
    ///
    /// # Errors
    /// [`ErrorCode::HostNotAllowed`], [`ErrorCode::OriginNotAllowed`].
    pub fn check(&self, head: &Parts) -> Result<(), ApiError> {
        let host = only(&head.headers, &HOST)
            .ok_or_else(|| wrong_host("the Host header is missing or double"))?;
        // `GET http://other/ HTTP/1.1`: what stands there would count more than Host.
        let authority = head.uri.authority().map(|authority| authority.as_str());
        for name in [Some(host), authority].into_iter().flatten() {
            if !is_one_of(name, &self.hosts) {
                return Err(wrong_host("the Host header does not name this server"));
            }
        }
        if head.uri.scheme_str().is_some_and(|scheme| scheme != "http") {
            return Err(wrong_host("the request is for another scheme"));
        }
        if head.headers.contains_key(ORIGIN) {
            let own = only(&head.headers, &ORIGIN).is_some_and(|o| is_one_of(o, &self.origins));
            if !own {
                return Err(wrong_origin("the Origin header is not this server's own"));
            }
        }
        if head.headers.contains_key(FETCH_SITE) {
            // `same-site` is any port of localhost: another program's page.
            let site = only(&head.headers, &FETCH_SITE).unwrap_or_default();
            if !["same-origin", "none"].contains(&site) {
                return Err(wrong_origin("a page of another origin made the request"));
            }
        }
        Ok(())
    }
}

fn wrong_host(why: &str) -> ApiError {
    ApiError::new(ErrorCode::HostNotAllowed, why).closing()
}

fn wrong_origin(why: &str) -> ApiError {
    ApiError::new(ErrorCode::OriginNotAllowed, why).closing()
}

fn is_one_of(value: &str, allowed: &[String]) -> bool {
    allowed.iter().any(|known| known.eq_ignore_ascii_case(value))
}

/// The value of a header that is there once.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::Request;

    fn check(uri: &str, headers: &[(&str, &str)]) -> Option<u16> {
        let mut request = Request::builder().uri(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (head, ()) = request.body(()).expect("request").into_parts();
        Door::tcp(4000).check(&head).err().map(|error| error.code.status())
    }

    #[test]
    fn h01_only_loopback_names_with_the_port_pass() {
        for good in ["127.0.0.1:4000", "localhost:4000", "LocalHost:4000", "[::1]:4000"] {
            assert_eq!(check("/", &[("host", good)]), None, "{good}");
        }
        for bad in [
            "evil.example:4000",
            "127.0.0.1.evil.example:4000",
            "localhost.:4000",
            "localhost",
            "127.0.0.1:4001",
            "127.0.0.1:04000",
            "0.0.0.0:4000",
            "127.1:4000",
            "2130706433:4000",
            "[::]:4000",
            "[::ffff:127.0.0.1]:4000",
            "user@127.0.0.1:4000",
            "127.0.0.1:4000, evil.example",
            "",
        ] {
            assert_eq!(check("/", &[("host", bad)]), Some(421), "{bad}");
        }
        assert_eq!(check("/", &[]), Some(421));
        let twice = [("host", "127.0.0.1:4000"), ("host", "127.0.0.1:4000")];
        assert_eq!(check("/", &twice), Some(421));
        let host = [("host", "127.0.0.1:4000")];
        assert_eq!(check("http://evil.example:4000/", &host), Some(421));
        assert_eq!(check("https://127.0.0.1:4000/", &host), Some(421));
        assert_eq!(check("http://127.0.0.1:4000/", &host), None);
    }

    #[test]
    fn h02_foreign_origins_and_sites_do_not_pass() {
        let with = |name, value| check("/", &[("host", "127.0.0.1:4000"), (name, value)]);
        for good in ["http://127.0.0.1:4000", "http://localhost:4000", "http://[::1]:4000"] {
            assert_eq!(with("origin", good), None, "{good}");
        }
        for bad in [
            "null",
            "http://evil.example",
            "https://127.0.0.1:4000",
            "http://127.0.0.1",
            "http://localhost:3000",
            "",
        ] {
            assert_eq!(with("origin", bad), Some(403), "{bad}");
        }
        for (site, answer) in [
            ("same-origin", None),
            ("none", None),
            ("same-site", Some(403)),
            ("cross-site", Some(403)),
            ("new-word", Some(403)),
        ] {
            assert_eq!(with("sec-fetch-site", site), answer, "{site}");
        }
    }

    #[test]
    fn a_socket_is_called_localhost() {
        let (head, ()) =
            Request::builder().header("host", "localhost").body(()).expect("request").into_parts();
        assert_eq!(Door::socket().check(&head), Ok(()));
    }
}

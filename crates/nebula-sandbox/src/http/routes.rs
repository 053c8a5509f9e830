//! Which path answers what: `/status`, `/flags`, `/stats` everywhere, more by role.

use std::{fmt::Write, sync::Arc};

use serde_json::{Value as Json, json};

use super::message::{Request, Response};
use crate::{
    flags::{Flag, Flags, Mode},
    line::{Line, SANDBOX_GIT_SHA},
    stats::Stats,
};

/// Routes only one role has; `None` = not mine.
pub type Extra = Box<dyn Fn(&Request) -> Option<Response> + Send + Sync>;

/// Answers admin requests.
pub struct Router {
    pub line: Line,
    pub flags: Arc<Flags>,
    pub stats: Arc<Stats>,
    pub extra: Extra,
}

impl std::fmt::Debug for Router {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Router").finish_non_exhaustive()
    }
}

impl Router {
    /// The response to `request`; anything unknown is a 404 without a body.
    pub fn answer(&self, request: &Request) -> Response {
        match (request.method.as_str(), request.path.as_str()) {
            ("GET", "" | "/status") => Response::ok(
                json!({"git_info_sha": SANDBOX_GIT_SHA, "status": "running"}).to_string(),
            ),
            ("GET", "/flags") => self.get_flags(request),
            ("PUT", "/flags") => self.put_flags(&request.body),
            ("GET", "/stats") => {
                let json = request.param("format") == Some("json");
                Response::ok(self.stats.render(&request.list("stats"), json))
            }
            _ => (self.extra)(request).unwrap_or_else(|| Response::empty(404)),
        }
    }

    fn get_flags(&self, request: &Request) -> Response {
        let rows = self.chosen_flags(&request.list("flags"));
        let verbose = request.param("verbose") == Some("true");
        if request.param("format") == Some("json") {
            let list: Vec<_> = rows
                .iter()
                .map(|(name, flag)| json_row(name, flag.as_ref(), verbose))
                .collect();
            return Response::ok(format!("{:#}", json!({"flags": list})));
        }
        let mut text = String::new();
        for (name, flag) in &rows {
            let value = flag
                .as_ref()
                .map_or_else(|| "nullptr".to_owned(), |f| f.value.to_string());
            writeln!(text, "{name}={value}").ok();
        }
        Response::ok(text)
    }

    fn chosen_flags(&self, names: &[&str]) -> Vec<(String, Option<Flag>)> {
        if names.is_empty() {
            let all = self.flags.all().into_iter();
            return all
                .map(|(name, flag)| (name.to_owned(), Some(flag)))
                .collect();
        }
        names
            .iter()
            .map(|name| ((*name).to_owned(), self.flags.get(name)))
            .collect()
    }

    fn put_flags(&self, body: &[u8]) -> Response {
        if body.is_empty() && self.line.dies_of_an_empty_put() {
            std::process::abort();
        }
        let wanted = match serde_json::from_slice(body) {
            Ok(Json::Object(wanted)) if !wanted.is_empty() => wanted,
            _ => return self.bad_request(),
        };
        let mut failed = Vec::new();
        for (name, value) in &wanted {
            let text = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            if self.flags.set(name, &text).is_err() {
                failed.push(name.clone());
            }
        }
        if failed.is_empty() {
            Response::ok("{\"errCode\": 0}")
        } else {
            Response::ok(json!({"failedOptions": failed}).to_string())
        }
    }

    /// Says why only on lines that do.
    fn bad_request(&self) -> Response {
        let mut response = Response::empty(400);
        if self.line.explains_bad_requests() {
            "{\"errorMessage\":\"Bad request\"}".clone_into(&mut response.body);
        }
        response
    }
}

fn json_row(name: &str, flag: Option<&Flag>, verbose: bool) -> Json {
    let Some(flag) = flag else {
        return json!({"name": name, "value": null});
    };
    if !verbose {
        return json!({"name": name, "value": flag.value.json()});
    }
    json!({
        "name": name,
        "value": flag.value.json(),
        "default": flag.default.json(),
        "type": flag.kind.name(),
        "description": flag.description,
        "file": "",
        "is_default": flag.value == flag.default,
        "mutable": flag.mode != Mode::Reboot,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line::Role;

    fn ask(method: &str, target: &str, body: &str) -> Response {
        let router = Router {
            line: Line::V3_8_0,
            flags: Arc::new(Flags::new(Line::V3_8_0, Role::Storaged)),
            stats: Arc::new(Stats::new(Line::V3_8_0, Role::Storaged)),
            extra: Box::new(|_| None),
        };
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        router.answer(&Request {
            method: method.to_owned(),
            path: path.to_owned(),
            query: query
                .split('&')
                .filter_map(|p| p.split_once('='))
                .map(|(k, v)| (k.to_owned(), v.to_owned()))
                .collect(),
            body: body.as_bytes().to_vec(),
            close: false,
        })
    }

    #[test]
    fn answers() {
        let cases = [
            ("GET", "/status", "", 200, "\"git_info_sha\":\"5a4db0c\""),
            (
                "GET",
                "/flags?flags=wal_ttl,nope",
                "",
                200,
                "wal_ttl=14400\nnope=nullptr\n",
            ),
            (
                "GET",
                "/flags?flags=wal_ttl,nope&format=json",
                "",
                200,
                "\"value\": null",
            ),
            ("GET", "/flags?flags=data_path", "", 200, "data_path=\"\"\n"),
            (
                "GET",
                "/flags?flags=v&format=json&verbose=true",
                "",
                200,
                "\"is_default\": true",
            ),
            (
                "PUT",
                "/flags",
                "{\"wal_ttl\":\"600\"}",
                200,
                "{\"errCode\": 0}",
            ),
            (
                "PUT",
                "/flags",
                "{\"x\":\"600\"}",
                200,
                "{\"failedOptions\":[\"x\"]}",
            ),
            (
                "PUT",
                "/flags",
                "{\"wal_ttl\":\"soon\"}",
                200,
                "{\"failedOptions\":[\"wal_ttl\"]}",
            ),
            ("PUT", "/flags", "{}", 400, "Bad request"),
            ("PUT", "/flags", "", 400, "Bad request"),
            ("GET", "/get_stats", "", 404, ""),
            ("POST", "/status", "", 404, ""),
        ];
        for (method, target, body, status, part) in cases {
            let response = ask(method, target, body);
            assert_eq!(response.status, status, "{method} {target}");
            assert!(
                response.body.contains(part),
                "{method} {target}: {}",
                response.body
            );
        }
    }
}

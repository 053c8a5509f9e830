//! Ports: in range and used once per address, silent neighbours included.

use std::collections::BTreeMap;

use super::super::at::Place;
use super::super::names::Role;
use super::super::problem::Problem;
use super::super::resolve::{DaemonDraft, Draft, HostDraft};
use super::super::spec::Component;
use super::super::version::Version;

/// Who uses a port, in words, and where that was said.
struct Claim {
    who: String,
    place: Place,
    hint: &'static str,
}

type Claims<'a> = BTreeMap<(&'a str, u16), Claim>;

pub(super) fn check(draft: &Draft<'_>, problems: &mut Vec<Problem>) {
    let Some((version, _)) = draft.version else {
        return;
    };
    let mut claims = Claims::new();
    for daemon in &draft.daemons {
        claim_daemon(daemon, version, &mut claims, problems);
    }
    let monitored = draft
        .hosts
        .iter()
        .any(|h| h.host.roles.contains(&Role::Monitor));
    for host in draft.hosts.iter().filter(|_| monitored) {
        claim_monitor(draft, host, &mut claims, problems);
    }
}

fn claim_daemon<'a>(
    draft: &'a DaemonDraft<'_>,
    version: Version,
    claims: &mut Claims<'a>,
    problems: &mut Vec<Problem>,
) {
    let daemon = &draft.daemon;
    let ports = match daemon.ports(version) {
        Ok(ports) => ports,
        Err(purpose) => {
            let what = format!("the {purpose} port of {} is outside 1–65535", daemon.id());
            problems.push(Problem::error(Some(draft.at.port), what).hint(NEIGHBOURS));
            return;
        }
    };
    for port in ports {
        let http = port.purpose.starts_with("http");
        let place = if http {
            draft.at.http_port
        } else {
            draft.at.port
        };
        let who = format!("{} ({})", daemon.id(), port.purpose);
        claim(
            (&daemon.address, port.number),
            Claim {
                who,
                place,
                hint: NEIGHBOURS,
            },
            claims,
            problems,
        );
    }
}

const NEIGHBOURS: &str =
    "metad uses p and p+1, storaged p-2 to p+1, graphd p; up to 3.0 also http port + 1";

fn claim<'a>(
    key: (&'a str, u16),
    new: Claim,
    claims: &mut Claims<'a>,
    problems: &mut Vec<Problem>,
) {
    let Some(old) = claims.get(&key) else {
        claims.insert(key, new);
        return;
    };
    let (address, port) = key;
    let what = format!(
        "{address}:{port} is wanted by {} and by {} (line {})",
        new.who, old.who, old.place.line
    );
    problems.push(Problem::error(Some(new.place), what).hint(new.hint));
}

fn claim_monitor<'a>(
    draft: &'a Draft<'_>,
    host: &'a HostDraft<'_>,
    claims: &mut Claims<'a>,
    problems: &mut Vec<Problem>,
) {
    let spec = draft.spec.monitor.as_ref();
    let chosen = spec.and_then(|m| m.components.as_ref());
    let runs = |c: Component| chosen.is_none_or(|some| some.iter().any(|s| s.value == c));
    let here = |c: Component| c.is_everywhere() || host.host.roles.contains(&Role::Monitor);
    for component in Component::ALL.into_iter().filter(|c| runs(*c) && here(*c)) {
        let written = spec.and_then(|m| m.ports.of(component));
        let number = written.map_or(u32::from(component.default_port()), |p| p.value);
        let Ok(number) = u16::try_from(number) else {
            continue;
        };
        let new = Claim {
            hint: "choose another port under `monitor.ports`",
            who: format!("{}@{}", component.as_str(), host.host.name),
            place: written.map_or(host.place, |p| p.place),
        };
        // Two entries of one machine share the parts that run once per machine.
        let key = (host.host.address.as_str(), number);
        let shared = claims
            .get(&key)
            .is_some_and(|old| old.who.starts_with(component.as_str()));
        if !shared {
            claim(key, new, claims, problems);
        }
    }
}

//! Single values: ports, addresses, words that end up in an ssh command line.
//!
//! Duty: each says in its own words what is wrong with a value; none knows where it stood.

use std::net::Ipv4Addr;

/// A port between 1 and 65535.
pub(super) fn port(number: u32) -> Result<u16, String> {
    let port = u16::try_from(number).ok().filter(|p| *p > 0);
    port.ok_or_else(|| format!("port {number} is outside 1–65535"))
}

/// An IPv4 address or a host name.
pub(super) fn address(text: &str) -> Result<String, String> {
    let shown = text.escape_debug();
    if text.contains(':') {
        return Err(format!(
            "`{shown}` looks like IPv6 or carries a port; the daemons know IPv4 only"
        ));
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || ".-".contains(c);
    let starts = text.starts_with(|c: char| c.is_ascii_alphanumeric());
    if !starts || text.len() > 253 || !text.chars().all(plain) {
        return Err(format!("`{shown}` is not an IPv4 address or host name"));
    }
    let numeric = text.chars().all(|c| c.is_ascii_digit() || c == '.');
    match text.parse::<Ipv4Addr>() {
        Ok(ip) if ip.is_unspecified() || ip.is_multicast() || ip.is_broadcast() => {
            Err(format!("`{shown}` is not the address of a host"))
        }
        Err(_) if numeric => Err(format!("`{shown}` is not an IPv4 address")),
        _ => Ok(text.to_owned()),
    }
}

/// Whether other hosts cannot use this address.
pub(crate) fn is_loopback(address: &str) -> bool {
    let ip = address.parse::<Ipv4Addr>();
    ip.is_ok_and(|ip| ip.is_loopback()) || address == "localhost" || address.ends_with(".localhost")
}

/// A word for ssh that it cannot take for an option: no blank, no leading dash.
pub(super) fn ssh_word(text: &str) -> Result<String, String> {
    let odd = |c: char| c.is_whitespace() || c.is_control() || "'\"\\`$;&|<>(){}".contains(c);
    if text.is_empty() || text.starts_with('-') || text.contains(odd) {
        return Err(format!("`{}` cannot be given to ssh", text.escape_debug()));
    }
    Ok(text.to_owned())
}

/// A login name.
pub(super) fn user(text: &str) -> Result<String, String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-@\\".contains(c);
    if text.is_empty() || text.starts_with('-') || !text.chars().all(plain) {
        return Err(format!("`{}` is not a user name", text.escape_debug()));
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{address, is_loopback, port, ssh_word, user};

    #[test]
    fn addresses() {
        for text in ["192.168.8.61", "node01.lab", "localhost", "127.0.0.1"] {
            assert!(address(text).is_ok(), "{text}");
        }
        let bad = [
            "",
            "0.0.0.0",
            "300.1.1.1",
            "1.2.3",
            "::1",
            "h:22",
            "-oX=y",
            "a b",
            "224.0.0.1",
        ];
        for text in bad {
            assert!(address(text).is_err(), "{text}");
        }
        for (text, expected) in [
            ("127.0.0.2", true),
            ("localhost", true),
            ("10.0.0.1", false),
        ] {
            assert_eq!(is_loopback(text), expected, "{text}");
        }
    }

    #[test]
    fn words_that_reach_ssh() {
        assert!(ssh_word("ops@bastion:2222").is_ok());
        for text in ["", "-oProxyCommand=x", "a b", "$(x)", "a;b"] {
            assert!(ssh_word(text).is_err(), "{text}");
            assert!(user(text).is_err(), "{text}");
        }
        assert!(user("vesoft").is_ok());
        assert_eq!(port(65_535), Ok(65_535));
        assert!(port(0).is_err());
        assert!(port(65_536).is_err());
    }
}

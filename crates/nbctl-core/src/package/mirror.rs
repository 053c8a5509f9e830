//! Where packages can be fetched from: addresses by mirror, version and file name.
//!
//! Duty: the layouts that were published (`reference/deploy.md` 1.2), and any other by `{version}`, `{date}` and
//! `{file}` in the mirror's address.

use super::name::{Arch, Build, Format};
use crate::inventory::Cluster;

/// What stands in the file names: the version, or the nightly build that is wanted instead.
pub fn wanted_version(cluster: &Cluster) -> String {
    match &cluster.nightly {
        Some(date) => format!("{date}-nightly"),
        None => cluster.version.to_string(),
    }
}

/// Addresses of a file on one mirror, the likeliest first. `version` is `3.8.0` or `2023.09.01-nightly`.
pub fn urls(mirror: &str, version: &str, file: &str) -> Vec<String> {
    let date = version.strip_suffix("-nightly");
    if mirror.contains('{') {
        let filled = mirror.replace("{version}", version);
        let filled = filled.replace("{date}", date.unwrap_or(version));
        return vec![filled.replace("{file}", file)];
    }
    let folders = match date {
        // Nightly builds moved in November 2021.
        Some(date) => vec![format!("nightly/{date}"), format!("v2-nightly/{date}")],
        // Releases of that time lie one folder deeper than they should.
        None if version.starts_with("3.0.") || version.starts_with("3.1.") => {
            vec![version.to_owned(), format!("{version}/{version}")]
        }
        None => vec![version.to_owned()],
    };
    let base = mirror.trim_end_matches('/');
    let folders = folders.into_iter();
    folders
        .map(|folder| format!("{base}/{folder}/{file}"))
        .collect()
}

/// Every file name that a version may have been published under.
pub fn candidates(version: &str) -> Vec<String> {
    let mut all = Vec::new();
    for build in Build::ALL {
        let red_hat = matches!(build, Build::El7 | Build::El8);
        let own = if red_hat { Format::Rpm } else { Format::Deb };
        for arch in [Arch::X86_64, Arch::Aarch64] {
            let arch = match (red_hat, arch) {
                (false, Arch::X86_64) => "amd64",
                (false, Arch::Aarch64) => "arm64",
                (true, arch) => arch.as_str(),
            };
            let file = |format: Format| {
                let (build, ending) = (build.as_str(), format.ending());
                format!("nebula-graph-{version}.{build}.{arch}.{ending}")
            };
            all.extend([file(own), file(Format::TarGz)]);
        }
    }
    all
}

/// `2023.09.01`.
pub fn is_date(text: &str) -> bool {
    let lengths: Vec<usize> = text.split('.').map(str::len).collect();
    lengths == [4, 2, 2] && text.bytes().all(|b| b.is_ascii_digit() || b == b'.')
}

/// Why an address cannot be a mirror; `None` when it can.
pub fn strange_mirror(mirror: &str) -> Option<String> {
    let shown = mirror.escape_debug();
    let rest = mirror
        .strip_prefix("https://")
        .or_else(|| mirror.strip_prefix("http://"));
    let Some(rest) = rest else {
        return Some(format!(
            "mirror `{shown}` does not begin with http:// or https://"
        ));
    };
    if rest.is_empty() || mirror.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return Some(format!("mirror `{shown}` is no address"));
    }
    if rest.contains('@') {
        return Some("a mirror's address holds no password".to_owned());
    }
    let left = ["{version}", "{date}", "{file}"]
        .iter()
        .fold(mirror.to_owned(), |text, known| text.replace(known, ""));
    if left.contains(['{', '}']) {
        return Some(format!(
            "mirror `{shown}`: only {{version}}, {{date}} and {{file}} are known"
        ));
    }
    if mirror.contains('{') && !mirror.contains("{file}") {
        return Some(format!("mirror `{shown}` does not say where {{file}} goes"));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::package::PackageName;

    #[test]
    fn addresses() {
        let file = "nebula-graph-X.el7.x86_64.rpm";
        let cases = [
            (
                "http://m/package/",
                "3.8.0",
                vec!["http://m/package/3.8.0/F"],
            ),
            (
                "http://m",
                "3.1.0",
                vec!["http://m/3.1.0/F", "http://m/3.1.0/3.1.0/F"],
            ),
            (
                "http://m/package",
                "2023.09.01-nightly",
                vec![
                    "http://m/package/nightly/2023.09.01/F",
                    "http://m/package/v2-nightly/2023.09.01/F",
                ],
            ),
            (
                "https://h/releases/download/v{version}/{file}",
                "3.8.0",
                vec!["https://h/releases/download/v3.8.0/F"],
            ),
            (
                "https://h/n/{date}/{file}",
                "2023.09.01-nightly",
                vec!["https://h/n/2023.09.01/F"],
            ),
        ];
        for (mirror, version, expected) in cases {
            let got: Vec<String> = urls(mirror, version, file);
            let got: Vec<String> = got.iter().map(|url| url.replace(file, "F")).collect();
            assert_eq!(got, expected, "{mirror} {version}");
        }
    }

    #[test]
    fn candidates_are_names_of_packages() {
        for version in ["3.8.0", "2023.09.01-nightly"] {
            let all = candidates(version);
            assert_eq!(all.len(), 20);
            for file in all {
                assert_eq!(PackageName::parse(&file).unwrap().version, version);
            }
        }
    }

    #[test]
    fn strange_mirrors_and_dates() {
        let good = [
            "http://m",
            "https://m/p/{version}/{file}",
            "http://m:8080/a",
        ];
        assert!(good.iter().all(|mirror| strange_mirror(mirror).is_none()));
        let bad = [
            "ftp://m",
            "https://",
            "http://u:p@m/",
            "http://m/{name}",
            "http://m/{version}",
            "http://m /",
        ];
        assert!(bad.iter().all(|mirror| strange_mirror(mirror).is_some()));
        assert!(is_date("2023.09.01"));
        assert!(
            ["2023-09-01", "2023.9.1", "20230901", "2023.09.0x"]
                .iter()
                .all(|date| !is_date(date))
        );
    }
}

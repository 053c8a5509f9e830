//! The choice between the files of a folder.
//!
//! Duty: one file for all hosts when one fits all, so that every host runs the same bytes; else the
//! best one for each host.

use std::collections::BTreeMap;

use super::name::{Arch, Build, Format, PackageName};
use crate::facts::HostFacts;
use crate::failure::Failure;
use crate::units::HostName;

/// What decides about a host.
#[derive(Debug, Clone, Copy)]
pub struct HostNeeds<'a> {
    /// Its facts.
    pub facts: &'a HostFacts,
    /// Only an RPM will do, and it goes into the host's RPM database.
    pub rpm_database: bool,
}

/// Chooses for every host among `files` (names without folder) one of `version`.
///
/// # Errors
/// For a host nothing fits; every such host is listed.
pub fn choose(
    files: &[String],
    version: &str,
    hosts: &BTreeMap<HostName, HostNeeds<'_>>,
) -> Result<BTreeMap<HostName, PackageName>, Failure> {
    let names: Vec<PackageName> = files
        .iter()
        .filter_map(|file| PackageName::parse(file).ok())
        .collect();
    let fitting = |host: &HostNeeds<'_>| -> Vec<&PackageName> {
        let mut all: Vec<_> = names
            .iter()
            .filter(|name| misfit(name, version, host).is_none())
            .collect();
        all.sort_by_key(|name| preference(name, host));
        all
    };
    let by_host: Vec<_> = hosts
        .iter()
        .map(|(name, needs)| (name, needs, fitting(needs)))
        .collect();
    let none: Vec<_> = by_host
        .iter()
        .filter(|(_, _, fit)| fit.is_empty())
        .map(|&(h, n, _)| (h, n))
        .collect();
    if !none.is_empty() {
        return Err(nothing_fits(files, version, &none));
    }
    let Some((_, _, first)) = by_host.first() else {
        return Ok(BTreeMap::new());
    };
    let common = first
        .iter()
        .find(|name| by_host.iter().all(|(_, _, fit)| fit.contains(name)));
    let chosen = by_host.iter().filter_map(|(host, _, fit)| {
        let name = common.or_else(|| fit.first())?;
        Some(((*host).clone(), (*name).clone()))
    });
    Ok(chosen.collect())
}

/// Smaller is better: builds of the host's own family, then the newest C library, then the format
/// that asks least of the host.
fn preference(
    name: &PackageName,
    host: &HostNeeds<'_>,
) -> (bool, std::cmp::Reverse<Build>, Format) {
    let debian = matches!(host.facts.system.os.as_str(), "debian" | "ubuntu");
    let ubuntu = matches!(
        name.build,
        Build::Ubuntu1604 | Build::Ubuntu1804 | Build::Ubuntu2004
    );
    (debian != ubuntu, std::cmp::Reverse(name.build), name.format)
}

/// Why a package cannot be used on a host; `None` when it can.
fn misfit(name: &PackageName, version: &str, host: &HostNeeds<'_>) -> Option<String> {
    let system = &host.facts.system;
    if name.version != version {
        return Some(format!("is version {}", name.version));
    }
    if Arch::parse(&system.arch) != Some(name.arch) {
        return Some(format!("is for {}", name.arch.as_str()));
    }
    if system.glibc.is_none_or(|glibc| glibc < name.build.glibc()) {
        return Some(format!("needs glibc {}", name.build.glibc()));
    }
    if host.rpm_database && name.format != Format::Rpm {
        return Some("is no rpm, which `install: rpm` asks for".into());
    }
    let tools = if host.rpm_database {
        &["rpm"]
    } else {
        name.format.tools()
    };
    let missing: Vec<&str> = tools
        .iter()
        .copied()
        .filter(|tool| !host.facts.has(tool))
        .collect();
    let missing = missing.join(" and ").replace('|', " or ");
    (!missing.is_empty()).then(|| format!("needs {missing} on the host"))
}

fn nothing_fits(files: &[String], version: &str, hosts: &[(&HostName, &HostNeeds<'_>)]) -> Failure {
    let names: Vec<&str> = hosts.iter().map(|(host, _)| host.as_str()).collect();
    let mut failure = Failure::data(format!("no package of {version} fits {}", names.join(", ")));
    for (host, needs) in hosts {
        failure = failure.line(format!("{host} is {}", describe(needs)));
        failure = failure.lines(
            files
                .iter()
                .filter_map(|file| why_not(file, version, needs)),
        );
    }
    if files.is_empty() {
        failure = failure.line("there is no file at all");
    }
    let wanted = hosts.first().and_then(|(_, needs)| wanted(version, needs));
    failure.hint(match wanted {
        Some(file) => format!("get {file} and its .sha256sum.txt"),
        None => "there is no public package for such a host".into(),
    })
}

fn describe(needs: &HostNeeds<'_>) -> String {
    let system = &needs.facts.system;
    let libc = system.glibc.map_or("without glibc".to_owned(), |glibc| {
        format!("with glibc {glibc}")
    });
    format!("{} {} {libc}", system.os_name, system.arch)
}

/// One line per file that looks like a package; checksum files and the like are left out.
fn why_not(file: &str, version: &str, needs: &HostNeeds<'_>) -> Option<String> {
    if !Format::ALL
        .iter()
        .any(|format| file.ends_with(&format!(".{}", format.ending())))
    {
        return None;
    }
    match PackageName::parse(file) {
        Ok(name) => Some(format!("  {file} {}", misfit(&name, version, needs)?)),
        Err(why) => Some(format!("  {why}")),
    }
}

/// The file a host would take: the newest build that its C library allows, in the format for which it
/// has the programs.
fn wanted(version: &str, needs: &HostNeeds<'_>) -> Option<String> {
    let system = &needs.facts.system;
    let arch = Arch::parse(&system.arch).filter(|arch| *arch == Arch::X86_64)?;
    let has_all = |format: &Format| format.tools().iter().all(|tool| needs.facts.has(tool));
    let format = if needs.rpm_database {
        Some(Format::Rpm)
    } else {
        Format::ALL.into_iter().find(has_all)
    }?;
    let mut names: Vec<PackageName> = Build::ALL
        .iter()
        .filter(|build| system.glibc.is_some_and(|glibc| glibc >= build.glibc()))
        .filter_map(|build| PackageName::parse(&file_name(version, *build, arch, format)).ok())
        .filter(|name| matches!(name.build, Build::El7 | Build::El8) || name.format != Format::Rpm)
        .collect();
    names.sort_by_key(|name| preference(name, needs));
    names.first().map(|name| name.file().to_owned())
}

fn file_name(version: &str, build: Build, arch: Arch, format: Format) -> String {
    let amd = !matches!(build, Build::El7 | Build::El8) && arch == Arch::X86_64;
    let arch = if amd { "amd64" } else { arch.as_str() };
    format!(
        "nebula-graph-{version}.{}.{arch}.{}",
        build.as_str(),
        format.ending()
    )
}

//! Names of package files.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::facts::Glibc;

/// A package file by its name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PackageName {
    /// `3.8.0` or `2023.09.01-nightly`.
    pub version: String,
    /// The system it was built on.
    pub build: Build,
    /// Processor.
    pub arch: Arch,
    /// How it is packed.
    pub format: Format,
    file: String,
}

/// The system a package was built on. The binaries carry everything but the C library, so its
/// version alone decides where they run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Build {
    /// glibc 2.17.
    El7,
    /// glibc 2.23.
    Ubuntu1604,
    /// glibc 2.27.
    Ubuntu1804,
    /// glibc 2.28.
    El8,
    /// glibc 2.31.
    Ubuntu2004,
}

impl Build {
    /// By age of the C library, oldest first.
    pub const ALL: [Self; 5] = [
        Self::El7,
        Self::Ubuntu1604,
        Self::Ubuntu1804,
        Self::El8,
        Self::Ubuntu2004,
    ];

    /// As in file names.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::El7 => "el7",
            Self::Ubuntu1604 => "ubuntu1604",
            Self::Ubuntu1804 => "ubuntu1804",
            Self::El8 => "el8",
            Self::Ubuntu2004 => "ubuntu2004",
        }
    }

    /// Oldest C library it runs with.
    pub const fn glibc(self) -> Glibc {
        let minor = match self {
            Self::El7 => 17,
            Self::Ubuntu1604 => 23,
            Self::Ubuntu1804 => 27,
            Self::El8 => 28,
            Self::Ubuntu2004 => 31,
        };
        Glibc { major: 2, minor }
    }
}

/// Processor architecture, as `uname -m` says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Arch {
    /// 64-bit x86; `amd64` in names of Ubuntu builds.
    X86_64,
    /// 64-bit ARM; `arm64` in names of Ubuntu builds.
    Aarch64,
}

impl Arch {
    /// As `uname -m` says it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::X86_64 => "x86_64",
            Self::Aarch64 => "aarch64",
        }
    }

    /// Reads either spelling.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "x86_64" | "amd64" => Some(Self::X86_64),
            "aarch64" | "arm64" => Some(Self::Aarch64),
            _ => None,
        }
    }
}

/// How a package is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Format {
    /// One folder named like the file.
    TarGz,
    /// Relocatable, prefix `/usr/local/nebula`.
    Rpm,
    /// Prefix `/usr/local/nebula`.
    Deb,
}

impl Format {
    /// All, the one that asks least of a host first.
    pub const ALL: [Self; 3] = [Self::TarGz, Self::Rpm, Self::Deb];

    /// File name ending, without the first dot.
    pub const fn ending(self) -> &'static str {
        match self {
            Self::TarGz => "tar.gz",
            Self::Rpm => "rpm",
            Self::Deb => "deb",
        }
    }

    /// Programs a host needs to unpack it; of alternatives (`a|b`) one.
    pub const fn tools(self) -> &'static [&'static str] {
        match self {
            Self::TarGz => &["tar", "gzip"],
            Self::Rpm => &["rpm2cpio", "cpio"],
            Self::Deb => &["dpkg-deb|ar", "tar"],
        }
    }
}

impl PackageName {
    /// Reads a file name (no folder).
    ///
    /// # Errors
    /// A sentence when it does not follow `nebula-graph-<version>.<build>.<arch>.<format>`.
    pub fn parse(file: &str) -> Result<Self, String> {
        let wrong = |what: &str| format!("`{}` {what}", file.escape_debug());
        let rest = file.strip_prefix("nebula-graph-").ok_or_else(|| {
            wrong("is not called nebula-graph-<version>.<build>.<arch>.<rpm|deb|tar.gz>")
        })?;
        let ended = |format: Format| {
            Some((
                rest.strip_suffix(format.ending())?.strip_suffix('.')?,
                format,
            ))
        };
        let (rest, format) = Format::ALL
            .into_iter()
            .find_map(ended)
            .ok_or_else(|| wrong("is no rpm, deb or tar.gz"))?;
        let (rest, arch) = rest
            .rsplit_once('.')
            .ok_or_else(|| wrong("names no architecture"))?;
        let arch = Arch::parse(arch).ok_or_else(|| wrong("is for an unknown architecture"))?;
        let (version, build) = rest
            .rsplit_once('.')
            .ok_or_else(|| wrong("names no build"))?;
        let build = Build::ALL.into_iter().find(|b| b.as_str() == build);
        let build = build.ok_or_else(|| wrong("is an unknown build"))?;
        if !is_version(version) {
            return Err(wrong("has no version such as 3.8.0 or 2023.09.01-nightly"));
        }
        Ok(Self {
            version: version.to_owned(),
            build,
            arch,
            format,
            file: file.to_owned(),
        })
    }

    /// File name.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// File name without `.tar.gz`, `.rpm` or `.deb`: the top folder of a tar.gz.
    pub fn stem(&self) -> &str {
        let ending = self.format.ending();
        self.file
            .strip_suffix(ending)
            .and_then(|name| name.strip_suffix('.'))
            .unwrap_or(&self.file)
    }
}

/// Three numbers, with or without `-nightly` or `-rc…` behind them.
fn is_version(text: &str) -> bool {
    let (numbers, suffix) = text.split_once('-').unwrap_or((text, "nightly"));
    let number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let good_suffix = !suffix.is_empty() && suffix.bytes().all(|b| b.is_ascii_alphanumeric());
    numbers.split('.').count() == 3 && numbers.split('.').all(number) && good_suffix
}

impl fmt::Display for PackageName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.file)
    }
}

impl Serialize for PackageName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_or_refused() {
        let cases = [
            (
                "nebula-graph-3.8.0.el7.x86_64.rpm",
                Ok(("3.8.0", "el7", "x86_64", "rpm")),
            ),
            (
                "nebula-graph-2.6.2.ubuntu1804.amd64.deb",
                Ok(("2.6.2", "ubuntu1804", "x86_64", "deb")),
            ),
            (
                "nebula-graph-3.8.0.el8.x86_64.tar.gz",
                Ok(("3.8.0", "el8", "x86_64", "tar.gz")),
            ),
            (
                "nebula-graph-2021.10.21-nightly.el7.x86_64.rpm",
                Ok(("2021.10.21-nightly", "el7", "x86_64", "rpm")),
            ),
            (
                "nebula-graph-3.8.0.ubuntu2004.arm64.tar.gz",
                Ok(("3.8.0", "ubuntu2004", "aarch64", "tar.gz")),
            ),
            (
                "nebula-graph-3.8.0.el7.x86_64.rpm.sha256sum.txt",
                Err("no rpm, deb"),
            ),
            ("nebula-graph-3.8.0.el9.x86_64.rpm", Err("unknown build")),
            (
                "nebula-graph-3.8.0.el7.riscv64.rpm",
                Err("unknown architecture"),
            ),
            ("nebula-graph-3.8.el7.x86_64.rpm", Err("no version")),
            ("nebula-graph-.el7.x86_64.rpm", Err("no version")),
            ("nebula-graph-el7.x86_64.rpm", Err("names no build")),
            ("nebula-graph-rpm", Err("no rpm, deb")),
            ("nebula-graph-3.8.0-1.x86_64.rpm", Err("unknown build")),
            ("nebula-console-3.8.0.el7.x86_64.rpm", Err("not called")),
        ];
        for (file, expected) in cases {
            let got = PackageName::parse(file);
            match (&got, expected) {
                (Ok(p), Ok(e)) => {
                    let parts = (
                        p.version.as_str(),
                        p.build.as_str(),
                        p.arch.as_str(),
                        p.format.ending(),
                    );
                    assert_eq!(parts, e, "{file}");
                    assert_eq!(format!("{}.{}", p.stem(), p.format.ending()), file);
                }
                (Err(why), Err(part)) => assert!(why.contains(part), "{file}: {why}"),
                _ => panic!("{file}: {got:?}"),
            }
        }
    }
}

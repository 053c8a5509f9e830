//! The commit that a build is said to be made from, against what its daemons tell.
//!
//! Purpose: nightly builds were published that held an older tree than their date says (failure 34). The date in the name
//! is that of the packing and is true even then; only the commit gives it away.
//! Duties: an abbreviated commit is as good as a whole one; what nobody named is not judged.

use std::collections::BTreeSet;

/// Digits of a commit that daemons tell in `/status`; fewer say nothing.
const SHORTEST: usize = 7;
/// Digits of a whole one.
const WHOLE: usize = 40;

/// Who says which commit it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Promise {
    /// 7 to 40 hexadecimal digits.
    pub commit: String,
    /// `nebula.commit`, or the file that names it.
    pub by: String,
}

impl Promise {
    /// The first commit that a text (`commit.txt` beside packages) names, bare or behind a word.
    pub fn read(text: &str, by: &str) -> Option<Self> {
        let words = text.split(|c: char| !c.is_ascii_alphanumeric());
        let commit = words.into_iter().find(|word| is_commit(word))?;
        Some(Self {
            commit: commit.to_ascii_lowercase(),
            by: by.to_owned(),
        })
    }

    /// What is wrong with a daemon that tells `sha`; `None` when it is that build.
    pub fn broken_by(&self, sha: &str) -> Option<String> {
        let told = sha.to_ascii_lowercase();
        let wanted = self.commit.to_ascii_lowercase();
        let same =
            told.len() >= SHORTEST && (wanted.starts_with(&told) || told.starts_with(&wanted));
        let text = format!("is build {sha}, while {} says {}", self.by, self.commit);
        (!same).then_some(text)
    }
}

/// What is to be said of a nightly build whose commit nobody names; `told` by its daemons.
pub fn unpromised(date: &str, told: &BTreeSet<&str>) -> Option<String> {
    let told: Vec<&str> = told.iter().copied().collect();
    (!told.is_empty()).then(|| {
        format!(
            "nothing says which commit the nightly build of {date} is made from; its daemons say {} (`nebula.commit` would hold them to it)",
            told.join(", ")
        )
    })
}

/// 7 to 40 hexadecimal digits.
pub fn is_commit(text: &str) -> bool {
    (SHORTEST..=WHOLE).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_is_found_in_its_file() {
        let whole = "db3c1b3e8a1f0c9d7b6a5948372615040f1e2d3c";
        let cases = [
            (format!("{whole}\n"), Some(whole)),
            (
                format!("commit {whole}\nAuthor: A\nDate: 2023"),
                Some(whole),
            ),
            ("nebula: DB3C1B3".to_owned(), Some("db3c1b3")),
            ("abc 123456".to_owned(), None),
            (String::new(), None),
        ];
        for (text, commit) in cases {
            let read = Promise::read(&text, "commit.txt");
            assert_eq!(
                read.map(|promise| promise.commit).as_deref(),
                commit,
                "{text}"
            );
        }
    }

    #[test]
    fn a_build_is_held_to_its_commit() {
        let promise = |commit: &str| Promise {
            commit: commit.to_owned(),
            by: "nebula.commit".to_owned(),
        };
        let cases = [
            ("db3c1b3e8a1f0c9d", "db3c1b3", true),
            ("db3c1b3", "DB3C1B3E8A1F", true),
            ("db3c1b3", "db3c1b3", true),
            ("db3c1b3e8a1f0c9d", "db3c1b4", false),
            ("db3c1b3", "db3", false),
            ("db3c1b3", "", false),
        ];
        for (wanted, told, kept) in cases {
            let broken = promise(wanted).broken_by(told);
            assert_eq!(broken.is_none(), kept, "{wanted} {told}: {broken:?}");
        }
        let told = promise("db3c1b3").broken_by("0000000").unwrap();
        assert_eq!(told, "is build 0000000, while nebula.commit says db3c1b3");
    }
}

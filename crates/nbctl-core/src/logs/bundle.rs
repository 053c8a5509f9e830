//! The form in which a host sends several files: a line that says what comes, then so many bytes.
//!
//! Duty: refuse names that would leave the folder they are written to.

/// What a line of the answer says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Head {
    /// A file follows.
    File {
        /// `role/file`.
        name: String,
        /// Bytes that follow.
        bytes: u64,
        /// Bytes at the beginning of the file that were left out.
        left_out: u64,
    },
    /// Nothing more comes.
    End,
}

/// Reads a line; `None` when it is neither.
pub fn head(line: &str) -> Option<Head> {
    let fields: Vec<&str> = line.split('\t').collect();
    match fields.as_slice() {
        ["end"] => Some(Head::End),
        ["file", name, bytes, left_out] if is_plain(name) => Some(Head::File {
            name: (*name).to_owned(),
            bytes: bytes.parse().ok()?,
            left_out: left_out.parse().ok()?,
        }),
        _ => None,
    }
}

/// A relative path that leads downwards only.
fn is_plain(name: &str) -> bool {
    let good = |part: &str| !part.is_empty() && part != "." && part != "..";
    name.split('/').all(good) && !name.contains('\0')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_below() {
        let good = |line: &str| matches!(head(line), Some(Head::File { .. }));
        assert!(good("file\tgraphd/nebula-graphd.h1.log\t12\t0"));
        for name in [
            "../x",
            "/etc/passwd",
            "graphd/../../x",
            "graphd//x",
            "",
            "a/.",
        ] {
            assert!(!good(&format!("file\t{name}\t12\t0")), "{name}");
        }
        assert_eq!(head("end"), Some(Head::End));
        assert_eq!(head("file\tx\tmany\t0"), None);
    }
}

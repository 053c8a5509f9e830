//! Host ranges: `192.168.8.[61:63]`, `node[01:12].lab`.
//!
//! Duty: write one entry for many hosts and know exactly which hosts it stands for.

/// More hosts than this from one text is taken for a slip of the keyboard.
const LIMIT: u32 = 1024;

/// Every host a text stands for, in order. A text without brackets stands for itself. Numbers are
/// padded with zeros to the width of the first bound when that is written with zeros.
///
/// Errors: a sentence part that says what is wrong with the range.
pub fn expand(text: &str) -> Result<Vec<String>, String> {
    let Some((head, rest)) = text.split_once('[') else {
        return if text.contains(']') {
            Err(unbalanced(text))
        } else {
            Ok(vec![text.to_owned()])
        };
    };
    let (range, tail) = rest.split_once(']').ok_or_else(|| unbalanced(text))?;
    let numbers = bounds(range).map_err(|why| format!("`{text}`: {why}"))?;
    let tails = expand(tail)?;
    let all: Vec<String> = numbers
        .iter()
        .flat_map(|number| {
            tails
                .iter()
                .map(move |tail| format!("{head}{number}{tail}"))
        })
        .collect();
    if all.len() > LIMIT as usize {
        return Err(format!("`{text}` stands for more than {LIMIT} hosts"));
    }
    Ok(all)
}

fn unbalanced(text: &str) -> String {
    format!("`{text}`: a range is written `[first:last]`")
}

/// The numbers of `first:last`, as they are to be written.
fn bounds(range: &str) -> Result<Vec<String>, String> {
    let number = |t: &str| {
        t.parse::<u32>()
            .ok()
            .filter(|_| t.bytes().all(|b| b.is_ascii_digit()))
    };
    let (first, last) = range
        .split_once(':')
        .ok_or("a range is written `[first:last]`")?;
    let (from, to) = number(first)
        .zip(number(last))
        .ok_or("a range has a number on both sides of the colon")?;
    if from > to || to - from >= LIMIT {
        return Err(format!("a range grows and has at most {LIMIT} steps"));
    }
    let width = if first.starts_with('0') {
        first.len()
    } else {
        0
    };
    Ok((from..=to).map(|n| format!("{n:0width$}")).collect())
}

/// Names as short as [`expand`] reads them: three or more that differ in one number only and follow one another become
/// a range. Sorted, numbers by their value.
pub fn contract<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut parts: Vec<Parts<'a>> = names.into_iter().map(Parts::of).collect();
    parts.sort_unstable();
    parts.dedup();
    let runs = parts.chunk_by(Parts::is_before);
    runs.flat_map(shortened).collect()
}

fn shortened(run: &[Parts<'_>]) -> Vec<String> {
    match run {
        [first, _, .., last] => vec![format!(
            "{}[{}:{}]{}",
            first.head, first.digits, last.digits, first.tail
        )],
        few => few.iter().map(Parts::name).collect(),
    }
}

/// A name around its last number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Parts<'a> {
    head: &'a str,
    tail: &'a str,
    /// `None`: there is no number, or one beyond any host's.
    number: Option<u32>,
    digits: &'a str,
}

impl<'a> Parts<'a> {
    fn of(name: &'a str) -> Self {
        let end = name.rfind(|c: char| c.is_ascii_digit());
        let (rest, tail) = name.split_at(end.map_or(name.len(), |at| at + 1));
        let head = rest.trim_end_matches(|c: char| c.is_ascii_digit());
        let digits = rest.strip_prefix(head).unwrap_or_default();
        Self {
            head,
            tail,
            number: digits.parse().ok(),
            digits,
        }
    }

    fn is_before(&self, next: &Self) -> bool {
        let width = if self.digits.starts_with('0') {
            self.digits.len()
        } else {
            0
        };
        let following = self.number.and_then(|number| number.checked_add(1));
        (self.head, self.tail) == (next.head, next.tail)
            && following.is_some_and(|number| format!("{number:0width$}") == next.digits)
    }

    fn name(&self) -> String {
        [self.head, self.digits, self.tail].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::{contract, expand};

    #[test]
    fn ranges() {
        let cases = [
            ("a", "a"),
            (
                "192.168.8.[61:63]",
                "192.168.8.61 192.168.8.62 192.168.8.63",
            ),
            (
                "node[08:11].lab",
                "node08.lab node09.lab node10.lab node11.lab",
            ),
            ("r[1:2]n[1:2]", "r1n1 r1n2 r2n1 r2n2"),
            ("x[7:7]", "x7"),
            ("x[0:1]", "x0 x1"),
        ];
        for (text, hosts) in cases {
            assert_eq!(expand(text).unwrap().join(" "), hosts);
        }
        for text in [
            "a[",
            "a]",
            "a[1]",
            "a[3:1]",
            "a[x:3]",
            "a[+1:3]",
            "a[1:5000]",
            "a[1:99][1:99]",
        ] {
            assert!(expand(text).is_err(), "{text}");
        }
    }

    #[test]
    fn names_are_shortened_to_what_stands_for_them() {
        let cases = [
            ("", ""),
            ("a", "a"),
            ("h2 h1", "h1 h2"),
            ("h10 h9 h11 h1 h8 h2", "h1 h2 h[8:11]"),
            ("n08.lab n09.lab n10.lab x", "n[08:10].lab x"),
            ("n8 n09 n10", "n8 n09 n10"),
            ("r1n1 r1n2 r1n3 r2n3", "r1n[1:3] r2n3"),
            ("10.0.0.7 10.0.0.8 10.0.0.9", "10.0.0.[7:9]"),
            (
                "x99999999998 x99999999999 x100000000000",
                "x100000000000 x99999999998 x99999999999",
            ),
        ];
        for (names, short) in cases {
            let shortened = contract(names.split_whitespace());
            assert_eq!(shortened.join(" "), short);
            let mut all: Vec<String> = shortened
                .iter()
                .flat_map(|text| expand(text).unwrap())
                .collect();
            all.sort();
            let mut names: Vec<&str> = names.split_whitespace().collect();
            names.sort_unstable();
            assert_eq!(all, names);
        }
    }
}

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

#[cfg(test)]
mod tests {
    use super::expand;

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
}

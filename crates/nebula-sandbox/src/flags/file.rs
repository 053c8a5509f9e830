//! Which lines of a flag file count, by the rules of gflags.

/// The flags (without their dashes) of `text` that apply to `program`.
///
/// A line that starts with neither `-` nor `#` names programs by glob; what follows counts only for them.
pub(super) fn relevant_lines<'a>(text: &'a str, program: &str) -> Vec<&'a str> {
    let mut kept = Vec::new();
    let mut relevant = true;
    let mut in_names = false;
    for line in text.lines().map(str::trim_start) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(body) = line.strip_prefix('-') {
            in_names = false;
            if relevant {
                kept.push(body.strip_prefix('-').unwrap_or(body));
            }
            continue;
        }
        let named = line.split_whitespace().any(|glob| matches(glob, program));
        relevant = named || (in_names && relevant);
        in_names = true;
    }
    kept
}

/// Glob match with `*` and `?`.
fn matches(glob: &str, name: &str) -> bool {
    let Some(first) = glob.chars().next() else {
        return name.is_empty();
    };
    let rest = glob.split_at(first.len_utf8()).1;
    match first {
        '*' => (0..=name.len()).any(|at| name.get(at..).is_some_and(|tail| matches(rest, tail))),
        '?' => name
            .chars()
            .next()
            .is_some_and(|c| matches(rest, name.split_at(c.len_utf8()).1)),
        c => name.strip_prefix(c).is_some_and(|tail| matches(rest, tail)),
    }
}

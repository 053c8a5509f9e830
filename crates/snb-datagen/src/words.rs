//! Names made by rule from syllables. Nothing here is taken from a dictionary; some names carry letters outside of
//! ASCII, because real data sets do and importers must cope.

const ONSETS: [&str; 20] = [
    "b", "d", "f", "g", "h", "j", "k", "l", "m", "n", "p", "r", "s", "t", "v", "w", "z", "br",
    "st", "tr",
];
const VOWELS: [&str; 7] = ["a", "e", "i", "o", "u", "é", "ö"];
const CODAS: [&str; 5] = ["", "n", "r", "s", "l"];
/// Two syllables give so many different stems.
const STEMS: usize = (ONSETS.len() * VOWELS.len()).pow(2);

/// What a name is for; the kinds walk through the same stems from different places.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    Continent,
    Country,
    City,
    Company,
    University,
    Tag,
    TagClass,
    First,
    Last,
}

/// The `n`-th name of a kind; all different below 19600.
pub(crate) fn name(kind: Kind, n: usize) -> String {
    // The factor has no common divisor with STEMS, so this is a permutation that keeps neighbours apart.
    let stem = (n * 6007 + kind as usize * 1777) % STEMS;
    let syllables = ONSETS.len() * VOWELS.len();
    let first = capital(&syllable(stem % syllables));
    first + &syllable(stem / syllables) + CODAS[n % CODAS.len()]
}

/// A lower-case ASCII word of one or two syllables, for texts.
pub(crate) fn word(n: usize) -> String {
    let ascii = |n: usize| {
        let (onset, vowel) = (n % ONSETS.len(), n / ONSETS.len() % 5);
        ONSETS[onset].to_owned() + VOWELS[vowel]
    };
    let short = ascii(n) + CODAS[n % 3];
    if n.is_multiple_of(3) {
        short
    } else {
        short + &ascii(n / 100)
    }
}

fn syllable(n: usize) -> String {
    ONSETS[n % ONSETS.len()].to_owned() + VOWELS[n / ONSETS.len()]
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map(|first| first.to_ascii_uppercase())
        .into_iter()
        .chain(letters)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_differ_and_fit() {
        let names: HashSet<String> = (0..STEMS).map(|n| name(Kind::Tag, n)).collect();
        assert_eq!(names.len(), STEMS);
        assert!(names.iter().any(|name| !name.is_ascii()));
        assert!(
            names
                .iter()
                .all(|name| !name.contains(['|', '\n', '"', '\\']))
        );
        assert!((0..1000).all(|n| word(n).is_ascii()));
    }
}

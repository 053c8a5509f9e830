//! Persons: their attributes, and the seven files about them alone.

use crate::Error;
use crate::clock::{BIRTH_DAYS, FROM, Millis, THRESHOLD, TO, birthday};
use crate::draw::{Draw, Purpose};
use crate::files::File;
use crate::ids;
use crate::sink::Output;
use crate::statics::World;
use crate::words::{Kind, name};

/// Browsers with their share in 1000.
const BROWSERS: [(&str, u64); 5] = [
    ("Firefox", 422),
    ("Chrome", 279),
    ("Internet Explorer", 232),
    ("Safari", 40),
    ("Opera", 27),
];
/// ISO 639-1 codes; a country speaks one or two of them.
const LANGUAGES: [&str; 20] = [
    "zh", "hi", "es", "ar", "pt", "bn", "ru", "ja", "de", "fr", "ko", "vi", "tr", "it", "pl", "uk",
    "nl", "sv", "fi", "el",
];
/// Names per country and gender; the first ones are by far the most frequent.
const NAMES: u64 = 60;
const MAX_INTERESTS: u64 = 80;

/// One person.
#[derive(Debug)]
pub(crate) struct Person {
    pub(crate) id: u64,
    pub(crate) serial: u64,
    pub(crate) created: Millis,
    pub(crate) country: usize,
    /// Place id.
    pub(crate) city: usize,
    /// Organisation id.
    pub(crate) university: Option<u16>,
    /// Tag ids, the main one first.
    pub(crate) interests: Box<[u16]>,
    /// Shuffles the order of persons in files without losing determinism.
    pub(crate) random: u8,
    /// Last three bytes of the address; the first is 10.
    pub(crate) address: [u8; 3],
    browser: u8,
    female: bool,
    first: u16,
    last: u16,
    birth: u16,
}

/// Draws all persons in file order, which is LDBC's: by a random number below 100, then by id. Persons created
/// after the threshold are among them, because they take part in the search for friends.
pub(crate) fn draw_all(seed: u64, persons: u64, world: &World) -> Vec<Person> {
    let mut people: Vec<Person> = (0..persons)
        .map(|serial| Person::draw(seed, serial, world))
        .collect();
    people.sort_unstable_by_key(|person| (person.random, person.id));
    people
}

impl Person {
    fn draw(seed: u64, serial: u64, world: &World) -> Self {
        let draw = &mut Draw::new(seed, Purpose::Person, serial);
        let created = FROM + draw.below(TO - FROM);
        let country = world.country(draw);
        let female = draw.permille(500);
        let gendered = (country as u64 * 2 + u64::from(female)) * NAMES;
        Self {
            id: ids::person(created, serial),
            serial,
            created,
            country,
            city: world.city(draw, country),
            university: draw_university(draw, world, country),
            interests: draw_interests(draw, world, country),
            random: u8::try_from(draw.below(100)).unwrap_or(0),
            address: draw_address(draw, country),
            browser: draw_browser(draw),
            female,
            first: u16::try_from(gendered + draw.geometric(20, NAMES)).unwrap_or(0),
            last: u16::try_from(country as u64 * NAMES + draw.geometric(20, NAMES)).unwrap_or(0),
            birth: u16::try_from(draw.below(u64::from(BIRTH_DAYS))).unwrap_or(0),
        }
    }

    /// Whether the person is in the files at all.
    pub(crate) const fn is_written(&self) -> bool {
        self.created < THRESHOLD
    }

    pub(crate) fn first_name(&self) -> String {
        name(Kind::First, usize::from(self.first))
    }

    pub(crate) fn last_name(&self) -> String {
        name(Kind::Last, usize::from(self.last))
    }

    pub(crate) fn browser(&self) -> &'static str {
        BROWSERS[usize::from(self.browser)].0
    }

    /// The languages that the person speaks.
    pub(crate) fn languages(&self) -> impl Iterator<Item = &'static str> {
        let own = LANGUAGES[self.country % LANGUAGES.len()];
        let second = LANGUAGES[(self.country * 7 + 3) % LANGUAGES.len()];
        let second = (second != own && self.serial.is_multiple_of(3)).then_some(second);
        [Some(own), second, Some("en")].into_iter().flatten()
    }
}

/// Writes the rows about one person.
pub(crate) fn write(
    out: &mut Output,
    seed: u64,
    person: &Person,
    world: &World,
) -> Result<(), Error> {
    let draw = &mut Draw::new(seed, Purpose::PersonRows, person.serial);
    let first = person.first_name();
    let (birth, year) = birthday(person.birth);
    out.row(File::Person)
        .num(person.id)
        .text(&[&first])
        .text(&[&person.last_name()])
        .text(&[if person.female { "female" } else { "male" }])
        .bytes(&birth)
        .date(person.created)
        .address(person.address)
        .text(&[person.browser()])
        .end()?;
    out.pair(File::PersonPlace, person.id, person.city as u64)?;
    for &tag in &person.interests {
        out.pair(File::PersonInterest, person.id, u64::from(tag))?;
    }
    for language in person.languages() {
        out.row(File::PersonLanguage)
            .num(person.id)
            .text(&[language])
            .end()?;
    }
    write_emails(out, draw, person, &first)?;
    write_career(out, draw, person, world, year)
}

fn write_emails(
    out: &mut Output,
    draw: &mut Draw,
    person: &Person,
    first: &str,
) -> Result<(), Error> {
    let user: String = first
        .chars()
        .map(|c| if c.is_ascii() { c } else { '.' })
        .collect();
    // Each provider at most once: the rows of a file are distinct.
    for provider in [
        "@mail.example",
        "@post.example",
        "@letters.example",
        "@box.example",
    ] {
        let main = provider == "@mail.example";
        if main || draw.permille(400) {
            out.row(File::PersonEmail)
                .num(person.id)
                .numbered(&user, person.id, provider)
                .end()?;
        }
    }
    Ok(())
}

fn write_career(
    out: &mut Output,
    draw: &mut Draw,
    person: &Person,
    world: &World,
    birth_year: u64,
) -> Result<(), Error> {
    let class_year = birth_year + draw.between(18, 22);
    if let Some(university) = person.university {
        let row = out.row(File::PersonStudyAt).num(person.id);
        row.num(u64::from(university)).num(class_year).end()?;
    }
    let jobs = if draw.permille(800) {
        draw.between(1, 5)
    } else {
        0
    };
    let mut companies = Vec::new();
    for _ in 0..jobs {
        let country = if draw.permille(50) {
            world.country(draw)
        } else {
            person.country
        };
        let company = world.company(draw, country);
        if !companies.contains(&company) {
            companies.push(company);
            let row = out.row(File::PersonWorkAt).num(person.id).num(company);
            row.num(class_year + draw.below(3)).end()?;
        }
    }
    Ok(())
}

fn draw_university(draw: &mut Draw, world: &World, country: usize) -> Option<u16> {
    let country = if draw.permille(5) {
        world.country(draw)
    } else {
        country
    };
    let university = world.university(draw, country);
    draw.permille(800).then_some(university)
}

/// A main interest, then others near it or popular in the country. Fewer than aimed at when draws repeat.
fn draw_interests(draw: &mut Draw, world: &World, country: usize) -> Box<[u16]> {
    let wanted = 1 + draw.skewed(MAX_INTERESTS);
    let elsewhere = if draw.permille(500) {
        world.country(draw)
    } else {
        country
    };
    let main = world.tag(draw, elsewhere);
    let mut interests = vec![main];
    for _ in 1..wanted * 2 {
        let near = draw.permille(700);
        let tag = if near {
            world.related_tag(draw, main)
        } else {
            world.tag(draw, country)
        };
        if interests.len() as u64 == wanted {
            break;
        }
        if !interests.contains(&tag) {
            interests.push(tag);
        }
    }
    interests.into_boxed_slice()
}

/// Private addresses, one network per country.
pub(crate) fn draw_address(draw: &mut Draw, country: usize) -> [u8; 3] {
    let byte = |n: u64| u8::try_from(n).unwrap_or(0);
    [
        byte(country as u64),
        byte(draw.below(256)),
        byte(draw.between(1, 254)),
    ]
}

fn draw_browser(draw: &mut Draw) -> u8 {
    let mut at = draw.below(1000);
    for (browser, (_, share)) in (0..).zip(BROWSERS) {
        if at < share {
            return browser;
        }
        at -= share;
    }
    0
}

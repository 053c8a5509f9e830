//! The part of a data set that is the same for every size and seed: places, organisations, tags and tag classes.
//! The shape is LDBC's (ids count up per class; countries come before cities before continents, companies before
//! universities), the amount is a few hundred of each.

use crate::Error;
use crate::draw::Draw;
use crate::files::File;
use crate::sink::Output;
use crate::words::{Kind, name};

const CONTINENTS: usize = 6;
const COUNTRIES: usize = 60;
const COMPANIES_PER_COUNTRY: usize = 6;
const UNIVERSITIES_PER_COUNTRY: usize = 5;
const TAGS: usize = 900;
/// One root, `GROUPS` below it, the rest leaves.
const CLASSES: usize = 60;
const GROUPS: usize = 9;
/// How many tags count as related to a tag.
const RELATED: u64 = 60;

/// Where resources would be found; a name reserved for examples.
const URL: &str = "http://snb.example/resource/";
const CLASS_URL: &str = "http://snb.example/ontology/";

/// Places, organisations and tags.
#[derive(Debug)]
pub(crate) struct World {
    places: Vec<String>,
    /// Country of each city.
    country_of: Vec<usize>,
    /// First city of each country, and one more entry for the end.
    cities: Vec<usize>,
    /// Cumulated weights of the countries.
    population: Vec<u64>,
    tags: Vec<String>,
}

impl World {
    pub(crate) fn new() -> Self {
        let mut cities = vec![0];
        let mut country_of = Vec::new();
        let mut population = Vec::new();
        let mut total = 0;
        for country in 0..COUNTRIES {
            country_of.extend((0..2 + country * 5 % 8).map(|_| country));
            cities.push(country_of.len());
            total += 100_000 / (country as u64 + 2);
            population.push(total);
        }
        let named = |kind, n| (0..n).map(move |i| name(kind, i));
        let places = named(Kind::Country, COUNTRIES)
            .chain(named(Kind::City, country_of.len()))
            .chain(named(Kind::Continent, CONTINENTS))
            .collect();
        Self {
            places,
            country_of,
            cities,
            population,
            tags: named(Kind::Tag, TAGS).collect(),
        }
    }

    /// Draws a country by population.
    pub(crate) fn country(&self, draw: &mut Draw) -> usize {
        let at = draw.below(self.population.last().copied().unwrap_or(0));
        self.population.partition_point(|&end| end <= at)
    }

    /// Draws a city of a country, as its place id.
    pub(crate) fn city(&self, draw: &mut Draw, country: usize) -> usize {
        let (start, end) = (self.cities[country], self.cities[country + 1]);
        COUNTRIES + start + draw.index(end - start)
    }

    pub(crate) fn place(&self, id: usize) -> &str {
        &self.places[id]
    }

    pub(crate) fn tag_name(&self, id: u16) -> &str {
        &self.tags[usize::from(id)]
    }

    /// Draws a tag that is liked in a country.
    pub(crate) fn tag(&self, draw: &mut Draw, country: usize) -> u16 {
        let tags = self.tags.len() as u64;
        small((draw.skewed(tags) + country as u64 * 37) % tags)
    }

    /// Draws one of the tags that are related to a tag.
    pub(crate) fn related_tag(&self, draw: &mut Draw, tag: u16) -> u16 {
        let offset = 1 + 13 * draw.below(RELATED);
        small((u64::from(tag) + offset) % self.tags.len() as u64)
    }

    /// Draws a university of a country, mostly one of its first, as its organisation id.
    #[expect(
        clippy::unused_self,
        reason = "asked like every other draw of the world"
    )]
    pub(crate) fn university(&self, draw: &mut Draw, country: usize) -> u16 {
        let rank = draw.geometric(50, UNIVERSITIES_PER_COUNTRY as u64);
        small(
            (COUNTRIES * COMPANIES_PER_COUNTRY + country * UNIVERSITIES_PER_COUNTRY) as u64 + rank,
        )
    }

    /// Draws a company of a country, as its organisation id.
    #[expect(
        clippy::unused_self,
        reason = "asked like every other draw of the world"
    )]
    pub(crate) fn company(&self, draw: &mut Draw, country: usize) -> u64 {
        (country * COMPANIES_PER_COUNTRY) as u64 + draw.below(COMPANIES_PER_COUNTRY as u64)
    }

    /// Writes the eight static files.
    pub(crate) fn write(&self, out: &mut Output) -> Result<(), Error> {
        self.write_places(out)?;
        self.write_organisations(out)?;
        write_classes(out)?;
        for (id, tag) in self.tags.iter().enumerate() {
            out.row(File::Tag)
                .num(id as u64)
                .text(&[tag])
                .text(&[URL, tag])
                .end()?;
            let leaf = 1 + GROUPS + id % (CLASSES - 1 - GROUPS);
            out.pair(File::TagClassOfTag, id as u64, leaf as u64)?;
        }
        Ok(())
    }

    fn write_places(&self, out: &mut Output) -> Result<(), Error> {
        let continents = COUNTRIES + self.country_of.len();
        for (id, place) in self.places.iter().enumerate() {
            let (kind, parent) = match id {
                _ if id < COUNTRIES => ("country", Some(continents + id % CONTINENTS)),
                _ if id < continents => ("city", Some(self.country_of[id - COUNTRIES])),
                _ => ("continent", None),
            };
            out.row(File::Place)
                .num(id as u64)
                .text(&[place])
                .text(&[URL, place])
                .text(&[kind])
                .end()?;
            if let Some(parent) = parent {
                out.pair(File::PlacePlace, id as u64, parent as u64)?;
            }
        }
        Ok(())
    }

    fn write_organisations(&self, out: &mut Output) -> Result<(), Error> {
        let companies = COUNTRIES * COMPANIES_PER_COUNTRY;
        for n in 0..companies {
            let company = format!("{}_Works", name(Kind::Company, n));
            write_organisation(out, n, "company", &company, n / COMPANIES_PER_COUNTRY)?;
        }
        for n in 0..COUNTRIES * UNIVERSITIES_PER_COUNTRY {
            let (country, rank) = (n / UNIVERSITIES_PER_COUNTRY, n % UNIVERSITIES_PER_COUNTRY);
            let cities = self.cities[country + 1] - self.cities[country];
            let city = COUNTRIES + self.cities[country] + rank % cities;
            let university = format!("University_of_{}", name(Kind::University, n));
            write_organisation(out, companies + n, "university", &university, city)?;
        }
        Ok(())
    }
}

fn write_organisation(
    out: &mut Output,
    id: usize,
    kind: &str,
    name: &str,
    place: usize,
) -> Result<(), Error> {
    out.row(File::Organisation)
        .num(id as u64)
        .text(&[kind])
        .text(&[name])
        .text(&[URL, name])
        .end()?;
    out.pair(File::OrganisationPlace, id as u64, place as u64)
}

fn write_classes(out: &mut Output) -> Result<(), Error> {
    for id in 0..CLASSES {
        let name = if id == 0 {
            "Thing".to_owned()
        } else {
            name(Kind::TagClass, id)
        };
        out.row(File::TagClass)
            .num(id as u64)
            .text(&[&name])
            .text(&[CLASS_URL, &name])
            .end()?;
        if id > 0 {
            let parent = if id <= GROUPS { 0 } else { 1 + id % GROUPS };
            out.pair(File::TagClassParent, id as u64, parent as u64)?;
        }
    }
    Ok(())
}

/// Ids of this module are below 2^16.
fn small(id: u64) -> u16 {
    u16::try_from(id).unwrap_or(u16::MAX)
}

//! The order in which a data set is written.

use std::path::Path;

use crate::Error;
use crate::draw::{Draw, Purpose};
use crate::folder;
use crate::forums::Activity;
use crate::ids::Ids;
use crate::knows::Friends;
use crate::manifest::Manifest;
use crate::persons::{self, Person};
use crate::sink::Output;
use crate::statics::World;
use crate::text::Text;

/// Most persons: the id rules carry more, the memory of one machine hardly.
pub(crate) const MAX_PERSONS: u64 = 100_000_000;
/// Persons between two progress reports.
const REPORT_EVERY: usize = 64;

/// What to generate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// Persons of the simulation, counted as LDBC counts them for its scale factors (SF0.1: 1700, SF1: 11000).
    /// About 90 % of them are in the files; the rest join after the files' last day.
    pub persons: u64,
    /// Seed of all draws.
    pub seed: u64,
}

/// What is being done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Persons are drawn.
    Persons,
    /// Friendships are drawn.
    Knows,
    /// Files are written, person by person with their forums, messages and likes.
    Activity,
}

/// How far a generation has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// What is being done.
    pub stage: Stage,
    /// Persons done in this stage.
    pub done: u64,
    /// Persons in all.
    pub total: u64,
    /// Rows written so far in all files.
    pub rows: u64,
}

/// Writes the data set of `config` into `out_dir`, which must be empty, new, or hold an earlier output of this
/// generator (complete or not), which is replaced.
pub fn generate(
    config: &Config,
    out_dir: &Path,
    progress: &mut dyn FnMut(Progress),
) -> Result<Manifest, Error> {
    if !(1..=MAX_PERSONS).contains(&config.persons) {
        return Err(Error::Persons(config.persons));
    }
    let mut manifest = Manifest::new(config.persons, config.seed);
    folder::claim(out_dir, &manifest)?;
    let mut out = Output::create(out_dir)?;
    write(config, &mut out, progress)?;
    manifest.files = out.finish()?;
    folder::complete(out_dir, &manifest)?;
    Ok(manifest)
}

fn write(
    config: &Config,
    out: &mut Output,
    progress: &mut dyn FnMut(Progress),
) -> Result<(), Error> {
    let Config {
        persons: total,
        seed,
    } = *config;
    let mut report = |stage, done, rows| {
        progress(Progress {
            stage,
            done,
            total,
            rows,
        });
    };
    let world = World::new();
    world.write(out)?;
    report(Stage::Persons, 0, out.rows());
    let people = persons::draw_all(seed, total, &world);
    report(Stage::Knows, 0, out.rows());
    let friends = Friends::draw(seed, &people);
    let mut activity = Activity {
        seed,
        world: &world,
        people: &people,
        friends: &friends,
        text: &Text::new(seed),
        ids: Ids::new(total),
        draw: Draw::new(seed, Purpose::Activity, 0),
    };
    for (rank, person) in people.iter().enumerate() {
        if rank.is_multiple_of(REPORT_EVERY) {
            report(Stage::Activity, rank as u64, out.rows());
        }
        write_person(&mut activity, out, rank, person)?;
    }
    report(Stage::Activity, total, out.rows());
    Ok(())
}

fn write_person(
    activity: &mut Activity<'_>,
    out: &mut Output,
    rank: usize,
    person: &Person,
) -> Result<(), Error> {
    if !person.is_written() {
        return Ok(());
    }
    persons::write(out, activity.seed, person, activity.world)?;
    activity.friends.write(out, activity.people, rank)?;
    activity.write(out, rank)
}

//! Friendships: who knows whom since when.
//!
//! As in LDBC there are three searches: among those who studied together (45 % of a person's friends), among those
//! who share their main interest (45 %), and at random (10 %). The first two sort the persons, walk along the order
//! in blocks and befriend neighbours with a chance that falls with their distance; the third pairs shuffled wishes.

use crate::Error;
use crate::clock::{DELTA, MONTH, Millis, THRESHOLD};
use crate::draw::{Draw, Purpose};
use crate::files::File;
use crate::ids::BLOCK;
use crate::persons::Person;
use crate::sink::Output;

/// Wanted number of friends by percentile, in a network whose mean is [`SHAPE_MEAN`]: few, and for a few a lot.
const SHAPE: [(u64, u64); 9] = [
    (0, 1),
    (10, 10),
    (30, 31),
    (50, 99),
    (60, 144),
    (70, 210),
    (90, 447),
    (99, 1029),
    (100, 5000),
];
/// Mean of [`SHAPE`], its pieces being uniform.
const SHAPE_MEAN: u64 = 210;
/// Mean number of friends by number of persons (LDBC: n^(0.512 - 0.028 log10 n)), straight lines between.
const MEANS: [(u64, u64); 12] = [
    (1, 1),
    (50, 6),
    (250, 12),
    (1000, 19),
    (1700, 23),
    (3900, 30),
    (11_000, 41),
    (27_000, 52),
    (73_000, 67),
    (184_000, 83),
    (499_000, 102),
    (3_600_000, 142),
];

/// One direction of a friendship.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Friend {
    /// Rank of the other person.
    pub(crate) person: u32,
    pub(crate) since: Millis,
}

/// The friends of everybody, ascending by rank.
#[derive(Debug)]
pub(crate) struct Friends {
    starts: Vec<usize>,
    list: Vec<Friend>,
}

impl Friends {
    /// Draws all friendships that begin before the threshold.
    pub(crate) fn draw(seed: u64, people: &[Person]) -> Self {
        let mut pairs = draw_pairs(seed, people);
        pairs.sort_unstable();
        pairs.dedup();
        let draw = &mut Draw::new(seed, Purpose::KnowsDates, 0);
        let mut edges = Vec::with_capacity(pairs.len() * 2);
        for (a, b) in pairs {
            let both = people[a as usize].created.max(people[b as usize].created);
            let since = both + DELTA + draw.below(MONTH);
            if since < THRESHOLD {
                edges.push((a, Friend { person: b, since }));
                edges.push((b, Friend { person: a, since }));
            }
        }
        edges.sort_unstable_by_key(|(of, friend)| (*of, friend.person));
        let starts =
            (0..=people.len()).map(|rank| edges.partition_point(|(of, _)| (*of as usize) < rank));
        Self {
            starts: starts.collect(),
            list: edges.iter().map(|(_, friend)| *friend).collect(),
        }
    }

    pub(crate) fn of(&self, rank: usize) -> &[Friend] {
        &self.list[self.starts[rank]..self.starts[rank + 1]]
    }

    /// Writes each friendship of `rank` once, with the person whose id is smaller.
    pub(crate) fn write(
        &self,
        out: &mut Output,
        people: &[Person],
        rank: usize,
    ) -> Result<(), Error> {
        let own = people[rank].id;
        for friend in self.of(rank) {
            let other = people[friend.person as usize].id;
            if own < other {
                out.row(File::Knows)
                    .num(own)
                    .num(other)
                    .date(friend.since)
                    .end()?;
            }
        }
        Ok(())
    }
}

fn draw_pairs(seed: u64, people: &[Person]) -> Vec<(u32, u32)> {
    let mean = mean_friends(people.len() as u64);
    let wanted: Vec<u64> = people
        .iter()
        .map(|person| wanted_friends(&mut Draw::new(seed, Purpose::Wishes, person.serial), mean))
        .collect();
    let mut order: Vec<u32> = (0..).take(people.len()).collect();
    let mut pairs = Vec::new();
    let person = |rank: &u32| &people[*rank as usize];

    order.sort_by_key(|rank| {
        (
            person(rank).university,
            person(rank).country,
            person(rank).id,
        )
    });
    let quota = |rank: u32| quotas(wanted[rank as usize])[0];
    search(seed, Purpose::KnowsStudy, &order, quota, &mut pairs);
    order.sort_by_key(|rank| (person(rank).interests.first(), person(rank).id));
    let quota = |rank: u32| quotas(wanted[rank as usize])[1];
    search(seed, Purpose::KnowsInterest, &order, quota, &mut pairs);
    order.sort_unstable();
    for (block, ranks) in (0..).zip(order.chunks(BLOCK)) {
        let draw = &mut Draw::new(seed, Purpose::KnowsRandom, block);
        let wishes = ranks
            .iter()
            .flat_map(|&rank| (0..quotas(wanted[rank as usize])[2]).map(move |_| rank));
        pair_wishes(draw, wishes.collect(), &mut pairs);
    }
    pairs
}

/// Walks along an order of persons; each befriends later ones of its block until it has enough.
fn search(
    seed: u64,
    purpose: Purpose,
    order: &[u32],
    quota: impl Fn(u32) -> u64,
    pairs: &mut Vec<(u32, u32)>,
) {
    let chances = chances();
    for (block, ranks) in (0..).zip(order.chunks(BLOCK)) {
        let draw = &mut Draw::new(seed, purpose, block);
        let mut open: Vec<u64> = ranks.iter().map(|&rank| quota(rank)).collect();
        for i in 0..ranks.len() {
            for j in i + 1..ranks.len() {
                if open[i] == 0 {
                    break;
                }
                let chance = chances.get(j - i).copied().unwrap_or(200);
                if open[j] > 0 && draw.permille(chance) {
                    open[i] -= 1;
                    open[j] -= 1;
                    pairs.push((ranks[i].min(ranks[j]), ranks[i].max(ranks[j])));
                }
            }
        }
    }
}

/// In 1000, by distance: 0.95^distance, but never below 0.2.
fn chances() -> Vec<u64> {
    let falling = std::iter::successors(Some(1_000_000_u64), |chance| Some(chance * 95 / 100));
    falling
        .take_while(|&chance| chance > 200_000)
        .map(|chance| chance / 1000)
        .collect()
}

fn pair_wishes(draw: &mut Draw, mut wishes: Vec<u32>, pairs: &mut Vec<(u32, u32)>) {
    draw.shuffle(&mut wishes);
    let different = wishes.chunks_exact(2).filter(|pair| pair[0] != pair[1]);
    pairs.extend(different.map(|pair| (pair[0].min(pair[1]), pair[0].max(pair[1]))));
}

/// How many friends the three searches may find for somebody who wants `n`.
fn quotas(n: u64) -> [u64; 3] {
    let first = (n * 45).div_ceil(100);
    let second = first.min(n - first);
    [first, second, n.div_ceil(10).min(n - first - second)]
}

fn wanted_friends(draw: &mut Draw, mean: u64) -> u64 {
    let shape = interpolate(&SHAPE, draw.below(100_000), 1000);
    // Rounded by chance, so that small means do not lose their fractions.
    (shape * mean + draw.below(SHAPE_MEAN)) / SHAPE_MEAN
}

fn mean_friends(persons: u64) -> u64 {
    interpolate(&MEANS, persons, 1)
}

/// Follows straight lines between `points`, whose first members are to be multiplied by `unit`.
fn interpolate(points: &[(u64, u64)], at: u64, unit: u64) -> u64 {
    let end = points
        .partition_point(|&(x, _)| x * unit <= at)
        .clamp(1, points.len() - 1);
    let ((x0, y0), (x1, y1)) = (points[end - 1], points[end]);
    let (x0, x1) = (x0 * unit, x1 * unit);
    y0 + (y1 - y0) * (at.clamp(x0, x1) - x0) / (x1 - x0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_and_quotas() {
        for (persons, mean) in [
            (1, 1),
            (1700, 23),
            (11_000, 41),
            (3_600_000, 142),
            (9_000_000, 142),
        ] {
            assert_eq!(mean_friends(persons), mean, "{persons}");
        }
        for (n, parts) in [
            (0, [0, 0, 0]),
            (1, [1, 0, 0]),
            (2, [1, 1, 0]),
            (10, [5, 5, 0]),
            (100, [45, 45, 10]),
        ] {
            assert_eq!(quotas(n), parts, "{n}");
        }
    }

    #[test]
    fn wanted_friends_have_their_mean() {
        let draw = &mut Draw::new(1, Purpose::Text, 0);
        let total: u64 = (0..50_000).map(|_| wanted_friends(draw, 23)).sum();
        assert!((1_100_000..1_200_000).contains(&total), "{total}");
    }
}

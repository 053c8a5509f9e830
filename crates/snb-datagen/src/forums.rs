//! Forums: a wall for everybody, albums, groups; who is a member since when.

use crate::Error;
use crate::clock::{DELTA, MONTH, Millis, THRESHOLD, TO};
use crate::draw::{Draw, Purpose};
use crate::files::File;
use crate::ids::{BLOCK, Ids};
use crate::knows::Friends;
use crate::persons::Person;
use crate::sink::Output;
use crate::statics::World;
use crate::text::Text;

/// Writes what persons do: forums, and through them messages and likes. Holds one forum at a time.
#[derive(Debug)]
pub(crate) struct Activity<'a> {
    pub(crate) seed: u64,
    pub(crate) world: &'a World,
    pub(crate) people: &'a [Person],
    pub(crate) friends: &'a Friends,
    pub(crate) text: &'a Text,
    pub(crate) ids: Ids,
    pub(crate) draw: Draw,
}

/// A forum with those who may write in it.
#[derive(Debug)]
pub(crate) struct Forum {
    pub(crate) id: u64,
    pub(crate) created: Millis,
    /// Rank of the person.
    pub(crate) moderator: usize,
    pub(crate) tags: Vec<u16>,
    /// Ascending by date; the moderator is none of them.
    pub(crate) members: Vec<Member>,
}

/// Membership of a person in a forum.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Member {
    /// Rank of the person.
    pub(crate) person: usize,
    pub(crate) joined: Millis,
}

impl Activity<'_> {
    /// Writes the forums of one person with all that happens in them.
    pub(crate) fn write(&mut self, out: &mut Output, rank: usize) -> Result<(), Error> {
        self.ids.enter((rank / BLOCK) as u64);
        self.draw = Draw::new(self.seed, Purpose::Activity, rank as u64);
        self.write_wall(out, rank)?;
        self.write_albums(out, rank)?;
        let groups = if self.draw.permille(50) {
            self.draw.between(1, 4)
        } else {
            0
        };
        for _ in 0..groups {
            self.write_group(out, rank)?;
        }
        Ok(())
    }

    fn write_wall(&mut self, out: &mut Output, rank: usize) -> Result<(), Error> {
        let person = &self.people[rank];
        let created = person.created + DELTA;
        let members = self.wall_members(rank, created);
        let tags = person.interests.to_vec();
        let title = format!("Wall of {} {}", person.first_name(), person.last_name());
        if let Some(forum) = self.write_forum(out, &title, created, rank, tags, members)? {
            let posts = self.draw.below(MAX_WALL_POSTS) * forum.members.len() as u64 / 1000;
            self.write_posts(out, &forum, posts)?;
        }
        Ok(())
    }

    fn write_albums(&mut self, out: &mut Output, rank: usize) -> Result<(), Error> {
        let person = &self.people[rank];
        let months = (TO - person.created) / MONTH;
        let mut number = 0;
        for month in 0..months {
            if self.draw.permille(500) {
                let created = person.created + DELTA + month * MONTH + self.draw.below(MONTH);
                let members = self.album_members(rank, created);
                let tag = person.interests[self.draw.index(person.interests.len())];
                let title = format!(
                    "Album {number} of {} {}",
                    person.first_name(),
                    person.last_name()
                );
                number += 1;
                if let Some(album) =
                    self.write_forum(out, &title, created, rank, vec![tag], members)?
                {
                    self.write_photos(out, &album)?;
                }
            }
        }
        Ok(())
    }

    fn write_group(&mut self, out: &mut Output, rank: usize) -> Result<(), Error> {
        let person = &self.people[rank];
        let start = person.created + DELTA;
        let created = start + self.draw.below(TO.saturating_sub(start));
        let tag = person.interests[self.draw.index(person.interests.len())];
        let members = self.draw_group(rank, created);
        let title = format!(
            "Group for {} in {}",
            self.world.tag_name(tag),
            self.world.place(person.city)
        );
        if let Some(group) = self.write_forum(out, &title, created, rank, vec![tag], members)? {
            let posts = self.draw.below(MAX_GROUP_POSTS) * group.members.len() as u64 / 1000;
            self.write_posts(out, &group, posts)?;
        }
        Ok(())
    }

    /// All friends; each joins as soon as both the friendship and the wall exist.
    fn wall_members(&self, rank: usize, created: Millis) -> Vec<Member> {
        let joins = self.friends.of(rank).iter().map(|friend| Member {
            person: friend.person as usize,
            joined: friend.since.max(created) + DELTA,
        });
        joins.filter(|member| member.joined < THRESHOLD).collect()
    }

    /// Seven in ten of those who are friends when the album is made.
    fn album_members(&mut self, rank: usize, created: Millis) -> Vec<Member> {
        let joined = created + DELTA;
        let friends = self
            .friends
            .of(rank)
            .iter()
            .filter(|friend| friend.since < created);
        let members = friends.map(|friend| Member {
            person: friend.person as usize,
            joined,
        });
        members
            .filter(|member| member.joined < THRESHOLD && self.draw.permille(700))
            .collect()
    }

    /// Fewer than a hundred persons, of whom three in ten are friends, who join at any time.
    fn draw_group(&mut self, rank: usize, created: Millis) -> Vec<Member> {
        let block = rank / BLOCK * BLOCK;
        let neighbours = BLOCK.min(self.people.len() - block);
        let mut members: Vec<Member> = Vec::new();
        for _ in 0..self.draw.below(100) {
            let friends = self.friends.of(rank);
            let person = if !friends.is_empty() && self.draw.permille(300) {
                friends[self.draw.index(friends.len())].person as usize
            } else {
                block + self.draw.index(neighbours)
            };
            let start = created.max(self.people[person].created) + DELTA;
            let joined = start + self.draw.below(TO.saturating_sub(start));
            let known = person == rank || members.iter().any(|member| member.person == person);
            if joined < THRESHOLD && !known {
                members.push(Member { person, joined });
            }
        }
        members
    }

    /// Writes the forum's own rows; `None` when it would come to be after the threshold.
    fn write_forum(
        &mut self,
        out: &mut Output,
        title: &str,
        created: Millis,
        moderator: usize,
        tags: Vec<u16>,
        mut members: Vec<Member>,
    ) -> Result<Option<Forum>, Error> {
        if created >= THRESHOLD {
            return Ok(None);
        }
        let id = self.ids.forum(created);
        out.row(File::Forum)
            .num(id)
            .text(&[title])
            .date(created)
            .end()?;
        out.pair(File::ForumModerator, id, self.people[moderator].id)?;
        for &tag in &tags {
            out.pair(File::ForumTag, id, u64::from(tag))?;
        }
        for member in &members {
            let person = self.people[member.person].id;
            out.row(File::ForumMember)
                .num(id)
                .num(person)
                .date(member.joined)
                .end()?;
        }
        members.sort_unstable_by_key(|member| (member.joined, member.person));
        Ok(Some(Forum {
            id,
            created,
            moderator,
            tags,
            members,
        }))
    }
}

/// Posts on a wall: up to so many per 1000 members.
const MAX_WALL_POSTS: u64 = 1350;
/// Posts in a group: up to so many per 1000 members.
const MAX_GROUP_POSTS: u64 = 3600;

impl Forum {
    /// Draws one of those who could write at `date`: the moderator, or a member who had joined.
    pub(crate) fn writer(&self, draw: &mut Draw, date: Millis) -> Member {
        let joined = self
            .members
            .partition_point(|member| member.joined + DELTA <= date);
        match draw.index(joined + 1) {
            0 => Member {
                person: self.moderator,
                joined: self.created,
            },
            at => self.members[at - 1],
        }
    }
}

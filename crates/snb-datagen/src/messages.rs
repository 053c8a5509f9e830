//! Messages: photos in albums, posts on walls and in groups, and the comments under posts. One thread is held at a
//! time.

use crate::Error;
use crate::clock::{DAY, DELTA, Millis, THRESHOLD, TO};
use crate::files::File;
use crate::forums::{Activity, Forum};
use crate::persons::draw_address;
use crate::sink::{Output, Row};
use crate::text::length;

/// Photos in an album and comments under a post: 0 to this.
const MOST: u64 = 20;
/// Tags that a post can have beside those of its forum.
const MOST_RELATED: u64 = 14;
const SECOND: Millis = 1000;

/// A message that can be answered.
#[derive(Debug)]
struct Parent {
    id: u64,
    date: Millis,
    is_post: bool,
    tags: Vec<u16>,
}

/// A message's facts that posts and comments share.
#[derive(Debug, Clone, Copy)]
struct Message<'a> {
    id: u64,
    date: Millis,
    author: usize,
    tags: &'a [u16],
    /// Parts of the text.
    content: &'a [&'a str],
}

/// A text in parts.
type Content<'a> = [&'a str; 4];

/// Bounds of a text's length.
#[derive(Debug, Clone, Copy)]
struct Letters {
    least: u64,
    /// Upper bound for most texts.
    mostly: u64,
    /// Upper bound for the others.
    most: u64,
}

const POST_LETTERS: Letters = Letters {
    least: 85,
    mostly: 124,
    most: 249,
};
const COMMENT_LETTERS: Letters = Letters {
    least: 75,
    mostly: 91,
    most: 184,
};

/// The files that hold a class of messages.
#[derive(Debug, Clone, Copy)]
struct Files {
    creator: File,
    tag: File,
    place: File,
    likes: File,
}

const POST: Files = Files {
    creator: File::PostCreator,
    tag: File::PostTag,
    place: File::PostPlace,
    likes: File::LikesPost,
};
const COMMENT: Files = Files {
    creator: File::CommentCreator,
    tag: File::CommentTag,
    place: File::CommentPlace,
    likes: File::LikesComment,
};

impl<'a> Activity<'a> {
    pub(crate) fn write_photos(&mut self, out: &mut Output, album: &Forum) -> Result<(), Error> {
        for number in 0..=self.draw.below(MOST + 1) {
            let date = album.created + DELTA + number * SECOND;
            if number == 0 || date >= THRESHOLD {
                continue;
            }
            let id = self.ids.message(date);
            let photo = Message {
                id,
                date,
                author: album.moderator,
                tags: &[],
                content: &[],
            };
            self.write_post(out, album, photo)?;
        }
        Ok(())
    }

    /// Draws `count` posts with their threads; those dated after the threshold are left out.
    pub(crate) fn write_posts(
        &mut self,
        out: &mut Output,
        forum: &Forum,
        count: u64,
    ) -> Result<(), Error> {
        for _ in 0..count {
            let author = forum.writer(&mut self.draw, TO);
            let start = author.joined + DELTA;
            let date = start + self.draw.below(TO.saturating_sub(start));
            if date < THRESHOLD {
                self.write_thread(out, forum, author.person, date)?;
            }
        }
        Ok(())
    }

    fn write_thread(
        &mut self,
        out: &mut Output,
        forum: &Forum,
        author: usize,
        date: Millis,
    ) -> Result<(), Error> {
        let id = self.ids.message(date);
        let tags = self.draw_post_tags(forum);
        let content = self.draw_topic(&tags, POST_LETTERS);
        self.write_post(
            out,
            forum,
            Message {
                id,
                date,
                author,
                tags: &tags,
                content: &content,
            },
        )?;
        let mut thread = vec![Parent {
            id,
            date,
            is_post: true,
            tags,
        }];
        for _ in 0..self.draw.below(MOST + 1) {
            let parent = &thread[self.draw.index(thread.len())];
            if let Some(comment) = self.write_comment(out, forum, parent)? {
                thread.push(comment);
            }
        }
        Ok(())
    }

    /// Writes an answer to `parent`; gives it back when it can be answered itself.
    fn write_comment(
        &mut self,
        out: &mut Output,
        forum: &Forum,
        parent: &Parent,
    ) -> Result<Option<Parent>, Error> {
        let author = forum.writer(&mut self.draw, parent.date).person;
        let date = parent.date + DELTA + self.draw.skewed(DAY);
        if date >= THRESHOLD {
            return Ok(None);
        }
        let id = self.ids.message(date);
        let is_short = self.draw.permille(667);
        let tags = if is_short {
            Vec::new()
        } else {
            self.draw_comment_tags(&parent.tags)
        };
        let content = if is_short {
            self.draw_phrase()
        } else {
            self.draw_topic(&tags, COMMENT_LETTERS)
        };
        let comment = Message {
            id,
            date,
            author,
            tags: &tags,
            content: &content,
        };
        self.write_comment_rows(out, forum, comment)?;
        let reply = if parent.is_post {
            File::ReplyOfPost
        } else {
            File::ReplyOfComment
        };
        out.pair(reply, id, parent.id)?;
        Ok((!is_short).then_some(Parent {
            id,
            date,
            is_post: false,
            tags,
        }))
    }

    /// Writes a post, or a photo when it has no content.
    fn write_post(
        &mut self,
        out: &mut Output,
        forum: &Forum,
        post: Message<'_>,
    ) -> Result<(), Error> {
        let is_photo = post.content.is_empty();
        let (country, address) = self.draw_place(post.author);
        let row = out.row(File::Post).num(post.id);
        let row = if is_photo {
            row.numbered("photo", post.id, ".jpg")
        } else {
            row.text(&[])
        };
        let language = if is_photo {
            ""
        } else {
            self.draw_language(post.author)
        };
        let row = self.origin(row, post, address).text(&[language]);
        row.text(post.content).num(length(post.content)).end()?;
        out.pair(File::ForumPost, forum.id, post.id)?;
        self.write_edges(out, POST, post, country)?;
        self.write_likes(out, POST.likes, forum, (post.id, post.date))
    }

    fn write_comment_rows(
        &mut self,
        out: &mut Output,
        forum: &Forum,
        comment: Message<'_>,
    ) -> Result<(), Error> {
        let (country, address) = self.draw_place(comment.author);
        let letters = length(comment.content);
        let row = self.origin(out.row(File::Comment).num(comment.id), comment, address);
        row.text(comment.content).num(letters).end()?;
        self.write_edges(out, COMMENT, comment, country)?;
        // Nobody likes an answer of a word or two.
        if letters > 10 {
            self.write_likes(out, COMMENT.likes, forum, (comment.id, comment.date))?;
        }
        Ok(())
    }

    /// Date, address and browser, which stand side by side in posts and comments.
    fn origin<'r>(&self, row: Row<'r>, message: Message<'_>, address: [u8; 3]) -> Row<'r> {
        let browser = self.people[message.author].browser();
        row.date(message.date).address(address).text(&[browser])
    }

    fn write_edges(
        &self,
        out: &mut Output,
        files: Files,
        message: Message<'_>,
        country: usize,
    ) -> Result<(), Error> {
        out.pair(files.creator, message.id, self.people[message.author].id)?;
        out.pair(files.place, message.id, country as u64)?;
        for &tag in message.tags {
            out.pair(files.tag, message.id, u64::from(tag))?;
        }
        Ok(())
    }

    /// Country and address that a message is sent from: the author's own, seldom another.
    fn draw_place(&mut self, author: usize) -> (usize, [u8; 3]) {
        let person = &self.people[author];
        if self.draw.permille(980) {
            return (person.country, person.address);
        }
        let country = self.world.country(&mut self.draw);
        (country, draw_address(&mut self.draw, country))
    }

    fn draw_language(&mut self, author: usize) -> &'static str {
        let person = &self.people[author];
        let at = self.draw.index(person.languages().count());
        person.languages().nth(at).unwrap_or_default()
    }

    /// The forum's first tag, and each other one with a chance of 5 %; in half of the posts, those about something
    /// that happened, some related ones too.
    fn draw_post_tags(&mut self, forum: &Forum) -> Vec<u16> {
        let others = forum.tags.iter().skip(1).filter(|_| self.draw.permille(50));
        let mut tags: Vec<u16> = forum.tags.iter().take(1).chain(others).copied().collect();
        let related = if self.draw.permille(500) {
            self.draw.skewed(MOST_RELATED)
        } else {
            0
        };
        for _ in 0..related {
            let tag = self.world.related_tag(&mut self.draw, tags[0]);
            if !tags.contains(&tag) {
                tags.push(tag);
            }
        }
        tags
    }

    /// Half of the parent's tags, and as many that are related to them.
    fn draw_comment_tags(&mut self, parent: &[u16]) -> Vec<u16> {
        let mut tags: Vec<u16> = parent
            .iter()
            .copied()
            .filter(|_| self.draw.permille(500))
            .collect();
        for &tag in parent.iter().take(parent.len().div_ceil(2)) {
            let related = self.world.related_tag(&mut self.draw, tag);
            if !tags.contains(&related) {
                tags.push(related);
            }
        }
        tags
    }

    fn draw_phrase(&mut self) -> Content<'a> {
        [self.text.phrase(&mut self.draw), "", "", ""]
    }

    /// A text about the first tag; four in five are of the shorter kind.
    fn draw_topic(&mut self, tags: &[u16], letters: Letters) -> Content<'a> {
        let most = if self.draw.permille(800) {
            letters.mostly
        } else {
            letters.most
        };
        let topic = tags
            .first()
            .map_or("nothing", |&tag| self.world.tag_name(tag));
        let frame = length(&["About ", topic, ", "]);
        let letters = self.draw.between(letters.least, most).saturating_sub(frame);
        let words = self
            .text
            .cut(&mut self.draw, usize::try_from(letters).unwrap_or(0));
        ["About ", topic, ", ", words]
    }
}

//! Likes: a tenth of the messages is liked, most of those once or twice, a few by everybody around.

use crate::Error;
use crate::clock::{DAY, DELTA, Millis, THRESHOLD};
use crate::files::File;
use crate::forums::{Activity, Forum};
use crate::sink::Output;

/// Likes of one message, at most.
const MOST: u64 = 1000;

impl Activity<'_> {
    /// Draws who of the forum's members likes `message` (id, date): a run of them, so nobody twice.
    pub(crate) fn write_likes(
        &mut self,
        out: &mut Output,
        file: File,
        forum: &Forum,
        (id, written): (u64, Millis),
    ) -> Result<(), Error> {
        let members = &forum.members;
        if members.is_empty() || !self.draw.permille(100) {
            return Ok(());
        }
        let count = usize::try_from(1 + self.draw.steep(MOST - 1))
            .unwrap_or(0)
            .min(members.len());
        let first = self.draw.index(members.len());
        for member in members.iter().cycle().skip(first).take(count) {
            let date = written.max(member.joined) + DELTA + self.draw.below(7 * DAY);
            if date < THRESHOLD {
                out.row(file)
                    .num(self.people[member.person].id)
                    .num(id)
                    .date(date)
                    .end()?;
            }
        }
        Ok(())
    }
}

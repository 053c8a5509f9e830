//! What a file is, by its name.

/// How a file is imported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileKind {
    /// One vertex a row.
    Vertex {
        /// Tag name, as nebula-bench derives it: `Person`, `Tagclass`.
        tag: String,
    },
    /// One edge a row.
    Edge {
        /// Edge type name: `HAS_CREATOR`.
        edge: String,
        /// Tag of the source vertices.
        src_class: String,
        /// Tag of the destination vertices.
        dst_class: String,
    },
    /// Not imported.
    Skipped {
        /// Why.
        reason: &'static str,
    },
}

/// Every file of the `CsvBasic` layout by its name without folder and ending, in import order: vertices first.
pub const FILES: [&str; 33] = [
    "place",
    "organisation",
    "tag",
    "tagclass",
    "person",
    "forum",
    "post",
    "comment",
    "place_isPartOf_place",
    "organisation_isLocatedIn_place",
    "tag_hasType_tagclass",
    "tagclass_isSubclassOf_tagclass",
    "person_isLocatedIn_place",
    "person_hasInterest_tag",
    "person_workAt_organisation",
    "person_studyAt_organisation",
    "person_knows_person",
    "forum_hasModerator_person",
    "forum_hasMember_person",
    "forum_hasTag_tag",
    "forum_containerOf_post",
    "post_hasCreator_person",
    "post_hasTag_tag",
    "post_isLocatedIn_place",
    "comment_hasCreator_person",
    "comment_hasTag_tag",
    "comment_isLocatedIn_place",
    "comment_replyOf_post",
    "comment_replyOf_comment",
    "person_likes_post",
    "person_likes_comment",
    "person_email_emailaddress",
    "person_speaks_language",
];

impl FileKind {
    /// By the name without folder and ending; `None` when it is none of [`FILES`].
    pub fn of(name: &str) -> Option<Self> {
        if !FILES.contains(&name) {
            return None;
        }
        let mut parts = name.split('_');
        Some(match (parts.next(), parts.next(), parts.next()) {
            (_, Some("email" | "speaks"), _) => Self::Skipped {
                reason: "an attribute with many values; nebula-bench leaves it out",
            },
            (Some(src), Some(edge), Some(dst)) => Self::Edge {
                edge: upper_snake(edge),
                src_class: capitalized(src),
                dst_class: capitalized(dst),
            },
            _ => Self::Vertex {
                tag: capitalized(name),
            },
        })
    }

    /// Name of the tag or edge type; `None` when the file is skipped.
    pub fn type_name(&self) -> Option<&str> {
        match self {
            Self::Vertex { tag } => Some(tag),
            Self::Edge { edge, .. } => Some(edge),
            Self::Skipped { .. } => None,
        }
    }

    /// Tags of the id columns, in column order.
    pub fn id_classes(&self) -> Vec<&str> {
        match self {
            Self::Vertex { tag } => vec![tag],
            Self::Edge {
                src_class,
                dst_class,
                ..
            } => vec![src_class, dst_class],
            Self::Skipped { .. } => Vec::new(),
        }
    }
}

fn capitalized(name: &str) -> String {
    let mut letters = name.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first
        .into_iter()
        .chain(letters.map(|letter| letter.to_ascii_lowercase()))
        .collect()
}

/// `hasCreator` to `HAS_CREATOR`.
fn upper_snake(name: &str) -> String {
    let mut out = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            out.push('_');
        }
        out.push(letter.to_ascii_uppercase());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_types() {
        for (name, kind) in [
            ("tagclass", "Tagclass"),
            ("person", "Person"),
            (
                "tagclass_isSubclassOf_tagclass",
                "IS_SUBCLASS_OF Tagclass Tagclass",
            ),
            ("person_knows_person", "KNOWS Person Person"),
            ("comment_replyOf_post", "REPLY_OF Comment Post"),
            ("person_email_emailaddress", "skipped"),
            ("person_speaks_language", "skipped"),
            ("updateStream_0_0_person", "none"),
            ("person_0_0.composite-original", "none"),
        ] {
            let got = match FileKind::of(name) {
                Some(FileKind::Vertex { tag }) => tag,
                Some(FileKind::Edge {
                    edge,
                    src_class,
                    dst_class,
                }) => {
                    format!("{edge} {src_class} {dst_class}")
                }
                Some(FileKind::Skipped { .. }) => "skipped".to_owned(),
                None => "none".to_owned(),
            };
            assert_eq!(got, kind, "{name}");
        }
    }
}

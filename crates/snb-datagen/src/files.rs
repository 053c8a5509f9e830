//! The 33 files of the `CsvBasic` layout: names and headers.

/// One file of the data set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileSpec {
    /// Path below the data set's folder, `/` separated.
    pub path: &'static str,
    /// First line, without its line end.
    pub header: &'static str,
}

macro_rules! files {
    ($($id:ident $path:literal $header:literal;)*) => {
        /// Names a file; the discriminant is its index in [`FILES`].
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum File { $($id,)* }

        /// Every file, in the order in which they are listed in a manifest.
        pub const FILES: &[FileSpec] = &[$(FileSpec { path: $path, header: $header },)*];
    };
}

files! {
    Organisation "static/organisation_0_0.csv" "id|type|name|url";
    OrganisationPlace "static/organisation_isLocatedIn_place_0_0.csv" "Organisation.id|Place.id";
    Place "static/place_0_0.csv" "id|name|url|type";
    PlacePlace "static/place_isPartOf_place_0_0.csv" "Place.id|Place.id";
    Tag "static/tag_0_0.csv" "id|name|url";
    TagClassOfTag "static/tag_hasType_tagclass_0_0.csv" "Tag.id|TagClass.id";
    TagClass "static/tagclass_0_0.csv" "id|name|url";
    TagClassParent "static/tagclass_isSubclassOf_tagclass_0_0.csv" "TagClass.id|TagClass.id";
    Person "dynamic/person_0_0.csv"
        "id|firstName|lastName|gender|birthday|creationDate|locationIP|browserUsed";
    PersonEmail "dynamic/person_email_emailaddress_0_0.csv" "Person.id|email";
    PersonLanguage "dynamic/person_speaks_language_0_0.csv" "Person.id|language";
    PersonPlace "dynamic/person_isLocatedIn_place_0_0.csv" "Person.id|Place.id";
    PersonInterest "dynamic/person_hasInterest_tag_0_0.csv" "Person.id|Tag.id";
    PersonWorkAt "dynamic/person_workAt_organisation_0_0.csv" "Person.id|Organisation.id|workFrom";
    PersonStudyAt "dynamic/person_studyAt_organisation_0_0.csv" "Person.id|Organisation.id|classYear";
    Knows "dynamic/person_knows_person_0_0.csv" "Person.id|Person.id|creationDate";
    Forum "dynamic/forum_0_0.csv" "id|title|creationDate";
    ForumPost "dynamic/forum_containerOf_post_0_0.csv" "Forum.id|Post.id";
    ForumMember "dynamic/forum_hasMember_person_0_0.csv" "Forum.id|Person.id|joinDate";
    ForumModerator "dynamic/forum_hasModerator_person_0_0.csv" "Forum.id|Person.id";
    ForumTag "dynamic/forum_hasTag_tag_0_0.csv" "Forum.id|Tag.id";
    LikesPost "dynamic/person_likes_post_0_0.csv" "Person.id|Post.id|creationDate";
    LikesComment "dynamic/person_likes_comment_0_0.csv" "Person.id|Comment.id|creationDate";
    Post "dynamic/post_0_0.csv"
        "id|imageFile|creationDate|locationIP|browserUsed|language|content|length";
    PostCreator "dynamic/post_hasCreator_person_0_0.csv" "Post.id|Person.id";
    PostTag "dynamic/post_hasTag_tag_0_0.csv" "Post.id|Tag.id";
    PostPlace "dynamic/post_isLocatedIn_place_0_0.csv" "Post.id|Place.id";
    Comment "dynamic/comment_0_0.csv" "id|creationDate|locationIP|browserUsed|content|length";
    CommentCreator "dynamic/comment_hasCreator_person_0_0.csv" "Comment.id|Person.id";
    CommentTag "dynamic/comment_hasTag_tag_0_0.csv" "Comment.id|Tag.id";
    CommentPlace "dynamic/comment_isLocatedIn_place_0_0.csv" "Comment.id|Place.id";
    ReplyOfPost "dynamic/comment_replyOf_post_0_0.csv" "Comment.id|Post.id";
    ReplyOfComment "dynamic/comment_replyOf_comment_0_0.csv" "Comment.id|Comment.id";
}

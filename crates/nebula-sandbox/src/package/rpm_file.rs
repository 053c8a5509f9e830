//! The RPM: relocatable, unsigned, with the post-install script of the original.

use rpm::{
    BuildConfig, CompressionWithLevel, FileOptions, Header, HeaderEntry, IndexData, IndexTag,
    Package, PackageBuilder,
};

use super::{
    PREFIX, PackageError,
    layout::{Entry, FOLDERS, post_install},
};
use crate::line::Line;

fn wrong(error: &rpm::Error) -> PackageError {
    PackageError::Rpm(error.to_string())
}

pub(super) fn build(line: Line, entries: &[Entry]) -> Result<Vec<u8>, PackageError> {
    let mut package = packed(line, entries).map_err(|error| wrong(&error))?;
    make_relocatable(&mut package).map_err(|error| wrong(&error))?;
    let mut bytes = Vec::new();
    package.write(&mut bytes).map_err(|error| wrong(&error))?;
    Ok(bytes)
}

fn packed(line: Line, entries: &[Entry]) -> Result<Package, rpm::Error> {
    let summary = "Stand-in for NebulaGraph made by the nbctl sandbox";
    let mut builder = PackageBuilder::new(
        "nebula-graph",
        line.version(),
        "Apache-2.0",
        "x86_64",
        summary,
    );
    // V4 and gzip: rpm 4.11 of CentOS 7 reads them. The fixed date makes equal inputs equal packages.
    builder
        .using_config(
            BuildConfig::v4()
                .compression(CompressionWithLevel::Gzip(4))
                .source_date(1_714_521_600),
        )
        .release("1")
        .description(
            "Plays metad, graphd and storaged for tests and demonstrations. It is not a database.",
        )
        .post_install_script(post_install("$RPM_INSTALL_PREFIX"));
    builder.with_dir_entry(FileOptions::dir(PREFIX).permissions(0o755))?;
    for folder in FOLDERS {
        builder
            .with_dir_entry(FileOptions::dir(format!("{PREFIX}/{folder}")).permissions(0o755))?;
    }
    for entry in entries {
        let options = FileOptions::new(format!("{PREFIX}/{}", entry.path)).permissions(entry.mode);
        builder.with_file_contents(entry.contents.to_vec(), options)?;
    }
    builder.build()
}

/// Adds the Prefix tag, which the builder does not know, and computes the digests anew.
fn make_relocatable(package: &mut Package) -> Result<(), rpm::Error> {
    let prefixes = IndexTag::RPMTAG_PREFIXES as u32;
    let region = IndexTag::RPMTAG_HEADERIMMUTABLE as u32;
    let kept = package.metadata.header.get_all_entries()?;
    let kept = kept.into_iter().filter(|(tag, _)| *tag != region);
    let mut entries: Vec<_> = kept
        .map(|(tag, data)| HeaderEntry::new(tag, data))
        .collect();
    entries.push(HeaderEntry::new(
        prefixes,
        IndexData::StringArray(vec![PREFIX.to_owned()]),
    ));
    package.metadata.header = Header::from_entries(entries, IndexTag::RPMTAG_HEADERIMMUTABLE);
    package.clear_signatures()
}

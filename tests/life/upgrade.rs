//! 2.6.2 becomes 3.8.0 with its data.

use std::time::{Duration, Instant};

use crate::kill::Hosts as _;
use crate::place::Place;
use crate::scale::{VERTICES, rows};

/// The place runs 2.6.2 with the space that [`crate::scale::fill`] made.
pub(crate) async fn upgrades(place: &Place) {
    let to = ["upgrade", "3.8.0", "--yes"];
    place.nbctl(&to).fails(2).says("nebula-graph");
    place.package("3.8.0");
    place
        .nbctl(&["upgrade", "2.0.1", "--yes"])
        .fails(2)
        .says("2.6.2 cannot become 2.0.1");
    place
        .nbctl(&["upgrade", "3.8.0", "--dry-run"])
        .good()
        .says("back up metad data");
    assert_eq!(place.daemons(), 3);
    killed_when_all_are_down(place);
    let done = place.nbctl(&to).good();
    done.says("upgraded from 2.6.2 to 3.8.0 and verified, counts as before")
        .says("set `version: 3.8.0`");
    assert_eq!(rows(place).await, VERTICES);
    place.edit("version: 2.6.2", "version: 3.8.0");
    place.nbctl(&["status"]).good().says("equals its inventory");
    place
        .nbctl(&["deploy", "--yes"])
        .good()
        .says("nothing to do");
    purges(place);
}

/// In the middle of it, with nobody left to clean up.
fn killed_when_all_are_down(place: &Place) {
    let said = place.dir().join("killed.txt");
    let mut upgrade = place
        .command(&["upgrade", "3.8.0", "--yes"])
        .stdout(std::process::Stdio::null())
        .stderr(std::fs::File::create(&said).unwrap())
        .spawn()
        .unwrap();
    let end = Instant::now() + Duration::from_mins(2);
    let backup = place.root().join("backup/meta-2.6.2-before-3.8.0");
    while !backup.exists() && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(10));
    }
    upgrade.kill().unwrap();
    upgrade.wait().unwrap();
    eprintln!("{}", std::fs::read_to_string(said).unwrap());
    assert!(backup.exists(), "metad's data was not kept");
}

/// The old version stays until then.
fn purges(place: &Place) {
    let versions = || {
        std::fs::read_dir(place.root().join("versions"))
            .unwrap()
            .count()
    };
    assert_eq!(versions(), 2);
    place
        .nbctl(&["upgrade", "3.8.0", "--yes", "--purge"])
        .good()
        .says("are purged");
    assert_eq!(versions(), 1);
    assert!(!place.root().join("backup").exists());
    place.nbctl(&["status"]).good();
    place
        .nbctl(&["upgrade", "2.6.2", "--yes"])
        .fails(2)
        .says("is not read by an older one");
}

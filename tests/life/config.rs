//! New values for running daemons, by the cheapest means.

use crate::place::Place;

/// There is a space with one copy of each partition.
pub(crate) fn rolls(place: &Place) {
    place
        .nbctl(&["config", "diff"])
        .good()
        .says("daemons work with what the inventory asks for");
    sets(place);
    changed_in_the_inventory(place);
    restarts(place);
}

/// Set by hand, and taken back.
fn sets(place: &Place) {
    let set = [
        "config",
        "set",
        "minloglevel=2",
        "--role",
        "graphd",
        "--yes",
    ];
    place.foreign_lease(5);
    let refused = place.nbctl(&set).fails(5);
    refused.says("another command works on these hosts; nothing was changed");
    place.nbctl(&["config", "diff"]).good();
    place.nbctl(&["unlock", "--yes"]).good();
    place.nbctl(&set).good().says("1 daemon set and read back");
    place
        .nbctl(&["config", "diff"])
        .fails(4)
        .says("graphd@one: minloglevel is 2, not 0");
    place
        .nbctl(&["config", "show", "minloglevel", "--role", "graphd"])
        .good()
        .says("DIFFERS");
    place
        .nbctl(&["config", "set", "rocksdb_block_cache=8", "--yes"])
        .fails(2)
        .says("a restart is needed");
    let before = place.pid("nebula-graphd");
    place
        .nbctl(&["reset", "set", "--yes"])
        .good()
        .says("rolled and verified");
    place.nbctl(&["config", "diff"]).good();
    assert_eq!(place.pid("nebula-graphd"), before, "it was restarted");
    place.nbctl(&["reset", "roll"]).good().says("nothing to do");
}

/// What can be changed while running is.
fn changed_in_the_inventory(place: &Place) {
    let before = place.pid("nebula-storaged");
    place.edit(
        "heartbeat_interval_secs: 1}",
        "heartbeat_interval_secs: 1}, storaged: {flags: {wal_ttl: 3600}}",
    );
    place.nbctl(&["config", "diff"]).fails(4).says("wal_ttl");
    place.foreign_lease(5);
    place
        .nbctl(&["config", "roll", "--yes"])
        .fails(5)
        .says("nothing was changed");
    place.nbctl(&["unlock", "--yes"]).good();
    place
        .nbctl(&["config", "roll", "--yes"])
        .good()
        .says("rolled and verified, 2 steps");
    assert_eq!(place.pid("nebula-storaged"), before, "it was restarted");
    place
        .nbctl(&["deploy", "--yes"])
        .good()
        .says("nothing to do");
}

/// What is read at start takes a restart, of that daemon only, and nothing else does.
fn restarts(place: &Place) {
    let (graphd, storaged) = (place.pid("nebula-graphd"), place.pid("nebula-storaged"));
    place.edit("{wal_ttl: 3600}", "{wal_ttl: 3600, rocksdb_block_cache: 8}");
    place
        .nbctl(&["reset", "set", "--yes"])
        .fails(2)
        .says("only a restart brings these back")
        .says("storaged@one: rocksdb_block_cache is 4, not 8");
    place
        .nbctl(&["config", "roll", "--dry-run"])
        .good()
        .says("stop storaged@one: rocksdb_block_cache is 4, not 8");
    assert_eq!(place.pid("nebula-storaged"), storaged);
    let rolled = place.nbctl(&["config", "roll", "--yes"]).good();
    rolled
        .says("space old has replica factor 1")
        .says("rolled and verified");
    assert_ne!(place.pid("nebula-storaged"), storaged);
    assert_eq!(place.pid("nebula-graphd"), graphd);
    place
        .nbctl(&["balance", "--space", "old"])
        .good()
        .says(": 4 leaders");
    place
        .nbctl(&["deploy", "--yes"])
        .good()
        .says("nothing to do");
    place.edit(
        "storaged: {flags: {wal_ttl: 3600, rocksdb_block_cache: 8}}",
        "storaged: {}",
    );
    place.nbctl(&["reset", "roll", "--yes"]).good();
    place.nbctl(&["config", "diff"]).good();
}

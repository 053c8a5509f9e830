//! Hosts and engines that are lost, and found again.

use serde_json::Value;

use crate::bed::{Bed, Ended};

fn changed(ended: &Ended) -> u64 {
    assert_eq!(ended.code, 0, "{}\n{}", ended.out, ended.err);
    let result: Value = serde_json::from_str(&ended.out).unwrap();
    result["changed"].as_u64().unwrap()
}

const UP: [&str; 4] = ["monitor", "up", "--output", "json"];
const DOWN: [&str; 5] = ["monitor", "down", "--data", "--purge", "--yes"];

#[test]
fn what_is_lost_is_told_and_healed_by_the_next_run() {
    let Some(bed) = Bed::find() else {
        eprintln!("left out: no test hosts are up (NBCTL_BED_DIR; `make bed` starts them)");
        return;
    };
    let before = bed.listing();
    let cluster = {
        let first = bed.nbctl(&UP);
        assert!(changed(&first) > 0);
        let result: Value = serde_json::from_str(&first.out).unwrap();
        result["cluster"].as_str().unwrap().to_owned()
    };
    a_lost_host_does_not_hold_up_the_others(&bed, &cluster);
    a_dead_engine_is_told_with_what_starts_it(&bed);
    let gone = bed.nbctl(&DOWN);
    assert_eq!(gone.code, 0, "{}", gone.err);
    assert_eq!(bed.listing(), before, "monitor down left something");
}

fn a_lost_host_does_not_hold_up_the_others(bed: &Bed, cluster: &str) {
    let [.., other, lost] = &bed.hosts[..] else {
        return;
    };
    bed.ssh(
        other,
        &format!("docker kill nbctl-{cluster}-process-exporter"),
    );
    bed.hosts("pause", lost);
    let ended = bed.nbctl(&UP);
    bed.hosts("unpause", lost);
    assert_eq!(ended.code, 3, "{}\n{}", ended.out, ended.err);
    assert!(
        ended.err.contains(&format!("{lost}: ")) || ended.err.contains(lost),
        "{}",
        ended.err
    );
    let runs =
        format!("docker inspect -f '{{{{.State.Running}}}}' nbctl-{cluster}-process-exporter");
    assert_eq!(bed.ssh(other, &runs).trim(), "true", "{}", ended.err);
    assert_eq!(changed(&bed.nbctl(&UP)), 0, "back again, and nothing to do");
}

fn a_dead_engine_is_told_with_what_starts_it(bed: &Bed) {
    let host = bed.hosts.last().unwrap();
    bed.ssh(
        host,
        "sudo kill $(cat /var/run/docker.pid); for i in $(seq 300); do docker version >/dev/null 2>&1 || exit 0; sleep 0.1; done; exit 1",
    );
    let ended = bed.nbctl(&UP);
    assert_eq!(ended.code, 3, "{}\n{}", ended.out, ended.err);
    assert!(
        ended.err.contains("systemctl start docker"),
        "{}",
        ended.err
    );
    bed.hosts("up", &bed.hosts.len().to_string());
    changed(&bed.nbctl(&UP));
    let status = bed.nbctl(&["monitor", "status"]);
    assert_eq!(status.code, 0, "{}\n{}", status.out, status.err);
}

#[test]
fn an_engine_whose_socket_is_closed_to_the_user_is_reached_under_sudo() {
    let Some(bed) = Bed::find() else {
        eprintln!("left out: no test hosts are up (NBCTL_BED_DIR; `make bed` starts them)");
        return;
    };
    let before = bed.listing();
    let host = bed.hosts.last().unwrap().clone();
    bed.ssh(&host, "sudo chmod 600 /var/run/docker.sock");
    let refused = bed.nbctl(&UP);
    let allowed = bed.with_inventory("monitor: {", "monitor: {docker: {sudo: true}, ");
    let done = allowed.nbctl(&UP);
    let again = allowed.nbctl(&UP);
    let gone = allowed.nbctl(&DOWN);
    allowed.ssh(&host, "sudo chmod 660 /var/run/docker.sock");
    assert_eq!(refused.code, 3, "{}", refused.err);
    assert!(
        refused.err.contains("monitor.docker.sudo"),
        "{}",
        refused.err
    );
    assert!(changed(&done) > 0);
    assert_eq!(changed(&again), 0);
    assert_eq!(gone.code, 0, "{}", gone.err);
    assert_eq!(allowed.listing(), before, "monitor down left something");
}

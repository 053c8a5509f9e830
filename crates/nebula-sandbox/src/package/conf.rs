//! Conf files and the list of mutable flags, made from tables.

use std::fmt::Write;

use crate::{
    flags::{Flags, Mode},
    line::{Line, Role},
};

/// `nebula-X.conf.default` or `.production`.
pub(super) fn text(line: Line, role: Role, production: bool) -> String {
    let mut text = String::new();
    let mut section = "";
    for row in include_str!("../../package/conf.tsv").lines() {
        let cells: Vec<_> = row.split('\t').collect();
        let [group, roles, flag, default, real, lines, comment] = cells.as_slice() else {
            continue;
        };
        if !roles.contains(role.letter()) || !lines.contains(line.letter()) || row.starts_with('#')
        {
            continue;
        }
        if *group != section {
            section = group;
            writeln!(text, "########## {group} ##########").ok();
        }
        let value = if production { real } else { default };
        writeln!(text, "# {comment}\n--{flag}={value}\n").ok();
    }
    text
}

/// `nebula-storaged-listener.conf.production`: storaged's with ports and files of its own, and two flags that nobody
/// defines.
pub(super) fn listener(line: Line) -> String {
    let text = text(line, Role::Storaged, true);
    let text = text
        .replace("storaged.pid", "storaged-listener.pid")
        .replace("=storaged-std", "=storaged-listener-std")
        .replace("--port=9779", "--port=9789")
        .replace("=19779", "=19789")
        .replace("data_path=data/storage", "listener_path=data/listener");
    format!("{text}--part_man_type=meta\n--part_type=simple\n")
}

/// `share/resources/gflags.json`.
pub(super) fn mutable_flags(line: Line) -> String {
    let mut mutable = Vec::new();
    let mut nested = Vec::new();
    for role in Role::ALL {
        for (name, flag) in Flags::new(line, role).all() {
            match flag.mode {
                Mode::Mutable if !name.starts_with("sandbox_") => mutable.push(name),
                Mode::Nested => nested.push(name),
                _ => {}
            }
        }
    }
    mutable.sort_unstable();
    mutable.dedup();
    format!(
        "{:#}\n",
        serde_json::json!({"MUTABLE": mutable, "NESTED": nested})
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn confs_hold_what_the_lines_ship() {
        use Line::{V2_0_1, V2_6_2, V3_8_0};
        use Role::{Graphd, Metad, Storaged};
        let listener = "pids/nebula-storaged-listener.pid";
        let cases = [
            (V3_8_0, Storaged, false, "--rocksdb_block_cache=4\n", true),
            (V3_8_0, Storaged, true, "--rocksdb_block_cache=4096\n", true),
            (V3_8_0, Storaged, true, listener, true),
            (V2_6_2, Storaged, true, listener, false),
            (V2_0_1, Graphd, false, "--local_config", false),
            (V2_6_2, Graphd, false, "--local_config=true\n", true),
            (V2_6_2, Graphd, false, "--ws_h2_port=19670\n", true),
            (V3_8_0, Graphd, false, "--ws_h2_port", false),
            (V3_8_0, Metad, false, "--port=9559\n", true),
            (V3_8_0, Metad, false, "minimum_reserved_bytes", false),
        ];
        for (line, role, production, part, there) in cases {
            assert_eq!(
                text(line, role, production).contains(part),
                there,
                "{line} {role:?} {part}"
            );
        }
    }

    #[test]
    fn every_conf_flag_is_read_back() {
        for line in Line::ALL {
            for role in Role::ALL {
                let flags = Flags::new(line, role);
                flags.apply_file_text(&text(line, role, false));
                assert!(flags.port("port") >= 9559, "{line} {role:?}");
                assert_eq!(flags.text("local_ip"), "127.0.0.1");
            }
        }
    }

    /// What the lines' own lists hold.
    const MUTABLE: &str = "accept_partial_success clean_wal_interval_secs custom_filter_interval_secs \
        heartbeat_interval_secs max_edge_returned_per_vertex meta_client_retry_times minloglevel \
        slow_op_threshhold_ms v wal_ttl";
    const ADDED: &str = "disable_octal_escape_char max_allowed_connections max_sessions_per_ip_per_user \
        num_rows_to_check_memory session_idle_timeout_secs session_reclaim_interval_secs \
        system_memory_high_watermark_ratio timezone_name";
    const NESTED: [&str; 3] = [
        "rocksdb_block_based_table_options",
        "rocksdb_column_family_options",
        "rocksdb_db_options",
    ];

    #[test]
    fn mutable_flags_are_those_of_the_line() {
        for (line, added) in [(Line::V2_0_1, ""), (Line::V3_8_0, ADDED)] {
            let mut wanted: Vec<_> = MUTABLE.split_whitespace().collect();
            wanted.extend(added.split_whitespace());
            wanted.sort_unstable();
            let list: serde_json::Value = serde_json::from_str(&mutable_flags(line)).expect("JSON");
            assert_eq!(
                list,
                serde_json::json!({"MUTABLE": wanted, "NESTED": NESTED}),
                "{line}"
            );
        }
    }
}

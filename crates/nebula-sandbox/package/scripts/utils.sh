#!/usr/bin/env bash
# Helpers of the service scripts: coloured messages, limits, processes.

_colour() {
    # Colours only for people.
    if [[ -t 1 && -t 2 ]]; then printf '\033[%sm' "$1"; fi
}

INFO()  { echo "$(_colour '1;32')[INFO]$(_colour 0) $*"; }
WARN()  { echo "$(_colour '1;33')[WARN]$(_colour 0) $*"; }
ERROR() { echo "$(_colour '1;31')[ERROR]$(_colour 0) $*" >&2; }

ERROR_AND_EXIT() {
    ERROR "$*"
    exit 1
}

# First value of a flag in a conf file (gflags itself takes the last one).
conf_value() {
    sed -n "s/^--$2=\(.*\)$/\1/p" "$1" | head -n 1
}

# The pid in a pid file, nothing when there is no such file.
pid_in_file() {
    [[ -n "$1" && -f "$1" ]] && head -n 1 "$1"
}

process_lives() {
    [[ -n "$1" ]] && ps -p "$1" > /dev/null 2>&1
}

# True when the port is open, and also when nobody can tell.
port_open() {
    command -v ss > /dev/null 2>&1 || return 0
    ss -lnt 2> /dev/null | grep -q "$1"
}

# Waits up to about four seconds for a process to end.
wait_for_end() {
    local waited=0
    while process_lives "$1"; do
        sleep 0.1
        command -v bc > /dev/null 2>&1 || break
        waited=$(echo "$waited + 0.1" | bc -l)
        [[ "$waited" > "4" ]] && break
    done
    return 0
}

check_limits() {
    local files cpu
    files=$(ulimit -n)
    if [[ "$files" != unlimited && "$files" -le 1024 ]]; then
        WARN "The maximum files allowed to open might be too few: $files"
    fi
    cpu=$(ulimit -t)
    if [[ "$cpu" != unlimited ]]; then
        WARN "The CPU time a process can consume is restricted to $cpu"
    fi
}

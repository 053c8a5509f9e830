#!/usr/bin/env bash
# host.sh CONTAINER NUMBER PREFIX KEY_FILE [plain]: one host: made if it is missing, made anew if it is not well, its engine
# started if it is gone; a plain one has none. Prints the host's line for known_hosts.
set -euo pipefail
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

container=$1 number=$2 address=$3.$((60 + $2)) key_file=$4 kind=${5:-engine}
image=${NBCTL_BED_HOST_IMAGE:-nbctl-bed/host}

# is_well: it runs, from the image of now, as the kind that is wanted
is_well() {
  [ "$(dk inspect -f '{{.State.Running}} {{.Image}} {{index .Config.Labels "nbctl.bed.kind"}}' "$container" 2>/dev/null)" = \
    "true $(dk image inspect -f '{{.Id}}' "$image") $kind" ]
}

create() {
  local groups=(-v /sys/fs/cgroup:/sys/fs/cgroup:rw)
  [ "$kind" = engine ] || groups=()
  dk rm -f -v "$container" >/dev/null 2>&1 || true
  dk run -d --name "$container" --hostname "h$number" --network "nbctl-bed-$BED_NAME" --ip "$address" \
    --label "$BED_LABEL=$BED_NAME" --label "nbctl.bed.dir=$BED_DIR" --label "nbctl.bed.kind=$kind" \
    --security-opt apparmor=unconfined "${groups[@]}" -e AUTHORIZED_KEY="$(cat "$key_file")" "$image" >/dev/null
}

engine_runs() { dk exec "$container" docker version >/dev/null 2>&1; }

# The engine is started from outside, into the host's namespaces.
start_engine() {
  local pid
  pid=$(dk inspect -f '{{.State.Pid}}' "$container")
  as_root setsid nsenter -t "$pid" -m -n -p -u -i /usr/local/sbin/start-engine.sh \
    "nbctl.bed=$BED_NAME-h$number" "/nbctl-bed-$BED_NAME/h$number" "10.232.$number.1/24" </dev/null >/dev/null 2>&1 &
}

# One look from inside, every 0.1 s for 30 s, until sshd listens and the engine answers
wait_until_up() {
  # shellcheck disable=SC2016  # for the host's shell
  dk exec -e "KIND=$kind" "$container" sh -c 'engine() {
      [ "$KIND" = plain ] || { [ -S /var/run/docker.sock ] && docker version >/dev/null 2>&1; }
    }
    for i in $(seq 300); do
      ss -lntH "sport = 22" | grep -q . && engine && exit 0
      sleep 0.1
    done
    tail -n 10 /var/log/dockerd.log >&2 || true
    exit 1'
}

is_well || create
[ "$kind" = plain ] || engine_runs || start_engine
wait_until_up || die "host h$number ($address) does not come up"
echo "$address $(dk exec "$container" cut -d' ' -f1,2 /etc/ssh/ssh_host_ed25519_key.pub)"

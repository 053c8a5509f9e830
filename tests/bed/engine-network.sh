# shellcheck shell=bash
# engine-network.sh: what an engine changes in this machine's network, remembered before and put back after.
# Sourced by engine.sh.

NETWORK_STATE=$BED_RUN/network     # "IP_FORWARD FORWARD_POLICY BRIDGE_WAS_THERE"

# iptables_path: a folder to put before PATH. Some kernels have the old tables only; there the engine gets the old
# program under the name it calls, and the machine's own choice stays as it is.
iptables_path() {
  local dir=$BED_RUN/bin
  as_root rm -rf "$dir" && as_root mkdir -p "$dir"
  as_root iptables -t nat -L -n >/dev/null 2>&1 || as_root ln -s "$(command -v iptables-legacy)" "$dir/iptables"
  echo "$dir"
}

# It warns when there are tables of the other kind as well; whatever else it has to say shows in its exit code.
ipt() { as_root env PATH="$BED_RUN/bin:$PATH" "$@" 2>/dev/null; }

remember_network() {
  local policy bridge=0
  iptables_path >/dev/null
  policy=$(ipt iptables -S FORWARD 2>/dev/null | awk '$1 == "-P" { print $3 }')
  [ ! -e /sys/class/net/docker0 ] || bridge=1
  [ -e "$NETWORK_STATE" ] || echo "$(cat /proc/sys/net/ipv4/ip_forward) ${policy:-ACCEPT} $bridge" |
    as_root tee "$NETWORK_STATE" >/dev/null
}

# delete_rules TABLE: the engine's own chains and every rule that names one of them or its bridge
delete_rules() {
  local rule chain
  ipt iptables -t "$1" -S | grep -E '^-A .*(DOCKER|docker0)' | while read -r _ rule; do
    # shellcheck disable=SC2086  # a rule is several words
    ipt iptables -t "$1" -D $rule || true
  done
  for chain in $(ipt iptables -t "$1" -S | awk '$1 == "-N" && $2 ~ /^DOCKER/ { print $2 }'); do
    ipt iptables -t "$1" -F "$chain"
    ipt iptables -t "$1" -X "$chain" || true
  done
}

restore_network() {
  local forward policy bridge
  [ -e "$NETWORK_STATE" ] || return 0
  read -r forward policy bridge <"$NETWORK_STATE"
  if [ "$bridge" = 0 ] && [ -e /sys/class/net/docker0 ]; then
    as_root ip link delete docker0
    delete_rules nat
    delete_rules filter
    ipt iptables -P FORWARD "$policy"
    echo "$forward" | as_root tee /proc/sys/net/ipv4/ip_forward >/dev/null
  fi
  as_root rm -f "$NETWORK_STATE"
}

# shellcheck shell=bash
# network.sh: the bed's private network: a /24 of 172.30.x.0 that nothing on this machine uses. Sourced by hosts.sh.

BED_NETWORK=nbctl-bed-$BED_NAME

# bed_prefix: the first three numbers of the bed's addresses
bed_prefix() { dk network inspect -f '{{(index .IPAM.Config 0).Subnet}}' "$BED_NETWORK" | sed 's/\.0\/24$//'; }

in_use() {
  ip -4 route show root "$1" | grep -q . ||
    ip -4 route show match "$1" | grep -qv '^default'
}

# ensure_network: `network create` refuses what another network took in between, so the next one is tried
ensure_network() {
  local third subnet
  dk network inspect "$BED_NETWORK" >/dev/null 2>&1 && return
  for third in $(seq 77 176); do
    subnet=172.30.$third.0/24
    in_use "$subnet" && continue
    dk network create --label "$BED_LABEL=$BED_NAME" --subnet "$subnet" --gateway "172.30.$third.1" \
      "$BED_NETWORK" >/dev/null 2>&1 && return
  done
  die "no free network for bed '$BED_NAME' among 172.30.77.0/24 to 172.30.176.0/24" "what is there: ip route; docker network ls" 3
}

remove_network() {
  local id
  for id in $(dk network ls -q --filter "label=$BED_LABEL=$BED_NAME"); do dk network rm "$id" >/dev/null; done
}

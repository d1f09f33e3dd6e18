#!/bin/bash
# check_unit.sh UNIT PROGRAMS: whether the unit of rdzvd is one that systemd takes, how much it leaves open, and whether
# rdzvd of the folder PROGRAMS can do its work with the system calls that the unit allows. Needs systemd-analyze and strace.
set -euo pipefail
unit=$1 programs=$2
most_exposed=11  # tenths: systemd counts from 0, nothing can be reached, to 10
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  printf 'check_unit: %s\n' "$@" >&2
  exit 1
}

for tool in systemd-analyze strace; do
  command -v $tool >/dev/null || { echo "SKIPPED: $tool is not installed, so the unit was NOT checked" && exit 0; }
done

is_taken_by_systemd() {
  sed "s#^ExecStart=.*/rdzvd#ExecStart=$programs/rdzvd#" "$unit" >"$work/rdzvd.service"
  local said
  said=$(systemd-analyze verify --man=no "$work/rdzvd.service" 2>&1 | grep rdzvd || true)
  [[ -z $said ]] || fail "systemd says of the unit:" "$said"
}

is_not_exposed() {
  systemd-analyze security --offline=true --no-pager --threshold=$most_exposed "$work/rdzvd.service" >"$work/exposure" ||
    fail "the service is more exposed than $most_exposed tenths:" "$(grep -E '^✗|Overall' "$work/exposure")"
  grep -o 'exposure level.*[0-9]' "$work/exposure"
}

# SET…: the names of the system calls in these sets of systemd.
calls_of() {
  local word
  for word in $(systemd-analyze syscall-filter "$@" | sed -nE 's/^    ([@a-z_0-9-]+).*/\1/p'); do
    if [[ $word == @* ]]; then calls_of "$word"; else echo "$word"; fi
  done
}

allowed_calls() {
  local line sign words=""
  sed -n 's/^SystemCallFilter=//p' "$unit" >"$work/filters"
  : >"$work/allowed"
  while read -r line; do
    sign=${line%%@*} words=${line#"~"}
    # shellcheck disable=SC2086 # several sets
    calls_of $words | sort -u >"$work/set"
    if [[ $sign == "~" ]]; then
      comm -23 "$work/allowed" "$work/set" >"$work/left"
    else
      sort -u "$work/allowed" "$work/set" >"$work/left"
    fi
    mv "$work/left" "$work/allowed"
  done <"$work/filters"
}

# A job of two nodes, a page and a command.
serve() {
  local port job line
  # shellcheck disable=SC2154 # daemon_PID is made by coproc
  coproc daemon { exec strace -f -qq -o "$work/trace" "$programs/rdzvd" --listen 127.0.0.1:0 2>"$work/log"; }
  read -r -t 30 line <&"${daemon[0]}" || fail "rdzvd said nothing: $(cat "$work/log")"
  port=$(grep -oE '127\.0\.0\.1:[0-9]+' <<<"$line" | head -n 1)
  job=("$programs/ddprun" -q --nnodes 2 --rdzv-backend c10d --rdzv-endpoint "$port" --rdzv-id unit -n 1 true)
  "${job[@]}" &
  local first=$!
  "${job[@]}" || fail "two nodes did not meet at rdzvd: $(cat "$work/log")"
  wait "$first" || fail "two nodes did not meet at rdzvd: $(cat "$work/log")"
  "$programs/rdzvctl" --endpoint "$port" status >/dev/null
  # strace itself takes no signals, and ends with the daemon.
  kill "$(pgrep -P "$daemon_PID")"
  wait "$daemon_PID" || true
}

works_with_the_calls() {
  allowed_calls
  [[ -s $work/allowed ]] || fail "the unit has no SystemCallFilter that could be read"
  serve
  # Before execve it is strace's own.
  sed -nE 's/^[0-9]+ +([a-z_0-9]+)\(.*/\1/p' "$work/trace" | sort -u >"$work/used"
  [[ $(wc -l <"$work/used") -gt 20 ]] || fail "strace saw hardly any call of rdzvd"
  local missing
  missing=$(comm -23 "$work/used" "$work/allowed" | grep -vx "$(needless_calls)" || true)
  [[ -z $missing ]] || fail "rdzvd calls what its unit does not allow:" "$missing"
  echo "$(wc -l <"$work/used") system calls used, all of $(wc -l <"$work/allowed") allowed ones"
}

# What may fail without harm: LimitNOFILE of the unit has raised the limit.
needless_calls() { echo 'setrlimit'; }

is_taken_by_systemd
is_not_exposed
works_with_the_calls

#!/bin/bash
# What somebody tries who has just installed ddprun and rdzvd. Needs nothing but them and a shell.
set -uo pipefail
failed=0

# expect CODE TEXT COMMAND…: the command ends with CODE and its output has TEXT.
expect() {
  local code=$1 text=$2 output status=0
  shift 2
  output=$("$@" 2>&1) || status=$?
  if [[ $status == "$code" && $output == *"$text"* ]]; then
    echo "ok: $*"
  else
    failed=1
    printf 'NOT OK: %s\n  expected exit code %s and "%s", found exit code %s and:\n%s\n' "$*" "$code" "$text" "$status" "$output"
  fi
}

workers_of_two_nodes() {
  local port=$1 job=()
  job=(ddprun --nnodes 2 --rdzv-backend c10d --rdzv-endpoint "127.0.0.1:$port" --rdzv-id smoke -n 1)
  # shellcheck disable=SC2016 # for the workers' shell
  "${job[@]}" sh -c 'echo "rank $RANK of $WORLD_SIZE"' &
  # shellcheck disable=SC2016
  "${job[@]}" sh -c 'echo "rank $RANK of $WORLD_SIZE"'
  local status=$?
  wait $! && return $status
}

daemon() {
  local said port
  coproc rdzvd { exec rdzvd --listen 127.0.0.1:0 2>&1; }
  local pid=$rdzvd_PID
  read -r -t 20 said <&"${rdzvd[0]}" || { echo "rdzvd said nothing for 20 s" && return 1; }
  port=$(grep -oE '127\.0\.0\.1:[0-9]+' <<<"$said" | head -n 1 | cut -d: -f2)
  workers_of_two_nodes "$port" && rdzvctl --endpoint "127.0.0.1:$port" status
  local status=$?
  kill "$pid" && wait "$pid"
  return $status
}

# Of the installed manual; what lies outside of docs/ in the sources is not in the package.
links_lead_somewhere() {
  local page link pages=0 lost=0
  cd /usr/share/doc/ddprun || return
  for page in *.md tasks/*.md; do
    pages=$((pages + 1))
    while read -r link; do
      [[ $link == ../* && $page != tasks/* || $link == ../../* ]] || [[ -e $(dirname "$page")/$link ]] ||
        { echo "$page: $link is not there" && lost=1; }
    done < <(grep -oE '\]\([^):#]+[#)]' "$page" | tr -d ']()#')
  done
  echo "$pages pages"
  return $lost
}

expect 0 "ddprun 0" ddprun --version
# shellcheck disable=SC2016 # for the workers' shell
expect 0 "rank 1" ddprun -n 2 sh -c 'echo "rank $RANK"'
# shellcheck disable=SC2016
expect 7 "rank 1" ddprun -n 2 sh -c '[ "$RANK" = 0 ] || exit 7; sleep 60'
expect 0 "loopback       127.0.0.1 can be listened on" ddprun --doctor
expect 0 $'\n0 problems' ddprun --doctor
expect 2 "4 GPUs visible" env CUDA_VISIBLE_DEVICES=1,2,3,4 ddprun --simulate-gpus 8 -n 5 true
expect 0 "rdzvd 0" rdzvd --version
expect 0 "rank 1 of 2" daemon
expect 0 "" bash -n /usr/share/bash-completion/completions/ddprun
for page in man1/ddprun.1 man1/rdzvctl.1 man8/rdzvd.8; do
  # A bare Debian leaves manual pages out.
  [[ -e /etc/dpkg/dpkg.cfg.d/excludes || ! -d /usr/share/man/man1 ]] || expect 0 "" gzip -t "/usr/share/man/$page.gz"
done
expect 0 "ExecStart=/usr/bin/rdzvd" cat /usr/lib/systemd/system/rdzvd.service
expect 0 " pages" links_lead_somewhere
for example in slurm/ddprun.sbatch kubernetes/indexed-job.yaml container/Containerfile; do
  expect 0 "ddprun" cat "/usr/share/doc/ddprun/examples/$example"
done
exit $failed

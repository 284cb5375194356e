#!/usr/bin/env bash
# Shows what varve does on a small real DuckLake catalog: imports it, and reads it as it stood then and as it
# stands now. VARVE is the program; `make demo` sets it. Works in a directory of its own and removes it.
set -euo pipefail
cd "$(dirname "$0")/.."

: "${VARVE:?set VARVE to the path of the varve program, or run make demo}"
source_dir=golden/data/ducklake-small
work="$(mktemp -d -t varve-demo.XXXXXX)"
trap 'rm -rf "$work"' EXIT
export VARVE_CATALOG="$work/catalog"

# $1: what is to be seen; the rest: the command, shown as a user would type it.
show() {
  printf '\n# %s\n$ varve' "$1"
  shift
  local word
  for word in "$@"; do
    if [[ $word == *[[:space:]]* ]]; then word="${word%%=*}=\"${word#*=}\""; fi
    printf ' %s' "$word"
  done
  printf '\n'
  "$VARVE" "$@" 2>&1
}

show "Bring in a DuckLake catalog that was dumped as CSV files" import --from="csv:$source_dir"
show "Its last ten snapshots" log --limit=10
show "The tables as they stood at snapshot 20 …" ls tables --at=20
show "… and as they stand now" ls tables
show "What happened to tables between snapshots 20 and 30" diff --from=20 --to=30 table
show "And to columns" diff --from=20 --to=30 column
show "A table's columns, nested ones included" ls columns hr.people
show "Every version of one column" scan column --history --where='table_id = 4 and column_id = 7' \
  --columns=column_name,column_type,default_value,begin_snapshot,end_snapshot
show "Rows, versions and bytes" stats
show "Every invariant checked" verify

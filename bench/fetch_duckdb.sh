#!/bin/sh
# Fetches the DuckDB library that varve_bench compares listings with, once, from npm into a cache
# directory outside of the repository, and prints where it is.
set -eu

version=1.4.4-r.1
directory="${VARVE_BENCH_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/varve-bench}/duckdb-$version"
library="$directory/libduckdb.so"

if [ ! -e "$library" ]; then
  mkdir -p "$directory"
  scratch="$(mktemp -d "$directory/fetch.XXXXXX")"
  trap 'rm -rf "$scratch"' EXIT
  cd "$scratch"
  npm pack --silent "@duckdb/node-bindings-linux-x64@$version" >/dev/null
  tar -xzf ./*.tgz
  mv package/libduckdb.so "$library"
fi
echo "$library"

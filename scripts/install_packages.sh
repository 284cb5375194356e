#!/usr/bin/env bash
# Installs the Debian packages of scripts/packages.txt that are missing.
#
# A package counts as present when its installed upstream version is at least the pinned one, so nothing is
# ever downgraded; when all are present, apt and the network are not touched. If apt no longer offers a pinned
# version (a point release of Debian replaced it), the offered one of the same major version is taken
# instead, with a warning.
set -euo pipefail

list="$(dirname "$0")/packages.txt"

# "4:12.2.0-3" -> "4:12.2.0"
upstream() { echo "${1%-*}"; }
# "4:12.2.0-3" -> "12"
major() { local v="${1#*:}"; echo "${v%%[.+-]*}"; }
say() { echo "install_packages: $*" >&2; }

installed_version() {
  dpkg-query -W -f='${db:Status-Status} ${Version}' "$1" 2>/dev/null | sed -n 's/^installed //p' || true
}

missing=()
while IFS='=' read -r name pinned; do
  installed="$(installed_version "$name")"
  if [[ -z $installed ]] || dpkg --compare-versions "$(upstream "$installed")" lt "$(upstream "$pinned")"; then
    missing+=("$name=$pinned")
  fi
done < <(grep -E '^[a-z0-9]' "$list")

if ((${#missing[@]} == 0)); then
  exit 0
fi
say "missing: ${missing[*]}"

as_root=()
if (($(id -u) != 0)); then
  if ! command -v sudo >/dev/null; then
    say "installing packages needs root or sudo; run this script as root once"
    exit 1
  fi
  as_root=(sudo)
fi
apt_get() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 "$@" </dev/null
}
# Reads stdin into a log file that is shown only if the installation fails.
log="$(mktemp)"
trap 'rm -f "$log"' EXIT
install() { apt_get install -y --no-install-recommends "$@" >"$log" 2>&1; }

apt_get update

exact=()
offered=()
for package in "${missing[@]}"; do
  name="${package%%=*}"
  pinned="${package#*=}"
  candidate="$(apt-cache policy "$name" | sed -n 's/^ *Candidate: //p')"
  if [[ -z $candidate || $candidate == "(none)" ]]; then
    say "apt does not offer $name (expected version $pinned): is this Debian 12?"
    exit 1
  fi
  if [[ $(major "$candidate") != $(major "$pinned") ]]; then
    say "apt offers $name $candidate, expected major version $(major "$pinned") (pinned: $pinned)"
    exit 1
  fi
  offered+=("$name=$candidate")
  if apt-cache madison "$name" | awk '{print $3}' | grep -qxF "$pinned"; then
    exact+=("$package")
  else
    say "warning: $name $pinned is no longer offered, taking $candidate"
    exact+=("$name=$candidate")
  fi
done

if ! install "${exact[@]}"; then
  # A library that is already installed in a newer build refuses the older pinned -dev package.
  say "warning: the pinned versions do not fit what is installed, taking the offered ones: ${offered[*]}"
  if ! install "${offered[@]}"; then
    cat "$log" >&2
    say "apt-get install failed"
    exit 1
  fi
fi
say "installed ${#missing[@]} packages"

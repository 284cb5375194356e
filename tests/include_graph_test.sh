#!/usr/bin/env bash
# Checks that #include lines (and imports of .proto files) follow the layers of the design: a layer includes only
# itself, the layers before it and other libraries. Usage: include_graph_test.sh <repository root>
set -euo pipefail

layers=(base mvcc columnar catalog sql server tools)
# No layer may include these.
outside=(tests golden bench)

# Prints every include below $1 that breaks the rule.
violations() {
  local root="$1" i forbidden
  for i in "${!layers[@]}"; do
    [[ -d $root/${layers[i]} ]] || continue
    forbidden="$(IFS='|'; echo "${layers[*]:i+1}|${outside[*]}")"
    (cd "$root" &&
      grep -rnE --include='*.h' --include='*.cc' --include='*.proto' \
        "^[[:space:]]*(#[[:space:]]*include|import( public| weak)?)[[:space:]]*[<\"](($forbidden)/|.*\.\./)" \
        "${layers[i]}" || true)
  done
}

# The check itself is checked first: it must find planted violations and pass the includes beside them.
planted="$(mktemp -d)"
trap 'rm -rf "$planted"' EXIT
mkdir "$planted"/{base,mvcc,tools}
printf '%s\n' '#include <vector>' '#include "absl/status/status.h"' '#include "base/status.h"' \
  '#include "mvcc/visibility.h"' >"$planted/base/upward.h"
printf '%s\n' 'import "google/protobuf/descriptor.proto";' 'import "catalog/entities.proto";' >"$planted/mvcc/m.proto"
printf '%s\n' '#include "base/status.h"' '#include "server/server.h"' '#include "tests/world.h"' >"$planted/tools/main.cc"
found="$(violations "$planted" | cut -d: -f1-2 | tr '\n' ' ')"
if [[ $found != "base/upward.h:4 mvcc/m.proto:2 tools/main.cc:3 " ]]; then
  echo "this check is broken: of the planted violations it found: $found"
  exit 1
fi

found="$(violations "${1:?usage: include_graph_test.sh <repository root>}")"
if [[ -n $found ]]; then
  echo "includes that do not follow ${layers[*]} (each may use itself and those before it):"
  echo "$found"
  exit 1
fi

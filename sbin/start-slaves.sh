#!/usr/bin/env bash
# The former name of start-workers.sh.
echo "This script is deprecated, use start-workers.sh" >&2
exec "$(dirname "${BASH_SOURCE[0]}")/start-workers.sh" "$@"

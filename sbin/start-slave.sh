#!/usr/bin/env bash
# The former name of start-worker.sh.
echo "This script is deprecated, use start-worker.sh" >&2
exec "$(dirname "${BASH_SOURCE[0]}")/start-worker.sh" "$@"

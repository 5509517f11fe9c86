#!/usr/bin/env bash
# The former name of stop-worker.sh.
echo "This script is deprecated, use stop-worker.sh" >&2
exec "$(dirname "${BASH_SOURCE[0]}")/stop-worker.sh" "$@"

#!/usr/bin/env bash
# The former name of stop-workers.sh.
echo "This script is deprecated, use stop-workers.sh" >&2
exec "$(dirname "${BASH_SOURCE[0]}")/stop-workers.sh" "$@"

#!/usr/bin/env bash
# The former name of workers.sh.
echo "This script is deprecated, use workers.sh" >&2
exec "$(dirname "${BASH_SOURCE[0]}")/workers.sh" "$@"

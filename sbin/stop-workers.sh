#!/usr/bin/env bash
# Stop the workers on each host of conf/workers.
sbin="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
. "$sbin/spark-config.sh"
exec "$sbin/workers.sh" cd "$FIRESTEEL_HOME" \; "$sbin/stop-worker.sh"

#!/usr/bin/env bash
# Start a worker on each host of conf/workers, for the master of this host.
sbin="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
. "$sbin/spark-config.sh"
host="${SPARK_MASTER_HOST:-$(hostname -f 2>/dev/null || uname -n)}"
exec "$sbin/workers.sh" cd "$FIRESTEEL_HOME" \; "$sbin/start-worker.sh" "spark://$host:${SPARK_MASTER_PORT:-7077}"

#!/usr/bin/env bash
# Start the history server on this host.
sbin="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
. "$sbin/spark-config.sh"
exec "$sbin/spark-daemon.sh" start org.apache.spark.deploy.history.HistoryServer 1 "$@"

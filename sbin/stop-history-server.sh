#!/usr/bin/env bash
# Stop the history server that start-history-server.sh started on this host.
sbin="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
. "$sbin/spark-config.sh"
exec "$sbin/spark-daemon.sh" stop org.apache.spark.deploy.history.HistoryServer 1

#!/usr/bin/env bash
# Stop the master that start-master.sh started on this host.
sbin="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
. "$sbin/spark-config.sh"
exec "$sbin/spark-daemon.sh" stop org.apache.spark.deploy.master.Master 1

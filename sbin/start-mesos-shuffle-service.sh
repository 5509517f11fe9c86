#!/usr/bin/env bash
# Start the external shuffle service on this agent of Mesos.
sbin="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
. "$sbin/spark-config.sh"
exec "$sbin/spark-daemon.sh" start org.apache.spark.deploy.mesos.MesosExternalShuffleService 1

#!/usr/bin/env bash
# Stop the external shuffle service that start-mesos-shuffle-service.sh started on this host.
sbin="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
. "$sbin/spark-config.sh"
exec "$sbin/spark-daemon.sh" stop org.apache.spark.deploy.mesos.MesosExternalShuffleService 1

#!/usr/bin/env bash
# Stop the dispatcher that start-mesos-dispatcher.sh started on this host. Its drivers go on.
sbin="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
. "$sbin/spark-config.sh"
exec "$sbin/spark-daemon.sh" stop org.apache.spark.deploy.mesos.MesosClusterDispatcher "${SPARK_MESOS_DISPATCHER_NUM:-1}"

#!/usr/bin/env bash
# Start the dispatcher of drivers on Mesos on this host.
sbin="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
. "$sbin/spark-config.sh"
exec "$sbin/spark-daemon.sh" start org.apache.spark.deploy.mesos.MesosClusterDispatcher \
        "${SPARK_MESOS_DISPATCHER_NUM:-1}" \
        --host "${SPARK_MESOS_DISPATCHER_HOST:-$(hostname -f 2>/dev/null || uname -n)}" \
        --port "${SPARK_MESOS_DISPATCHER_PORT:-7077}" "$@"

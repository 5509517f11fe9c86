#!/usr/bin/env bash
# Stop the workers that start-worker.sh started on this host.
sbin="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
. "$sbin/spark-config.sh"
for ((i = 1; i <= ${SPARK_WORKER_INSTANCES:-1}; i++)); do
        "$sbin/spark-daemon.sh" stop org.apache.spark.deploy.worker.Worker "$i"
done

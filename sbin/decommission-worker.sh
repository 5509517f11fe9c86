#!/usr/bin/env bash
# Decommission the workers of this host: they accept no new work, and their executors move their data to others.
# --block-until-exit waits until they have ended.
sbin="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
. "$sbin/spark-config.sh"
for ((i = 1; i <= ${SPARK_WORKER_INSTANCES:-1}; i++)); do
        "$sbin/spark-daemon.sh" decommission org.apache.spark.deploy.worker.Worker "$i"
done
if [ "${1:-}" = --block-until-exit ]; then
        for ((i = 1; i <= ${SPARK_WORKER_INSTANCES:-1}; i++)); do
                while "$sbin/spark-daemon.sh" status org.apache.spark.deploy.worker.Worker "$i" >/dev/null; do
                        sleep 1
                done
        done
fi

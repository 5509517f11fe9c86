#!/usr/bin/env bash
# Tell the workers of this host to take nothing new and let what they have move away. --block-until-exit waits for
# their end.
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

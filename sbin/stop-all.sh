#!/usr/bin/env bash
# Stop the workers on each host of conf/workers, and the master on this host. --wait waits for this host's workers.
sbin="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
. "$sbin/spark-config.sh"
"$sbin/stop-workers.sh"
"$sbin/stop-master.sh"
if [ "${1:-}" = --wait ]; then
        printf "Waiting for workers to shut down..."
        while "$sbin/spark-daemon.sh" status org.apache.spark.deploy.worker.Worker 1 >/dev/null; do
                printf "."
                sleep 1
        done
        echo
fi

#!/usr/bin/env bash
# Start SPARK_WORKER_INSTANCES workers (default: 1) on this host. Each uses the ports after those of the previous one.
sbin="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
. "$sbin/spark-config.sh"
if [ $# -lt 1 ] || [ "$1" = --help ] || [ "$1" = -h ]; then
        echo "Usage: ./sbin/start-worker.sh <master> [options]"
        "$(firesteel_program)" worker --help 2>&1 | sed 1,2d
        exit 1
fi
master=$1
shift
status=0
for ((i = 1; i <= ${SPARK_WORKER_INSTANCES:-1}; i++)); do
        ports=(--webui-port $((${SPARK_WORKER_WEBUI_PORT:-8081} + i - 1)))
        [ -z "${SPARK_WORKER_PORT:-}" ] || ports+=(--port $((SPARK_WORKER_PORT + i - 1)))
        [ "${SPARK_WORKER_WEBUI_PORT:-}" != 0 ] || ports[1]=0
        "$sbin/spark-daemon.sh" start org.apache.spark.deploy.worker.Worker "$i" "${ports[@]}" "$master" "$@" || status=1
done
exit $status

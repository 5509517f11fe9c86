#!/usr/bin/env bash
# Start the master of a standalone cluster on this host.
sbin="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
. "$sbin/spark-config.sh"
for word in "$@"; do
        if [ "$word" = --help ] || { [ "$word" = -h ] && [ $# -eq 1 ]; }; then
                echo "Usage: ./sbin/start-master.sh [options]"
                "$(firesteel_program)" master --help 2>&1 | sed 1,2d
                exit 1
        fi
done
exec "$sbin/spark-daemon.sh" start org.apache.spark.deploy.master.Master 1 \
        --host "${SPARK_MASTER_HOST:-$(hostname -f 2>/dev/null || uname -n)}" --port "${SPARK_MASTER_PORT:-7077}" \
        --webui-port "${SPARK_MASTER_WEBUI_PORT:-8080}" "$@"

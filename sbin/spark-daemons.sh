#!/usr/bin/env bash
# spark-daemon.sh on each host of conf/workers.
sbin="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
. "$sbin/spark-config.sh"
if [ $# -le 1 ]; then
        echo "Usage: spark-daemons.sh [--config <conf-dir>] [start|stop] command instance-number args..."
        exit 1
fi
exec "$sbin/workers.sh" cd "$FIRESTEEL_HOME" \; "$sbin/spark-daemon.sh" "$@"

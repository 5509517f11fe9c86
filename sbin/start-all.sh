#!/usr/bin/env bash
# Start the master on this host and a worker on each host of conf/workers.
sbin="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
. "$sbin/spark-config.sh"
"$sbin/start-master.sh" && "$sbin/start-workers.sh"

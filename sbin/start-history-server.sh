#!/usr/bin/env bash
# Not available: this version has no history server.
echo "Firesteel has no history server yet; genuine Spark's reads its event logs (spark.eventLog.dir)" >&2
exit 1

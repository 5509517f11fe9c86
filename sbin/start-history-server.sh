#!/usr/bin/env bash
# The history server comes with a later version.
echo "Firesteel has no history server yet; genuine Spark's reads its event logs (spark.eventLog.dir)" >&2
exit 1

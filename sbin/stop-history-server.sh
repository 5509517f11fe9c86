#!/usr/bin/env bash
# The history server comes with a later version.
echo "no org.apache.spark.deploy.history.HistoryServer to stop"

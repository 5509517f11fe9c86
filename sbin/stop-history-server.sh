#!/usr/bin/env bash
# Not available: this version has no history server.
echo "no org.apache.spark.deploy.history.HistoryServer to stop"

/*
 * The use of this machine's processors, memory, disks and network, as /proc counts it since the machine started, and
 * the CPU time of this process. Executors report it with their heartbeats. In a container, /proc is that of the whole
 * machine; network devices are those of the container.
 */
#pragma once

#include "events/events.h"

/* Reads all of it. What cannot be read is 0. Any thread. */
void node_sample_read(struct node_counters *out);

/* Pure: add what the text of a file of /proc says. */
void node_sample_parse_cpu(const char *stat, long ticks_per_second, struct node_counters *out);
void node_sample_parse_memory(const char *meminfo, struct node_counters *out);
void node_sample_parse_disks(const char *diskstats, struct node_counters *out);  /* whole disks, not their partitions */
void node_sample_parse_networks(const char *net_dev, struct node_counters *out); /* all but the loopback */

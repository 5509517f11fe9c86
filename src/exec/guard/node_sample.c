/* See node_sample.h. */
#include "exec/guard/node_sample.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/string_prefix.h"

#include <ctype.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { SECTOR = 512 }; /* the unit of /proc/diskstats, whatever the disk's is */

/* Returns the line behind the next line end. */
static const char *node_next_line(const char *at)
{
        at += strcspn(at, "\n");
        return *at ? at + 1 : at;
}

void node_sample_parse_cpu(const char *stat, long ticks_per_second, struct node_counters *out)
{
        int64_t parts[8] = {0}, all = 0;
        if (sscanf(stat,
                   "cpu %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64,
                   &parts[0], &parts[1], &parts[2], &parts[3], &parts[4], &parts[5], &parts[6], &parts[7]) < 4 ||
            ticks_per_second <= 0)
                return;
        for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
                all += MIN(MAX(parts[i], (int64_t)0), INT64_MAX / 10000);
        out->cpu_all_ms = all * 1000 / ticks_per_second;
        out->cpu_busy_ms = (all - parts[3] - parts[4]) * 1000 / ticks_per_second; /* but idle, and idle with I/O */
}

void node_sample_parse_memory(const char *meminfo, struct node_counters *out)
{
        for (const char *at = meminfo; *at; at = node_next_line(at)) {
                int64_t kib;
                if (sscanf(at, "MemTotal: %" SCNd64, &kib) == 1)
                        out->memory_total = MIN(MAX(kib, (int64_t)0), INT64_MAX >> 10) << 10;
                else if (sscanf(at, "MemAvailable: %" SCNd64, &kib) == 1)
                        out->memory_available = MIN(MAX(kib, (int64_t)0), INT64_MAX >> 10) << 10;
        }
}

/* True for a disk; false for its partitions, and for devices that stand on others. */
static bool node_is_disk(const char *name)
{
        static const char *const others[] = {"loop", "ram", "dm-", "md", "zram", "sr", "fd", "nbd"};
        size_t n = strlen(name);
        for (size_t i = 0; i < ARRAY_SIZE(others); i++)
                if (text_starts_with(name, others[i]))
                        return false;
        if (!n || !isdigit((unsigned char)name[n - 1]))
                return true; /* sda, vdb */
        size_t digits = n;
        while (digits > 0 && isdigit((unsigned char)name[digits - 1]))
                digits--;
        /* nvme0n1 and mmcblk0 are disks, nvme0n1p2, mmcblk0p1 and sda1 are partitions. */
        return digits > 1 && name[digits - 1] != 'p' &&
               (text_starts_with(name, "nvme") || text_starts_with(name, "mmcblk"));
}

void node_sample_parse_disks(const char *diskstats, struct node_counters *out)
{
        for (const char *at = diskstats; *at; at = node_next_line(at)) {
                char name[64];
                int64_t read, written;
                if (sscanf(at, " %*u %*u %63s %*s %*s %" SCNd64 " %*s %*s %*s %" SCNd64, name, &read, &written) == 3 &&
                    node_is_disk(name)) {
                        out->disk_read += MIN(MAX(read, (int64_t)0), INT64_MAX >> 20) * SECTOR;
                        out->disk_written += MIN(MAX(written, (int64_t)0), INT64_MAX >> 20) * SECTOR;
                }
        }
}

void node_sample_parse_networks(const char *net_dev, struct node_counters *out)
{
        for (const char *at = net_dev; *at; at = node_next_line(at)) {
                char name[64];
                int64_t received, sent;
                if (sscanf(at, " %63[^: \n]: %" SCNd64 " %*s %*s %*s %*s %*s %*s %*s %" SCNd64, name, &received,
                           &sent) == 3 &&
                    strcmp(name, "lo") != 0) {
                        out->net_received += MIN(MAX(received, (int64_t)0), INT64_MAX >> 8);
                        out->net_sent += MIN(MAX(sent, (int64_t)0), INT64_MAX >> 8);
                }
        }
}

/* Reads a file of /proc. Returns "" if it is missing or larger than a machine's should be. */
static const char *node_read_file(const char *path, struct buf *text)
{
        enum { MAX_FILE = 1 << 20, STEP = 8192 };
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t n = fd < 0 ? 0 : 1;
        buf_reset(text);
        while (n > 0 && text->len < MAX_FILE) {
                buf_reserve(text, STEP);
                n = read(fd, text->data + text->len, STEP);
                text->len += n > 0 ? (size_t)n : 0;
        }
        if (fd >= 0)
                close(fd);
        return buf_text(text);
}

void node_sample_read(struct node_counters *out)
{
        struct buf text = BUF_INIT;
        struct rusage usage;
        *out = (struct node_counters){.ms = time_of_day_ms()};
        node_sample_parse_cpu(node_read_file("/proc/stat", &text), sysconf(_SC_CLK_TCK), out);
        node_sample_parse_memory(node_read_file("/proc/meminfo", &text), out);
        node_sample_parse_disks(node_read_file("/proc/diskstats", &text), out);
        node_sample_parse_networks(node_read_file("/proc/net/dev", &text), out);
        if (getrusage(RUSAGE_SELF, &usage) == 0)
                out->process_cpu_ms = ((int64_t)usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000 +
                                      (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1000;
        buf_deinit(&text);
}

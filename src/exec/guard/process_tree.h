/*
 * The memory of a process and all its descendants, as Spark's ProcfsMetricsGetter counts it: by the kind of program.
 * Reads /proc. Any thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Bytes. Processes whose name contains "java" or "python" are counted apart. */
struct process_tree {
        int64_t jvm_virtual, jvm_resident;
        int64_t python_virtual, python_resident;
        int64_t other_virtual, other_resident;
};

/* Returns false if the process @pid does not exist or /proc cannot be read. With @alone, only @pid counts. */
bool process_tree_read(int pid, bool alone, struct process_tree *out);

/* One line of /proc/PID/stat. */
struct process_stat {
        int pid, parent;
        char name[64];
        int64_t virtual_bytes, resident_pages;
};

/* Parses the line. A name may hold any character, even parentheses. Returns false if the text is not such a line. */
bool process_stat_parse(const char *text, struct process_stat *out);

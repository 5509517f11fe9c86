/*
 * The instruction sets of this processor, as bits of FST_INSTRUCTION_SETS (firesteel/detail/instruction_sets.h), and
 * the processor that C files are compiled for.
 */
#pragma once

#include <stdint.h>

struct buf;
struct fst_error;

/* The sets that this process can use: processor and operating system have them. 0 on other machines than x86-64. */
uint64_t instruction_sets_here(void);

/* Appends the names of @sets to @out, separated by ", ". */
void instruction_sets_names(uint64_t sets, struct buf *out);

/* Appends what -march=native and -mtune=native depend on: the model of this processor and its sets. */
void instruction_sets_describe_processor(struct buf *out);

/*
 * Finds the processor to compile C files for. @setting is spark.firesteel.cc.march; NULL: auto. @master is the master
 * URL, or NULL. `auto` is the processor of this machine if all tasks run on it (local and local-cluster masters) and it
 * has x86-64 instructions, else `none`. *@march is the value for -march, a literal or @setting, or NULL for the
 * compiler's default. Returns 0, or -EINVAL with @error.
 */
int instruction_sets_march(const char *setting, const char *master, const char **march, struct fst_error *error);

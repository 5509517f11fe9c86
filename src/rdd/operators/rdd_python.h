/* The function of Python that an RDD_PYTHON node computes. */
#pragma once

#include <firesteel/python.h>

struct op;
struct task_run;

struct rdd_python {
        const char *program, *version, *package_path, *package_version, *package_files;
        char **environment, **includes; /* end with NULL */
        fst_bytes command;
        fst_broadcast *broadcasts;
        size_t n_broadcasts;
        fst_accumulator accumulator;
};

/* The operator: sends rows to a worker and takes its rows. @f is borrowed. */
struct op *python_op_new(struct task_run *run, const struct rdd_python *f);

/* The commands of `firesteel operator` for objects of a cluster: list, get, create, delete, … */
#pragma once

#include <stdbool.h>

/* Whether @word is such a command. */
bool operator_cluster_has(const char *word);

/* Runs the command argv[0], which must be one. Returns its exit status. */
int operator_cluster_run(int argc, char **argv);

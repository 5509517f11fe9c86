/* The parts of firesteel simulate that have their own files. */
#pragma once

extern const char simulate_standalone_help[];

/* Runs firesteel simulate --standalone …. Returns its exit status. */
int simulate_standalone(int argc, char **argv);

extern const char simulate_yarn_help[];

/* Runs firesteel simulate --yarn …. Returns its exit status. */
int simulate_yarn(int argc, char **argv);

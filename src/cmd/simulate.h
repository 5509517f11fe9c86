/* The parts of firesteel simulate that are files of their own. */
#pragma once

extern const char simulate_standalone_help[];

/* firesteel simulate --standalone …: its exit status. */
int simulate_standalone(int argc, char **argv);

/*
 * The commands of the one program. It decides by the name it is called by: `spark-submit` is `firesteel submit`; as
 * `firesteel` its first word names the command.
 */
#pragma once

#include <firesteel/types.h>

/* What main does: run the command that @argv names. Its exit status. */
FST_API int firesteel_main(int argc, char **argv);

/* A command. Each is told its own words: argv[0] is the command, argv[1] its first argument. */
int command_submit(int argc, char **argv);
int command_compile(int argc, char **argv);
int command_executor(int argc, char **argv);
int command_simulate(int argc, char **argv);

/* The help of each, with a newline at its end. */
extern const char command_submit_help[];
extern const char command_compile_help[];
extern const char command_executor_help[];
extern const char command_simulate_help[];

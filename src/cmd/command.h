/*
 * The commands of the one program. It decides by the name it is called by: `spark-submit` is `firesteel submit`,
 * `spark-class` is `firesteel class`, Spark's shells have names of their own (command_shell), `entrypoint.sh` is what
 * containers start and `decom.sh` what they run before they are stopped; as `firesteel` its first word names the command.
 */
#pragma once

#include <firesteel/types.h>

#include <stdbool.h>

/* What main does: run the command that @argv names. Its exit status. */
FST_API int firesteel_main(int argc, char **argv);

/* A command. Each is told its own words: argv[0] is the command, argv[1] its first argument. */
int command_submit(int argc, char **argv);
int command_class(int argc, char **argv);
int command_compile(int argc, char **argv);
int command_decommission(int argc, char **argv);
int command_driver(int argc, char **argv);
int command_entrypoint(int argc, char **argv);
int command_executor(int argc, char **argv);
int command_image(int argc, char **argv);
int command_master(int argc, char **argv);
int command_shuffle_service(int argc, char **argv);
int command_simulate(int argc, char **argv);
int command_worker(int argc, char **argv);

/* The help of each, with a newline at its end. */
extern const char command_submit_help[];
extern const char command_class_help[];
extern const char command_compile_help[];
extern const char command_decommission_help[];
extern const char command_driver_help[];
extern const char command_entrypoint_help[];
extern const char command_executor_help[];
extern const char command_image_help[];
extern const char command_master_help[];
extern const char command_shuffle_service_help[];
extern const char command_simulate_help[];
extern const char command_worker_help[];

/* Whether @name is one of Spark's shells (spark-shell, pyspark, sparkR, spark-sql, run-example), and running it. */
bool command_is_shell(const char *name);
int command_shell(const char *name, int argc, char **argv);

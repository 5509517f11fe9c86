/*
 * The commands of the program. Its name selects the command: `spark-submit` is `firesteel submit`, `spark-class` is
 * `firesteel class`, Spark's shells have their own names (command_shell), a container's first process is
 * `entrypoint.sh`, and `decom.sh` runs before a container stops. Under the name `firesteel`, the first argument names
 * the command.
 */
#pragma once

#include <firesteel/types.h>

#include <stdbool.h>

/* Runs the command that @argv names and returns its exit status. Called by main. */
FST_API int firesteel_main(int argc, char **argv);

/* A command. argv[0] is its name, argv[1] its first argument. */
int command_applications(int argc, char **argv);
int command_submit(int argc, char **argv);
int command_class(int argc, char **argv);
int command_compare(int argc, char **argv);
int command_compile(int argc, char **argv);
int command_decommission(int argc, char **argv);
int command_driver(int argc, char **argv);
int command_entrypoint(int argc, char **argv);
int command_executor(int argc, char **argv);
int command_executors(int argc, char **argv);
int command_history_server(int argc, char **argv);
int command_image(int argc, char **argv);
int command_jobs(int argc, char **argv);
int command_logs(int argc, char **argv);
int command_master(int argc, char **argv);
int command_mesos_dispatcher(int argc, char **argv);
int command_mesos_executor(int argc, char **argv);
int command_operator(int argc, char **argv);
int command_resume(int argc, char **argv);
int command_shuffle_service(int argc, char **argv);
int command_simulate(int argc, char **argv);
int command_stages(int argc, char **argv);
int command_worker(int argc, char **argv);
int command_yarn_am(int argc, char **argv);

/* The help texts, each with a newline at its end. */
extern const char command_applications_help[];
extern const char command_submit_help[];
extern const char command_class_help[];
extern const char command_compare_help[];
extern const char command_compile_help[];
extern const char command_decommission_help[];
extern const char command_driver_help[];
extern const char command_entrypoint_help[];
extern const char command_executor_help[];
extern const char command_executors_help[];
extern const char command_history_server_help[];
extern const char command_image_help[];
extern const char command_jobs_help[];
extern const char command_logs_help[];
extern const char command_master_help[];
extern const char command_mesos_dispatcher_help[];
extern const char command_mesos_executor_help[];
extern const char command_operator_help[];
extern const char command_resume_help[];
extern const char command_shuffle_service_help[];
extern const char command_simulate_help[];
extern const char command_stages_help[];
extern const char command_worker_help[];
extern const char command_yarn_am_help[];

/* Prints "Error: PROBLEM WORD" (@word may be NULL) and the help of a command to standard error. Returns 2. */
int command_usage(const char *help, const char *problem, const char *word);

/*
 * Whether @name is one of Spark's shells (spark-shell, pyspark, sparkR, spark-sql, run-example), and the function that
 * runs it.
 */
bool command_is_shell(const char *name);
int command_shell(const char *name, int argc, char **argv);

/*
 * A server as a command: reads the command line, runs the server on a loop until it ends or a signal comes, and returns
 * the exit status of Spark's daemons: 0 after --help, 1 for an error, 128 plus the number of the signal that ended it,
 * or what the server says.
 *
 *      int command_master(int argc, char **argv)
 *      {
 *              struct master_command c = {0};
 *              return daemon_run(&master_daemon, &c, argc, argv);
 *      }
 */
#pragma once

#include "standalone/wire/daemon_conf.h"

#include <uv.h>

struct fst_error;

/* Calls get the owner of daemon_run. */
struct daemon_class {
        const char *log_name, *help;

        /* Returns 0, DAEMON_WORDS_E_HELP, DAEMON_WORDS_E_USAGE with @error, or negative with @error. */
        int (*read)(void *owner, int argc, char **argv, struct fst_error *error);

        /*
         * Starts the server on @loop. When it ends by itself, it calls @ended with @daemon and the exit status.
         * Returns 0, or negative with @error.
         */
        int (*start)(void *owner, uv_loop_t *loop, void (*ended)(void *daemon, int status), void *daemon,
                     struct fst_error *error);

        /* Closes the server, once, if it was started. The loop goes on until its handles are closed. */
        void (*close)(void *owner);

        /* Releases what `read` has set up, whatever it returned. */
        void (*deinit)(void *owner);
};

int daemon_run(const struct daemon_class *class, void *owner, int argc, char **argv);

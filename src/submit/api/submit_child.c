/*
 * Applications whose driver runs on this machine: each is a child process `firesteel submit` with the handle's words.
 * The child execs what the words ask for and connects back to the launcher socket.
 *
 * The handle gets its final state after the process ended and all its messages were read, because a nonzero exit status
 * turns FINISHED into FAILED, and a process that sent no final state is LOST (Spark: ChildProcAppHandle). Everything
 * runs on the loop's thread.
 */
#include "submit/api/submitter.h"

#include "base/mem.h"
#include "process/child.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

/* How long a connection may outlive its process. A process that the application left behind may hold it open. */
#define LINGER_MS 10000

struct child_run {
        fst_submission *app; /* a reference */
        struct child *child; /* NULL: it ended */
        uv_timer_t linger;
        enum launcher_state reported_state; /* the final state that it sent, else UNKNOWN */
        bool connected, disconnected, killed;
        int wait_status;
};

static void submit_child_on_closed(uv_handle_t *handle)
{
        free(handle->data);
}

/* Releases the run's loop handles. No callback of the run follows. */
static void submit_child_drop(struct child_run *run)
{
        fst_submission *app = run->app;
        launcher_server_forget(app->submitter->launcher, run);
        app->run = NULL;
        uv_close((uv_handle_t *)&run->linger, submit_child_on_closed);
}

void submit_child_forget(fst_submission *app)
{
        struct child_run *run = app->run;
        if (!run)
                return;
        if (run->child)
                child_forget(run->child);
        submit_child_drop(run);
}

static int submit_child_exit_status(int wait_status)
{
        return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

static int submit_child_final_state(const struct child_run *run, int status)
{
        if (run->killed)
                return FST_SUBMIT_KILLED;
        if (status != 0 && (run->reported_state == LAUNCHER_UNKNOWN || run->reported_state == LAUNCHER_FINISHED))
                return FST_SUBMIT_FAILED;
        return run->reported_state == LAUNCHER_UNKNOWN ? FST_SUBMIT_LOST : (int)run->reported_state;
}

/* Sets the final state, after the process ended and its messages were read. */
static void submit_child_conclude(struct child_run *run)
{
        fst_submission *app = run->app;
        fst_submitter *s = app->submitter;
        int status = submit_child_exit_status(run->wait_status), state = submit_child_final_state(run, status);
        _cleanup_free_ char *error = NULL;
        if (WIFSIGNALED(run->wait_status))
                error = mem_printf("signal %d (%s) ended the application's process", WTERMSIG(run->wait_status),
                                   strsignal(WTERMSIG(run->wait_status)));
        else if (status)
                error = mem_printf("the application's process ended with status %d", status);
        else if (state == FST_SUBMIT_LOST)
                error = mem_strdup("the application's process ended without reporting a final state");
        submit_child_drop(run);
        pthread_mutex_lock(&s->lock);
        app->exit_status = status;
        app->connected = false;
        if (error && state != FST_SUBMIT_KILLED)
                submission_set_error(app, error);
        submission_set_state(app, state);
        submission_unref(app);
        pthread_mutex_unlock(&s->lock);
}

static void submit_child_on_linger_timeout(uv_timer_t *timer)
{
        submit_child_conclude(timer->data);
}

static void submit_child_on_exit(void *owner, struct child *child, int wait_status, const char *last_words)
{
        struct child_run *run = owner;
        run->child = NULL;
        run->wait_status = wait_status;
        if (!run->connected || run->disconnected)
                submit_child_conclude(run);
        else
                uv_timer_start(&run->linger, submit_child_on_linger_timeout, LINGER_MS, 0);
}

/* --------------------------------------------------------------------------------------------------------- messages */

static void submit_child_on_message(void *client, const struct launcher_message *m)
{
        struct child_run *run = client;
        fst_submission *app = run->app;
        pthread_mutex_lock(&app->submitter->lock);
        if (m->kind == LAUNCHER_HELLO) {
                run->connected = app->connected = true;
                submission_set_state(app, FST_SUBMIT_CONNECTED);
        } else if (m->kind == LAUNCHER_SET_APP_ID && m->text) {
                submission_set_id(app, m->text);
        } else if (m->kind == LAUNCHER_SET_STATE && !launcher_state_is_final(m->state)) {
                submission_set_state(app, (int)m->state);
        } else if (m->kind == LAUNCHER_SET_STATE && run->reported_state == LAUNCHER_UNKNOWN) {
                run->reported_state = m->state;
        }
        pthread_mutex_unlock(&app->submitter->lock);
}

static void submit_child_on_disconnect(void *client)
{
        struct child_run *run = client;
        fst_submitter *s = run->app->submitter;
        run->disconnected = true;
        pthread_mutex_lock(&s->lock);
        run->app->connected = false;
        pthread_mutex_unlock(&s->lock);
        if (!run->child)
                submit_child_conclude(run);
}

const struct launcher_client_ops submit_child_ops = {.on_message = submit_child_on_message,
                                                     .on_disconnect = submit_child_on_disconnect};

/* --------------------------------------------------------------------------------------------------------- starting */

typedef VEC(char *) texts;

static int submit_child_start(struct child_run *run, const char *program, struct fst_error *error)
{
        fst_submission *app = run->app;
        struct launcher_server *launcher = app->submitter->launcher;
        char secret[LAUNCHER_SECRET_SIZE], port_text[64], secret_text[64 + LAUNCHER_SECRET_SIZE];
        int r = launcher_server_expect(launcher, run, secret);
        if (r < 0)
                return error_set(error, r, "cannot create a secret for the application: %s", strerror(-r));
        snprintf(port_text, sizeof(port_text), "_SPARK_LAUNCHER_PORT=%d", launcher_server_port(launcher));
        snprintf(secret_text, sizeof(secret_text), "_SPARK_LAUNCHER_SECRET=%s", secret);
        texts arguments = {0}, environment = {0};
        vec_push(&arguments, (char *)"firesteel");
        vec_push(&arguments, (char *)"submit");
        for (size_t i = 0; i < app->words.len; i++)
                vec_push(&arguments, app->words.data[i]);
        vec_push(&arguments, NULL);
        for (size_t i = 0; app->environment[i]; i++)
                vec_push(&environment, app->environment[i]);
        vec_push(&environment, port_text);
        vec_push(&environment, secret_text);
        vec_push(&environment, NULL);
        struct child_options options = {.file = program,
                                        .arguments = arguments.data,
                                        .environment = environment.data,
                                        .output = app->out_fd,
                                        .errors = app->err_fd,
                                        .ended = submit_child_on_exit,
                                        .owner = run};
        r = child_start(&app->submitter->loop, &options, &run->child, error);
        vec_deinit(&arguments);
        vec_deinit(&environment);
        return r;
}

static void submit_child_spawn(fst_submission *app)
{
        fst_submitter *s = app->submitter;
        struct fst_error error = FST_ERROR_INIT;
        struct child_run *run = new0(struct child_run);
        pthread_mutex_lock(&s->lock);
        _cleanup_free_ char *program = s->program ? mem_strdup(s->program) : NULL;
        bool cancelled = app->cancelled;
        if (cancelled)
                submission_set_state(app, FST_SUBMIT_KILLED);
        pthread_mutex_unlock(&s->lock);
        run->app = app;
        uv_timer_init(&s->loop, &run->linger);
        run->linger.data = run;
        app->run = run;
        int r = cancelled  ? -ECANCELED
                : !program ? error_set(&error, -ENOENT,
                                       "the firesteel program is not beside this library: set its path with "
                                       "fst_submit_set_program")
                           : submit_child_start(run, program, &error);
        if (r < 0) {
                submit_child_drop(run);
                if (!cancelled)
                        submission_fail(app, &error);
                return;
        }
        pthread_mutex_lock(&s->lock);
        submission_ref(app);
        app->pid = (int)child_pid(run->child);
        pthread_mutex_unlock(&s->lock);
}

void submit_child_command(fst_submission *app, enum submit_command kind)
{
        struct child_run *run = app->run;
        if (kind == COMMAND_SPAWN) {
                submit_child_spawn(app);
        } else if (kind == COMMAND_STOP && run) {
                launcher_server_stop_client(app->submitter->launcher, run);
        } else if (kind == COMMAND_KILL && run && run->child) {
                run->killed = true;
                child_kill(run->child, SIGKILL);
        }
}

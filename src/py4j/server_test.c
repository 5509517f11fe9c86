/* The Py4J server on a real connection. */
#include "base/buf.h"
#include "base/mem.h"
#include "net/socket.h"
#include "py4j/gateway.h"
#include "py4j/server.h"

#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#define SECOND ((int64_t)1000000000)

struct py4j_world {
        struct py4j_gateway *gateway;
        struct py4j_server *server;
        int port;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool waiting, released;
static int interrupts;

/* Waits until another call releases it. */
static void job_wait(struct py4j_call *call)
{
        pthread_mutex_lock(&lock);
        waiting = true;
        pthread_cond_broadcast(&changed);
        while (!released)
                pthread_cond_wait(&changed, &lock);
        pthread_mutex_unlock(&lock);
        call->result = py4j_string("released");
}

static void job_release(struct py4j_call *call)
{
        (void)call;
        pthread_mutex_lock(&lock);
        released = true;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
}

static void job_count(struct py4j_call *call)
{
        pthread_mutex_lock(&lock);
        call->result = py4j_int(interrupts);
        pthread_mutex_unlock(&lock);
}

/* The jobs of an interrupted program end. */
static void on_interrupted(void *context)
{
        (void)context;
        pthread_mutex_lock(&lock);
        interrupts++;
        released = true;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
}

static const struct py4j_member job_members[] = {
        {"count", "", job_count, PY4J_STATIC_METHOD},
        {"wait", "", job_wait, PY4J_STATIC_METHOD},
        {"release", "", job_release, PY4J_STATIC_METHOD},
};
static const struct py4j_class job_class = {.name = "org.example.Job", PY4J_MEMBERS(job_members)};

static int setup(void **state)
{
        static const struct py4j_class *const classes[] = {&job_class};
        struct py4j_world *w = new0(struct py4j_world);
        waiting = released = false;
        interrupts = 0;
        w->gateway = py4j_gateway_new(
                &(struct py4j_gateway_options){.classes = classes, .n_classes = 1, .interrupted = on_interrupted});
        assert_int_equal(py4j_server_start(w->gateway, "s3cret", &w->server, &w->port, NULL), 0);
        *state = w;
        return 0;
}

static int teardown(void **state)
{
        struct py4j_world *w = *state;
        py4j_server_stop(w->server);
        py4j_gateway_free(w->gateway);
        free(w);
        return 0;
}

static int dial(struct py4j_world *w)
{
        int fd = socket_connect("127.0.0.1", w->port, 10 * SECOND, NULL, NULL);
        assert_true(fd >= 0);
        return fd;
}

static void say(int fd, const char *text)
{
        assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

/* Reads up to the next line end, or the end of the connection. */
static void hear(int fd, const char *expected)
{
        char line[256];
        size_t n = 0;
        while (n < sizeof(line) - 1) {
                assert_int_equal(socket_wait(fd, POLLIN, 30 * SECOND, NULL), 1);
                ssize_t r = read(fd, line + n, 1);
                if (r <= 0 || line[n] == '\n')
                        break;
                n++;
        }
        line[n] = 0;
        assert_string_equal(line, expected);
}

static void executes_commands_after_the_secret(void **state)
{
        int fd = dial(*state);
        say(fd, "A\ns3cret\n");
        hear(fd, "!yv");
        say(fd, "i\njava.util.ArrayList\ne\nc\no0\nsize\ne\n");
        hear(fd, "!ylo0");
        hear(fd, "!yi0");
        close(fd);
}

static void refuses_connection_without_the_secret(void **state)
{
        static const char *const greetings[] = {"A\nguess\n", "i\njava.util.ArrayList\ne\n", "AA\ns3cret\n"};
        for (size_t i = 0; i < ARRAY_SIZE(greetings); i++) {
                int fd = dial(*state);
                say(fd, greetings[i]);
                hear(fd, "!xsPy4J: the connection did not prove the secret");
                hear(fd, "");
                close(fd);
        }
        assert_int_equal(py4j_gateway_objects(((struct py4j_world *)*state)->gateway), 0);
}

static void refuses_greeting_without_end(void **state)
{
        int fd = dial(*state);
        char text[PY4J_MAX_GREETING + 2];
        memset(text, 'A', sizeof(text));
        text[1] = '\n';
        text[sizeof(text) - 1] = 0;
        say(fd, text);
        hear(fd, "!xsPy4J: the connection did not prove the secret");
        close(fd);
}

static void closes_connection_after_malformed_command(void **state)
{
        int fd = dial(*state);
        say(fd, "A\ns3cret\n");
        hear(fd, "!yv");
        say(fd, "c\no1\nf\nq\ne\n");
        hear(fd, "!xspy4j.Py4JException: 'q' is not a type of Py4J");
        hear(fd, "");
        close(fd);
}

/* A signal handler of Python cancels the job that its own thread waits for. */
static void interrupted_program_is_answered_while_its_command_runs(void **state)
{
        int fd = dial(*state);
        say(fd, "A\ns3cret\n");
        hear(fd, "!yv");
        say(fd, "c\nz:org.example.Job\nwait\ne\n");
        pthread_mutex_lock(&lock);
        while (!waiting)
                pthread_cond_wait(&changed, &lock);
        pthread_mutex_unlock(&lock);
        say(fd, "c\nz:org.example.Job\nrelease\ne\n");
        hear(fd, "!yv");
        hear(fd, "!ysreleased");
        close(fd);
}

/* Python closes the connection if its signal handler cannot read the answer inside the interrupted read. */
static void close_of_busy_connection_interrupts(void **state)
{
        int fd = dial(*state);
        say(fd, "A\ns3cret\n");
        hear(fd, "!yv");
        say(fd, "c\nz:org.example.Job\nwait\ne\n");
        pthread_mutex_lock(&lock);
        while (!waiting)
                pthread_cond_wait(&changed, &lock);
        assert_int_equal(interrupts, 0);
        pthread_mutex_unlock(&lock);
        say(fd, "c\nz:org.example.Job\ncount\ne\n");
        close(fd);
        pthread_mutex_lock(&lock);
        while (!released)
                pthread_cond_wait(&changed, &lock);
        assert_int_equal(interrupts, 1);
        pthread_mutex_unlock(&lock);
}

static void close_of_idle_connection_interrupts_nothing(void **state)
{
        int idle = dial(*state), other = dial(*state);
        say(idle, "A\ns3cret\n");
        hear(idle, "!yv");
        say(other, "A\ns3cret\n");
        hear(other, "!yv");
        say(idle, "c\nz:org.example.Job\ncount\ne\n");
        hear(idle, "!yi0");
        say(other, "c\nz:org.example.Job\nwait\ne\n");
        pthread_mutex_lock(&lock);
        while (!waiting)
                pthread_cond_wait(&changed, &lock);
        pthread_mutex_unlock(&lock);
        shutdown(idle, SHUT_RDWR);
        hear(idle, "");
        close(idle);
        int third = dial(*state);
        say(third, "A\ns3cret\n");
        hear(third, "!yv");
        say(third, "c\nz:org.example.Job\ncount\ne\n");
        hear(third, "!yi0");
        say(third, "c\nz:org.example.Job\nrelease\ne\n");
        hear(third, "!yv");
        hear(other, "!ysreleased");
        close(other);
        close(third);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(executes_commands_after_the_secret, setup, teardown),
                cmocka_unit_test_setup_teardown(refuses_connection_without_the_secret, setup, teardown),
                cmocka_unit_test_setup_teardown(refuses_greeting_without_end, setup, teardown),
                cmocka_unit_test_setup_teardown(closes_connection_after_malformed_command, setup, teardown),
                cmocka_unit_test_setup_teardown(interrupted_program_is_answered_while_its_command_runs, setup,
                                                teardown),
                cmocka_unit_test_setup_teardown(close_of_busy_connection_interrupts, setup, teardown),
                cmocka_unit_test_setup_teardown(close_of_idle_connection_interrupts_nothing, setup, teardown),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Runs a command one or more times, and prints time and memory of each run.
 *
 *      measure [-n RUNS] [-s MILLISECONDS] [-o FILE] [-e FILE] -- COMMAND [ARGUMENT …]
 *
 * One line of JSON for each run:
 *      start           start time, in seconds of CLOCK_MONOTONIC
 *      wall            seconds from before the process was made until it was reaped
 *      user, system    CPU seconds of it and of the descendants that it waited for
 *      max_rss_kb      the greatest resident set of a single process among these (getrusage)
 *      peak_anon_kb    the greatest sum of RssAnon and RssShmem over it and its descendants, sampled every
 *                      MILLISECONDS (only with -s)
 *      status          the exit status, as the shell's $?
 *
 * The output of the command is appended to the files of -o and -e (default: /dev/null). This is a small program and not
 * a function of the calling script, because until the exec the kernel counts the parent's resident set as the child's,
 * so a large parent cannot measure a small child.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"

extern char **environ;

/* Reads the file into @buffer; "" if it does not exist. */
static void read_proc(int pid, const char *name, char *buffer, size_t size)
{
        char path[64];
        snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t n = fd < 0 ? 0 : read(fd, buffer, size - 1);
        buffer[n > 0 ? n : 0] = 0;
        if (fd >= 0)
                close(fd);
}

static long field(const char *text, const char *name)
{
        const char *at = strstr(text, name);
        return at ? strtol(at + strlen(name), NULL, 10) : 0;
}

/* Only children of the first thread are found: the kernel lists those of other threads separately. */
static long anonymous_kb(int pid, int depth)
{
        char text[8192], path[32];

        read_proc(pid, "status", text, sizeof(text));
        long sum = field(text, "RssAnon:") + field(text, "RssShmem:");
        if (depth == 0)
                return sum;
        snprintf(path, sizeof(path), "task/%d/children", pid);
        read_proc(pid, path, text, sizeof(text));
        for (char *at = text, *end; strtol(at, &end, 10) > 0; at = end)
                sum += anonymous_kb((int)strtol(at, NULL, 10), depth - 1);
        return sum;
}

/* Returns the greatest sum until the process ends. */
static long watch(int pid, int interval)
{
        long peak = 0;
        int fd = (int)syscall(SYS_pidfd_open, pid, 0);
        if (fd < 0) {
                perror("measure: pidfd_open");
                return -1;
        }
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        do {
                long sum = anonymous_kb(pid, 3);
                if (sum > peak)
                        peak = sum;
        } while (poll(&wait, 1, interval) == 0);
        close(fd);
        return peak;
}

static int measure(char **command, posix_spawn_file_actions_t *files, int interval)
{
        struct rusage used;
        pid_t pid;
        int status;
        long peak = -1;

        double start = now();
        int failed = posix_spawnp(&pid, command[0], files, NULL, command, environ);
        if (failed) {
                fprintf(stderr, "measure: %s: %s\n", command[0], strerror(failed));
                return 127;
        }
        if (interval > 0)
                peak = watch(pid, interval);
        while (wait4(pid, &status, 0, &used) < 0)
                if (errno != EINTR)
                        return 127;
        double wall = now() - start;
        status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        printf("{\"start\": %.6f, \"wall\": %.6f, \"user\": %.6f, \"system\": %.6f, \"max_rss_kb\": %ld, ", start, wall,
               (double)used.ru_utime.tv_sec + (double)used.ru_utime.tv_usec * 1e-6,
               (double)used.ru_stime.tv_sec + (double)used.ru_stime.tv_usec * 1e-6, used.ru_maxrss);
        if (peak >= 0)
                printf("\"peak_anon_kb\": %ld, ", peak);
        printf("\"status\": %d}\n", status);
        return 0;
}

int main(int argc, char **argv)
{
        const char *output = "/dev/null", *errors = "/dev/null";
        int runs = 1, interval = 0;

        for (int option; (option = getopt(argc, argv, "+n:s:o:e:")) != -1;) {
                switch (option) {
                case 'n':
                        runs = atoi(optarg);
                        break;
                case 's':
                        interval = atoi(optarg);
                        break;
                case 'o':
                        output = optarg;
                        break;
                case 'e':
                        errors = optarg;
                        break;
                default:
                        return 2;
                }
        }
        if (optind == argc) {
                fputs("usage: measure [-n RUNS] [-s MILLISECONDS] [-o FILE] [-e FILE] -- COMMAND [ARGUMENT …]\n",
                      stderr);
                return 2;
        }
        posix_spawn_file_actions_t files;
        posix_spawn_file_actions_init(&files);
        posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_addopen(&files, 1, output, O_WRONLY | O_CREAT | O_APPEND, 0644);
        posix_spawn_file_actions_addopen(&files, 2, errors, O_WRONLY | O_CREAT | O_APPEND, 0644);
        int result = 0;
        for (int i = 0; i < runs && result == 0; i++)
                result = measure(argv + optind, &files, interval);
        posix_spawn_file_actions_destroy(&files);
        return result;
}

/* Fault points. A missing or closed listener does not disarm them: each pass connects again. */
#include "base/fault_point.h"

#include "base/mem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

bool fault_points_armed;

static const char *executor;
static struct sockaddr_un listener = {.sun_family = AF_UNIX};

static _Thread_local int connection = -1; /* closed with the process, because executor threads live as long */

static const char *const names[] = {
        [FAULT_REGISTER] = "register",   [FAULT_MAP] = "map",       [FAULT_FETCH] = "fetch",
        [FAULT_REDUCE] = "reduce",       [FAULT_COMMIT] = "commit", [FAULT_CACHED_READ] = "cached_read",
        [FAULT_BROADCAST] = "broadcast",
};

void fault_points_init(const char *executor_id)
{
        const char *path = getenv("FIRESTEEL_FAULT_POINTS");
        if (!path || !*path || strlen(path) >= sizeof(listener.sun_path))
                return;
        memcpy(listener.sun_path, path, strlen(path) + 1);
        executor = executor_id;
        fault_points_armed = true;
}

static bool fault_point_meet(const char *line, size_t n)
{
        char answer;
        ssize_t r;
        if (connection < 0) {
                connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
                if (connect(connection, (struct sockaddr *)&listener, sizeof(listener)) < 0)
                        return false;
        }
        if (send(connection, line, n, MSG_NOSIGNAL) != (ssize_t)n)
                return false;
        do
                r = recv(connection, &answer, 1, 0);
        while (r < 0 && errno == EINTR);
        return r == 1;
}

void fault_point_passed(enum fault_place place)
{
        char line[128];
        int n = snprintf(line, sizeof(line), "%s %d %s\n", executor, (int)getpid(), names[place]);
        int before = errno;
        if (!fault_point_meet(line, MIN((size_t)n, sizeof(line) - 1))) {
                close(connection);
                connection = -1;
        }
        errno = before;
}

/* Opens standard streams that are closed; see standard_streams.h. */
#include "process/standard_streams.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

void standard_streams_open(void)
{
        for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
                if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF)
                        continue;
                /* The lowest free descriptor is @fd, because the lower ones are open. */
                if (open("/dev/null", fd == STDIN_FILENO ? O_RDONLY : O_RDWR) != fd)
                        abort();
        }
}

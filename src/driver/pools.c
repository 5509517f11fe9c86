/* See pools.h. */
#include "driver/pools.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"

#include <stdio.h>

static int pools_read_file(FILE *file, const char *path, struct pool_file *pools, struct fst_error *error)
{
        _cleanup_free_ char *text = mem_alloc((size_t)POOL_FILE_MAX + 1);
        size_t length = fread(text, 1, (size_t)POOL_FILE_MAX + 1, file);
        if (ferror(file))
                return error_errno(error, "cannot read %s", path);
        return pool_file_parse(pools, text, length, path, error);
}

int pools_read(const char *path, struct pool_file *pools, struct fst_error *error)
{
        const char *conf_dir = getenv("SPARK_CONF_DIR");
        _cleanup_free_ char *fallback = conf_dir ? mem_printf("%s/fairscheduler.xml", conf_dir) : NULL;
        const char *name = path ? path : fallback;
        if (name && strncmp(name, "file:", 5) == 0)
                for (name += 5; name[0] == '/' && name[1] == '/'; name++)
                        ;
        FILE *file = name ? fopen(name, "re") : NULL;
        if (!file && path)
                return error_errno(error, "spark.scheduler.allocation.file: cannot open %s", path);
        if (!file) {
                log_warn("FairSchedulableBuilder",
                         "Fair Scheduler configuration file not found so jobs will be scheduled in FIFO order. To use "
                         "fair scheduling, configure pools in fairscheduler.xml or set spark.scheduler.allocation.file "
                         "to a file that contains the configuration.");
                return 0;
        }
        int r = pools_read_file(file, name, pools, error);
        fclose(file);
        return r;
}

/* See mesos_master.h. */
#include "mesos/conf/mesos_master.h"

#include "base/error.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "conf/conf.h"
#include "net/socket.h"

#include <string.h>

#define MAX_FILE 65536

void mesos_master_deinit(struct mesos_master *master)
{
        free(master->address);
        free(master->servers);
        free(master->user_password);
        free(master->path);
        free(master->text);
        *master = (struct mesos_master){0};
}

static int mesos_master_parse_address(const char *text, struct mesos_master *out, struct fst_error *error)
{
        struct host_port parts;

        if (strchr(text, ','))
                return error_set(error, -EINVAL,
                                 "\"%s\" has a comma: write the address of one master as mesos://host:port, which leads "
                                 "to the others, or ZooKeeper's servers as mesos://zk://host:port,host:port/path",
                                 text);
        if (host_port_parse(text, &parts, NULL) < 0)
                return error_set(error, -EINVAL,
                                 "\"%s\" is not the address of a Mesos master: write mesos://host:port (often port "
                                 "5050), mesos://zk://host:port,…/path or mesos://file:///path",
                                 text);
        *out = (struct mesos_master){
                .kind = MESOS_MASTER_ADDRESS, .address = mem_strdup(text), .text = mem_strdup(text)};
        return 0;
}

/* @text follows "zk://". */
static int mesos_master_parse_zookeeper(const char *text, struct mesos_master *out, struct fst_error *error)
{
        const char *slash = strchr(text, '/'),
                   *at = slash ? memrchr(text, '@', (size_t)(slash - text)) : strrchr(text, '@');
        const char *servers = at ? at + 1 : text;
        size_t n = slash ? (size_t)(slash - servers) : strlen(servers);

        if (at && !memchr(text, ':', (size_t)(at - text)))
                return error_set(error, -EINVAL,
                                 "the user of zk://…@%s has no password: write zk://user:password@host:port/path",
                                 servers);
        if (n == 0)
                return error_set(error, -EINVAL, "zk://%s names no ZooKeeper server: write zk://host:port,…/path",
                                 text);
        if (!slash || !slash[1])
                return error_set(error, -EINVAL,
                                 "zk://%s has no path: append that of the masters' option --zk, such as /mesos",
                                 servers);
        *out = (struct mesos_master){.kind = MESOS_MASTER_ZOOKEEPER,
                                     .servers = mem_strndup(servers, n),
                                     .user_password = at ? mem_strndup(text, (size_t)(at - text)) : NULL,
                                     .path = mem_strdup(slash),
                                     .text = mem_printf("zk://%s", servers)};
        for (size_t len = strlen(out->path); len > 0 && out->path[len - 1] == '/'; len--)
                out->path[len - 1] = '\0';
        return 0;
}

static int mesos_master_parse_inline(const char *text, struct mesos_master *out, struct fst_error *error)
{
        return text_starts_with(text, "zk://") ? mesos_master_parse_zookeeper(text + strlen("zk://"), out, error)
                                               : mesos_master_parse_address(text, out, error);
}

int mesos_master_parse(const char *text, struct mesos_master *out, struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf content = BUF_INIT;

        if (text_starts_with(text, "mesos://"))
                text += strlen("mesos://");
        if (!text_starts_with(text, "file://"))
                return mesos_master_parse_inline(text, out, error);
        text += strlen("file://");
        int r = file_text_read(text, MAX_FILE, &content, error);
        if (r < 0)
                return error_wrap(error, r, "reading the Mesos master");
        r = mesos_master_parse_inline(conf_trim(content.data ? content.data : (char[]){""}), out, error);
        return r < 0 ? error_wrap(error, r, "in the file %s", text) : 0;
}

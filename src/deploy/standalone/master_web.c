/* Who asks a master by HTTP: the REST server, on the functions of master_server.h; see master_server_internal.h. */
#include "base/error.h"
#include "base/mem.h"
#include "deploy/standalone/master_server_internal.h"
#include "deploy/standalone/rest_server.h"
#include "net/socket.h"

static const struct master *state(void *owner)
{
        return master_server_state(owner);
}

static void submit(void *owner, const Firesteel__Standalone__DriverDescription *driver, rest_replied *replied,
                   void *context)
{
        master_server_submit(owner, driver, replied, context);
}

static void kill_driver(void *owner, const char *driver_id, rest_replied *replied, void *context)
{
        master_server_kill(owner, driver_id, replied, context);
}

static void kill_all(void *owner, rest_replied *replied, void *context)
{
        master_server_kill_all(owner, replied, context);
}

static void clear(void *owner, rest_replied *replied, void *context)
{
        master_server_clear(owner, replied, context);
}

static const struct rest_master_ops rest_ops = {
        .state = state,
        .submit = submit,
        .kill = kill_driver,
        .kill_all = kill_all,
        .clear = clear,
};

static int start_rest(struct master_server *s, struct fst_error *error)
{
        const struct fst_conf *conf = &s->conf->conf;
        bool enabled = false;
        char text[300];
        int r = conf_get_bool(conf, "spark.master.rest.enabled", &enabled, error);
        if (r < 0 || !enabled)
                return r;
        r = rest_server_new(conf, s->url, &rest_ops, s, &s->rest, error);
        if (r == 0)
                r = rest_server_listen(s->rest, s->loop, s->conf->host, error);
        if (r == 0)
                s->rest_url = mem_printf("spark://%s",
                                         host_port_text(s->conf->host, rest_server_port(s->rest), text, sizeof(text)));
        return r;
}

int master_web_start(struct master_server *s, struct fst_error *error)
{
        return start_rest(s, error);
}

void master_web_stop(struct master_server *s)
{
        rest_server_free(steal(s->rest));
        free(steal(s->rest_url));
}

/* The module libfiresteel-sasl.so; see sasl.h. Cyrus SASL puts a length of four bytes before what it protects, which
 * Hadoop's frames do not have: `encode` cuts it off and `decode` adds it.
 */
#include "hadoop/sasl.h"

#include <pthread.h>
#include <sasl/sasl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SASL_LENGTH_PREFIX 4
/* The most that the mechanisms can announce. Hadoop's servers protect an answer as one packet, whatever its size. */
#define SASL_MAX_PACKET 0xffffff

struct sasl_client {
        sasl_conn_t *conn;
        sasl_callback_t callbacks[5];
        char *mechanism, *user;
        sasl_secret_t *secret; /* the password */
        char *framed;          /* of the last decode */
        bool started, complete;
};

static int sasl_on_name(void *context, int id, const char **result, unsigned *len)
{
        const struct sasl_client *c = context;
        *result = c->user;
        if (len)
                *len = (unsigned)strlen(c->user);
        return SASL_OK;
}

/* Hadoop's tokens have no authorization id: an empty one is left out. */
static int sasl_on_authorization(void *context, int id, const char **result, unsigned *len)
{
        *result = "";
        if (len)
                *len = 0;
        return SASL_OK;
}

static int sasl_on_secret(sasl_conn_t *conn, void *context, int id, sasl_secret_t **out)
{
        const struct sasl_client *c = context;
        *out = c->secret;
        return SASL_OK;
}

static int sasl_on_realm(void *context, int id, const char **realms, const char **result)
{
        *result = realms && realms[0] ? realms[0] : "";
        return SASL_OK;
}

/* The library calls with a function type for each id. */
#define SASL_PROC(f) ((int (*)(void))(void (*)(void))(f))

static int sasl_message(sasl_conn_t *conn, int code, char *message, size_t size)
{
        const char *detail = conn ? sasl_errdetail(conn) : NULL;
        snprintf(message, size, "%s", detail ? detail : sasl_errstring(code, NULL, NULL));
        return -1;
}

static void sasl_module_close(struct sasl_client *c)
{
        if (!c)
                return;
        if (c->conn)
                sasl_dispose(&c->conn);
        if (c->secret) {
                explicit_bzero(c->secret->data, c->secret->len);
                free(c->secret);
        }
        free(c->mechanism);
        free(c->user);
        free(c->framed);
        free(c);
}

/* DIGEST-MD5 shares a cache between the connections of all threads. */
static void *sasl_mutex_new(void)
{
        pthread_mutex_t *mutex = malloc(sizeof(*mutex));
        if (mutex)
                pthread_mutex_init(mutex, NULL);
        return mutex;
}

static int sasl_mutex_acquire(void *mutex)
{
        return pthread_mutex_lock(mutex) == 0 ? SASL_OK : SASL_FAIL;
}

static int sasl_mutex_release(void *mutex)
{
        return pthread_mutex_unlock(mutex) == 0 ? SASL_OK : SASL_FAIL;
}

static void sasl_mutex_destroy(void *mutex)
{
        pthread_mutex_destroy(mutex);
        free(mutex);
}

static void sasl_module_init(void)
{
        sasl_set_mutex(sasl_mutex_new, sasl_mutex_acquire, sasl_mutex_release, sasl_mutex_destroy);
        sasl_client_init(NULL);
}

static int sasl_client_fill(struct sasl_client *c, const struct sasl_client_options *o)
{
        const char *password = o->password ? o->password : "";
        const size_t len = strlen(password);
        c->mechanism = strdup(o->mechanism);
        c->user = strdup(o->user ? o->user : "");
        c->secret = malloc(sizeof(*c->secret) + len + 1);
        if (!c->mechanism || !c->user || !c->secret)
                return -1;
        c->secret->len = len;
        memcpy(c->secret->data, password, len + 1);
        int n = 0;
        if (o->user) {
                c->callbacks[n++] = (sasl_callback_t){SASL_CB_AUTHNAME, SASL_PROC(sasl_on_name), c};
                c->callbacks[n++] = (sasl_callback_t){SASL_CB_USER, SASL_PROC(sasl_on_authorization), c};
                c->callbacks[n++] = (sasl_callback_t){SASL_CB_PASS, SASL_PROC(sasl_on_secret), c};
                c->callbacks[n++] = (sasl_callback_t){SASL_CB_GETREALM, SASL_PROC(sasl_on_realm), c};
        }
        c->callbacks[n] = (sasl_callback_t){SASL_CB_LIST_END, NULL, NULL};
        return 0;
}

static int sasl_module_open(const struct sasl_client_options *o, struct sasl_client **out, char *message, size_t size)
{
        static pthread_once_t once = PTHREAD_ONCE_INIT;
        static const sasl_security_properties_t properties = {
                .max_ssf = 256, .maxbufsize = SASL_MAX_PACKET, .security_flags = SASL_SEC_NOANONYMOUS};
        pthread_once(&once, sasl_module_init);
        struct sasl_client *c = calloc(1, sizeof(*c));
        if (!c || sasl_client_fill(c, o) < 0) {
                sasl_module_close(c);
                snprintf(message, size, "no memory");
                return -1;
        }
        int r = sasl_client_new(o->service, o->host, NULL, NULL, c->callbacks, 0, &c->conn);
        if (r == SASL_OK)
                r = sasl_setprop(c->conn, SASL_SEC_PROPS, &properties);
        if (r != SASL_OK) {
                sasl_message(c->conn, r, message, size);
                sasl_module_close(c);
                return -1;
        }
        *out = c;
        return 0;
}

static int sasl_module_step(struct sasl_client *c, const void *in, size_t len, const void **out, size_t *out_len,
                            char *message, size_t size)
{
        const char *answer = NULL, *chosen;
        unsigned n = 0;
        int r = SASL_OK;
        if (!c->started) {
                r = sasl_client_start(c->conn, c->mechanism, NULL, &answer, &n, &chosen);
                if (r == SASL_NOMECH) {
                        snprintf(message, size, "Cyrus SASL has no mechanism %s (install Debian's %s)", c->mechanism,
                                 strcmp(c->mechanism, "GSSAPI") == 0 ? "libsasl2-modules-gssapi-mit"
                                                                     : "libsasl2-modules");
                        return -1;
                }
                c->started = true;
        }
        if ((r == SASL_OK || r == SASL_CONTINUE) && in)
                r = sasl_client_step(c->conn, in, (unsigned)len, NULL, &answer, &n);
        if (r != SASL_OK && r != SASL_CONTINUE)
                return sasl_message(c->conn, r, message, size);
        c->complete = r == SASL_OK;
        *out = answer;
        *out_len = answer ? n : 0;
        return 0;
}

static bool sasl_module_is_complete(const struct sasl_client *c)
{
        return c->complete;
}

static size_t sasl_module_encode_limit(struct sasl_client *c)
{
        const void *ssf = NULL, *most = NULL;
        if (sasl_getprop(c->conn, SASL_SSF, &ssf) != SASL_OK || !ssf || *(const sasl_ssf_t *)ssf == 0)
                return 0;
        if (sasl_getprop(c->conn, SASL_MAXOUTBUF, &most) != SASL_OK || !most || *(const unsigned *)most == 0)
                return 32768;
        return *(const unsigned *)most;
}

static int sasl_module_encode(struct sasl_client *c, const void *in, size_t len, const void **out, size_t *out_len,
                              char *message, size_t size)
{
        const char *protected_bytes;
        unsigned n;
        const int r = sasl_encode(c->conn, in, (unsigned)len, &protected_bytes, &n);
        if (r != SASL_OK || n < SASL_LENGTH_PREFIX)
                return sasl_message(c->conn, r, message, size);
        *out = protected_bytes + SASL_LENGTH_PREFIX;
        *out_len = n - SASL_LENGTH_PREFIX;
        return 0;
}

static int sasl_module_decode(struct sasl_client *c, const void *in, size_t len, const void **out, size_t *out_len,
                              char *message, size_t size)
{
        const char *plain;
        unsigned n;
        char *framed = realloc(c->framed, len + SASL_LENGTH_PREFIX);
        if (!framed) {
                snprintf(message, size, "no memory");
                return -1;
        }
        c->framed = framed;
        for (int i = 0; i < SASL_LENGTH_PREFIX; i++)
                framed[i] = (char)(len >> (8 * (SASL_LENGTH_PREFIX - 1 - i)));
        memcpy(framed + SASL_LENGTH_PREFIX, in, len);
        const int r = sasl_decode(c->conn, framed, (unsigned)(len + SASL_LENGTH_PREFIX), &plain, &n);
        if (r != SASL_OK)
                return sasl_message(c->conn, r, message, size);
        *out = plain;
        *out_len = n;
        return 0;
}

__attribute__((visibility("default"))) const struct sasl_ops *firesteel_sasl_module(void);

const struct sasl_ops *firesteel_sasl_module(void)
{
        static const struct sasl_ops ops = {.abi = SASL_ABI,
                                            .open = sasl_module_open,
                                            .close = sasl_module_close,
                                            .step = sasl_module_step,
                                            .is_complete = sasl_module_is_complete,
                                            .encode_limit = sasl_module_encode_limit,
                                            .encode = sasl_module_encode,
                                            .decode = sasl_module_decode};
        return &ops;
}

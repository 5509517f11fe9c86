/*
 * See hadoop_security.h. Hadoop maps principals to short names by rules (hadoop.security.auth_to_local). This file
 * implements only the default rule, for every realm.
 */
#include "submit/options/hadoop_security.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "io/fs/hadoop_conf.h"
#include "net/kerberos.h"

#include <fcntl.h>
#include <pwd.h>
#include <strings.h>
#include <unistd.h>

#define MAX_CACHE 65536 /* starts with the principal */

char *kerberos_short_name(const char *principal)
{
        return mem_strndup(principal, strcspn(principal, "/@"));
}

/* ------------------------------------------------------------------------------------------------- existing tickets */

struct reader {
        const unsigned char *data;
        unsigned long left;
        bool bad;
};

static const unsigned char *hadoop_security_take(struct reader *r, unsigned long n)
{
        const unsigned char *here = r->data;
        if (r->bad || n > r->left) {
                r->bad = true;
                return NULL;
        }
        r->data += n;
        r->left -= n;
        return here;
}

static unsigned long hadoop_security_take_number(struct reader *r, int bytes)
{
        const unsigned char *p = hadoop_security_take(r, (unsigned long)bytes);
        unsigned long value = 0;
        for (int i = 0; p && i < bytes; i++)
                value = value << 8 | p[i];
        return value;
}

char *kerberos_cache_principal(const unsigned char *data, unsigned long len)
{
        struct reader r = {.data = data, .left = len};
        unsigned long format = hadoop_security_take_number(&r, 2);
        if (format != 0x0503 && format != 0x0504)
                return NULL;
        if (format == 0x0504)
                hadoop_security_take(&r, hadoop_security_take_number(&r, 2)); /* header fields */
        hadoop_security_take_number(&r, 4);                                   /* name type */
        unsigned long components = hadoop_security_take_number(&r, 4), realm_len = hadoop_security_take_number(&r, 4);
        const unsigned char *realm = hadoop_security_take(&r, realm_len);
        _cleanup_(buf_deinit) struct buf name = BUF_INIT;
        for (unsigned long i = 0; i < components && !r.bad; i++) {
                unsigned long n = hadoop_security_take_number(&r, 4);
                const unsigned char *part = hadoop_security_take(&r, n);
                if (!part)
                        break;
                if (i > 0)
                        buf_putc(&name, '/');
                buf_append(&name, part, n);
        }
        if (r.bad || components == 0)
                return NULL;
        buf_putc(&name, '@');
        buf_append(&name, realm, realm_len);
        return strlen(name.data) == name.len ? buf_steal(&name) : NULL;
}

static char *hadoop_security_ticket_user(const char *(*env)(const char *name))
{
        const char *named = env("KRB5CCNAME");
        _cleanup_free_ char *usual = mem_printf("/tmp/krb5cc_%u", (unsigned)getuid());
        if (named && strncmp(named, "FILE:", 5) == 0)
                named += 5;
        int fd = open(named ? named : usual, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
                return NULL;
        _cleanup_free_ unsigned char *data = mem_alloc(MAX_CACHE);
        ssize_t n = read(fd, data, MAX_CACHE);
        close(fd);
        _cleanup_free_ char *principal = n > 0 ? kerberos_cache_principal(data, (unsigned long)n) : NULL;
        return principal ? kerberos_short_name(principal) : NULL;
}

static char *hadoop_security_account_name(void)
{
        const struct passwd *account = getpwuid(getuid());
        return account ? mem_strdup(account->pw_name) : mem_printf("%u", (unsigned)getuid());
}

int hadoop_security_init(struct hadoop_security *s, const char *(*env)(const char *name), struct fst_error *error)
{
        _cleanup_(hadoop_conf_deinit) struct hadoop_conf conf = {0};
        *s = (struct hadoop_security){0};
        hadoop_conf_init(&conf, env);
        int r = hadoop_conf_load(&conf, NULL, error);
        if (r < 0)
                return r;
        _cleanup_free_ char *how = hadoop_conf_get(&conf, "hadoop.security.authentication");
        s->enabled = how && strcasecmp(how, "kerberos") == 0;
        if (!s->enabled)
                return 0;
        s->user = hadoop_security_ticket_user(env);
        if (!s->user)
                s->user = hadoop_security_account_name();
        return 0;
}

void hadoop_security_deinit(struct hadoop_security *s)
{
        free(s->user);
        kerberos_use(NULL);
        kerberos_forget(s->ticket_cache);
        free(s->ticket_cache);
        *s = (struct hadoop_security){0};
}

int hadoop_security_login(struct hadoop_security *s, const char *principal, const char *keytab, struct fst_error *error)
{
        if (!s->enabled)
                return 0;
        int r = kerberos_login(principal, keytab, &s->ticket_cache, NULL, error);
        if (r < 0)
                return error_wrap(error, r, "failure to login: for principal: %s from keytab %s", principal, keytab);
        kerberos_use(s->ticket_cache);
        free(s->user);
        s->user = kerberos_short_name(principal);
        return 0;
}

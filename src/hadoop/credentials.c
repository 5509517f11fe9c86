/* See credentials.h. */
#include "hadoop/credentials.h"

#include "base/base64.h"
#include "base/error.h"
#include "base/fs.h"
#include "base/mem.h"
#include "hadoop/secret_buf.h"

#include <stdint.h>

static const char CREDENTIALS_MAGIC[] = "HDTS";

/* The rest of a stream. A read beyond the end sets `damaged` and yields zeros. */
struct credentials_reader {
        const unsigned char *p, *end;
        bool damaged;
};

void hadoop_token_deinit(struct hadoop_token *token)
{
        free(token->alias);
        free(token->kind);
        free(token->service);
        buf_deinit(&token->identifier);
        buf_deinit_secret(&token->password);
        *token = (struct hadoop_token){0};
}

static void secret_deinit(struct hadoop_secret *secret)
{
        free(secret->alias);
        buf_deinit_secret(&secret->value);
}

void hadoop_credentials_forget_secrets(struct hadoop_credentials *c)
{
        for (size_t i = 0; i < c->secrets.len; i++)
                secret_deinit(&c->secrets.data[i]);
        vec_deinit(&c->secrets);
}

void hadoop_credentials_deinit(struct hadoop_credentials *c)
{
        for (size_t i = 0; i < c->tokens.len; i++)
                hadoop_token_deinit(&c->tokens.data[i]);
        vec_deinit(&c->tokens);
        hadoop_credentials_forget_secrets(c);
}

void hadoop_token_copy(const struct hadoop_token *token, struct hadoop_token *out)
{
        *out = (struct hadoop_token){.alias = mem_strdup(token->alias ? token->alias : ""),
                                     .kind = mem_strdup(token->kind),
                                     .service = mem_strdup(token->service)};
        buf_append(&out->identifier, token->identifier.data, token->identifier.len);
        buf_append(&out->password, token->password.data, token->password.len);
}

/* Takes over what @token owns. */
static void credentials_put_token(struct hadoop_credentials *c, struct hadoop_token token)
{
        for (size_t i = 0; i < c->tokens.len; i++) {
                if (strcmp(c->tokens.data[i].alias, token.alias) == 0) {
                        hadoop_token_deinit(&c->tokens.data[i]);
                        c->tokens.data[i] = token;
                        return;
                }
        }
        vec_push(&c->tokens, token);
}

static void credentials_put_secret(struct hadoop_credentials *c, struct hadoop_secret secret)
{
        for (size_t i = 0; i < c->secrets.len; i++) {
                if (strcmp(c->secrets.data[i].alias, secret.alias) == 0) {
                        secret_deinit(&c->secrets.data[i]);
                        c->secrets.data[i] = secret;
                        return;
                }
        }
        vec_push(&c->secrets, secret);
}

void hadoop_credentials_add(struct hadoop_credentials *c, const struct hadoop_token *token)
{
        struct hadoop_token copy;
        hadoop_token_copy(token, &copy);
        credentials_put_token(c, copy);
}

void hadoop_credentials_add_secret(struct hadoop_credentials *c, const char *alias, const void *value, size_t len)
{
        struct hadoop_secret secret = {.alias = mem_strdup(alias)};
        buf_append(&secret.value, value, len);
        credentials_put_secret(c, secret);
}

const struct hadoop_token *hadoop_credentials_find(const struct hadoop_credentials *c, const char *kind,
                                                   const char *service)
{
        for (size_t i = 0; i < c->tokens.len; i++) {
                const struct hadoop_token *t = &c->tokens.data[i];
                if (strcmp(t->kind, kind) == 0 && (!service || strcmp(t->service, service) == 0))
                        return t;
        }
        return NULL;
}

const struct buf *hadoop_credentials_secret(const struct hadoop_credentials *c, const char *alias)
{
        for (size_t i = 0; i < c->secrets.len; i++)
                if (strcmp(c->secrets.data[i].alias, alias) == 0)
                        return &c->secrets.data[i].value;
        return NULL;
}

/* ----------------------------------------------------------------------------------------------- Hadoop's Writables */

static int reader_byte(struct credentials_reader *r)
{
        if (r->p == r->end) {
                r->damaged = true;
                return 0;
        }
        return (signed char)*r->p++;
}

/*
 * A variable-length integer of Hadoop's WritableUtils. The first byte is the value from -112 up; below, it says how
 * many big-endian bytes follow, and below -120 that the value is their complement.
 */
static int64_t reader_vlong(struct credentials_reader *r)
{
        const int first = reader_byte(r);
        if (first >= -112)
                return first;
        const bool negative = first < -120;
        uint64_t value = 0;
        for (int n = negative ? -(first + 120) : -(first + 112); n > 0; n--)
                value = value << 8 | (unsigned char)reader_byte(r);
        return negative ? (int64_t)~value : (int64_t)value;
}

/* A length that the rest of the stream can hold. */
static size_t reader_length(struct credentials_reader *r)
{
        const int64_t n = reader_vlong(r);
        if (n < 0 || n > r->end - r->p)
                r->damaged = true;
        return r->damaged ? 0 : (size_t)n;
}

static void reader_bytes(struct credentials_reader *r, struct buf *out)
{
        const size_t n = reader_length(r);
        buf_append(out, r->p, n);
        r->p += n;
}

/* Text with a NUL in it is refused: C would see another text. */
static char *reader_text(struct credentials_reader *r)
{
        const size_t n = reader_length(r);
        if (memchr(r->p, '\0', n))
                r->damaged = true;
        char *text = mem_strndup((const char *)r->p, n);
        r->p += n;
        return text;
}

static struct hadoop_token reader_token(struct credentials_reader *r)
{
        struct hadoop_token token = {0};
        reader_bytes(r, &token.identifier);
        reader_bytes(r, &token.password);
        token.kind = reader_text(r);
        token.service = reader_text(r);
        return token;
}

static void write_vlong(struct buf *out, int64_t value)
{
        if (value >= -112 && value <= 127) {
                buf_putc(out, (char)value);
                return;
        }
        const uint64_t bits = value < 0 ? ~(uint64_t)value : (uint64_t)value;
        int n = 8;
        while (n > 1 && bits >> (8 * (n - 1)) == 0)
                n--;
        buf_putc(out, (char)((value < 0 ? -120 : -112) - n));
        for (int i = n - 1; i >= 0; i--)
                buf_putc(out, (char)(bits >> (8 * i)));
}

static void write_bytes(struct buf *out, const void *data, size_t len)
{
        write_vlong(out, (int64_t)len);
        secret_buf_append(out, data, len);
}

static void write_text(struct buf *out, const char *text)
{
        write_bytes(out, text, strlen(text));
}

static void write_token(struct buf *out, const struct hadoop_token *token)
{
        write_bytes(out, token->identifier.data, token->identifier.len);
        write_bytes(out, token->password.data, token->password.len);
        write_text(out, token->kind);
        write_text(out, token->service);
}

/* ------------------------------------------------------------------------------------------------------- the stream */

static void credentials_read_entries(struct credentials_reader *r, struct hadoop_credentials *out)
{
        int64_t n = reader_vlong(r);
        for (; n > 0 && !r->damaged; n--) {
                char *alias = reader_text(r);
                struct hadoop_token token = reader_token(r);
                token.alias = alias;
                credentials_put_token(out, token);
        }
        r->damaged |= n < 0;
        n = reader_vlong(r);
        for (; n > 0 && !r->damaged; n--) {
                struct hadoop_secret secret = {.alias = reader_text(r)};
                reader_bytes(r, &secret.value);
                credentials_put_secret(out, secret);
        }
        r->damaged |= n < 0;
}

int hadoop_credentials_read(struct hadoop_credentials *c, const void *data, size_t len, struct fst_error *error)
{
        const size_t magic = strlen(CREDENTIALS_MAGIC);
        if (len <= magic || memcmp(data, CREDENTIALS_MAGIC, magic) != 0)
                return error_set(error, -EBADMSG, "credentials do not begin with \"%s\": not Hadoop's format",
                                 CREDENTIALS_MAGIC);
        struct credentials_reader r = {.p = (const unsigned char *)data + magic,
                                       .end = (const unsigned char *)data + len};
        const int version = reader_byte(&r);
        if (version != 0)
                return error_set(error, -ENOTSUP,
                                 "credentials have version %d, and only version 0 is supported (write them with "
                                 "Credentials.writeTokenStorageFile)",
                                 version);
        _cleanup_(hadoop_credentials_deinit) struct hadoop_credentials read = {0};
        credentials_read_entries(&r, &read);
        if (r.damaged)
                return error_set(error, -EBADMSG, "credentials of %zu bytes are damaged or cut off", len);
        for (size_t i = 0; i < read.tokens.len; i++)
                credentials_put_token(c, read.tokens.data[i]);
        for (size_t i = 0; i < read.secrets.len; i++)
                credentials_put_secret(c, read.secrets.data[i]);
        read.tokens.len = read.secrets.len = 0;
        return 0;
}

int hadoop_credentials_load(struct hadoop_credentials *c, const char *path, struct fst_error *error)
{
        _cleanup_(buf_deinit_secret) struct buf text = BUF_INIT;
        int r = file_text_read(path, HADOOP_CREDENTIALS_MAX_SIZE, &text, error);
        if (r == 0)
                r = hadoop_credentials_read(c, text.data, text.len, error);
        return r < 0 ? error_wrap(error, r, "reading credentials from %s", path) : 0;
}

void hadoop_credentials_write(const struct hadoop_credentials *c, struct buf *out)
{
        buf_puts(out, CREDENTIALS_MAGIC);
        buf_putc(out, 0);
        write_vlong(out, (int64_t)c->tokens.len);
        for (size_t i = 0; i < c->tokens.len; i++) {
                write_text(out, c->tokens.data[i].alias);
                write_token(out, &c->tokens.data[i]);
        }
        write_vlong(out, (int64_t)c->secrets.len);
        for (size_t i = 0; i < c->secrets.len; i++) {
                write_text(out, c->secrets.data[i].alias);
                write_bytes(out, c->secrets.data[i].value.data, c->secrets.data[i].value.len);
        }
}

/* ------------------------------------------------------------------------------------------------- tokens as a word */

void hadoop_token_text_free(char *text)
{
        if (text)
                explicit_bzero(text, strlen(text));
        free(text);
}

char *hadoop_token_to_text(const struct hadoop_token *token)
{
        _cleanup_(buf_deinit_secret) struct buf bytes = BUF_INIT;
        struct buf text = BUF_INIT;
        write_token(&bytes, token);
        buf_reserve(&text, 2 * bytes.len + 4);
        base64_put(&text, bytes.data, bytes.len);
        while (text.len && text.data[text.len - 1] == '=')
                buf_truncate(&text, text.len - 1);
        for (char *p = text.data; *p; p++)
                *p = *p == '+' ? '-' : *p == '/' ? '_' : *p;
        return buf_steal(&text);
}

int hadoop_token_from_text(const char *text, struct hadoop_token *out, struct fst_error *error)
{
        _cleanup_(buf_deinit_secret) struct buf bytes = BUF_INIT;
        buf_reserve(&bytes, strlen(text));
        if (!base64_decode(text, strlen(text), &bytes))
                return error_set(error, -EBADMSG, "a delegation token is not valid base64");
        struct credentials_reader r = {.p = (const unsigned char *)buf_text(&bytes)};
        r.end = r.p + bytes.len;
        struct hadoop_token token = reader_token(&r);
        token.alias = mem_strdup(token.service);
        if (r.damaged || r.p != r.end) {
                hadoop_token_deinit(&token);
                return error_set(error, -EBADMSG, "a delegation token is damaged or cut off");
        }
        *out = token;
        return 0;
}

/* ------------------------------------------------------------------------------------------------ token identifiers */

void hadoop_token_identifier_deinit(struct hadoop_token_identifier *identifier)
{
        free(identifier->owner);
        free(identifier->renewer);
        free(identifier->real_user);
        *identifier = (struct hadoop_token_identifier){0};
}

/* The form of AbstractDelegationTokenIdentifier: version 0, three names, two times, two numbers. */
int hadoop_token_identify(const struct hadoop_token *token, struct hadoop_token_identifier *out)
{
        struct credentials_reader r = {.p = (const unsigned char *)buf_text(&token->identifier)};
        r.end = r.p + token->identifier.len;
        if (reader_byte(&r) != 0 || r.damaged)
                return -EBADMSG;
        struct hadoop_token_identifier read = {.owner = reader_text(&r)};
        read.renewer = reader_text(&r);
        read.real_user = reader_text(&r);
        read.issued_ms = reader_vlong(&r);
        read.max_ms = reader_vlong(&r);
        reader_vlong(&r);
        reader_vlong(&r);
        if (r.damaged || r.p != r.end) {
                hadoop_token_identifier_deinit(&read);
                return -EBADMSG;
        }
        *out = read;
        return 0;
}

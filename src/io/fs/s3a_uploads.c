/* Aborts multipart uploads that their writers left incomplete: ListMultipartUploads, and a DELETE for each. */
#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/string_list.h"
#include "base/string_prefix.h"
#include "io/fs/remote_fs_internal.h"
#include "text/percent.h"

#include <expat.h>

#define MAX_LISTINGS 100 /* of 1,000 uploads each */

struct s3a_uploads {
        XML_Parser parser;
        int depth;
        bool result, upload;
        struct buf *field; /* that the text belongs to; NULL: none */
        struct buf key, id;
        struct string_list *keys, *ids;
};

static void s3a_uploads_start(void *data, const XML_Char *name, const XML_Char **attributes)
{
        struct s3a_uploads *u = data;
        u->depth++;
        u->field = NULL;
        if (u->depth == 1)
                u->result = strcmp(name, "ListMultipartUploadsResult") == 0;
        if (u->depth == 2)
                u->upload = strcmp(name, "Upload") == 0;
        if (u->depth == 3 && u->upload)
                u->field = strcmp(name, "Key") == 0 ? &u->key : strcmp(name, "UploadId") == 0 ? &u->id : NULL;
        if (u->field)
                buf_reset(u->field);
}

static void s3a_uploads_characters(void *data, const XML_Char *text, int len)
{
        struct s3a_uploads *u = data;
        if (u->field)
                buf_append(u->field, text, (size_t)len);
}

static void s3a_uploads_end(void *data, const XML_Char *name)
{
        struct s3a_uploads *u = data;
        if (u->depth == 2 && u->upload && u->key.len && u->id.len) {
                string_list_add(u->keys, buf_text(&u->key));
                string_list_add(u->ids, buf_text(&u->id));
                buf_reset(&u->key);
                buf_reset(&u->id);
        }
        u->field = NULL;
        u->depth--;
}

static void s3a_uploads_entity(void *data, const XML_Char *name, int is_parameter, const XML_Char *value, int length,
                               const XML_Char *base, const XML_Char *system, const XML_Char *public_id,
                               const XML_Char *notation)
{
        XML_StopParser(((struct s3a_uploads *)data)->parser, XML_FALSE);
}

int s3a_read_uploads(const char *text, size_t len, const char *path, struct string_list *keys, struct string_list *ids,
                     struct fst_error *error)
{
        struct s3a_uploads u = {.keys = keys, .ids = ids, .parser = XML_ParserCreate(NULL)};
        if (!u.parser)
                return error_set(error, -ENOMEM, "no memory to list the uploads of %s", path);
        XML_SetUserData(u.parser, &u);
        XML_SetElementHandler(u.parser, s3a_uploads_start, s3a_uploads_end);
        XML_SetCharacterDataHandler(u.parser, s3a_uploads_characters);
        XML_SetEntityDeclHandler(u.parser, s3a_uploads_entity);
        bool good = len <= HTTP_MAX_ANSWER && XML_Parse(u.parser, text, (int)len, XML_TRUE) == XML_STATUS_OK;
        XML_ParserFree(u.parser);
        buf_deinit(&u.key);
        buf_deinit(&u.id);
        return good && u.result
                       ? 0
                       : error_set(error, -EPROTO, "%s: cannot parse the answer to the list of its uploads", path);
}

/* Aborts one upload. One that has just ended is no error. */
static int s3a_uploads_abort_one(struct remote_call *c, const char *path, const char *key, const char *id,
                                 struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf query = BUF_INIT;
        buf_puts(&query, "uploadId=");
        percent_encode(&query, id, "");
        int r = s3a_send(c, path, &(struct s3a_request){.method = "DELETE", .key = key, .query = buf_text(&query)},
                         error);
        if (r == 0 && c->answer.status / 100 != 2 && c->answer.status != 404)
                r = s3a_refusal(&c->answer, path, error);
        return r;
}

/* Aborts the uploads that one listing has, and sets *@aborted to their number. */
static int s3a_uploads_abort_listed(struct remote_call *c, const char *path, size_t *aborted, struct fst_error *error)
{
        _cleanup_(string_list_deinit) struct string_list keys = {0}, ids = {0};
        _cleanup_(buf_deinit) struct buf query = BUF_INIT;
        _cleanup_free_ char *below = mem_printf("%s/", s3a_key(path));
        buf_puts(&query, "prefix=");
        percent_encode(&query, below, "");
        buf_puts(&query, "&uploads=");
        *aborted = 0;
        int r = s3a_send(c, path, &(struct s3a_request){.key = "", .query = buf_text(&query)}, error);
        if (r == 0 && c->answer.status != 200)
                return s3a_refusal(&c->answer, path, error);
        if (r == 0)
                r = s3a_read_uploads(buf_text(&c->answer.body), c->answer.body.len, path, &keys, &ids, error);
        for (size_t i = 0; i < keys.len && r == 0; i++) {
                if (!text_starts_with(keys.data[i], below))
                        continue; /* the store did not heed the prefix */
                r = s3a_uploads_abort_one(c, path, keys.data[i], ids.data[i], error);
                ++*aborted;
        }
        return r;
}

int s3a_abort_uploads(struct remote_call *c, const char *path, struct fst_error *error)
{
        size_t aborted = 1;
        int r = 0;
        for (int i = 0; i < MAX_LISTINGS && aborted > 0 && r == 0; i++)
                r = s3a_uploads_abort_listed(c, path, &aborted, error);
        return r;
}

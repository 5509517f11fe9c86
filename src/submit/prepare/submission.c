/* The lifetime and the two printed forms of a submission; see submission.h. prepare.c fills it. */
#include "submit/prepare/submission.h"

#include "base/buf.h"
#include "process/exit_cleanup.h"
#include "conf/redact.h"
#include "events/event_json.h"
#include "net/kerberos.h"
#include "text/json_string.h"

void submission_deinit(struct submission *s)
{
        for (size_t i = 0; i < s->arguments.len; i++)
                free(s->arguments.data[i]);
        for (size_t i = 0; i < s->classpath.len; i++)
                free(s->classpath.data[i]);
        for (size_t i = 0; i < s->messages.len; i++)
                free(s->messages.data[i]);
        vec_deinit(&s->arguments);
        vec_deinit(&s->classpath);
        vec_deinit(&s->messages);
        strmap_deinit(&s->conf);
        exit_cleanup_remove(s->temp_dir);
        exit_cleanup_remove(s->r_library);
        kerberos_forget(s->ticket_cache);
        free(s->ticket_cache);
        free(s->proxy_user);
        free(s->temp_dir);
        free(s->r_library);
        free(s->main_class);
        *s = SUBMISSION_INIT;
}

static void submission_print_words(FILE *out, const char *title, char *const *words, size_t n)
{
        fprintf(out, "%s:\n", title);
        for (size_t i = 0; i < n; i++)
                fprintf(out, "%s%s", i ? "\n" : "", words[i] ? words[i] : "null");
        fputc('\n', out);
}

void submission_print(const struct submission *s, FILE *out)
{
        _cleanup_(redactor_deinit) struct redactor redactor;
        redactor_init_lenient(&redactor, strmap_get(&s->conf, "spark.redaction.regex"));
        fprintf(out, "Main class:\n%s\n", s->main_class ? s->main_class : "null");
        submission_print_words(out, "Arguments", s->arguments.data, s->arguments.len);
        fputs("Spark config:\n", out);
        _cleanup_free_ struct strmap_entry **sorted = strmap_sorted(&s->conf);
        for (size_t i = 0; i < s->conf.count; i++)
                fprintf(out, "%s(%s,%s)", i ? "\n" : "", sorted[i]->key,
                        redactor_value(&redactor, sorted[i]->key, sorted[i]->value));
        fputc('\n', out);
        submission_print_words(out, "Classpath elements", s->classpath.data, s->classpath.len);
        fputs("\n\n", out);
}

static void submission_put_list(struct buf *out, const char *name, char *const *words, size_t n)
{
        buf_printf(out, "\"%s\":[", name);
        for (size_t i = 0; i < n; i++) {
                if (i)
                        buf_putc(out, ',');
                json_put_string(out, words[i]);
        }
        buf_putc(out, ']');
}

char *submission_json(const struct submission *s)
{
        struct buf out = BUF_INIT;
        buf_puts(&out, "{\"mainClass\":");
        json_put_string(&out, s->main_class);
        buf_putc(&out, ',');
        submission_put_list(&out, "arguments", s->arguments.data, s->arguments.len);
        buf_puts(&out, ",\"conf\":");
        event_json_map(&out, &s->conf, NULL);
        buf_putc(&out, ',');
        submission_put_list(&out, "classpath", s->classpath.data, s->classpath.len);
        buf_puts(&out, "}");
        return buf_steal(&out);
}

char *submission_json_error(const char *message)
{
        struct buf out = BUF_INIT;
        buf_puts(&out, "{\"error\":");
        json_put_string(&out, message);
        buf_putc(&out, '}');
        return buf_steal(&out);
}

/* The --verbose report of the arguments, equal to Spark's line by line; see arguments.h. */
#include "submit/options/arguments.h"

#include "base/buf.h"
#include "base/mem.h"
#include "conf/redact.h"

static void arguments_report_put_line(struct buf *out, const char *label, const char *value)
{
        buf_printf(out, "  %-23s %s\n", label, value ? value : "null");
}

/* Prints a list as Scala does: [a b]. */
static void arguments_report_put_list(struct buf *out, const char *label, char *const *words, size_t n,
                                      const char *separator)
{
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        for (size_t i = 0; i < n; i++)
                buf_printf(&text, "%s%s", i ? separator : "", words[i]);
        buf_printf(out, "  %-23s [%s]\n", label, buf_text(&text));
}

static void arguments_report_put_fields(struct buf *out, const struct submit_arguments *a)
{
        for (enum submit_field f = 0; f < SUBMIT_FIELDS; f++) {
                const struct submit_option *o = submit_option_of(f);
                if (f == SUBMIT_QUEUE)
                        arguments_report_put_line(out, "supervise", a->supervise ? "true" : "false");
                if (f == SUBMIT_NAME)
                        arguments_report_put_line(out, "primaryResource", a->primary_resource);
                if (f == SUBMIT_JARS)
                        arguments_report_put_list(out, "childArgs", a->application_arguments.data,
                                                  a->application_arguments.len, " ");
                if (!o->label || (f == SUBMIT_REMOTE && a->compat == COMPAT_2_4))
                        continue;
                arguments_report_put_line(out, o->label, f == SUBMIT_MASTER ? submit_arguments_master(a) : a->value[f]);
                if (f == SUBMIT_PROPERTIES_FILE && a->compat == COMPAT_4_3)
                        arguments_report_put_list(out, "extraPropertiesFiles", a->extra_properties_files.data,
                                                  a->extra_properties_files.len, ", ");
        }
        arguments_report_put_line(out, "verbose", a->verbose ? "true" : "false");
}

char *submit_arguments_report(const struct submit_arguments *a)
{
        struct buf out = BUF_INIT;
        _cleanup_(redactor_deinit) struct redactor redactor;
        redactor_init_lenient(&redactor, strmap_get(&a->properties, "spark.redaction.regex"));
        buf_puts(&out, "Parsed arguments:\n");
        arguments_report_put_fields(&out, a);
        buf_puts(&out, "\nSpark properties used, including those specified through\n"
                       " --conf and those from the properties file");
        const char *file = a->value[SUBMIT_PROPERTIES_FILE];
        if (a->compat == COMPAT_4_3)
                buf_puts(&out, "s:\n");
        else
                buf_printf(&out, " %s:\n", file ? file : "null");
        _cleanup_free_ struct strmap_entry **sorted = strmap_sorted(&a->properties);
        for (size_t i = 0; i < a->properties.count; i++)
                buf_printf(&out, "  (%s,%s)\n", sorted[i]->key,
                           redactor_value(&redactor, sorted[i]->key, sorted[i]->value));
        /* Spark's report ends with this line. Without properties, the line holds only their indentation. */
        buf_puts(&out, a->properties.count ? "\n    \n" : "  \n\n    \n");
        return buf_steal(&out);
}

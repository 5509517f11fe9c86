/* The environment, with secrets redacted; see page.h. */
#include "conf/redact.h"
#include "ui/pages/page.h"

#include "base/mem.h"

/* @redactor NULL: shows the values as they are. */
static void environment_put_map(struct ui_page *p, const char *id, const char *heading, const char *columns,
                                const struct strmap *map, const struct redactor *redactor)
{
        enum { MAX_ROWS = 1000 };
        size_t n = 0, shown = 0;
        for (struct strmap_entry *e = NULL; (e = strmap_next(map, e));)
                n++;
        html_table_begin(p->b, id, heading, columns, n, "Nothing is known.");
        for (struct strmap_entry *e = NULL; (e = strmap_next(map, e)) && shown < MAX_ROWS; shown++)
                html_put(p->b, "<tr><td class=\"key\">%s<td class=text>%s\n", e->key,
                         redactor ? redactor_value(redactor, e->key, e->value) : e->value);
        if (shown < n)
                html_put(p->b, "<tr><td colspan=\"2\">%D more are in /api/v1\n", (int64_t)(n - shown));
        html_table_end(p->b, n);
}

static void environment_put_profiles(struct ui_page *p)
{
        html_table_begin(p->b, "profiles", "Resource Profiles", "#Resource Profile Id|Executors|Tasks",
                         p->s->profiles.len, "None.");
        for (size_t i = 0; i < p->s->profiles.len; i++) {
                const struct status_profile *profile = &p->s->profiles.data[i];
                html_put(p->b, "<tr><td class=n>%d", profile->id);
                for (int of_task = 0; of_task < 2; of_task++) {
                        const char *separator = "";
                        buf_puts(p->b, "<td>");
                        for (size_t k = 0; k < profile->requests.len; k++) {
                                const struct profile_request *r = &profile->requests.data[k];
                                if (r->of_task != (of_task == 1))
                                        continue;
                                html_put(p->b, "%s%s: ", separator, r->name);
                                buf_printf(p->b, "%g", r->amount);
                                separator = ", ";
                        }
                }
                buf_puts(p->b, "\n");
        }
        html_table_end(p->b, p->s->profiles.len);
}

void page_serve_environment(struct ui_page *p)
{
        const struct status_application *a = &p->s->application;
        const struct redactor *redactor = p->view->redactor;
        page_begin(p, TAB_ENVIRONMENT, "Environment");
        environment_put_map(p, "runtime", "Runtime Information", "Name|Value", &a->runtime, redactor);
        environment_put_map(p, "spark", "Spark Properties", "Name|Value", &a->spark_properties, redactor);
        environment_put_profiles(p);
        environment_put_map(p, "hadoop", "Hadoop Properties", "Name|Value", &a->hadoop_properties, redactor);
        environment_put_map(p, "system", "System Properties", "Name|Value", &a->system_properties, redactor);
        environment_put_map(p, "metrics", "Metrics Properties", "Name|Value", &a->metrics_properties, redactor);
        environment_put_map(p, "classpath", "Classpath Entries", "Resource|Source", &a->classpath, NULL);
        page_end(p);
}

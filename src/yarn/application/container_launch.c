/* See container_launch.h. */
#include "yarn/application/container_launch.h"

#include "base/mem.h"
#include "yarn/application/container_links.h"

#include <string.h>

void container_launch_deinit(struct container_launch *launch)
{
        strmap_deinit(&launch->environment);
        string_list_deinit(&launch->command);
}

/* ------------------------------------------------------------------------------------------------------ the command */

char *container_command_quote(const char *text)
{
        _cleanup_(buf_deinit) struct buf b = BUF_INIT;
        buf_putc(&b, '\'');
        for (const char *p = text; *p; p++) {
                if (*p == '\'')
                        buf_puts(&b, "'\\''");
                else if (strchr("$\"`\\", *p)) /* double quotes surround it */
                        buf_printf(&b, "\\%c", *p);
                else
                        buf_putc(&b, *p);
                if (*p == '<' || (strchr("{}", *p) && p[1] == *p)) /* YARN replaces "{{", "}}" and "<LOG_DIR>" */
                        buf_puts(&b, "''");
        }
        buf_putc(&b, '\'');
        return buf_steal(&b);
}

void container_launch_begin_firesteel(struct container_launch *launch, const char *library_path, const char *name)
{
        string_list_take(&launch->command, mem_printf("LD_LIBRARY_PATH='%s%s{{PWD}}/" YARN_PROGRAM_LINK "/lib'",
                                                      library_path ? library_path : "", library_path ? ":" : ""));
        string_list_add(&launch->command, "exec");
        string_list_add(&launch->command, YARN_PROGRAM_LINK "/bin/firesteel");
        string_list_add(&launch->command, name);
}

void container_launch_add_option(struct container_launch *launch, const char *option, const char *value)
{
        string_list_add(&launch->command, option);
        string_list_take(&launch->command, container_command_quote(value));
}

void container_launch_add_logs(struct container_launch *launch)
{
        static const char *const words[] = {"1>", "<LOG_DIR>/stdout", "2>", "<LOG_DIR>/stderr"};
        for (size_t i = 0; i < ARRAY_SIZE(words); i++)
                string_list_add(&launch->command, words[i]);
}

/* ------------------------------------------------------------------------------------------------------ the message */

void container_launch_message(const struct container_launch *launch, const struct local_resources *resources,
                              const struct buf *tokens, struct arena *arena,
                              Firesteel__Yarn__ContainerLaunchContext *out)
{
        const struct strmap *env = &launch->environment;
        firesteel__yarn__container_launch_context__init(out);
        out->local_resources = arena_alloc(arena, (resources->list.len + 1) * sizeof(*out->local_resources));
        for (size_t i = 0; i < resources->list.len; i++)
                out->local_resources[out->n_local_resources++] =
                        local_resource_message(&resources->list.data[i], arena);
        out->environment = arena_alloc(arena, (env->count + 1) * sizeof(*out->environment));
        for (struct strmap_entry *e = NULL; (e = strmap_next(env, e));) {
                Firesteel__Yarn__Variable *v = arena_alloc(arena, sizeof(*v));
                firesteel__yarn__variable__init(v);
                v->key = e->key;
                v->value = e->value;
                out->environment[out->n_environment++] = v;
        }
        out->command = launch->command.data;
        out->n_command = launch->command.len;
        if (tokens && tokens->len) {
                out->has_tokens = true;
                out->tokens = (ProtobufCBinaryData){.data = (uint8_t *)tokens->data, .len = tokens->len};
        }
}

/* The yaml module: libyaml's parser behind text/yaml.h. A shared object of its own that uses nothing of the core. */
#include "text/yaml_module.h"

#include <errno.h>
#include <stdio.h>
#include <yaml.h>

static struct yaml_token token_of(const yaml_event_t *event)
{
        struct yaml_token t = {.text = "", .line = event->start_mark.line + 1};
        switch (event->type) {
        case YAML_DOCUMENT_START_EVENT:
                t.kind = YAML_TOKEN_DOCUMENT;
                break;
        case YAML_DOCUMENT_END_EVENT:
                t.kind = YAML_TOKEN_DOCUMENT_END;
                break;
        case YAML_ALIAS_EVENT:
                t.kind = YAML_TOKEN_ALIAS;
                t.text = (const char *)event->data.alias.anchor;
                break;
        case YAML_SCALAR_EVENT:
                t.kind = YAML_TOKEN_SCALAR;
                t.text = (const char *)event->data.scalar.value;
                t.len = event->data.scalar.length;
                t.anchor = (const char *)event->data.scalar.anchor;
                t.tag = (const char *)event->data.scalar.tag;
                t.plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
                break;
        case YAML_SEQUENCE_START_EVENT:
                t.kind = YAML_TOKEN_SEQUENCE;
                t.anchor = (const char *)event->data.sequence_start.anchor;
                t.tag = (const char *)event->data.sequence_start.tag;
                break;
        case YAML_MAPPING_START_EVENT:
                t.kind = YAML_TOKEN_MAPPING;
                t.anchor = (const char *)event->data.mapping_start.anchor;
                t.tag = (const char *)event->data.mapping_start.tag;
                break;
        default:
                t.kind = YAML_TOKEN_END;
        }
        return t;
}

static int yaml_module_parse(const char *text, size_t len, int (*take)(void *context, const struct yaml_token *token),
                             void *context, char *message, size_t size)
{
        yaml_parser_t parser;
        if (!yaml_parser_initialize(&parser)) {
                snprintf(message, size, "no memory");
                return -ENOMEM;
        }
        yaml_parser_set_input_string(&parser, (const unsigned char *)text, len);
        int r = 0;
        for (bool over = false; r == 0 && !over;) {
                yaml_event_t event;
                if (!yaml_parser_parse(&parser, &event)) {
                        snprintf(message, size, "line %zu: %s%s%s", parser.problem_mark.line + 1,
                                 parser.problem ? parser.problem : "invalid YAML", parser.context ? " " : "",
                                 parser.context ? parser.context : "");
                        r = parser.error == YAML_MEMORY_ERROR ? -ENOMEM : -EINVAL;
                        break;
                }
                over = event.type == YAML_STREAM_END_EVENT;
                if (event.type != YAML_STREAM_START_EVENT && !over) {
                        struct yaml_token token = token_of(&event);
                        r = take(context, &token);
                }
                yaml_event_delete(&event);
        }
        yaml_parser_delete(&parser);
        return r;
}

static const struct yaml_ops ops = {.abi = YAML_ABI, .parse = yaml_module_parse};

__attribute__((visibility("default"))) const struct yaml_ops *firesteel_yaml_module(void);
const struct yaml_ops *firesteel_yaml_module(void)
{
        return &ops;
}

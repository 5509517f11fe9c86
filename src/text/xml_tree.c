/* XML trees by expat. Text is collected for each open element and copied into the arena when the element ends. */
#include "text/xml_tree.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"

#include <expat.h>

struct open_element {
        struct xml_node *node;
        struct xml_node **end; /* where the next child is linked */
        struct buf text;
};

struct xml_reader {
        XML_Parser parser;
        struct arena *arena;
        struct xml_node *root;
        struct open_element open[XML_MAX_DEPTH];
        size_t depth, taken; /* open elements, bytes of names and text */
        const char *refused;
};

static const char *local_name(const char *name)
{
        const char *colon = strrchr(name, ':');
        return colon ? colon + 1 : name;
}

static void xml_tree_refuse(struct xml_reader *r, const char *why)
{
        r->refused = why;
        XML_StopParser(r->parser, XML_FALSE);
}

/* Counts bytes before they are stored. */
static void xml_tree_take(struct xml_reader *r, size_t n)
{
        r->taken += n;
        if (r->taken > XML_MAX_TEXT)
                xml_tree_refuse(r, "its expanded entities are too large");
}

static char *xml_tree_copy(struct xml_reader *r, const char *text)
{
        size_t n = strlen(text);
        xml_tree_take(r, n);
        return arena_copy(r->arena, text, n);
}

static void xml_tree_start_element(void *data, const XML_Char *name, const XML_Char **attributes)
{
        struct xml_reader *r = data;
        if (r->depth == XML_MAX_DEPTH) {
                xml_tree_refuse(r, "elements are nested too deeply");
                return;
        }
        struct xml_node *node = arena_alloc(r->arena, sizeof(*node));
        *node = (struct xml_node){.name = xml_tree_copy(r, local_name(name)), .text = ""};
        struct xml_attribute **end = &node->attributes;
        for (size_t i = 0; attributes[i]; i += 2) {
                struct xml_attribute *a = arena_alloc(r->arena, sizeof(*a));
                *a = (struct xml_attribute){xml_tree_copy(r, local_name(attributes[i])),
                                            xml_tree_copy(r, attributes[i + 1]), NULL};
                *end = a;
                end = &a->next;
        }
        if (r->depth > 0) {
                struct open_element *parent = &r->open[r->depth - 1];
                *parent->end = node;
                parent->end = &node->next;
        } else {
                r->root = node;
        }
        struct open_element *top = &r->open[r->depth++];
        top->node = node;
        top->end = &node->children;
        buf_reset(&top->text);
}

static void xml_tree_end_element(void *data, const XML_Char *name)
{
        struct xml_reader *r = data;
        struct open_element *top = &r->open[--r->depth];
        if (top->text.len > 0)
                top->node->text = arena_copy(r->arena, top->text.data, top->text.len);
}

static void xml_tree_characters(void *data, const XML_Char *text, int length)
{
        struct xml_reader *r = data;
        xml_tree_take(r, (size_t)length);
        if (r->depth > 0 && !r->refused)
                buf_append(&r->open[r->depth - 1].text, text, (size_t)length);
}

/* With an empty external subset expat accepts undefined entities. */
static int external_entity(XML_Parser parser, const XML_Char *context, const XML_Char *base, const XML_Char *system_id,
                           const XML_Char *public_id)
{
        return XML_STATUS_OK;
}

static void xml_tree_reader_deinit(struct xml_reader *r)
{
        for (size_t i = 0; i < XML_MAX_DEPTH; i++)
                buf_deinit(&r->open[i].text);
        if (r->parser)
                XML_ParserFree(r->parser);
}

int xml_parse(struct arena *arena, const char *data, size_t len, struct xml_node **root, struct fst_error *error)
{
        if (len > XML_MAX_BYTES)
                return error_set(error, -EFBIG, "it has more than %u MiB", XML_MAX_BYTES >> 20);
        _cleanup_(xml_tree_reader_deinit) struct xml_reader r = {.arena = arena, .parser = XML_ParserCreate(NULL)};
        if (!r.parser)
                return error_set(error, -ENOMEM, "no memory for an XML parser");
        XML_SetUserData(r.parser, &r);
        XML_UseForeignDTD(r.parser, XML_TRUE);
        XML_SetParamEntityParsing(r.parser, XML_PARAM_ENTITY_PARSING_ALWAYS);
        XML_SetExternalEntityRefHandler(r.parser, external_entity);
        XML_SetElementHandler(r.parser, xml_tree_start_element, xml_tree_end_element);
        XML_SetCharacterDataHandler(r.parser, xml_tree_characters);
        if (XML_Parse(r.parser, data, (int)len, XML_TRUE) != XML_STATUS_OK)
                return error_set(error, -EINVAL, "line %lu: %s", (unsigned long)XML_GetCurrentLineNumber(r.parser),
                                 r.refused ? r.refused : XML_ErrorString(XML_GetErrorCode(r.parser)));
        *root = r.root;
        return 0;
}

struct xml_node *xml_child(const struct xml_node *node, const char *name)
{
        xml_each(child, node) if (strcmp(child->name, name) == 0) return child;
        return NULL;
}

const char *xml_child_text(const struct xml_node *node, const char *name)
{
        const struct xml_node *child = xml_child(node, name);
        return child ? child->text : NULL;
}

const char *xml_attribute(const struct xml_node *node, const char *name)
{
        for (const struct xml_attribute *a = node->attributes; a; a = a->next)
                if (strcmp(a->name, name) == 0)
                        return a->value;
        return NULL;
}

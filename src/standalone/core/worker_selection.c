/* A treap: a search tree by (number, name) and a heap by a priority derived from the name, so that the same workers
 * always make the same tree.
 */
#include "standalone/core/worker_selection.h"

#include "base/hash_table.h"

#include <stddef.h>
#include <string.h>

static int worker_selection_compare(int64_t number, const char *name, const struct index_node *node)
{
        if (number != node->number)
                return number < node->number ? -1 : 1;
        return strcmp(name, node->name);
}

/* Puts @with in the place of @node under its parent. */
static void worker_selection_replace(struct worker_index *index, struct index_node *node, struct index_node *with)
{
        if (!node->parent)
                index->root = with;
        else if (node->parent->left == node)
                node->parent->left = with;
        else
                node->parent->right = with;
        if (with)
                with->parent = node->parent;
}

/* Moves the child @node above its parent. */
static void rotate_up(struct worker_index *index, struct index_node *node)
{
        struct index_node *parent = node->parent;

        worker_selection_replace(index, parent, node);
        if (parent->left == node) {
                parent->left = node->right;
                if (node->right)
                        node->right->parent = parent;
                node->right = parent;
        } else {
                parent->right = node->left;
                if (node->left)
                        node->left->parent = parent;
                node->left = parent;
        }
        parent->parent = node;
}

void worker_index_insert(struct worker_index *index, struct index_node *node, int64_t number, const char *name)
{
        struct index_node *parent = NULL, **place = &index->root;

        while (*place) {
                parent = *place;
                place = worker_selection_compare(number, name, parent) < 0 ? &parent->left : &parent->right;
        }
        *node = (struct index_node){.parent = parent,
                                    .number = number,
                                    .name = name,
                                    .priority = (uint32_t)object_hash_text(name),
                                    .inside = true};
        *place = node;
        while (node->parent && node->priority > node->parent->priority)
                rotate_up(index, node);
}

void worker_index_remove(struct worker_index *index, struct index_node *node)
{
        if (!node->inside)
                return;
        while (node->left && node->right)
                rotate_up(index, node->left->priority > node->right->priority ? node->left : node->right);
        worker_selection_replace(index, node, node->left ? node->left : node->right);
        *node = (struct index_node){0};
}

void worker_index_move(struct worker_index *index, struct index_node *node, int64_t number)
{
        const char *name = node->name;

        if (!node->inside || node->number == number)
                return;
        worker_index_remove(index, node);
        worker_index_insert(index, node, number, name);
}

struct index_node *worker_index_last(const struct worker_index *index)
{
        struct index_node *node = index->root;

        while (node && node->right)
                node = node->right;
        return node;
}

struct index_node *worker_index_from(const struct worker_index *index, int64_t number)
{
        struct index_node *found = NULL;

        for (struct index_node *node = index->root; node;) {
                if (node->number >= number) {
                        found = node;
                        node = node->left;
                } else {
                        node = node->right;
                }
        }
        return found;
}

struct index_node *worker_index_next(const struct index_node *node)
{
        if (node->right) {
                struct index_node *next = node->right;

                while (next->left)
                        next = next->left;
                return next;
        }
        while (node->parent && node->parent->right == node)
                node = node->parent;
        return node->parent;
}

struct index_node *worker_index_previous(const struct index_node *node)
{
        if (node->left) {
                struct index_node *previous = node->left;

                while (previous->right)
                        previous = previous->right;
                return previous;
        }
        while (node->parent && node->parent->left == node)
                node = node->parent;
        return node->parent;
}

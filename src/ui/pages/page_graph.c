/*
 * Graphs as SVG: the RDDs of a stage, and the stages of a job; see page.h.
 *
 * A node lies below all nodes that it depends on. Nodes of one scope (an operation of the application, which may have
 * outer ones in logs of Spark) form a cluster with a frame. A cluster is laid out like a graph of its own and then
 * placed as a block, so no foreign node is inside its frame.
 */
#include "ui/pages/page.h"

#include "base/mem.h"

#include <stdlib.h>

enum {
        MAX_NODES = 200,
        MAX_SCOPES = 3, /* nested ones */
        NODE_WIDTH = 210,
        NODE_HEIGHT = 44,
        NODE_GAP_X = 20,
        NODE_GAP_Y = 32,
        FRAME_SIDE = 7, /* between a frame and what it holds */
        FRAME_TOP = 18, /* with its label */
        FRAME_BOTTOM = 7
};

struct dag_picture_scope {
        int id;
        const char *name;
};

struct dag_picture_node {
        int id, row, column;
        const char *class;
        char *title, *line;                          /* two lines; owned */
        char *href;                                  /* below q->base; owned, NULL: none */
        struct dag_picture_scope scopes[MAX_SCOPES]; /* the outermost first */
        int n_scopes;
};

struct dag_picture_edge {
        size_t from, to; /* nodes */
};

/* The frame of a cluster. */
struct dag_picture_frame {
        const char *label;
        int depth, row, column, rows, columns;
};

struct dag_picture {
        VEC(struct dag_picture_node) nodes;
        VEC(struct dag_picture_edge) edges;
        VEC(struct dag_picture_frame) frames;
        size_t n_left_out;
};

static size_t dag_picture_find(const struct dag_picture *g, int id)
{
        for (size_t i = 0; i < g->nodes.len; i++)
                if (g->nodes.data[i].id == id)
                        return i;
        return SIZE_MAX;
}

static void dag_picture_add_edge(struct dag_picture *g, int from, size_t to)
{
        size_t at = dag_picture_find(g, from);
        if (at != SIZE_MAX && at != to)
                vec_push(&g->edges, (struct dag_picture_edge){at, to});
}

/* ------------------------------------------------------------------------------------------------------ layout */

/* A node or a cluster that is placed as a block of cells. */
struct dag_picture_block {
        size_t first; /* a node of it */
        bool is_cluster;
        size_t frames_from, frames_end; /* the frames in it */
        int rows, columns, row, column;
};

/* A graph or a cluster while it is laid out. */
struct dag_picture_part {
        size_t *nodes, n;
        int depth; /* of the scopes that divide it */
        struct dag_picture_block *blocks;
        size_t n_blocks;
        size_t *block_of; /* by node of the whole graph; SIZE_MAX: elsewhere */
};

static void dag_picture_lay_out(struct dag_picture *g, size_t *nodes, size_t n, int depth, int *rows, int *columns);

static bool dag_picture_same_scope(const struct dag_picture_node *a, const struct dag_picture_node *b, int depth)
{
        return a->n_scopes > depth && b->n_scopes > depth && a->scopes[depth].id == b->scopes[depth].id &&
               strcmp(a->scopes[depth].name, b->scopes[depth].name) == 0;
}

static void dag_picture_part_divide(const struct dag_picture *g, struct dag_picture_part *part)
{
        for (size_t i = 0; i < part->n; i++) {
                const struct dag_picture_node *node = &g->nodes.data[part->nodes[i]];
                size_t k = 0;
                while (k < part->n_blocks &&
                       !dag_picture_same_scope(node, &g->nodes.data[part->blocks[k].first], part->depth))
                        k++;
                if (k == part->n_blocks)
                        part->blocks[part->n_blocks++] =
                                (struct dag_picture_block){.first = part->nodes[i],
                                                           .is_cluster = node->n_scopes > part->depth,
                                                           .rows = 1,
                                                           .columns = 1};
                part->block_of[part->nodes[i]] = k;
        }
}

/* Lays out each cluster of the part by itself. */
static void dag_picture_part_lay_out_blocks(struct dag_picture *g, struct dag_picture_part *part)
{
        size_t *members = new_array(size_t, part->n);
        for (size_t k = 0; k < part->n_blocks; k++) {
                struct dag_picture_block *block = &part->blocks[k];
                size_t n = 0;
                block->frames_from = block->frames_end = g->frames.len;
                if (!block->is_cluster)
                        continue;
                for (size_t i = 0; i < part->n; i++)
                        if (part->block_of[part->nodes[i]] == k)
                                members[n++] = part->nodes[i];
                dag_picture_lay_out(g, members, n, part->depth + 1, &block->rows, &block->columns);
                vec_push(&g->frames,
                         (struct dag_picture_frame){.label = g->nodes.data[block->first].scopes[part->depth].name,
                                                    .depth = part->depth,
                                                    .rows = block->rows,
                                                    .columns = block->columns});
                block->frames_end = g->frames.len;
        }
        free(members);
}

/* Puts each block below those that it depends on. Damaged events may have cycles: rounds and rows are limited. */
static void dag_picture_part_set_rows(const struct dag_picture *g, struct dag_picture_part *part)
{
        bool changed = true;
        for (size_t round = 0; changed && round < part->n_blocks; round++) {
                changed = false;
                for (size_t i = 0; i < g->edges.len; i++) {
                        size_t a = part->block_of[g->edges.data[i].from], b = part->block_of[g->edges.data[i].to];
                        if (a == SIZE_MAX || b == SIZE_MAX || a == b)
                                continue;
                        const struct dag_picture_block *from = &part->blocks[a];
                        struct dag_picture_block *to = &part->blocks[b];
                        int row = MIN(from->row + from->rows, (int)part->n - to->rows);
                        if (row > to->row) {
                                to->row = row;
                                changed = true;
                        }
                }
        }
}

/* Puts blocks beside each other and moves what is in them. */
static void dag_picture_part_place(struct dag_picture *g, struct dag_picture_part *part, int *rows, int *columns)
{
        int *used = new_array(int, part->n);
        *rows = *columns = 0;
        for (size_t k = 0; k < part->n_blocks; k++) {
                struct dag_picture_block *block = &part->blocks[k];
                for (int row = block->row; row < block->row + block->rows; row++)
                        block->column = MAX(block->column, used[row]);
                for (int row = block->row; row < block->row + block->rows; row++)
                        used[row] = block->column + block->columns;
                for (size_t i = block->frames_from; i < block->frames_end; i++) {
                        g->frames.data[i].row += block->row;
                        g->frames.data[i].column += block->column;
                }
                *rows = MAX(*rows, block->row + block->rows);
                *columns = MAX(*columns, block->column + block->columns);
        }
        for (size_t i = 0; i < part->n; i++) {
                const struct dag_picture_block *block = &part->blocks[part->block_of[part->nodes[i]]];
                g->nodes.data[part->nodes[i]].row += block->row;
                g->nodes.data[part->nodes[i]].column += block->column;
        }
        free(used);
}

/* Sets cells of these nodes, from row 0 and column 0 on, and appends the frames around them. */
static void dag_picture_lay_out(struct dag_picture *g, size_t *nodes, size_t n, int depth, int *rows, int *columns)
{
        struct dag_picture_part part = {.nodes = nodes,
                                        .n = n,
                                        .depth = depth,
                                        .blocks = new_array(struct dag_picture_block, n),
                                        .block_of = new_array(size_t, g->nodes.len)};
        for (size_t i = 0; i < g->nodes.len; i++)
                part.block_of[i] = SIZE_MAX;
        dag_picture_part_divide(g, &part);
        dag_picture_part_lay_out_blocks(g, &part);
        dag_picture_part_set_rows(g, &part);
        dag_picture_part_place(g, &part, rows, columns);
        free(part.blocks);
        free(part.block_of);
}

/* ------------------------------------------------------------------------------------------------------ drawing */

/* The places of cells in the picture. */
struct dag_picture_grid {
        int levels;         /* of frames around a node, at most */
        int step_x, step_y; /* between cells */
        int from_x, from_y; /* of the first cell's node */
};

static struct dag_picture_grid dag_picture_grid_of(const struct dag_picture *g)
{
        struct dag_picture_grid grid = {0};
        for (size_t i = 0; i < g->nodes.len; i++)
                grid.levels = MAX(grid.levels, g->nodes.data[i].n_scopes);
        grid.step_x = NODE_WIDTH + NODE_GAP_X + 2 * FRAME_SIDE * grid.levels;
        grid.step_y = NODE_HEIGHT + NODE_GAP_Y + (FRAME_TOP + FRAME_BOTTOM) * grid.levels;
        grid.from_x = 1 + FRAME_SIDE * grid.levels;
        grid.from_y = 1 + FRAME_TOP * grid.levels;
        return grid;
}

static int dag_picture_node_x(const struct dag_picture_grid *grid, const struct dag_picture_node *node)
{
        return grid->from_x + node->column * grid->step_x;
}

static int dag_picture_node_y(const struct dag_picture_grid *grid, const struct dag_picture_node *node)
{
        return grid->from_y + node->row * grid->step_y;
}

/* Shortens a text to what a node has room for, at the border of a character. */
static char *dag_picture_fit(const char *text)
{
        enum { ROOM = 30 };
        size_t n = strlen(text);
        if (n <= ROOM)
                return mem_strdup(text);
        n = ROOM - 1;
        while (n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80)
                n--;
        return mem_printf("%.*s\xe2\x80\xa6", (int)n, text);
}

static void dag_picture_put_frame(struct ui_page *p, const struct dag_picture_grid *grid,
                                  const struct dag_picture_frame *frame)
{
        int level = grid->levels - frame->depth;
        int x = grid->from_x + frame->column * grid->step_x - level * FRAME_SIDE;
        int y = grid->from_y + frame->row * grid->step_y - level * FRAME_TOP;
        int width = (frame->columns - 1) * grid->step_x + NODE_WIDTH + 2 * level * FRAME_SIDE;
        int height = (frame->rows - 1) * grid->step_y + NODE_HEIGHT + level * (FRAME_TOP + FRAME_BOTTOM);
        _cleanup_free_ char *label = dag_picture_fit(frame->label);
        html_put(p->b,
                 "<rect class=scope x=%d y=%d width=%d height=%d rx=8></rect><text class=tick x=%d y=%d>%s</text>\n", x,
                 y, width, height, x + FRAME_SIDE, y + 13, label);
}

static void dag_picture_put_node(struct ui_page *p, const struct dag_picture_grid *grid,
                                 const struct dag_picture_node *node)
{
        int x = dag_picture_node_x(grid, node), y = dag_picture_node_y(grid, node);
        _cleanup_free_ char *title = dag_picture_fit(node->title), *line = dag_picture_fit(node->line);
        if (node->href)
                html_put(p->b, "<a href=\"%s%s\">", p->q->base, node->href);
        html_put(
                p->b,
                "<rect class=\"node %s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"6\"><title>%s\n%s</title></rect>"
                "<text x=\"%d\" y=\"%d\">%s</text><text class=\"tick\" x=\"%d\" y=\"%d\">%s</text>",
                node->class, x, y, NODE_WIDTH, NODE_HEIGHT, node->title, node->line, x + 10, y + 18, title, x + 10,
                y + 35, line);
        buf_puts(p->b, node->href ? "</a>\n" : "\n");
}

static void dag_picture_put_edge(struct ui_page *p, const struct dag_picture_grid *grid,
                                 const struct dag_picture_node *from, const struct dag_picture_node *to)
{
        int x1 = dag_picture_node_x(grid, from) + NODE_WIDTH / 2, y1 = dag_picture_node_y(grid, from) + NODE_HEIGHT;
        int x2 = dag_picture_node_x(grid, to) + NODE_WIDTH / 2, y2 = dag_picture_node_y(grid, to);
        html_put(p->b, "<path class=\"edge\" d=\"M%d %dC%d %d %d %d %d %d\"/>", x1, y1, x1, y1 + 20, x2, y2 - 20, x2,
                 y2);
}

static void dag_picture_deinit(struct dag_picture *g)
{
        for (size_t i = 0; i < g->nodes.len; i++) {
                free(g->nodes.data[i].title);
                free(g->nodes.data[i].line);
                free(g->nodes.data[i].href);
        }
        vec_deinit(&g->nodes);
        vec_deinit(&g->edges);
        vec_deinit(&g->frames);
}

/* Draws the graph and frees it. */
static void dag_picture_put(struct ui_page *p, struct dag_picture *g, const char *label)
{
        int rows, columns;
        size_t *all = new_array(size_t, g->nodes.len);
        for (size_t i = 0; i < g->nodes.len; i++)
                all[i] = i;
        dag_picture_lay_out(g, all, g->nodes.len, 0, &rows, &columns);
        free(all);
        const struct dag_picture_grid grid = dag_picture_grid_of(g);
        int width = columns * grid.step_x;
        int height = rows * grid.step_y - NODE_GAP_Y + 4;
        html_put(p->b,
                 "<div class=\"wide\" tabindex=\"0\"><svg class=\"graph\" viewBox=\"0 0 %d %d\" width=\"%d\" "
                 "height=\"%d\" role=\"img\" aria-label=\"%s\">\n",
                 width, MAX(height, 0), width, MAX(height, 0), label);
        for (size_t i = g->frames.len; i-- > 0;) /* the outer ones first */
                dag_picture_put_frame(p, &grid, &g->frames.data[i]);
        for (size_t i = 0; i < g->edges.len; i++)
                dag_picture_put_edge(p, &grid, &g->nodes.data[g->edges.data[i].from],
                                     &g->nodes.data[g->edges.data[i].to]);
        for (size_t i = 0; i < g->nodes.len; i++)
                dag_picture_put_node(p, &grid, &g->nodes.data[i]);
        buf_puts(p->b, "</svg></div>\n");
        if (g->n_left_out)
                html_put(p->b, "<p class=\"nothing\">%D more are not drawn.</p>\n", (int64_t)g->n_left_out);
        dag_picture_deinit(g);
}

/* ------------------------------------------------------------------------------------------------------- graphs */

/* Sets the scopes of a node. Those that are nested too deeply are left out. */
static void dag_picture_node_set_scopes(struct dag_picture_node *node, const struct status_rdd_info *r)
{
        const struct rdd_scope *outer = r->outer_scope;
        int n_outer = 0;
        if (!r->scope)
                return;
        for (const struct rdd_scope *at = outer; at; at = at->parent)
                n_outer++;
        node->n_scopes = MIN(n_outer + 1, MAX_SCOPES);
        if (n_outer < MAX_SCOPES)
                node->scopes[n_outer] = (struct dag_picture_scope){r->scope_id, r->scope};
        for (int i = n_outer - 1; i >= 0; i--, outer = outer->parent)
                if (i < MAX_SCOPES)
                        node->scopes[i] = (struct dag_picture_scope){atoi(outer->id), outer->name};
}

void page_put_stage_graph(struct ui_page *p, const struct status_stage *stage)
{
        struct dag_picture g = {.n_left_out = stage->rdds.len > MAX_NODES ? stage->rdds.len - MAX_NODES : 0};
        for (size_t i = 0; i < stage->rdds.len && i < MAX_NODES; i++) {
                const struct status_rdd_info *r = &stage->rdds.data[i];
                struct dag_picture_node node = {.id = r->id, .class = r->level != FST_STORAGE_NONE ? "cached" : ""};
                node.title = mem_printf("%s [%d]%s%s", r->name, r->id, r->level != FST_STORAGE_NONE ? ", cached" : "",
                                        r->barrier ? ", barrier" : "");
                node.line = mem_strdup(r->call_site ? r->call_site : "");
                if (r->level != FST_STORAGE_NONE && status_find_rdd(p->s, r->id))
                        node.href = mem_printf("/storage/rdd/?id=%d", r->id);
                else if (r->call_site)
                        node.href = page_source_href(p, r->call_site);
                dag_picture_node_set_scopes(&node, r);
                vec_push(&g.nodes, node);
        }
        for (size_t i = 0; i < g.nodes.len; i++)
                for (int k = 0; k < stage->rdds.data[i].n_parents; k++)
                        dag_picture_add_edge(&g, stage->rdds.data[i].parent_ids[k], i);
        dag_picture_put(p, &g, "RDDs of the stage");
}

/* Returns the latest attempt of a stage that is retained. */
static const struct status_stage *job_stage(const struct status *s, int id)
{
        for (size_t i = s->stages.len; i-- > 0;)
                if (s->stages.data[i]->id == id)
                        return s->stages.data[i];
        return NULL;
}

void page_put_job_graph(struct ui_page *p, const struct status_job *job)
{
        struct dag_picture g = {.n_left_out = job->stages.len > MAX_NODES ? job->stages.len - MAX_NODES : 0};
        for (size_t i = 0; i < job->stages.len && i < MAX_NODES; i++) {
                const struct status_stage *stage = job_stage(p->s, job->stages.data[i].id);
                struct dag_picture_node node = {.id = job->stages.data[i].id, .class = "skipped"};
                node.title = mem_printf("Stage %d%s%s", node.id, stage ? ", " : "",
                                        stage ? page_stage_state(stage->state) : "");
                node.line = mem_strdup(stage ? stage->name : "not retained");
                if (stage) {
                        node.href = mem_printf("/stages/stage/?id=%d&attempt=%d", stage->id, stage->attempt);
                        node.class = stage->state == STATUS_STAGE_SKIPPED    ? "skipped"
                                     : stage->state == STATUS_STAGE_FAILED   ? "s-failed"
                                     : stage->state == STATUS_STAGE_COMPLETE ? "s-done"
                                                                             : "s-run";
                }
                vec_push(&g.nodes, node);
        }
        for (size_t i = 0; i < g.nodes.len; i++) {
                const struct status_stage *stage = job_stage(p->s, g.nodes.data[i].id);
                for (size_t k = 0; stage && k < stage->parents.len; k++)
                        dag_picture_add_edge(&g, stage->parents.data[k], i);
        }
        dag_picture_put(p, &g, "Stages of the job");
}

/* What a lineage is drawn as. */
#pragma once

#include "dice.h"
#include "plan.h"

/* Before the first node: how large and how odd it is, and how many nodes it is to have. */
int draw_plan(struct dice *d, struct plan *p);

/*
 * The next node into p->nodes[p->n_nodes], which is not counted yet: whose parents are nodes that there are and have
 * their tables. False if what was drawn cannot be; draw again. The first one is a source.
 */
bool draw_node(struct dice *d, struct plan *p);

/* A node whose function fails for good, and the action that has to fail. */
void draw_poison(struct dice *d, struct plan *p);

/* The actions, when all nodes are there. */
void draw_actions(struct dice *d, struct plan *p);

/* Draws a random lineage. */
#pragma once

#include "dice.h"
#include "plan.h"

/* Draws the size of the lineage and its unusual values. Returns the number of nodes to draw. */
int draw_plan(struct dice *d, struct plan *p);

/*
 * Draws the next node into p->nodes[p->n_nodes], without counting it. Its parents are existing, evaluated nodes. The
 * first node is a source. Returns false for an invalid draw: draw again.
 */
bool draw_node(struct dice *d, struct plan *p);

/* Draws a node whose function always fails, and the action that must fail. */
void draw_poison(struct dice *d, struct plan *p);

/* Draws the actions, after all nodes. */
void draw_actions(struct dice *d, struct plan *p);

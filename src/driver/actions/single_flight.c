/* See single_flight.h. */
#include "driver/actions/single_flight.h"

#include "driver/context.h"

bool single_flight_begin(fst_rdd *rdd, bool (*done)(const fst_rdd *rdd))
{
        fst_context *sc = rdd->sc;
        pthread_mutex_lock(&sc->prepare);
        sc->n_awaiting++;
        while (rdd->preparing)
                pthread_cond_wait(&sc->prepared, &sc->prepare);
        sc->n_awaiting--;
        bool mine = !done(rdd);
        rdd->preparing = mine;
        pthread_mutex_unlock(&sc->prepare);
        return mine;
}

void single_flight_end(fst_rdd *rdd)
{
        fst_context *sc = rdd->sc;
        pthread_mutex_lock(&sc->prepare);
        rdd->preparing = false;
        pthread_cond_broadcast(&sc->prepared);
        pthread_mutex_unlock(&sc->prepare);
}

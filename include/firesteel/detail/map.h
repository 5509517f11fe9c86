/* How values are read from maps. Not meant to be called by name. */
#pragma once

#include <firesteel/detail/action.h>
#include <firesteel/detail/key.h>

FST_BEGIN_DECLS

FST_API bool fst_map_get_at(const fst_map *map, fst_key key, fst_variable value);

FST_END_DECLS

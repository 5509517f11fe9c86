/* Values of maps. Private: do not use these names. */
#pragma once

#include <firesteel/detail/action.h>
#include <firesteel/detail/key.h>

FST_BEGIN_DECLS

FST_API bool fst_map_get_at(const fst_map *map, fst_key key, fst_variable value);

FST_END_DECLS

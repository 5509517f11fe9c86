/* See region.h. The file's name is removed as soon as it is mapped, so that even a crash leaves no file. */
#include "store/region.h"

#include "base/error.h"
#include "base/mem.h"
#include "store/disk_dirs.h"
#include "store/memory.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sys/mman.h>
#include <unistd.h>

/* Returns the size of the mapping, which must not be empty. */
static size_t mapping_size(size_t size)
{
        return size ? size : 1;
}

static void *map_memory(size_t size)
{
        return !mem_has_room(size)
                       ? MAP_FAILED
                       : mmap(NULL, mapping_size(size), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static int map_one(struct disk_dirs *dirs, size_t size, unsigned char **data, struct fst_error *error)
{
        int fd;
        _cleanup_free_ char *path = NULL;
        int r = disk_dirs_create_unique(dirs, "temp_local_", &fd, &path, error);
        if (r)
                return r;
        unlink(path);
        /* Writing to a hole in the file would raise a signal when the disk is full. */
        r = -posix_fallocate(fd, 0, (off_t)mapping_size(size));
        void *map = r ? MAP_FAILED : mmap(NULL, mapping_size(size), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (r == 0 && map == MAP_FAILED)
                r = -errno;
        close(fd);
        if (r == -ENOMEM)
                return error_set(error, r, "no room for %zu bytes in %s: %s", size, path, strerror(-r));
        if (r) {
                _cleanup_free_ char *doing = mem_printf("making room for %zu bytes in", size);
                return disk_dirs_failed(dirs, doing, path, r, error);
        }
        *data = map;
        return 0;
}

/* Maps a file in any directory that has room. */
static int map_file(struct disk_dirs *dirs, size_t size, unsigned char **data, struct fst_error *error)
{
        for (;;) {
                size_t left = disk_dirs_left(dirs);
                int r = map_one(dirs, size, data, error);
                size_t still = disk_dirs_left(dirs);
                if (r == 0 || still == left || still == 0)
                        return r;
                error_deinit(error);
        }
}

int region_new(struct region *region, struct memory_manager *memory, struct disk_dirs *dirs, uint64_t size,
               struct fst_error *error)
{
        if (size > SIZE_MAX / 4)
                return error_set(error, -ENOMEM, "%" PRIu64 " bytes are too many", size);
        *region = (struct region){.size = (size_t)size};
        if (memory_acquire_storage(memory, mapping_size(region->size))) {
                void *map = map_memory(region->size);
                if (map != MAP_FAILED) {
                        region->data = map;
                        region->in_memory = true;
                        return 0;
                }
                memory_release_storage(memory, mapping_size(region->size));
        }
        if (!disk_dirs_key(dirs))
                return map_file(dirs, region->size, &region->data, error);
        void *map = map_memory(region->size);
        if (map == MAP_FAILED)
                return error_set(error, -ENOMEM, "no memory for %zu bytes", region->size);
        region->data = map;
        return 0;
}

bool region_move_out(struct region *region, struct memory_manager *memory, struct disk_dirs *dirs,
                     struct fst_error *error)
{
        unsigned char *data;
        if (!region->in_memory || disk_dirs_key(dirs) || map_file(dirs, region->size, &data, error))
                return false;
        memcpy(data, region->data, region->size);
        region_deinit(&(struct region){region->data, region->size, true}, memory);
        region->data = data;
        region->in_memory = false;
        return true;
}

void region_deinit(struct region *region, struct memory_manager *memory)
{
        if (!region->data)
                return;
        munmap(steal(region->data), mapping_size(region->size));
        if (region->in_memory)
                memory_release_storage(memory, mapping_size(region->size));
}

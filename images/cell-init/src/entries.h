// The names in a folder, read through a descriptor, without memory from the heap.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct entries {
    int fd;
    size_t used, filled;
    char bytes[4096] __attribute__((aligned(8)));
};

struct entry_header {
    uint64_t inode, offset;
    uint16_t length;
    uint8_t type;
    char name[];
};

static inline void entries_start(struct entries *e, int fd) {
    e->fd = fd;
    e->used = e->filled = 0;
}

static inline const char *entries_next(struct entries *e) {
    for (;;) {
        if (e->used == e->filled) {
            long n = syscall(SYS_getdents64, e->fd, e->bytes, sizeof e->bytes);
            if (n <= 0) return NULL;
            e->used = 0;
            e->filled = (size_t)n;
        }
        const struct entry_header *entry = (const void *)(e->bytes + e->used);
        e->used += entry->length;
        const char *name = entry->name;
        if (strcmp(name, ".") && strcmp(name, "..")) return name;
    }
}

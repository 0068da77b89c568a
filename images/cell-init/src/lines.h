// Lines of a file under /proc, each cut at MAX_LINE - 1 bytes.
#pragma once
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

#define MAX_LINE 8192

struct lines {
    int fd;
    size_t used, filled;
    char bytes[4096];
};

static inline bool lines_open(struct lines *l, const char *path) {
    l->used = l->filled = 0;
    l->fd = open(path, O_RDONLY | O_CLOEXEC);
    return l->fd >= 0;
}

static inline void lines_close(struct lines *l) {
    close(l->fd);
}

static inline bool lines_next(struct lines *l, char line[MAX_LINE]) {
    for (size_t length = 0;;) {
        if (l->used == l->filled) {
            ssize_t n = read(l->fd, l->bytes, sizeof l->bytes);
            if (n <= 0) {
                line[length] = 0;
                return length > 0;
            }
            l->used = 0;
            l->filled = (size_t)n;
        }
        char c = l->bytes[l->used++];
        if (c == '\n') {
            line[length] = 0;
            return true;
        }
        if (length < MAX_LINE - 1) line[length++] = c;
    }
}

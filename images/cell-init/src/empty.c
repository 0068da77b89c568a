// Empties /tmp, /dev/shm and the job's part of /work, with the job's uid, before outputs are collected: a cell whose
// memory is full of tmpfs has no room for a collector.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cell.h"
#include "entries.h"

#define BUDGET_SECONDS 10

static unsigned long next_name;

static bool open_folder(int dir, const char *name, int *sub) {
    fchmodat(dir, name, 0700, 0);
    *sub = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return *sub >= 0;
}

// Flattens a tree of any depth into `top`, one level at a time: no recursion, two descriptors.
static bool move_up(int top, int sub, const char *name) {
    char moved[32];
    fchmodat(sub, name, 0700, 0);
    do {
        snprintf(moved, sizeof moved, ".e%lu", next_name++);
        if (renameat(sub, name, top, moved) == 0) return true;
    } while (errno == EEXIST || errno == ENOTEMPTY || errno == ENOTDIR || errno == EISDIR);
    return false;
}

static bool remove_folder(int top, const char *name, struct entries *inner) {
    int sub;
    bool progress = false;
    if (!open_folder(top, name, &sub)) return false;
    entries_start(inner, sub);
    for (const char *entry; (entry = entries_next(inner));)
        if (unlinkat(sub, entry, 0) == 0 || (errno == EISDIR && move_up(top, sub, entry))) progress = true;
    close(sub);
    return unlinkat(top, name, AT_REMOVEDIR) == 0 || progress;
}

// The job can't remove folders that init made, only their content; a path's parts bound their depth.
static void empty_folder(int top, int depth) {
    struct entries outer, inner;
    for (bool progress = true; progress;) {
        progress = false;
        lseek(top, 0, SEEK_SET);
        entries_start(&outer, top);
        for (const char *name; (name = entries_next(&outer));) {
            struct stat s;
            int sub;
            if (fstatat(top, name, &s, AT_SYMLINK_NOFOLLOW)) continue;
            if (!S_ISDIR(s.st_mode)) {
                if (unlinkat(top, name, 0) == 0) progress = true;
            } else if (s.st_uid == cell.job.uid) {
                if (remove_folder(top, name, &inner)) progress = true;
            } else if (depth < MAX_PATH_PARTS && (sub = openat(top, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) >= 0) {
                empty_folder(sub, depth + 1);
                close(sub);
            }
        }
    }
}

bool scratch_empty(void *nothing, int *err) {
    (void)nothing;
    (void)err;
    // What remains may stay: the outputs matter more.
    alarm(BUDGET_SECONDS);
    static const char *const folders[] = {"/tmp", "/dev/shm", "/work"};
    // What a workspace keeps comes last, and stays.
    size_t count = sizeof folders / sizeof *folders - cell.job.workspace.asked;
    for (size_t i = 0; i < count; i++) {
        int dir = open(folders[i], O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (dir < 0) continue;
        empty_folder(dir, 0);
        close(dir);
    }
    return true;
}

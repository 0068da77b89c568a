// The entries of /dev, two levels deep.
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include "entries.h"
#include "posture.h"

#define MOST_DEVICES 256

static size_t devices;

static void say_device(int dir, const char *path, const char *name, const struct stat *s) {
    char target[256];
    ssize_t length = S_ISLNK(s->st_mode) ? readlinkat(dir, name, target, sizeof target) : 0;
    begin_record(POSTURE_DEVICE);
    record_bytes(&record, path, strnlen(path, 512));
    record_uint(&record, s->st_mode);
    record_uint(&record, major(s->st_rdev));
    record_uint(&record, minor(s->st_rdev));
    record_bytes(&record, target, length > 0 ? (size_t)length : 0);
    end_record();
}

static void say_folder(const char *folder, int depth) {
    struct entries entries;
    int dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0) {
        say_unreadable(POSTURE_DEVICE);
        return;
    }
    entries_start(&entries, dir);
    for (const char *name; (name = entries_next(&entries));) {
        struct stat s;
        char path[512];
        snprintf(path, sizeof path, "%s/%s", folder, name);
        if (fstatat(dir, name, &s, AT_SYMLINK_NOFOLLOW)) continue;
        if (devices++ == MOST_DEVICES) say_more(POSTURE_DEVICE);
        if (devices > MOST_DEVICES) break;
        say_device(dir, path, name, &s);
        if (S_ISDIR(s.st_mode) && depth > 1) say_folder(path, depth - 1);
    }
    close(dir);
}

void say_devices(void) {
    say_folder("/dev", 2);
}

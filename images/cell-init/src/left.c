// Names what a job left at the top of /work: nothing of it is kept, and its author may have meant it for /outputs. Init
// looks itself, at a folder of its own and at a bounded number of names: a child would cost every run time.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cell.h"
#include "entries.h"

#define MOST_LOOKED_AT 1000

static struct entries entries;
static char names[MAX_WORK_LEFT][MAX_NAME_BYTES + 2];

// Not what programs keep for themselves.
static bool is_meant(int dir, const char *name, bool *is_folder) {
    struct stat s;
    if (name[0] == '.' || strcmp(name, "__pycache__") == 0) return false;
    if (fstatat(dir, name, &s, AT_SYMLINK_NOFOLLOW) || s.st_uid != cell.job.uid) return false;
    *is_folder = S_ISDIR(s.st_mode);
    return *is_folder || S_ISREG(s.st_mode);
}

static size_t find_left(int dir, bool *more) {
    size_t found = 0, looked_at = 0;
    entries_start(&entries, dir);
    for (const char *name; (name = entries_next(&entries));) {
        bool is_folder;
        if (++looked_at > MOST_LOOKED_AT) *more = true;
        if (*more) break;
        if (!is_meant(dir, name, &is_folder)) continue;
        if (found == MAX_WORK_LEFT) {
            *more = true;
            break;
        }
        size_t length = strnlen(name, MAX_NAME_BYTES);
        memcpy(names[found], name, length);
        if (is_folder) names[found][length++] = '/';
        names[found++][length] = 0;
    }
    return found;
}

void say_left(void) {
    int dir = open("/work", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (dir < 0) return;
    bool more = false;
    size_t found = find_left(dir, &more);
    close(dir);
    if (found == 0) return;
    struct writer w = out_begin(2 + sizeof names + 2 * MAX_WORK_LEFT);
    put_uint(&w, more, 1);
    put_uint(&w, found, 1);
    for (size_t i = 0; i < found; i++) put_str(&w, names[i], strnlen(names[i], sizeof names[i]));
    out_end(T_WORK_LEFT, &w);
}

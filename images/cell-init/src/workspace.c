// Lays a workspace out: a child with the job's uid copies the tree that is mounted read-only below /inputs into /work,
// where all of it is then the job's own. Each part of a path is opened by itself, without following links. The tree has
// regular files and folders alone; anything else is an error.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "cell.h"
#include "entries.h"

#define FOLDER (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

struct level {
    struct entries from;
    int to;
};

static struct level levels[MAX_OUTPUT_DEPTH];

static bool copy_bytes(int from, int to) {
    static uint8_t bytes[64 * 1024];
    for (;;) {
        ssize_t n = read(from, bytes, sizeof bytes);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return n == 0;
        for (ssize_t sent = 0; sent < n;) {
            ssize_t m = write(to, bytes + sent, (size_t)(n - sent));
            if (m < 0 && errno == EINTR) continue;
            if (m <= 0) return false;
            sent += m;
        }
    }
}

static bool copy_file(int from_dir, int to_dir, const char *name) {
    int from = openat(from_dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (from < 0) return false;
    struct stat s;
    errno = EINVAL;
    bool done = false;
    if (fstat(from, &s) == 0 && S_ISREG(s.st_mode)) {
        int to = openat(to_dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
        done = to >= 0 && copy_bytes(from, to);
        int err = errno;
        if (to >= 0) close(to);
        errno = err;
    }
    int err = errno;
    close(from);
    errno = err;
    return done;
}

// On the next level. A folder that init made for a block's file is there already.
static bool enter(struct level *above, const char *name, size_t level) {
    if (level >= MAX_OUTPUT_DEPTH) {
        errno = ELOOP;
        return false;
    }
    if (mkdirat(above->to, name, 0755) && errno != EEXIST) return false;
    int from = openat(above->from.fd, name, FOLDER);
    if (from < 0) return false;
    entries_start(&levels[level].from, from);
    levels[level].to = openat(above->to, name, FOLDER);
    return levels[level].to >= 0;
}

static bool copy_tree(void) {
    int from = open("/inputs/.workspace", FOLDER);
    if (from < 0) return false;
    entries_start(&levels[0].from, from);
    levels[0].to = open("/work", FOLDER);
    if (levels[0].to < 0) return false;
    for (size_t level = 0;;) {
        struct level *at = &levels[level];
        errno = 0;
        const char *name = entries_next(&at->from);
        if (!name) {
            if (errno) return false;
            close(at->from.fd);
            close(at->to);
            if (level-- == 0) return true;
            continue;
        }
        struct stat s;
        if (fstatat(at->from.fd, name, &s, AT_SYMLINK_NOFOLLOW)) return false;
        if (S_ISDIR(s.st_mode)) {
            if (!enter(at, name, ++level)) return false;
        } else if (!copy_file(at->from.fd, at->to, name)) {
            return false;
        }
    }
}

// Its exit status is the error, as far as it fits there.
static bool lay_out(void *nothing, int *err) {
    (void)nothing;
    // A file above the job's limit for one is an error that can be told, not a death.
    signal(SIGXFSZ, SIG_IGN);
    if (copy_tree()) return true;
    *err = errno;
    _exit(*err > 0 && *err < 126 ? *err : EIO);
}

// Kills wait meanwhile: the first block hears of them.
void workspace_lay_out(void) {
    if (!cell.job.workspace.asked) return;
    struct child_plan plan = {.out = -1, .err = -1, .status_fd = -1, .body = lay_out};
    pid_t child = spawn(&plan);
    if (child < 0) fail(E_WORKSPACE, errno, "no process could be started to lay the workspace out");
    int status = -1;
    while (reap(child, &status) && status == -1) pump(NEVER);
    if (status == 0) return;
    // Killed: the copy took all memory of the cell.
    fail(E_WORKSPACE, WIFEXITED(status) ? WEXITSTATUS(status) : ENOMEM, "the workspace could not be laid out in /work");
}

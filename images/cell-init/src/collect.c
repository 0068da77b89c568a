// The collector: a child with the job's uid that runs once nothing of the job lives. It walks /outputs by descriptors,
// opens nothing that can block and nothing through a link, and reports why it leaves anything out. Another one walks /work,
// if the run keeps it.
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cell.h"
#include "entries.h"

// What is collected, and how much of it at most.
struct collection {
    const char *root;
    uint64_t bytes;
    uint32_t files;
    uint16_t depth, path_bytes;
    bool is_work;
};

struct totals *totals;
static struct collection of;

// Shared with init, which reports the totals even if the collector dies first.
void totals_start(void) {
    totals = mmap(NULL, sizeof *totals, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (totals == MAP_FAILED) fail(E_SYSTEM, errno, "no memory for the totals");
    memset(totals, 0, sizeof *totals);
}

// Init itself checks this, on a folder of its own: many runs have no outputs, and a needless child costs time,
// above all under gVisor.
bool no_outputs(void) {
    int dir = open("/outputs", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (dir < 0) return false;
    struct entries entries;
    entries_start(&entries, dir);
    errno = 0;
    bool none = !entries_next(&entries) && errno == 0;
    close(dir);
    return none;
}

static uint8_t buffer[2 * (HEADER_BYTES + MAX_CHUNK_BYTES)];
static size_t filled;

static void flush(void) {
    for (size_t sent = 0; sent < filled;) {
        ssize_t n = write(STDOUT_FILENO, buffer + sent, filled - sent);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) _exit(1);
        sent += (size_t)n;
    }
    filled = 0;
}

static struct writer begin(size_t most) {
    if (sizeof buffer - filled < HEADER_BYTES + most) flush();
    return (struct writer){.at = buffer + filled + HEADER_BYTES, .room = most};
}

static void end(uint8_t type, const struct writer *w) {
    set_header(buffer + filled, type, w->length);
    filled += HEADER_BYTES + w->length;
}

// The path of the current entry, without its root; cut if it is too long to report.
static char path[MAX_PATH_BYTES + MAX_NAME_BYTES + 2];
static size_t path_length;

static void refuse(enum refusal reason, int err) {
    if (reason == REFUSE_TOO_MANY_FILES) totals->flags |= END_FILES_EXCEEDED;
    if (reason == REFUSE_TOO_MANY_BYTES) totals->flags |= END_BYTES_EXCEEDED;
    if (totals->refused++ >= MAX_REFUSALS) return;
    size_t most = of.path_bytes;
    struct writer w = begin(5 + most);
    put_uint(&w, reason, 1);
    put_uint(&w, (uint64_t)err, 2);
    put_str(&w, path, path_length < most ? path_length : most);
    end(T_OUTPUT_REFUSED, &w);
}

// The folder is the job's own, which may have removed its permissions.
static int open_ours(int dir, const char *name, int flags, mode_t mode) {
    int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | flags);
    if (fd >= 0 || errno != EACCES || fchmodat(dir, name, mode, 0)) return fd;
    return openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | flags);
}

static int send_bytes(int fd, uint64_t size) {
    while (size) {
        size_t want = size < MAX_CHUNK_BYTES ? size : MAX_CHUNK_BYTES;
        struct writer w = begin(want);
        ssize_t n = read(fd, w.at, want);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return n < 0 ? errno : EIO;
        put_room(&w, (size_t)n);
        end(T_OUTPUT_DATA, &w);
        totals->bytes += (uint64_t)n;
        size -= (uint64_t)n;
    }
    return 0;
}

static void send_file(int dir, const char *name, dev_t device) {
    int fd = open_ours(dir, name, 0, 0600);
    struct stat s;
    if (fd < 0 || fstat(fd, &s)) {
        refuse(REFUSE_UNREADABLE, errno);
    } else if (!S_ISREG(s.st_mode)) {
        refuse(REFUSE_UNKNOWN_KIND, 0);
    } else if (s.st_dev != device) {
        refuse(REFUSE_OTHER_FILESYSTEM, 0);
    } else if (s.st_nlink != 1) {
        refuse(REFUSE_HARDLINK, 0);
    } else if (totals->files >= of.files) {
        refuse(REFUSE_TOO_MANY_FILES, 0);
    } else if ((uint64_t)s.st_size > of.bytes - totals->bytes) {
        refuse(REFUSE_TOO_MANY_BYTES, 0);
    } else {
        totals->files++;
        struct writer w = begin(10 + path_length);
        put_uint(&w, (uint64_t)s.st_size, 8);
        put_str(&w, path, path_length);
        end(T_OUTPUT_ENTRY, &w);
        int err = send_bytes(fd, (uint64_t)s.st_size);
        w = begin(3);
        put_uint(&w, err == 0, 1);
        put_uint(&w, (uint64_t)err, 2);
        end(T_OUTPUT_END, &w);
    }
    if (fd >= 0) close(fd);
}

static enum refusal refused_kind(mode_t mode) {
    switch (mode & S_IFMT) {
        case S_IFLNK: return REFUSE_SYMLINK;
        case S_IFIFO: return REFUSE_FIFO;
        case S_IFSOCK: return REFUSE_SOCKET;
        case S_IFBLK:
        case S_IFCHR: return REFUSE_DEVICE;
        default: return REFUSE_UNKNOWN_KIND;
    }
}

static struct entries levels[MAX_OUTPUT_DEPTH];

// Enters the folder on a new level, or reports why not. A file in the root itself is at depth 1.
static bool enter(int dir, const char *name, size_t level, dev_t device) {
    if (level >= of.depth) {
        refuse(REFUSE_TOO_DEEP, 0);
        return false;
    }
    int sub = open_ours(dir, name, O_DIRECTORY, 0700);
    struct stat s;
    if (sub < 0 || fstat(sub, &s) || s.st_dev != device) {
        refuse(sub < 0 ? REFUSE_UNREADABLE : REFUSE_OTHER_FILESYSTEM, sub < 0 ? errno : 0);
        if (sub >= 0) close(sub);
        return false;
    }
    entries_start(&levels[level], sub);
    return true;
}

// One entry of the folder; true when it is a folder that was entered.
static bool visit(int dir, const char *name, size_t level, dev_t device) {
    struct stat s;
    if (path_length > of.path_bytes) refuse(REFUSE_PATH_TOO_LONG, 0);
    else if (fstatat(dir, name, &s, AT_SYMLINK_NOFOLLOW)) refuse(REFUSE_UNREADABLE, errno);
    else if (S_ISDIR(s.st_mode)) return enter(dir, name, level + 1, device);
    // The code and the bundled files are the run's, not the workspace's. Only init can make anything in /work that is root's.
    else if (of.is_work && s.st_uid != cell.job.uid) return false;
    else if (S_ISREG(s.st_mode)) send_file(dir, name, device);
    else refuse(refused_kind(s.st_mode), 0);
    return false;
}

static bool walk(void *collection, int *err) {
    (void)err;
    of = *(const struct collection *)collection;
    struct stat root;
    int dir = open(of.root, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (dir < 0 || fstat(dir, &root)) return false;
    size_t lengths[MAX_OUTPUT_DEPTH] = {0};
    size_t level = 0;
    entries_start(&levels[0], dir);
    for (;;) {
        const char *name = entries_next(&levels[level]);
        if (!name) {
            close(levels[level].fd);
            if (level-- == 0) break;
            continue;
        }
        // Entered folders' paths are within the bound, and a name within its own: this fits.
        size_t at = lengths[level], length = strnlen(name, MAX_NAME_BYTES);
        memcpy(path + at, name, length);
        path_length = at + length;
        if (!visit(levels[level].fd, name, level, root.st_dev)) continue;
        path[path_length] = '/';
        lengths[++level] = path_length + 1;
    }
    flush();
    return true;
}

static void collect(struct collection *collection) {
    int ends[2];
    pipe_as_job(ends, FRAMES_PIPE_BYTES);
    struct child_plan plan = {.out = ends[1], .err = -1, .status_fd = -1, .body = walk, .argument = collection};
    pid_t child = spawn(&plan);
    close(ends[1]);
    relay_start(ends[0], T_OUTPUT_ENTRY, T_OUTPUT_REFUSED);
    bool whole = child > 0 && wait_for(child, NEVER);
    while (relay.fd >= 0) pump(NEVER);
    if (whole) return;
    totals->flags |= END_INCOMPLETE;
    if (relay.last_type != T_OUTPUT_ENTRY && relay.last_type != T_OUTPUT_DATA) return;
    struct writer w = out_begin(3);
    put_uint(&w, 0, 1);
    put_uint(&w, ECANCELED, 2);
    out_end(T_OUTPUT_END, &w);
}

void collect_outputs(void) {
    const struct limits *limits = &cell.job.limits;
    struct collection outputs = {.root = "/outputs",
                                 .bytes = limits->output_bytes,
                                 .files = limits->output_files,
                                 .depth = limits->output_depth,
                                 .path_bytes = limits->output_path_bytes};
    collect(&outputs);
}

void collect_workspace(void) {
    memset(totals, 0, sizeof *totals);
    struct writer w = out_begin(0);
    out_end(T_WORKSPACE_BEGINS, &w);
    struct collection work = {.root = "/work",
                              .bytes = cell.job.workspace.bytes,
                              .files = cell.job.workspace.files,
                              .depth = MAX_OUTPUT_DEPTH,
                              .path_bytes = MAX_PATH_BYTES,
                              .is_work = true};
    collect(&work);
    w = out_begin(21);
    put_uint(&w, totals->files, 4);
    put_uint(&w, totals->bytes, 8);
    put_uint(&w, totals->refused, 8);
    put_uint(&w, totals->flags, 1);
    out_end(T_WORKSPACE_END, &w);
}

// /work: files placed where a job cannot replace them. Init is root without DAC_OVERRIDE, so its rights come from owning
// the folder, which is sticky like /work; each part of a path is opened by itself, without following links.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cell.h"
#include "entries.h"
#include "sha256.h"

#define FOLDER (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

static bool is_ours(int dir) {
    struct stat s;
    return fstat(dir, &s) == 0 && s.st_uid == 0 && (s.st_mode & S_ISVTX);
}

// A tmpfs takes the mode of the image's folder below it, whatever mode was requested.
static void open_to_job(const char *folder) {
    int dir = open(folder, FOLDER);
    if (dir < 0 && errno == ENOENT) return;
    if (dir < 0 || fchmod(dir, 01777)) fail(E_UNSEALED, errno, "scratch is not root's own");
    close(dir);
}

void scratch_check(void) {
    open_to_job("/work");
    open_to_job("/outputs");
    open_to_job("/tmp");
    open_to_job("/dev/shm");
    int work = open("/work", FOLDER);
    if (work < 0) fail(E_UNSEALED, errno, "there is no /work");
    if (!is_ours(work)) fail(E_UNSEALED, 0, "/work is not root's own sticky folder");
    close(work);
}

// The folder of `path` (-1: errno says why) and its last part.
static int folder_of(const char *path, bool make, const char **leaf) {
    int dir = open("/work", FOLDER);
    while (dir >= 0) {
        const char *slash = strchr(path, '/');
        if (!slash) break;
        char name[MAX_NAME_BYTES + 1];
        memcpy(name, path, (size_t)(slash - path));
        name[slash - path] = 0;
        bool made = make && mkdirat(dir, name, 0700) == 0;
        int next = openat(dir, name, FOLDER);
        // Writable for the job, like /work, but not owned by it.
        if (next >= 0 && ((made && fchmod(next, 01777)) || !is_ours(next))) {
            close(next);
            next = -1;
            errno = EPERM;
        }
        int err = errno;
        close(dir);
        errno = err;
        dir = next;
        path = slash + 1;
    }
    *leaf = path;
    return dir;
}

int scratch_folders(const char *path) {
    const char *leaf;
    int dir = folder_of(path, true, &leaf);
    if (dir < 0) return errno;
    close(dir);
    return 0;
}

// An earlier block put something where our file goes: move it aside. Nothing of the job lives while this runs.
static bool rename_aside(int dir, const char *leaf) {
    struct stat s;
    if (fstatat(dir, leaf, &s, AT_SYMLINK_NOFOLLOW)) return errno == ENOENT;
    for (int i = 0; i < 64; i++) {
        char aside[64];
        snprintf(aside, sizeof aside, ".aside-%llu", (unsigned long long)now_us());
        if (fstatat(dir, aside, &s, AT_SYMLINK_NOFOLLOW) && errno == ENOENT) return renameat(dir, leaf, dir, aside) == 0;
    }
    errno = EEXIST;
    return false;
}

static int create(const char *path, bool make_folders, int *dir, const char **leaf) {
    *dir = folder_of(path, make_folders, leaf);
    if (*dir < 0) return -1;
    int fd = rename_aside(*dir, *leaf) ? openat(*dir, *leaf, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0444) : -1;
    int err = errno;
    if (fd < 0) close(*dir);
    errno = err;
    return fd;
}

static bool verify(int dir, const char *leaf, uint64_t size, const uint8_t sha256[32]) {
    int fd = openat(dir, leaf, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    struct stat s;
    bool same = fd >= 0 && fstat(fd, &s) == 0 && S_ISREG(s.st_mode) && s.st_uid == 0 && s.st_nlink == 1 &&
                (s.st_mode & 07777) == 0444 && (uint64_t)s.st_size == size;
    struct sha256 hash;
    sha256_start(&hash);
    static uint8_t bytes[16384];
    for (ssize_t n = 1; same && n > 0;) {
        n = read(fd, bytes, sizeof bytes);
        same = n >= 0;
        if (n > 0) sha256_add(&hash, bytes, (size_t)n);
    }
    uint8_t digest[32];
    sha256_end(&hash, digest);
    if (fd >= 0) close(fd);
    return same && memcmp(digest, sha256, 32) == 0;
}

static bool write_all(int fd, const uint8_t *bytes, size_t length) {
    while (length) {
        ssize_t n = write(fd, bytes, length);
        if (n < 0 && errno == EINTR) continue;
        if (n == 0) errno = EIO;
        if (n <= 0) return false;
        bytes += n;
        length -= (size_t)n;
    }
    return true;
}

// 0, or why the block's file could not be written: the job may have filled /work, which is its own fault. Bytes that
// differ are ours.
int scratch_place(const struct block *block) {
    const char *leaf;
    int dir;
    int fd = create(block->path, false, &dir, &leaf);
    if (fd < 0) return errno;
    int err = write_all(fd, block->code, block->size) ? 0 : errno;
    close(fd);
    if (!err && !verify(dir, leaf, block->size, block->sha256)) fail(E_DIGEST, 0, "a block's file is not what was written");
    close(dir);
    return err;
}

static int file_fd, file_dir, files_error;
static const char *file_leaf;

// What the steps before left of /work is the job's own doing: then the step does not start, and the cell goes on.
static bool file_failed(int err, const char *text) {
    if (cell.job.phase != IDLE) fail(E_FILE, err, text);
    if (!files_error) files_error = err;
    file_fd = -1;
    return false;
}

void scratch_file_begin(void) {
    file_fd = create(cell.job.file.path, true, &file_dir, &file_leaf);
    if (file_fd < 0 && !file_failed(errno, "a bundled file could not be made in /work")) return;
    scratch_file_data(NULL, 0);
}

void scratch_file_data(const uint8_t *bytes, size_t length) {
    if (file_fd < 0) return;
    if (!write_all(file_fd, bytes, length)) {
        int err = errno;
        close(file_fd);
        close(file_dir);
        file_failed(err, "a bundled file could not be written to /work");
        return;
    }
    if (cell.job.file_left) return;
    close(file_fd);
    if (!verify(file_dir, file_leaf, cell.job.file.size, cell.job.file.sha256))
        fail(E_DIGEST, 0, "a bundled file is not the one that was announced");
    close(file_dir);
}

// Why a file of the step that begins could not be written, or 0.
int step_files_error(void) {
    int err = files_error;
    files_error = 0;
    return err;
}

// The job may not add to the folder of this file.
void scratch_keep_out(const char *path) {
    const char *leaf;
    int dir = folder_of(path, false, &leaf);
    if (dir < 0 || fchmod(dir, 01755)) fail(E_FILE, errno, "the folder of a file in /work cannot be closed to the job");
    close(dir);
}

// Removes a file that was placed, and its folders, which must be empty: 0, or why that was not possible.
int scratch_take_away(const char *path) {
    char left[MAX_PATH_BYTES + 1];
    strcpy(left, path);
    for (int kind = 0;; kind = AT_REMOVEDIR) {
        const char *leaf;
        int dir = folder_of(left, false, &leaf);
        if (dir < 0) return errno;
        int err = unlinkat(dir, leaf, kind) ? errno : 0;
        close(dir);
        char *cut = strrchr(left, '/');
        if (err || !cut) return err;
        *cut = 0;
    }
}

// Whether nothing lies in any folder that a job can write.
bool scratch_unused(void) {
    static const char *const folders[] = {"/work", "/outputs", "/tmp", "/dev/shm"};
    static struct entries entries;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        int dir = open(folders[i], FOLDER);
        if (dir < 0 && errno == ENOENT) continue;
        if (dir < 0) return false;
        entries_start(&entries, dir);
        bool empty = !entries_next(&entries);
        close(dir);
        if (!empty) return false;
    }
    return true;
}

// What this process is and sees, according to the kernel: by a system call where there is one, else from /proc.
#include "posture.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>
#include "caps.h"
#include "cell.h"
#include "lines.h"
#include "sha256.h"

extern char **environ;

bool read_capabilities(uint64_t caps[5]) {
    struct cap_header header = CAP_HEADER;
    struct cap_data sets[2] = {0};
    if (syscall(SYS_capget, &header, sets)) return false;
    caps[0] = sets[0].inheritable | (uint64_t)sets[1].inheritable << 32;
    caps[1] = sets[0].permitted | (uint64_t)sets[1].permitted << 32;
    caps[2] = sets[0].effective | (uint64_t)sets[1].effective << 32;
    caps[3] = caps[4] = 0;
    // Older gVisor has no ambient set.
    bool ambient = true;
    for (unsigned long cap = 0; cap < 64; cap++) {
        int bounding = prctl(PR_CAPBSET_READ, cap, 0, 0, 0);
        // The kernel has neither this capability nor any above it.
        if (bounding < 0) break;
        if (bounding) caps[3] |= 1ull << cap;
        int raised = ambient ? prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, cap, 0, 0) : 0;
        if (raised < 0) ambient = false;
        if (raised == 1) caps[4] |= 1ull << cap;
    }
    return true;
}

void say_identity(void) {
    uid_t uid[3];
    gid_t gid[3], groups[64];
    uint64_t caps[5];
    if (syscall(SYS_getresuid, uid, uid + 1, uid + 2) || syscall(SYS_getresgid, gid, gid + 1, gid + 2)) _exit(3);
    begin_record(POSTURE_IDS);
    for (int i = 0; i < 3; i++) record_uint(&record, uid[i]);
    for (int i = 0; i < 3; i++) record_uint(&record, gid[i]);
    end_record();
    int count = getgroups(64, groups);
    if (count < 0) say_unreadable(POSTURE_GROUP);
    for (int i = 0; i < count; i++) say_number(POSTURE_GROUP, groups[i]);
    if (!read_capabilities(caps)) _exit(3);
    begin_record(POSTURE_CAPS);
    for (int i = 0; i < 5; i++) record_uint(&record, caps[i]);
    end_record();
    int nnp = prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), seccomp = prctl(PR_GET_SECCOMP, 0, 0, 0, 0);
    if (nnp < 0) say_unreadable(POSTURE_NO_NEW_PRIVS);
    else say_number(POSTURE_NO_NEW_PRIVS, (uint64_t)nnp);
    if (seccomp < 0) say_unreadable(POSTURE_SECCOMP);
    else say_number(POSTURE_SECCOMP, (uint64_t)seccomp);
}

static void say_limits(void) {
    for (int resource = 0; resource <= 15; resource++) {
        struct rlimit limit;
        if (getrlimit(resource, &limit)) {
            say_unreadable(POSTURE_RLIMIT);
            continue;
        }
        begin_record(POSTURE_RLIMIT);
        record_uint(&record, (uint64_t)resource);
        record_uint(&record, limit.rlim_cur);
        record_uint(&record, limit.rlim_max);
        end_record();
    }
}

static void say_cgroup(void) {
    static const char *const files[] = {
        "memory/memory.limit_in_bytes", "memory/memory.memsw.limit_in_bytes", "cpu/cpu.cfs_quota_us",
        "cpu/cpu.cfs_period_us", "pids/pids.max", "memory.max", "memory.swap.max", "cpu.max", "pids.max",
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[128], line[MAX_LINE];
        snprintf(path, sizeof path, "/sys/fs/cgroup/%s", files[i]);
        struct lines lines;
        if (!lines_open(&lines, path)) continue;
        if (lines_next(&lines, line)) {
            begin_record(POSTURE_CGROUP);
            record_bytes(&record, files[i], strlen(files[i]));
            record_bytes(&record, line, strnlen(line, 128));
            end_record();
        }
        lines_close(&lines);
    }
}

static void say_environment(void) {
    // By digest: a value may be longer than a record.
    for (char **entry = environ; *entry; entry++) {
        struct sha256 hash;
        uint8_t digest[32];
        size_t name = strcspn(*entry, "=");
        sha256_start(&hash);
        sha256_add(&hash, *entry, strlen(*entry));
        sha256_end(&hash, digest);
        begin_record(POSTURE_ENV);
        record_bytes(&record, *entry, name < 512 ? name : 512);
        record_bytes(&record, digest, sizeof digest);
        end_record();
    }
}

static void say_cpus(void) {
    cpu_set_t cpus;
    if (sched_getaffinity(0, sizeof cpus, &cpus)) say_unreadable(POSTURE_CPUS);
    else say_number(POSTURE_CPUS, (uint64_t)CPU_COUNT(&cpus));
}

static void say_descriptor(int fd) {
    struct stat s;
    if (fstat(fd, &s)) return;
    begin_record(POSTURE_FD);
    record_uint(&record, (uint64_t)fd);
    record_uint(&record, s.st_mode);
    record_uint(&record, (uint64_t)fcntl(fd, F_GETFL));
    end_record();
}

static void say_descriptors(void) {
    // By system calls, not /proc/self/fd, where the reading itself would show. One poll rules out many descriptors; where
    // poll may not take so many, try each.
    struct pollfd asked[64];
    for (int first = 0; first < 1024; first += 64) {
        for (int i = 0; i < 64; i++) asked[i] = (struct pollfd){.fd = first + i};
        bool told = poll(asked, 64, 0) >= 0;
        for (int i = 0; i < 64; i++)
            if (!told || !(asked[i].revents & POLLNVAL)) say_descriptor(first + i);
    }
}

// Every line of the file, or only its first, as records of `key`.
static void say_lines(enum posture_key key, const char *path, size_t most) {
    struct lines lines;
    char line[MAX_LINE];
    if (!lines_open(&lines, path)) {
        say_unreadable(key);
        return;
    }
    for (size_t i = 0; i < most && lines_next(&lines, line); i++) say_text(key, line);
    lines_close(&lines);
}

int posture_main(void) {
    struct utsname name;
    char cwd[512];
    say_identity();
    say_network();
    say_mounts();
    say_limits();
    say_cgroup();
    say_devices();
    say_environment();
    say_descriptors();
    say_cpus();
    say_tried();
    say_hidden();
    if (getcwd(cwd, sizeof cwd)) say_text(POSTURE_CWD, cwd);
    else say_unreadable(POSTURE_CWD);
    say_lines(POSTURE_UID_MAP, "/proc/self/uid_map", 16);
    say_lines(POSTURE_GID_MAP, "/proc/self/gid_map", 16);
    say_lines(POSTURE_OOM_SCORE_ADJ, "/proc/self/oom_score_adj", 1);
    say_lines(POSTURE_LSM, "/proc/self/attr/current", 1);
    uname(&name);
    say_text(POSTURE_HOSTNAME, name.nodename);
    begin_record(POSTURE_KERNEL);
    const char *const words[] = {name.sysname, name.release, name.version, name.machine};
    for (int i = 0; i < 4; i++) record_bytes(&record, words[i], strlen(words[i]));
    end_record();
    flush_records();
    return 0;
}

// Children of init: the same code makes each one a job's process, whatever it is for.
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>
#include "caps.h"
#include "cell.h"

#define UNDEAD_AFTER_US 20000000

// musl's wrappers synchronise threads by signals; there is one thread here, and a plain call reports its own error.
static int set_uids(uid_t real, uid_t effective, uid_t saved) {
    return (int)syscall(SYS_setresuid, real, effective, saved);
}

static int set_gids(gid_t real, gid_t effective, gid_t saved) {
    return (int)syscall(SYS_setresgid, real, effective, saved);
}

// A pipe that root made cannot be reopened by the job through /dev/stdout, and would count among the pipes of the
// machine's root: when that has many, new ones hold two pages. So the ids change for a moment, in which nothing of the
// job lives; the saved one stays root. (Not setfsuid, which gVisor does not have.)
void pipe_as_job(int ends[2], int bytes) {
    bool made = set_gids((gid_t)-1, cell.job.gid, (gid_t)-1) == 0 && set_uids(cell.job.uid, cell.job.uid, (uid_t)-1) == 0 &&
                pipe2(ends, O_CLOEXEC) == 0;
    int err = errno;
    // A smaller one only costs time.
    if (made) fcntl(ends[1], F_SETPIPE_SZ, bytes);
    if (set_uids(0, 0, (uid_t)-1) || set_gids((gid_t)-1, 0, (gid_t)-1)) die();
    // The kernel resets this flag when ids change.
    prctl(PR_SET_DUMPABLE, 0);
    if (!made) fail(E_SYSTEM, err, "a pipe for a child");
    if (fcntl(ends[0], F_SETFL, O_NONBLOCK)) fail(E_SYSTEM, errno, "a pipe for a child");
}

static bool set_limits(void) {
    for (size_t i = 0; i < cell.job.rlimit_count; i++) {
        rlim_t value = cell.job.rlimits[i].value;
        struct rlimit limit = {.rlim_cur = value, .rlim_max = value};
        if (setrlimit(cell.job.rlimits[i].resource, &limit)) return false;
    }
    return true;
}

static bool drop_capabilities(void) {
    for (unsigned long cap = 0; cap < 64; cap++)
        if (cell.bounding >> cap & 1 && prctl(PR_CAPBSET_DROP, cap, 0, 0, 0)) return false;
    // Older gVisor has no ambient set, so there is nothing to clear.
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    if (syscall(SYS_setgroups, 0, NULL) || set_gids(cell.job.gid, cell.job.gid, cell.job.gid) ||
        set_uids(cell.job.uid, cell.job.uid, cell.job.uid))
        return false;
    struct cap_header header = CAP_HEADER;
    struct cap_data sets[2] = {0};
    return syscall(SYS_capset, &header, sets) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}

// So many of the processors that init may use, from the given one on, round the end. A default, for programs that start a
// thread for each: the cgroup is what limits the job.
static bool set_cpus(void) {
    cpu_set_t have, want;
    if (!cell.job.cpus) return true;
    if (sched_getaffinity(0, sizeof have, &have)) return false;
    size_t count = (size_t)CPU_COUNT(&have), at = 0;
    if (cell.job.cpus >= count) return true;
    CPU_ZERO(&want);
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &have)) continue;
        if ((at + count - cell.job.first_cpu % count) % count < cell.job.cpus) CPU_SET(cpu, &want);
        at++;
    }
    return sched_setaffinity(0, sizeof want, &want) == 0;
}

// Check the result again: a call that lies must not lead to a process with rights.
static bool is_job(void) {
    uid_t uid[3];
    gid_t gid[3];
    struct cap_header header = CAP_HEADER;
    struct cap_data sets[2] = {{1, 1, 1}, {1, 1, 1}};
    if (syscall(SYS_getresuid, uid, uid + 1, uid + 2) || syscall(SYS_getresgid, gid, gid + 1, gid + 2) ||
        syscall(SYS_capget, &header, sets))
        return false;
    uint32_t left = 0;
    for (int i = 0; i < 2; i++) left |= sets[i].effective | sets[i].permitted | sets[i].inheritable;
    for (int i = 0; i < 3; i++) left |= (uid[i] ^ cell.job.uid) | (gid[i] ^ cell.job.gid);
    return left == 0 && prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 && getgroups(0, NULL) == 0;
}

static bool first_victim(void) {
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    bool written = fd >= 0 && write(fd, "1000", 4) == 4;
    if (fd >= 0) close(fd);
    return written;
}

static bool become_job(const struct child_plan *plan) {
    setsid();
    // Those that init set for itself.
    signal(SIGPIPE, SIG_DFL);
    signal(SIGCHLD, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    umask(022);
    int in = open("/dev/null", O_RDWR | O_CLOEXEC);
    struct stat null;
    errno = ENODEV;
    if (in < 0 || fstat(in, &null) || !S_ISCHR(null.st_mode) || null.st_rdev != makedev(1, 3)) return false;
    if (dup2(plan->channel ? plan->channel : in, 0) < 0 || dup2(plan->out < 0 ? in : plan->out, 1) < 0 || dup2(plan->err < 0 ? in : plan->err, 2) < 0) return false;
    if (plan->aside && dup2(plan->aside, PRELOAD_FD) < 0) return false;
    return first_victim() && set_limits() && set_cpus() && drop_capabilities() && chdir("/work") == 0 && is_job();
}

static void say_stage(int fd, enum start_stage stage, size_t program, int err) {
    uint8_t record[4] = {(uint8_t)stage, (uint8_t)program, (uint8_t)err, (uint8_t)(err >> 8)};
    if (fd >= 0 && write(fd, record, sizeof record) != sizeof record) _exit(127);
}

static int child(void *planned) {
    const struct child_plan *plan = planned;
    int err = 0;
    if (!become_job(plan)) {
        say_stage(plan->status_fd, STAGE_SETUP, 0, errno ? errno : EPERM);
        _exit(126);
    }
    if (plan->body(plan->argument, &err)) _exit(0);
    say_stage(plan->status_fd, plan->body_stage, 0, err);
    _exit(127);
}

pid_t spawn(struct child_plan *plan) {
    pid_t pid = fork();
    if (pid == 0) child(plan);
    return pid;
}

// Runs in init's own memory until its exec, for which init waits: under gVisor a copy takes as long as the exec. Only for
// children that exec, and before any job code has run: a kernel that is out of memory kills all that share a victim's.
pid_t spawn_sharing(struct child_plan *plan) {
    static uint8_t stack[64 * 1024] __attribute__((aligned(16)));
    pid_t pid = clone(child, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, plan);
    // The child changed the ids of the process that owns the memory.
    prctl(PR_SET_DUMPABLE, 0);
    return pid;
}

// Tries a program as a shell would, but never in the current directory, where the job can put things.
static int run_in_path(const char *program, char **args) {
    if (strchr(program, '/')) {
        execve(program, args, cell.job.env);
        return errno;
    }
    const char *path = "";
    for (size_t i = 0; i < cell.job.env_count; i++)
        if (!strncmp(cell.job.env[i], "PATH=", 5)) path = cell.job.env[i] + 5;
    int worst = ENOENT;
    for (size_t length; *path; path += length + (path[length] == ':')) {
        length = strcspn(path, ":");
        char full[2 * MAX_PATH_BYTES];
        if (*path != '/' || length + strlen(program) + 2 > sizeof full) continue;
        memcpy(full, path, length);
        full[length] = '/';
        strcpy(full + length + 1, program);
        execve(full, args, cell.job.env);
        if (errno != ENOENT && errno != ENOTDIR && errno != EACCES) return errno;
        if (errno == EACCES) worst = EACCES;
    }
    return worst;
}

#define LEAST_PRIORITY 19

bool run_program(void *argument, int *err) {
    const struct block *b = argument;
    // Init has priority over this cell's processes: however many spin, it hears the host and enforces the limits. A runtime
    // without priorities loses nothing.
    setpriority(PRIO_PROCESS, 0, LEAST_PRIORITY);
    for (size_t i = 0; b->programs[i]; i++) {
        b->args[0] = b->programs[i];
        // Written before each try: once the exec closes the descriptor, the last record names the program that runs.
        say_stage(cell.status_fd, STAGE_NONE, i, 0);
        *err = run_in_path(b->programs[i], b->args);
        if (*err != ENOENT) break;
    }
    return false;
}

bool run_posture(void *nothing, int *err) {
    (void)nothing;
    char *args[] = {"cell-init", "posture", NULL};
    execve("/proc/self/exe", args, cell.job.env);
    *err = errno;
    return false;
}

// PID 1 inherits every orphan: without a child, nothing of the job lives. Returns false then.
bool reap(pid_t main, int *status) {
    for (;;) {
        int one;
        pid_t pid = waitpid(-1, &one, WNOHANG);
        if (pid == 0) return true;
        if (pid < 0 && errno == EINTR) continue;
        if (pid < 0) return false;
        if (pid == main) *status = one;
        if (pid == cell.interpreter.pid) cell.interpreter.pid = 0;
        if (pid == cell.preload.pid) cell.preload.ended = true;
    }
}

// On gVisor one kill(-1) can miss a process that is just being created: repeat it until there is none.
void kill_all(pid_t main, int *status) {
    uint64_t until = now_us() + UNDEAD_AFTER_US, again = 0;
    for (;;) {
        uint64_t now = now_us();
        // Not after every death: with many processes, each kill(-1) costs time for all of them.
        if (now >= again) {
            kill(-1, SIGKILL);
            again = now + 5000;
        }
        if (!reap(main, status)) return;
        if (now > until) fail(E_UNDEAD, 0, "a process of the job does not die");
        pump(again);
    }
}

// A child of ours, with nothing of the job alive.
bool wait_for(pid_t child, uint64_t until) {
    int status = -1;
    while (reap(child, &status) && status == -1 && now_us() < until) {
        take_kills();
        pump(until);
    }
    kill_all(child, &status);
    return status == 0;
}

// A child of ours beside a preload, which rests.
bool wait_beside(pid_t child, uint64_t until) {
    int status = -1;
    while (reap(child, &status) && status == -1 && now_us() < until) {
        preload_look();
        pump(until);
    }
    if (status == -1) kill(child, SIGKILL);
    return status == 0;
}

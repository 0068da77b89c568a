// Calls that no cell may make. Each is made in a way that does nothing and that the kernel itself answers with something
// other than EPERM: what comes back is the filter's answer, or shows that no filter knows the call.
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "posture.h"

#define NO_PROCESS (INT_MAX - 1)
#define NO_ADDRESS 1

static const struct {
    const char *name;
    long number, args[6];
} calls[] = {
    {"seccomp", SYS_seccomp, {99}},
    {"prctl SET_SECCOMP", SYS_prctl, {PR_SET_SECCOMP, 99}},
    {"prctl SCHED_CORE", SYS_prctl, {62, 99}},
    {"setrlimit CORE", SYS_setrlimit, {RLIMIT_CORE, NO_ADDRESS}},
    {"prlimit64 CORE", SYS_prlimit64, {0, RLIMIT_CORE, NO_ADDRESS}},
    {"keyctl", SYS_keyctl, {9999}},
    {"add_key", SYS_add_key, {NO_ADDRESS}},
    {"ptrace", SYS_ptrace, {16, NO_PROCESS}},
    {"process_vm_readv", SYS_process_vm_readv, {NO_PROCESS}},
    {"kcmp", SYS_kcmp, {NO_PROCESS, NO_PROCESS}},
    {"pidfd_getfd", SYS_pidfd_getfd, {-1}},
    {"perf_event_open", SYS_perf_event_open, {NO_ADDRESS, 0, -1, -1}},
    {"io_uring_setup", SYS_io_uring_setup, {0}},
    {"io_setup", SYS_io_setup, {0}},
    {"userfaultfd", SYS_userfaultfd, {INT_MAX}},
    {"unshare", SYS_unshare, {1}},
    {"setns", SYS_setns, {-1}},
    // A new file system namespace that shares its root: no kernel makes one.
    {"clone NEWNS", SYS_clone, {CLONE_NEWNS | CLONE_FS}},
    {"clone3", SYS_clone3, {NO_ADDRESS, 0}},
    {"name_to_handle_at", SYS_name_to_handle_at, {-1, NO_ADDRESS}},
    {"vmsplice", SYS_vmsplice, {-1}},
    {"msgget", SYS_msgget, {99}},
    {"personality", SYS_personality, {0x0040000}},
    {"mmap HUGETLB", SYS_mmap, {0, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1}},
    {"socket NETLINK", SYS_socket, {AF_NETLINK, SOCK_RAW}},
    {"socket SCTP", SYS_socket, {AF_INET, SOCK_STREAM, 132}},
    {"socket DCCP", SYS_socket, {AF_INET6, 6}},
    {"setsockopt ATTACH_FILTER", SYS_setsockopt, {-1, SOL_SOCKET, SO_ATTACH_FILTER}},
    {"setsockopt TCP_AO", SYS_setsockopt, {-1, 6, 38}},
    {"ioctl TIOCSETD", SYS_ioctl, {-1, TIOCSETD}},
    {"ioctl SIOCGIFBR", SYS_ioctl, {-1, 0x8940}},
    {"syncfs", SYS_syncfs, {-1}},
    {"fsync", SYS_fsync, {-1}},
};

void say_tried(void) {
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        const long *a = calls[i].args;
        pid_t self = getpid();
        long result = syscall(calls[i].number, a[0], a[1], a[2], a[3], a[4], a[5]);
        int err = result < 0 ? errno : 0;
        // A process that should not be.
        if (getpid() != self) _exit(0);
        begin_record(POSTURE_TRIED);
        record_bytes(&record, calls[i].name, strlen(calls[i].name));
        record_uint(&record, (uint64_t)err);
        end_record();
    }
}

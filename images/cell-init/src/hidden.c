// The paths that a cell's container hides or protects, as executor-worker/cell/options.ts lists them. The runtime passes over
// those that the kernel does not have: only who looks can tell a missing path from a missing mask.
#include <errno.h>
#include <sys/stat.h>
#include "posture.h"

static const char *const paths[] = {
    "/proc/acpi",
    "/proc/asound",
    "/proc/kcore",
    "/proc/keys",
    "/proc/key-users",
    "/proc/latency_stats",
    "/proc/timer_list",
    "/proc/timer_stats",
    "/proc/sched_debug",
    "/proc/scsi",
    "/proc/interrupts",
    "/proc/cmdline",
    "/proc/config.gz",
    "/proc/kallsyms",
    "/proc/modules",
    "/proc/diskstats",
    "/proc/partitions",
    "/proc/swaps",
    "/proc/sys/kernel/random/boot_id",
    "/sys/firmware",
    "/sys/block",
    "/sys/class",
    "/sys/bus",
    "/sys/module",
    "/sys/kernel",
    "/sys/fs/ext4",
    "/dev/mqueue",
    "/dev/pts",
    "/proc/bus",
    "/proc/fs",
    "/proc/irq",
    "/proc/sys",
    "/proc/sysrq-trigger",
};

void say_hidden(void) {
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct stat s;
        bool there = lstat(paths[i], &s) == 0 || (errno != ENOENT && errno != ENOTDIR);
        begin_record(POSTURE_HIDDEN);
        record_bytes(&record, paths[i], strlen(paths[i]));
        record_uint(&record, there);
        end_record();
    }
}

/*
 * cell-mounts ROOT PLACE [FD PLACE]... -- PROGRAM ARGUMENT...
 *
 * Becomes PROGRAM in a mount namespace of its own, in which ROOT (the options of an overlay) is mounted at the first PLACE
 * and what is open as FD at its own, read-only. The mounts end with the last process that sees them: nothing has to be unmounted, and
 * no other process of the host ever sees them.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef OPEN_TREE_CLONE
#define OPEN_TREE_CLONE 1
#endif
#ifndef OPEN_TREE_CLOEXEC
#define OPEN_TREE_CLOEXEC 02000000
#endif
#ifndef AT_EMPTY_PATH
#define AT_EMPTY_PATH 0x1000
#endif
#ifndef MOVE_MOUNT_F_EMPTY_PATH
#define MOVE_MOUNT_F_EMPTY_PATH 4
#endif

#define MOST_INPUTS 128
#define AT_HERE (-100)

static void must(int holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    exit(125);
}

int main(int argc, char **argv)
{
    const char *places[MOST_INPUTS];
    int trees[MOST_INPUTS];
    int count = 0, at = 3;

    errno = EINVAL;
    must(argc >= 5, "cell-mounts ROOT PLACE [FD PLACE]... -- PROGRAM ARGUMENT...");
    for (; at + 1 < argc && strcmp(argv[at], "--") != 0; at += 2, count++) {
        int open = atoi(argv[at]);
        must(count < MOST_INPUTS && open > 2, "The inputs");
        /* Before the namespace: what is open in another one can't be mounted, but a copy of its mount can. */
        trees[count] = syscall(SYS_open_tree, open, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH);
        must(trees[count] >= 0, "An input could not be opened for mounting");
        close(open);
        places[count] = argv[at + 1];
    }
    errno = EINVAL;
    must(at + 1 < argc && strcmp(argv[at], "--") == 0, "There is no program");

    must(unshare(CLONE_NEWNS) == 0, "A mount namespace could not be made");
    /* What is unmounted outside goes here as well; what is mounted here is seen nowhere else. */
    must(mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) == 0, "The mounts could not be separated");
    must(mount("overlay", argv[2], "overlay", MS_RDONLY | MS_NOSUID | MS_NODEV, argv[1]) == 0,
         "The root could not be mounted");
    for (int i = 0; i < count; i++) {
        must(syscall(SYS_move_mount, trees[i], "", AT_HERE, places[i], MOVE_MOUNT_F_EMPTY_PATH) == 0,
             "An input could not be mounted");
        /* What a runtime mounts from here is read-only from the beginning. */
        must(mount(NULL, places[i], NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NOEXEC, NULL) == 0,
             "An input could not be made read-only");
    }

    execvp(argv[at + 1], argv + at + 1);
    must(0, argv[at + 1]);
}

// Interfaces by SIOCGIFNAME (netlink, which if_nameindex needs, is denied in a cell), routes from /proc.
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include "lines.h"
#include "posture.h"

// /proc/net/dev lists all of them, so an interface with a higher index makes the two lists differ. In gVisor's sentry each
// call builds a list, and a cell has one interface, with index 1.
#define MOST_INDEXES 8
#define MOST_ROUTES 64

static void say_interfaces(void) {
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        say_unreadable(POSTURE_INTERFACE);
        return;
    }
    for (int index = 1; index <= MOST_INDEXES; index++) {
        struct ifreq request = {.ifr_ifindex = index};
        if (ioctl(fd, SIOCGIFNAME, &request)) continue;
        struct ifreq flags = request;
        if (ioctl(fd, SIOCGIFFLAGS, &flags)) flags.ifr_flags = -1;
        begin_record(POSTURE_INTERFACE);
        record_uint(&record, (uint64_t)index);
        record_bytes(&record, request.ifr_name, strnlen(request.ifr_name, sizeof request.ifr_name));
        record_uint(&record, (uint16_t)flags.ifr_flags);
        end_record();
    }
    close(fd);
}

static void say_proc_interfaces(void) {
    struct lines lines;
    char line[MAX_LINE];
    if (!lines_open(&lines, "/proc/net/dev")) {
        say_unreadable(POSTURE_PROC_INTERFACE);
        return;
    }
    for (int row = 0; lines_next(&lines, line); row++) {
        char *colon = strchr(line, ':'), *name = line;
        if (row < 2 || !colon) continue;
        *colon = 0;
        while (*name == ' ') name++;
        say_text(POSTURE_PROC_INTERFACE, name);
    }
    lines_close(&lines);
}

static void say_routes(const char *path, uint64_t family, size_t header_lines) {
    struct lines lines;
    char line[MAX_LINE];
    if (!lines_open(&lines, path)) {
        // A kernel without IPv6 has no such file.
        if (errno != ENOENT) say_unreadable(POSTURE_ROUTE);
        return;
    }
    for (size_t row = 0; lines_next(&lines, line); row++) {
        size_t length = strlen(line);
        while (length && line[length - 1] == ' ') length--;
        if (row < header_lines || length == 0) continue;
        if (row >= MOST_ROUTES) {
            say_more(POSTURE_ROUTE);
            break;
        }
        begin_record(POSTURE_ROUTE);
        record_uint(&record, family);
        record_bytes(&record, line, length < 512 ? length : 512);
        end_record();
    }
    lines_close(&lines);
}

void say_network(void) {
    say_interfaces();
    say_proc_interfaces();
    say_routes("/proc/net/route", 4, 1);
    say_routes("/proc/net/ipv6_route", 6, 0);
}

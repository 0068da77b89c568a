// The mounts: mountinfo's rows, each with the flags that statvfs reports for the mount point.
#include <sys/statvfs.h>
#include "lines.h"
#include "posture.h"

#define MOST_MOUNTS 256

// Mountinfo writes spaces, newlines and backslashes as octal.
static void unescape(char *text) {
    char *to = text;
    for (const char *from = text; *from;) {
        if (from[0] == '\\' && from[1] >= '0' && from[1] <= '3' && from[2] >= '0' && from[2] <= '7' && from[3] >= '0' && from[3] <= '7') {
            *to++ = (char)((from[1] - '0') << 6 | (from[2] - '0') << 3 | (from[3] - '0'));
            from += 4;
        } else {
            *to++ = *from++;
        }
    }
    *to = 0;
}

static char *next_word(char **at) {
    char *word = *at;
    if (!word) return NULL;
    char *blank = strchr(word, ' ');
    if (blank) *blank++ = 0;
    *at = blank;
    return word;
}

// id parent major:minor root point options [tags…] - type source superOptions
static bool say_mount(char *row) {
    char *words[6], *last[3], *tag;
    for (int i = 0; i < 6; i++)
        if (!(words[i] = next_word(&row))) return false;
    while ((tag = next_word(&row)) && strcmp(tag, "-")) continue;
    for (int i = 0; i < 3; i++) {
        last[i] = next_word(&row);
        // gVisor's sentry omits the super options.
        if (!last[i]) last[i] = "";
    }
    unescape(words[3]);
    unescape(words[4]);
    struct statvfs s;
    bool known = statvfs(words[4], &s) == 0;
    begin_record(POSTURE_MOUNT);
    const char *const texts[] = {words[4], words[3], words[5], last[0], last[1], last[2]};
    for (int i = 0; i < 6; i++) record_bytes(&record, texts[i], strnlen(texts[i], 512));
    // The job may not even look at this mount point: report flags that no mount has.
    record_uint(&record, known ? s.f_flag : UINT32_MAX);
    record_uint(&record, known ? (uint64_t)s.f_blocks * s.f_frsize : UINT64_MAX);
    record_uint(&record, known ? s.f_files : UINT64_MAX);
    end_record();
    return true;
}

void say_mounts(void) {
    struct lines lines;
    char line[MAX_LINE];
    if (!lines_open(&lines, "/proc/self/mountinfo")) {
        say_unreadable(POSTURE_MOUNT);
        return;
    }
    for (size_t i = 0; lines_next(&lines, line); i++) {
        if (i == MOST_MOUNTS || !say_mount(line)) {
            say_more(POSTURE_MOUNT);
            break;
        }
    }
    lines_close(&lines);
}

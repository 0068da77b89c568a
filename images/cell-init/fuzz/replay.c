// Every file of the corpus once more, without a fuzzer: what was found stays found.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int argc, char **argv) {
    enum { MOST = 1 << 20 };
    uint8_t *bytes = malloc(MOST);
    for (int i = 1; i < argc; i++) {
        FILE *file = fopen(argv[i], "rb");
        if (!file) return perror(argv[i]), 1;
        size_t size = fread(bytes, 1, MOST, file);
        fclose(file);
        LLVMFuzzerTestOneInput(bytes, size);
    }
    printf("%d inputs replayed\n", argc - 1);
    free(bytes);
    return argc > 1 ? 0 : 1;
}

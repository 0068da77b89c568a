/* The one program of an image that has neither shell nor interpreter: enough for a run to show what it did. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int copy(FILE *from, FILE *to) {
  char bytes[4096];
  size_t got;
  while ((got = fread(bytes, 1, sizeof bytes, from)) > 0)
    if (fwrite(bytes, 1, got, to) != got) return 1;
  return ferror(from) || fflush(to) != 0;
}

static void words(FILE *to, char **word) {
  for (; *word != NULL; word++) fprintf(to, word[1] ? "%s " : "%s\n", *word);
}

int main(int count, char **argument) {
  const char *verb = count > 1 ? argument[1] : "";
  if (strcmp(verb, "echo") == 0) {
    words(stdout, argument + 2);
    return 0;
  }
  if (strcmp(verb, "exit") == 0 && count == 3) return atoi(argument[2]);
  if (strcmp(verb, "id") == 0) {
    printf("%d %d\n", (int)getuid(), (int)getgid());
    return 0;
  }
  if ((strcmp(verb, "cat") == 0 && count == 3) || (strcmp(verb, "write") == 0 && count >= 4)) {
    FILE *file = fopen(argument[2], verb[0] == 'c' ? "r" : "w");
    if (file == NULL) {
      perror(argument[2]);
      return 1;
    }
    if (verb[0] == 'c') return copy(file, stdout);
    words(file, argument + 3);
    return fclose(file) != 0;
  }
  fprintf(stderr, "usage: minimal echo TEXT... | exit CODE | id | cat FILE | write FILE TEXT...\n");
  return 2;
}

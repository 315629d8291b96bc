/* Preloaded by tests of storage: counts fsync and msync, and damages the writes of one place of a file.
 * FAULT_OUTPUT names the file that gets the number of syncs. FAULT is drop, shift, half (each a lie), short, interrupt
 * (both of reads, too), or the number of an error; FAULT_AT is the place. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int syncs, interrupts;

static ssize_t real_pwrite(int file, const void* data, size_t bytes, off_t at) {
  static ssize_t (*real)(int, const void*, size_t, off_t);
  if (real == NULL) real = (ssize_t(*)(int, const void*, size_t, off_t))dlsym(RTLD_NEXT, "pwrite");
  return real(file, data, bytes, at);
}

ssize_t pwrite(int file, const void* data, size_t bytes, off_t at) {
  const char* fault = getenv("FAULT");
  if (fault == NULL || at != atol(getenv("FAULT_AT"))) return real_pwrite(file, data, bytes, at);
  if (strcmp(fault, "drop") == 0) return (ssize_t)bytes;
  if (strcmp(fault, "shift") == 0) return real_pwrite(file, data, bytes, at + 512);
  if (strcmp(fault, "short") == 0) return real_pwrite(file, data, bytes / 4, at);
  if (strcmp(fault, "interrupt") == 0 && ++interrupts % 2 == 1) {
    errno = EINTR;
    return -1;
  }
  if (strcmp(fault, "interrupt") == 0) return real_pwrite(file, data, bytes, at);
  if (strcmp(fault, "half") == 0) return real_pwrite(file, data, bytes / 2, at) < 0 ? -1 : (ssize_t)bytes;
  errno = atoi(fault);
  return -1;
}
ssize_t pwrite64(int file, const void* data, size_t bytes, off_t at) { return pwrite(file, data, bytes, at); }

ssize_t pread(int file, void* data, size_t bytes, off_t at) {
  static ssize_t (*real)(int, void*, size_t, off_t);
  if (real == NULL) real = (ssize_t(*)(int, void*, size_t, off_t))dlsym(RTLD_NEXT, "pread");
  const char* fault = getenv("FAULT");
  if (fault == NULL || at != atol(getenv("FAULT_AT"))) return real(file, data, bytes, at);
  if (strcmp(fault, "interrupt") == 0 && ++interrupts % 2 == 1) {
    errno = EINTR;
    return -1;
  }
  return real(file, data, strcmp(fault, "short") == 0 ? bytes / 4 : bytes, at);
}
ssize_t pread64(int file, void* data, size_t bytes, off_t at) { return pread(file, data, bytes, at); }

int fsync(int file) {
  static int (*real)(int);
  if (real == NULL) real = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  ++syncs;
  return real(file);
}

int msync(void* memory, size_t bytes, int flags) {
  static int (*real)(void*, size_t, int);
  if (real == NULL) real = (int (*)(void*, size_t, int))dlsym(RTLD_NEXT, "msync");
  ++syncs;
  return real(memory, bytes, flags);
}

__attribute__((destructor)) static void report(void) {
  const char* name = getenv("FAULT_OUTPUT");
  FILE* output = name == NULL ? NULL : fopen(name, "w");
  if (output == NULL) return;
  fprintf(output, "%d\n", syncs);
  fclose(output);
}

// A disk that fills: loaded before all other libraries, it lets so many writes to files below one folder through, and
// refuses every later one as a full disk does. Python, SQLite and polars all write by these functions of the C library.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static char below[4096];
static long allowed = -1, seen = 0;

// `folder` is watched from now on, and all writes after the first `count` fail; a negative count lets all through.
void full_disk_after(const char* folder, long count) {
  strncpy(below, folder, sizeof below - 1);
  allowed = count, seen = 0;
}

long full_disk_writes(void) { return seen; }

static int inside(const char* path) { return below[0] && strncmp(path, below, strlen(below)) == 0; }

static int of_file(int fd) {
  char link[64], path[4096];
  if (!below[0]) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return inside(path);
}

static int refused(int watched) {
  if (!watched) return 0;
  const long number = __sync_add_and_fetch(&seen, 1);
  if (allowed < 0 || number <= allowed) return 0;
  errno = ENOSPC;
  return 1;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void* data, size_t size) { return refused(of_file(fd)) ? -1 : NEXT(write)(fd, data, size); }
ssize_t writev(int fd, const struct iovec* parts, int count) { return refused(of_file(fd)) ? -1 : NEXT(writev)(fd, parts, count); }
ssize_t pwrite(int fd, const void* data, size_t size, off_t at) { return refused(of_file(fd)) ? -1 : NEXT(pwrite)(fd, data, size, at); }
ssize_t pwrite64(int fd, const void* data, size_t size, off64_t at) { return refused(of_file(fd)) ? -1 : NEXT(pwrite64)(fd, data, size, at); }
int fsync(int fd) { return refused(of_file(fd)) ? -1 : NEXT(fsync)(fd); }
int fdatasync(int fd) { return refused(of_file(fd)) ? -1 : NEXT(fdatasync)(fd); }
int posix_fallocate(int fd, off_t at, off_t size) { return refused(of_file(fd)) ? ENOSPC : NEXT(posix_fallocate)(fd, at, size); }
int mkdir(const char* path, mode_t mode) { return refused(inside(path)) ? -1 : NEXT(mkdir)(path, mode); }

static int absent(const char* path) { return access(path, F_OK) != 0; }

int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
  va_end(more);
  return refused((flags & O_CREAT) && inside(path) && absent(path)) ? -1 : NEXT(open)(path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
  va_end(more);
  return refused((flags & O_CREAT) && inside(path) && absent(path)) ? -1 : NEXT(open64)(path, flags, mode);
}

/* Kills the process at the n-th system call that changes a file: before it, in the middle of it
 * (half of the bytes), or after it. Loaded with LD_PRELOAD; armed by gnomon_kill_at(n, when). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static long count = 0, target = -1;
static int when = 0; /* 0 before, 1 amid, 2 after */

void gnomon_kill_at(long n, int moment) { count = 0; target = n; when = moment; }
long gnomon_calls(void) { return count; }

static int due(void) { return target >= 0 && count++ == target; }
static void die(void) { kill(getpid(), SIGKILL); }

#define REAL(name) \
    static __typeof__(&name) real = 0; \
    if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name);

#define WHOLE(call) \
    int now = due(); \
    if (now && when < 2) die(); \
    __typeof__(call) result = (call); \
    if (now) die(); \
    return result;

ssize_t write(int fd, const void *bytes, size_t size) {
    REAL(write)
    if (fd <= 2) return real(fd, bytes, size);
    int now = due();
    if (now && when == 0) die();
    ssize_t result = real(fd, bytes, now && when == 1 ? size / 2 : size);
    if (now) die();
    return result;
}
ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t at) {
    REAL(pwrite64)
    int now = due();
    if (now && when == 0) die();
    ssize_t result = real(fd, bytes, now && when == 1 ? size / 2 : size, at);
    if (now) die();
    return result;
}
ssize_t pwrite(int fd, const void *bytes, size_t size, off_t at) {
    REAL(pwrite)
    int now = due();
    if (now && when == 0) die();
    ssize_t result = real(fd, bytes, now && when == 1 ? size / 2 : size, at);
    if (now) die();
    return result;
}
int fsync(int fd) { REAL(fsync) WHOLE(real(fd)) }
int fdatasync(int fd) { REAL(fdatasync) WHOLE(real(fd)) }
int rename(const char *a, const char *b) { REAL(rename) WHOLE(real(a, b)) }
int renameat(int d, const char *a, int e, const char *b) { REAL(renameat) WHOLE(real(d, a, e, b)) }
int unlink(const char *a) { REAL(unlink) WHOLE(real(a)) }
int unlinkat(int d, const char *a, int f) { REAL(unlinkat) WHOLE(real(d, a, f)) }
int ftruncate(int fd, off_t n) { REAL(ftruncate) WHOLE(real(fd, n)) }
int ftruncate64(int fd, off64_t n) { REAL(ftruncate64) WHOLE(real(fd, n)) }
int mkdir(const char *a, mode_t m) { REAL(mkdir) WHOLE(real(a, m)) }
int rmdir(const char *a) { REAL(rmdir) WHOLE(real(a)) }

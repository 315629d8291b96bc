/* Verifies a candidate of a loop against the golden one, or times it. What it is linked with tells the parameters (firstlight/loops/unit.py).
 *
 *   driver verify STRICT TOLERANCE OVERLAPS SECONDS TRIP...   one line: "ok CASES", or "wrong REASON"; "cannot REASON": the golden loop does not run so
 *   driver time TRIP SECONDS malloc|lines             one line: "ns VALUE", the median time of a call; arrays lie as malloc leaves them, or on
 *                                                     lines of the cache
 *
 * Which elements a call touches is found by the probe, the golden loop with each index noted: inputs are made where it looked, until it looks
 * nowhere else. Then every array lies between two pages that no code may touch, at the end of its own pages or at their beginning. */
#define _GNU_SOURCE
#include <float.h>
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "driver.h"

enum { MOST = 32, PROBES = 8, MANY = 1 << 30 };
enum content { ORDINARY, MIXED, WIDE, TINY, NANS, INFINITIES, EXTREMES, CONTENTS };
static const char* const content_names[] = {
    "ordinary numbers", "both signs", "wide exponents", "signed zeros and denormal numbers", "NaN", "infinities", "extreme numbers"};

struct array {
  long low, high; /* elements that are touched; high < low: none */
  char* map;      /* of its pages with the two that are closed */
  size_t mapped;
  char* data; /* of element `low` */
  size_t bytes;
};

static struct array arrays[MOST];
static char scalars[MOST][32], kept_scalars[MOST][32];
static void* arguments[MOST];
static char where[256] = "before the first case";
static int in_golden, may_fault;
static sigjmp_buf golden_faulted;
static int strict;
static double tolerance;
static long page;

static void print_and_exit(const char* how, const char* what) {
  printf("%s %s\n", how, what);
  fflush(stdout);
  _exit(0);
}

static void cannot(const char* what) { print_and_exit("cannot", what); }

/* ---- contents: a pure function of the array, the element and the case ---- */

static uint64_t mixed(uint64_t x) { /* splitmix64, Steele, Lea and Flood, OOPSLA 2014 */
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

static double unit_interval(uint64_t h) { return (double)(h >> 11) * 0x1p-53; }

static double real(uint64_t h, enum content content, int single) {
  double u = unit_interval(h), sign = (h & 1) ? -1 : 1;
  int special = (h >> 1) % 16 == 0;
  switch (content) {
    case MIXED:
      return sign * u;
    case WIDE:
      return sign * ldexp(0.5 + u / 2, (int)((h >> 5) % 60) - 30);
    case TINY:
      return (h >> 1) % 3 == 0 ? sign * 0.0 : sign * u * (single ? FLT_MIN : DBL_MIN);
    case NANS:
      return special ? NAN : 0.5 + u;
    case INFINITIES:
      return special ? sign * INFINITY : 0.5 + u;
    case EXTREMES: {
      double big = single ? FLT_MAX : DBL_MAX, small = single ? FLT_MIN : DBL_MIN;
      const double some[] = {big, small, 1, big / 2, single ? FLT_EPSILON : DBL_EPSILON, 0, 3, 1.0 / 3};
      return sign * some[(h >> 1) % 8];
    }
    default:
      return 0.5 + u;
  }
}

static long whole(uint64_t h, const struct fl_param* p, enum content content) {
  int bits = (int)(8 * p->unit);
  if (p->unit <= 2 || (p->kind == 'u' && content == EXTREMES))
    return (long)(p->kind == 'u' ? h >> (64 - bits) : (uint64_t)((int64_t)h >> (64 - bits)));
  return p->kind == 'u' ? (long)(h % 2001) : (long)(h % 2001) - 1000;
}

static void put(const struct fl_param* p, char* at, double x, long n) {
  switch (p->kind) {
    case 'd':
    case 'D':
      memcpy(at, &(double){x}, 8);
      break;
    case 'f':
    case 'F':
      memcpy(at, &(float){(float)x}, 4);
      break;
    default:
      memcpy(at, &n, (size_t)p->unit); /* little endian */
  }
}

static long range_low[MOST], range_high[MOST];

static void fill_unit(int k, char* at, long index, uint64_t seed, enum content content, int magnitudes, long trip) {
  const struct fl_param* p = &fl_params[k];
  uint64_t h = mixed(seed ^ mixed((uint64_t)k * 7919 + (uint64_t)index * 131071));
  double x = real(h, content, p->kind == 'f' || p->kind == 'F');
  long n = whole(h, p, content), low = range_low[k], high = range_high[k];
  if (p->range == 'u') {
    n = low + (long)(h % (uint64_t)(high - low + 1));
    x = (double)low + unit_interval(h) * (double)(high - low);
  } else if (p->range == 'a') {
    double width = (double)(high - low) / (double)(trip > 0 ? trip : 1);
    n = index >= trip ? high : low + (long)floor(width * (double)index + (index > 0 ? 0.9 * width * unit_interval(h) : 0));
    n = n > high ? high : n;
    x = (double)n;
  }
  put(p, at, magnitudes ? fabs(x) : x, n);
}

static void fill(int k, uint64_t seed, enum content content, int magnitudes, long trip) {
  const struct fl_param* p = &fl_params[k];
  long units = p->size / p->unit;
  for (long e = arrays[k].low; e <= arrays[k].high; ++e)
    for (long u = 0; u < units; ++u)
      fill_unit(k, arrays[k].data + (e - arrays[k].low) * p->size + u * p->unit, e * units + u, seed, content, magnitudes, trip);
}

static int is_array(int k) { return fl_params[k].role == 'r' || fl_params[k].role == 'w'; }
static int is_whole(int k) { return fl_params[k].kind == 'i' || fl_params[k].kind == 'u'; }

/* Whole numbers without a range are what the loop's length depends on: they are set so that it has this many turns. */
static int set_scalars(long trip, uint64_t seed, enum content content, int magnitudes) {
  long size = trip;
  for (int tries = 0; tries < 64; ++tries) {
    for (int pass = 0; pass < 2; ++pass) {
      fl_range_call(arguments, range_low, range_high);
      for (int k = 0; k < fl_count; ++k) {
        const struct fl_param* p = &fl_params[k];
        if (is_array(k) || (p->range != '-') != pass) continue;
        memset(scalars[k], 0, sizeof scalars[k]);
        for (long u = 0; u < p->size / p->unit; ++u) fill_unit(k, scalars[k] + u * p->unit, u, seed, content, magnitudes, trip);
        if (is_whole(k) && p->range == '-' && p->role == 'i') put(p, scalars[k], 0, size);
      }
    }
    fl_range_call(arguments, range_low, range_high);
    for (int k = 0; k < fl_count; ++k)
      if (fl_params[k].range != '-' && range_low[k] > range_high[k]) return 0;
    long here = fl_trip_call(arguments);
    if (here == trip || (trip == 0 && here <= 0)) return 1;
    size += (trip - here) * fl_step;
  }
  return 0;
}

/* ---- the probe ---- */

static long seen_low[MOST], seen_high[MOST];

long fl_at(int k, long index) {
  if (index < seen_low[k]) seen_low[k] = index;
  if (index > seen_high[k]) seen_high[k] = index;
  long reach = MANY / fl_params[k].size;
  if (index < -reach || index > reach) {
    char what[640];
    snprintf(what, sizeof what, "%s[%ld] is looked at, %s: say range(NAME, LOW:HIGH) of what its index is made of", fl_params[k].name,
             index, where);
    cannot(what);
  }
  return index;
}

static void unmap(struct array* a) {
  if (a->map) munmap(a->map, a->mapped);
  a->map = NULL;
}

static char* pages(size_t bytes) {
  char* at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) cannot("there is not enough memory");
  return at;
}

static void probe(long trip, uint64_t seed, enum content content) {
  for (int k = 0; k < fl_count; ++k)
    if (is_array(k)) {
      unmap(&arrays[k]);
      arrays[k] = (struct array){.low = 0, .high = -1, .mapped = 2 * (size_t)MANY + 2 * (size_t)fl_params[k].size};
      arrays[k].map = pages(arrays[k].mapped);
    }
  for (int pass = 0; pass < PROBES; ++pass) {
    for (int k = 0; k < fl_count; ++k) {
      seen_low[k] = LONG_MAX;
      seen_high[k] = LONG_MIN;
      if (is_array(k)) {
        char* origin = arrays[k].map + MANY / fl_params[k].size * fl_params[k].size;
        arguments[k] = origin;
        arrays[k].data = origin + arrays[k].low * fl_params[k].size;
        fill(k, seed, content, 0, trip);
      }
    }
    memcpy(kept_scalars, scalars, sizeof scalars);
    fl_probe_call(arguments);
    memcpy(scalars, kept_scalars, sizeof scalars);
    int more = 0;
    for (int k = 0; k < fl_count; ++k)
      if (is_array(k) && seen_low[k] <= seen_high[k]) {
        struct array* a = &arrays[k];
        int none = a->high < a->low;
        if (none || seen_low[k] < a->low || seen_high[k] > a->high) {
          a->low = none || seen_low[k] < a->low ? seen_low[k] : a->low;
          a->high = none || seen_high[k] > a->high ? seen_high[k] : a->high;
          more = 1;
        }
      }
    if (!more) return;
  }
  cannot("the accessed elements depend on the data; add range(NAME, LOW:HIGH) to the pragma");
}

/* ---- where arrays lie ---- */

enum place { AT_END, AT_BEGIN, OFF_LINE, PLACES };
static const char* const place_names[] = {"up to a protected page", "from a protected page on", "not aligned to cache lines"};

static size_t rounded(size_t bytes) { return (bytes + (size_t)page - 1) / (size_t)page * (size_t)page; }

static void lay(int k, enum place place, size_t extra) {
  struct array* a = &arrays[k];
  unmap(a);
  a->bytes = a->high < a->low ? 0 : (size_t)(a->high - a->low + 1) * (size_t)fl_params[k].size;
  size_t shift = place == OFF_LINE ? (size_t)fl_params[k].unit * (size_t)(1 + k % 3) : 0;
  size_t open = rounded(a->bytes + extra + shift);
  a->mapped = open + 2 * (size_t)page;
  a->map = pages(a->mapped);
  if (mprotect(a->map, (size_t)page, PROT_NONE) || mprotect(a->map + page + open, (size_t)page, PROT_NONE))
    cannot("pages cannot be protected here");
  a->data = a->map + page + (place == AT_END ? open - a->bytes - extra : shift);
  arguments[k] = a->data - a->low * fl_params[k].size;
}

static void on_fault(int number, siginfo_t* info, void* context) {
  (void)context;
  if (in_golden && may_fault) siglongjmp(golden_faulted, 1);
  char what[640];
  const char* at = info->si_addr;
  snprintf(what, sizeof what, "%s: ends by signal %d", where, number);
  for (int k = 0; k < fl_count; ++k) {
    const struct array* a = &arrays[k];
    if (is_array(k) && a->map && at >= a->map && at < a->map + a->mapped)
      snprintf(what, sizeof what, "%s: touches %s[%ld], and only elements %ld to %ld are its own", where, fl_params[k].name,
               a->low + (long)(at - a->data) / fl_params[k].size - (at < a->data), a->low, a->high);
  }
  print_and_exit(in_golden ? "cannot" : "wrong", what);
}

/* ---- comparison ---- */

static double value(const struct fl_param* p, const char* at) {
  double x = 0;
  float y = 0;
  if (p->kind == 'd' || p->kind == 'D')
    memcpy(&x, at, 8);
  else {
    memcpy(&y, at, 4);
    x = (double)y;
  }
  return x;
}

static int same(const struct fl_param* p, const char* golden, const char* mine, const char* magnitude, char* difference, size_t room) {
  if (memcmp(golden, mine, (size_t)p->unit) == 0) return 1;
  if (p->kind == 'i' || p->kind == 'u') {
    long a = 0, b = 0;
    memcpy(&a, golden, (size_t)p->unit);
    memcpy(&b, mine, (size_t)p->unit);
    snprintf(difference, room, "%ld instead of %ld", b, a);
    return 0;
  }
  double a = value(p, golden), b = value(p, mine);
  if (isnan(a) && isnan(b)) /* which NaN it is, C does not say */
    return 1;
  if (!strict && a == b) return 1;
  if (!strict && isfinite(a) && isfinite(b)) {
    double scale = fabs(a), large = magnitude ? fabs(value(p, magnitude)) : 0;
    scale = isfinite(large) && large > scale ? large : scale;
    if (fabs(a - b) <= tolerance * scale + 64 * (p->unit == 4 ? 0x1p-149 : 0x1p-1074)) return 1;
  }
  snprintf(difference, room, "%.17g instead of %.17g", b, a);
  return 0;
}

struct image {
  char* data[MOST];
  char scalars[MOST][32];
};

static void keep(struct image* image) {
  memcpy(image->scalars, scalars, sizeof scalars);
  for (int k = 0; k < fl_count; ++k)
    if (is_array(k) && arrays[k].bytes) {
      image->data[k] = realloc(image->data[k], arrays[k].bytes);
      memcpy(image->data[k], arrays[k].data, arrays[k].bytes);
    }
}

static void restore(const struct image* image) {
  memcpy(scalars, image->scalars, sizeof scalars);
  for (int k = 0; k < fl_count; ++k)
    if (is_array(k) && arrays[k].bytes) memcpy(arrays[k].data, image->data[k], arrays[k].bytes);
}

static struct image before, golden, magnitudes;

static void compare(int with_magnitudes) {
  char difference[128], what[640];
  for (int k = 0; k < fl_count; ++k) {
    const struct fl_param* p = &fl_params[k];
    long units = (is_array(k) ? (long)arrays[k].bytes : p->size) / p->unit;
    const char *mine = is_array(k) ? arrays[k].data : scalars[k], *right = is_array(k) ? golden.data[k] : golden.scalars[k];
    const char* large = is_array(k) ? magnitudes.data[k] : magnitudes.scalars[k];
    for (long u = 0; u < units; ++u)
      if (!same(p, right + u * p->unit, mine + u * p->unit, with_magnitudes ? large + u * p->unit : NULL, difference, sizeof difference)) {
        if (is_array(k))
          snprintf(what, sizeof what, "%s: %s[%ld] is %s", where, p->name, arrays[k].low + u / (p->size / p->unit), difference);
        else
          snprintf(what, sizeof what, "%s: %s is %s", where, p->name, difference);
        print_and_exit("wrong", what);
      }
  }
}

/* ---- cases ---- */

static void run_golden(void) {
  in_golden = 1;
  fl_golden_call(arguments);
  in_golden = 0;
}

static void one_case(long trip, uint64_t seed, enum content content, int with_magnitudes) {
  if (with_magnitudes) {
    set_scalars(trip, seed, content, 1);
    for (int k = 0; k < fl_count; ++k)
      if (is_array(k)) fill(k, seed, content, 1, trip);
    run_golden();
    keep(&magnitudes);
  }
  set_scalars(trip, seed, content, 0);
  for (int k = 0; k < fl_count; ++k)
    if (is_array(k)) fill(k, seed, content, 0, trip);
  keep(&before);
  if (may_fault && sigsetjmp(golden_faulted, 1)) { /* arrays that overlap so are not an input of this loop */
    in_golden = 0;
    return;
  }
  run_golden();
  keep(&golden);
  restore(&before);
  fl_candidate_call(arguments);
  compare(with_magnitudes);
}

static int prepared(long trip, uint64_t seed, enum content content) {
  snprintf(where, sizeof where, "%ld turns", trip);
  if (!set_scalars(trip, seed, content, 0)) return 0;
  probe(trip, seed, content);
  return 1;
}

static long cases_of(long trip, int turn, int all) {
  long done = 0;
  for (int c = 0; c < CONTENTS; ++c) {
    if (!all && c != ORDINARY && c != 1 + turn % (CONTENTS - 1)) continue;
    if (!strict && c == EXTREMES) /* sums in another order overflow elsewhere */
      continue;
    uint64_t seed = mixed((uint64_t)trip * 64 + (uint64_t)c);
    if (!prepared(trip, seed, c)) return done;
    for (int p = 0; p < PLACES; ++p) {
      if (!all && p != turn % PLACES) continue;
      snprintf(where, sizeof where, "%ld turns, %s, %s", trip, content_names[c], place_names[p]);
      for (int k = 0; k < fl_count; ++k)
        if (is_array(k)) lay(k, p, 0);
      one_case(trip, seed, c, !strict);
      ++done;
    }
  }
  return done;
}

/* Two arrays in one: `other` begins `shift` elements behind the first element of `written`. */
static long overlapping(long trip, int written, int other, long shift) {
  const struct fl_param *w = &fl_params[written], *o = &fl_params[other];
  uint64_t seed = mixed((uint64_t)trip * 31 + (uint64_t)(shift + 1000));
  enum content content = strict ? MIXED : ORDINARY; /* sums that cancel differ by more than their own size allows */
  if (!prepared(trip, seed, content)) return 0;
  struct array *a = &arrays[written], *b = &arrays[other];
  if (a->high < a->low || b->high < b->low) return 0;
  snprintf(where, sizeof where, "%ld turns, %s overlaps %s by %ld", trip, o->name, w->name, shift);
  size_t bytes = (size_t)(b->high - b->low + 1) * (size_t)o->size;
  for (int k = 0; k < fl_count; ++k)
    if (is_array(k)) lay(k, AT_BEGIN, k == written ? bytes + 256 : 0);
  unmap(b);
  a->data += 128;
  arguments[written] = a->data - a->low * w->size;
  b->data = a->data + shift * w->unit;
  b->bytes = bytes;
  arguments[other] = b->data - b->low * o->size;
  may_fault = 1;
  one_case(trip, seed, content, 0);
  may_fault = 0;
  return 1;
}

static long overlaps_of(long trip) {
  static const long shifts[] = {0, 1, -1, 4, -4, 9, -9};
  long done = 0;
  for (int w = 0; w < fl_count; ++w)
    for (int o = 0; o < fl_count; ++o) {
      const struct fl_param *a = &fl_params[w], *b = &fl_params[o];
      int twice = b->role == 'w' && o < w;
      if (w == o || a->role != 'w' || !is_array(o) || twice || a->restricted || b->restricted || a->kind != b->kind || a->unit != b->unit ||
          a->range != '-' || b->range != '-')
        continue;
      for (size_t s = 0; s < sizeof shifts / sizeof *shifts; ++s) done += overlapping(trip, w, o, shifts[s]);
    }
  return done;
}

/* ---- times ---- */

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Scalars that a call changes begin anew each time: a program's calls need not wait for each other, and their loops overlap. */
static double batch(long calls) {
  int changed[MOST], n = 0;
  for (int k = 0; k < fl_count; ++k)
    if (fl_params[k].role == 's') changed[n++] = k;
  double began = now();
  for (long c = 0; c < calls; ++c) {
    for (int k = 0; k < n; ++k) memcpy(scalars[changed[k]], kept_scalars[changed[k]], sizeof *scalars);
    fl_candidate_call(arguments);
    __asm__ volatile("" ::: "memory");
  }
  return (now() - began) / (double)calls;
}

static int by_value(const void* a, const void* b) {
  double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

/* Most programs' arrays lie where malloc leaves them: two words behind a line of the cache, large ones all at the same place of a page. */
static void allocated(int k) {
  struct array* a = &arrays[k];
  unmap(a);
  a->bytes = a->high < a->low ? 0 : (size_t)(a->high - a->low + 1) * (size_t)fl_params[k].size;
  a->data = malloc(a->bytes + 1);
  if (!a->data) cannot("there is not enough memory");
}

static void timed(long trip, double seconds, int on_lines) {
  if (!prepared(trip, 1, ORDINARY)) cannot("no input leads to this trip count");
  for (int k = 0; k < fl_count; ++k) {
    if (!is_array(k)) continue;
    if (on_lines) { /* and not all in the same sets */
      lay(k, AT_BEGIN, 4096 + (size_t)k * 192);
      arrays[k].data += 192 * (k + 1);
    } else {
      allocated(k);
    }
    arguments[k] = arrays[k].data - arrays[k].low * fl_params[k].size;
  }
  set_scalars(trip, 1, ORDINARY, 0);
  for (int k = 0; k < fl_count; ++k)
    if (is_array(k)) fill(k, 1, ORDINARY, 0, trip);
  memcpy(kept_scalars, scalars, sizeof scalars);
  long calls = 1;
  double until = now() + seconds / 4;
  while (batch(calls) * (double)calls < seconds / 32 && calls < MANY) calls *= 2;
  while (now() < until) batch(calls);
  double times[64];
  size_t n = 0;
  for (until = now() + seconds; n < 3 || (n < 64 && now() < until); ++n) times[n] = batch(calls);
  qsort(times, n, sizeof *times, by_value);
  printf("ns %.9g\n", 1e9 * times[n / 2]);
}

int main(int count, char** words) {
  page = sysconf(_SC_PAGESIZE);
  for (int k = 0; k < fl_count; ++k) {
    arguments[k] = scalars[k];
    if (fl_params[k].kind == '?') {
      char what[128];
      snprintf(what, sizeof what, "the type of %s is not supported: use plain numbers", fl_params[k].name);
      cannot(what);
    }
  }
  static char stack[1 << 16];
  sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
  struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  for (int k = 0; k < 4; ++k) sigaction((const int[]){SIGSEGV, SIGBUS, SIGFPE, SIGILL}[k], &action, NULL);
  if (count == 5 && strcmp(words[1], "time") == 0) {
    timed(atol(words[2]), atof(words[3]), strcmp(words[4], "lines") == 0);
    return 0;
  }
  if (count < 7 || strcmp(words[1], "verify") != 0) return 2;
  strict = atoi(words[2]);
  tolerance = atof(words[3]);
  long overlaps = atol(words[4]), done = 0;
  rlim_t patience = (rlim_t)atol(words[5]);
  setrlimit(RLIMIT_CPU, &(struct rlimit){patience, patience + 1}); /* not by the clock: a machine may have other work */
  for (int k = 6; k < count; ++k) done += cases_of(atol(words[k]), k, k < 8);
  for (int k = 6; k < count && k < 6 + overlaps; ++k) done += overlaps_of(atol(words[k]));
  if (done == 0) cannot("no input leads to a trip count that the pragma allows");
  char what[32];
  snprintf(what, sizeof what, "%ld", done);
  print_and_exit("ok", what);
  return 0;
}

/* What a loop under test tells of itself, and how the driver calls it: an argument is the address of a scalar, or that of an array. */
#ifndef FL_DRIVER_H
#define FL_DRIVER_H

#define FL_KIND(x)                   \
  _Generic((x), double               \
           : 'd', float              \
           : 'f', double _Complex    \
           : 'D', float _Complex     \
           : 'F', char               \
           : 'i', signed char        \
           : 'i', short              \
           : 'i', int                \
           : 'i', long               \
           : 'i', long long          \
           : 'i', unsigned char      \
           : 'u', unsigned short     \
           : 'u', unsigned           \
           : 'u', unsigned long      \
           : 'u', unsigned long long \
           : 'u', default            \
           : '?')
#define FL_UNIT(T) (FL_KIND(*(T*)0) == 'D' || FL_KIND(*(T*)0) == 'F' ? sizeof(T) / 2 : sizeof(T))

struct fl_param {
  const char* name;
  char role;      /* i: a scalar, s: a scalar that the loop changes, r: an array that is read, w: one that is written */
  char kind;      /* d f: real, D F: complex, i u: whole, ?: not understood */
  char range;     /* -: none, u: uniform, a: ascending */
  int restricted; /* in the source */
  long size;      /* bytes of an element, a row of an array of arrays */
  long unit;      /* bytes of a number */
};

extern const struct fl_param fl_params[];
extern const int fl_count;
extern const long fl_step;
void fl_golden_call(void**);
void fl_candidate_call(void**);
void fl_probe_call(void**);
long fl_trip_call(void**);
void fl_range_call(void**, long*, long*);
long fl_at(int, long);

#endif

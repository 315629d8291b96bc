// Whose copy of an inline function this is. A header may be compiled into the judge (the harness's safe flags) and into a variant (the
// flags under test) of one program, and the linker keeps one copy of what has one name. So inline functions stand in
//   namespace halo::inline FL_ROLE { ... }
// and have three names: timed code never runs a judge's copy, nor a judge one that was compiled with -Ofast.
#pragma once

#if defined(FL_JUDGE)
#define FL_ROLE judge
#elif defined(FL_VARIANT_NAME)
#define FL_ROLE timed
#else
#define FL_ROLE untimed  // the harness, libraries, drivers of tests
#endif

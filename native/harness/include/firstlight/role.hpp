// Whose copy of an inline function of firstlight's own libraries this is. Their headers are compiled into the harness, the judge (both with
// safe flags) and the variant (the flags under test) of one program, and the linker keeps one copy of each name. So these functions are in
//   namespace fl::inline FL_ROLE { ... }
// and have three names: timed code never runs a copy of the judge, and the judge never runs a copy that was compiled with -Ofast.
// A disassembler recognises timed code by this name. The namespace of a workload needs no role: all its names are local in the judge
// (fl_closed in cmake/Native.cmake).
#pragma once

#if defined(FL_JUDGE)
#define FL_ROLE judge
#elif defined(FL_VARIANT_NAME)
#define FL_ROLE timed
#else
#define FL_ROLE untimed  // the harness, libraries, drivers of tests
#endif

// Symbols of the numerical library that the build links, with any prefix (FL_SYMBOL_PREFIX).
#pragma once

#define FL_PASTE_(a, b) a##b
#define FL_PASTE(a, b) FL_PASTE_(a, b)
#ifndef FL_SYMBOL_PREFIX
#define FL_SYMBOL_PREFIX
#endif
#define FL_CBLAS(name) FL_PASTE(FL_SYMBOL_PREFIX, cblas_##name)
#define FL_FORTRAN(name) FL_PASTE(FL_SYMBOL_PREFIX, name##_)  // by reference, integers of 32 bits

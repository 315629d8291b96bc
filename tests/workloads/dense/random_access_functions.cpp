// The stream of random_access, as functions that Python can call.
#include "workloads/dense/random_access/stream.hpp"

extern "C" {
std::uint64_t number(std::uint64_t n) { return random_access::number(n); }
std::uint64_t after(std::uint64_t a) { return random_access::after(a); }
}

// How halos may travel in programs that leave it to a parameter (mpi_by.hpp); without MPI, for declarations of parameters.
#pragma once

#include "firstlight/role.hpp"

namespace fl::grid::inline FL_ROLE {

enum class Way { two_sided, one_sided, shared };
inline constexpr const char* ways = "two_sided|one_sided|shared";
inline constexpr const char* about_ways =
    "how halos are exchanged: messages, puts into the neighbour's window, or a shared window (messages between nodes)";

// A transport of that kind, where it lets choose.
template <class Transport>
Transport by(Way way) {
  Transport transport;
  if constexpr (requires { transport.way; }) transport.way = way;
  return transport;
}

}  // namespace fl::grid::inline FL_ROLE

// The transport of MPI programs that leave the way to a parameter (way.hpp).
#pragma once

#include <variant>

#include "firstlight/grid/mpi_put.hpp"
#include "firstlight/grid/mpi_shared.hpp"
#include "firstlight/grid/way.hpp"

namespace fl::grid::inline FL_ROLE {

struct MpiBy {
  Way way = Way::two_sided;
  MPI_Comm communicator = MPI_COMM_WORLD;  // its ranks are those of the process grid

  class Channel;
};

class MpiBy::Channel {
 public:
  Channel(const MpiBy& by, const std::vector<Parcel>& receives, const std::vector<Parcel>& sends) {
    switch (by.way) {
      case Way::two_sided:
        of_.emplace<Mpi::Channel>(Mpi{.communicator = by.communicator}, receives, sends);
        break;
      case Way::one_sided:
        of_.emplace<MpiPut::Channel>(MpiPut{.communicator = by.communicator}, receives, sends);
        break;
      case Way::shared:
        of_.emplace<MpiShared::Channel>(MpiShared{.communicator = by.communicator}, receives, sends);
        break;
    }
  }

  void receive() {
    each([](auto& of) { of.receive(); });
  }
  void send() {
    each([](auto& of) { of.send(); });
  }
  void wait() {
    each([](auto& of) { of.wait(); });
  }
  void progress() {
    each([](auto& of) { of.progress(); });
  }
  unsigned char* outgoing(std::size_t number) {
    unsigned char* there = nullptr;
    each([&](auto& of) { there = grid::outgoing(of, number, nullptr); });
    return there;
  }
  unsigned char* arrived(std::size_t number) {
    unsigned char* there = nullptr;
    each([&](auto& of) { there = grid::arrived(of, number, nullptr); });
    return there;
  }

 private:
  template <class Do>
  void each(Do act) {
    std::visit(
        [&](auto& of) {
          if constexpr (requires { of.wait(); }) act(of);
        },
        of_);
  }

  std::variant<std::monostate, Mpi::Channel, MpiPut::Channel, MpiShared::Channel> of_;
};

}  // namespace fl::grid::inline FL_ROLE

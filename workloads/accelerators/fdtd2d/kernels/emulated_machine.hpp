// Where kernels run: a processor instead of a device, a fiber a thread, so that bodies, halos and copies are checked where no GPU is.
#pragma once

#include "device_run.hpp"
#include "firstlight/emulated_device.hpp"

namespace fdtd2d {

template <class Block = fl::Block>
struct Emulated : fl::EmulatedDevice {
  template <class Body>
  static void launch(const fl::Extent& blocks, const fl::Extent& threads, const Body& body) {
    using Shared = typename Body::Shared;
    fl::Started::kernels().add(
        [=] { fl::each_block<Shared>(blocks, threads, [&](const fl::Block& block, Shared& shared) { body(Block{block}, shared); }); });
  }
};

}  // namespace fdtd2d

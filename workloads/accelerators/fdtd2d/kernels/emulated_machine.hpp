// Where kernels run: a processor instead of a device, a fiber a thread, so that bodies, halos and copies are checked where no GPU is.
#pragma once

#include <type_traits>

#include "device_run.hpp"
#include "firstlight/emulated_device.hpp"

namespace fdtd2d {

template <class Block = fl::Block>
struct Emulated : fl::EmulatedDevice {
  template <class Body>
  static void launch(const fl::Extent& blocks, const fl::Extent& threads, const Body& body) {
    fl::Started::kernels().add([=] { run(blocks, threads, body); });
  }

 private:
  template <class Body>
  static void run(const fl::Extent& blocks, const fl::Extent& threads, const Body& body) {
    using Shared = typename Body::Shared;
    if constexpr (std::is_empty_v<Shared>) {  // no thread waits for another, so none needs a fiber
      Shared nothing;
      for (int k = 0; k < blocks.x * blocks.y * threads.x * threads.y; ++k) {
        const int thread = k % (threads.x * threads.y), block = k / (threads.x * threads.y);
        const fl::Extent in_block{thread % threads.x, thread / threads.x, 0}, in_grid{block % blocks.x, block / blocks.x, 0};
        body(Block{fl::Block{in_block, threads, in_grid, blocks}}, nothing);
      }
    } else {
      fl::each_block<Shared>(blocks, threads, [&](const fl::Block& block, Shared& shared) { body(Block{block}, shared); });
    }
  }
};

}  // namespace fdtd2d
